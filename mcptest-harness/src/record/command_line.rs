//! What a person types to record, or to run one case alone.

use super::mode::{self, Mode};
use crate::command::{command_line, command_line_again, shell_word};

/// What a build needs that cannot run an agent.
const FEATURE: &str = if cfg!(feature = "session") {
    ""
} else {
    " --features mcptest-harness/session"
};

/// How the runs of a suite are recorded.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordCommand {
    /// The crate's package; the folder's own where it is not known. An empty one is a folder without a crate, whose
    /// cases the command runs.
    pub(crate) package: Option<String>,
    /// The test target, where it is known.
    pub(crate) target: Option<String>,
    /// What stands before a case's name below the suite's.
    pub(crate) suite: String,
    /// A loop of one's own records, in any build.
    pub(crate) own_loop: bool,
    /// The program that runs every agent, where a person says it beside the suites.
    pub(crate) program: Vec<String>,
}

/// Who runs an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunsAgent {
    /// The program that the suite names.
    Program,
    /// Code of the agent's own, which may be a function of the crate.
    OwnCode,
    /// The built-in agent, or whatever records all agents here.
    Anything,
}

/// The line that records an agent and no other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RecordLine {
    /// A test that records where the variable says so.
    Test(String),
    /// The command that records: what stands before its flags, and after them.
    Command(String, String),
}

/// What a person types to run one case alone. A folder without a crate has no package.
pub(crate) fn rerun_command(package: &str, case: &str, is_ignored: bool) -> String {
    let all = if is_ignored { "--include-ignored " } else { "" };
    let words = format!("{all}--exact {case}");
    if package.is_empty() {
        let again = command_line_again("test", &words);
        again.unwrap_or_else(|| command_line(&format!("test {words}")))
    } else {
        format!("cargo test -p {package} -- {words}")
    }
}

impl RecordLine {
    /// The line that records what a mode says.
    pub(crate) fn in_mode(&self, mode: Mode) -> String {
        match self {
            Self::Test(line) => format!("{}={} {line}", mode::VARIABLE, mode.word()),
            Self::Command(before, after) => {
                let flag = match mode {
                    Mode::Missing => "",
                    Mode::All => "--all ",
                    Mode::Changed => "--changed ",
                };
                format!("{before} {flag}{after}")
            }
        }
    }

    /// The line that records all runs again.
    pub(crate) fn all(&self) -> String {
        self.in_mode(Mode::All)
    }

    /// The line that records the missing runs.
    pub(crate) fn missing(&self) -> String {
        self.in_mode(Mode::Missing)
    }
}

impl RecordCommand {
    /// The line that records the runs of one agent test and of no other, by its case's name below the suite's.
    pub(crate) fn for_case(&self, case: &str, by: RunsAgent) -> RecordLine {
        let feature = if self.own_loop && by == RunsAgent::Anything {
            ""
        } else {
            FEATURE
        };
        let Some(package) = &self.package else {
            return RecordLine::Test(format!("cargo test{feature}"));
        };
        // Cargo takes a pattern there; a target's own name may have a `-` for each `_`.
        let target = self.target.as_ref().map(|target| {
            if target.contains('_') {
                format!(" --test '{}'", target.replace('_', "?"))
            } else {
                format!(" --test {target}")
            }
        });
        let target = target.unwrap_or_default();
        let case = match self.suite.as_str() {
            "" => case.to_owned(),
            suite => format!("{suite}::{case}"),
        };
        // A part of a name may be in other names, and recording costs money.
        let mut after = format!("--exact {case}");
        let words = shell_words(&self.program);
        if !words.is_empty() {
            after += &format!(" -- {words}");
        }
        let is_without_crate = package.is_empty();
        // A function of a crate is in its tests alone.
        let by_command = is_without_crate || !words.is_empty() || by == RunsAgent::Program;
        let before = command_line_again("record", "").filter(|_| by_command);
        let before = before.map(|line| line.trim_end().to_owned());
        let before = before.or_else(|| is_without_crate.then(|| command_line("record")));
        match before {
            Some(before) => RecordLine::Command(before, after),
            None => RecordLine::Test(format!(
                "cargo test{feature} -p {package}{target} -- --exact {case}"
            )),
        }
    }
}

/// A program with its arguments, as a person types it in a shell.
pub(crate) fn shell_words(program: &[String]) -> String {
    let words: Vec<String> = program.iter().map(|word| shell_word(word)).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_records_one_agent_and_asks_for_no_feature_in_vain() {
        let mut command = RecordCommand {
            package: Some("shop".to_owned()),
            target: Some("agents".to_owned()),
            suite: "refunds".to_owned(),
            own_loop: true,
            program: Vec::new(),
        };
        let line = |command: &RecordCommand| command.for_case("desk", RunsAgent::Anything).all();
        assert_eq!(
            line(&command),
            "MCPTEST_RECORD=all cargo test -p shop --test agents -- --exact refunds::desk"
        );
        command.target = Some("my_agents".to_owned());
        assert!(line(&command).contains(" --test 'my?agents' "));
        command.own_loop = false;
        assert_eq!(
            line(&command).contains("--features"),
            !cfg!(feature = "session")
        );
    }

    #[test]
    fn an_agent_without_a_crate_is_recorded_by_the_command() {
        let mut command = RecordCommand {
            package: Some(String::new()),
            suite: "refunds".to_owned(),
            ..RecordCommand::default()
        };
        let line = command.for_case("desk", RunsAgent::OwnCode);
        assert_eq!(
            line.all(),
            "cargo mcptest record --all --exact refunds::desk"
        );
        assert_eq!(line.missing(), "cargo mcptest record --exact refunds::desk");
        assert_eq!(
            line.in_mode(Mode::Changed),
            "cargo mcptest record --changed --exact refunds::desk"
        );
        command.program = ["python", "my agent.py"].map(str::to_owned).to_vec();
        assert_eq!(
            command.for_case("desk", RunsAgent::Program).all(),
            "cargo mcptest record --all --exact refunds::desk -- python 'my agent.py'"
        );
    }
}
