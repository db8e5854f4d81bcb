//! Runs as `LangSmith` exports them: a tree of runs a trace, and a trace a user turn.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::known::{EventIndex, SeenMessages};
use super::messages::{self, LangsmithMessage};
use crate::content::text_of;
use crate::event::{Answer, Call, CallTokens, Event, ForeignRun, ReportedScore, Stop};
use crate::formats::openai;
use crate::json::{
    count, identifier, list, non_null, nonempty_string, nonempty_text, number, text,
};
use crate::loss::{LossReason, Lost};
use crate::mapping::Mapping;
use crate::scores::SourceScore;
use crate::time;

/// Who scored, where the source does not say it.
const JUDGE: &str = "langsmith";

/// The thread that a run belongs to. Its own `session_id` is the project.
pub(super) fn thread_id(run: &Value) -> Option<&str> {
    let about = non_null(run, "extra")?.get("metadata")?;
    let keys = ["session_id", "thread_id", "conversation_id"];
    keys.iter().find_map(|key| nonempty_text(about, key))
}

pub(super) fn read(runs: &[&Value], mapping: &Mapping) -> Result<ForeignRun, Lost> {
    let mut traces: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    let runs = deduplicate_runs(runs);
    for run in &runs {
        let id = identifier(run, "trace_id").unwrap_or_default();
        traces.entry(id).or_default().push(run);
    }
    let mut traces: Vec<(String, Vec<&Value>)> = traces.into_iter().collect();
    for (_, runs) in &mut traces {
        runs.sort_by_key(|run| start_key(run));
    }
    traces.sort_by_key(|(_, runs)| runs.first().map(|run| start_key(run)));
    let mut read = ForeignRun::default();
    let (mut said, mut happened) = (SeenMessages::default(), EventIndex::default());
    for (_, runs) in &traces {
        read_trace(runs, &mut read, &mut said, &mut happened);
        happened.end_trace(&read.events);
    }
    if happened.is_told {
        read.note(
            "what the model was told of errors of tools left out: the errors themselves are kept",
        );
    }
    if read.events.is_empty() {
        return Err(Lost::no_run("its runs hold no messages"));
    }
    let first = traces.first();
    let thread = runs
        .iter()
        .find_map(|run| thread_id(run))
        .filter(|_| !mapping.trace_is_run());
    let thread = thread.map(str::to_owned);
    read.id = thread.or_else(|| first.map(|(id, _)| id.clone()));
    let root = first.and_then(|(_, runs)| runs.first());
    read.agent = root.and_then(|root| nonempty_string(root, "name"));
    read.task = runs
        .iter()
        .find_map(|run| nonempty_string(run, "reference_example_id"));
    for (_, runs) in &traces {
        if let Some(root) = runs.first() {
            read_feedback(root, &mut read);
        }
    }
    if mapping.score.is_some() {
        read.scores = runs.iter().flat_map(|run| parse_scores(run)).collect();
    }
    Ok(read)
}

/// Each run once: one that is exported again, when it had ended, takes the place of what it was before.
fn deduplicate_runs<'v>(runs: &[&'v Value]) -> Vec<&'v Value> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut once: Vec<&Value> = Vec::new();
    for run in runs {
        let place = identifier(run, "id").map(|id| *places.entry(id).or_insert(once.len()));
        match place.and_then(|place| once.get_mut(place)) {
            Some(known) if non_null(known, "end_time").is_none() => *known = run,
            Some(_) => {}
            None => once.push(run),
        }
    }
    once
}

/// Runs in the order in which they began.
fn start_key(run: &Value) -> (String, String) {
    let dotted = text(run, "dotted_order").unwrap_or_default();
    let began = text(run, "start_time").unwrap_or_default();
    (dotted.to_owned(), began.to_owned())
}

