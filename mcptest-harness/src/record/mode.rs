//! Whether to record, as the environment says it.

use crate::command::call;

/// The variable that asks for recording.
pub(crate) const VARIABLE: &str = "MCPTEST_RECORD";

/// What a build needs that cannot record what the built-in agent does, or what an agent's own program does.
const FEATURES: [&str; 2] = [
    if cfg!(feature = "record") {
        ""
    } else {
        " --features mcptest-harness/record"
    },
    if cfg!(feature = "session") {
        ""
    } else {
        " --features mcptest-harness/session"
    },
];

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
pub(crate) fn rerun(package: &str, case: &str) -> String {
    if package.is_empty() {
        call(&format!("test --exact {case}"))
    } else {
        format!("cargo test -p {package} -- --exact {case}")
    }
}

impl RecordCommand {
    /// The command that records the runs of one agent test and of no other, by its case's name below
    /// the suite's. `by_program`: whether its own program runs it.
    pub(crate) fn of(&self, case: &str, by_program: bool) -> String {
        let feature = match (by_program, self.own_loop) {
            (true, _) => FEATURES[1],
            (false, true) => "",
            (false, false) => FEATURES[0],
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
            return call(&format!("record --exact {case} -- {}", words.join(" ")));
        }
        if package.is_empty() {
            return rerun(package, &case);
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

/// The variable that allows it where `CI` is set.
pub(crate) const IN_CI: &str = "MCPTEST_RECORD_IN_CI";

/// What is to be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The runs that are declared and not there.
    Missing,
    /// All runs, anew.
    All,
}

impl Mode {
    /// The variable's value.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::All => "all",
        }
    }
}

/// What the environment asks for; `None` only judges.
pub(crate) fn asked() -> Result<Option<Mode>, String> {
    let value = match std::env::var(VARIABLE) {
        Ok(value) => value,
        Err(std::env::VarError::NotPresent) => return Ok(None),
        Err(error) => return Err(format!("`{VARIABLE}`: {error}")),
    };
    let allowed = std::env::var(IN_CI).is_ok_and(|value| value == "1");
    read(&value, in_ci(), allowed)
}

/// `CI` counts as set unless it is empty, `0` or `false`.
pub(crate) fn in_ci() -> bool {
    std::env::var_os("CI")
        .is_some_and(|value| !value.is_empty() && value != "0" && value != "false")
}

fn read(value: &str, in_ci: bool, allowed: bool) -> Result<Option<Mode>, String> {
    let mode = match value {
        "" => return Ok(None),
        "missing" => Mode::Missing,
        "all" => Mode::All,
        other => {
            let near = mcptest_suite::nearest(other, ["missing", "all"]);
            let other = mcptest_suite::escape_line(other);
            let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            return Err(format!(
                "`{VARIABLE}={other}` is not known{hint}\n\nhelp: `missing` records what has no recording, `all` records everything again; without the variable recordings are judged"
            ));
        }
    };
    if in_ci && !allowed {
        return Err(format!(
            "`{VARIABLE}={value}` while `CI` is set: recording in CI spends money on every push\n\nhelp: if you want to record in CI, also set `{IN_CI}=1`"
        ));
    }
    Ok(Some(mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_words_are_read_and_nothing_means_judge() {
        assert_eq!(read("missing", false, false), Ok(Some(Mode::Missing)));
        assert_eq!(read("all", false, false), Ok(Some(Mode::All)));
        assert_eq!(read("", true, false), Ok(None));
    }

    #[test]
    fn recording_in_ci_needs_a_second_word() {
        assert_eq!(read("all", true, true), Ok(Some(Mode::All)));
        insta::assert_snapshot!(read("all", true, false).unwrap_err(), @r"
        `MCPTEST_RECORD=all` while `CI` is set: recording in CI spends money on every push

        help: if you want to record in CI, also set `MCPTEST_RECORD_IN_CI=1`
        ");
    }

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
            command.of("desk", false),
            "cargo test -p shop --test agents -- --exact refunds::desk"
        );
        command.target = Some("my_agents".to_owned());
        assert!(command.of("desk", false).contains(" --test 'my?agents' "));
        command.own_loop = false;
        assert_eq!(
            command.of("desk", false).contains("--features"),
            !cfg!(feature = "record")
        );
    }

    #[test]
    fn another_word_is_refused() {
        insta::assert_snapshot!(read("mising", false, false).unwrap_err(), @r"
        `MCPTEST_RECORD=mising` is not known; did you mean `missing`?

        help: `missing` records what has no recording, `all` records everything again; without the variable recordings are judged
        ");
        assert!(read("1", false, false).is_err());
        assert!(
            !read("\u{1b}[2J", false, false)
                .unwrap_err()
                .contains('\u{1b}')
        );
    }
}
