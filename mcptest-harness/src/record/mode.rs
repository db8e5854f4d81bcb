//! Whether to record, as the environment says it, and how.

use std::env::{self, VarError};
use std::error::Error;
use std::fmt;
use std::path::PathBuf;

use mcptest_suite::{escape_line, nearest, portable_path};

use crate::command::command_line;

/// The variable that asks for recording.
pub(crate) const VARIABLE: &str = "MCPTEST_RECORD";

/// The variable that allows it where `CI` is set.
pub(crate) const IN_CI: &str = "MCPTEST_RECORD_IN_CI";

/// The variables that say how, each with what the command has for it.
const DRY_RUN: &str = "MCPTEST_RECORD_DRY_RUN";
const OVER_BUDGET: &str = "MCPTEST_RECORD_OVER_BUDGET";
const ONLY_RUNS: &str = "MCPTEST_RECORD_ONLY_RUNS";
const INTO: &str = "MCPTEST_RECORD_INTO";

/// What is to be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The runs that are declared and not there.
    Missing,
    /// All runs, anew.
    All,
    /// All runs of the agents of which a run is not what the code does now.
    Changed,
}

impl Mode {
    const ALL: [Self; 3] = [Self::Missing, Self::All, Self::Changed];

    /// The variable's value.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::All => "all",
            Self::Changed => "changed",
        }
    }
}

/// Why nothing is recorded as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RecordRequestError {
    /// A variable cannot be read.
    Variable { name: &'static str, error: VarError },
    /// What is to be recorded is not known.
    UnknownMode { value: String },
    /// A variable is neither set nor left out.
    NotAFlag { name: &'static str, value: String },
    /// Only the runs of a change are asked for, and not what changed.
    OnlyRunsWithoutChanged,
    /// What changed is asked for, and another folder.
    IntoWithChanged,
    /// Nobody allowed it where `CI` is set.
    InCi { mode: Mode },
    /// Nextest would call cases passed that nobody judged.
    DryRunInNextest,
    /// What is to be the folder of the recordings is a file.
    IntoFile { folder: PathBuf },
    /// The folder of the recordings is that of the package.
    IntoPackage,
}

impl fmt::Display for RecordRequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable { name, error } => write!(f, "`{name}`: {error}"),
            Self::UnknownMode { value } => {
                let near = nearest(value, Mode::ALL.map(Mode::word));
                let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                write!(
                    f,
                    "`{VARIABLE}={}` is not known{hint}\n\nhelp: `missing` records what has no recording, `changed` the agents that do something \
                     else now, `all` records everything again; without the variable recordings are judged",
                    escape_line(value)
                )
            }
            Self::NotAFlag { name, value } => write!(
                f,
                "`{name}={}` is not known\n\nhelp: write `{name}=1`, or leave the variable out",
                escape_line(value)
            ),
            Self::OnlyRunsWithoutChanged => write!(
                f,
                "`{ONLY_RUNS}` is for `{VARIABLE}=changed` alone\n\nhelp: leave the variable out"
            ),
            Self::IntoWithChanged => write!(
                f,
                "`{INTO}` is not for `{VARIABLE}=changed`: all runs are recorded into another folder\n\nhelp: write `{VARIABLE}=all`"
            ),
            Self::InCi { mode } => write!(
                f,
                "`{VARIABLE}={}` while `CI` is set: recording in CI spends money on every push\n\nhelp: if you want to record in CI, also set `{IN_CI}=1`",
                mode.word()
            ),
            Self::DryRunInNextest => write!(
                f,
                "a dry run is not for nextest, which would call cases passed that nobody judged\n\nhelp: use `cargo test`, or `{}`",
                command_line("record --dry-run")
            ),
            Self::IntoFile { folder } => write!(
                f,
                "`{}` is a file, and recordings go into a folder",
                escape_line(&portable_path(folder))
            ),
            Self::IntoPackage => f.write_str(
                "the recordings cannot be put into the package's own folder\n\nhelp: name another folder, or leave `--into` out to replace them",
            ),
        }
    }
}

impl Error for RecordRequestError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Variable { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// What the environment asks to record, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordRequest {
    pub(crate) mode: Mode,
    /// Whether only the runs are recorded that met the change of an agent.
    pub(crate) only_runs: bool,
    /// Nothing is recorded: what it would cost is said.
    pub(crate) dry_run: bool,
    /// Whatever the suites' budgets say.
    pub(crate) over_budget: bool,
    /// The folder that gets the recordings, where that is not the suites' own.
    pub(crate) into: Option<PathBuf>,
}

#[cfg(test)]
impl RecordRequest {
    /// A mode, with nothing said of how.
    pub(crate) fn new(mode: Mode) -> Self {
        Self {
            mode,
            only_runs: false,
            dry_run: false,
            over_budget: false,
            into: None,
        }
    }
}

/// What the environment asks for; `None` only judges.
pub(crate) fn read_record_request() -> Result<Option<RecordRequest>, RecordRequestError> {
    read(read_variable, in_ci())
}

/// Whether recording may cost more than the suites' budgets say.
#[cfg(feature = "session")]
pub(crate) fn allows_over_budget() -> bool {
    env::var(OVER_BUDGET).is_ok_and(|value| value == "1")
}

/// `CI` counts as set unless it is empty, `0` or `false`.
pub(crate) fn in_ci() -> bool {
    env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "0" && value != "false")
}

fn read_variable(name: &'static str) -> Result<String, RecordRequestError> {
    match env::var(name) {
        Ok(value) => Ok(value),
        Err(VarError::NotPresent) => Ok(String::new()),
        Err(error) => Err(RecordRequestError::Variable { name, error }),
    }
}