fn read_trace(
    runs: &[&Value],
    read: &mut ForeignRun,
    said: &mut SeenMessages,
    happened: &mut EventIndex,
) {
    let ids = runs.iter().filter_map(|run| identifier(run, "id"));
    let ids: BTreeSet<String> = ids.collect();
    let mut parents = runs
        .iter()
        .filter_map(|run| identifier(run, "parent_run_id"));
    if let Some(parent) = parents.find(|parent| !ids.contains(parent)) {
        read.report_lost(
            LossReason::IncompleteExport,
            format!("other runs are part of the run `{parent}`, and this run is missing"),
        );
    }
    for run in runs {
        for key in ["start_time", "end_time"] {
            read.add_time(non_null(run, key).and_then(time::parse_seconds));
        }
    }
    let is_model_call = |run: &&Value| text(run, "run_type") == Some("llm");
    for run in runs {
        match text(run, "run_type").unwrap_or_default() {
            "llm" => read_model_call(run, read, said, happened),
            "tool" => read_tool_run(run, read, happened),
            _ => {}
        }
    }
    // A trace without model calls still has its messages at its root.
    if !runs.iter().any(is_model_call)
        && let Some(root) = runs.first()
    {
        for side in ["inputs", "outputs"] {
            let side = &root[side];
            let all = list(side, "messages");
            let new = all
                .iter()
                .filter(|it| messages::message_key(it).is_some_and(|it| !said.contains(&it)));
            let new: Vec<Value> = new.cloned().collect();
            messages::read(&new, read);
            said.extend(all.iter().filter_map(messages::message_key));
        }
    }
    if runs
        .first()
        .is_some_and(|root| messages::is_failed_run(root))
    {
        read.stop = Some(Stop::Known("error"));
    }
}

fn read_model_call(
    run: &Value,
    read: &mut ForeignRun,
    said: &mut SeenMessages,
    happened: &mut EventIndex,
) {
    let about = &run["extra"]["metadata"];
    read.asked = read
        .asked
        .take()
        .or_else(|| nonempty_string(about, "ls_model_name"));
    let temperature = read.temperature.take();
    read.temperature = temperature.or_else(|| number(about, "ls_temperature"));
    read.max_tokens = read.max_tokens.or_else(|| count(about, "ls_max_tokens"));
    if let (None, Some(system)) = (&read.system_prompt, non_null(&run["inputs"], "system")) {
        read.system_prompt = Some(text_of(Some(system)));
    }
    let input = list(&run["inputs"], "messages");
    // Either the messages, or a list of such lists.
    let input = match input.first() {
        Some(Value::Array(inner)) => inner.as_slice(),
        _ => input,
    };
    let essences: Vec<Option<String>> = input.iter().map(messages::message_key).collect();
    let both = essences.iter().zip(said.messages());
    let same = both.take_while(|(new, known)| new.as_ref() == Some(*known));
    let mut from = same.count();
    if from == 0 {
        let is_known = |it: &&Option<String>| it.as_ref().is_some_and(|it| said.contains(it));
        from = essences.iter().take_while(is_known).count();
    }
    let new = input[from..]
        .iter()
        .filter(|message| !is_answered(message, &read.events, happened));
    let new: Vec<Value> = new.cloned().collect();
    messages::read(&new, read);
    *said = SeenMessages::from_messages(essences.into_iter().flatten().collect());
    let outputs = &run["outputs"];
    let places = ["/generations/0/0/message", "/choices/0/message"];
    let output = places.iter().find_map(|place| outputs.pointer(place));
    let output = output.or_else(|| {
        let messages = outputs.get("messages")?;
        messages.as_array().map_or(Some(messages), |all| all.last())
    });
    let output = output.or_else(|| non_null(outputs, "output"));
    // What the wrapper of Anthropic's client keeps is the message itself.
    let output = output.or_else(|| outputs.get("role").and(Some(outputs)));
    let Some(message) = output.and_then(LangsmithMessage::from_value) else {
        if messages::is_failed_run(run) {
            read.stop = Some(Stop::Known("error"));
        } else {
            read.report_lost(
                LossReason::NoAnswer,
                "a model call has no message among its outputs",
            );
        }
        return;
    };
    let counted = [message.fields, outputs].into_iter();
    let counted = counted.map(|it| messages::tokens(it).or_else(|| tokens(&it["usage"])));
    read.push_timed_step(
        counted.flatten().next().or_else(|| tokens(run)),
        duration_ms(run),
    );
    messages::read_assistant(message.fields, read);
    said.extend(output.and_then(messages::message_key));
    let about = &message.fields["response_metadata"];
    let places = [about, &outputs["choices"][0], message.fields];
    let mut reasons = places.iter().map(|place| messages::stop_reason(place));
    read.stop = reasons.find_map(|reason| reason).map(Stop::Spelt);
}

/// Whether a message is a result that a tool's own run gave already.
fn is_answered(message: &Value, events: &[Event], happened: &mut EventIndex) -> bool {
    let message = LangsmithMessage::from_value(message).filter(|message| message.kind == "tool");
    let answer = message.map(|message| messages::parse_answer(message.fields));
    answer.is_some_and(|answer| happened.has_result(&answer, events))
}

