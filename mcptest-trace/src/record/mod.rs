//! Recording: one run written down as it goes, and put into a file that is never lost.
//!
//! - [`Recorder`] writes down one run of an agent's own loop;
//! - [`redact`] is what never gets into a file, [`environment`] where secrets are found;
//! - [`store`] is how runs get into files whole, whenever a process is killed or a disk is full;
//! - [`fingerprint()`] tells one text from another, [`recorded_on`] one machine from another.
//!
//! Nothing here knows suites or agents' live servers, and nothing reaches a network.

pub mod environment;
mod fingerprint;
mod keep;
#[doc(hidden)]
pub mod lossless;
mod machine;
#[doc(hidden)]
pub mod payload;
mod recorder;
pub mod redact;
pub mod store;
mod time;
mod transcript;

pub use fingerprint::fingerprint;
pub use keep::RecordError;
pub use machine::recorded_on;
pub use recorder::{CallId, Recorder};
#[cfg(feature = "tracing")]
pub(crate) use time::rfc3339;
#[doc(hidden)]
pub use transcript::TranscriptBuilder;

use std::io::Write as _;

/// Says a line to the person at the terminal. Not through `eprintln!`, which the standard test
/// harness holds back; a closed standard error is no reason to lose a recording.
pub fn say(line: &str) {
    let line = format!("{}\n", crate::text::escape(line));
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}
