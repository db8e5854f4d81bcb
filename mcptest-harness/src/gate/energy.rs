//! The `energy` gate: did a run's token use grow out of hand?

use mcptest_suite::{Diagnostic, Node, NodeValue};
use serde_json::{Value, json};

use super::block::{Block, number_text};
use super::form::CustomForm;
use super::key::{Key, Keyed, Range, mapping_schema};
use super::table::GateEntry;
use super::{Breach, Cause, EachRun, Input, Options, RunScore, Threshold};
use crate::energy::{Analysis, DriftInput, GuardOptions, RunSteps, analyse, responses};
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

/// What stands below `adaptive`.
struct Adaptive {
    k: f64,
}

impl Keyed for Adaptive {
    const KEYS: &'static [Key<Self>] =
        &[
            Key::number("k", Range::AtLeast0, |adaptive: &mut Self| &mut adaptive.k)
                .says("The factor `k`: how much the spread of the warm-up raises the threshold."),
        ];

    fn default_options() -> Self {
        let k = GuardOptions::default().adaptive_k;
        Self { k }
    }
}

/// What stands below `drift`.
struct Drift {
    threshold: f64,
}

impl Keyed for Drift {
    const KEYS: &'static [Key<Self>] =
        &[
            Key::number("threshold", Range::UpTo(2.0), |drift: &mut Self| {
                &mut drift.threshold
            })
            .says("A mean drift above this number confirms the trip.")
            .required(),
        ];

    fn default_options() -> Self {
        Self { threshold: 0.0 }
    }
}

impl Options for Energy {
    const SAYS: &'static str = "The tokens of each step do not grow out of control. Default: energy.tripped <= 0 and energy.frozen <= 0.";

    const EXAMPLE: &'static str = "energy: {}";

    const CALIBRATED_BY: Option<&'static str> = Some("energy.peak_ratio");
}

impl Keyed for Energy {
    const KEYS: &'static [Key<Self>] = &[
        Key::number("ratio_threshold", Range::Above0, |energy: &mut Self| {
            &mut energy.guard.ratio_threshold
        })
        .says("The threshold: a step is high if its tokens, divided by the baseline, are above this number."),
        Key::count("window", 1, |energy: &mut Self| &mut energy.guard.window)
            .says("How many high steps in a row trip the run."),
        Key::count("warmup_turns", 1, |energy: &mut Self| {
            &mut energy.guard.warmup_turns
        })
        .says("How many first steps are the warm-up. The baseline is the median of their tokens."),
        Key::count("budget_gate", 0, |energy: &mut Self| {
            &mut energy.guard.budget_gate
        })
        .says("The run trips only after it has used more than this many tokens."),
        Key::count("token_budget", 1, |energy: &mut Self| {
            &mut energy.guard.token_budget
        })
        .says("The run freezes when it has used this many tokens."),
        Key::form(
            "adaptive",
            &CustomForm {
                schema: adaptive_schema,
                read: adaptive,
            },
        )
        .says("`true` or `{ k: … }`: the threshold is `1 + k · IQR / median` of the warm-up, in the place of `ratio_threshold`."),
        Key::form(
            "drift",
            &CustomForm {
                schema: mapping_schema::<Drift>,
                read: drift,
            },
        )
        .says("Growth alone then does not trip the run: the agent's texts must also drift away from the system prompt."),
        Key::flag("estimate", |energy: &mut Self| &mut energy.estimate)
            .says("`true`: if the tokens were not recorded, the gate estimates them from the texts of the turns."),
    ];

    fn default_options() -> Self {
        Self::default()
    }
}

/// What may stand at `adaptive`, for editors.
fn adaptive_schema() -> Value {
    json!({ "default": false, "anyOf": [{ "type": "boolean" }, mapping_schema::<Adaptive>()] })
}

/// `true`, `false` or a mapping.
fn adaptive(block: &mut Block<'_, '_>, node: &Node, energy: &mut Energy) -> bool {
    if node.entries().is_some() {
        energy.guard.adaptive = true;
        let adaptive = block.read_nested::<Adaptive>(node, "`adaptive`");
        energy.guard.adaptive_k = adaptive.as_ref().map_or(0.0, |adaptive| adaptive.k);
        return adaptive.is_some();
    }
    if !matches!(node.value, NodeValue::Bool(_)) {
        block
            .problems
            .expected("`true`, `false` or `{ k: 2.0 }`", node);
        return false;
    }
    energy.guard.adaptive = block.problems.flag(node).unwrap_or_default();
    true
}

fn drift(block: &mut Block<'_, '_>, node: &Node, energy: &mut Energy) -> bool {
    if let Some(written) = number_text(node) {
        let help = format!("write `drift: {{ threshold: {written} }}`");
        let problem = Diagnostic::at(
            node.span,
            "`drift` must be a mapping that has the threshold",
        );
        block.problems.push(problem.help(help));
        return false;
    }
    let drift = block.read_nested::<Drift>(node, "`drift`");
    energy.guard.drift_threshold = drift.map(|drift| drift.threshold);
    energy.guard.drift_threshold.is_some()
}

impl EachRun for Energy {
    type Report = Analysis;

    const DEFAULT: &'static [Threshold] = &[
        Threshold::at_most(
            "energy.tripped",
            0.0,
            "the tokens of a step grew so much that a guard would have stopped the run",
        ),
        Threshold::at_most("energy.frozen", 0.0, "the run used up its token budget"),
    ];

    fn score(&self, input: &Input<'_>, run: &Run) -> Result<RunScore<Analysis>, Box<Breach>> {
        analysis(self, input, run).map(RunScore::new)
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
        let asks = Cause::Gate(asks.to_owned());
        Err(Box::new(Breach::new(asks, found)))
    };
    let steps = match RunSteps::recorded(&run.trace) {
        Some(steps) => steps,
        None if gate.estimate => RunSteps::estimated(&run.trace),
        None => {
            let asks = "tokens per model call must be recorded in `conversation.steps` (or write `estimate: true`)";
            return not(asks, "no steps");
        }
    };
    if steps.tokens.is_empty() {
        return not("a run needs at least one model call to be judged", "none");
    }
    if steps.tokens.iter().all(|step| step.total() == Some(0)) {
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
            let asks =
                "the warm-up must have used tokens, because all later steps are compared with it";
            not(asks, "a baseline of 0")
        }
        Ok(Analysis {
            unconfirmed: Some(step),
            ..
        }) => {
            let asks = "`drift` needs texts of the agent during the growth";
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
