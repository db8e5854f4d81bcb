//! A recorded run under a guard: what would have happened, and what it would have saved.

use serde::Serialize;

use super::drift::drift;
use super::estimate::RunSteps;
use super::guard::GrowthRatioGuard;
use super::hypervector::Hypervector;
use super::options::{GuardOptions, OptionsError};
use super::pattern::FailurePattern;
use super::report::FailureReport;
use super::status::{EnergyError, Status, Step, total_tokens};
use super::trajectory::Trajectory;
use super::unconfirmed::UnconfirmedGrowth;
use crate::eval::measure::{Measure, Unit};
use crate::eval::metrics::metrics;

/// The words of `energy.pattern`.
const PATTERNS: &[&str] = &[
    "healthy",
    "early_explosion",
    "budget_exhaustion",
    "retry_storm",
    "context_spiral",
    "policy_drift",
    "gradual_degradation",
];

/// What drift is measured between.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct DriftInput<'a> {
    /// The text of the policy; a blank one is no policy.
    pub policy: &'a str,
    /// What the model said in each step, as [`responses`](super::responses) gives it. Steps
    /// without an entry have no drift.
    pub responses: &'a [Option<&'a str>],
}

impl<'a> DriftInput<'a> {
    /// Responses, one a step, and the policy that they are held against.
    #[must_use]
    pub fn new(policy: &'a str, responses: &'a [Option<&'a str>]) -> Self {
        Self { policy, responses }
    }
}

/// A recorded run under a [`GrowthRatioGuard`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Analysis {
    /// How the run ended under the guard.
    pub status: Status,
    /// Whether the guard tripped.
    pub tripped: bool,
    /// Whether the guard froze the run; never together with `tripped`.
    pub frozen: bool,
    /// The step that tripped, from 1; only when tripped.
    pub trip_step: Option<usize>,
    /// What stopped the run, with the numbers.
    pub stopped: Option<EnergyError>,
    /// The first step of growth that was enough to trip and had no text around it that could confirm it, from 1;
    /// only where drift was to confirm it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unconfirmed: Option<usize>,
    /// The largest V̂ after the warm-up, over the whole recording.
    pub peak_ratio: Option<f64>,
    /// The baseline in tokens, as soon as the warm-up steps are there; `None` with fewer.
    pub baseline: Option<f64>,
    /// Tokens of the whole recording.
    pub tokens: u64,
    /// Tokens recorded after the step that tripped: what a live guard would have saved. 0 when it
    /// did not trip.
    pub tokens_after_trip: u64,
    /// The failure pattern up to the stop.
    pub pattern: FailurePattern,
    /// Mean drift of the last W steps up to the stop, of those that have one.
    pub drift: Option<f64>,
    /// V̂ of every recorded step, those of the warm-up included; empty without a baseline above 0.
    pub ratios: Vec<f64>,
    /// d of every recorded step.
    pub drifts: Vec<Option<f64>>,
    /// Whether the token counts are an estimate.
    pub estimated: bool,
    /// What is to be said about the run up to the stop.
    pub report: FailureReport,
}

metrics! { Analysis as analysis {
    Measure::new("energy.tripped", Unit::Flag)
        .lower_is_better("1 when a guard would have stopped the run for its growth")
        => analysis.tripped,
    Measure::new("energy.frozen", Unit::Flag)
        .lower_is_better("1 when the run used up its token budget") => analysis.frozen,
    Measure::new("energy.trip_step", Unit::Count)
        .only_describes("the step that tripped, if one did")
        .at_least(1.0)
        .optional() => analysis.trip_step,
    Measure::new("energy.peak_ratio", Unit::Ratio)
        .lower_is_better("the most tokens of a step against the baseline, where there is one")
        .optional() => analysis.peak_ratio,
    Measure::new("energy.baseline", Unit::Tokens)
        .only_describes("tokens of a usual step, where the warm-up came to its end")
        .optional() => analysis.baseline,
    Measure::new("energy.tokens", Unit::Tokens)
        .lower_is_better("tokens of the whole run") => analysis.tokens,
    Measure::new("energy.tokens_after_trip", Unit::Tokens)
        .lower_is_better("tokens that a live guard would have saved") => analysis.tokens_after_trip,
    Measure::new("energy.pattern", Unit::Word(PATTERNS))
        .only_describes("how the run failed, as its growth shows it") => analysis.pattern.as_str(),
    Measure::new("energy.drift", Unit::Distance)
        .lower_is_better("how far the last texts are from the system prompt, where there are both")
        .up_to(2.0)
        .optional() => analysis.drift,
} }

