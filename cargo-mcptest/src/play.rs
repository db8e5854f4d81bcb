//! `cargo mcptest play`: the recordings, played to the agents' own code.
//!
//! It is the gate `playback` of each agent that a command runs, whether its suite asks for the gate or not.

use std::process::Stdio;

use mcptest::command::command_line;
use mcptest::judge::AgentTest;

use crate::failure::Failure;
use crate::judging::{Filter, OpenPackage};
use crate::output::Output;
use crate::package::Judging;
use crate::part::Part;
use crate::record::{RecordJob, run_child};
use crate::status::{EXIT_STATUS, ExitStatus};

/// Plays recordings to your agent's own code, and shows what the code now does differently.
///
/// Example: `cargo mcptest play -- python agent.py`
///
/// Your agent's own code runs once for each recording. Without a program, the `command:` of each agent is run. An agent that
/// is an async function of your crate is played by `cargo test ::playback`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Play {
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    judging: Judging,
    #[command(flatten)]
    part: Part,
    /// The program that is the agent, with its arguments. It replaces `command:` of the suites.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Play {
    pub(crate) fn run(&self, output: &mut Output<'_>) -> Result<ExitStatus, Failure> {
        let opened = OpenPackage::open_whole(&self.judging, output)?;
        let agents = opened.suites.agents();
        let case = |agent: &AgentTest<'_>| format!("{}::playback", agent.case());
        let cases: Vec<String> = agents.iter().map(case).collect();
        let wanted = agents.iter().zip(&cases);
        let wanted: Vec<_> = wanted
            .filter(|(agent, case)| self.filter.wants(agent.case()) || self.filter.wants(case))
            .collect();
        if wanted.is_empty() {
            return Err(self.filter.no_match(cases.iter().map(String::as_str)));
        }
        let runs =
            |agent: &AgentTest<'_>| !self.command.is_empty() || agent.agent().command.is_some();
        let (played, left): (Vec<_>, Vec<_>) =
            wanted.into_iter().partition(|(agent, _)| runs(agent));
        let package = &opened.package;
        if played.is_empty() {
            let functions = if package.is_crate() {
                "; an agent that is an async function is played by `cargo test ::playback`"
            } else {
                ""
            };
            return Err(Failure::inconclusive("no agent names the program that runs it").with_help(
                format!(
                    "add `command: [python, agent.py]` to the agent, or give the program here: `{}`{functions}",
                    command_line("play -- python agent.py")
                ),
            ));
        }
        for (agent, _) in left {
            writeln!(
                output.err,
                "`{}` has no `command:`, and is not played",
                agent.case()
            )?;
        }
        let job = RecordJob {
            package: package.name.clone(),
            folder: package.folder.clone(),
            roots: package.roots.clone(),
            command: self.command.clone(),
            plays: true,
            only_records: false,
            is_test: false,
        };
        let mut process = job.process()?;
        let names = played.iter().map(|(_, case)| case.as_str());
        // It plays, whatever is asked of a test beside it.
        process
            .args(self.part.to_arguments())
            .arg("--exact")
            .args(names)
            .env_remove("MCPTEST_RECORD");
        process.stdin(Stdio::null());
        Ok(if run_child(&mut process)? {
            ExitStatus::Holds
        } else {
            ExitStatus::Finding
        })
    }
}
