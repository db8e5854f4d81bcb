//! Reading recorded runs from files.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::read::{self, Reader};
use super::{Outcome, Problem, Signals, ToolCall, ToolResult, Trace};

/// The largest cassette file that is read, in bytes.
pub const MAX_BYTES: u64 = 256 << 20;

/// The most problems of a cassette that are listed.
const SHOWN: usize = 20;

/// The one version of the cassette format.
pub const SCHEMA_VERSION: &str = "v1";

/// One recorded run of an agent.
#[derive(Debug, Clone)]
pub struct Run {
    /// The file it was read from, and the line in a `.jsonl` file.
    pub origin: Origin,
    /// The model that ran.
    pub model: String,
    /// What the user asked first.
    pub user_prompt: String,
    /// The system prompt; an absent one equals an empty one.
    pub system_prompt: String,
    /// What the agent did.
    pub trace: Trace,
    /// Recorded quality signals.
    pub signals: Option<Signals>,
    /// The recorded verdict.
    pub outcome: Option<Outcome>,
    /// What target paths start from: the recorded trace with everything in it, plus `outcome`,
    /// `signals`, `tool_names`, `redundant_tool_calls` and `truncated`.
    pub envelope: Value,
}

impl Run {
    /// The calls of a tool, each with its index.
    pub fn calls_of<'a>(&'a self, tool: &'a str) -> impl Iterator<Item = (usize, &'a ToolCall)> {
        self.trace
            .tool_calls
            .iter()
            .enumerate()
            .filter(move |(_, call)| call.name == tool)
    }

    /// The result of a call; the latest one where it has several.
    #[must_use]
    pub fn result_of(&self, call: usize) -> Option<&ToolResult> {
        self.trace
            .tool_results
            .iter()
            .rev()
            .find(|result| result.call_index == call)
    }
}

/// Where a run was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The path as it is shown: relative to the crate, `/` between segments.
    pub shown: String,
    /// The line, from 1, in a file that holds one run a line.
    pub line: Option<usize>,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)?;
        match self.line {
            Some(line) => write!(f, ":{line}"),
            None => Ok(()),
        }
    }
}

/// A run that cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CassetteError {
    /// The file and line.
    pub origin: Origin,
    /// What is wrong; one entry a problem.
    pub problems: Vec<String>,
    /// What to do next.
    pub help: String,
}

impl fmt::Display for CassetteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.problems.join("; "))
    }
}

impl std::error::Error for CassetteError {}

/// The runs of one file, each read or refused, with the bytes that tell copies apart.
struct Recorded {
    run: Result<Run, CassetteError>,
    bytes: Vec<u8>,
}

/// Reads a file: one run, or one run a line when its name ends in `.jsonl`. `shown` is the path as
/// messages name it.
#[must_use]
pub fn read_file(path: &Path, shown: &str) -> Vec<Result<Run, CassetteError>> {
    recorded(path, shown)
        .into_iter()
        .map(|recorded| recorded.run)
        .collect()
}

