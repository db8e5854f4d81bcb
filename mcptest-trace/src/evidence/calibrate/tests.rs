//! Calibrations as a whole.

use super::*;
use crate::eval::{Measure, Unit};
use proptest::prelude::*;

fn share() -> Share {
    Share::percent(95).unwrap()
}

fn high(unit: Unit) -> Quantity {
    Quantity::from_measure(&Measure::new("tokens", unit).lower_is_better("")).unwrap()
}

fn runs<'a>(agents: &[&'a str], values: impl IntoIterator<Item = (f64, bool)>) -> Vec<Scored<'a>> {
    let scored = values.into_iter().enumerate();
    scored
        .map(|(run, (value, passed))| Scored {
            agent: agents[run % agents.len()],
            value: Some(value),
            passed: Some(passed),
        })
        .collect()
}

#[test]
fn the_verdicts_of_the_two_signs() {
    use Discrimination::{Contradictory, Inverted, NoPower, TellsAgentsApartOnly, TellsRunsApart};
    for (over, within, verdict) in [
        (1, 1, TellsRunsApart),
        (0, 1, TellsRunsApart),
        (-1, 1, Contradictory),
        (1, -1, Contradictory),
        (1, 0, TellsAgentsApartOnly),
        (0, 0, NoPower),
        (-1, 0, Inverted),
        (0, -1, Inverted),
        (-1, -1, Inverted),
    ] {
        assert_eq!(
            Discrimination::from_signs(over, within),
            verdict,
            "{over} {within}"
        );
    }
}

#[test]
fn too_few_runs_say_what_they_can_promise() {
    let values = (0..11)
        .map(|value| (f64::from(value), true))
        .chain([(20.0, false)]);
    let found = calibrate(&high(Unit::Count), &runs(&["a", "b"], values), share());
    let limit = found.limit.unwrap();
    assert_eq!((limit.k, limit.rounded, limit.new_agents), (0, 10.0, None));
    assert!(
        found
            .text()
            .contains("too few: 11 passing runs can promise 91.7%, for 95% you need 19\n")
    );
    assert!(
        found
            .text()
            .contains("no promise for agents that are not in the suite\n")
    );
}

#[test]
fn a_limit_for_new_agents_is_the_looser_one() {
    // 40 agents of one run; the worst 2 of 41 may be missed.
    let names: Vec<String> = (0..40).map(|agent| format!("agent {agent:02}")).collect();
    let scored: Vec<Scored> = names
        .iter()
        .zip(1..)
        .map(|(agent, value)| Scored {
            agent,
            value: Some(f64::from(value)),
            passed: Some(true),
        })
        .collect();
    let limit = calibrate(&high(Unit::Ratio), &scored, share())
        .limit
        .unwrap();
    assert_eq!((limit.same_agents, limit.new_agents), (39.0, Some(39.0)));
    // Twenty runs of the first agent weigh as one: what is best for runs is too strict for agents.
    let many = (0..20).map(|_| Scored {
        agent: &names[0],
        value: Some(0.0),
        passed: Some(true),
    });
    let scored: Vec<Scored> = scored.iter().copied().chain(many).collect();
    let limit = calibrate(&high(Unit::Ratio), &scored, share())
        .limit
        .unwrap();
    assert_eq!((limit.same_agents, limit.new_agents), (38.0, Some(39.0)));
    assert_eq!(limit.value, 39.0);
}

#[test]
fn one_agent_is_checked_run_by_run_and_says_so() {
    let values = (0..30).map(|value| (f64::from(value), value < 25));
    let found = calibrate(&high(Unit::Ratio), &runs(&["a"], values), share());
    let check = found.check.clone().unwrap();
    assert_eq!(check.left_out, LeftOut::Run);
    // Without the worst run the limit is the next one, which it exceeds.
    assert_eq!((check.tally.false_alarms, check.tally.passed), (1, 25));
    assert_eq!((check.tally.catches, check.tally.failed), (5, 5));
    assert!(
        found
            .text()
            .contains("one agent: runs left out one by one: 1 of 25 passed runs stopped")
    );
}

#[test]
fn without_outcomes_all_runs_make_the_limit_and_nobody_knows_what_it_catches() {
    let mut scored = runs(&["a", "b"], (0..40).map(|value| (f64::from(value), true)));
    for run in &mut scored {
        run.passed = None;
    }
    let found = calibrate(&high(Unit::Ratio), &scored, share());
    assert!(found.outcomes_unknown);
    assert_eq!(found.power.verdict, Discrimination::Unknown);
    assert_eq!(found.limit.unwrap().value, 38.0);
    assert!(
        found
            .text()
            .contains("unknown: nobody knows whether it catches anything\n")
    );
    assert!(found.comment()[1].ends_with("nobody knows whether it catches anything"));
    // One known outcome, and the others are left out.
    scored[0].passed = Some(true);
    let found = calibrate(&high(Unit::Ratio), &scored, share());
    assert_eq!((found.without_outcome, found.passed), (39, 1));
}

#[test]
fn flags_and_runs_without_a_value_are_counted_and_not_calibrated() {
    let mut scored = runs(&["a", "b"], (0..8).map(|run| (f64::from(run % 2), run < 4)));
    scored[3].value = None;
    scored[4].value = Some(f64::NAN);
    let found = calibrate(&high(Unit::Flag), &scored, share());
    assert_eq!((found.without_value, found.passed, found.failed), (2, 3, 3));
    assert!(found.limit.is_none() && found.check.is_none() && found.curve.is_empty());
    assert!(found.text().contains("0 or 1: measured, not calibrated\n"));
    let none = calibrate(&high(Unit::Ratio), &[], share());
    assert!(none.limit.is_none());
    assert!(none.text().contains("no limit: no run passed\n"));
}

