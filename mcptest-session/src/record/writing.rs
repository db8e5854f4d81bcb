//! Calls, results and turns of a run, written in the order in which they happened.

mod results;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem;

use mcptest_trace::record::TranscriptBuilder;
use serde_json::{Value, json};

use super::conversation::{Conversation, ModelCall};
use super::mcp_calls::McpCalls;
use super::options::{Role, RunOptions};
use super::own_calls::OwnCalls;
use super::own_field::OwnCallsInTrace;
use super::pairing::Pairing;
use crate::exchange::{Call, Item, Part, Tool};
use crate::lossless::Change;
use crate::mcp::NameIndex;
use crate::protocol::blob;

pub(super) use results::MessageResults;

/// A run that is being written.
pub(super) struct RunWriter<'o> {
    options: &'o RunOptions,
    /// What clients call the tools of the servers.
    known: &'o NameIndex,
    talk: TranscriptBuilder,
    calls: Vec<Value>,
    results: Vec<Value>,
    /// Model calls of the main conversation so far.
    steps: usize,
    mcp: &'o McpCalls,
    own: &'o OwnCalls,
    /// What calls at the door the calls are.
    in_trace: OwnCallsInTrace,
    /// For each call, the one at an MCP server that it is.
    seen: Vec<Option<usize>>,
    /// Calls at servers, the calls of the run that they are, and whether the model was told what the server said.
    told: Vec<(usize, usize, bool)>,
    /// In how many results of MCP that are told as a text something was read otherwise than it is written.
    changes: BTreeMap<Change, usize>,
    told_as_messages: MessageResults,
    /// What the model was told of calls, where that is not what the trace has.
    told_otherwise: Vec<Value>,
    left_out: LeftOut,
}

/// How many calls of an answer are no part of the run, as it might make no more: by conversation, and by place in it.
pub(super) type LeftOut = HashMap<(usize, usize), usize>;

/// A conversation whose calls wait for their results.
struct OpenConversation {
    pairing: Pairing,
    /// The calls of this conversation among those of the run.
    calls: Vec<usize>,
    agent: Option<String>,
    /// Its place among the conversations.
    index: usize,
    /// The calls of the last answer, and when it had come.
    last: (Vec<usize>, u64),
    /// How many answers stand in the last request.
    answers: usize,
}

