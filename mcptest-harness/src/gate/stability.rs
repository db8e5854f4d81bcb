//! The `stability` gate: how stable each run was, and how alike the runs are.

use mcptest_suite::{Diagnostic, Span};
use serde_json::Value;

use super::block::Block;
use super::key::{Key, Range};
use super::table::Entry;
use super::{AllRuns, Breach, Cause, Input, NotJudged, Options, Threshold};
use crate::eval::{
    Measure, SUB_SCORES, StabilityAcross, StabilityFloors, StabilityReport, TOKENS_PER_USEFUL_CALL,
    agent_stability_across, drift_flags, stability,
};
use crate::render::{Evidence, Table, cut, thousands};
use crate::trace::{Run, Trace, canonical_json};

pub(super) const ENTRY: Entry = Entry::all_runs::<Stability>();

/// What fails a run whatever all runs come to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stability {
    /// Fails any run with a sub-score strictly below its floor.
    floors: Option<StabilityFloors>,
}

/// The keys below `floors`.
const FLOORS: &[Key] = &[
    floor("tool_usage_stability", "Floor of tool_usage_stability."),
    floor("response_consistency", "Floor of response_consistency."),
    floor("redundancy", "Floor of redundancy."),
    floor("cost_per_progress", "Floor of cost_per_progress."),
];

const fn floor(name: &'static str, says: &'static str) -> Key {
    Key::number(name, Range::UpTo(1.0), says).usually_number(0.5)
}

impl Options for Stability {
    const SAYS: &'static str = "How stable each run is, and how alike the runs are. Needs `runs:` of at least 2. Default: stability.weakest_score >= 0.5.";

    const KEYS: &'static [Key] = &[Key::mapping(
        "floors",
        "`floors`",
        FLOORS,
        "Fails any run with a sub-score strictly below its floor.",
    )];

    const TARGETS: &'static [Measure] = stability::TARGETS;

    fn read(block: &mut Block<'_, '_>) -> Option<Self> {
        if let Some(runs) = block.agent.runs.filter(|runs| runs.value < 2) {
            let mut problem = Diagnostic::new("`stability` needs at least 2 runs")
                .label(block.span, "compares runs with each other")
                .help("record more runs and say so with `runs: 5`, or remove the gate");
            if runs.span != Span::default() {
                problem = problem.also(runs.span, "one run has no variance");
            }
            block.problems.push(problem);
        }
        let floors = block.mapping("floors", |block| {
            let mut floors = StabilityFloors::default();
            let mut read = |name, floor: &mut f64| {
                *floor = block.number(name).unwrap_or(*floor);
            };
            read("tool_usage_stability", &mut floors.tool_usage_stability);
            read("response_consistency", &mut floors.response_consistency);
            read("redundancy", &mut floors.redundancy);
            read("cost_per_progress", &mut floors.cost_per_progress);
            floors
        });
        Some(Self { floors })
    }
}

impl AllRuns for Stability {
    type Report = StabilityAcross;

    fn report(&self, input: &Input<'_>) -> Result<StabilityAcross, NotJudged> {
        let traces: Vec<&Trace> = input.runs.iter().map(|run| &run.trace).collect();
        let breaches = vacuous(input.runs);
        let across = agent_stability_across(&traces).filter(|_| breaches.is_empty());
        across.ok_or(NotJudged {
            breaches,
            evidence: Vec::new(),
        })
    }

    fn metrics(&self, across: &StabilityAcross) -> Value {
        across.metrics(&self.floors.unwrap_or_default())
    }

    fn defaults(&self, _across: &StabilityAcross) -> Vec<Threshold> {
        vec![Threshold::at_least("stability.weakest_score", 0.5)]
    }

    fn breaches(&self, across: &StabilityAcross) -> Vec<(Option<usize>, Breach)> {
        let Some(floors) = &self.floors else {
            return Vec::new();
        };
        let runs = across.runs.iter().enumerate();
        let below = runs.flat_map(|(index, report)| {
            below_floors(report, floors).map(move |breach| (Some(index), breach))
        });
        below.collect()
    }

    fn explain(&self, input: &Input<'_>, across: &StabilityAcross) -> Vec<Evidence> {
        evidence(across, input.runs)
    }
}

/// The runs of which nothing can be said.
fn vacuous(runs: &[Run]) -> Vec<(Option<usize>, Breach)> {
    let empty = runs.iter().enumerate();
    let empty = empty.filter(|(_, run)| nothing_happened(&run.trace));
    let breaches = empty.map(|(index, _)| {
        let asks = "stability needs a call, a turn or a token in every run".to_owned();
        let found = "none, so nothing was judged";
        (Some(index), Breach::new(Cause::Option(asks), found))
    });
    breaches.collect()
}

