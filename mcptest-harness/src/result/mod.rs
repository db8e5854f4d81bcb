//! What a case came to, as data.
//!
//! A verdict is data first: a [`CaseResult`] has everything that was computed, asked and found. The
//! text of a failure and the table of a success are views of it, and so is what `cargo mcptest`
//! shows. With `MCPTEST_RESULTS=<folder>` every case that runs leaves its result there as one JSON
//! file ([`folder`]).
//!
//! Equal recordings and suites give equal results, whatever the threads and whoever runs the cases; only
//! [`CaseResult::duration_ms`] differs.

mod bounds;
mod error;
mod facts;
pub mod folder;
mod judged;
mod read_error;
mod shards;
mod short_name;
mod table;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use error::ResultError;
pub(crate) use error::{ResultFileCause, ResultFileError};
pub use facts::{
    AgentFacts, FailureFacts, FindingFacts, Position, Recording, RunFacts, SuiteFacts,
};
pub(crate) use judged::{
    Asker, failure_facts, file_digests, prompts, recordings, run_facts, to_position,
};
pub(crate) use shards::JudgedShard;
pub(crate) use short_name::short_name;
pub(crate) use table::table;

use crate::eval::Measure;
pub use crate::gate::{DivergenceFacts, PlayedCall, PlayedFacts, RunVerdict};
/// The digest of a text, the same on every machine.
pub(crate) use mcptest_trace::record::fingerprint as digest;

/// The version of the format, `<major>.<minor>`: a reader knows its own major version and all minor
/// versions of it.
pub const SCHEMA_VERSION: &str = "2.1";

/// The JSON Schema of a case's result.
pub const RESULTS_SCHEMA: &str = include_str!("../../schemas/results.schema.json");

/// What a case came to.
///
/// ```
/// use mcptest::result::{CaseResult, CaseStatus};
///
/// let text = r#"{
///     "schema_version": "2.0", "package": "shop", "case": "refunds::refund_agent",
///     "suite": { "name": "refunds", "file": "suites/refunds.yml", "digest": "85944171f73967e8" },
///     "status": "passed", "recordings": [], "targets": []
/// }"#;
/// let result = CaseResult::from_json(text)?;
/// assert_eq!(result.status, CaseStatus::Passed);
/// # Ok::<(), mcptest::result::ResultError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CaseResult {
    /// The version of the format.
    pub schema_version: String,
    /// The package that the case belongs to.
    pub package: String,
    /// The case's full name.
    pub case: String,
    /// The suite that asks.
    pub suite: SuiteFacts,
    /// The agent test that the case is about; absent where a suite does not load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentFacts>,
    /// The gate, or the name of a check in Rust; absent for the agent's own case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<String>,
    /// Whether the case holds.
    pub status: CaseStatus,
    /// Why it is ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where in the suite it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Position>,
    /// The recorded runs that were judged, in order.
    #[serde(default)]
    pub recordings: Vec<Recording>,
    /// What becomes of each run by itself; empty for a gate that folds all runs together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run_verdicts: Vec<RunVerdict>,
    /// What was computed, and what was asked of it.
    #[serde(default)]
    pub targets: Vec<TargetResult>,
    /// How much there was to judge, by what it is: `claims`, `faults`, `calls`. A zero is a verdict
    /// about nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub judged: BTreeMap<String, u64>,
    /// What must be known to trust the verdict, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Why it fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureFacts>,
    /// What each run did, in the agent's own case: what comparing runs with others needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<RunFacts>,
    /// What the agent's own code did with each run, in the case of `playback`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub played: Vec<PlayedFacts>,
    /// The prompts of the runs by their digest.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prompts: BTreeMap<String, String>,
    /// How long judging took, in milliseconds; what comparisons of results leave out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
}

/// Whether a case holds.
///
/// A closed set: whoever matches on it need not expect another. Results with another have another
/// [major version](SCHEMA_VERSION).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseStatus {
    /// It holds.
    Passed,
    /// It does not, or it could not be judged.
    Failed,
    /// It was not judged, for [`CaseResult::reason`].
    Ignored,
}

impl CaseStatus {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Ignored => "ignored",
        }
    }
}