fn recorded(path: &Path, shown: &str) -> Vec<Recorded> {
    let whole = Origin {
        shown: shown.to_owned(),
        line: None,
    };
    let bytes = match read_bytes(path) {
        Ok(bytes) => bytes,
        Err((problem, help)) => {
            let error = CassetteError {
                origin: whole,
                problems: vec![problem],
                help: help.to_owned(),
            };
            return vec![Recorded {
                run: Err(error),
                bytes: Vec::new(),
            }];
        }
    };
    if path
        .extension()
        .is_none_or(|extension| extension != "jsonl")
    {
        let run = parse_run(&bytes, &whole);
        return vec![Recorded { run, bytes }];
    }
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    let filled = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
    filled
        .map(|(index, line)| {
            let origin = Origin {
                line: Some(index + 1),
                ..whole.clone()
            };
            Recorded {
                run: parse_run(line, &origin),
                bytes: line.trim_ascii().to_vec(),
            }
        })
        .collect()
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, (String, &'static str)> {
    let unreadable = |error: std::io::Error| {
        (
            format!("cannot be read: {error}"),
            "check that the file may be read",
        )
    };
    let length = fs::metadata(path).map_err(unreadable)?.len();
    if length > MAX_BYTES {
        let message = format!("has {length} bytes; at most {MAX_BYTES} are read");
        return Err((message, "record it again with smaller results, or cut them"));
    }
    fs::read(path).map_err(unreadable)
}

/// Reads one run from its JSON.
///
/// # Errors
///
/// Every problem of the run, or the first where it is no JSON.
pub fn parse_run(bytes: &[u8], origin: &Origin) -> Result<Run, CassetteError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let refuse = |problems: Vec<String>, help: &str| CassetteError {
        origin: origin.clone(),
        problems,
        help: help.to_owned(),
    };
    if bytes.trim_ascii().is_empty() {
        return Err(refuse(
            vec!["is empty".to_owned()],
            "record the run again, or remove the file",
        ));
    }
    let value: Value = serde_json::from_slice(bytes).map_err(|error| {
        let text = error.to_string();
        let help = if error.is_eof() {
            "the file ends too early; record the run again"
        } else if text.contains("recursion limit") {
            "it nests deeper than 128 levels; record it again with the deep value cut"
        } else {
            "mend the JSON at that place, or record the run again"
        };
        refuse(vec![format!("is not JSON: {text}")], help)
    })?;
    let Value::Object(mut map) = value else {
        return Err(refuse(
            vec!["is not a JSON object".to_owned()],
            "a cassette is an object with `schema_version` and `trace`",
        ));
    };
    match map.get("schema_version") {
        Some(Value::String(version)) if version == SCHEMA_VERSION => {}
        Some(version) => {
            let problem = format!(
                "`schema_version` is {version}, and only \"{SCHEMA_VERSION}\" is known here"
            );
            return Err(refuse(
                vec![problem],
                "upgrade the harness if the recorder is newer, or record the run again",
            ));
        }
        None => {
            let problem =
                format!("`schema_version` is missing; this format is \"{SCHEMA_VERSION}\"");
            return Err(refuse(
                vec![problem],
                "check that the file is a cassette and not something else",
            ));
        }
    }
    let mut problems = Vec::new();
    let run = typed(&mut map, origin.clone(), &mut problems);
    if problems.is_empty() {
        return Ok(run);
    }
    let more = problems.len().saturating_sub(SHOWN);
    let mut problems: Vec<_> = problems
        .iter()
        .take(SHOWN)
        .map(ToString::to_string)
        .collect();
    if more > 0 {
        problems.push(format!("and {more} more"));
    }
    Err(refuse(problems, "mend the file, or record the run again"))
}

fn typed(map: &mut Map<String, Value>, origin: Origin, problems: &mut Vec<Problem>) -> Run {
    let mut at = Reader::new("", problems);
    let model = at.required_text(map, "model");
    let user_prompt = at.required_text(map, "user_prompt");
    let system_prompt = at.text(map, "system_prompt").unwrap_or_default();
    let signals = at.object(map, "signals", read::signals);
    let outcome = at.object(map, "outcome", read::outcome);
    let trace = at.object(map, "trace", |trace, at| {
        at.require(trace, "tool_calls");
        read::trace_of(trace, at)
    });
    at.require(map, "trace");
    let trace = trace.unwrap_or_default();
    let envelope = envelope(map, &trace);
    Run {
        origin,
        model,
        user_prompt,
        system_prompt,
        trace,
        signals,
        outcome,
        envelope,
    }
}

/// The root of an agent's targets.
fn envelope(map: &mut Map<String, Value>, trace: &Trace) -> Value {
    let mut root = match map.remove("trace") {
        Some(Value::Object(trace)) => trace,
        _ => Map::new(),
    };
    for key in ["outcome", "signals"] {
        if let Some(value) = map.remove(key) {
            root.insert(key.to_owned(), value);
        }
    }
    let names: Vec<&str> = trace
        .tool_calls
        .iter()
        .map(|call| call.name.as_str())
        .collect();
    root.insert("tool_names".to_owned(), json!(names));
    root.insert(
        "redundant_tool_calls".to_owned(),
        json!(trace.redundant_tool_calls()),
    );
    root.insert("truncated".to_owned(), json!(trace.truncated()));
    Value::Object(root)
}

/// Reads every file, by its path and its shown path, in order. Two runs with the same bytes are one
/// run copied, not two runs.
///
/// # Errors
///
/// Every run that cannot be used, and every copy.
pub fn read_runs(files: &[(PathBuf, String)]) -> Result<Vec<Run>, Vec<CassetteError>> {
    let mut runs = Vec::new();
    let mut errors = Vec::new();
    let mut seen: BTreeMap<Vec<u8>, Origin> = BTreeMap::new();
    for (path, shown) in files {
        for Recorded { run, bytes } in recorded(path, shown) {
            match run {
                Ok(run) => {
                    if let Some(first) = seen.insert(bytes, run.origin.clone()) {
                        errors.push(CassetteError {
                            origin: run.origin.clone(),
                            problems: vec![format!(
                                "is a byte-for-byte copy of {first}, not a run of its own"
                            )],
                            help: "remove one of the two, or record the run again".to_owned(),
                        });
                    }
                    runs.push(run);
                }
                Err(error) => errors.push(error),
            }
        }
    }
    if errors.is_empty() {
        Ok(runs)
    } else {
        Err(errors)
    }
}
