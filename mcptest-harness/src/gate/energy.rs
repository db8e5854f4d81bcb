//! The `energy` gate: did a run's token use grow out of hand?

use mcptest_suite::gates::Energy;
use serde_json::{Map, Value, json};

use super::{Breach, Cause, Input, PerRun, Scored, Threshold};
use crate::energy::{Analysis, DriftInput, GuardOptions, RunSteps, analyse, responses};
use crate::render::Evidence;
use crate::trace::Run;

impl PerRun for Energy {
    fn defaults(&self) -> &'static [Threshold] {
        const DEFAULT: [Threshold; 2] = [
            Threshold::at_most("energy.tripped", 0.0),
            Threshold::at_most("energy.frozen", 0.0),
        ];
        &DEFAULT
    }

    fn score(&self, input: &Input<'_>, run: &Run) -> Scored {
        match analysis(self, input, run) {
            Ok(analysis) => Scored::of(metrics(&analysis)),
            Err((asks, found)) => Scored {
                metrics: json!({}),
                breaches: vec![Breach::new(Cause::Option(asks), &found)],
                not_judged: true,
            },
        }
    }

    fn explain(&self, input: &Input<'_>, run: &Run) -> Vec<Evidence> {
        match analysis(self, input, run) {
            Ok(analysis) => vec![Evidence::Text(analysis.report.to_string())],
            Err(_) => Vec::new(),
        }
    }
}

/// What a guard would have made of the run; else what is asked and what was found instead.
fn analysis(gate: &Energy, input: &Input<'_>, run: &Run) -> Result<Analysis, (String, String)> {
    let steps = match RunSteps::recorded(&run.trace) {
        Some(steps) => steps,
        None if gate.estimate => RunSteps::estimated(&run.trace),
        None => {
            let asks = "tokens per model call must be recorded in `conversation.steps` (or say `estimate: true`)";
            return Err((asks.to_owned(), "no steps".to_owned()));
        }
    };
    if steps.tokens.is_empty() {
        let asks = "a run needs at least one model call to be judged".to_owned();
        return Err((asks, "none".to_owned()));
    }
    if steps.tokens.iter().all(|step| step.total() == 0) {
        let asks = "a run's token counts must not all be 0".to_owned();
        return Err((asks, "nothing that could grow".to_owned()));
    }
    let texts = responses(&run.trace);
    if gate.drift_threshold.is_some() && texts.iter().all(Option::is_none) {
        let asks = "`drift` compares what the agent says with the system prompt".to_owned();
        return Err((asks, "no text of the agent".to_owned()));
    }
    let has_policy = !run.system_prompt.trim().is_empty();
    let wanted = gate.drift_threshold.is_some() || asks_for_drift(input);
    let drift = (wanted && has_policy).then(|| DriftInput {
        policy: &run.system_prompt,
        responses: &texts,
    });
    let analysis = analyse(&steps, options(gate), drift).map_err(|error| {
        let asks = "the options must fit the recording".to_owned();
        (asks, error.to_string())
    })?;
    if analysis.baseline == Some(0.0) {
        let asks =
            "the warm-up must have taken tokens, as everything is compared with it".to_owned();
        return Err((asks, "a baseline of 0".to_owned()));
    }
    Ok(analysis)
}

/// Measuring drift costs more than all else, so it is measured when it is asked for.
fn asks_for_drift(input: &Input<'_>) -> bool {
    input
        .expect()
        .iter()
        .any(|check| check.target.text.starts_with("energy.drift"))
}

fn options(gate: &Energy) -> GuardOptions {
    let usual = GuardOptions::default();
    let count = |given: Option<u64>, usual: usize| {
        given.map_or(usual, |count| usize::try_from(count).unwrap_or(usize::MAX))
    };
    GuardOptions {
        ratio_threshold: gate.ratio_threshold.unwrap_or(usual.ratio_threshold),
        window: count(gate.window, usual.window),
        warmup_turns: count(gate.warmup_turns, usual.warmup_turns),
        budget_gate: gate.budget_gate.unwrap_or(usual.budget_gate),
        token_budget: gate.token_budget.unwrap_or(usual.token_budget),
        adaptive: gate.adaptive.is_some(),
        adaptive_k: gate
            .adaptive
            .and_then(|adaptive| adaptive.k)
            .unwrap_or(usual.adaptive_k),
        drift_threshold: gate.drift_threshold,
    }
}

/// The targets; what a run does not have does not resolve.
fn metrics(analysis: &Analysis) -> Value {
    let mut targets = Map::new();
    let mut put = |name: &str, value: Value| {
        if !value.is_null() {
            targets.insert(name.to_owned(), value);
        }
    };
    put("tripped", u8::from(analysis.tripped).into());
    put("frozen", u8::from(analysis.frozen).into());
    put("trip_step", analysis.trip_step.into());
    put("peak_ratio", analysis.peak_ratio.into());
    put("baseline", analysis.baseline.into());
    put("tokens", analysis.tokens.into());
    put("tokens_after_trip", analysis.tokens_after_trip.into());
    put("pattern", analysis.pattern.as_str().into());
    put("drift", analysis.drift.into());
    json!({ "energy": targets })
}
