//! The tools that a request offers, beside those that were offered.

use std::collections::BTreeSet;

use mcptest_trace::eval::{Divergence, DivergenceKind};
use serde_json::{Value, json};

use super::Comparison;
use crate::exchange::Tool;
use crate::play::offered::ToolName;
use crate::play::texts::same;

impl Comparison<'_> {
    pub(super) fn tools(&self, found: &mut Vec<Divergence>) {
        let Some(recorded) = &self.recorded().tools else {
            return;
        };
        let live: Vec<(ToolName, &Tool)> = self
            .asked
            .tools
            .iter()
            .map(|tool| (self.recording.tool_name(&tool.name), tool))
            .collect();
        // A server that one of the two does not name is no difference.
        let fits = |one: &ToolName, other: &ToolName| {
            one.1 == other.1 && (one.0 == other.0 || one.0.is_none() || other.0.is_none())
        };
        let mut push = |name: &str, path: String, values: [Option<Value>; 2], message: String| {
            if !self.covered(DivergenceKind::Tools, name) {
                let [recorded, played] = values;
                found.push(
                    self.found(DivergenceKind::Tools, path, message)
                        .with_values(recorded, played),
                );
            }
        };
        for name in recorded {
            if !live.iter().any(|(own, _)| fits(own, name)) {
                let name = &name.1;
                push(
                    name,
                    format!("tools[{name}]"),
                    [None, None],
                    format!("the tool `{name}` is no longer offered"),
                );
            }
        }
        let mut seen = BTreeSet::new();
        for (own, tool) in &live {
            let name = &own.1;
            if !seen.insert(own) {
                push(
                    name,
                    format!("tools[{name}]"),
                    [None, None],
                    format!("the tool `{name}` is offered twice"),
                );
                continue;
            }
            if !recorded.iter().any(|it| fits(it, own)) {
                push(
                    name,
                    format!("tools[{name}]"),
                    [None, None],
                    format!("the tool `{name}` is new"),
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
            for (key, old, new) in self.of_tool(own, known, tool) {
                push(
                    name,
                    format!("tools[{name}].{key}"),
                    [old, new],
                    match key {
                        "strict" => format!("`strict` of the tool `{name}` differs"),
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
        own: &ToolName,
        old: &Tool,
        new: &Tool,
    ) -> Vec<(&'static str, Option<Value>, Option<Value>)> {
        let strict = self.own().strict.as_ref();
        let parts = |tool: &Tool, is_strict: Option<bool>| {
            let mut parts = json!({});
            if let Some(description) = &tool.description {
                parts["description"] = description.as_str().into();
            }
            // Libraries write a schema otherwise for another format.
            if let (Some(schema), true) = (&tool.schema, self.same_format()) {
                parts["input_schema"] = schema.clone();
            }
            // What a format does without being told differs from one to the other.
            if let (Some(is_strict), true) = (is_strict, self.same_format()) {
                parts["strict"] = is_strict.into();
            }
            self.without_ignored(DivergenceKind::Tools, &own.1, &parts)
        };
        let was_strict = strict.and_then(|strict| strict.get(own).copied());
        let is_strict = new.strict.filter(|_| strict.is_some());
        let (old, new) = (parts(old, was_strict), parts(new, is_strict));
        let differs = |key: &&str| match (old.get(*key), new.get(*key)) {
            (Some(old), Some(new)) => !same(old, new, &self.options.masks),
            (None, None) => false,
            // Only a session writes down that a tool was without.
            (None, Some(_)) => self.recorded().protocol.is_some(),
            (Some(_), None) => true,
        };
        let keys = ["description", "input_schema", "strict"]
            .into_iter()
            .filter(differs);
        keys.map(|key| (key, old.get(key).cloned(), new.get(key).cloned()))
            .collect()
    }
}
