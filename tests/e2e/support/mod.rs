//! What the end-to-end tests stand on: processes in a scrubbed environment, folders made from
//! strings, recorded runs, and small crates that use the harness by path.

pub(crate) mod clerk;
mod downloads;
pub(crate) mod folder;
pub(crate) mod outcome;
pub(crate) mod process;
pub(crate) mod recording;
pub(crate) mod snapshot;
pub(crate) mod workshop;
