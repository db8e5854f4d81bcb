//! The pages *An agent in Python* and *An agent in TypeScript*, from their first line to the red cases: of a suite that
//! wants something else, and of code that does something else.

use std::path::Path;

use scripted_provider::{Provider, Script};
use serde_json::json;

use super::desk::{self, KEY};
use super::{packages, typescript};
use crate::own_tools::install_the_library;
use crate::support::folder::Folder;
use crate::support::process;
use crate::support::shown::as_shown;

pub(super) const PYTHON: &str = include_str!("../../../docs/agent-in-python.md");
const TYPESCRIPT: &str = include_str!("../../../docs/agent-in-typescript.md");

/// More than this nobody reads before the first red case.
const MOST_LINES: usize = 40;

/// The part of a page that is about the agent's own code.
const PLAYING: &str = "\n## Play the recordings to your code\n";

/// The block below a mark.
#[track_caller]
pub(super) fn block<'p>(page: &'p str, mark: &str) -> &'p str {
    let above = format!("<!-- {mark} -->\n```");
    let (_, below) = page.split_once(&above).expect("the page has the mark");
    let (_, text) = below.split_once('\n').unwrap();
    let (text, _) = text.split_once("```").unwrap();
    text
}

/// Lines of code and of text: all but the empty ones, fences and marks.
fn lines(page: &str) -> usize {
    let aside =
        |line: &&str| line.is_empty() || line.starts_with("```") || line.starts_with("<!--");
    page.lines().filter(|line| !aside(line)).count()
}

/// What the model says in a run: a call, then the closing.
pub(super) fn provider() -> Provider {
    let call = json!({ "calls": [{ "name": "refund", "args": { "order": 7 } }], "usage": { "prompt": 100, "completion": 20 } });
    let closing =
        json!({ "text": "Order 7 is paid back.", "usage": { "prompt": 126, "completion": 10 } });
    let script = json!({ "key": KEY, "conversations": [
        { "user": "Please refund order 7.", "model": "gpt-5", "runs": [[call, closing]] },
    ] });
    Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap()
}

/// Runs what a block shows, and compares what is printed.
#[track_caller]
pub(super) fn prints(
    folder: &Folder,
    path: &str,
    provider: Option<&Provider>,
    shown: &str,
    code: i32,
) {
    let (line, expected) = shown.split_once('\n').unwrap();
    let line = line.strip_prefix("$ cargo mcptest ").unwrap();
    let arguments: Vec<&str> = line.split(' ').collect();
    let mut command = desk::command(folder, provider, &arguments);
    let said = process::run(command.env("PATH", path)).exits(code);
    let printed = format!("{}{}", said.stderr, said.stdout);
    // Which versions meet is said first, and the sum of the cases last.
    assert!(as_shown(&format!("…\n{expected}…\n"), &printed), "{said}");
}

/// What the page says to replace in a file, where it stands once.
#[track_caller]
pub(super) fn replaced(page: &str, file: &str, old: &str, new: &str) -> String {
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = |said: String| words.contains(&said);
    assert!(told(format!("eplace `{old}` by `{new}` in")), "{old}");
    assert_eq!(file.matches(old).count(), 1, "{old}");
    file.replace(old, new)
}

/// The path with a folder of programs before it.
pub(super) fn with_programs(programs: &Path) -> String {
    let path = std::env::var_os("PATH").unwrap();
    let places = [programs.to_owned()];
    let path = std::env::join_paths(places.into_iter().chain(std::env::split_paths(&path)));
    path.unwrap().into_string().unwrap()
}

/// Does what a page says, in a folder where its packages are installed. `program` is what a person types to run the agent.
fn is_followed(
    page: &str,
    agent: &str,
    [old, new]: [&str; 2],
    program: &str,
    folder: &Folder,
    programs: &Path,
) {
    let (judging, playing) = page.split_once(PLAYING).unwrap();
    assert!(lines(judging) < MOST_LINES, "{} lines", lines(judging));
    let code = block(page, &format!("file: {agent}"));
    folder.write(agent, code);
    let suite = block(page, "file: suites/paying.yml");
    folder.write("suites/paying.yml", suite);
    let path = with_programs(programs);
    let provider = provider();
    let shown = block(page, "shown: record");
    prints(folder, &path, Some(&provider), shown, 0);
    drop(provider);
    prints(folder, &path, None, "$ cargo mcptest test\n…\n", 0);
    let other = replaced(judging, suite, "order: 7", "order: 8");
    folder.write("suites/paying.yml", &other);
    prints(folder, &path, None, block(page, "shown: test"), 101);

    let key = "playback: {}";
    assert!(playing.contains(&format!("```yaml,agent\n{key}\n```")));
    let plays = format!("{suite}    {key}\n");
    folder.write("suites/paying.yml", plays);
    prints(folder, &path, None, "$ cargo mcptest test\n…\n", 0);
    let other = replaced(playing, code, old, new);
    folder.write(agent, other);
    let shown = block(playing, "shown: playback");
    prints(folder, &path, None, shown, 101);

    // The same without either key, and green again with the code that was recorded.
    let play = format!("cargo mcptest play -- {program}");
    assert!(playing.contains(&format!("`{play}`")));
    let keys = suite.lines().filter(|line| !line.contains("command:"));
    let bare: Vec<&str> = keys.collect();
    assert_eq!(bare.len() + 1, suite.lines().count());
    folder.write("suites/paying.yml", format!("{}\n", bare.join("\n")));
    let (_, difference) = shown.split_once("  --- recorded\n").unwrap();
    let (difference, _) = difference.split_once("…\n").unwrap();
    let red = format!("$ {play}\n…\n  --- recorded\n{difference}…\n");
    prints(folder, &path, None, &red, 1);
    folder.write(agent, code);
    prints(folder, &path, None, &format!("$ {play}\n…\n"), 0);
}

/// The names that an installer is given, which are those that are installed here.
#[track_caller]
fn installs(page: &str, mark: &str, installer: &str, is_installed: &dyn Fn(&str) -> bool) {
    let line = block(page, mark)
        .lines()
        .find_map(|line| line.strip_prefix(installer));
    let names: Vec<&str> = line.unwrap().split_whitespace().collect();
    assert!(!names.is_empty());
    for name in names {
        let name = name.trim_matches('"');
        assert!(is_installed(name), "{name}");
    }
}

pub(crate) fn the_page_on_python() {
    let python = packages::python();
    let is_installed = |name: &str| {
        let mut all = packages::REQUIREMENTS.lines();
        name == "mcptest-harness" || all.any(|line| line.split("==").next() == Some(name))
    };
    install_the_library(&python);
    installs(PYTHON, "install: pip", "pip install ", &is_installed);
    let programs = python.parent().unwrap();
    let folder = Folder::new();
    let change = ["Pays an order", "Sends an order"];
    let program = "python3 agent.py";
    is_followed(PYTHON, "agent.py", change, program, &folder, programs);
}

pub(crate) fn the_page_on_typescript() {
    let javascript = typescript::modules("typescript-page", packages::PACKAGE);
    let library = ["mcptest-harness"];
    let is_installed = |name: &str| {
        library.contains(&name) || packages::PACKAGE.contains(&format!("\"{name}\": "))
    };
    installs(TYPESCRIPT, "install: npm", "npm install ", &is_installed);
    let folder = Folder::new();
    packages::link(&javascript, &folder);
    let programs = javascript.join("node_modules/.bin");
    let program = "npx tsx agent.mts";
    let change = ["Pays an order", "Sends an order"];
    is_followed(TYPESCRIPT, "agent.mts", change, program, &folder, &programs);
}
