//! The pages *An agent in Python* and *An agent in TypeScript*, from their first line to the red cases: of a suite that
//! wants something else, and of code that does something else.

use std::ffi::OsStr;
use std::path::Path;

use scripted_provider::{Provider, Script};
use serde_json::json;

use super::desk::{KEY, leads_to};
use crate::support::folder::Folder;
use crate::support::process;
use crate::support::transcript::matches_transcript;

const README: &str = include_str!("../../../README.md");
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

/// Where a page is followed: its packages are installed, and no cargo is on the `PATH`.
pub(in super::super) struct Installation<'a> {
    /// The project's folder.
    pub(in super::super) folder: &'a Folder,
    /// How the page calls the command.
    pub(in super::super) call: &'a str,
    /// Where the first word of the call is.
    pub(in super::super) program: &'a Path,
    pub(in super::super) path: &'a OsStr,
    /// Runs a line of the page's installation.
    pub(in super::super) install: &'a dyn Fn(&str),
}

impl Installation<'_> {
    /// Runs what a block shows, and compares what is printed.
    #[track_caller]
    pub(super) fn prints(&self, provider: Option<&Provider>, shown: &str, code: i32) {
        let (line, expected) = shown.split_once('\n').unwrap();
        let line = line.strip_prefix(&format!("$ {} ", self.call)).unwrap();
        let before = self.call.split(' ').skip(1);
        let mut command = process::command(self.program, self.folder.path());
        command
            .args(before.chain(line.split(' ')))
            .env("PATH", self.path);
        if let Some(provider) = provider {
            leads_to(&mut command, provider);
        }
        let said = process::run(&mut command).exits(code);
        let printed = format!("{}{}", said.stderr, said.stdout);
        // Which versions meet is said first, and the sum of the cases last.
        assert!(
            matches_transcript(&format!("…\n{expected}…\n"), &printed),
            "{said}"
        );
    }
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

/// Does what a page says. `program` is what a person types to run the agent.
fn is_followed(
    page: &str,
    agent: &str,
    [old, new]: [&str; 2],
    program: &str,
    at: &Installation<'_>,
) {
    let (judging, playing) = page.split_once(PLAYING).unwrap();
    assert!(lines(judging) < MOST_LINES, "{} lines", lines(judging));
    for line in block(page, "install: packages").lines() {
        (at.install)(line);
    }
    let (folder, call) = (at.folder, at.call);
    let code = block(page, &format!("file: {agent}"));
    folder.write(agent, code);
    let suite = block(page, "file: suites/paying.yml");
    folder.write("suites/paying.yml", suite);
    let test = format!("$ {call} test\n…\n");
    let provider = provider();
    at.prints(Some(&provider), block(page, "shown: record"), 0);
    drop(provider);
    at.prints(None, &test, 0);
    let other = replaced(judging, suite, "order: 7", "order: 8");
    folder.write("suites/paying.yml", &other);
    at.prints(None, block(page, "shown: test"), 101);

    folder.write("suites/paying.yml", suite);
    at.prints(None, &test, 0);
    let other = replaced(playing, code, old, new);
    folder.write(agent, other);
    let shown = block(playing, "shown: playback");
    at.prints(None, shown, 101);

    // The same without either key, and green again with the code that was recorded.
    let play = format!("{call} play -- {program}");
    assert!(playing.contains(&format!("`{play}`")));
    let own = |line: &&str| line.contains("command:") || line.ends_with("playback: {}");
    let bare: Vec<&str> = suite.lines().filter(|line| !own(line)).collect();
    assert_eq!(bare.len() + 2, suite.lines().count());
    folder.write("suites/paying.yml", format!("{}\n", bare.join("\n")));
    let (_, difference) = shown.split_once("  --- recorded\n").unwrap();
    let (difference, _) = difference.split_once("…\n").unwrap();
    let red = format!("$ {play}\n…\n  --- recorded\n{difference}…\n");
    at.prints(None, &red, 1);
    folder.write(agent, code);
    at.prints(None, &format!("$ {play}\n…\n"), 0);
}

/// Does what the README says, where the packages of the page on Python are installed.
pub(in super::super) fn the_readme(at: &Installation<'_>) {
    let folder = at.folder;
    let code = block(README, "file: agent.py");
    folder.write("agent.py", code);
    folder.write(
        "suites/paying.yml",
        block(README, "file: suites/paying.yml"),
    );
    let provider = provider();
    at.prints(Some(&provider), block(README, "shown: record"), 0);
    drop(provider);
    let test = format!("$ {} test\n…\n", at.call);
    at.prints(None, &test, 0);
    let [old, new] = ["a refund clerk", "a polite refund clerk"];
    folder.write("agent.py", replaced(README, code, old, new));
    at.prints(None, block(README, "shown: playback"), 101);
    folder.write("agent.py", code);
    at.prints(None, &test, 0);
}

pub(in super::super) fn the_page_on_python(at: &Installation<'_>) {
    let change = ["Pays an order", "Sends an order"];
    is_followed(PYTHON, "agent.py", change, "python3 agent.py", at);
}

pub(in super::super) fn the_page_on_typescript(at: &Installation<'_>) {
    let change = ["Pays an order", "Sends an order"];
    is_followed(TYPESCRIPT, "agent.mts", change, "npx tsx agent.mts", at);
}
