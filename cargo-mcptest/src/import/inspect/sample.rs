//! A sample: one task in one epoch.

use serde_json::{Map, Number, Value};

use super::events::Events;
use crate::import::event::{Answer, Call, Event, ForeignRun, Score, Stop, Tokens};
use crate::import::input::{Archive, parse};
use crate::import::json::{count, given, identifier, list, text, truthy, word};
use crate::import::openai::{offered_tools, text_of};
use crate::import::time;

/// Reads a sample. In an archive, what a large one holds may lie in entries beside it.
pub(super) fn read(
    mut sample: Value,
    header: Option<&Value>,
    archive: Option<(&Archive, &str)>,
) -> ForeignRun {
    let mut run = ForeignRun::default();
    let chunked = archive.filter(|(_, name)| name.ends_with("/sample.json") && sample.is_object());
    if let Some((archive, name)) = chunked {
        gather(&mut sample, archive, name, &mut run);
    }
    let attachments = sample
        .get_mut("attachments")
        .map(Value::take)
        .unwrap_or_default();
    if let Some(attachments) = attachments.as_object() {
        attach(&mut sample, attachments);
    }
    let nothing = Value::Null;
    let eval = header.map_or(&nothing, |header| &header["eval"]);
    run.id = word(&sample, "uuid").map(str::to_owned);
    run.agent = word(eval, "task_display_name")
        .or_else(|| word(eval, "task"))
        .map(str::to_owned);
    run.asked = word(eval, "model").map(str::to_owned);
    run.version = word(&eval["packages"], "inspect_ai").map(str::to_owned);
    run.task = identifier(&sample, "id");
    run.order = given(&sample, "epoch").and_then(Value::as_i64);
    run.prompt = prompt(&sample["input"]);
    let config = &eval["model_generate_config"];
    if let Some(Value::Number(temperature)) = config.get("temperature") {
        run.temperature = Some(Number::clone(temperature));
    }
    run.max_tokens = count(config, "max_tokens");
    for key in ["started_at", "completed_at"] {
        run.at(given(&sample, key).and_then(time::seconds));
    }
    let events = Events::of(&sample);
    run.tools = offered_tools(events.tools());
    let messages = list(&sample, "messages");
    if events.knows_more_than(messages) {
        run.note("the agent trimmed its history: read from its events");
        from_events(&events, messages, &mut run);
    } else {
        from_messages(messages, &events, &mut run);
    }
    run.totals = word(eval, "model").and_then(|model| tokens(sample["model_usage"].get(model)));
    run.stop = stop(&sample);
    run.scores = scores(&sample["scores"]);
    for (name, score) in sample["scores"].as_object().into_iter().flatten() {
        let is_read = run.scores.iter().any(|(known, _)| known == name);
        if !is_read && given(score, "value").is_some() {
            run.note(format!("score `{name}` is no verdict"));
        }
    }
    run
}