/// What happens next in a conversation.
enum NextEvent<'c> {
    Asked(&'c ModelCall),
    /// An answer, and its place in the conversation.
    Said(&'c ModelCall, usize),
    /// A call at the door that no model asked for in a call.
    Acted(usize),
}

impl<'o> RunWriter<'o> {
    pub(super) fn new(
        options: &'o RunOptions,
        known: &'o NameIndex,
        mcp: &'o McpCalls,
        own: &'o OwnCalls,
    ) -> Self {
        Self {
            options,
            known,
            mcp,
            own,
            in_trace: OwnCallsInTrace::default(),
            seen: Vec::new(),
            told: Vec::new(),
            changes: BTreeMap::new(),
            told_as_messages: MessageResults::default(),
            told_otherwise: Vec::new(),
            left_out: LeftOut::default(),
            talk: TranscriptBuilder::default(),
            calls: Vec::new(),
            results: Vec::new(),
            steps: 0,
        }
    }

    /// Writes what happened in the conversations that are part of the run, by time.
    pub(super) fn write(&mut self, conversations: &[Conversation], roles: &[Role]) {
        let mut open: Vec<OpenConversation> = roles
            .iter()
            .enumerate()
            .map(|(index, role)| OpenConversation {
                index,
                pairing: Pairing::default(),
                calls: Vec::new(),
                agent: match role {
                    Role::Agent(name) => Some(name.clone()),
                    Role::Main | Role::Side => None,
                },
                last: (Vec::new(), 0),
                answers: 0,
            })
            .collect();
        let mut happened = Vec::new();
        for (index, conversation) in conversations.iter().enumerate() {
            if roles[index] == Role::Side {
                continue;
            }
            // A client may ask on before the end of a stream is seen here; an answer comes after its question,
            // and what goes on with it after the answer.
            let mut now = 0;
            for (place, call) in conversation.calls.iter().enumerate() {
                now = now.max(call.asked_at);
                happened.push((now, index, NextEvent::Asked(call)));
                if call.answered {
                    now = now.max(call.ended_at);
                    happened.push((now, index, NextEvent::Said(call, place)));
                    let acted = self.own.of_run.get(&place);
                    let acted = acted.filter(|_| roles[index] == Role::Main);
                    for own in acted.into_iter().flatten() {
                        happened.push((now, index, NextEvent::Acted(*own)));
                    }
                }
            }
        }
        happened.sort_by_key(|(at, _, _)| *at);
        for (_, index, next) in happened {
            match next {
                NextEvent::Asked(call) => self.write_request(call, &mut open[index]),
                NextEvent::Said(call, place) => self.write_response(call, place, &mut open[index]),
                NextEvent::Acted(own) => self.write_text_call(own),
            }
        }
        for open in &mut open {
            self.write_untold_results(open);
        }
    }

    /// What a request tells that is new: results, and what the user says.
    fn write_request(&mut self, call: &ModelCall, open: &mut OpenConversation) {
        let new = call.asked.items.get(call.known..).unwrap_or_default();
        let waited = call.asked_at.saturating_sub(open.last.1);
        self.write_message_results(call, new, waited, open);
        open.answers = call.asked.answer_count();
        for item in new {
            match &**item {
                Item::Result(result) => self.result(result, Some(waited), open),
                // Of a past that was changed, only what the user is known to say is the user's.
                Item::User(text)
                    if open.agent.is_none() && (call.changed.is_none() || self.is_turn(text)) =>
                {
                    self.talk.add_user(text, self.calls.len());
                }
                Item::Turn { role, text } if open.agent.is_none() => self.talk.add_turn(role, text),
                // Answers that no model gave here, such as examples, are what the talk began with.
                Item::Answer(parts) if open.agent.is_none() && call.changed.is_none() => {
                    for part in parts {
                        if let Part::Text(text) | Part::Refusal(text) = part {
                            self.talk.add_agent(text);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether the user is known to say this.
    fn is_turn(&self, text: &str) -> bool {
        let mut turns = self.options.turns.iter();
        turns.any(|turn| turn.trim() == text.trim())
    }

    /// What an answer says and calls.
    fn write_response(&mut self, call: &ModelCall, place: usize, open: &mut OpenConversation) {
        let is_own = open.agent.is_none();
        open.pairing.begin_step();
        open.last = (Vec::new(), call.ended_at);
        if is_own {
            self.steps += 1;
        }
        let mut number = 0;
        for part in &call.said.parts {
            match part {
                Part::Text(text) | Part::Refusal(text) if is_own => self.talk.add_agent(text),
                Part::Call(call) => {
                    let made = call.native.is_none().then_some((open.index, place, number));
                    number += usize::from(call.native.is_none());
                    let seen = made.and_then(|place| self.mcp.of_model.get(&place));
                    let before = self.calls.len();
                    self.call(call, seen.copied(), open);
                    if self.calls.len() > before {
                        let own = made.and_then(|place| self.own.of_model.get(&place));
                        self.in_trace
                            .attempts
                            .push(own.cloned().unwrap_or_default());
                    } else {
                        *self.left_out.entry((open.index, place)).or_default() += 1;
                    }
                }
                Part::Result(result) => self.result(result, None, open),
                _ => {}
            }
        }
    }

    /// The calls that the model asked for and that are no part of the run.
    pub(super) fn take_left_out(&mut self) -> LeftOut {
        mem::take(&mut self.left_out)
    }

    fn call(&mut self, call: &Call, seen: Option<usize>, open: &mut OpenConversation) {
        let options = self.options;
        let found = seen.and_then(|seen| options.mcp.calls.get(seen));
        let (server, name) = match (found, call.server.as_deref()) {
            (Some(seen), _) => (Some(seen.server.as_str()), seen.tool.as_str()),
            (None, Some(server)) => (Some(server), call.name.as_str()),
            (None, None) => self.split_name(&call.name),
        };
        // Its server refused it, or was not asked.
        let is_of_server =
            server.is_some_and(|server| options.mcp.servers.iter().any(|it| it == server));
        let most = options.max_tool_calls;
        if is_of_server && most.is_some_and(|most| self.calls.len() as u64 >= most) {
            return;
        }
        let mut args = call.args.clone();
        blob::condense_arguments(&mut args);
        let mut written = json!({ "name": name, "args": args, "hop_index": self.calls.len() });
        if let Some(server) = server {
            written["server"] = server.into();
        }
        if let Some(caller) = &call.caller {
            written["caller"] = caller.clone();
        }
        if let Some(agent) = &open.agent {
            written["agent_id"] = agent.as_str().into();
        } else {
            self.talk.add_call(server, name, &args);
            written["step"] = self.steps.saturating_sub(1).into();
        }
        open.pairing.add_call(call.id.as_deref(), &call.name);
        open.calls.push(self.calls.len());
        if call.native.is_none() {
            open.last.0.push(self.calls.len());
        }
        self.calls.push(written);
        self.seen.push(seen);
    }

    /// The server that a tool's name tells, and the tool.
    fn split_name<'n>(&self, name: &'n str) -> (Option<&'n str>, &'n str)
    where
        'o: 'n,
    {
        match self.known.resolve(name) {
            Some((server, tool)) => (Some(server), tool),
            None => split_name(name, &self.options.servers),
        }
    }

    /// A tool that was offered, with what the model was told of it.
    pub(super) fn tool_json(&self, tool: &Tool) -> Value {
        let (server, name) = self.split_name(&tool.name);
        let mcp = &self.options.mcp;
        let annotations = server.and_then(|server| mcp.annotations(server, name));
        let reads_only = annotations
            .as_ref()
            .and_then(|said| said.get("readOnlyHint")?.as_bool());
        let mut written = json!({ "name": name });
        let optional = [
            ("server", server.map(Value::from)),
            ("description", tool.description.clone().map(Value::from)),
            ("input_schema", tool.schema.clone()),
            ("read_only", reads_only.map(Value::from)),
            ("annotations", annotations.map(Value::Object)),
        ];
        for (key, value) in optional {
            if let Some(value) = value {
                written[key] = value;
            }
        }
        written
    }

    /// Counts what was read otherwise than it is written in a result.
    fn count_changes(&mut self, changes: &[Change]) {
        for change in changes {
            *self.changes.entry(*change).or_default() += 1;
        }
    }

    /// What was read otherwise than it is written in results, and in how many of them.
    pub(super) fn changes(&self) -> BTreeMap<Change, usize> {
        self.changes.clone()
    }

    /// What the formats of this run cannot tell.
    pub(super) fn unknown(&self) -> BTreeSet<&'static str> {
        let mut unknown = BTreeSet::new();
        if self.results.iter().any(|it| it.get("is_error").is_none()) {
            unknown.insert("is_error");
        }
        unknown
    }

    /// The conversation around the calls. Tokens are told of all model calls or of none: those of sub-agents and on the
    /// side, in `others`, are in the total, which then stands without its parts, as the steps are the agent's own.
    pub(super) fn conversation_json<'c>(
        &self,
        main: &Conversation,
        others: impl Iterator<Item = &'c Conversation>,
        notes: &mut Vec<String>,
    ) -> Value {
        let messages = self.talk.user_turns() + self.steps + self.results.len();
        let mut conversation = json!({ "message_count": messages });
        let first = main.calls.first();
        let asked = first.and_then(|call| call.asked.model.as_deref());
        let model = self.options.model.as_deref().or(asked);
        let steps: Option<Vec<Value>> = main
            .answered_calls()
            .map(|call| step_json(call, model))
            .collect();
        if let Some(steps) = steps {
            let sum = |key: &str| {
                let counts = steps.iter().filter_map(|step| step[key].as_u64());
                counts.fold(0, u64::saturating_add)
            };
            let (prompt, completion) = (sum("prompt"), sum("completion"));
            let total = prompt.saturating_add(completion);
            let beside: Vec<Option<u64>> = others
                .flat_map(|other| other.answered_calls().map(call_tokens))
                .collect();
            if beside.is_empty() {
                conversation["tokens"] =
                    json!({ "prompt": prompt, "completion": completion, "total": total });
            } else if let Some(beside) = beside.iter().copied().sum::<Option<u64>>() {
                conversation["tokens"] = json!({ "total": total.saturating_add(beside) });
            } else {
                // A total without them would be too low, and so would the sum of the steps.
                notes.push("the tokens of sub-agents or side calls are not known".to_owned());
                return conversation;
            }
            conversation["steps"] = steps.into();
        } else {
            let known = main
                .answered_calls()
                .filter(|call| call.said.tokens.is_some());
            let (known, of) = (known.count(), self.steps);
            notes.push(format!("tokens for {known} of {of} model calls"));
        }
        conversation
    }

    /// What the agent's program printed, where no answer of the model says it.
    pub(super) fn printed_closing(&self) -> Option<&'o str> {
        let closing = self.options.closing.as_deref().map(str::trim);
        closing.filter(|text| {
            !text.is_empty() && self.talk.last_answer().map(str::trim) != Some(*text)
        })
    }

    /// The trace, with the conversation that was made.
    pub(super) fn into_trace(mut self, conversation: &Value, closing: Option<&str>) -> Value {
        if let Some(closing) = closing {
            self.talk.add_agent(closing);
        }
        let mut trace = json!({
            "tool_calls": self.calls,
            "tool_results": self.results,
            "conversation": conversation,
        });
        self.talk.write_to(&mut trace);
        // What the program prints is what the user reads, and it printed nothing.
        let is_silent = self
            .options
            .closing
            .as_deref()
            .is_some_and(|text| text.trim().is_empty());
        if let (true, Some(trace)) = (is_silent, trace.as_object_mut()) {
            trace.remove("final_response");
        }
        trace
    }
}

/// What a model call took.
fn call_tokens(call: &ModelCall) -> Option<u64> {
    let tokens = call.said.tokens?;
    Some(tokens.prompt.saturating_add(tokens.completion))
}

/// The tokens of a model call, how long it took, and the model that answered where that is not the run's.
fn step_json(call: &ModelCall, of_run: Option<&str>) -> Option<Value> {
    let tokens = call.said.tokens?;
    let mut step = json!({
        "prompt": tokens.prompt,
        "completion": tokens.completion,
        "duration_ms": call.ended_at.saturating_sub(call.asked_at),
    });
    for (key, count) in [("cached", tokens.cached), ("reasoning", tokens.reasoning)] {
        if let Some(count) = count {
            step[key] = count.into();
        }
    }
    let answered = call.said.model.as_deref().or(call.asked.model.as_deref());
    if let Some(model) = answered.filter(|_| answered != of_run) {
        step["model"] = model.into();
    }
    Some(step)
}

/// The server that a tool's name on the wire tells, and the tool: `<server>__<tool>` and `mcp__<server>__<tool>`.
pub(crate) fn split_name<'n>(name: &'n str, servers: &[String]) -> (Option<&'n str>, &'n str) {
    let both = |(server, tool): &(&str, &str)| !server.is_empty() && !tool.is_empty();
    let mcp = name
        .strip_prefix("mcp__")
        .and_then(|rest| rest.split_once("__"));
    if let Some((server, tool)) = mcp.filter(both) {
        return (Some(server), tool);
    }
    let mut servers: Vec<&String> = servers.iter().collect();
    servers.sort_by_key(|server| std::cmp::Reverse(server.len()));
    let known = servers.into_iter().find_map(|server| {
        let tool = name.strip_prefix(server.as_str())?.strip_prefix("__")?;
        Some((name.get(..server.len())?, tool)).filter(both)
    });
    match known {
        Some((server, tool)) => (Some(server), tool),
        None => (None, name),
    }
}
