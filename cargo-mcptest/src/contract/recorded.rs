//! What recordings know of tools: which were offered, and which were called with what.

use std::collections::BTreeSet;

use mcptest::command::command_line;
use mcptest::judge::AgentTest;
use mcptest::trace::Run;
use serde_json::Value;

use super::form::ToolForm;
use crate::failure::Failure;
use crate::judging::{Filter, OpenPackage};
use mcptest_trace::text::pluralize;

/// The recordings that a server is held against.
#[derive(Debug, Default)]
pub(super) struct Recordings {
    pub(super) runs: Vec<RecordedRun>,
    /// How many agents they are of.
    pub(super) agents: usize,
    /// What is to be known of them, a line each.
    pub(super) notes: Vec<String>,
}

/// A run, as far as tools go.
#[derive(Debug, Default)]
pub(super) struct RecordedRun {
    /// Its file, with the line where it holds several.
    pub(super) file: String,
    /// The tools that were offered, where the recording lists them.
    pub(super) offered: Option<Vec<OfferedForm>>,
    pub(super) calls: Vec<RecordedCall>,
}

/// A tool that was offered.
#[derive(Debug, Clone)]
pub(super) struct OfferedForm {
    /// Empty where it was not recorded.
    pub(super) server: String,
    pub(super) tool: String,
    pub(super) form: ToolForm,
}

/// A call.
#[derive(Debug, Clone)]
pub(super) struct RecordedCall {
    /// Its place in the run's `tool_calls`.
    pub(super) index: usize,
    /// Empty where it was not recorded.
    pub(super) server: String,
    pub(super) tool: String,
    pub(super) args: Value,
    /// Whether the recording has its result, and that is an error.
    pub(super) failed: bool,
    /// Whether the recording has its result, and that is none.
    pub(super) worked: bool,
}

impl Recordings {
    /// The recordings of the agents that a filter wants.
    pub(super) fn read(opened: &OpenPackage, filter: &Filter) -> Result<Self, Failure> {
        let all = opened.suites.agents();
        let wanted = || all.iter().filter(|agent| filter.wants(agent.case()));
        if wanted().next().is_none() {
            return Err(if all.is_empty() {
                no_recordings("there is no agent test")
            } else {
                filter.no_match(all.iter().map(AgentTest::case))
            });
        }
        let mut recordings = Self::default();
        let (mut without, mut left_out) = (Vec::new(), 0);
        let mut seen = BTreeSet::new();
        for agent in wanted() {
            if agent.left_out().is_some() {
                left_out += 1;
                continue;
            }
            let Some(runs) = load_runs(opened, agent)? else {
                without.push(agent.case());
                continue;
            };
            recordings.agents += 1;
            // Agents may share a recording.
            let runs = runs
                .iter()
                .filter(|run| seen.insert(run.origin.to_string()));
            recordings.runs.extend(runs.map(RecordedRun::from_run));
        }
        if left_out > 0 {
            let agents = pluralize(left_out, "agent test");
            let note = format!("{agents} left out by `MCPTEST_TAGS`");
            recordings.notes.push(note);
        }
        if !without.is_empty() {
            let note = format!("no recordings: {}", without.join(", "));
            recordings.notes.push(note);
        }
        if recordings.runs.is_empty() {
            return Err(no_recordings("nothing is recorded"));
        }
        Ok(recordings)
    }
}

fn no_recordings(what: &str) -> Failure {
    Failure::new(format!(
        "{what}, so there is nothing to compare the server with"
    ))
    .with_help(format!(
        "record runs first: `{}`, `proxy` or `import`",
        command_line("record")
    ))
}

/// The runs of an agent, also where they are not what the suite says now; nothing where it has none.
fn load_runs(opened: &OpenPackage, agent: &AgentTest<'_>) -> Result<Option<Vec<Run>>, Failure> {
    if let Ok(runs) = agent.runs() {
        return Ok(Some(runs.to_vec()));
    }
    agent.runs_in(&opened.package.folder).map_err(|error| {
        let error = error.to_string();
        let error = error.trim_end();
        Failure::new(format!(
            "the recordings of {} cannot be used: {error}",
            agent.case()
        ))
        .with_help(format!(
            "correct or remove them; `{}` lists all problems at once",
            command_line("validate")
        ))
    })
}

impl RecordedRun {
    fn from_run(run: &Run) -> Self {
        let tells_errors = run.trace.errors_unknown() == 0;
        let calls = run.trace.tool_calls.iter().enumerate();
        let calls = calls.map(|(index, call)| {
            let (server, tool) = split_client_name(&call.server, &call.name);
            RecordedCall {
                index,
                server,
                tool,
                args: call.args.clone().into_value(),
                failed: run.result_of(index).is_some_and(|result| result.is_error),
                worked: tells_errors && run.result_of(index).is_some_and(|result| !result.is_error),
            }
        });
        Self {
            file: run.origin.to_string(),
            offered: run.cassette().as_ref().and_then(offered_forms),
            calls: calls.collect(),
        }
    }
}

/// The tools that a recording lists, with all that it says of them.
fn offered_forms(cassette: &Value) -> Option<Vec<OfferedForm>> {
    let tools = cassette["tools"].as_array()?;
    let offered = tools.iter().filter_map(|tool| {
        let (server, tool, form) = ToolForm::read(tool)?;
        let (server, tool) = split_client_name(&server, &tool);
        Some(OfferedForm { server, tool, form })
    });
    Some(offered.collect())
}

/// The server and the tool. Where no server was recorded, clients' names may have it: `mcp__desk__refund`.
fn split_client_name(server: &str, name: &str) -> (String, String) {
    let parts = name.strip_prefix("mcp__").filter(|_| server.is_empty());
    let parts = parts.and_then(|rest| rest.split_once("__"));
    let parts = parts.filter(|(server, tool)| !server.is_empty() && !tool.is_empty());
    let (server, name) = parts.unwrap_or((server, name));
    (server.to_owned(), name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_of_a_clients_name_is_read_where_none_was_recorded() {
        let read = |server, name| split_client_name(server, name);
        let both = |server: &str, tool: &str| (server.to_owned(), tool.to_owned());
        assert_eq!(read("", "mcp__desk__refund"), both("desk", "refund"));
        assert_eq!(read("", "mcp__desk__re__fund"), both("desk", "re__fund"));
        assert_eq!(
            read("shop", "mcp__desk__refund"),
            both("shop", "mcp__desk__refund")
        );
        assert_eq!(read("", "desk__refund"), both("", "desk__refund"));
        assert_eq!(read("", "mcp____refund"), both("", "mcp____refund"));
    }
}