/// Takes a recorded run through a guard with these options.
///
/// Drift is measured when there is something to measure it between; it decides only when the
/// options have a drift threshold.
///
/// # Errors
///
/// An option is out of its range, or there is a drift threshold or an input without a policy.
///
/// ```
/// use mcptest_trace::energy::{GuardOptions, RunSteps, analyse};
/// use mcptest_trace::trace::StepTokens;
///
/// let prompts = [1000, 1100, 1050, 1200, 1500, 2800, 3500, 4500, 6000];
/// let run = RunSteps::new(prompts.map(|prompt| StepTokens::new(prompt, 0)).to_vec());
///
/// let analysis = analyse(&run, GuardOptions::default(), None)?;
/// assert_eq!(analysis.trip_step, Some(8));
/// assert_eq!(analysis.baseline, Some(1050.0));
/// assert_eq!(analysis.tokens_after_trip, 6000);
/// # Ok::<(), mcptest_trace::energy::OptionsError>(())
/// ```
pub fn analyse(
    run: &RunSteps,
    options: GuardOptions,
    drift_input: Option<DriftInput<'_>>,
) -> Result<Analysis, OptionsError> {
    let mut guard = GrowthRatioGuard::new(options)?;
    let mut steps = run.steps();
    match drift_input {
        Some(input) => measure_drift(&mut steps, input)?,
        None if options.drift_threshold.is_some() => return Err(OptionsError::NoPolicy),
        None => {}
    }

    let mut growth = UnconfirmedGrowth::default();
    let stopped = steps.iter().find_map(|step| {
        let stopped = guard.record(*step).err();
        growth.observe(&guard);
        stopped
    });
    let unconfirmed = growth.first();
    let (seen, after) = steps.split_at(guard.history().len());
    let stop = Trajectory {
        estimated: run.estimated,
        ..guard.trajectory()
    };
    let report = FailureReport::diagnose(&stop);
    let whole = Trajectory {
        steps: &steps,
        ..stop
    };
    let tripped = guard.status() == Status::Tripped;
    Ok(Analysis {
        status: guard.status(),
        tripped,
        frozen: guard.status() == Status::Frozen,
        trip_step: tripped.then_some(seen.len()),
        stopped,
        unconfirmed: unconfirmed.filter(|_| options.drift_threshold.is_some() && !tripped),
        peak_ratio: steps
            .iter()
            .skip(options.warmup_turns)
            .filter_map(|step| guard.ratio(step.tokens))
            .reduce(f64::max),
        baseline: guard.baseline(),
        tokens: total_tokens(&steps),
        tokens_after_trip: if tripped { total_tokens(after) } else { 0 },
        pattern: report.pattern,
        drift: guard.drift(),
        ratios: whole.ratios(),
        drifts: steps.iter().map(|step| step.drift).collect(),
        estimated: run.estimated,
        report,
    })
}

