//! What is known of a suite's trusted runs before any of them is read.

use std::collections::HashMap;
use std::path::PathBuf;

use mcptest_suite::Subject;

/// Where the trusted runs of a suite are, and how each agent's stand to them.
pub(crate) struct Trusted {
    pub(super) place: TrustedPlace,
    pub(super) standing: HashMap<Subject, Standing>,
}

/// Where the trusted runs are.
pub(super) enum TrustedPlace {
    /// Recordings.
    Recordings(PathBuf),
    /// Results of the package, as `cargo mcptest compare --accept` saves them.
    Results(PathBuf),
}

/// How an agent's runs stand to the trusted ones, by the bytes of their files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// No runs of it are trusted.
    New,
    Unchanged,
    Changed,
}
