//! Trajectories of the Agent Trajectory Interchange Format, a document a run.
//!
//! Source: `harbor 0.25.0` (Apache-2.0): `harbor/models/trajectories/*.py`, ATIF-v1.8, and
//! `docs/rfcs/0001-trajectory-format.md` there.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fmt;
use std::io;

use mcptest_trace::trace::canonical_json;
use serde_json::Value;

use crate::content::text_of;
use crate::digest::Digest;
use crate::event::{
    Call, CallTokens, Event, ForeignRun, ReportedScore, Stop, SystemPreamble, sum_steps,
};
use crate::format::{Format, Gathered, Joins, Runs};
use crate::formats::openai::offered_tools;
use crate::input::{Input, Parsed, Record, parse};
use crate::joining::Joiner;
use crate::json::{
    self, count, identifier, is_set, list, member, non_null, nonempty_string, nonempty_text, text,
};
use crate::loss::LossReason;
use crate::mapping::Mapping;
use crate::time;

/// The newest version that is known.
const NEWEST: &str = "ATIF-v1.8";

/// What an agent saw that is no result of a call, as the format itself has it.
const LEFT_OUT: &str = "observations that are no result of a call left out";

/// The format `atif`.
pub(crate) struct Atif;

impl Format for Atif {
    fn signature(&self) -> &'static str {
        "`schema_version` that begins with `ATIF-v`"
    }

    fn recognizes(&self, _: &Input, value: &Value) -> bool {
        text(value, "schema_version").is_some_and(|version| version.starts_with("ATIF-v"))
    }

    fn join(&self, record: &Record<'_>, joiner: &mut Joiner, _: &Mapping) -> Joins {
        // A document that another one goes on from is read with it.
        let name = record.input.name();
        let own = Digest::from_parts(&[
            "file",
            folder(record),
            &name,
            &record.part.number().to_string(),
        ]);
        joiner.add_keyed(record.part, own);
        joiner.merge_keys(
            own,
            Digest::from_parts(&["trajectory", folder(record), &name]),
        );
        if let Some(next) = continuation_name(record) {
            joiner.merge_keys(
                own,
                Digest::from_parts(&["trajectory", folder(record), next]),
            );
        }
        Ok(())
    }

    fn read(&self, run: &Gathered<'_, '_>, _: &Mapping) -> Runs {
        let documents = sort_documents(run.records);
        let Some(first) = documents.first() else {
            return Ok(Vec::new());
        };
        let mut read = ForeignRun::default();
        let mut whole = true;
        for document in &documents {
            read_trajectory(&document.value, &mut read, &mut whole);
        }
        if !whole {
            forget_steps(&mut read);
        }
        if documents
            .last()
            .is_some_and(|last| continuation_name(last).is_some())
        {
            read.note("goes on in a document that was not given");
        }
        read_trial_result(first.input, &mut read);
        Ok(vec![read])
    }

    fn has_tasks(&self) -> bool {
        true
    }
}

/// The name of the document that one goes on in.
fn continuation_name<'r>(record: &'r Record<'_>) -> Option<&'r str> {
    nonempty_text(&record.value, "continued_trajectory_ref")?
        .rsplit('/')
        .next()
}

fn folder<'r>(record: &'r Record<'_>) -> &'r str {
    let folder = record.input.path.parent();
    folder.and_then(|path| path.to_str()).unwrap_or_default()
}

/// The documents, each after the one that goes on in it.
fn sort_documents<'r, 'i>(records: &'r [Record<'i>]) -> Vec<&'r Record<'i>> {
    // Of several documents of one name the first is meant.
    let names = records.iter().enumerate().rev();
    let names = names.map(|(index, record)| (record.input.name(), index));
    let places: HashMap<String, usize> = names.collect();
    let next = |record: &Record<'_>| places.get(continuation_name(record)?).copied();
    let continued: HashSet<usize> = records.iter().filter_map(next).collect();
    let mut at = (0..records.len()).find(|index| !continued.contains(index));
    let mut known = HashSet::new();
    let mut order = Vec::new();
    while let Some(index) = at.filter(|index| known.insert(*index)) {
        order.push(&records[index]);
        at = next(&records[index]);
    }
    order
}

