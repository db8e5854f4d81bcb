//! What playing needs and the trace does not tell: the field `session` of a cassette, which readers that do
//! not know it ignore.
//!
//! `version` is `1.2`: a reader of another first number leaves the field alone. `1.0` did not say which tools are strict,
//! nor what sub-agents are told after their task; `1.1` not what the model was told of a call where the trace has something
//! else (`told`), nor the arguments of calls as the model wrote them (`arguments` of an answer, null where that is their
//! canonical JSON). `equal` of an answer: which question that was answered several times, and which of its answers.
//! `bare`: the client sent the answer back without the text beside its calls. `left_out`: how many calls of the answer are no
//! part of the run, which might make no more.

use std::collections::{BTreeSet, HashMap};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::conversation::{Conversation, ModelCall, ModelCalls};
use super::events;
use super::messages::{self, Message};
use super::observed::{Observed, Outcome};
use super::options::Role;
use super::writing::LeftOut;
use crate::exchange::{Item, ModelRequest, Part, Tool};
use crate::protocol::is_numbered;

/// The version of the field.
const VERSION: &str = "1.2";

pub(super) fn to_json(
    calls: &ModelCalls,
    roles: &[Role],
    observed: &[Observed],
    notes: &[String],
    unknown: &BTreeSet<&str>,
    messages: &HashMap<(usize, String), Vec<usize>>,
    left_out: &LeftOut,
) -> Value {
    let mut field = json!({ "version": VERSION });
    if calls.retries > 0 {
        field["retries"] = calls.retries.into();
    }
    if !notes.is_empty() {
        field["notes"] = notes.into();
    }
    if !unknown.is_empty() {
        field["unknown"] = unknown.iter().copied().collect();
    }
    let mut conversations = Vec::new();
    for (index, (conversation, role)) in calls.conversations.iter().zip(roles).enumerate() {
        let (role, name) = match role {
            Role::Main => ("main", None),
            Role::Side => ("side", None),
            Role::Agent(name) => ("agent", Some(name)),
        };
        let is_main = role == "main";
        let mut beside = RequestState::for_conversation(conversation, is_main);
        let mut past = Past::default();
        let answered = conversation.calls.iter().enumerate();
        let answered = answered.filter(|(_, call)| call.answered);
        let written = answered.map(|(place, call)| {
            let mut written = answer_json(call, is_main);
            if let Some(left_out) = left_out.get(&(index, place)) {
                written["left_out"] = (*left_out).into();
                written["parts"] = serde_json::to_value(&call.said.parts).unwrap_or_default();
            }
            beside.add(call, &mut written);
            if call.changed.is_some() {
                written["past"] = events::digest(&call.asked.items).into();
                written["told"] =
                    past.past_json(call, |text| messages.get(&(index, text.to_owned())));
            }
            if let Some((question, number)) = call.equal {
                written["equal"] = json!([question, number]);
            }
            written
        });
        let mut answers: Vec<Value> = written.collect();
        if !is_main {
            add_heard(conversation, &mut answers);
        }
        let mut written = json!({ "role": role, "answers": answers });
        if let Some(name) = name {
            written["name"] = name.as_str().into();
        }
        if role == "agent" {
            let tools = conversation.tools();
            written["tools"] = tools.iter().map(tool_json).collect();
        }
        let strict = strict_tools(conversation);
        if !strict.is_empty() {
            written["strict"] = strict.into();
        }
        if let Some(examples) = conversation.calls.first().and_then(examples) {
            written["examples"] = examples;
        }
        // It was asked, and nothing came of it.
        if let Some(ModelCall {
            answered: false,
            broken,
            ..
        }) = conversation.calls.last()
        {
            written["failed"] = broken.as_deref().unwrap_or_default().into();
        }
        if let (Some(first), false) = (conversation.calls.first(), is_main) {
            written["opening"] = first.asked.opening().into();
            written["system_prompt"] = first.asked.system.as_deref().into();
        }
        conversations.push(written);
    }
    field["conversations"] = conversations.into();
    let others: Vec<Value> = observed.iter().filter_map(other_json).collect();
    if !others.is_empty() {
        field["others"] = others.into();
    }
    field
}

/// What the requests of a conversation say besides its talk: each thing is written where it changes.
struct RequestState<'c> {
    system: Option<&'c str>,
    tools: Vec<&'c str>,
    parameters: Option<&'c Map<String, Value>>,
}

