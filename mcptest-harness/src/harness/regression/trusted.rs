//! What is known of a suite's trusted runs before any of them is read.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use mcptest_suite::Subject;

use super::only_trusted::ResultAgent;

/// Where the trusted runs of a suite are, and how each agent's stand to them.
pub(crate) struct Trusted {
    pub(super) place: TrustedPlace,
    /// The case that each agent had in results, by which they are found.
    pub(super) cases: HashMap<Subject, String>,
    pub(super) standing: HashMap<Subject, Standing>,
}

/// Where the trusted runs are.
pub(super) enum TrustedPlace {
    /// Recordings.
    Recordings(PathBuf),
    /// Results of the package, as `cargo mcptest compare --accept` saves them.
    Results {
        folder: PathBuf,
        package: String,
        /// The agents that they tell of, once somebody asks for those that are not the suite's: all files are read.
        agents: OnceLock<Result<Vec<ResultAgent>, String>>,
    },
}

/// How an agent's runs stand to the trusted ones, by the bytes of their files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// No runs of it are trusted.
    New,
    Unchanged,
    Changed,
}