fn read_trajectory(document: &Value, run: &mut ForeignRun, whole: &mut bool) {
    let version = text(document, "schema_version").unwrap_or_default();
    if version_number(version) > version_number(NEWEST) {
        run.note(format!("{version} is newer than {NEWEST}"));
    }
    let agent = &document["agent"];
    if run.id.is_none() {
        run.id = nonempty_string(document, "trajectory_id");
        run.agent = nonempty_string(agent, "name");
        run.version = nonempty_string(agent, "version");
        run.asked = nonempty_string(agent, "model_name");
        run.tools = offered_tools(list(agent, "tool_definitions"));
    }
    let is_first = run.events.is_empty();
    let mut system = SystemPreamble::new(run, is_first);
    for step in list(document, "steps") {
        if is_set(step, "is_copied_context") {
            run.note("steps that were copied from before left out");
            continue;
        }
        run.add_time(nonempty_text(step, "timestamp").and_then(time::parse_rfc3339));
        let said = text_of(step.get("message"));
        let source = nonempty_text(step, "source").map(str::to_lowercase);
        let source = source.as_deref().unwrap_or_default();
        let is_agent = source == "agent" || !list(step, "tool_calls").is_empty();
        match source {
            _ if system.try_take(source == "system", &said) => {}
            // Whatever the one who calls is named.
            _ if is_agent => *whole &= read_agent_step(step, said, run),
            "system" => run.push_turn("system", said),
            "user" => run.push_user(said),
            _ => run.report_lost(LossReason::UnknownStepSource, canonical_json(step)),
        }
        let observed = list(&step["observation"], "results").len();
        if !is_agent && observed > 0 {
            run.note(LEFT_OUT);
        }
    }
    system.apply_to(run);
    let totals = &document["final_metrics"];
    let prompt = count(totals, "total_prompt_tokens");
    let completion = count(totals, "total_completion_tokens");
    let total = prompt.zip(completion).map(|(prompt, completion)| {
        let mut total = CallTokens::new(prompt, completion);
        total.cached = count(totals, "total_cached_tokens");
        total
    });
    run.totals = total.or(run.totals);
    for subagent in list(document, "subagent_trajectories") {
        let mut read = ForeignRun::default();
        let mut steps = true;
        read_trajectory(subagent, &mut read, &mut steps);
        read.id = read.id.or_else(|| identifier(subagent, "session_id"));
        let agent = read.id.as_deref().unwrap_or("subagent");
        let events = read.events.iter();
        run.events
            .extend(events.filter_map(|event| event.as_subagent_event(agent)));
        run.subagents.push(read);
    }
}

/// A version's number after the last point.
fn version_number(version: &str) -> u32 {
    let number = version.rsplit('.').next().map(str::parse);
    number.and_then(Result::ok).unwrap_or_default()
}

/// A step of the agent. Returns whether it is one model call or none.
fn read_agent_step(step: &Value, said: String, run: &mut ForeignRun) -> bool {
    if let Some(model) = nonempty_text(step, "model_name") {
        run.add_model(model);
    }
    let calls_made = count(step, "llm_call_count").unwrap_or(1);
    if calls_made > 0 {
        run.push_step(tokens(step));
    }
    if non_null(step, "reasoning_content").is_some() {
        run.note("reasoning left out");
    }
    run.push_assistant(said);
    let calls = list(step, "tool_calls");
    for call in calls {
        let id = identifier(call, "tool_call_id");
        run.push_call(Call::new(
            id,
            text(call, "function_name"),
            member(call, "arguments"),
        ));
    }
    let results = list(&step["observation"], "results");
    for answer in results {
        let source = identifier(answer, "source_call_id");
        // An agent that writes results without identifiers: the only one of the only call is certain.
        let id = match (calls, results) {
            ([call], [_]) => source.or_else(|| identifier(call, "tool_call_id")),
            _ if source.is_none() => {
                run.note(LEFT_OUT);
                continue;
            }
            _ => source,
        };
        run.push_answer(id, member(answer, "content"), is_error(answer));
    }
    calls_made <= 1
}

