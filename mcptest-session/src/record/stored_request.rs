//! Requests as they are kept. Each request holds the whole message history before it, so what earlier requests
//! held is shared with them: a session holds as much as its run.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::items::Items;
use crate::exchange::{Item, ModelRequest, Part, Tool};

/// A request for an answer of a model, as it is kept.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct StoredRequest {
    /// The model that is asked.
    pub model: Option<String>,
    /// The system prompt.
    pub system: Option<Arc<str>>,
    /// The talk so far.
    pub items: Items,
    /// The tools that the model may call.
    pub tools: Arc<Vec<Tool>>,
    /// The identifier of the answer that this request continues (Responses).
    pub previous: Option<String>,
    /// Whether the answer comes as a stream of events.
    pub streamed: bool,
    /// Everything else in the request that may change the answer.
    pub parameters: Arc<Map<String, Value>>,
}

impl StoredRequest {
    /// The first thing that the user said.
    #[must_use]
    pub fn opening(&self) -> Option<&str> {
        self.items.iter().find_map(|item| match &**item {
            Item::User(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// How many answers of the model the request holds already.
    pub(crate) fn answer_count(&self) -> usize {
        let items = self.items.iter();
        items
            .filter(|item| matches!(***item, Item::Answer(_)))
            .count()
    }
}

impl From<ModelRequest> for StoredRequest {
    fn from(asked: ModelRequest) -> Self {
        Pool::default().share(asked)
    }
}

/// What requests of a session held, each thing once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pool {
    items: HashMap<u64, Vec<Arc<Item>>>,
    systems: HashSet<Arc<str>>,
    tools: HashMap<u64, Vec<Arc<Vec<Tool>>>>,
    parameters: HashMap<u64, Vec<Arc<Map<String, Value>>>>,
}

impl Pool {
    /// A request, with what earlier ones held shared.
    pub(crate) fn share(&mut self, asked: ModelRequest) -> StoredRequest {
        let items = asked.items.into_iter().map(|item| self.item(item));
        StoredRequest {
            items: items.collect::<Vec<_>>().into(),
            model: asked.model,
            system: asked.system.map(|system| self.system(system)),
            tools: intern(&mut self.tools, hash_tools(&asked.tools), asked.tools),
            previous: asked.previous,
            streamed: asked.streamed,
            parameters: intern(
                &mut self.parameters,
                hash_value(&asked.parameters),
                asked.parameters,
            ),
        }
    }

    fn item(&mut self, item: Item) -> Arc<Item> {
        intern(&mut self.items, hash_item(&item), item)
    }

    fn system(&mut self, system: String) -> Arc<str> {
        if let Some(known) = self.systems.get(&*system) {
            return Arc::clone(known);
        }
        let system: Arc<str> = system.into();
        self.systems.insert(Arc::clone(&system));
        system
    }
}

/// The value among those of its sign that are known, or as a new one of them.
fn intern<T: PartialEq>(all: &mut HashMap<u64, Vec<Arc<T>>>, sign: u64, value: T) -> Arc<T> {
    let alike = all.entry(sign).or_default();
    if let Some(known) = alike.iter().find(|known| ***known == value) {
        return Arc::clone(known);
    }
    let value = Arc::new(value);
    alike.push(Arc::clone(&value));
    value
}

fn hash_value(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A hash of a list of tools. Equal lists have equal hashes; others rarely share one.
fn hash_tools(tools: &[Tool]) -> u64 {
    let each =
        |tool: &Tool| hash_value(&(&tool.name, &tool.description, &tool.schema, tool.strict));
    hash_value(&tools.iter().map(each).collect::<Vec<u64>>())
}

/// A hash of an item. Equal items have equal hashes; others rarely share one.
fn hash_item(item: &Item) -> u64 {
    let mut hasher = DefaultHasher::new();
    match item {
        Item::User(text) => (0, text).hash(&mut hasher),
        Item::Turn { role, text } => (1, role, text).hash(&mut hasher),
        Item::Result(result) => (2, &result.id, &result.name, &result.value).hash(&mut hasher),
        Item::Reference(id) => (3, id).hash(&mut hasher),
        Item::Answer(parts) => {
            4.hash(&mut hasher);
            for part in parts {
                match part {
                    Part::Text(text) | Part::Refusal(text) => text.hash(&mut hasher),
                    Part::Call(call) => (&call.id, &call.name, &call.args).hash(&mut hasher),
                    Part::Result(result) => (&result.id, &result.value).hash(&mut hasher),
                    Part::Opaque(opaque) => (&opaque.protocol, &opaque.value).hash(&mut hasher),
                }
            }
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::protocol;

    /// A session of so many model calls, each of which makes a tool call: the requests, as they are kept.
    fn kept(calls: usize) -> Vec<StoredRequest> {
        let mut pool = Pool::default();
        let tools = json!([{ "type": "function", "function": { "name": "find", "description": "Finds.", "parameters": {} } }]);
        let mut messages = vec![
            json!({ "role": "system", "content": "Help." }),
            json!({ "role": "user", "content": "Find all." }),
        ];
        let mut questions = Vec::new();
        for call in 0..calls {
            let request =
                json!({ "model": "m", "messages": messages, "tools": tools, "temperature": 0.5 });
            let (protocol, route) = protocol::at("/v1/chat/completions").unwrap();
            questions.push(pool.share(protocol.parse_request(&route, &request)));
            let id = format!("call {call}");
            messages.push(json!({ "role": "assistant", "content": null, "tool_calls": [
                { "id": id, "type": "function", "function": { "name": "find", "arguments": "{}" } }] }));
            messages.push(
                json!({ "role": "tool", "tool_call_id": id, "content": format!("{call} found") }),
            );
        }
        questions
    }

    #[test]
    fn a_session_holds_each_thing_once_however_often_it_is_sent() {
        for calls in [1, 10, 200] {
            let questions = kept(calls);
            let items = questions.iter().flat_map(|question| question.items.iter());
            let items: BTreeSet<_> = items.map(Arc::as_ptr).collect();
            // The prompt, and an answer with its result for each call before the last one.
            assert_eq!(items.len(), 1 + 2 * (calls - 1));
            let sent: usize = questions.iter().map(|question| question.items.len()).sum();
            assert_eq!(sent, calls * calls);
            let tools: BTreeSet<_> = questions.iter().map(|it| Arc::as_ptr(&it.tools)).collect();
            let parameters: BTreeSet<_> = questions
                .iter()
                .map(|it| Arc::as_ptr(&it.parameters))
                .collect();
            let systems = questions.iter().filter_map(|it| it.system.as_ref());
            let systems: BTreeSet<_> = systems.map(Arc::as_ptr).collect();
            assert_eq!((tools.len(), parameters.len(), systems.len()), (1, 1, 1));
        }
    }

    #[test]
    fn calls_and_results_without_identifiers_are_found_at_once() {
        let (protocol, route) = protocol::at("/v1beta/models/m:generateContent").unwrap();
        let contents = (0..400).map(|number| {
            let call = json!({ "functionCall": { "name": "find", "args": { "n": number } } });
            let answer =
                json!({ "functionResponse": { "name": "find", "response": { "found": number } } });
            [
                json!({ "role": "model", "parts": [call] }),
                json!({ "role": "user", "parts": [answer] }),
            ]
        });
        let contents: Vec<_> = contents.flatten().collect();
        let mut pool = Pool::default();
        let question = pool.share(protocol.parse_request(&route, &json!({ "contents": contents })));
        assert_eq!(question.items.len(), 800);
        // An item is compared with those of its sign.
        assert!(pool.items.values().all(|alike| alike.len() < 4));
    }

    #[test]
    fn what_is_shared_is_what_was_asked() {
        let questions = kept(3);
        let last = &questions[2];
        assert_eq!(
            (last.opening(), last.answer_count()),
            (Some("Find all."), 2)
        );
        assert_eq!(last.system.as_deref(), Some("Help."));
        assert_eq!(last.tools[0].name, "find");
        assert_eq!(last.parameters["temperature"], 0.5);
        let Item::Result(result) = &*last.items[4] else {
            panic!("{:?}", last.items);
        };
        assert_eq!(result.value, "1 found");
    }
}
