//! One program has two names, and each text names the command as it was called: the help of every command, what goes
//! wrong, and files that are written.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use e2e_support::folder::{Folder, collect};
use e2e_support::process::{Finished, command, run};
use serde_json::json;

use support::{SUITE, good, run_of, shop};

/// The file's name, what a person types, and what no text may have then.
struct Name {
    file: &'static str,
    typed: &'static str,
    other: &'static str,
}

const NAMES: [Name; 2] = [
    Name {
        file: "cargo-mcptest",
        typed: "cargo mcptest",
        other: "mcptest-harness",
    },
    Name {
        file: "mcptest-harness",
        typed: "mcptest-harness",
        other: "cargo mcptest",
    },
];

impl Name {
    /// The program by this name, in a folder whose name has a space.
    fn program(&self, folder: &Folder) -> PathBuf {
        let file = format!("the tools/{}{}", self.file, std::env::consts::EXE_SUFFIX);
        let program = folder.at(&file);
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        let built = Path::new(env!("CARGO_BIN_EXE_cargo-mcptest"));
        // A link is the name, and no other file.
        if fs::hard_link(built, &program).is_err() {
            fs::copy(built, &program).unwrap();
        }
        program
    }

    /// Refuses a call of any command by the other name, which is also the name of the library.
    #[track_caller]
    fn is_told(&self, text: &str, commands: &[String]) {
        for command in commands {
            let call = format!("{} {command}", self.other);
            assert!(!text.contains(&call), "{}: {text}", self.file);
        }
        assert!(
            !text.contains("cargo mcptest") || self.typed == "cargo mcptest",
            "{text}"
        );
    }
}

/// What is the same in each folder.
const HELP: [&str; 10] = [
    "--help",
    "-h",
    "--version",
    "no-such-command",
    "completions bash",
    "completions zsh",
    "completions fish",
    "completions powershell",
    "completions elvish",
    "schema suite",
];

