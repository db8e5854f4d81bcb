//! Results of calls: what the model was told, and what an MCP server said.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::{OpenConversation, RunWriter};
use crate::door::{Ending, OwnCall};
use crate::exchange::{Item, ToolResult};
use crate::mcp::McpCall;
use crate::protocol::blob;
use crate::record::conversation::{Changed, Conversation, ModelCall};
use crate::record::mcp_calls::{is_as_sent, says_result};
use crate::record::messages::told_is_error;
use crate::record::own_field::OwnCallsInTrace;
use crate::record::payload::Payload;
use crate::record::scratchpad::without_label;

/// Results that messages of the user told.
#[derive(Debug, Default)]
pub(in crate::record) struct MessageResults {
    /// The calls of the run, by the place of the conversation and the message.
    pub(in crate::record) calls: HashMap<(usize, String), Vec<usize>>,
    /// How many requests of the main conversation told them.
    pub(in crate::record) requests: usize,
    pub(in crate::record) results: usize,
}

impl<'o> RunWriter<'o> {
    /// How many calls there are, if none has a result and the model said something after one.
    pub(in crate::record) fn without_results(&self, own: &Conversation) -> Option<usize> {
        let last = own.calls.last();
        let waiting = last.map_or(0, |last| last.said.calls().count());
        let is_blank = self.results.is_empty() && self.calls.len() > waiting;
        is_blank.then_some(self.calls.len())
    }

    /// The results that messages of the user told, all that were written.
    pub(in crate::record) fn take_messages(&mut self) -> MessageResults {
        std::mem::take(&mut self.told_as_messages)
    }

