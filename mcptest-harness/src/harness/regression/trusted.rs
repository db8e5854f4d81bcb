//! What is known of a suite's trusted runs before any of them is read.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use mcptest_suite::Subject;

use super::error::BaselineError;
use crate::harness::listing;
use crate::result::{AgentFacts, ResultFileError, SuiteFacts, folder};

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
        agents: OnceLock<Result<Vec<ResultAgent>, BaselineError>>,
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

/// An agent of which the results of a baseline tell.
pub(super) struct ResultAgent {
    pub(super) suite: SuiteFacts,
    pub(super) agent: AgentFacts,
}

impl TrustedPlace {
    /// The agents that results tell of; none of recordings.
    pub(super) fn result_agents(&self) -> Result<&[ResultAgent], BaselineError> {
        let Self::Results {
            folder,
            package,
            agents,
        } = self
        else {
            return Ok(&[]);
        };
        let read = agents.get_or_init(|| result_agents(folder, package));
        read.as_deref().map_err(Clone::clone)
    }
}

/// The agents that the results of a package tell of, by their cases. An error names a file that cannot be read: which
/// agent it told of, nobody knows.
fn result_agents(folder: &Path, package: &str) -> Result<Vec<ResultAgent>, BaselineError> {
    let mut found: BTreeMap<String, ResultAgent> = BTreeMap::new();
    for path in listing::list_folder(&folder.join(package)).runs {
        let result = folder::read_file(&path).map_err(|cause| {
            let file = path.strip_prefix(folder).unwrap_or(&path).to_owned();
            ResultFileError { file, cause }
        })?;
        if let Some(agent) = result.agent {
            let suite = result.suite;
            found
                .entry(agent.case.clone())
                .or_insert(ResultAgent { suite, agent });
        }
    }
    Ok(found.into_values().collect())
}
