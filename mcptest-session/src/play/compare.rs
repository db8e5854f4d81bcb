//! What a request says otherwise than the recorded one.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value, json};

use super::divergence::{Divergence, Kind};
use super::options::PlayOptions;
use super::recording::{Answer, Conversation, Recording, Role, ToolName, tool_name};
use super::texts::{forms, same, same_text};
use crate::exchange::{Asked, Item, Part, Tool, ToolResult};

/// Parameters that change no answer.
const NO_ANSWERS: [&str; 10] = [
    "client_metadata",
    "include",
    "metadata",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "store",
    "stream_options",
    "user",
];

/// A request beside the recorded one.
pub(super) struct Comparison<'r> {
    pub(super) recording: &'r Recording,
    pub(super) options: &'r PlayOptions,
    /// The place of the conversation and of the answer.
    pub(super) conversation: usize,
    pub(super) answer: usize,
    /// The request holds only what is new since the answer before.
    pub(super) is_new: bool,
    pub(super) protocol: &'static str,
    pub(super) asked: &'r Asked,
}

impl Comparison<'_> {
    /// All differences, by kind.
    pub(super) fn differences(&self) -> Vec<Divergence> {
        let mut found = Vec::new();
        self.system(&mut found);
        self.tools(&mut found);
        self.user_turns(&mut found);
        self.results(&mut found);
        self.model(&mut found);
        self.parameters(&mut found);
        found.retain(|it| !self.options.ignore.contains(&it.kind));
        found
    }

    fn own(&self) -> &Conversation {
        &self.recording.conversations[self.conversation]
    }

    fn recorded(&self) -> &Answer {
        &self.own().moves[self.answer]
    }

    fn is_main(&self) -> bool {
        self.own().role == Role::Main
    }

    /// The recording was made with the same wire format.
    fn same_format(&self) -> bool {
        self.recorded().protocol.as_deref() == Some(self.protocol)
    }

    fn covered(&self, kind: Kind, item: &str) -> bool {
        let mut paths = self.options.ignore_paths.iter();
        paths.any(|path| path.covers(kind, item))
    }

    fn found(&self, kind: Kind, path: String, message: String) -> Divergence {
        Divergence {
            path,
            ..Divergence::of(self.own(), self.answer, kind, message)
        }
    }

    fn system(&self, found: &mut Vec<Divergence>) {
        let Some(recorded) = &self.recorded().system else {
            return;
        };
        let (recorded, played) = (recorded.as_deref(), self.asked.system.as_deref());
        let is_same = match (recorded, played) {
            (Some(recorded), Some(played)) => same_text(recorded, played, &self.options.masks),
            (None, None) => true,
            _ => false,
        };
        if !is_same {
            let message = match (recorded, played) {
                (None, _) => "a system prompt, where there was none",
                (_, None) => "no system prompt, where there was one",
                _ => "the system prompt differs",
            };
            let path = "system_prompt".to_owned();
            found.push(Divergence {
                recorded: recorded.map(Value::from),
                played: played.map(Value::from),
                place: self.is_main().then(|| path.clone()),
                ..self.found(Kind::SystemPrompt, path, message.to_owned())
            });
        }
    }

    fn tools(&self, found: &mut Vec<Divergence>) {
        let Some(recorded) = &self.recorded().tools else {
            return;
        };
        let servers = &self.recording.servers;
        let live: Vec<(ToolName, &Tool)> = self
            .asked
            .tools
            .iter()
            .map(|tool| (tool_name(&tool.name, servers), tool))
            .collect();
        // A server that one of the two does not name is no difference.
        let fits = |one: &ToolName, other: &ToolName| {
            one.1 == other.1 && (one.0 == other.0 || one.0.is_none() || other.0.is_none())
        };
        let mut push = |name: &str, path: String, values: [Option<Value>; 2], message: String| {
            if !self.covered(Kind::Tools, name) {
                let [recorded, played] = values;
                found.push(Divergence {
                    recorded,
                    played,
                    ..self.found(Kind::Tools, path, message)
                });
            }
        };
        for name in recorded {
            if !live.iter().any(|(own, _)| fits(own, name)) {
                let name = &name.1;
                push(
                    name,
                    format!("tools[{name}]"),
                    [Some(name.as_str().into()), None],
                    format!("the tool `{name}` is no longer offered"),
                );
            }
        }
        let mut seen = BTreeSet::new();
        for (own, tool) in &live {
            let name = &own.1;
            if !seen.insert(own) {
                continue;
            }
            if !recorded.iter().any(|it| fits(it, own)) {
                push(
                    name,
                    format!("tools[{name}]"),
                    [None, Some(name.as_str().into())],
                    format!("the tool `{name}` was not offered"),
                );
                continue;
            }
            let known = self.own().tools.iter().flatten();
            let known = known
                .clone()
                .find(|it| fits(&(it.server.clone(), it.tool.name.clone()), own));
            let Some(known) = known.map(|it| &it.tool) else {
                continue;
            };
            for (key, old, new) in self.of_tool(name, known, tool) {
                push(
                    name,
                    format!("tools[{name}].{key}"),
                    [old, new],
                    match key {
                        "description" => format!("the description of the tool `{name}` differs"),
                        _ => format!("the arguments of the tool `{name}` differ"),
                    },
                );
            }
        }
    }

    /// What differs of a tool that is offered as before.
    fn of_tool(
        &self,
        name: &str,
        old: &Tool,
        new: &Tool,
    ) -> Vec<(&'static str, Option<Value>, Option<Value>)> {
        let parts = |tool: &Tool| {
            let mut parts = json!({});
            if let Some(description) = &tool.description {
                parts["description"] = description.as_str().into();
            }
            // Libraries write a schema otherwise for another format.
            if let (Some(schema), true) = (&tool.schema, self.same_format()) {
                parts["input_schema"] = schema.clone();
            }
            self.without_ignored(Kind::Tools, name, &parts)
        };
        let (old, new) = (parts(old), parts(new));
        let differs = |key: &&str| match (old.get(*key), new.get(*key)) {
            (Some(old), Some(new)) => !same(old, new, &self.options.masks),
            (None, None) => false,
            // Only a session writes down that a tool was without.
            (None, Some(_)) => self.recorded().protocol.is_some(),
            (Some(_), None) => true,
        };
        let keys = ["description", "input_schema"].into_iter().filter(differs);
        keys.map(|key| (key, old.get(key).cloned(), new.get(key).cloned()))
            .collect()
    }

    fn without_ignored(&self, kind: Kind, item: &str, value: &Value) -> Value {
        let mut value = value.clone();
        for path in &self.options.ignore_paths {
            path.remove(kind, item, &mut value);
        }
        value
    }

    fn user_turns(&self, found: &mut Vec<Divergence>) {
        let moves = &self.own().moves;
        let till = &moves[..=self.answer];
        // What was said before a past was changed is not known, nor what is said to a sub-agent later.
        if till.iter().any(|one| one.past.is_some()) || !self.is_main() && self.answer > 0 {
            return;
        }
        let from = if self.is_new { self.answer } else { 0 };
        let recorded: Vec<&(String, String)> =
            till[from..].iter().flat_map(|one| &one.heard).collect();
        let before = moves[..from]
            .iter()
            .map(|one| one.heard.len())
            .sum::<usize>();
        let played: Vec<(&str, &str)> = self
            .asked
            .items
            .iter()
            .filter_map(|item| match item {
                Item::User(text) => Some(("user", text.as_str())),
                Item::Turn { role, text } => Some((role.as_str(), text.as_str())),
                _ => None,
            })
            .collect();
        for index in 0..recorded.len().max(played.len()) {
            let item = (before + index).to_string();
            let (old, new) = (recorded.get(index), played.get(index));
            let is_same = match (old, new) {
                (Some((role, old)), Some((speaker, new))) => {
                    role == speaker && same_text(old, new, &self.options.masks)
                }
                _ => false,
            };
            if is_same || self.covered(Kind::UserTurns, &item) {
                continue;
            }
            let number = before + index + 1;
            let message = match (old, new) {
                (None, _) => format!("turn {number} of the user was not recorded"),
                (_, None) => format!("turn {number} of the user is missing"),
                _ => format!("turn {number} of the user differs"),
            };
            found.push(Divergence {
                recorded: old.map(|(_, text)| text.as_str().into()),
                played: new.map(|(_, text)| (*text).into()),
                place: (self.is_main() && number == 1).then(|| "user_prompt".to_owned()),
                ..self.found(Kind::UserTurns, format!("user_turns[{item}]"), message)
            });
        }
    }

    fn results(&self, found: &mut Vec<Divergence>) {
        let moves = &self.own().moves;
        let mut told = HashSet::new();
        for item in &self.asked.items {
            let Item::Result(result) = item else { continue };
            if let Some(call) = self.call_of(result, &told) {
                told.insert(call);
                self.result(call, result, found);
                continue;
            }
            let name = result.name.as_deref().or(result.id.as_deref());
            let name = name.unwrap_or_default();
            let message = format!("a result of a call that the model did not make: `{name}`");
            found.push(Divergence {
                played: Some(result.value.clone()),
                ..self.found(Kind::ToolResults, format!("tool_results[{name}]"), message)
            });
        }
        let changed = moves[..=self.answer].iter().any(|one| one.past.is_some());
        let from = if self.is_new {
            self.answer.saturating_sub(1)
        } else {
            0
        };
        for one in moves[from..self.answer].iter().filter(|_| !changed) {
            for index in waiting(one) {
                let recorded = self.recording.calls.get(index);
                let Some(recorded) =
                    recorded.filter(|call| call.result.is_some() && !told.contains(&index))
                else {
                    continue;
                };
                found.push(Divergence {
                    recorded: recorded.result.clone(),
                    place: Some(format!("trace.tool_calls[{index}]")),
                    ..self.found(
                        Kind::ToolResults,
                        format!("tool_results[{index}]"),
                        format!("the result of `{}` is not told to the model", recorded.name),
                    )
                });
            }
        }
    }

    /// The call of a result: by its identifier, else the first of its name in the answer before that waits.
    fn call_of(&self, result: &ToolResult, told: &HashSet<usize>) -> Option<usize> {
        if let Some(id) = &result.id {
            let known = self.recording.call_ids.get(id).copied();
            let own = |call: &usize| self.own().moves.iter().any(|one| one.calls.contains(call));
            if let Some(call) = known.filter(own) {
                return Some(call);
            }
        }
        let name = result.name.as_deref()?;
        let (_, name) = tool_name(name, &self.recording.servers);
        let before = self.own().moves[..self.answer].iter();
        let mut calls = before.flat_map(waiting);
        calls.find(|call| !told.contains(call) && self.recording.calls[*call].name == name)
    }

    fn result(&self, call: usize, played: &ToolResult, found: &mut Vec<Divergence>) {
        let recorded = &self.recording.calls[call];
        let item = call.to_string();
        let Some(old) = recorded
            .result
            .as_ref()
            .filter(|_| !self.covered(Kind::ToolResults, &item))
        else {
            return;
        };
        let without = |forms: Vec<Value>| -> Vec<Value> {
            let forms = forms.into_iter();
            forms
                .map(|form| self.without_ignored(Kind::ToolResults, &item, &form))
                .collect()
        };
        let is_gemini = |name: Option<&str>| name == Some("gemini");
        let wrapped =
            is_gemini(Some(self.protocol)) || is_gemini(self.recorded().protocol.as_deref());
        let (old, new) = (
            without(forms(old, wrapped)),
            without(forms(&played.value, wrapped)),
        );
        let is_same = old
            .iter()
            .any(|old| new.iter().any(|new| same(old, new, &self.options.masks)));
        let name = &recorded.name;
        let path = format!("tool_results[{call}]");
        let place = Some(format!("trace.tool_calls[{call}]"));
        if !is_same {
            found.push(Divergence {
                recorded: old.into_iter().next(),
                played: new.into_iter().next(),
                place,
                ..self.found(
                    Kind::ToolResults,
                    path,
                    format!("the result of `{name}` differs"),
                )
            });
        } else if let (Some(old), Some(new)) = (recorded.is_error, played.is_error)
            && old != new
        {
            let message = if new {
                format!("the result of `{name}` is an error now")
            } else {
                format!("the result of `{name}` is no error any more")
            };
            found.push(Divergence {
                recorded: Some(old.into()),
                played: Some(new.into()),
                place,
                ..self.found(Kind::ToolResults, format!("{path}.is_error"), message)
            });
        }
    }

    fn model(&self, found: &mut Vec<Divergence>) {
        let (recorded, played) = (&self.recorded().asked_model, &self.asked.model);
        if let Some(recorded) = recorded
            && played.as_ref() != Some(recorded)
        {
            found.push(Divergence {
                recorded: Some(recorded.as_str().into()),
                played: played.as_deref().map(Value::from),
                ..self.found(
                    Kind::Model,
                    "model".to_owned(),
                    "another model is asked".to_owned(),
                )
            });
        }
    }

    fn parameters(&self, found: &mut Vec<Divergence>) {
        let recorded = self
            .recorded()
            .parameters
            .as_ref()
            .filter(|_| self.same_format());
        let Some(recorded) = recorded else { return };
        let played = &self.asked.parameters;
        let keys: BTreeSet<&String> = recorded.keys().chain(played.keys()).collect();
        for key in keys {
            if NO_ANSWERS.contains(&key.as_str()) || self.covered(Kind::Parameters, key) {
                continue;
            }
            let of = |all: &Map<String, Value>| {
                let value = all.get(key)?;
                Some(self.without_ignored(Kind::Parameters, key, value))
            };
            let (old, new) = (of(recorded), of(played));
            let is_same = match (&old, &new) {
                (Some(old), Some(new)) => same(old, new, &self.options.masks),
                _ => false,
            };
            if !is_same {
                let message = match (&old, &new) {
                    (None, _) => format!("the parameter `{key}` is new"),
                    (_, None) => format!("the parameter `{key}` is gone"),
                    _ => format!("the parameter `{key}` differs"),
                };
                let path = format!("parameters.{key}");
                found.push(Divergence {
                    recorded: old,
                    played: new,
                    ..self.found(Kind::Parameters, path, message)
                });
            }
        }
    }
}

/// The calls of an answer that wait for a result of the agent's code.
fn waiting(answer: &Answer) -> impl Iterator<Item = usize> {
    let calls = answer.said.parts.iter().filter_map(|part| match part {
        Part::Call(call) => Some(call),
        _ => None,
    });
    let own = answer.calls.iter().zip(calls);
    own.filter(|(_, call)| call.native.is_none())
        .map(|(index, _)| *index)
}
