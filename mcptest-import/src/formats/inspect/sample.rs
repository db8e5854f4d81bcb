//! A sample: one task in one epoch.

use std::collections::HashSet;

use serde_json::{Map, Number, Value, json};

use super::events::{AgentEvents, call_usage, duration_ms, failed, tokens};
use crate::content::text_of;
use crate::event::{Answer, Call, Event, ForeignRun, ReportedScore, Stop, SystemPreamble};
use crate::formats::openai::{offered_tools, report_message};
use crate::input::{Archive, Parsed, parse};
use crate::json::{
    count, identifier, list, member, non_null, nonempty_string, nonempty_text, number, role, text,
    truthy,
};
use crate::loss::LossReason;
use crate::scores::SourceScore;
use crate::time;

/// Reads a sample. In an archive, what a large one holds may lie in entries beside it.
pub(super) fn read(
    mut sample: Value,
    header: Option<&Value>,
    archive: Option<(&Archive, &str)>,
) -> ForeignRun {
    let mut run = ForeignRun::default();
    let chunked = archive.filter(|(_, name)| name.ends_with("/sample.json") && sample.is_object());
    if let Some((archive, name)) = chunked {
        merge_entries(&mut sample, archive, name, &mut run);
    }
    let attachments = sample.get_mut("attachments").map(Value::take);
    let attachments = attachments.unwrap_or_default();
    if let Some(attachments) = attachments.as_object() {
        resolve_attachments(&mut sample, attachments);
    }
    let nothing = Value::Null;
    let eval = header.map_or(&nothing, |header| &header["eval"]);
    run.id = nonempty_string(&sample, "uuid");
    run.agent =
        nonempty_string(eval, "task_display_name").or_else(|| nonempty_string(eval, "task"));
    run.asked = nonempty_string(eval, "model");
    run.version = nonempty_string(&eval["packages"], "inspect_ai");
    run.task = identifier(&sample, "id");
    run.order = non_null(&sample, "epoch").and_then(Value::as_i64);
    run.prompt = prompt(&sample["input"]);
    let config = &eval["model_generate_config"];
    run.temperature = number(config, "temperature");
    run.max_tokens = count(config, "max_tokens");
    for key in ["started_at", "completed_at"] {
        run.add_time(non_null(&sample, key).and_then(time::parse_seconds));
    }
    let events = AgentEvents::from_sample(&sample);
    run.tools = offered_tools(events.tools());
    let messages = list(&sample, "messages");
    if events.has_more_calls_than(messages) {
        run.note("the agent trimmed its history: read from its events");
        from_events(&events, messages, &mut run);
    } else {
        from_messages(messages, &events, &mut run);
    }
    run.totals =
        nonempty_text(eval, "model").and_then(|model| tokens(sample["model_usage"].get(model)));
    run.stop = parse_stop(&sample);
    run.scores = parse_scores(&sample["scores"]);
    read_scores(&sample["scores"], &mut run);
    let read: HashSet<String> = run.scores.iter().map(|(name, _)| name.clone()).collect();
    for (name, score) in sample["scores"].as_object().into_iter().flatten() {
        if !read.contains(name) && non_null(score, "value").is_some() {
            run.note(format!("score `{name}` is no verdict"));
        }
    }
    run
}

