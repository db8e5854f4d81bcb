//! Whether to record, as the environment says it.

/// The variable that asks for recording.
pub(crate) const VARIABLE: &str = "MCPTEST_RECORD";

/// What a person types after the variable.
#[cfg(feature = "record")]
pub(crate) const COMMAND: &str = "cargo test";
#[cfg(not(feature = "record"))]
pub(crate) const COMMAND: &str = "cargo test --features mcptest-harness/record";

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

/// What the environment asks for; `None` is replay only.
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
    std::env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
}

fn read(value: &str, in_ci: bool, allowed: bool) -> Result<Option<Mode>, String> {
    let mode = match value {
        "" => return Ok(None),
        "missing" => Mode::Missing,
        "all" => Mode::All,
        other => {
            let near = mcptest_suite::nearest(other, ["missing", "all"]);
            let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            return Err(format!(
                "`{VARIABLE}={other}` is not known{hint}\n\nhelp: `missing` records what has no recording, `all` records everything anew; without the variable recordings are replayed"
            ));
        }
    };
    if in_ci && !allowed {
        return Err(format!(
            "`{VARIABLE}={value}` while `CI` is set: recording in CI spends money on every push\n\nhelp: set `{IN_CI}=1` too if it is meant"
        ));
    }
    Ok(Some(mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_words_are_read_and_nothing_means_replay() {
        assert_eq!(read("missing", false, false), Ok(Some(Mode::Missing)));
        assert_eq!(read("all", false, false), Ok(Some(Mode::All)));
        assert_eq!(read("", true, false), Ok(None));
    }

    #[test]
    fn recording_in_ci_needs_a_second_word() {
        assert_eq!(read("all", true, true), Ok(Some(Mode::All)));
        insta::assert_snapshot!(read("all", true, false).unwrap_err(), @r"
        `MCPTEST_RECORD=all` while `CI` is set: recording in CI spends money on every push

        help: set `MCPTEST_RECORD_IN_CI=1` too if it is meant
        ");
    }

    #[test]
    fn another_word_is_refused() {
        insta::assert_snapshot!(read("mising", false, false).unwrap_err(), @r"
        `MCPTEST_RECORD=mising` is not known; did you mean `missing`?

        help: `missing` records what has no recording, `all` records everything anew; without the variable recordings are replayed
        ");
        assert!(read("1", false, false).is_err());
    }
}