/// Whether a run has nothing of what the scores are made of.
fn nothing_happened(trace: &Trace) -> bool {
    let conversation = &trace.conversation;
    trace.tool_calls.is_empty()
        && conversation.turns.is_empty()
        && conversation.tokens.total == 0
        && conversation.steps.iter().all(|step| step.total() == 0)
}

fn below_floors<'a>(
    report: &'a StabilityReport,
    floors: &'a StabilityFloors,
) -> impl Iterator<Item = Breach> + 'a {
    drift_flags(report, floors)
        .into_iter()
        .filter_map(move |flag| {
            let place = SUB_SCORES.iter().position(|name| *name == flag)?;
            let asks = format!("its floor asks for `{flag}` >= {}", floors.floors()[place]);
            Some(Breach::new(
                Cause::Option(asks),
                &format!("{:.4}", report.scores()[place]),
            ))
        })
}

/// The runs × sub-scores, and what made the weakest one low.
fn evidence(across: &StabilityAcross, runs: &[Run]) -> Vec<Evidence> {
    let mut table = Table::new(["run"].into_iter().chain(SUB_SCORES).chain(["file"]));
    let lowest = across.weakest_score;
    for (index, (report, run)) in across.runs.iter().zip(runs).enumerate() {
        let score = |score: f64| format!("{}{score:.2}", if score <= lowest { "*" } else { "" });
        let cells = report.scores().map(score);
        table.row(
            [(index + 1).to_string()]
                .into_iter()
                .chain(cells)
                .chain([run.origin.to_string()]),
        );
    }
    let weakest = across
        .runs
        .iter()
        .position(|run| run.weakest_score() <= lowest)
        .unwrap_or_default();
    let report = &across.runs[weakest];
    let reason = reason(report.weakest(), &runs[weakest].trace);
    let legend = format!(
        "* the weakest: `{}` of run {} is {:.4}, because {reason}",
        report.weakest(),
        weakest + 1,
        report.weakest_score(),
    );
    let alike = format!(
        "between the runs: tool_sequence_similarity {:.2}, argument_consistency {:.2}, early_divergence {}",
        across.tool_sequence_similarity, across.argument_consistency, across.early_divergence
    );
    vec![
        Evidence::Table(table),
        Evidence::Text(format!("{legend}\n{alike}")),
    ]
}

/// What made a sub-score low.
fn reason(sub_score: &str, trace: &Trace) -> String {
    let calls = trace.tool_calls.len();
    match sub_score {
        "tool_usage_stability" => {
            let mut tools: Vec<&str> = trace
                .tool_calls
                .iter()
                .map(|call| call.name.as_str())
                .collect();
            tools.sort_unstable();
            tools.dedup();
            format!(
                "{} different tools share {calls} calls: {}",
                tools.len(),
                cut(&tools.join(", "), 100)
            )
        }
        "response_consistency" => {
            let assistant = trace
                .conversation
                .turns
                .iter()
                .filter(|turn| turn.is_assistant());
            let lengths: Vec<usize> = assistant.map(|turn| turn.content.chars().count()).collect();
            let (least, most) = (lengths.iter().min(), lengths.iter().max());
            format!(
                "the {} assistant turns swing from {} to {} characters",
                lengths.len(),
                least.copied().unwrap_or_default(),
                most.copied().unwrap_or_default()
            )
        }
        "redundancy" => {
            let mut counts = std::collections::BTreeMap::new();
            for call in &trace.tool_calls {
                *counts.entry(call.key()).or_insert(0_usize) += 1;
            }
            let most = counts.values().copied().max().unwrap_or_default();
            // The first made of the most repeated calls.
            let repeated = trace
                .tool_calls
                .iter()
                .find(|call| counts[&call.key()] == most);
            let shown =
                repeated.map(|call| format!("{} {}", call.name, canonical_json(&call.args)));
            let repeats = trace.repeated_tool_calls();
            format!(
                "{repeats} of {calls} calls repeat an earlier one; {most} times: {}",
                cut(&shown.unwrap_or_default(), 120)
            )
        }
        _ => {
            let (tokens, distinct) = (
                trace.conversation.tokens.total,
                trace.distinct_tool_calls() as u64,
            );
            let spent = format!(
                "{} tokens were spent on {distinct} different calls",
                thousands(tokens)
            );
            match distinct {
                0 => spent,
                distinct => format!(
                    "{spent}, {} each ({TOKENS_PER_USEFUL_CALL} is par)",
                    thousands(tokens / distinct)
                ),
            }
        }
    }
}