/// What is told of every command, of any folder.
fn help(commands: &[String]) -> Vec<Vec<String>> {
    let lines = commands.iter().flat_map(|command| {
        let rest = ["--help", "-h", "--no-such-option"];
        rest.map(|rest| format!("{command} {rest}"))
    });
    let lines = lines.chain(HELP.map(str::to_owned));
    lines.map(|line| words(&line)).collect()
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

/// What is told of a folder that is in some state.
fn lines(commands: &[String]) -> Vec<Vec<String>> {
    let further = [
        "import runs.jsonl --suite suites/new.yml",
        "import runs.jsonl",
        "compare --accept saved",
        "compare ./missing",
        "compare saved",
        "compare suites",
        "compare suites --comment",
        "compare suites --format markdown",
        "contract -- no-such-program",
        "explain nothing",
        "report --comment",
        "report --format markdown",
        "report --results saved",
        "report --results missing",
        "record --all",
        "record -- no-such-program",
        "play -- no-such-program",
        "test --list",
        "test ::calls",
        "validate --format json",
        "proxy --agent A --model m --prompt p -- no-such-program",
        "mock --tools-from missing.yml",
    ];
    let alone = commands.iter().map(String::as_str);
    alone.chain(further).map(words).collect()
}

/// The commands, as the help lists them.
fn commands(program: &Path, folder: &Path) -> Vec<String> {
    let help = run(command(program, folder).arg("--help")).exits(0).stdout;
    let (_, below) = help.split_once("Commands:\n").unwrap();
    let rows = below.lines().take_while(|line| line.starts_with("  "));
    let names = rows.filter_map(|row| row.split_whitespace().next());
    names
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// A folder of suites of which nothing is recorded, and one whose runs are not what the suite wants.
fn without_crate() -> [Folder; 3] {
    let imported = json!({ "model": "m", "messages": [
        { "role": "user", "content": "a" }, { "role": "assistant", "content": "b" },
    ] });
    let imported = imported.to_string();
    let wants_more =
        "    playback: {}\n    snapshot: [calls]\n    regression: { baseline: trusted }\n";
    let recorded = |folder: Folder| {
        let stem = "suites/cassettes/Refund_agent__gpt-5";
        folder
            .with_run(
                &format!("{stem}/run-1.json"),
                &run_of(&[("refund", json!({ "order": 7 }))]),
            )
            .with_run(&format!("{stem}/run-2.json"), &run_of(&[]))
            .with_run("suites/cassettes/Gone__gpt-5/run-1.json", &run_of(&[]))
            .with_file(
                "suites/cassettes/.Refund_agent__gpt-5.recording/run-1.json",
                "{}",
            )
            .with_file("trusted-results/x.json", "{")
    };
    [
        Folder::new().with_file("runs.jsonl", &imported),
        Folder::new()
            .with_file("runs.jsonl", &imported)
            .with_file("suites/refunds.yml", format!("{SUITE}{wants_more}")),
        recorded(Folder::new())
            .with_file("runs.jsonl", &imported)
            .with_file("suites/refunds.yml", format!("{SUITE}{wants_more}")),
    ]
}

fn in_crate() -> [Folder; 2] {
    let other = "version = 4\n\n[[package]]\nname = \"mcptest-harness\"\nversion = \"9.3.0\"\n\n\
                 [[package]]\nname = \"shop\"\nversion = \"0.1.0\"\ndependencies = [\"mcptest-harness\"]\n";
    let bare = Folder::new()
        .with_file(
            "Cargo.toml",
            "[package]\nname = \"bare\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
        )
        .with_file("src/lib.rs", "");
    [bare, shop(&good()).with_file("Cargo.lock", other)]
}

fn run_line(program: &Path, folder: &Folder, line: &[String]) -> Finished {
    let mut command: Command = command(program, folder.path());
    run(command.args(line).env("CARGO_NET_OFFLINE", "true"))
}

#[test]
fn texts_of_the_command_of_cargo_have_its_name() {
    each_text_has(&NAMES[0]);
}

#[test]
fn texts_of_the_command_of_packages_have_its_name() {
    each_text_has(&NAMES[1]);
}

fn each_text_has(name: &Name) {
    let place = Folder::new();
    let program = name.program(&place);
    let commands = commands(&program, place.path());
    assert!(commands.len() > 10, "{commands:?}");
    let mut calls = 0;
    for line in help(&commands) {
        let said = run_line(&program, &place, &line);
        let text = format!("{}{}", said.stderr, said.stdout);
        name.is_told(&text, &commands);
        calls += text.matches(&format!("{} ", name.typed)).count();
    }
    for folder in without_crate().iter().chain(&in_crate()) {
        let in_crate = folder.at("Cargo.toml").is_file();
        for line in lines(&commands) {
            let said = run_line(&program, folder, &line);
            let text = format!("$ {}\n{}{}", line.join(" "), said.stderr, said.stdout);
            name.is_told(&text, &commands);
            calls += text.matches(&format!("{} ", name.typed)).count();
            // What a command without arguments says may be its help, which speaks of every project.
            if !in_crate && !text.contains("Usage: ") {
                assert!(!text.contains("cargo test"), "{text}");
                assert!(!text.contains("cargo insta "), "{text}");
            }
        }
        for (path, bytes) in collect(folder.path()) {
            let text = String::from_utf8_lossy(&bytes);
            if path.starts_with("suites/") || path.starts_with("saved/") {
                name.is_told(&text, &commands);
            }
        }
    }
    // What is looked for is there.
    assert!(calls > 100, "{}: {calls}", name.file);
}

#[test]
fn a_suite_that_was_imported_by_either_name_is_known() {
    let place = Folder::new();
    for name in NAMES {
        let [_, _, folder] = without_crate();
        let program = name.program(&place);
        let line = ["import", "runs.jsonl", "--suite", "suites/new.yml"];
        run_line(&program, &folder, &line.map(str::to_owned)).exits(0);
        let suite = fs::read_to_string(folder.at("suites/new.yml")).unwrap();
        let written = format!("# Written by `{} import`.", name.typed);
        assert!(suite.starts_with(&written), "{suite}");
    }
}

#[test]
fn without_cargo_a_folder_without_a_crate_is_told_what_it_lacks() {
    let place = Folder::new();
    let program = NAMES[1].program(&place);
    let folder = Folder::new();
    let mut line = command(&program, folder.path());
    let said = run(line.arg("validate").env("PATH", place.path())).exits(2);
    assert!(
        said.stderr
            .starts_with("error: there is no package here, nor in any folder above\n"),
        "{said}"
    );
}

/// A text that names the command takes the name from one place. The help does so too: it is renamed as a whole.
#[test]
fn no_source_names_the_command_itself() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = 0;
    for package in [
        "cargo-mcptest",
        "mcptest-harness",
        "mcptest-session",
        "mcptest-suite",
        "mcptest-trace",
    ] {
        for (path, bytes) in collect(&project.join(package).join("src")) {
            let is_test = path.contains("tests/") || path.ends_with("tests.rs");
            if Path::new(&path).extension().is_none_or(|it| it != "rs")
                || is_test
                || path == "command.rs"
            {
                continue;
            }
            let text = String::from_utf8(bytes).unwrap();
            let (code, _) = text.split_once("#[cfg(test)]").unwrap_or((&text, ""));
            for line in code
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"))
            {
                assert!(
                    !line.contains("cargo mcptest"),
                    "{package}/src/{path}: {line}"
                );
            }
            files += 1;
        }
    }
    assert!(files > 300, "{files}");
}

/// Cargo gives the name of its subcommand; by the other name it would be a command that is not there.
#[test]
fn only_cargo_names_the_subcommand() {
    let place = Folder::new();
    for (name, code) in NAMES.iter().zip([0, 2]) {
        let program = name.program(&place);
        run(command(&program, place.path()).args(["mcptest", "schema", "suite"])).exits(code);
    }
}
