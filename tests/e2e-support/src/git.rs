//! Git in a folder, as somebody.

use std::path::Path;
use std::process::Command;

use super::process;

/// What no machine's settings may change: who commits, and that nobody signs.
const SETTINGS: [&str; 8] = [
    "-c",
    "user.name=a",
    "-c",
    "user.email=a@b",
    "-c",
    "commit.gpgsign=false",
    "-c",
    "protocol.file.allow=always",
];

/// A command of git that is to be run in a folder.
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = process::command("git", folder);
    command.args(SETTINGS).args(arguments);
    command
}

/// What a command of git prints. The test fails if git does.
pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let finished = process::run(&mut command(folder, arguments)).exits(0);
    finished.stdout.trim_end().to_owned()
}

/// Commits all that is in a folder, which becomes a repository if it is none; returns the name of the commit.
pub fn commit_all(folder: &Path, subject: &str) -> String {
    if !folder.join(".git").exists() {
        git(folder, &["init", "-q", "-b", "main"]);
    }
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "-q", "--allow-empty", "-m", subject]);
    git(folder, &["rev-parse", "HEAD"])
}
