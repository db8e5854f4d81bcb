//! Effect logs of rig: what an agent asked of its models and tools, and what came of it.
//!
//! Source: rig-cassette `effect_log` and rig-core 0.44 `effect`, `tool/result.rs`, `completion/request.rs`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use serde_json::Value;

use crate::content::text_of;
use crate::event::{Answer, Call, CallTokens, Event, ForeignRun, Stop, SystemPreamble};
use crate::format::{Format, Gathered, Runs};
use crate::formats::openai::{offered_tools, report_message};
use crate::input::Input;
use crate::json::{
    count, list, member, non_null, nonempty_string, number, role, text, unwrap_json_text,
};
use crate::loss::Lost;
use crate::mapping::Mapping;
use crate::subagent_calls::{Invoked, merge_subagent_calls};
use crate::waiting::Waiting;

/// The format `rig`.
pub(crate) struct Rig;

impl Format for Rig {
    fn signature(&self) -> &'static str {
        "`header.handlers` and `records` of `{key, kind, outcome}`"
    }

    fn recognizes(&self, _: &Input, value: &Value) -> bool {
        let is_effect = |record: &Value| non_null(&record["kind"], "effect").is_some();
        list(value, "records").first().is_some_and(is_effect)
    }

    fn read(&self, Gathered { records, .. }: &Gathered<'_, '_>, _: &Mapping) -> Runs {
        let effects = records
            .iter()
            .flat_map(|record| list(&record.value, "records"));
        // Of several agents, the one that begins is the main one.
        let mut logs: Vec<(&str, EffectLog)> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (at, effect) in effects.enumerate() {
            let key = text(effect, "key").unwrap_or_default();
            let agent = key.split_once('/').map_or("", |(agent, _)| agent);
            let index = *places.entry(agent).or_insert(logs.len());
            if index == logs.len() {
                logs.push((agent, EffectLog::default()));
            }
            let (_, log) = &mut logs[index];
            log.apply_effect(effect)?;
            log.at.resize(log.run.events.len(), at);
        }
        let logs = logs.into_iter();
        let mut logs = logs.map(|(agent, log)| {
            let mut run = log.run;
            run.agent = Some(agent.to_owned()).filter(|agent| !agent.is_empty());
            let events: Vec<(usize, Event)> = log
                .at
                .into_iter()
                .zip(std::mem::take(&mut run.events))
                .collect();
            (run, events)
        });
        let Some((mut run, mut events)) = logs.next() else {
            return Ok(Vec::new());
        };
        let logs: Vec<(ForeignRun, Vec<(usize, Event)>)> = logs.collect();
        let of_agents = logs.iter().map(|(run, events)| {
            let name = run.agent.as_deref().unwrap_or_default();
            Invoked {
                id: name,
                name,
                events,
            }
        });
        merge_subagent_calls(&mut events, of_agents);
        for (mut subagent, own) in logs {
            subagent.id = Some(subagent.agent.clone().unwrap_or_default());
            run.subagents.push(subagent.with_events(own));
        }
        Ok(vec![run.with_events(events)])
    }
}

#[derive(Default)]
struct EffectLog {
    run: ForeignRun,
    /// At which effect each event happened.
    at: Vec<usize>,
    /// How many messages of the history are known.
    known: usize,
    /// The calls of the last answer that no tool ran for yet.
    open: OpenCalls,
    /// The identifiers of the results so far.
    told: HashSet<Option<String>>,
}

/// The calls of an answer that no tool ran for yet: their identifiers and arguments, by their places.
#[derive(Default)]
struct OpenCalls {
    calls: BTreeMap<usize, (Option<String>, Rc<Value>)>,
    waiting: Waiting,
}

impl OpenCalls {
    fn add(&mut self, call: &Call) {
        let place = self.calls.last_key_value().map_or(0, |(last, _)| last + 1);
        let args = Rc::new(unwrap_json_text(&call.args));
        self.waiting.add(&call.name, &args, place);
        self.calls.insert(place, (call.id.clone(), args));
    }

    /// Takes the first call of a tool that has these arguments, else the first of the tool, and returns its identifier.
    fn take(&mut self, tool: &str, args: &Value) -> Option<Option<String>> {
        let same = self.waiting.first_with(tool, args);
        let place = same.or_else(|| self.waiting.first(tool))?;
        let (id, args) = self.calls.remove(&place)?;
        self.waiting.remove(tool, &args, place);
        Some(id)
    }
}

impl EffectLog {
    fn apply_effect(&mut self, effect: &Value) -> Result<(), Lost> {
        let (kind, outcome) = (&effect["kind"], &effect["outcome"]);
        match text(kind, "effect").unwrap_or_default() {
            "completion" => self.apply_model_call(&kind["request"], outcome)?,
            "tool_call" => self.apply_tool(kind, outcome),
            other => self
                .run
                .note(format!("effects of the kind `{other}` left out")),
        }
        Ok(())
    }