/// The tokens that the run itself counts.
fn tokens(run: &Value) -> Option<CallTokens> {
    let mut taken = openai::tokens(Some(run))?;
    let part = |of: &str, key: &str| count(&run[of], key);
    taken.cached = taken.cached.or(part("prompt_token_details", "cache_read"));
    taken.reasoning = taken
        .reasoning
        .or(part("completion_token_details", "reasoning"));
    Some(taken)
}

/// How long a run took, in milliseconds.
fn duration_ms(run: &Value) -> Option<u64> {
    let at = |key: &str| non_null(run, key).and_then(time::parse_seconds);
    time::elapsed(at("start_time"), at("end_time"))
}

/// A tool's run: the result of a call, or a call of its own.
fn read_tool_run(run: &Value, read: &mut ForeignRun, happened: &mut EventIndex) {
    let outputs = &run["outputs"];
    let output = non_null(outputs, "output").unwrap_or(outputs);
    let message = LangsmithMessage::from_value(output).filter(|message| message.kind == "tool");
    let name = text(run, "name").unwrap_or_default();
    let own_id = message
        .as_ref()
        .and_then(|message| identifier(message.fields, "tool_call_id"));
    let id = own_id.or_else(|| identifier(&run["extra"]["metadata"], "tool_call_id"));
    let inputs = &run["inputs"];
    let args = non_null(inputs, "input").unwrap_or(inputs);
    let found = happened.find_call(id.as_deref(), name, args, &read.events);
    let failed = messages::is_failed_run(run);
    let told_by_run = message.is_none() && failed;
    let (value, flagged) = match message {
        Some(message) => {
            let answer = messages::parse_answer(message.fields);
            (answer.value, answer.is_error)
        }
        None if failed && non_null(outputs, "output").is_none() => (run["error"].clone(), None),
        None => (output.clone(), None),
    };
    let index = found.unwrap_or_else(|| {
        read.push_call(Call::new(id, Some(name), args.clone()));
        read.events.len() - 1
    });
    happened.mark_executed(index, &read.events);
    let Event::Call(call) = &mut read.events[index] else {
        return;
    };
    let made_up = identifier(run, "id").unwrap_or_default();
    let call_id = call.id.get_or_insert(made_up).clone();
    if told_by_run {
        happened.mark_failed(&call_id);
    }
    read.push(Event::Answer(Answer {
        id: Some(call_id),
        value,
        is_error: Some(failed || flagged == Some(true)),
        duration_ms: duration_ms(run),
        ..Answer::default()
    }));
}

/// Feedback on a trace: each of it where it is kept with the run, else what the run says of all of a key.
fn read_feedback(root: &Value, read: &mut ForeignRun) {
    let single = ["feedback", "feedbacks"];
    let single: Vec<&Value> = single.iter().flat_map(|key| list(root, key)).collect();
    for feedback in &single {
        let Some(name) = nonempty_text(feedback, "key") else {
            continue;
        };
        let source = &feedback["feedback_source"];
        let by = ["user_name", "user_id"]
            .iter()
            .find_map(|key| nonempty_text(source, key));
        let by = by
            .or_else(|| nonempty_text(source, "type"))
            .unwrap_or(JUDGE);
        let told = SourceScore {
            value: non_null(feedback, "score"),
            label: nonempty_text(feedback, "value"),
            note: nonempty_string(feedback, "comment"),
            ..SourceScore::default()
        };
        read.push_score(name, told.into_score(name, by));
    }
    let stats = root["feedback_stats"].as_object();
    for (name, stats) in stats.filter(|_| single.is_empty()).into_iter().flatten() {
        // Of a key without numbers, the only word that was given.
        let words = stats["values"].as_object();
        let only = words.filter(|words| words.len() == 1);
        let told = SourceScore {
            value: non_null(stats, "avg"),
            label: only.and_then(|words| words.keys().next().map(String::as_str)),
            note: count(stats, "n")
                .filter(|given| *given > 1)
                .map(|given| format!("the mean of {given}")),
            ..SourceScore::default()
        };
        read.push_score(name, told.into_score(name, JUDGE));
    }
}

/// Averages of feedback.
fn parse_scores(run: &Value) -> Vec<(String, ReportedScore)> {
    let stats = run["feedback_stats"].as_object();
    let stats = stats.into_iter().flatten();
    let scores = stats.filter_map(|(name, stats)| match stats.get("avg")? {
        Value::Number(average) => Some((name.clone(), ReportedScore::Reward(average.clone()))),
        _ => None,
    });
    scores.collect()
}
