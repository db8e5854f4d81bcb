//! Which runs to record where nothing can be told with those that there are.

use std::collections::BTreeMap;
use std::fmt;

use mcptest::command::command_line;
use mcptest_suite::escape_line;
use mcptest_trace::evidence::compare::{RecordCommands, Undecided};
use mcptest_trace::text::pluralize;

/// So many agents are named.
const NAMED: usize = 2;

/// How an agent is recorded.
#[derive(Debug, Clone)]
pub(super) struct RecordedAgent {
    /// The file of its suite, as it is shown.
    pub(super) suite: String,
    /// What the cases of the suite begin with.
    pub(super) suite_name: String,
    /// The agent's own case.
    pub(super) case: String,
    /// Its runs before and now.
    pub(super) runs: [usize; 2],
}

impl RecordedAgent {
    /// What records missing runs of the agent, and of all agents of its suite.
    pub(super) fn commands(&self) -> RecordCommands {
        let suite = format!("{}::", self.suite_name);
        RecordCommands::new(record_command(&self.case), record_command(&suite))
    }
}

/// What records the missing runs of the agents that a filter finds.
fn record_command(filter: &str) -> String {
    let filter = escape_line(filter).replace('`', "ʼ");
    command_line(&format!("record {filter}"))
}

/// Runs that would decide on agents of one suite, and how they are recorded.
#[derive(Debug, Clone)]
pub(super) struct MissingRuns {
    recorded: RecordedAgent,
    needed: u64,
    more: [u64; 2],
    certain: bool,
    /// Whether fewer of their runs pass now.
    fell: bool,
    /// Their stems, and their cases.
    agents: Vec<String>,
    cases: Vec<String>,
}

impl MissingRuns {
    /// The stems of the agents.
    pub(super) fn agents(&self) -> &[String] {
        &self.agents
    }
}

/// What would decide on those of which nothing can be told, agents of one suite that need the same together.
pub(super) fn missing_runs(
    undecided: &[Undecided],
    recorded: &BTreeMap<String, RecordedAgent>,
) -> Vec<MissingRuns> {
    let mut found: BTreeMap<_, MissingRuns> = BTreeMap::new();
    for agent in undecided {
        let Some(how) = recorded.get(&agent.agent) else {
            continue;
        };
        let key = (&how.suite, agent.needed, agent.more, how.runs, agent.fell);
        let entry = found.entry(key).or_insert_with(|| MissingRuns {
            recorded: how.clone(),
            needed: agent.needed,
            more: agent.more,
            certain: true,
            fell: agent.fell,
            agents: Vec::new(),
            cases: Vec::new(),
        });
        entry.certain &= agent.certain;
        entry.agents.push(agent.agent.clone());
        entry.cases.push(how.case.clone());
    }
    found.into_values().collect()
}

impl fmt::Display for MissingRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            recorded,
            needed,
            more: [before, now],
            ..
        } = self;
        let first = self.cases.iter().take(NAMED);
        let mut names: Vec<String> = first.map(|case| inline_code(case)).collect();
        if self.cases.len() > NAMED {
            names.push(format!("{} more", self.cases.len() - NAMED));
        }
        let about = if self.certain { "" } else { "about " };
        let what = if self.fell {
            "would show whether it got worse"
        } else {
            "would show a fall to no passed run"
        };
        write!(
            f,
            "{}: {about}{} on each side {what}",
            names.join(", "),
            pluralize(usize::try_from(*needed).unwrap_or(usize::MAX), "run")
        )?;
        let filter = match &self.cases[..] {
            [one] => one.clone(),
            _ => format!("{}::", recorded.suite_name),
        };
        let runs = recorded.runs[1] as u64 + now;
        let command = record_command(&filter);
        let suite = escape_line(&recorded.suite);
        match (before, now) {
            (0, _) => write!(
                f,
                "; `runs: {runs}` in {suite} and `{command}` record {now} more"
            ),
            (_, 0) => write!(
                f,
                "; the baseline needs {before} more: record these runs where the baseline comes from, with `{command}`"
            ),
            (before, now) => write!(
                f,
                "; `runs: {runs}` in {suite} and `{command}` record {now} more, and the baseline needs {before} more"
            ),
        }
    }
}

/// A name from outside, as code.
pub(super) fn inline_code(name: &str) -> String {
    format!("`{}`", escape_line(name).replace('`', "ʼ"))
}