#[test]
fn all_that_is_said_of_a_target() {
    let names = ["a", "b", "c", "d"];
    let values = (0..40_u32).map(|run| (f64::from(run * 7 % 40) / 8.0, run % 3 != 0));
    let ratio = Measure::new("energy.peak_ratio", Unit::Ratio).lower_is_better("");
    let target = Quantity::from_measure(&ratio).unwrap();
    let found = calibrate(&target, &runs(&names, values), share());
    assert_eq!(
        found.text(),
        "\
energy.peak_ratio: 26 passed and 14 failed runs
A 0.385 [0.088, 0.801], within 4 agents 0.389 (p 0.300)
no power: the interval of A includes 0.5: do not gate on it
limit 4.875: 96.3% of passing runs of these agents, with 95% confidence 89.1%
no promise for agents that are not in the suite
agents left out one by one: 1 of 26 passed runs stopped [0.7%, 18.9%], 0 of 14 failed runs caught [0.0%, 21.5%]
  at 80%: 4.375, 4 of 26 passed runs stopped, 0 of 14 failed runs caught
  at 90%: 4.75, 1 of 26 passed runs stopped, 0 of 14 failed runs caught
  at 95% to 100%: 4.875, 0 of 26 passed runs stopped, 0 of 14 failed runs caught
"
    );
}

#[test]
fn limits_together_alarm_where_one_does() {
    let scored = runs(
        &["a", "b"],
        (0..40).map(|value| (f64::from(value), value < 30)),
    );
    let other: Vec<Scored> = scored
        .iter()
        .map(|run| Scored {
            value: run.value.map(|value| (value * 7.0) % 40.0),
            ..*run
        })
        .collect();
    let (first, second) = (
        calibrate(&high(Unit::Ratio), &scored, share()),
        calibrate(&high(Unit::Ratio), &other, share()),
    );
    let outcomes: Vec<Option<bool>> = scored.iter().map(|run| run.passed).collect();
    let alone = joint(&outcomes, &[&first]);
    assert_eq!(alone, first.check.as_ref().unwrap().tally);
    let both = joint(&outcomes, &[&first, &second]);
    let sum = alone.false_alarms + second.check.as_ref().unwrap().tally.false_alarms;
    assert!(both.false_alarms >= alone.false_alarms && both.false_alarms <= sum);
}

#[test]
fn across_runs_the_agent_is_the_unit() {
    let agents: Vec<AgentScored> = (0..30_usize)
        .map(|agent| AgentScored {
            value: Some(agent as f64 / 30.0),
            passed: agent / 6,
            runs: 4,
        })
        .collect();
    let score = Measure::new("stability.score", Unit::Fraction).higher_is_better("");
    let target = Quantity::from_measure(&score).unwrap();
    let found = calibrate_across(&target, &agents, share());
    assert_eq!(found.power.unwrap().concordance, 1.0);
    assert_eq!(found.verdict, Discrimination::TellsAgentsApartOnly);
    let limit = found.limit.unwrap();
    assert_eq!(
        (limit.agents, limit.enough, limit.agents_needed),
        (6, false, Some(19))
    );
    assert_eq!(limit.rounded, 0.8);
    assert_eq!(
        found.text(),
        "\
stability.score: 30 agents
C 1.000 [1.000, 1.000]
tells agents apart only: it separates hard tasks from easy tasks, but not bad runs from good runs
limit 0.8: 85.7% of agents without a failed run
too few: 6 agents without a failed run; you need 19
"
    );
}

#[test]
fn a_limit_at_the_bad_end_says_nothing() {
    let share = Measure::new("t", Unit::Fraction);
    let high = Quantity::from_measure(&share.higher_is_better("")).unwrap();
    let low = Quantity::from_measure(&share.lower_is_better("")).unwrap();
    assert!(high.always_holds(0.0) && !high.always_holds(0.1));
    assert!(low.always_holds(1.0) && !low.always_holds(0.9));
    let endless =
        Quantity::from_measure(&Measure::new("t", Unit::Count).lower_is_better("")).unwrap();
    assert!(!endless.always_holds(1e9));
}

proptest! {
    #[test]
    fn rounding_goes_outward(value in -1e6..1e6_f64, low: bool, whole: bool) {
        let target = Measure::new("t", if whole { Unit::Count } else { Unit::Ratio });
        let target = if low { target.higher_is_better("") } else { target.lower_is_better("") };
        let target = Quantity::from_measure(&target).unwrap();
        let rounded = target.rounded(value);
        prop_assert!(!target.alarms(value, rounded));
        let step = if whole { 1.0 } else { 1.1e-4 };
        prop_assert!((rounded - value).abs() <= step);
        prop_assert_eq!(target.rounded(rounded), rounded);
    }

    #[test]
    fn the_limit_stops_fewer_than_k_passed_runs(
        values in prop::collection::vec((0..40_u8, any::<bool>()), 1..80),
    ) {
        let scored = runs(&["a", "b", "c", "d"], values.iter().map(|(value, passed)| (f64::from(*value), *passed)));
        let found = calibrate(&high(Unit::Count), &scored, share());
        if let Some(limit) = found.limit {
            prop_assert!(limit.seen.false_alarms < limit.k.max(1));
            prop_assert_eq!(tally(&found.target, &scored, limit.value), limit.seen);
            let curve: Vec<usize> = found.curve.iter().map(|point| point.seen.catches).collect();
            prop_assert!(curve.windows(2).all(|pair| pair[0] >= pair[1]));
        } else {
            prop_assert_eq!(found.passed, 0);
        }
    }
}
