//! The page *From a change to a merge*: a prompt is changed, its recordings no longer play, it is recorded and compared.

use std::path::Path;

use scripted_provider::Provider;

use super::pages::{Installation, PYTHON, block, provider, replaced};
use super::{desk, packages};
use crate::own_tools::install_the_library;
use crate::support::folder::Folder;
use crate::support::process;

const PAGE: &str = include_str!("../../../docs/change-to-merge.md");

const SUITE: &str = "suites/paying.yml";

pub(crate) fn the_page_from_a_change_to_a_merge() {
    let python = packages::python();
    install_the_library(&python);
    let path = with_programs(python.parent().unwrap());
    let folder = Folder::new();
    let model = provider();
    let at = Installation {
        folder: &folder,
        call: "cargo mcptest",
        program: &desk::program(),
        path: path.as_ref(),
        install: &|_| {},
    };
    let runs = |shown: &str, model: Option<&Provider>, code| at.prints(model, shown, code);
    let git = |words: &str| {
        let mut git = process::command("git", folder.path());
        git.args(["-c", "user.name=a", "-c", "user.email=a@b"])
            .args(words.split(' '));
        process::run(&mut git).exits(0);
    };
    // What the page goes on with, then what it says to do first.
    let code = block(PYTHON, "file: agent.py");
    folder.write("agent.py", code);
    let suite = block(PYTHON, &format!("file: {SUITE}"));
    assert!(suite.contains("    playback: {}\n"));
    folder.write(SUITE, suite);
    runs("$ cargo mcptest record\n…\n", Some(&model), 0);
    assert!(PAGE.contains("with `playback: {}` in the suite. Write `runs: 4` in the suite"));
    assert_eq!(suite.matches("runs: 2").count(), 1);
    folder.write(SUITE, suite.replace("runs: 2", "runs: 4"));
    runs("$ cargo mcptest record\n…\n", Some(&model), 0);
    git("init -q -b main");
    git("add -A");
    git("commit -qm before");
    git("switch -qc change");

    let old = "gpt-5\")";
    let new = "gpt-5\", system_prompt=\"Answer in one sentence.\")";
    folder.write("agent.py", replaced(PAGE, code, old, new));
    let asked = model.requests().len();
    runs(block(PAGE, "shown: playback"), None, 101);
    runs(block(PAGE, "shown: cost"), Some(&model), 0);
    // Until here all was free.
    assert_eq!(model.requests().len(), asked);
    runs(block(PAGE, "shown: record"), Some(&model), 0);
    drop(model);
    runs("$ cargo mcptest test\n…\n", None, 0);
    git("add -A");
    git("commit -qm now");
    runs(block(PAGE, "shown: comment"), None, 0);
    let comment = ["report", "--format", "markdown", "--baseline", "main"];
    let said = process::run(desk::command(&folder, None, &comment).env("PATH", &path));
    let told = "the system prompt changed: `Refund agent`";
    assert!(said.stdout.contains(told), "{said}");
    runs(block(PAGE, "shown: compare"), None, 0);
    git("switch -q main");
    git("merge -q change");
    runs("$ cargo mcptest test\n…\n", None, 0);
}

/// The path with a folder of programs before it.
fn with_programs(programs: &Path) -> String {
    let path = std::env::var_os("PATH").unwrap();
    let places = [programs.to_owned()];
    let path = std::env::join_paths(places.into_iter().chain(std::env::split_paths(&path)));
    path.unwrap().into_string().unwrap()
}