fn tokens(step: &Value) -> Option<CallTokens> {
    let metrics = non_null(step, "metrics")?;
    let mut taken = CallTokens::new(
        count(metrics, "prompt_tokens")?,
        count(metrics, "completion_tokens")?,
    );
    taken.cached = count(metrics, "cached_tokens");
    Some(taken)
}

/// The flags that converters put beside a result; the format has none.
fn is_error(answer: &Value) -> Option<bool> {
    let extra = non_null(answer, "extra")?;
    let flags = [
        "/tool_result_is_error",
        "/is_error",
        "/tool_result_metadata/is_error",
    ];
    flags
        .iter()
        .find_map(|flag| json::parse_flag(extra.pointer(flag)?))
}

/// An aggregate of several model calls tells nothing of each.
fn forget_steps(run: &mut ForeignRun) {
    run.note("steps of several model calls: tokens of each are unknown");
    let steps = run.events.iter_mut().filter_map(|event| match event {
        Event::Step(taken) => Some(std::mem::take(taken)),
        _ => None,
    });
    let steps: Vec<CallTokens> = steps.collect();
    run.totals = run.totals.or_else(|| sum_steps(&steps));
}

/// The result of the trial: `result.json` beside the folder of the trajectory.
fn read_trial_result(input: &Input, run: &mut ForeignRun) {
    let folder = input.path.parent().and_then(std::path::Path::parent);
    let Some(path) = folder.map(|folder| folder.join("result.json")) else {
        return;
    };
    let result = match load_result_file(&path) {
        Ok(Some(result)) => result,
        Ok(None) => return,
        Err(why) => {
            run.report_lost(
                LossReason::UnreadableOutcome,
                format!("`result.json` of the trial: {why}"),
            );
            return;
        }
    };
    for change in result.changes {
        run.note(change.describe());
    }
    let result = result.value;
    run.task = nonempty_string(&result, "task_name");
    let mut rewards: Vec<(String, ReportedScore)> = Vec::new();
    let told = result["verifier_result"]["rewards"].as_object();
    for (name, reward) in told.into_iter().flatten() {
        match ReportedScore::from_value(reward) {
            Some(score) => rewards.push((name.clone(), score)),
            None => run.report_lost(
                LossReason::UnreadableOutcome,
                format!(
                    "the reward `{name}` in `result.json` of the trial is no number and no verdict"
                ),
            ),
        }
    }
    rewards.sort_by(|left, right| left.0.cmp(&right.0));
    // What the benchmark calls the reward is the outcome, whatever it measures besides.
    if let Some(reward) = rewards.iter().find(|(name, _)| name == "reward").cloned() {
        rewards = vec![reward];
    }
    run.scores = rewards;
    run.stop = match nonempty_text(&result["exception_info"], "exception_type") {
        Some("AgentTimeoutError") => Some(Stop::Known("time_budget")),
        Some(_) => Some(Stop::Known("error")),
        None => run.stop.take(),
    };
}

/// Why the file of a trial's result cannot be read.
#[derive(Debug)]
enum ResultFileError {
    Io(io::Error),
    NotJson(serde_json::Error),
}

impl fmt::Display for ResultFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::NotJson(error) => write!(f, "{error}"),
        }
    }
}

impl Error for ResultFileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::NotJson(error) => Some(error),
        }
    }
}

/// What the file of a trial's result holds, if there is one.
///
/// # Errors
///
/// Why it cannot be read.
fn load_result_file(path: &std::path::Path) -> Result<Option<Parsed>, ResultFileError> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(ResultFileError::Io(error)),
    };
    let json = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    parse(json).map(Some).map_err(ResultFileError::NotJson)
}
