//! What a command's exit status says: the same four answers everywhere.

use std::process::ExitCode;

/// The exit status of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ExitStatus {
    /// What was asked holds.
    Holds = 0,
    /// A finding: a red case, a regression, something that could not be imported.
    Finding = 1,
    /// It could not run: usage, a suite that does not load, no such file.
    CouldNotRun = 2,
    /// It cannot tell: nothing, or too little, to judge.
    CannotTell = 3,
}

/// What the help of a command that judges says below its options.
pub(crate) const EXIT_STATUS: &str = "Exit status: 0 everything holds; 1 something was found; 2 the command could not run; 3 there is too little to judge.";

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status as u8)
    }
}
