//! What a person types to record, or to run one case alone.

use crate::command::command_line;

/// What a build needs that cannot run an agent.
const FEATURE: &str = if cfg!(feature = "session") {
    ""
} else {
    " --features mcptest-harness/session"
};

/// How the runs of a suite are recorded: what a person types after the variable.
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

/// What a person types to run one case alone. A folder without a crate has no package.
pub(crate) fn rerun_command(package: &str, case: &str) -> String {
    if package.is_empty() {
        command_line(&format!("test --exact {case}"))
    } else {
        format!("cargo test -p {package} -- --exact {case}")
    }
}

impl RecordCommand {
    /// The command that records the runs of one agent test and of no other, by its case's name below
    /// the suite's. `by_program`: whether its own program runs it.
    pub(crate) fn for_case(&self, case: &str, by_program: bool) -> String {
        let feature = if self.own_loop && !by_program {
            ""
        } else {
            FEATURE
        };
        let Some(package) = &self.package else {
            return format!("cargo test{feature}");
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
        if !self.program.is_empty() {
            let words: Vec<String> = self.program.iter().map(|word| shell_word(word)).collect();
            return command_line(&format!("record --exact {case} -- {}", words.join(" ")));
        }
        if package.is_empty() {
            return rerun_command(package, &case);
        }
        format!("cargo test{feature} -p {package}{target} -- --exact {case}")
    }
}

/// A word as a person types it in a shell.
fn shell_word(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./=:,@%+\\".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
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
        assert_eq!(
            command.for_case("desk", false),
            "cargo test -p shop --test agents -- --exact refunds::desk"
        );
        command.target = Some("my_agents".to_owned());
        assert!(
            command
                .for_case("desk", false)
                .contains(" --test 'my?agents' ")
        );
        command.own_loop = false;
        assert_eq!(
            command.for_case("desk", false).contains("--features"),
            !cfg!(feature = "session")
        );
    }
}
