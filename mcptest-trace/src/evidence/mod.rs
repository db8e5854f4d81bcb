#![cfg_attr(
    test,
    allow(
        clippy::float_cmp,
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        reason = "tests make their own numbers"
    )
)]
//! Evidence: did an agent get worse, what does a threshold mean, would a suite notice a broken agent.
//!
//! Pure functions over values and labels: no file, no clock, no suite. The same inputs give the same
//! bytes on every machine.
//!
//! - [`mod@compare`]: two sets of runs of the same agents;
//! - [`mod@calibrate`]: thresholds that a stated share of passing runs will meet, and whether a metric
//!   tells passed runs from failed ones;
//! - [`mutants`]: recorded runs, each broken in one way.
//!
//! The statistics that they are made of are in [`stats`](crate::stats).

pub mod calibrate;
pub mod compare;
pub mod mutants;
