//! The tools that runs were offered, as text to accept.

use std::collections::BTreeSet;

use mcptest_trace::text::escape_stored_line;
use serde_json::{Value, json};

use crate::trace::{OfferedTool, Run, pretty_json};
use mcptest_trace::text::run_numbers;

/// The keys of a tool that its first line has.
const IN_FIRST_LINE: [&str; 3] = ["name", "server", "line"];

/// The tools of all runs.
pub(super) struct OfferedTools {
    /// Each list that some runs were offered, in the order of the first of these runs.
    lists: Vec<(Vec<usize>, String)>,
    /// Runs whose recording lists none, by their places.
    pub(super) unlisted: Vec<usize>,
    /// Tools of which nothing but the name is recorded, in all runs together.
    names_alone: BTreeSet<String>,
}

impl OfferedTools {
    pub(super) fn from_runs(runs: &[Run]) -> Self {
        let mut all = Self {
            lists: Vec::new(),
            unlisted: Vec::new(),
            names_alone: BTreeSet::new(),
        };
        for (place, run) in runs.iter().enumerate() {
            let Some(tools) = listed_tools(run) else {
                all.unlisted.push(place);
                continue;
            };
            let mut texts: Vec<String> = tools.iter().map(|tool| all.tool_text(tool)).collect();
            // Servers list their tools in any order.
            texts.sort();
            let text = match texts.as_slice() {
                [] => "no tools\n".to_owned(),
                texts => texts.join("\n"),
            };
            match all.lists.iter_mut().find(|(_, known)| *known == text) {
                Some((runs, _)) => runs.push(place),
                None => all.lists.push((vec![place], text)),
            }
        }
        all
    }

    /// The text to accept: one list, or each with its runs.
    pub(super) fn text(&self) -> String {
        match self.lists.as_slice() {
            [(_, one)] => one.clone(),
            several => {
                let several = several.iter();
                let parts = several.map(|(runs, text)| {
                    format!("offered to {}:\n\n{text}", noun_with_numbers(runs))
                });
                parts.collect::<Vec<_>>().join("\n")
            }
        }
    }

    /// What must be known to trust the verdict.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.lists.len() > 1 {
            let lists = self.lists.iter().map(|(runs, _)| noun_with_numbers(runs));
            let lists = lists.collect::<Vec<_>>().join("; ");
            notes.push(format!("not all runs were offered the same tools: {lists}"));
        }
        if !self.names_alone.is_empty() {
            let names: Vec<&str> = self.names_alone.iter().map(String::as_str).collect();
            notes.push(format!(
                "only the name is recorded of {}, so the snapshot does not show a change of their descriptions",
                names.join(", ")
            ));
        }
        notes
    }

    /// A tool: its name or its line, and all else that is recorded of it.
    fn tool_text(&mut self, tool: &Value) -> String {
        let (head, known) = match tool {
            Value::String(line) => (line.clone(), line.contains(['(', '#'])),
            tool => {
                let text = |key: &str| tool[key].as_str().unwrap_or_default();
                let named = match text("server") {
                    "" => text("name").to_owned(),
                    server => format!("{server}::{}", text("name")),
                };
                let line = text("line");
                let says = ["description", "input_schema", "inputSchema", "annotations"];
                let says = says.iter().any(|key| !tool[*key].is_null());
                let head = if line.is_empty() {
                    named
                } else {
                    line.to_owned()
                };
                (head, says || line.contains(['(', '#']))
            }
        };
        let head = escape_stored_line(&head).into_owned();
        if !known {
            self.names_alone.insert(format!("`{head}`"));
        }
        let mut text = head + "\n";
        let mut rest: Vec<_> = tool.as_object().into_iter().flatten().collect();
        rest.retain(|(key, value)| !IN_FIRST_LINE.contains(&key.as_str()) && !value.is_null());
        rest.sort_unstable_by_key(|(key, _)| *key);
        for (key, value) in rest {
            let said = match value {
                Value::String(said) => said.clone(),
                value => pretty_json(value),
            };
            text += &format!("  {}:\n", escape_stored_line(key));
            for line in said.lines() {
                text += &format!("    {}\n", escape_stored_line(line));
            }
        }
        text
    }
}

/// The tools that a recording lists, with all that it says of them.
fn listed_tools(run: &Run) -> Option<Vec<Value>> {
    let tools = run.tools.as_ref()?;
    let recorded = run
        .cassette()
        .and_then(|mut cassette| match cassette["tools"].take() {
            Value::Array(tools) => Some(tools),
            _ => None,
        });
    // A run that was changed has no text of its own.
    let typed = || tools.iter().map(|tool: &OfferedTool| json!(tool)).collect();
    Some(recorded.unwrap_or_else(typed))
}

fn noun_with_numbers(runs: &[usize]) -> String {
    let runs_are = if runs.len() == 1 { "run" } else { "runs" };
    format!("{runs_are} {}", run_numbers(runs))
}
