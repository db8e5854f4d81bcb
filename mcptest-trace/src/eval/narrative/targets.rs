//! What the metric computes.

use crate::eval::measure::{Better, Measure};

/// The targets of the metric.
pub const TARGETS: &[Measure] = &[
    Measure::fraction(
        "narrative.divergence_score",
        Better::Lower,
        "flagged items over recorded calls and claimed actions together",
    ),
    Measure::count(
        "narrative.claimed_but_absent",
        Better::Lower,
        "claimed changes that no successful call made",
    ),
    Measure::count(
        "narrative.present_but_unclaimed",
        Better::Lower,
        "successful changes that the closing never mentions",
    ),
    Measure::count(
        "narrative.arg_mismatch",
        Better::Lower,
        "claims whose details differ from the call's arguments",
    ),
    Measure::count(
        "narrative.unclear",
        Better::Lower,
        "claims that the wording or the recording does not decide",
    ),
    Measure::count(
        "narrative.claims",
        Better::Neither,
        "claimed changes that were read",
    ),
    Measure::flag(
        "narrative.gate_passed",
        Better::Higher,
        "1 when the options of the gate hold",
    ),
];
