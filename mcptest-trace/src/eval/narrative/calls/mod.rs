//! What a run did: its tools, its calls, and whether a result reports a failure.

pub(super) mod call;
pub(super) mod reported;
pub(super) mod tools;