impl<'c> RequestState<'c> {
    /// What stands elsewhere in the cassette already.
    fn for_conversation(conversation: &'c Conversation, is_main: bool) -> Self {
        let first = conversation.calls.first();
        let has_list = is_main || conversation.has_tools();
        let calls = conversation.calls.iter().filter(|_| has_list);
        Self {
            system: first.and_then(|call| call.asked.system.as_deref()),
            tools: tool_names(calls.flat_map(|call| &*call.asked.tools)),
            parameters: None,
        }
    }

    fn add(&mut self, call: &'c ModelCall, written: &mut Value) {
        let asked = &call.asked;
        if asked.system.as_deref() != self.system {
            self.system = asked.system.as_deref();
            written["system_prompt"] = self.system.into();
        }
        let tools = tool_names(asked.tools.iter());
        if tools != self.tools {
            written["tools"] = json!(tools);
            self.tools = tools;
        }
        if self
            .parameters
            .map_or(!asked.parameters.is_empty(), |it| *it != *asked.parameters)
        {
            written["parameters"] = (*asked.parameters).clone().into();
            self.parameters = Some(&asked.parameters);
        }
    }
}

/// What the last request of a conversation said whose past the agent had changed.
#[derive(Default)]
struct Past(Vec<Message>);

impl Past {
    /// What a request says that the one before did not. `calls`: the calls whose results a message tells, in their order.
    fn past_json<'m>(
        &mut self,
        call: &ModelCall,
        calls: impl Fn(&str) -> Option<&'m Vec<usize>>,
    ) -> Value {
        let mut now = messages::read_messages(&call.asked.items);
        let mut times: HashMap<String, usize> = HashMap::new();
        for one in now.iter_mut().filter(|one| one.role == "user") {
            let Some(text) = one.value.as_str() else {
                continue;
            };
            if let Some(calls) = calls(text) {
                let times = times.entry(text.to_owned()).or_default();
                one.of = calls.get(*times).copied();
                *times += 1;
            }
        }
        let written = messages::delta_to_json(&self.0, &now);
        self.0 = now;
        written
    }
}

/// Adds to the answers of a sub-agent, or on the side, what others had said before each. The opening alone stands in the
/// conversation.
fn add_heard(conversation: &Conversation, answers: &mut [Value]) {
    let mut answers = answers.iter_mut();
    let mut heard: Vec<(&str, &str)> = Vec::new();
    let mut is_first = true;
    for call in &conversation.calls {
        let new = call.asked.items.get(call.known..).unwrap_or_default();
        heard.extend(ModelRequest::other_messages_in(
            new.iter().map(|item| &**item),
        ));
        if !call.answered {
            continue;
        }
        let Some(answer) = answers.next() else { return };
        let is_opening =
            is_first && matches!(&heard[..], [("user", text)] if !text.trim().is_empty());
        if !heard.is_empty() && !is_opening {
            answer["heard"] = json!(heard);
        }
        heard.clear();
        is_first = false;
    }
}

/// Answers that stand in the first request, which no model gave here: how many there are, how many texts they hold, and
/// the talk that they are, with results of their calls.
fn examples(first: &ModelCall) -> Option<Value> {
    let (mut texts, mut count) = (0, 0);
    let mut talk: Vec<Value> = Vec::new();
    for piece in events::pieces(&first.asked.items) {
        match piece.first().map(|item| &**item) {
            Some(Item::Answer(_)) => {
                let parts = piece.iter().flat_map(|item| match &**item {
                    Item::Answer(parts) => parts.as_slice(),
                    _ => &[],
                });
                let is_text = |part: &&Part| matches!(part, Part::Text(_) | Part::Refusal(_));
                texts += parts.clone().filter(is_text).count();
                count += 1;
                let own: Vec<&Part> = parts.filter(|part| !is_opaque(part)).collect();
                talk.push(json!({ "answer": own }));
            }
            Some(Item::Result(result)) if count > 0 => talk.push(json!({ "result": result })),
            _ => {}
        }
    }
    (count > 0).then(|| json!({ "answers": count, "texts": texts, "talk": talk }))
}