    /// What the model was told of calls otherwise than the trace has it, all that was written.
    pub(in crate::record) fn take_told_differences(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.told_otherwise)
    }

    /// Results that servers gave and no request told, as the run ended before.
    pub(super) fn write_untold_results(&mut self, open: &mut OpenConversation) {
        for own in 0..open.calls.len() {
            let call = open.calls[own];
            let given = || {
                let seen = self.mcp_call(call).and_then(|seen| seen.result.clone());
                seen.or_else(|| own_value(&self.own_call(call)?.ending))
            };
            if open.pairing.result_of(own).is_none()
                && let Some(result) = given()
            {
                let result = ToolResult {
                    value: result,
                    ..ToolResult::default()
                };
                self.write_result(&result, None, own, open);
                // Nobody was told it.
                self.told_otherwise
                    .pop_if(|told| told["call_index"] == call);
            }
        }
    }

    /// Results that messages of the user tell in the place of results: the client sends the last answer back as a text.
    pub(super) fn write_message_results(
        &mut self,
        call: &ModelCall,
        new: &[Arc<Item>],
        waited: u64,
        open: &mut OpenConversation,
    ) {
        let is_rewritten = matches!(call.changed, Some(Changed::LastAnswer | Changed::Past));
        let has_results = new.iter().any(|item| matches!(**item, Item::Result(_)));
        if !is_rewritten || has_results || call.asked.answer_count() <= open.answers {
            return;
        }
        let messages = new.iter().filter_map(|item| match &**item {
            Item::User(text) if !self.is_turn(text) => Some(text.as_str()),
            _ => None,
        });
        let messages: Vec<&str> = messages.collect();
        let own = 0..open.calls.len();
        let waiting = own.filter(|own| {
            open.last.0.contains(&open.calls[*own]) && open.pairing.result_of(*own).is_none()
        });
        let waiting: Vec<usize> = waiting.collect();
        if messages.is_empty() || waiting.is_empty() {
            return;
        }
        let each = messages.len() == waiting.len();
        for (number, own) in waiting.iter().enumerate() {
            // Nothing says which part of a message is of which call.
            let text = if each {
                without_label(messages[number]).to_owned()
            } else {
                let texts: Vec<&str> = messages.iter().map(|text| without_label(text)).collect();
                texts.join("\n")
            };
            let result = ToolResult {
                value: text.into(),
                ..ToolResult::default()
            };
            self.write_result(&result, Some(waited), *own, open);
        }
        for (number, text) in messages.iter().enumerate() {
            let call = open.calls[waiting[number.min(waiting.len() - 1)]];
            let of_text = (open.index, (*text).to_owned());
            let calls = &mut self.told_as_messages.calls;
            calls.entry(of_text).or_default().push(call);
        }
        self.told_as_messages.results += waiting.len();
        self.told_as_messages.requests +=
            usize::from(open.agent.is_none() && call.changed == Some(Changed::LastAnswer));
    }

    /// What went by at a server of a call of the run.
    fn mcp_call(&self, call: usize) -> Option<&'o McpCall> {
        self.options.mcp.calls.get(self.seen[call]?)
    }

    /// The last attempt of a call at an own tool.
    fn own_call(&self, call: usize) -> Option<&'o OwnCall> {
        let last = self.in_trace.attempts.get(call)?.last()?;
        self.options.own_calls.get(*last)
    }

    /// A call that no model asked for in a call: the agent acts in text.
    pub(super) fn write_text_call(&mut self, place: usize) {
        let options = self.options;
        let Some(own) = options.own_calls.get(place) else {
            return;
        };
        let mut args = own.args.clone();
        blob::condense_arguments(&mut args);
        let call = self.calls.len();
        self.talk.add_call(None, &own.name, &args);
        self.calls.push(json!({
            "name": own.name, "args": args, "hop_index": call, "step": self.steps.saturating_sub(1),
        }));
        self.seen.push(None);
        self.in_trace.attempts.push(vec![place]);
        self.in_trace.in_text.push(call);
        let Some(value) = own_value(&own.ending) else {
            return;
        };
        let mut value = Payload::from_value(value).result;
        blob::condense(&mut value);
        let mut written = json!({ "call_index": call, "result": value });
        if let Some(is_error) = own.ending.is_error() {
            written["is_error"] = is_error.into();
        }
        if let Some(mark) = own.fault() {
            written["synthesized"] = mark.clone();
        }
        if let Some(duration) = own.duration_ms() {
            written["duration_ms"] = duration.into();
        }
        self.results.push(written);
    }

    /// What the calls of the run are at the door, all that was written.
    pub(in crate::record) fn take_own(&mut self) -> OwnCallsInTrace {
        std::mem::take(&mut self.in_trace)
    }

    /// A result. Only of a call that was alone it is known how long it took.
    pub(super) fn result(
        &mut self,
        result: &ToolResult,
        waited: Option<u64>,
        open: &mut OpenConversation,
    ) {
        let id = result.id.as_deref().unwrap_or_default();
        let by_name = || open.pairing.next_by_name(result.name.as_deref()?);
        // A client may make an identifier up for a call that has none.
        let in_order = || {
            result
                .name
                .is_none()
                .then(|| open.pairing.next_without_id())?
        };
        let own = open.pairing.by_id(id).or_else(by_name).or_else(in_order);
        let Some(own) = own else { return };
        if open.pairing.result_of(own).is_none() {
            self.write_result(result, waited, own, open);
        }
    }

    fn write_result(
        &mut self,
        result: &ToolResult,
        waited: Option<u64>,
        own: usize,
        open: &mut OpenConversation,
    ) {
        let call = open.calls[own];
        let seen = self.mcp_call(call);
        let said = seen.and_then(|seen| seen.result.as_ref());
        let is_told = said.is_some_and(|said| says_result(&result.value, said));
        let (mut value, is_mcp) = if let Some(said) = said.filter(|_| is_told) {
            (said.clone(), true)
        } else {
            let read = Payload::from_value(result.value.clone());
            self.count_changes(&read.changes);
            (read.result, read.is_mcp)
        };
        blob::condense(&mut value);
        let own_flag = value.get("isError").and_then(Value::as_bool);
        let failed = seen.and_then(McpCall::is_error);
        let is_error = match (result.is_error.or(failed), own_flag) {
            // What the server says is so, whatever the model was told.
            _ if failed == Some(true) => Some(true),
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), _) => Some(false),
            (None, _) => is_mcp.then_some(false),
        };
        let own_call = self.own_call(call);
        // How the tool ended is so, whatever the model was told.
        let is_error = own_call.and_then(|own| own.ending.is_error()).or(is_error);
        self.note_told_difference(call, result, said.filter(|_| is_told), is_error);
        if is_error == Some(true) && own_flag == Some(false) {
            value["isError"] = true.into();
        }
        let mut written = json!({ "call_index": call, "result": value });
        if let Some(server) = self.calls[call].get("server") {
            written["server"] = server.clone();
        }
        if let Some(is_error) = is_error {
            written["is_error"] = is_error.into();
        }
        let by_fault = own_call.and_then(OwnCall::fault);
        let mark = seen.and_then(|seen| seen.synthesized.as_ref());
        if let Some(mark) = mark.or(by_fault) {
            written["synthesized"] = mark.clone();
        }
        let duration = seen.and_then(McpCall::duration_ms);
        if let Some(duration) = duration.or(own_call.and_then(OwnCall::duration_ms)) {
            written["duration_ms"] = duration.into();
        } else if let (Some(waited), [alone]) = (waited, open.last.0.as_slice())
            && *alone == call
        {
            written["duration_ms"] = waited.into();
        }
        open.pairing.set_result(own, self.results.len());
        self.results.push(written);
        if let Some(seen) = self.seen[call] {
            self.told.push((seen, call, is_told));
        }
    }

    /// Notes what the model was told of a call, where that is not what the trace has of it. `said`: what the server said, where
    /// the trace has that.
    fn note_told_difference(
        &mut self,
        call: usize,
        result: &ToolResult,
        said: Option<&Value>,
        is_error: Option<bool>,
    ) {
        let mut written = json!({ "call_index": call });
        if said.is_some_and(|said| !is_as_sent(&result.value, said)) {
            let mut value = Payload::from_value(result.value.clone()).result;
            blob::condense(&mut value);
            written["value"] = value;
        }
        let flag = told_is_error(result);
        if flag != is_error {
            written["is_error"] = flag.into();
        }
        if written.as_object().is_some_and(|written| written.len() > 1) {
            self.told_otherwise.push(written);
        }
    }

    /// The calls at servers that the run has, each with its call and whether the model was told what the server said.
    pub(in crate::record) fn mcp_calls_in_trace(&self) -> Vec<(usize, usize, bool)> {
        let told = self.told.iter().copied();
        // Of a call without a result nobody was told anything.
        let untold = self.seen.iter().enumerate();
        let untold = untold.filter_map(|(call, seen)| Some(((*seen)?, call, false)));
        let is_told: HashSet<usize> = self.told.iter().map(|(seen, ..)| *seen).collect();
        let untold = untold.filter(|(seen, ..)| !is_told.contains(seen));
        told.chain(untold).collect()
    }
}

/// What a tool gave, as a model would be told it.
fn own_value(ending: &Ending) -> Option<Value> {
    match ending {
        Ending::Result(value) => Some(value.clone()),
        Ending::Error(raised) => Some(raised.text.as_str().into()),
        Ending::Left | Ending::Unreported => None,
    }
}
