//! The `energy` gate: did a run's token use grow out of hand?

use mcptest_suite::{Diagnostic, NodeValue};
use serde_json::Value;

use super::block::{Block, written};
use super::key::{Key, Range};
use super::table::GateEntry;
use super::{Breach, Cause, EachRun, Input, Options, RunScore, Threshold};
use crate::energy::{self, Analysis, DriftInput, GuardOptions, RunSteps, analyse, responses};
use crate::eval::Measure;
use crate::render::Evidence;
use crate::trace::Run;

pub(super) const ENTRY: GateEntry = GateEntry::each_run::<Energy>();

/// A guard, and what it may be told that was not recorded.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Energy {
    guard: GuardOptions,
    /// Whether tokens are estimated where they were not recorded.
    estimate: bool,
}

/// The keys below `adaptive`.
const ADAPTIVE: &[Key] = &[Key::number("k", Range::AtLeast0)
    .says("How strongly.")
    .usually("2.0")];

impl Options for Energy {
    const SAYS: &'static str = "Tokens per step do not grow out of hand. Default: energy.tripped <= 0 and energy.frozen <= 0.";

    const KEYS: &'static [Key] = &[
        Key::number("ratio_threshold", Range::Above0)
            .says("The ratio to the baseline above which a step counts.")
            .usually("2.0"),
        Key::count("window", 1)
            .says("How many steps in a row must count.")
            .usually("3"),
        Key::count("warmup_turns", 1)
            .says("How many steps make the baseline.")
            .usually("3"),
        Key::count("budget_gate", 0)
            .says("Tokens below which nothing trips.")
            .usually("8000"),
        Key::count("token_budget", 1)
            .says("Tokens at which the run freezes.")
            .usually("100000"),
        Key::mapping("adaptive", "`adaptive`", ADAPTIVE)
            .says("Whether the threshold adapts to the warm-up's spread.")
            .usually("false"),
        Key::mapping(
            "drift",
            "`drift`",
            &[Key::number("threshold", Range::UpTo(2.0))
                .says("The mean drift above which a trip is confirmed.")
                .required()],
        )
        .says("A trip must be confirmed by drift from the system prompt."),
        Key::flag("estimate", false)
            .says("Whether tokens are estimated from the turns where they were not recorded."),
    ];

    const TARGETS: &'static [Measure] = energy::TARGETS;

    fn read(block: &mut Block<'_, '_>) -> Option<Self> {
        let mut guard = GuardOptions::default();
        block.number_into("ratio_threshold", &mut guard.ratio_threshold);
        let steps = [
            ("window", &mut guard.window),
            ("warmup_turns", &mut guard.warmup_turns),
        ];
        for (name, option) in steps {
            if let Some(count) = block.count(name) {
                *option = usize::try_from(count).unwrap_or(usize::MAX);
            }
        }
        block.count_into("budget_gate", &mut guard.budget_gate);
        block.count_into("token_budget", &mut guard.token_budget);
        adaptive(block, &mut guard);
        guard.drift_threshold = drift(block);
        Some(Self {
            guard,
            estimate: block.flag("estimate").unwrap_or_default(),
        })
    }
}

/// `true`, `false` or a mapping.
fn adaptive(block: &mut Block<'_, '_>, guard: &mut GuardOptions) {
    let Some(node) = block.node("adaptive") else {
        return;
    };
    if node.entries().is_some() {
        guard.adaptive = true;
        if let Some(Some(k)) = block.mapping("adaptive", |block| block.number("k")) {
            guard.adaptive_k = k;
        }
    } else if matches!(node.value, NodeValue::Bool(_)) {
        guard.adaptive = block.flag("adaptive").unwrap_or_default();
    } else {
        block
            .problems
            .expected("`true`, `false` or `{ k: 2.0 }`", node);
    }
}

fn drift(block: &mut Block<'_, '_>) -> Option<f64> {
    if let Some(written) = block.node("drift").and_then(written) {
        let help = format!("write `drift: {{ threshold: {written} }}`");
        let node = block.node("drift")?;
        let problem = Diagnostic::at(node.span, "`drift` has its threshold below it");
        block.problems.push(problem.help(help));
        return None;
    }
    block.mapping("drift", |block| block.number("threshold"))?
}

impl EachRun for Energy {
    type Report = Analysis;

    const DEFAULT: &'static [Threshold] = &[
        Threshold::at_most("energy.tripped", 0.0),
        Threshold::at_most("energy.frozen", 0.0),
    ];

    fn score(&self, input: &Input<'_>, run: &Run) -> Result<RunScore<Analysis>, Box<Breach>> {
        analysis(self, input, run).map(RunScore::of)
    }

    fn metrics(&self, analysis: &Analysis) -> Value {
        analysis.metrics()
    }

    fn explain(&self, _input: &Input<'_>, _run: &Run, analysis: &Analysis) -> Vec<Evidence> {
        vec![Evidence::Text(analysis.report.to_string())]
    }
}

/// What a guard would have made of the run; else what is asked and was not found.
pub(super) fn analysis(
    gate: &Energy,
    input: &Input<'_>,
    run: &Run,
) -> Result<Analysis, Box<Breach>> {
    let not = |asks: &str, found: &str| {
        let asks = Cause::Option(asks.to_owned());
        Err(Box::new(Breach::new(asks, found)))
    };
    let steps = match RunSteps::recorded(&run.trace) {
        Some(steps) => steps,
        None if gate.estimate => RunSteps::estimated(&run.trace),
        None => {
            let asks = "tokens per model call must be recorded in `conversation.steps` (or say `estimate: true`)";
            return not(asks, "no steps");
        }
    };
    if steps.tokens.is_empty() {
        return not("a run needs at least one model call to be judged", "none");
    }
    if steps.tokens.iter().all(|step| step.total() == 0) {
        let asks = "a run's token counts must not all be 0";
        return not(asks, "nothing that could grow");
    }
    let texts = responses(&run.trace);
    if gate.guard.drift_threshold.is_some() && texts.iter().all(Option::is_none) {
        let asks = "`drift` compares what the agent says with the system prompt";
        return not(asks, "no text of the agent");
    }
    let has_policy = !run.system_prompt.trim().is_empty();
    let wanted = gate.guard.drift_threshold.is_some() || asks_for_drift(input);
    let drift = (wanted && has_policy).then(|| DriftInput::new(&run.system_prompt, &texts));
    match analyse(&steps, gate.guard, drift) {
        Err(error) => not("the options must fit the recording", &error.to_string()),
        Ok(analysis) if analysis.baseline == Some(0.0) => {
            let asks = "the warm-up must have taken tokens, as everything is compared with it";
            not(asks, "a baseline of 0")
        }
        Ok(Analysis {
            unconfirmed: Some(step),
            ..
        }) => {
            let asks = "`drift` confirms growth by what the agent says while it lasts";
            not(
                asks,
                &format!("no text in the steps of growth up to step {step}"),
            )
        }
        Ok(analysis) => Ok(analysis),
    }
}

/// Measuring drift costs more than all else, so it is measured when it is asked for.
fn asks_for_drift(input: &Input<'_>) -> bool {
    input
        .expect()
        .iter()
        .any(|check| check.target.text.starts_with("energy.drift"))
}
