//! Reading a recorded run from its JSON.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::text::truncate;

use super::envelope::{self, Make, Parts, PathKeys, Recorded};
use super::error::{CassetteError, Flaw};
use super::json::{Json, Object};
use super::location::{self, Location, Loss};
use super::origin::Origin;
use super::parse::{self, Parsed};
use super::read;
use super::reader::Reader;
use super::{
    OfferedTool, Outcome, OwnTools, Problem, ReadOnlyTools, RequestSettings, Signals, ToolCall,
    ToolResult, Trace, fields, foreign_file, number, tools,
};

/// The most problems of a cassette that are listed.
const SHOWN: usize = 20;

/// The most characters of a number that are shown.
const SPELT: usize = 40;

/// The one version of the cassette format.
pub const SCHEMA_VERSION: &str = "v1";

/// The minor version that a recording states: that of the keys that it may have. `v1` states none; `v1.3` the
/// third.
fn parse_minor_version(version: &str) -> Option<u64> {
    match version.strip_prefix(SCHEMA_VERSION)? {
        "" => Some(0),
        rest => rest.strip_prefix('.')?.parse().ok(),
    }
}

/// One recorded run of an agent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Run {
    /// The file it was read from, and the line in a `.jsonl` file.
    pub origin: Origin,
    /// The agent that ran, where the recording names it.
    pub agent_name: Option<String>,
    /// The model that ran.
    pub model: String,
    /// What the user asked first.
    pub user_prompt: String,
    /// The system prompt; an absent one equals an empty one.
    pub system_prompt: String,
    /// The tools that the agent was offered, where the recording lists them.
    pub tools: Option<Vec<OfferedTool>>,
    /// The machine that recorded it, where the recording says so; times of two machines are not compared.
    pub recorded_on: Option<String>,
    /// Whether it was recorded anew because the run before it met a change, while other runs were kept: the runs of
    /// its agent are chosen, and no random sample.
    pub chosen: bool,
    /// What the agent did.
    pub trace: Trace,
    /// Recorded quality signals.
    pub signals: Option<Signals>,
    /// The recorded verdict.
    pub outcome: Option<Outcome>,
    /// Whether the agent's own code ran, in a session or with its spans captured: its system prompt stands in that code.
    pub by_session: bool,
    /// What a session noted of the tools of the agent's own code.
    pub own_tools: OwnTools,
    /// Keys that look like one that the format has since a later version than the file states, a line each.
    warnings: Vec<String>,
    pub(super) recorded: Recorded,
}

impl Run {
    /// What target paths start from: the recorded trace with everything in it, plus `outcome`,
    /// `signals`, `tool_names`, `successful_tool_names`, `redundant_tool_calls`, `truncated`, and `agents` where sub-agents
    /// called tools. Three things are filled in,
    /// so that assertions see what the metrics see: `tool_calls[n].args` is `{}` where there are none,
    /// `tool_results` has the order of the calls, `tool_results[n].is_error` is `true` where only MCP's
    /// `result.isError` says so, and
    /// `conversation.tokens` is the sum of `conversation.steps` where it is absent or zero.
    ///
    /// It is made when it is first asked for, from the text that the run was read from.
    #[must_use]
    pub fn envelope(&self) -> &Value {
        self.shared_envelope()
    }

    /// The recording as it was read, with what readers of runs leave alone; nothing for a run that was changed.
    #[doc(hidden)]
    #[must_use]
    pub fn cassette(&self) -> Option<Value> {
        self.recorded.cassette()
    }

    /// Whether the recording as it was read has all of these keys.
    #[doc(hidden)]
    #[must_use]
    pub fn has_keys(&self, keys: &[&str]) -> bool {
        self.recorded.has_keys(keys)
    }

    /// What the recording says of its first request beside the talk; nothing for a run that was changed.
    #[doc(hidden)]
    #[must_use]
    pub fn request_settings(&self) -> Option<RequestSettings> {
        self.recorded.request_settings()
    }

    /// [`Self::envelope`], for a run that is made of this one.
    pub(crate) fn shared_envelope(&self) -> &Arc<Value> {
        self.recorded.envelope(self.parts())
    }

