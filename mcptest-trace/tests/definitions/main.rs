//! What is computed, beside a plain second implementation of its definition.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "a test makes its own numbers"
)]

mod flows;
mod permuted;
mod runs;
mod scores;
