//! The tools that a request offers, beside those that were offered.

use std::collections::{BTreeSet, HashMap};

use mcptest_trace::eval::{Divergence, DivergenceKind};
use serde_json::{Value, json};

use super::Comparison;
use crate::exchange::Tool;
use crate::play::matching::values_match;
use crate::play::offered_tools::{OfferedTool, ToolName};

impl Comparison<'_> {
    pub(super) fn compare_tools(&self, found: &mut Vec<Divergence>) {
        let Some(recorded) = &self.recorded().tools else {
            return;
        };
        let live: Vec<(ToolName, &Tool)> = self
            .asked
            .tools
            .iter()
            .map(|tool| (self.recording.tool_name(&tool.name), tool))
            .collect();
        let fits = |one: &ToolName, other: &ToolName| {
            one.1 == other.1 && same_server(one.0.as_ref(), other.0.as_ref())
        };
        let mut push = |name: &str, path: String, values: [Option<Value>; 2], message: String| {
            if !self.is_ignored(DivergenceKind::Tools, name) {
                let [recorded, played] = values;
                found.push(
                    self.divergence(DivergenceKind::Tools, path, message)
                        .with_values(recorded, played),
                );
            }
        };
        let offered = by_name(live.iter().map(|(own, _)| own));
        let of_name = |all: &HashMap<&str, Vec<&ToolName>>, name: &ToolName| {
            let same = all.get(name.1.as_str());
            same.is_some_and(|same| same.iter().any(|one| fits(one, name)))
        };
        for name in recorded {
            if !of_name(&offered, name) {
                let name = &name.1;
                push(
                    name,
                    format!("tools[{name}]"),
                    [None, None],
                    format!("the tool `{name}` is no longer offered"),
                );
            }
        }
        let recorded = by_name(recorded);
        let mut known: HashMap<&str, Vec<&OfferedTool>> = HashMap::new();
        for one in self.own().tools.iter().flatten() {
            known.entry(&one.tool.name).or_default().push(one);
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
            if !of_name(&recorded, own) {
                push(
                    name,
                    format!("tools[{name}]"),
                    [None, None],
                    format!("the tool `{name}` is new"),
                );
                continue;
            }
            let mut same = known.get(name.as_str()).into_iter().flatten();
            let same = same.find(|it| same_server(it.server.as_ref(), own.0.as_ref()));
            let Some(known) = same.map(|it| &it.tool) else {
                continue;
            };
            for (key, old, new) in self.tool_changes(own, known, tool) {
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
    fn tool_changes(
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
            (Some(old), Some(new)) => !values_match(old, new, &self.options.masks),
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

/// Whether two servers may be the same. A server that one of the two does not name is no difference.
fn same_server(one: Option<&String>, other: Option<&String>) -> bool {
    one == other || one.is_none() || other.is_none()
}

fn by_name<'t>(
    tools: impl IntoIterator<Item = &'t ToolName>,
) -> HashMap<&'t str, Vec<&'t ToolName>> {
    let mut by_name: HashMap<&str, Vec<&ToolName>> = HashMap::new();
    for tool in tools {
        by_name.entry(&tool.1).or_default().push(tool);
    }
    by_name
}
