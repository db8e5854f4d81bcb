//! How the command is called, for texts that say what to type next.
//!
//! One program has two names: cargo and `cargo install` call it `cargo mcptest`, the packages for Python and TypeScript
//! bring it as `mcptest-harness`, which npx finds in a project. The command says once by which name it was called. Processes that it starts are told
//! by a variable. Where nobody says it, cargo calls the command.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// The variable that tells a process how the command was called that started it.
const VARIABLE: &str = "MCPTEST_CALLED_AS";

/// A name of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CommandName {
    /// `cargo mcptest`
    #[default]
    OfCargo,
    /// `mcptest-harness`
    OfPackages,
    /// `npx mcptest-harness`
    OfNpx,
}

/// The name by which the command of this process was called.
static NAME: OnceLock<CommandName> = OnceLock::new();

impl CommandName {
    /// All names.
    pub const ALL: [Self; 3] = [Self::OfCargo, Self::OfPackages, Self::OfNpx];

    /// The name for a program, by its path or its file's name, and whether npx started it.
    #[must_use]
    pub fn for_program(program: &OsStr, by_npx: bool) -> Self {
        let stem = Path::new(program).file_stem().and_then(OsStr::to_str);
        match stem {
            Some(stem) if stem.eq_ignore_ascii_case(Self::OfPackages.words()) => {
                if by_npx {
                    Self::OfNpx
                } else {
                    Self::OfPackages
                }
            }
            _ => Self::OfCargo,
        }
    }

    /// What a person types.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::OfCargo => "cargo mcptest",
            Self::OfPackages => "mcptest-harness",
            Self::OfNpx => "npx mcptest-harness",
        }
    }

    /// The name by which the command was called.
    #[must_use]
    pub fn current() -> Self {
        *NAME.get_or_init(|| {
            let told = std::env::var(VARIABLE).unwrap_or_default();
            let mut all = Self::ALL.into_iter();
            all.find(|name| name.words() == told).unwrap_or_default()
        })
    }

    /// Makes it the name in all texts of this process. The first name stays.
    pub fn make_current(self) {
        NAME.get_or_init(|| self);
    }
}

/// The variable that tells a process of the command which options chose the package.
const CHOICE: &str = "MCPTEST_CALLED_WITH";

/// The options that chose the package, as a person types them; nothing in a process that the command did not start.
static OPTIONS: OnceLock<Option<String>> = OnceLock::new();

/// Keeps the options that chose the package, e.g. `-p shop`, for texts that say what to type next. The first ones
/// stay.
pub fn keep_options(options: &[String]) {
    OPTIONS.get_or_init(|| {
        let words = options.iter().map(|word| format!(" {}", shell_word(word)));
        Some(words.collect())
    });
}

/// Tells a process of the command which options chose the package.
pub fn pass_on_options(process: &mut Command) {
    if let Some(options) = OPTIONS.get().and_then(Option::as_ref) {
        // An empty variable is none on some systems.
        process.env(CHOICE, format!("{options} "));
    }
}

/// A line that calls the command again about the same package; nothing where the command did not start this process.
pub(crate) fn command_line_again(subcommand: &str, words: &str) -> Option<String> {
    let options = OPTIONS.get_or_init(|| std::env::var(CHOICE).ok());
    let options = options.as_ref()?.trim_end();
    Some(command_line(&format!("{subcommand}{options} {words}")))
}

/// A word as a person types it in a shell.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./=:,@%+\\".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Tells a process that this one starts how the command was called.
pub fn pass_on_name(process: &mut Command) {
    process.env(VARIABLE, CommandName::current().words());
}

/// A line that calls the command with some words, as a person types it.
#[must_use]
pub fn command_line(words: &str) -> String {
    format!("{} {words}", CommandName::current().words())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_that_of_the_file() {
        let name = |program: &str| CommandName::for_program(OsStr::new(program), false).words();
        for own in [
            "mcptest-harness",
            "mcptest-harness.exe",
            "/opt/with a space/🦀/mcptest-harness",
            "./Mcptest-Harness.EXE",
        ] {
            assert_eq!(name(own), "mcptest-harness", "{own}");
        }
        for cargo in [
            "cargo-mcptest",
            "/root/.cargo/bin/cargo-mcptest.exe",
            "/mcptest-harness/cargo-mcptest",
            "mcptest-harness-2",
            "cargo",
            "",
        ] {
            assert_eq!(name(cargo), "cargo mcptest", "{cargo}");
        }
        let by_npx = |program: &str| CommandName::for_program(OsStr::new(program), true).words();
        assert_eq!(by_npx("/a/mcptest-harness"), "npx mcptest-harness");
        assert_eq!(by_npx("/a/cargo-mcptest"), "cargo mcptest");
    }

    #[test]
    fn cargo_calls_the_command_where_nobody_says_how() {
        assert_eq!(
            command_line("validate --fix"),
            "cargo mcptest validate --fix"
        );
    }
}