/// Puts the entries beside `sample.json` into it.
fn merge_entries(sample: &mut Value, archive: &Archive, name: &str, run: &mut ForeignRun) {
    let folder = name.strip_suffix("sample.json").unwrap_or(name);
    for key in ["messages", "events"] {
        let inner = format!("{folder}{key}/");
        let mut names: Vec<&str> = archive.names_below(&inner).collect();
        // 2 before 10.
        names.sort_by_key(|name| (name.len(), (*name).to_owned()));
        let mut items = Vec::new();
        for name in names {
            let parsed = archive.entry(name).and_then(|bytes| parse(&bytes).ok());
            let changes = parsed.iter().flat_map(|parsed| &parsed.changes);
            changes.for_each(|change| run.note(change.describe()));
            match parsed.map(|parsed| parsed.value) {
                Some(Value::Array(more)) => items.extend(more),
                Some(Value::Object(map)) => match map.get(key) {
                    Some(Value::Array(more)) => items.extend(more.iter().cloned()),
                    _ => items.push(Value::Object(map)),
                },
                _ => run.report_lost(LossReason::UnreadableEntry, name),
            }
        }
        if !items.is_empty() {
            sample[key] = items.into();
        }
    }
    if !sample["attachments"].is_object() {
        sample["attachments"] = Value::Object(Map::new());
    }
    let inner = format!("{folder}attachments/");
    for name in archive.names_below(&inner) {
        let Some(bytes) = archive.entry(name) else {
            run.report_lost(LossReason::UnreadableEntry, name);
            continue;
        };
        let id = name.strip_prefix(&inner).unwrap_or(name);
        let id = id.split('.').next().unwrap_or(id);
        let text = match parse(&bytes) {
            Ok(Parsed {
                value: Value::String(inner),
                ..
            }) => inner,
            _ => String::from_utf8_lossy(&bytes).into_owned(),
        };
        sample["attachments"][id] = text.into();
    }
}

