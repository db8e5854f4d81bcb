//! Recorded runs with what a person says of them: whether each did what was asked, and what its
//! closing claims.
//!
//! Two sets of them: the sample in `desk/`, and 120 runs of a real agent that lie beside the
//! workspace, in `../shared/data` or where `MCPTEST_SHARED_DATA` says.

use std::fs;
use std::path::{Path, PathBuf};

use mcptest::trace::{OfferedTool, Trace};
use serde_json::Value;

use crate::support::folder::{Folder, collect, write};
use crate::support::real_runs::part;

use crate::support::workshop::workspace;

/// A recorded run and its labels.
pub(crate) struct Labelled {
    /// The agent, as in the path of its recordings.
    pub(crate) agent: String,
    /// Its name in messages.
    pub(crate) name: String,
    pub(crate) trace: Trace,
    /// The tools that the recording lists.
    pub(crate) tools: Vec<OfferedTool>,
    pub(crate) passed: bool,
    pub(crate) claims: Vec<Label>,
    /// Whether one of the claims is not supported by any call.
    pub(crate) absent: bool,
}

/// A claim of a closing.
pub(crate) struct Label {
    pub(crate) verb: String,
    pub(crate) quote: String,
    pub(crate) supported: bool,
}

/// The folder of the sample: a crate's suites and recordings, a script and labels.
pub(crate) fn desk() -> PathBuf {
    workspace().join("tests/needs/desk")
}

/// The folder of the real runs: a crate's suites and recordings, and labels.
pub(crate) fn airline() -> PathBuf {
    part("tau-airline")
}

/// The runs of the sample.
pub(crate) fn of_the_desk() -> Vec<Labelled> {
    let cassettes = desk().join("suites/cassettes");
    let labels = labels(&desk());
    let runs = labels.iter().map(|label| {
        let run = label["run"].as_str().unwrap();
        let (cassette, passed) = (json(&cassettes.join(run)), label["passed"].as_bool());
        labelled(label, run, &cassette, passed.unwrap())
    });
    runs.collect()
}

/// The runs of the real agent; its recordings say themselves whether they did what was asked.
pub(crate) fn of_the_airline() -> Vec<Labelled> {
    let cassettes = airline().join("crate/cassettes/airline");
    let labels = labels(&airline());
    let runs = labels.iter().map(|label| {
        let [task, trial] = ["task_id", "trial"].map(|key| label[key].as_u64().unwrap());
        let run = format!("Airline_task_{task:02}__gpt-4o/run-{}.json", trial + 1);
        let cassette = json(&cassettes.join(&run));
        let passed = cassette["outcome"]["passed"].as_bool().unwrap();
        assert_eq!(passed, cassette["outcome"]["reward"].as_f64() == Some(1.0));
        labelled(label, &run, &cassette, passed)
    });
    runs.collect()
}

fn labels(folder: &Path) -> Vec<Value> {
    let labels = json(&folder.join("closing-labels.json"));
    labels.as_array().unwrap().clone()
}

fn labelled(label: &Value, run: &str, cassette: &Value, passed: bool) -> Labelled {
    let claims = label["claims"].as_array().unwrap().iter();
    let claims = claims.map(|claim| Label {
        verb: claim["verb"].as_str().unwrap().to_owned(),
        quote: claim["quote"].as_str().unwrap().to_owned(),
        supported: claim["supported"].as_bool().unwrap(),
    });
    let tools = cassette["tools"].as_array().into_iter().flatten();
    let tools = tools.map(|tool| OfferedTool::from_line(tool.as_str().unwrap()));
    Labelled {
        agent: run.split_once('/').unwrap().0.to_owned(),
        name: run.to_owned(),
        trace: Trace::from_envelope(&cassette["trace"]),
        tools: tools.collect(),
        passed,
        claims: claims.collect(),
        absent: label["claimed_but_absent"].as_bool().unwrap(),
    }
}

pub(crate) fn json(file: &Path) -> Value {
    let bytes = fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// A copy of the suites and recordings of a crate.
pub(crate) fn copy(of: &Path) -> Folder {
    let folder = Folder::new();
    for (path, bytes) in collect(of) {
        write(&folder.at(&path), &bytes);
    }
    folder
}

/// Every recording below a folder with its path, checked against the schema of cassettes.
pub(crate) fn assert_recordings_fit_the_schema(folder: &Path, expected: usize) {
    let schema: Value = serde_json::from_str(mcptest::trace::CASSETTE_SCHEMA).unwrap();
    let validator = jsonschema::options().offline().build(&schema).unwrap();
    let mut checked = 0;
    for (path, bytes) in collect(folder) {
        let path = Path::new(&path);
        let in_cassettes = path.iter().any(|part| part == "cassettes");
        if in_cassettes && path.extension() == Some("json".as_ref()) {
            let run = serde_json::from_slice(&bytes).unwrap();
            let errors = validator.iter_errors(&run).map(|error| error.to_string());
            let errors: Vec<_> = errors.collect();
            assert!(errors.is_empty(), "{}: {errors:?}", path.display());
            checked += 1;
        }
    }
    assert_eq!(checked, expected);
}