fn read(
    variable: impl Fn(&'static str) -> Result<String, RecordRequestError>,
    in_ci: bool,
) -> Result<Option<RecordRequest>, RecordRequestError> {
    let value = variable(VARIABLE)?;
    if value.is_empty() {
        return Ok(None);
    }
    let Some(mode) = Mode::ALL.into_iter().find(|mode| mode.word() == value) else {
        return Err(RecordRequestError::UnknownMode { value });
    };
    // Another word than `1` may be meant for one, and money would be spent.
    let flag = |name: &'static str| match variable(name)?.as_str() {
        "" | "0" => Ok(false),
        "1" => Ok(true),
        other => {
            let value = other.to_owned();
            Err(RecordRequestError::NotAFlag { name, value })
        }
    };
    let into = variable(INTO)?;
    let asked = RecordRequest {
        mode,
        only_runs: flag(ONLY_RUNS)?,
        dry_run: flag(DRY_RUN)?,
        over_budget: flag(OVER_BUDGET)?,
        into: (!into.is_empty()).then(|| into.into()),
    };
    if asked.only_runs && mode != Mode::Changed {
        return Err(RecordRequestError::OnlyRunsWithoutChanged);
    }
    if asked.into.is_some() && mode == Mode::Changed {
        return Err(RecordRequestError::IntoWithChanged);
    }
    // What is only said spends nothing.
    if in_ci && !asked.dry_run && variable(IN_CI)? != "1" {
        return Err(RecordRequestError::InCi { mode });
    }
    Ok(Some(asked))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read of these variables.
    fn read_variables(
        set: &[(&str, &str)],
        in_ci: bool,
    ) -> Result<Option<RecordRequest>, RecordRequestError> {
        let value = |name: &str| {
            let mut set = set.iter();
            let found = set.find(|(known, _)| *known == name);
            Ok(found.map_or(String::new(), |(_, value)| (*value).to_owned()))
        };
        read(value, in_ci)
    }

    #[test]
    fn the_words_are_read_and_nothing_means_judge() {
        for mode in Mode::ALL {
            let asked = read_variables(&[(VARIABLE, mode.word())], false);
            assert_eq!(asked, Ok(Some(RecordRequest::new(mode))));
        }
        assert_eq!(read_variables(&[(VARIABLE, "")], true), Ok(None));
        assert_eq!(read_variables(&[(DRY_RUN, "1")], true), Ok(None));
    }

    #[test]
    fn recording_in_ci_needs_a_second_word() {
        let allowed = read_variables(&[(VARIABLE, "all"), (IN_CI, "1")], true);
        assert_eq!(allowed, Ok(Some(RecordRequest::new(Mode::All))));
        // What it would cost may be asked.
        assert!(read_variables(&[(VARIABLE, "all"), (DRY_RUN, "1")], true).is_ok());
        insta::assert_snapshot!(read_variables(&[(VARIABLE, "all")], true).unwrap_err(), @r"
        `MCPTEST_RECORD=all` while `CI` is set: recording in CI spends money on every push

        help: if you want to record in CI, also set `MCPTEST_RECORD_IN_CI=1`
        ");
    }

    #[test]
    fn another_word_is_refused() {
        insta::assert_snapshot!(read_variables(&[(VARIABLE, "mising")], false).unwrap_err(), @r"
        `MCPTEST_RECORD=mising` is not known; did you mean `missing`?

        help: `missing` records what has no recording, `changed` the agents that do something else now, `all` records everything again; without the variable recordings are judged
        ");
        assert!(read_variables(&[(VARIABLE, "1")], false).is_err());
        let hidden = read_variables(&[(VARIABLE, "\u{1b}[2J")], false).unwrap_err();
        let hidden = hidden.to_string();
        assert!(!hidden.contains('\u{1b}'));
    }

    #[test]
    fn what_is_said_of_how_is_one_or_nothing_and_belongs_to_its_mode() {
        let all = |name, value| read_variables(&[(VARIABLE, "all"), (name, value)], false);
        assert!(all(DRY_RUN, "1").unwrap().unwrap().dry_run);
        assert!(!all(DRY_RUN, "0").unwrap().unwrap().dry_run);
        assert!(all(OVER_BUDGET, "1").unwrap().unwrap().over_budget);
        let into = all(INTO, "tonight").unwrap().unwrap().into;
        assert_eq!(into, Some("tonight".into()));
        insta::assert_snapshot!(all(DRY_RUN, "true").unwrap_err(), @r"
        `MCPTEST_RECORD_DRY_RUN=true` is not known

        help: write `MCPTEST_RECORD_DRY_RUN=1`, or leave the variable out
        ");
        insta::assert_snapshot!(all(ONLY_RUNS, "1").unwrap_err(), @r"
        `MCPTEST_RECORD_ONLY_RUNS` is for `MCPTEST_RECORD=changed` alone

        help: leave the variable out
        ");
        let changed = read_variables(&[(VARIABLE, "changed"), (INTO, "tonight")], false);
        insta::assert_snapshot!(changed.unwrap_err(), @r"
        `MCPTEST_RECORD_INTO` is not for `MCPTEST_RECORD=changed`: all runs are recorded into another folder

        help: write `MCPTEST_RECORD=all`
        ");
        let only = read_variables(&[(VARIABLE, "changed"), (ONLY_RUNS, "1")], false);
        assert!(only.unwrap().unwrap().only_runs);
    }
}