    /// The parts of [`Self::envelope`] in which these paths of keys end or lead on, at a fraction of
    /// its cost; what else is in it, nobody may rely on.
    #[doc(hidden)]
    #[must_use]
    pub fn envelope_for(&self, paths: &[PathKeys<'_>]) -> Cow<'_, Value> {
        self.recorded.envelope_for(self.parts(), paths)
    }

    fn parts(&self) -> Parts<'_> {
        Parts {
            trace: &self.trace,
            tools: self.tools.as_deref(),
        }
    }

    /// The run with another trace, and what makes the envelope that goes with it.
    pub(crate) fn changed(&self, trace: Trace, envelope: Arc<Make>) -> Self {
        // Field by field: a clone of the whole run would copy what is replaced.
        Self {
            origin: self.origin.clone(),
            agent_name: self.agent_name.clone(),
            model: self.model.clone(),
            user_prompt: self.user_prompt.clone(),
            system_prompt: self.system_prompt.clone(),
            tools: self.tools.clone(),
            recorded_on: self.recorded_on.clone(),
            chosen: self.chosen,
            signals: self.signals,
            outcome: self.outcome,
            by_session: self.by_session,
            own_tools: self.own_tools.clone(),
            warnings: self.warnings.clone(),
            recorded: Recorded::changed(envelope),
            trace,
        }
    }

    /// The run with the calls of one sub-agent alone: see [`Trace::for_sub_agent`].
    #[must_use]
    pub fn for_sub_agent(&self, agent_id: &str) -> Self {
        let trace = self.trace.for_sub_agent(agent_id);
        let make = |trace: &Trace, _: &dyn Fn(&str) -> bool| match json!(trace) {
            Value::Object(root) => root,
            _ => Map::new(),
        };
        self.changed(trace, Arc::new(make))
    }

    /// What is odd in the recording and refuses nothing, a line each: keys that look like one that came to the
    /// format after the version that the file states.
    ///
    /// ```
    /// use mcptest_trace::trace::{Origin, parse_run};
    ///
    /// let run = |version: &str| {
    ///     let text = r#"{ "schema_version": "VERSION", "model": "m", "user_prompt": "p", "trace": {
    ///         "tool_calls": [], "conversation": { "steps": [{ "prompt": 9, "cachd": 4 }] } } }"#;
    ///     parse_run(text.replace("VERSION", version).as_bytes(), &Origin::file("run.json"))
    /// };
    /// assert!(run("v1")?.warnings()[0].contains("did you mean `cached`?"));
    /// assert!(run("v1.1").is_err());
    /// # Ok::<(), mcptest_trace::trace::CassetteError>(())
    /// ```
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Which of its tools only read, as far as the recording and their names tell.
    #[must_use]
    pub fn read_only_tools(&self) -> ReadOnlyTools {
        ReadOnlyTools::new(self.tools.iter().flatten(), [], [])
    }

    /// The calls of a tool, each with its index.
    pub fn calls_of<'a>(&'a self, tool: &'a str) -> impl Iterator<Item = (usize, &'a ToolCall)> {
        self.trace
            .tool_calls
            .iter()
            .enumerate()
            .filter(move |(_, call)| call.name == tool)
    }

    /// The result of a call; of several the latest one, unless one of them is an error: then the
    /// latest error.
    #[must_use]
    pub fn result_of(&self, call: usize) -> Option<&ToolResult> {
        let of_call = |result: &&ToolResult| result.call_index == call;
        let latest = || self.trace.tool_results.iter().rev().filter(of_call);
        latest()
            .find(|result| result.is_error)
            .or_else(|| latest().next())
    }
}

/// Reads one run from its JSON.
///
/// # Errors
///
/// Every problem of the run, or the first where it is no JSON.
pub fn parse_run(bytes: &[u8], origin: &Origin) -> Result<Run, CassetteError> {
    parse_run_text(&Arc::new(bytes.to_vec()), origin)
}

