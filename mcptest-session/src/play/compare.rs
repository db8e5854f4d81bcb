//! What a request says otherwise than the recorded one.

mod past;
mod results;
mod tools;
mod turns;
mod user_turns;

use std::collections::BTreeSet;

use mcptest_trace::eval::{Divergence, DivergenceKind};
use serde_json::{Map, Value};

use super::alignment::Alignment;
use super::conversation::{Answer, Conversation, Role};
use super::frames::for_display;
use super::matching::{texts_match, values_match};
use super::options::PlayOptions;
use super::recording::Recording;
use crate::exchange::ModelRequest;

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

/// Compares a request with the recorded one.
pub(super) struct Comparison<'r> {
    pub(super) recording: &'r Recording,
    pub(super) options: &'r PlayOptions,
    /// The place of the conversation and of the answer.
    pub(super) conversation: usize,
    pub(super) answer: usize,
    /// The message history of the request, aligned with the recorded one.
    pub(super) reading: Alignment,
    pub(super) protocol: &'static str,
    pub(super) asked: &'r ModelRequest,
}

impl Comparison<'_> {
    /// All differences between the request and the recorded one, kind by kind.
    pub(super) fn differences(&self) -> Vec<Divergence> {
        let mut found = Vec::new();
        self.compare_system(&mut found);
        self.compare_tools(&mut found);
        // A past that the agent had changed, and is the recorded one, has nothing to compare.
        if !self.reading.is_same {
            self.compare_user_turns(&mut found);
            self.compare_assistant_turns(&mut found);
            self.compare_results(&mut found);
            self.compare_past(&mut found);
        }
        self.compare_model(&mut found);
        self.compare_parameters(&mut found);
        found.retain(|it| !self.options.compared.ignore.contains(&it.kind));
        for one in &mut found {
            let values = [&mut one.recorded, &mut one.played];
            for value in values.into_iter().flatten() {
                *value = for_display(value);
            }
        }
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

    fn is_ignored(&self, kind: DivergenceKind, item: &str) -> bool {
        let mut paths = self.options.compared.ignore_paths.iter();
        paths.any(|path| path.covers(kind, item))
    }

    fn divergence(&self, kind: DivergenceKind, path: String, message: String) -> Divergence {
        self.own().divergence(self.answer, kind, path, message)
    }

    fn compare_system(&self, found: &mut Vec<Divergence>) {
        let Some(recorded) = &self.recorded().system else {
            return;
        };
        let (recorded, played) = (recorded.as_deref(), self.asked.system.as_deref());
        let is_same = match (recorded, played) {
            (Some(recorded), Some(played)) => texts_match(recorded, played, &self.options.masks),
            (None, None) => true,
            _ => false,
        };
        if !is_same {
            let message = match (recorded, played) {
                (None, _) => "the code sends a system prompt, and the recorded request has none",
                (_, None) => "the code sends no system prompt, and the recorded request has one",
                _ => "the system prompt differs",
            };
            let path = "system_prompt".to_owned();
            found.push(
                self.divergence(
                    DivergenceKind::SystemPrompt,
                    path.clone(),
                    message.to_owned(),
                )
                .with_values(recorded.map(Value::from), played.map(Value::from))
                .with_place(self.is_main().then_some(path)),
            );
        }
    }

    fn without_ignored(&self, kind: DivergenceKind, item: &str, value: &Value) -> Value {
        let mut value = value.clone();
        for path in &self.options.compared.ignore_paths {
            path.remove(kind, item, &mut value);
        }
        value
    }

    fn compare_model(&self, found: &mut Vec<Divergence>) {
        let (recorded, played) = (&self.recorded().asked_model, &self.asked.model);
        let is_same = |recorded: &String| played.as_ref() == Some(recorded);
        // Another source says the model that answered, whose name may have its release or its provider with it.
        let is_like = |recorded: &String| {
            let bare = |name: &str| name.rsplit('/').next().unwrap_or_default().to_owned();
            let (old, new) = (bare(recorded), bare(played.as_deref().unwrap_or_default()));
            !new.is_empty() && (old.starts_with(&new) || new.starts_with(&old))
        };
        let foreign = self.recording.foreign_model.as_ref();
        let other = match (recorded, foreign) {
            (Some(recorded), _) => Some(recorded).filter(|recorded| !is_same(recorded)),
            (None, foreign) => foreign.filter(|recorded| !is_like(recorded)),
        };
        if let Some(recorded) = other {
            found.push(
                self.divergence(
                    DivergenceKind::Model,
                    "model".to_owned(),
                    "the code asks another model".to_owned(),
                )
                .with_values(
                    Some(recorded.as_str().into()),
                    played.as_deref().map(Value::from),
                ),
            );
        }
    }

    fn compare_parameters(&self, found: &mut Vec<Divergence>) {
        let recorded = self
            .recorded()
            .parameters
            .as_ref()
            .filter(|_| self.same_format());
        let Some(recorded) = recorded else { return };
        let played = &self.asked.parameters;
        let keys: BTreeSet<&String> = recorded.keys().chain(played.keys()).collect();
        for key in keys {
            if NO_ANSWERS.contains(&key.as_str())
                || self.is_ignored(DivergenceKind::Parameters, key)
            {
                continue;
            }
            let of = |all: &Map<String, Value>| {
                let value = all.get(key)?;
                Some(self.without_ignored(DivergenceKind::Parameters, key, value))
            };
            let (old, new) = (of(recorded), of(played));
            let is_same = match (&old, &new) {
                (Some(old), Some(new)) => values_match(old, new, &self.options.masks),
                _ => false,
            };
            if !is_same {
                let message = match (&old, &new) {
                    (None, _) => format!("the parameter `{key}` is new"),
                    (_, None) => format!("the parameter `{key}` is gone"),
                    _ => format!("the parameter `{key}` differs"),
                };
                let path = format!("parameters.{key}");
                found.push(
                    self.divergence(DivergenceKind::Parameters, path, message)
                        .with_values(old, new),
                );
            }
        }
    }
}
