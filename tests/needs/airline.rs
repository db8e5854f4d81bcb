//! 120 recorded runs of a real agent.

use mcptest::energy::Condition;

use crate::energy::guarded;
use crate::reliability::pass_hat;
use crate::runs::{self, copy, of_the_airline};
use crate::suites::{self, outcomes};
use crate::support::outcome::Outcome::Passed;

const GATES: [&str; 4] = ["stability", "trajectory", "golden_path", "narrative"];

pub(crate) fn thirty_agents_with_four_gates_each() {
    let outcomes = outcomes(&copy(&runs::airline().join("crate")), &GATES);
    assert_eq!(outcomes.len(), 150, "{outcomes:#?}");
    let agents = outcomes
        .iter()
        .filter(|(name, _)| name.matches("::").count() == 1);
    assert_eq!(agents.clone().count(), 30, "{outcomes:#?}");
    assert!(
        agents.clone().all(|(_, outcome)| *outcome == Passed),
        "{outcomes:#?}"
    );
    for gate in GATES {
        let of_gate = outcomes.keys().filter(|name| name.ends_with(gate));
        assert_eq!(of_gate.count(), 30, "{gate}");
    }
}

pub(crate) fn its_failures_are_the_same_bytes_in_any_thread_order() {
    let folder = copy(&runs::airline().join("crate"));
    suites::assert_failures_are_the_same_bytes_in_any_thread_order(&folder);
}

pub(crate) fn the_default_guard_over_120_runs() {
    let runs = of_the_airline();
    assert_eq!(runs.len(), 120);
    let guarded = guarded(&runs, &[1.5, 2.0, 3.0, 3.5, 5.0], &[3, 5]);
    let mut counted = guarded.counted.iter();
    assert!(counted.all(|(recorded, estimated)| recorded == estimated));
    assert_eq!(guarded.trips, 48);
    let mut cells = guarded.sweep.cells.iter();
    let cell = cells.find(|cell| cell.ratio_threshold == 2.0).unwrap();
    assert_eq!((cell.window, cell.tally.stops, cell.freezes), (3, 48, 0));
    assert_eq!(cell.tally.passing, 36);
    for (condition, tally) in guarded.ablation {
        let stops = match condition {
            Condition::GrowthOnly | Condition::GrowthAndCompression => 48,
            // Without drift nothing is confirmed; three long runs reach the ceiling.
            Condition::FullStack | Condition::NaiveCap => 3,
            Condition::Baseline => 0,
        };
        assert_eq!(tally.stops, stops, "{condition}");
    }
}

pub(crate) fn the_published_reliability_is_reproduced() {
    let published = ["0.300", "0.172", "0.142", "0.133"];
    assert_eq!(pass_hat(&of_the_airline()), published);
}

pub(crate) fn its_recordings_fit_the_schema() {
    runs::assert_recordings_fit_the_schema(&runs::airline().join("crate"), 120);
}