/// Puts attached texts where they are referred to.
fn resolve_attachments(value: &mut Value, attachments: &Map<String, Value>) {
    match value {
        Value::String(text) => {
            let id = text
                .strip_prefix("attachment://")
                .or_else(|| text.strip_prefix("tc://"));
            if let Some(attached) = id.and_then(|id| attachments.get(id)) {
                *value = attached.clone();
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| resolve_attachments(item, attachments)),
        Value::Object(map) => map
            .values_mut()
            .for_each(|item| resolve_attachments(item, attachments)),
        _ => {}
    }
}

/// The task's own text.
fn prompt(input: &Value) -> Option<String> {
    let said = match input {
        Value::Array(messages) => {
            let users = messages
                .iter()
                .filter(|it| text(it, "role") == Some("user"));
            let texts = users.map(|message| text_of(message.get("content")));
            texts.collect::<Vec<_>>().join("\n\n")
        }
        other => text_of(Some(other)),
    };
    (!said.is_empty()).then_some(said)
}

fn from_messages(messages: &[Value], events: &AgentEvents<'_>, run: &mut ForeignRun) {
    let mut system = SystemPreamble::new(run, true);
    for message in messages {
        let said = text_of(message.get("content"));
        let role = role(message);
        match role.as_deref().unwrap_or_default() {
            role if system.try_take(role == "system", &said) => {}
            "user" => run.push_user(said),
            "assistant" => {
                run.push_step(events.model_call_tokens(message));
                read_assistant(message, run);
            }
            "tool" => read_answer(message, events, run),
            role @ "system" => run.push_turn(role, said),
            _ => report_message(message, run),
        }
    }
    system.apply_to(run);
}

/// What the model and the tools did, with what the messages know of the beginning.
fn from_events(events: &AgentEvents<'_>, messages: &[Value], run: &mut ForeignRun) {
    let speaks = |message: &&Value| matches!(text(message, "role"), Some("assistant" | "tool"));
    let begins = messages.iter().position(|message| speaks(&message));
    let begins = begins.unwrap_or(messages.len());
    from_messages(&messages[..begins], events, run);
    for event in events.agent_events() {
        if text(event, "event") == Some("model") {
            let Some(message) = event.pointer("/output/choices/0/message") else {
                continue;
            };
            run.push_step(Some(call_usage(event)));
            read_assistant(message, run);
        } else {
            let value = result_or_error(event, "result");
            run.push(Event::Answer(Answer {
                id: identifier(event, "id"),
                value,
                is_error: Some(failed(event)),
                duration_ms: duration_ms(event),
                ..Answer::default()
            }));
        }
    }
    let is_user = |message: &&Value| text(message, "role") == Some("user");
    let later = messages[begins..].iter().filter(is_user).count();
    if later > 0 {
        run.note(format!(
            "{later} later user turns of a trimmed history left out"
        ));
    }
}

/// What a model wrote: its text, calls of the provider, then calls.
fn read_assistant(message: &Value, run: &mut ForeignRun) {
    if let Some(model) = nonempty_text(message, "model") {
        run.add_model(model);
    }
    match message.get("content") {
        Some(Value::Array(blocks)) => {
            let mut said = String::new();
            for block in blocks {
                match text(block, "type").unwrap_or("text") {
                    "reasoning" => run.note("reasoning left out"),
                    "tool_use" => {
                        run.push_assistant(std::mem::take(&mut said));
                        read_provider_call(block, run);
                    }
                    _ => said.push_str(&text_of(Some(block))),
                }
            }
            run.push_assistant(said);
        }
        content => run.push_assistant(text_of(content)),
    }
    for call in list(message, "tool_calls") {
        let args = member(call, "arguments");
        run.push_call(Call::new(
            identifier(call, "id"),
            text(call, "function"),
            args,
        ));
    }
}

/// Call and result in one.
fn read_provider_call(block: &Value, run: &mut ForeignRun) {
    let id = identifier(block, "id");
    run.push_call(Call {
        server: nonempty_string(block, "context"),
        ..Call::new(id.clone(), text(block, "name"), member(block, "arguments"))
    });
    run.push_answer(id, result_or_error(block, "result"), Some(failed(block)));
}

fn read_answer(message: &Value, events: &AgentEvents<'_>, run: &mut ForeignRun) {
    let id = identifier(message, "tool_call_id");
    let of_event = id.as_deref().is_some_and(|id| events.failed(id));
    run.push(Event::Answer(Answer {
        value: result_or_error(message, "content"),
        is_error: Some(failed(message) || of_event),
        duration_ms: id.as_deref().and_then(|id| events.tool_duration(id)),
        id,
        ..Answer::default()
    }));
}

/// What came back; of a failure that brought nothing, its message.
fn result_or_error(value: &Value, key: &str) -> Value {
    let result = member(value, key);
    match non_null(value, "error") {
        Some(error) if !truthy(&result) => error.get("message").unwrap_or(error).clone(),
        _ => result,
    }
}

fn parse_stop(sample: &Value) -> Option<Stop> {
    if non_null(sample, "error").is_some() {
        return Some(Stop::Known("error"));
    }
    let output = &sample["output"];
    let reason = nonempty_string(&sample["limit"], "type");
    let reason = reason.or_else(|| nonempty_string(&output["choices"][0], "stop_reason"));
    reason
        .or_else(|| nonempty_string(output, "stop_reason"))
        .map(Stop::Spelt)
}

/// What scorers thought of the sample. Of a scorer that gives several values, each has its name behind the scorer's.
fn read_scores(scores: &Value, run: &mut ForeignRun) {
    for (scorer, score) in scores.as_object().into_iter().flatten() {
        let note = nonempty_string(score, "explanation");
        let mut judge = |name: &str, value: &Value| {
            let word = value.as_str();
            let (value, passed) = match word {
                Some("C") => (json!(1), Some(true)),
                Some("I" | "N") => (json!(0), Some(false)),
                Some("P") => (json!(0.5), None),
                _ => (value.clone(), None),
            };
            let told = SourceScore {
                value: Some(&value),
                label: word,
                passed,
                note: note.clone(),
            };
            run.push_score(name, told.into_score(name, scorer));
        };
        match non_null(score, "value") {
            Some(Value::Object(several)) => {
                for (name, value) in several {
                    judge(&format!("{scorer}/{name}"), value);
                }
            }
            Some(value) => judge(scorer, value),
            None => {}
        }
    }
}

/// Scores as numbers: correct, partly, incorrect, no answer.
fn parse_scores(scores: &Value) -> Vec<(String, ReportedScore)> {
    let scores = scores.as_object().into_iter().flatten();
    let read = scores.filter_map(|(name, score)| {
        let of = |reward: f64| Some(ReportedScore::Reward(Number::from_f64(reward)?));
        let score = match score.get("value")?.as_str() {
            Some("C") => of(1.0),
            Some("I" | "N") => of(0.0),
            Some("P") => of(0.5),
            _ => ReportedScore::from_value(&score["value"]),
        };
        Some((name.clone(), score?))
    });
    let mut read: Vec<(String, ReportedScore)> = read.collect();
    read.sort_by(|left, right| left.0.cmp(&right.0));
    read
}