/// Reads one run from its JSON text, which the run keeps.
pub(super) fn parse_run_text(text: &Arc<Vec<u8>>, origin: &Origin) -> Result<Run, CassetteError> {
    let bytes = envelope::without_mark_of_order(text);
    let refuse =
        |problem: String, help: &str| Err(CassetteError::new(origin, vec![problem.into()], help));
    if bytes.trim_ascii().is_empty() {
        return refuse(
            "is empty".to_owned(),
            "record the run again, or remove the file",
        );
    }
    let Parsed { value, lossy } =
        parse::parse_recording(text, bytes).map_err(|error| not_json(bytes, origin, &error))?;
    let Json::Object(mut map) = value else {
        return refuse(
            "is not a JSON object".to_owned(),
            "a cassette is an object with `schema_version` and `trace`",
        );
    };
    let stated = map.get("schema_version");
    let minor = match (
        stated,
        stated.and_then(Json::as_str).and_then(parse_minor_version),
    ) {
        (_, Some(minor)) => minor,
        (Some(_), None) => {
            let version = map.take("schema_version").unwrap_or_default().into_value();
            let problem = format!(
                "`schema_version` is {version}, and only \"{SCHEMA_VERSION}\" is known here"
            );
            return refuse(
                problem,
                "upgrade the harness if the recorder is newer, or record the run again",
            );
        }
        (None, None) => {
            let problem =
                format!("`schema_version` is missing; this format is \"{SCHEMA_VERSION}\"");
            return refuse(
                problem,
                "check that the file is a cassette and not something else",
            );
        }
    };
    let mut problems = Vec::new();
    let mut run = build_run(map, origin.clone(), text, minor, &mut problems);
    let lost = if lossy {
        lossy_values(bytes, origin)
    } else {
        Vec::new()
    };
    let warnings: Vec<Problem> = problems.extract_if(.., |it| it.is_warning).collect();
    let told = |problem: &Problem| {
        let find = if problem.of_key {
            location::find_key
        } else {
            location::find_value
        };
        let at = find(bytes, &problem.path);
        let at = at.map(|offset| Location::at_offset(bytes, offset, origin.line.unwrap_or(1)));
        Flaw::new(&problem.to_string(), at)
    };
    if problems.is_empty() && lost.is_empty() {
        let warnings = warnings.iter().map(|problem| told(problem).to_string());
        run.warnings = warnings.collect();
        return Ok(run);
    }
    let typed = problems.iter().map(told);
    Err(cassette_error(
        origin,
        lost.into_iter().chain(typed).collect(),
    ))
}

/// The error that lists these flaws, in the order of the text.
fn cassette_error(origin: &Origin, mut flaws: Vec<Flaw>) -> CassetteError {
    flaws.sort_by_key(|flaw| {
        let place = flaw.place.as_ref();
        place.map_or((usize::MAX, 0), |place| (place.line, place.column))
    });
    let more = flaws.len().saturating_sub(SHOWN);
    flaws.truncate(SHOWN);
    if more > 0 {
        flaws.push(format!("and {more} more").into());
    }
    CassetteError::new(origin, flaws, "correct the file, or record the run again")
}

/// The keys and numbers of this text that a [`Value`] of it would lose.
fn lossy_values(bytes: &[u8], origin: &Origin) -> Vec<Flaw> {
    let lost = location::losses(bytes).into_iter().map(|lost| {
        let path = &lost.path;
        let message = match &lost.what {
            Loss::Key => {
                format!("`{path}`: this key is twice in its object; keep one of the two")
            }
            Loss::Number(spelt) => {
                let why = if number::is_whole(spelt) {
                    "is beyond 64 bits"
                } else {
                    "is no 64-bit number"
                };
                let spelt = truncate(spelt, SPELT);
                format!("`{path}`: {spelt} {why} and would be rounded; write it as text")
            }
        };
        let at = Location::at_offset(bytes, lost.offset, origin.line.unwrap_or(1));
        Flaw::new(&message, Some(at))
    });
    lost.collect()
}