/// What only the provider understands, and what it ran itself.
fn is_opaque(part: &Part) -> bool {
    match part {
        Part::Opaque(_) => true,
        Part::Call(call) => call.native.is_some(),
        Part::Result(result) => result.native.is_some(),
        Part::Text(_) | Part::Refusal(_) => false,
    }
}

/// The names of tools, each once, in their order by name.
fn tool_names<'t>(tools: impl Iterator<Item = &'t Tool>) -> Vec<&'t str> {
    let names: BTreeSet<&str> = tools.map(|tool| tool.name.as_str()).collect();
    names.into_iter().collect()
}

/// The tools that say whether they are strict, by name.
fn strict_tools(conversation: &Conversation) -> Map<String, Value> {
    let tools = conversation.tools().into_iter();
    let strict = tools.filter_map(|tool| Some((tool.name, tool.strict?.into())));
    strict.collect()
}

fn tool_json(tool: &Tool) -> Value {
    let mut written = json!({ "name": tool.name });
    if let Some(description) = &tool.description {
        written["description"] = description.as_str().into();
    }
    if let Some(schema) = &tool.schema {
        written["input_schema"] = schema.clone();
    }
    written
}

/// An answer. What the main conversation says stands in the trace; it is kept here where something of it is
/// opaque, since only the order of all parts tells where that stood.
fn answer_json(call: &ModelCall, is_main: bool) -> Value {
    let said = &call.said;
    let mut written = json!({ "protocol": call.protocol });
    let optional = [
        ("asked", call.asked.model.clone().map(Value::from)),
        ("id", said.id.clone().map(Value::from)),
        ("model", said.model.clone().map(Value::from)),
        (
            "stop",
            said.stop
                .as_ref()
                .and_then(|stop| serde_json::to_value(stop).ok()),
        ),
        ("items", (!said.items.is_empty()).then(|| json!(said.items))),
        ("broken", call.broken.clone().map(Value::from)),
        ("error", said.error.as_deref().cloned()),
        ("bare", call.is_bare.then_some(Value::Bool(true))),
        ("streamed", call.asked.streamed.then_some(Value::Bool(true))),
    ];
    for (key, value) in optional {
        if let Some(value) = value {
            written[key] = value;
        }
    }
    let ids = said.calls().map(|call| {
        let given = |id: &&str| !is_numbered(id);
        call.id.as_deref().filter(given).map(str::to_owned)
    });
    let ids: Vec<Option<String>> = ids.collect();
    if !ids.is_empty() {
        written["call_ids"] = json!(ids);
    }
    let texts: Vec<Option<&str>> = said.calls().map(|call| call.text.as_deref()).collect();
    if texts.iter().any(Option::is_some) {
        written["arguments"] = json!(texts);
    }
    // How many texts of the trace are of this answer, where it is not one text or calls alone.
    let is_text = |part: &&Part| matches!(part, Part::Text(_) | Part::Refusal(_));
    let texts = said.parts.iter().filter(is_text).count();
    if texts != usize::from(ids.is_empty()) {
        written["texts"] = texts.into();
    }
    // Those of the main conversation stand in its steps.
    if let (Some(tokens), false) = (said.tokens, is_main) {
        written["tokens"] = json!({ "prompt": tokens.prompt, "completion": tokens.completion });
        for (key, count) in [("cached", tokens.cached), ("reasoning", tokens.reasoning)] {
            if let Some(count) = count {
                written["tokens"][key] = count.into();
            }
        }
    }
    if !is_main || said.parts.iter().any(is_opaque) {
        written["parts"] = serde_json::to_value(&said.parts).unwrap_or_default();
    }
    written
}

/// A request that asks no model, with its answer.
fn other_json(observed: &Observed) -> Option<Value> {
    let Outcome::Other {
        status,
        media_type,
        body,
    } = &observed.outcome
    else {
        return None;
    };
    let mut written = json!({
        "digest": observed.digest,
        "method": observed.method,
        "path": observed.path,
        "status": status,
    });
    if let Some(query) = &observed.query {
        written["query"] = query.as_str().into();
    }
    if let Some(media_type) = media_type {
        written["media_type"] = media_type.as_str().into();
    }
    match std::str::from_utf8(body) {
        Ok(text) => written["body"] = text.into(),
        Err(_) => written["body_base64"] = STANDARD.encode(body).into(),
    }
    Some(written)
}