    fn apply_model_call(&mut self, request: &Value, outcome: &Value) -> Result<(), Lost> {
        let history = list(request, "chat_history");
        if history.is_empty() {
            return Err(Lost::no_run("a model call of it has no history"));
        }
        let run = &mut self.run;
        if run.tools.is_empty() {
            run.tools = offered_tools(list(request, "tools"));
        }
        run.asked = run
            .asked
            .take()
            .or_else(|| nonempty_string(request, "model"));
        run.temperature = run
            .temperature
            .take()
            .or_else(|| number(request, "temperature"));
        run.max_tokens = run.max_tokens.or_else(|| count(request, "max_tokens"));
        let is_first = run.events.is_empty();
        let mut system = SystemPreamble::new(run, is_first);
        // A history that was cut is not read twice; what is new of it is its last message.
        let known = self.known.min(history.len().saturating_sub(1));
        for message in &history[known..] {
            let said = text_of(message.get("content"));
            let is_system = role(message).as_deref() == Some("system");
            if !system.try_take(is_system, &said) {
                self.add_message(message);
            }
        }
        system.apply_to(&mut self.run);
        self.known = history.len() + 1;
        self.open = OpenCalls::default();
        let Some(answer) = non_null(outcome, "Ok") else {
            self.run.push_step(None);
            self.run.stop = Some(Stop::Known("error"));
            return Ok(());
        };
        if let Some(model) = text(&answer["origin"], "model") {
            self.run.add_model(model);
        }
        self.run.push_step(tokens(&answer["usage"]));
        for part in list(answer, "choice") {
            self.add_part(part);
        }
        let reason = match non_null(answer, "finish_reason") {
            Some(Value::String(reason)) => Some(reason.clone()),
            Some(other) => nonempty_string(other, "other"),
            None => None,
        };
        // An agent ends with an answer that calls nothing.
        self.run.stop = match reason {
            Some(reason) => Some(Stop::Spelt(reason)),
            None => self
                .open
                .calls
                .is_empty()
                .then_some(Stop::Known("completed")),
        };
        Ok(())
    }

    /// A message of the history that no effect told of.
    fn add_message(&mut self, message: &Value) {
        match role(message).as_deref() {
            Some("user") => {
                let is_result = |part: &&Value| text(part, "type") == Some("toolresult");
                let parts = list(message, "content");
                // The tools of the last answer told of theirs.
                for part in parts.iter().filter(is_result) {
                    let id = call_id(&part["call"]);
                    if !self.told.contains(&id) {
                        self.add_answer(Answer {
                            id,
                            name: nonempty_string(part, "name"),
                            value: member(part, "content"),
                            is_error: Some(part["is_error"] == true),
                            duration_ms: None,
                        });
                    }
                }
                let said = parts.iter().filter(|part| !is_result(part));
                let said = said.map(|part| text_of(Some(part))).collect::<String>();
                let whole = message.get("content").filter(|content| content.is_string());
                self.run
                    .push_user(whole.map_or(said, |text| text_of(Some(text))));
            }
            Some("assistant") => {
                self.run.push_step(None);
                for part in list(message, "content") {
                    self.add_part(part);
                }
            }
            Some("system") => self
                .run
                .push_turn("system", text_of(message.get("content"))),
            _ => report_message(message, &mut self.run),
        }
    }

    fn add_answer(&mut self, answer: Answer) {
        self.told.insert(answer.id.clone());
        self.run.push(Event::Answer(answer));
    }

    fn add_part(&mut self, part: &Value) {
        match text(part, "type").unwrap_or("text") {
            "toolcall" => {
                let (id, function) = (call_id(&part["id"]), &part["function"]);
                let call = Call::new(id, text(function, "name"), member(function, "arguments"));
                self.open.add(&call);
                self.run.push_call(call);
            }
            "reasoning" => self.run.note("reasoning left out"),
            _ => self.run.push_assistant(text_of(Some(part))),
        }
    }

    /// What a tool came to: the result of the first call that waits with its name and arguments, else with its
    /// name.
    fn apply_tool(&mut self, kind: &Value, outcome: &Value) {
        let name = text(kind, "name").unwrap_or_default();
        let args = unwrap_json_text(&kind["args"]);
        let id = self.open.take(name, &args).unwrap_or_else(|| {
            // A tool that a model did not ask for.
            let id = format!("effect:{}", self.run.events.len());
            self.run.push_call(Call::new(
                Some(id.clone()),
                Some(name),
                member(kind, "args"),
            ));
            Some(id)
        });
        let (value, is_error) = parse_result(outcome);
        self.add_answer(Answer {
            id,
            name: Some(name.to_owned()),
            value,
            is_error: Some(is_error),
            duration_ms: None,
        });
    }
}

/// What a tool gave back, and whether it failed: what is not a success is none.
fn parse_result(outcome: &Value) -> (Value, bool) {
    let Some(ok) = non_null(outcome, "Ok") else {
        return (member(outcome, "Err"), true);
    };
    let result = &ok["result"];
    let value = &result["value"];
    let shown = non_null(value, "model_output").or_else(|| non_null(value, "message"));
    let shown = shown.unwrap_or(value).clone();
    (shown, text(result, "status") != Some("success"))
}

/// A call's identifier, whoever gave it.
fn call_id(id: &Value) -> Option<String> {
    let own = id
        .as_object()
        .and_then(|map| map.values().find_map(Value::as_str));
    own.or(id.as_str()).map(str::to_owned)
}

/// Tokens; what was not counted is written as none.
fn tokens(usage: &Value) -> Option<CallTokens> {
    let of = |key| count(usage, key);
    let mut taken = CallTokens::new(of("input_tokens")?, of("output_tokens")?);
    let counted = |key| of(key).filter(|count| *count > 0);
    taken.cached = counted("cached_input_tokens");
    taken.reasoning = counted("reasoning_tokens");
    Some(taken).filter(|taken| taken.total() != Some(0))
}