/// A target: what it is, its values, and what was asked of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TargetResult {
    /// Its path, e.g. `stability.score`.
    pub name: String,
    /// What its numbers count: `percent`, `all_or_nothing`, `fraction`, `flag`, `count`, `tokens`,
    /// `milliseconds`, `dollars`, `ratio`, `distance`, `word`; `recorded` for a path of the recording itself.
    pub unit: String,
    /// The smallest number it can be; absent for what an agent's own `expect:` looks at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lowest: Option<f64>,
    /// The largest number it can be, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub highest: Option<f64>,
    /// Which numbers are better: `higher`, `lower`, or `neither`.
    pub better: String,
    /// What it says.
    pub meaning: String,
    /// Its value, of all runs together; absent for a gate that judges run by run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Its value of each run, `null` where a run has none; empty for a gate that folds all runs
    /// together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub per_run: Vec<Value>,
    /// What was asked of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<Bound>,
}

/// What was asked of a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Bound {
    /// The path that was asked about, where it is a part of the target: `reliability.pass_at[2]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What was asked, in words.
    pub asks: String,
    /// The smallest number that holds, where that is what was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<f64>,
    /// The largest number that holds, where that is what was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<f64>,
    /// Whether the gate's default asks for it, and not the suite.
    pub default: bool,
    /// The line of the suite that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Whether it holds; what could not be judged in a run that fails does not.
    pub holds: bool,
    /// How far the worst value is from the nearest limit, in the target's unit; below zero outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
}

impl TargetResult {
    /// Unit and range in words, e.g. `a percent from 0 to 100`.
    #[must_use]
    pub fn unit_and_range(&self) -> String {
        let declared = crate::gate::find_measure(&self.name);
        declared.map_or_else(|| self.meaning.clone(), Measure::unit_and_range)
    }
}

impl CaseResult {
    /// The result of a case that holds, with nothing computed.
    pub(crate) fn new(package: &str, case: &str) -> Self {
        Self {
            schema_version: SCHEMA_VERSION.to_owned(),
            package: package.to_owned(),
            case: case.to_owned(),
            suite: SuiteFacts::new("", "", String::new()),
            agent: None,
            gate: None,
            status: CaseStatus::Passed,
            reason: None,
            asked: None,
            recordings: Vec::new(),
            run_verdicts: Vec::new(),
            targets: Vec::new(),
            judged: BTreeMap::new(),
            notes: Vec::new(),
            failure: None,
            runs: Vec::new(),
            played: Vec::new(),
            prompts: BTreeMap::new(),
            duration_ms: None,
        }
    }

    /// The result of a case that fails before anything is judged.
    pub(crate) fn refused(package: &str, case: &str, text: &str) -> Self {
        let suite = case.rsplit_once("::").map_or(case, |(suite, _)| suite);
        Self {
            status: CaseStatus::Failed,
            failure: Some(FailureFacts::from_text(text)),
            suite: SuiteFacts::new(suite, "", String::new()),
            ..Self::new(package, case)
        }
    }

    /// The result as JSON, with a line break at the end.
    #[must_use]
    pub fn to_json(&self) -> String {
        let value = serde_json::to_value(self).unwrap_or_default();
        crate::trace::pretty_json(&value) + "\n"
    }

    /// Reads a result.
    ///
    /// # Errors
    ///
    /// It is no result, or one of a major version that this one does not know.
    pub fn from_json(text: &str) -> Result<Self, ResultError> {
        let value: Value = serde_json::from_str(text).map_err(ResultError::NotJson)?;
        let version = value.get("schema_version").and_then(Value::as_str);
        let version = version.ok_or(ResultError::NoVersion)?;
        let major = |version: &str| version.split('.').next().map(str::to_owned);
        if major(version) != major(SCHEMA_VERSION) {
            let found = version.to_owned();
            return Err(ResultError::OtherVersion { found });
        }
        serde_json::from_value(value).map_err(ResultError::NotAResult)
    }

    /// The scores of a case as people read them: a row a target.
    #[must_use]
    pub fn table(&self) -> Option<String> {
        table(&self.targets)
    }
}