/// Says what a text is that is no JSON, or where it goes wrong.
fn not_json(bytes: &[u8], origin: &Origin, error: &serde_json::Error) -> CassetteError {
    // A number beyond all floats ends the reading of what is JSON in form.
    let lost = lossy_values(bytes, origin);
    if !lost.is_empty() {
        return cassette_error(origin, lost);
    }
    if let Some((problem, help)) = foreign_file::diagnose(bytes) {
        return CassetteError::new(origin, vec![problem.into()], help);
    }
    let values = foreign_file::count_values(bytes);
    if let (Some(values @ 2..), None) = (values, origin.line) {
        let problem = format!("holds {values} JSON values, and a file of this name holds one run");
        let help = "if each line is one run, name the file `.jsonl`; if not, put each run into its own file";
        return CassetteError::new(origin, vec![problem.into()], help);
    }
    if let Err(error) = std::str::from_utf8(bytes) {
        let at = error.valid_up_to();
        let byte = bytes.get(at).copied().unwrap_or_default();
        let place = Location::at_offset(bytes, at, origin.line.unwrap_or(1));
        let flaw = Flaw::new(
            &format!("is not UTF-8 text: byte 0x{byte:02X}"),
            Some(place),
        );
        let help = "save the file as UTF-8; the file may be in Latin-1 or another old encoding";
        return CassetteError::new(origin, vec![flaw], help);
    }
    let text = error.to_string();
    let where_it_is = format!(" at line {} column {}", error.line(), error.column());
    let words = text.strip_suffix(&where_it_is).unwrap_or(&text);
    let help = if error.is_eof() {
        "the file ends too early; record the run again"
    } else if values == Some(1) {
        "the JSON nests deeper than 128 levels, or holds half a character; record the run again with a shorter value"
    } else {
        "correct the JSON at that place, or record the run again"
    };
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let start: usize = lines
        .take(error.line().saturating_sub(1))
        .map(<[u8]>::len)
        .sum();
    let offset = start + error.column().saturating_sub(1);
    let place = Location::at_offset(bytes, offset, origin.line.unwrap_or(1));
    let flaw = Flaw::new(&format!("is not JSON: {words}"), Some(place));
    CassetteError::new(origin, vec![flaw], help)
}

fn build_run(
    mut map: Object<'_>,
    origin: Origin,
    text: &Arc<Vec<u8>>,
    minor: u64,
    problems: &mut Vec<Problem>,
) -> Run {
    let mut at = Reader::new(problems).with_minor_version(minor);
    at.check_keys(&map, &fields::RUN);
    let recorded = Recorded::read(text, &map);
    let map = &mut map;
    let session = map.take("session").map(Json::into_value);
    let session = session.filter(|field| !field.is_null());
    let captured = map.take("captured").map(Json::into_value);
    let captured = captured.filter(|field| !field.is_null());
    // Another recorder may mean something else by the word.
    let chosen = map
        .take("chosen")
        .is_some_and(|chosen| matches!(chosen, Json::Bool(true)));
    Run {
        origin,
        agent_name: at.text(map, "agent_name"),
        model: at.required_text(map, "model"),
        user_prompt: at.required_text(map, "user_prompt"),
        system_prompt: at.text(map, "system_prompt").unwrap_or_default(),
        tools: at.values(map, "tools", |tool, _, at| tools::read(tool, at)),
        recorded_on: at.text(map, "recorded_on"),
        chosen,
        signals: at.object(map, "signals", read::signals),
        outcome: at.object(map, "outcome", read::outcome),
        by_session: session.is_some() || captured.is_some(),
        own_tools: session
            .as_ref()
            .map(OwnTools::from_session)
            .unwrap_or_default(),
        trace: {
            at.require(map, "trace");
            let trace = at.object(map, "trace", |trace, at| {
                at.require(&trace, "tool_calls");
                read::trace_of(trace, at)
            });
            let mut trace = trace.unwrap_or_default();
            let told = session.iter().chain(&captured);
            let unknown = told.filter_map(|field| field.get("unknown")?.as_array());
            let mut unknown = unknown.flatten();
            trace.flags_are_partial = unknown.any(|what| what == "is_error");
            trace
        },
        warnings: Vec::new(),
        recorded,
    }
}
