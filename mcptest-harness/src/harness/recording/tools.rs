//! The tools that runs were offered, as their recordings say it.

use serde_json::Value;

use super::TOOLS;
use crate::record::{LiveError, tool_line};
use crate::render::Diff;

/// Two runs of one recording were offered other tools.
pub(super) fn tools_change(one: &Value, other: &Value) -> LiveError {
    let tools = Tools::from_run(one).zip(Tools::from_run(other));
    let changed = tools
        .as_ref()
        .and_then(|(one, other)| one.first_change(other));
    let which = changed.map_or_else(|| "a tool".to_owned(), |tool| format!("the tool `{tool}`"));
    let error = LiveError::new(format!(
        "{which} is different after every start of its server, so the runs are of different agents"
    ))
    .help(
        "remove what changes (a time stamp, a counter) from the tool's description and schema; \
         the text after `#` is the fingerprint of both",
    );
    match tools.and_then(|(one, other)| one.diff(&other, ["one run", "the next run"])) {
        Some(diff) => error.show(diff),
        None => error,
    }
}

/// A tool in a line, as recordings before sessions had it, or made of what a session recorded.
fn line_of(tool: &Value) -> Option<String> {
    let line = tool.as_str().or(tool["line"].as_str());
    let made = || {
        let text = |key: &str| tool[key].as_str().unwrap_or_default();
        let name = tool["name"].as_str()?;
        let schema = &tool["input_schema"];
        Some(tool_line(text("server"), name, text("description"), schema))
    };
    line.map(str::to_owned).or_else(made)
}

/// What a recorded run says of the tools that were offered.
pub(super) struct Tools {
    pub(super) fingerprint: String,
    /// One line for each tool; recordings of other programs have only the fingerprint.
    lines: Option<Vec<String>>,
}

impl Tools {
    pub(super) fn from_run(run: &Value) -> Option<Self> {
        let lines = run["tools"].as_array().map(|tools| {
            let mut lines: Vec<String> = tools.iter().filter_map(line_of).collect();
            lines.sort();
            lines
        });
        Some(Self {
            fingerprint: run[TOOLS].as_str()?.to_owned(),
            lines,
        })
    }

    /// How the lines differ, where both have them.
    pub(super) fn diff(&self, after: &Self, [old_name, new_name]: [&str; 2]) -> Option<String> {
        let text = |tools: &Self| Some(tools.lines.as_ref()?.join("\n") + "\n");
        let diff = Diff {
            old_name: old_name.to_owned(),
            new_name: new_name.to_owned(),
            old: text(self)?,
            new: text(after)?,
        };
        Some(diff.render(mcptest_suite::Style::Plain))
    }

    /// The first tool that is not the same in both, as `server::name`.
    fn first_change(&self, other: &Self) -> Option<String> {
        let (one, other) = (self.lines.as_ref()?, other.lines.as_ref()?);
        let missing =
            |from: &[String], to: &[String]| from.iter().find(|line| !to.contains(line)).cloned();
        let line = missing(one, other).or_else(|| missing(other, one))?;
        Some(line.split('(').next().unwrap_or(&line).to_owned())
    }
}