fn measure_drift(steps: &mut [Step], input: DriftInput<'_>) -> Result<(), OptionsError> {
    if input.policy.trim().is_empty() {
        return Err(OptionsError::NoPolicy);
    }
    let policy = Hypervector::encode(input.policy);
    for (step, response) in steps.iter_mut().zip(input.responses) {
        step.drift = response.and_then(|text| drift(&policy, text));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::StepTokens;
    use proptest::prelude::*;

    fn run(tokens: &[u64]) -> RunSteps {
        let step = |prompt: &u64| StepTokens::new(*prompt, 0);
        RunSteps {
            tokens: tokens.iter().map(step).collect(),
            estimated: false,
        }
    }

    fn default(tokens: &[u64]) -> Analysis {
        analyse(&run(tokens), GuardOptions::default(), None).unwrap()
    }

    #[test]
    fn a_run_that_ends_in_its_warm_up_did_not_stop_and_has_a_baseline_with_its_last_step() {
        for (tokens, baseline) in [
            (&[][..], None),
            (&[5], None),
            (&[1000, 900_000], None),
            (&[1000, 1000, 90_000], Some(1000.0)),
        ] {
            let analysis = default(tokens);
            assert!(!analysis.tripped && !analysis.frozen);
            assert_eq!((analysis.baseline, analysis.peak_ratio), (baseline, None));
            assert_eq!(analysis.pattern, FailurePattern::Healthy);
            assert_eq!(analysis.tokens, tokens.iter().sum::<u64>());
        }
    }

    #[test]
    fn the_peak_is_that_of_the_recording_and_the_report_that_of_the_guard() {
        let analysis = default(&[1000, 1000, 1000, 4000, 4000, 4000, 9000, 500]);
        assert_eq!(analysis.trip_step, Some(6));
        assert_eq!(analysis.peak_ratio, Some(9.0));
        assert_eq!(analysis.report.peak_ratio(), Some(4.0));
        assert_eq!(
            (analysis.tokens, analysis.tokens_after_trip),
            (24_500, 9_500)
        );
        assert_eq!((analysis.ratios.len(), analysis.report.steps), (8, 6));
    }

    #[test]
    fn a_frozen_run_has_no_trip() {
        let analysis = default(&[30_000, 30_000, 30_000, 30_000, 30_000]);
        assert!(analysis.frozen && !analysis.tripped);
        assert_eq!((analysis.trip_step, analysis.tokens_after_trip), (None, 0));
        assert_eq!(analysis.pattern, FailurePattern::BudgetExhaustion);
    }

    #[test]
    fn drift_confirms_or_spares() {
        let tokens = run(&[1000, 1000, 1000, 4000, 4000, 4000, 4000]);
        let policy = "Only refund within 30 days; ask for the booking number before you refund.";
        let options = GuardOptions {
            drift_threshold: Some(0.7),
            ..GuardOptions::default()
        };
        let with = |response: &str| {
            let responses = [Some(response); 7];
            let input = DriftInput {
                policy,
                responses: &responses,
            };
            analyse(&tokens, options, Some(input)).unwrap()
        };
        let off = with("Das Wetter in Zürich bleibt heiter bis wolkig.");
        assert_eq!((off.tripped, off.trip_step), (true, Some(6)));
        assert!(off.drift.unwrap() > 0.7);
        let on = with(policy);
        assert_eq!((on.tripped, on.drift), (false, Some(0.0)));
        assert_eq!(on.status, Status::Warning);
        assert!(!with("").tripped);
    }

    #[test]
    fn growth_that_no_text_could_confirm_is_told() {
        let tokens = run(&[
            1000, 1000, 1000, 4000, 4000, 4000, 4000, 1000, 4000, 4000, 4000,
        ]);
        let policy = "Only refund within 30 days; ask for the booking number before you refund.";
        let options = GuardOptions {
            drift_threshold: Some(0.7),
            ..GuardOptions::default()
        };
        let said_at = |places: &[usize]| {
            let mut responses = [None; 11];
            for place in places {
                responses[*place - 1] = Some(policy);
            }
            let input = DriftInput::new(policy, &responses);
            analyse(&tokens, options, Some(input)).unwrap().unconfirmed
        };
        assert_eq!(said_at(&[]), Some(6));
        assert_eq!(said_at(&[1, 2, 3]), Some(6));
        // A text within the window of any step of the growth confirms it, or not.
        assert_eq!(said_at(&[7, 11]), None);
        assert_eq!(said_at(&[4, 9]), None);
        assert_eq!(said_at(&[1, 4]), Some(11));
        assert_eq!(said_at(&[8]), Some(6));
        // Without a threshold nothing is to be confirmed, and where nothing grows there is nothing to confirm.
        assert_eq!(
            default(&[1000, 1000, 1000, 4000, 4000, 4000]).unconfirmed,
            None
        );
        let flat = analyse(
            &run(&[1000; 12]),
            options,
            Some(DriftInput::new(policy, &[])),
        );
        assert_eq!(flat.unwrap().unconfirmed, None);
    }

    #[test]
    fn drift_without_a_policy_is_refused() {
        let options = GuardOptions {
            drift_threshold: Some(0.7),
            ..GuardOptions::default()
        };
        assert_eq!(
            analyse(&run(&[1]), options, None),
            Err(OptionsError::NoPolicy)
        );
        let input = DriftInput {
            policy: " ",
            responses: &[],
        };
        let plain = GuardOptions::default();
        assert_eq!(
            analyse(&run(&[1]), plain, Some(input)),
            Err(OptionsError::NoPolicy)
        );
    }

    #[test]
    fn estimated_figures_are_marked_in_the_report() {
        let mut steps = run(&[1000, 1000, 1000, 4000, 4000, 4000]);
        steps.estimated = true;
        let analysis = analyse(&steps, GuardOptions::default(), None).unwrap();
        let text = analysis.report.to_string();
        assert!(text.contains("(tokens are an estimate)"), "{text}");
        assert!(text.contains("baseline about 1000 tokens"), "{text}");
        assert!(
            text.contains("about 15000 spent, about 55000 after"),
            "{text}"
        );
    }

    proptest! {
        #[test]
        fn an_analysis_agrees_with_a_live_guard(
            tokens in prop::collection::vec(prop_oneof![0..9_000_u64, any::<u64>()], 0..30),
            warmup_turns in 1..6_usize,
        ) {
            let options = GuardOptions { warmup_turns, ..GuardOptions::default() };
            let analysis = analyse(&run(&tokens), options, None).unwrap();
            let mut guard = GrowthRatioGuard::new(options).unwrap();
            let stop = tokens.iter().find_map(|tokens| guard.record(Step::new(*tokens)).err());
            prop_assert_eq!(analysis.stopped, stop);
            prop_assert!(!(analysis.tripped && analysis.frozen));
            prop_assert!(analysis.tokens_after_trip <= analysis.tokens);
            prop_assert_eq!(analysis.baseline.is_some(), tokens.len() >= warmup_turns);
            prop_assert!(analysis.ratios.iter().all(|ratio| ratio.is_finite()));
            if analysis.baseline.is_some() {
                prop_assert_eq!(analysis.report.clone(), guard.report());
            }
        }
    }
}
