//! Reading `regression:`, of a suite and of an agent.

use mcptest_trace::evidence::compare::{CompareOptions, CostKind, Metric};

use super::fields::Fields;
use super::problems::Problems;
use crate::model::{AgentRegression, Regression};
use crate::{Diagnostic, Entry};

/// What may turn a comparison red.
const METRICS: [(&str, Metric); 3] = [
    ("outcomes", Metric::Outcomes),
    ("cost", Metric::Cost),
    ("behaviour", Metric::Behaviour),
];

/// What a run costs.
const COSTS: [(&str, CostKind); 3] = [
    ("tokens", CostKind::Tokens),
    ("steps", CostKind::Steps),
    ("calls", CostKind::Calls),
];

/// The largest rise that can be asked for, in percent.
const LARGEST_RISE: f64 = 1e6;

pub(super) fn read_suite(entry: &Entry, problems: &mut Problems) -> Option<Regression> {
    let mut fields = Fields::open(&entry.value, "`regression`", problems)?;
    let baseline = fields.required("baseline", problems);
    let baseline = baseline.and_then(|node| problems.path(node));
    let mut options = CompareOptions::default();
    for (key, margin, most) in [
        ("margin", &mut options.margin, 100.0),
        ("suite_margin", &mut options.suite_margin, 100.0),
        ("cost_margin", &mut options.cost_margin, LARGEST_RISE),
    ] {
        let node = fields.get(key);
        *margin = node
            .and_then(|node| problems.number(node, 0.0, most))
            .unwrap_or(*margin);
    }
    if let Some(node) = fields.get("fail_on") {
        let metrics = problems.choices(node, "metric", &METRICS);
        options.fail_on = metrics.into_iter().collect();
    }
    if let Some(node) = fields.get("cost") {
        let cost = problems.choice(node, "cost", &COSTS);
        options.cost = cost.unwrap_or_default();
    }
    if let Some(node) = fields.get("require") {
        let shown = problems.choice(node, "requirement", &[("not_worse", true)]);
        options.require_not_worse = shown.unwrap_or_default();
    }
    if let Some(node) = fields.get("inconclusive") {
        let passes = problems.choice(node, "answer", &[("fail", false), ("pass", true)]);
        options.inconclusive_passes = passes.unwrap_or_default();
    }
    fields.finish(problems);
    Some(Regression {
        span: entry.key_span,
        baseline: baseline?,
        options,
    })
}

/// `declared`: whether the suite says what its agents are compared with.
pub(super) fn read_agent(
    entry: &Entry,
    declared: bool,
    problems: &mut Problems,
) -> Option<AgentRegression> {
    if !declared {
        let message = "this suite does not say what its agents are compared with";
        problems.push(
            Diagnostic::at(entry.key_span, message).help(
                "add this at the top of the suite: `regression: { baseline: baselines/main }`",
            ),
        );
    }
    let mut fields = Fields::open(&entry.value, "an agent's `regression`", problems)?;
    let margin = fields.get("margin");
    let margin = margin.and_then(|node| problems.number(node, 0.0, 100.0));
    let skip = fields
        .get("skip")
        .and_then(|node| problems.skip_reason(node));
    fields.finish(problems);
    Some(AgentRegression {
        span: entry.key_span,
        margin,
        skip,
    })
}