/// Puts the entries beside `sample.json` into it.
fn gather(sample: &mut Value, archive: &Archive, name: &str, run: &mut ForeignRun) {
    let folder = name.strip_suffix("sample.json").unwrap_or(name);
    for key in ["messages", "events"] {
        let inner = format!("{folder}{key}/");
        let mut names: Vec<&str> = archive
            .names()
            .filter(|name| name.starts_with(&inner))
            .collect();
        // 2 before 10.
        names.sort_by_key(|name| (name.len(), (*name).to_owned()));
        let mut items = Vec::new();
        for name in names {
            let bytes = archive.find(name).map(|number| archive.read(number));
            match bytes
                .and_then(Result::ok)
                .and_then(|bytes| parse(&bytes).ok())
            {
                Some(Value::Array(more)) => items.extend(more),
                Some(Value::Object(map)) => match map.get(key) {
                    Some(Value::Array(more)) => items.extend(more.iter().cloned()),
                    _ => items.push(Value::Object(map)),
                },
                _ => run.lose("entry that cannot be read", name),
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
    for name in archive.names().filter(|name| name.starts_with(&inner)) {
        let bytes = archive.find(name).map(|number| archive.read(number));
        let Some(Ok(bytes)) = bytes else {
            run.lose("entry that cannot be read", name);
            continue;
        };
        let id = name.strip_prefix(&inner).unwrap_or(name);
        let id = id.split('.').next().unwrap_or(id);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let text = match serde_json::from_str(&text) {
            Ok(Value::String(inner)) => inner,
            _ => text,
        };
        sample["attachments"][id] = text.into();
    }
}

/// Puts attached texts where they are referred to.
fn attach(value: &mut Value, attachments: &Map<String, Value>) {
    match value {
        Value::String(text) => {
            let id = text
                .strip_prefix("attachment://")
                .or_else(|| text.strip_prefix("tc://"));
            if let Some(attached) = id.and_then(|id| attachments.get(id)) {
                *value = attached.clone();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| attach(item, attachments)),
        Value::Object(map) => map.values_mut().for_each(|item| attach(item, attachments)),
        _ => {}
    }
}

/// The task's own text.
fn prompt(input: &Value) -> Option<String> {
    let said = match input {
        Value::Array(messages) => {
            let users = messages
                .iter()
                .filter(|message| text(message, "role") == Some("user"));
            let texts: Vec<String> = users
                .map(|message| text_of(message.get("content")))
                .collect();
            texts.join("\n\n")
        }
        other => text_of(Some(other)),
    };
    (!said.is_empty()).then_some(said)
}

fn from_messages(messages: &[Value], events: &Events<'_>, run: &mut ForeignRun) {
    let mut system = Vec::new();
    let mut leading = true;
    for message in messages {
        let said = text_of(message.get("content"));
        let role = text(message, "role").unwrap_or_default();
        if role == "system" && leading {
            system.push(said);
            continue;
        }
        leading = false;
        match role {
            "user" => run.user(said),
            "assistant" => {
                run.step(events.tokens_of(message));
                assistant(message, run);
            }
            "tool" => {
                let answer = answer(message, events);
                run.push(Event::Answer(answer));
            }
            other => run.turn(other, said),
        }
    }
    if !system.is_empty() {
        run.system_prompt = Some(system.join("\n\n"));
    }
}

/// What the model and the tools did, with what the messages know of the beginning.
fn from_events(events: &Events<'_>, messages: &[Value], run: &mut ForeignRun) {
    let speaks = |message: &&Value| matches!(text(message, "role"), Some("assistant" | "tool"));
    let begins = messages
        .iter()
        .position(|message| speaks(&message))
        .unwrap_or(messages.len());
    from_messages(&messages[..begins], events, run);
    for event in events.of_agent() {
        if text(event, "event") == Some("model") {
            let Some(message) = event.pointer("/output/choices/0/message") else {
                continue;
            };
            run.step(tokens(event["output"].get("usage")));
            assistant(message, run);
        } else {
            run.push(Event::Answer(Answer {
                id: identifier(event, "id"),
                value: result_or_error(event, "result"),
                is_error: Some(failed(event)),
            }));
        }
    }
    let later = messages[begins..].iter();
    let later = later
        .filter(|message| text(message, "role") == Some("user"))
        .count();
    if later > 0 {
        run.note(format!(
            "{later} later user turns of a trimmed history left out"
        ));
    }
}

/// What a model wrote: its text, calls of the provider, then calls.
fn assistant(message: &Value, run: &mut ForeignRun) {
    if let Some(model) = word(message, "model") {
        run.answered_by(model);
    }
    match message.get("content") {
        Some(Value::Array(blocks)) => {
            let mut said = String::new();
            for block in blocks {
                match text(block, "type").unwrap_or("text") {
                    "reasoning" => run.note("reasoning left out"),
                    "tool_use" => {
                        run.said(std::mem::take(&mut said));
                        provider_call(block, run);
                    }
                    _ => said.push_str(&text_of(Some(block))),
                }
            }
            run.said(said);
        }
        content => run.said(text_of(content)),
    }
    for call in list(message, "tool_calls") {
        run.push(Event::Call(Call {
            id: identifier(call, "id"),
            name: text(call, "function").unwrap_or_default().to_owned(),
            args: call.get("arguments").cloned().unwrap_or_default(),
            ..Call::default()
        }));
    }
}

/// Call and result in one.
fn provider_call(block: &Value, run: &mut ForeignRun) {
    let id = identifier(block, "id");
    run.push(Event::Call(Call {
        id: id.clone(),
        name: text(block, "name").unwrap_or_default().to_owned(),
        server: word(block, "context").map(str::to_owned),
        args: block.get("arguments").cloned().unwrap_or_default(),
        ..Call::default()
    }));
    run.push(Event::Answer(Answer {
        id,
        value: result_or_error(block, "result"),
        is_error: Some(failed(block)),
    }));
}

fn answer(message: &Value, events: &Events<'_>) -> Answer {
    let id = identifier(message, "tool_call_id");
    let of_event = id.as_deref().is_some_and(|id| events.failed(id));
    Answer {
        is_error: Some(failed(message) || of_event),
        value: result_or_error(message, "content"),
        id,
    }
}

pub(super) fn failed(value: &Value) -> bool {
    given(value, "error").is_some_and(truthy) || value.get("failed") == Some(&Value::Bool(true))
}

/// What came back; of a failure that brought nothing, its message.
fn result_or_error(value: &Value, key: &str) -> Value {
    let result = value.get(key).cloned().unwrap_or_default();
    match given(value, "error") {
        Some(error) if !truthy(&result) => error.get("message").unwrap_or(error).clone(),
        _ => result,
    }
}

/// The tokens of a model call. What was read from and written to the cache is not in `input_tokens`.
pub(super) fn tokens(usage: Option<&Value>) -> Option<Tokens> {
    let usage = usage?;
    let more = ["input_tokens_cache_read", "input_tokens_cache_write"];
    let more = more.iter().filter_map(|key| count(usage, key));
    let prompt = more.fold(count(usage, "input_tokens")?, u64::saturating_add);
    Some((prompt, count(usage, "output_tokens")?))
}

fn stop(sample: &Value) -> Option<Stop> {
    if given(sample, "error").is_some() {
        return Some(Stop::Known("error"));
    }
    let limit = given(sample, "limit").and_then(|limit| word(limit, "type"));
    let output = &sample["output"];
    let choice = output
        .pointer("/choices/0")
        .and_then(|choice| word(choice, "stop_reason"));
    let reason = limit.or(choice).or_else(|| word(output, "stop_reason"));
    reason.map(|reason| Stop::Spelt(reason.to_owned()))
}

/// Scores as numbers: correct, partly, incorrect, no answer.
fn scores(scores: &Value) -> Vec<(String, Score)> {
    let scores = scores.as_object().into_iter().flatten();
    let mut scores: Vec<(String, Score)> = scores
        .filter_map(|(name, score)| {
            let of = |reward: f64| Some(Score::Reward(Number::from_f64(reward)?));
            let score = match score.get("value")? {
                Value::Bool(passed) => Some(Score::Passed(*passed)),
                Value::Number(number) => Some(Score::Reward(number.clone())),
                Value::String(grade) => match grade.as_str() {
                    "C" => of(1.0),
                    "I" | "N" => of(0.0),
                    "P" => of(0.5),
                    _ => None,
                },
                _ => None,
            };
            Some((name.clone(), score?))
        })
        .collect();
    scores.sort_by(|left, right| left.0.cmp(&right.0));
    scores
}
