//! The guide is the README and the pages of `docs/`. What it shows is executed: a block of code
//! says by its language, and by a comment `<!-- kind: about -->` right above it, how.
//!
//! | block | what is done with it |
//! |---|---|
//! | ```` ```yaml ```` | a whole suite: it loads |
//! | ```` ```yaml,agent ````, ```` ```yaml,suite ```` | keys of an agent, or of a suite beside its agents: they load in a suite |
//! | `refused`, `message` | a suite that does not load, and what is said of it |
//! | `cassette` | a recording: it is read, and needs each of its keys |
//! | `file`, `cases`, `output`, `shown`, `recording`, `twin`, `example`, `commands`, `run by` | see [`USED`] |
//! | `options`, `keys`, `matchers` | no block but a table, made from the schema |

mod blocks;
mod book;
mod links;
mod tables;

use std::fs;
use std::path::PathBuf;

use crate::support::workshop::workspace;

/// The marked blocks, page by page, and with what each is executed. A block that no test looks at is
/// a block that nobody keeps true.
const USED: &[(&str, &str, &str)] = &[
    ("README.md", "file: agent.py", "needs/sessions/pages"),
    (
        "README.md",
        "file: suites/paying.yml",
        "needs/sessions/pages",
    ),
    ("README.md", "shown: record", "needs/sessions/pages"),
    ("README.md", "shown: playback", "needs/sessions/pages"),
    ("README.md", "output: cargo test ::narrative", "newcomer"),
    ("README.md", "run by: .ci/run", ".ci/run"),
    (
        "docs/agent-in-python.md",
        "install: packages",
        "needs/sessions/pages",
    ),
    (
        "docs/agent-in-python.md",
        "file: agent.py",
        "needs/sessions/pages",
    ),
    (
        "docs/agent-in-python.md",
        "file: suites/paying.yml",
        "needs/sessions/pages",
    ),
    (
        "docs/agent-in-python.md",
        "shown: record",
        "needs/sessions/pages",
    ),
    (
        "docs/agent-in-python.md",
        "shown: test",
        "needs/sessions/pages",
    ),
    (
        "docs/agent-in-python.md",
        "shown: playback",
        "needs/sessions/pages",
    ),
    ("docs/agent-in-rust.md", "file: Cargo.toml", "newcomer"),
    ("docs/agent-in-rust.md", "file: tests/agents.rs", "newcomer"),
    (
        "docs/agent-in-rust.md",
        "file: suites/refunds.yml",
        "newcomer",
    ),
    (
        "docs/agent-in-rust.md",
        "file: suites/cassettes/Refund_agent__gpt-5.json",
        "newcomer",
    ),
    (
        "docs/agent-in-rust.md",
        "cases: cargo test --test agents",
        "newcomer",
    ),
    (
        "docs/agent-in-rust.md",
        "part of: tests/examples.rs",
        "blocks",
    ),
    (
        "docs/agent-in-typescript.md",
        "install: packages",
        "needs/sessions/pages",
    ),
    (
        "docs/agent-in-typescript.md",
        "file: agent.mts",
        "needs/sessions/pages",
    ),
    (
        "docs/agent-in-typescript.md",
        "file: suites/paying.yml",
        "needs/sessions/pages",
    ),
    (
        "docs/agent-in-typescript.md",
        "shown: record",
        "needs/sessions/pages",
    ),
    (
        "docs/agent-in-typescript.md",
        "shown: test",
        "needs/sessions/pages",
    ),
    (
        "docs/agent-in-typescript.md",
        "shown: playback",
        "needs/sessions/pages",
    ),
    ("docs/cassettes.md", "cassette: the smallest", "blocks"),
    (
        "docs/change-to-merge.md",
        "shown: playback",
        "needs/sessions/merging",
    ),
    (
        "docs/change-to-merge.md",
        "shown: cost",
        "needs/sessions/merging",
    ),
    (
        "docs/change-to-merge.md",
        "shown: record",
        "needs/sessions/merging",
    ),
    (
        "docs/change-to-merge.md",
        "shown: comment",
        "needs/sessions/merging",
    ),
    (
        "docs/change-to-merge.md",
        "shown: compare",
        "needs/sessions/merging",
    ),
    ("docs/checks.md", "file: tests/checks.rs", "newcomer"),
    ("docs/checks.md", "file: suites/polite.yml", "newcomer"),
    ("docs/checks.md", "file: tests/polite.rs", "newcomer"),
    ("docs/ci.md", "commands: demo", "newcomer"),
    (
        "docs/ci.md",
        "workflow: the set-up for TypeScript",
        "cargo-mcptest/tests/action",
    ),
    (
        "docs/ci.md",
        "workflow: agents.yml",
        "cargo-mcptest/tests/action",
    ),
    (
        "docs/ci.md",
        "workflow: record.yml",
        "cargo-mcptest/tests/action",
    ),
    (
        "docs/ci.md",
        "workflow: drift.yml",
        "cargo-mcptest/tests/action",
    ),
    (
        "docs/ci.md",
        "workflow: shards.yml",
        "cargo-mcptest/tests/shards",
    ),
    ("docs/ci.md", "nextest: shards", "needs/nextest"),
    (
        "docs/contract.md",
        "shown: what breaks",
        "cargo-mcptest/tests/contract",
    ),
    (
        "docs/contract.md",
        "shown: what breaks nothing",
        "cargo-mcptest/tests/contract",
    ),
    (
        "docs/evidence.md",
        "mcptest commands: install",
        "cargo-mcptest/tests/guide",
    ),
    (
        "docs/evidence.md",
        "mcptest: four agents",
        "cargo-mcptest/tests/guide",
    ),
    (
        "docs/evidence.md",
        "mcptest: a shop",
        "cargo-mcptest/tests/guide",
    ),
    (
        "docs/evidence.md",
        "mcptest: thirty runs",
        "cargo-mcptest/tests/guide",
    ),
    (
        "docs/evidence.md",
        "mcptest: thirty runs, calibrated",
        "cargo-mcptest/tests/guide",
    ),
    (
        "docs/evidence.md",
        "mcptest: a shop",
        "cargo-mcptest/tests/guide",
    ),
    (
        "docs/gates.md",
        "twin: offline-trace-validation.yml",
        "twins",
    ),
    (
        "docs/gates.md",
        "twin: fault-injection-recovery.yml",
        "twins",
    ),
    (
        "docs/importing.md",
        "mcptest: a log",
        "cargo-mcptest/tests/guide",
    ),
    (
        "docs/importing.md",
        "mcptest: a log",
        "cargo-mcptest/tests/guide",
    ),
    (
        "docs/live-guard.md",
        "part of: mcptest-trace/examples/live_guard.rs",
        "blocks",
    ),
    ("docs/live-guard.md", "example: live_guard", "blocks"),
    ("docs/live-guard.md", "example: energy_options", "blocks"),
    (
        "docs/live-guard.md",
        "part of: mcptest-trace/examples/energy_options.rs",
        "blocks",
    ),
    (
        "docs/live-guard.md",
        "part of: mcptest-trace/examples/energy_options.rs",
        "blocks",
    ),
    (
        "docs/live-guard.md",
        "part of: mcptest-trace/examples/energy_options.rs",
        "blocks",
    ),
    (
        "docs/own-tools.md",
        "install: mcptest-harness",
        "needs/own_tools",
    ),
    ("docs/own-tools.md", "file: refund.py", "python/tests"),
    (
        "docs/own-tools.md",
        "wire: call",
        "mcptest-session/tests/own_tools_page",
    ),
    (
        "docs/own-tools.md",
        "wire: done",
        "mcptest-session/tests/own_tools_page",
    ),
    ("docs/own-tools.md", "file: by_hand.py", "python/tests"),
    (
        "docs/playback.md",
        "shown: another system prompt, another field",
        "cargo-mcptest/tests/playback",
    ),
    (
        "docs/playback.md",
        "shown: a tool removed",
        "cargo-mcptest/tests/playback",
    ),
    (
        "docs/playback.md",
        "shown: an argument changed",
        "cargo-mcptest/tests/playback",
    ),
    (
        "docs/playback.md",
        "shown: an error swallowed",
        "cargo-mcptest/tests/playback",
    ),
    (
        "docs/playback.md",
        "shown: a past call edited",
        "cargo-mcptest/tests/playback",
    ),
    (
        "docs/playback.md",
        "shown: a call too many",
        "cargo-mcptest/tests/playback",
    ),
    (
        "docs/playback.md",
        "shown: a call too few",
        "cargo-mcptest/tests/playback",
    ),
    (
        "docs/playback.md",
        "shown: a crash at the end",
        "cargo-mcptest/tests/playback",
    ),
    (
        "docs/playback.md",
        "part of: mcptest-session/src/handle.rs",
        "blocks",
    ),
    (
        "docs/playback.md",
        "part of: tests/agent_function.rs",
        "blocks",
    ),
    (
        "docs/recording.md",
        "part of: examples/rust-agents/agents/tests/genai.rs",
        "blocks",
    ),
    (
        "docs/recording.md",
        "file: suites/orders.yml",
        "guide_recording",
    ),
    (
        "docs/recording.md",
        "recording: suites/orders.yml",
        "guide_recording",
    ),
    (
        "docs/recording.md",
        "file: tests/own_agent.rs",
        "guide_recording",
    ),
    (
        "docs/recording.md",
        "part of: examples/rust-agents/spans/src/bin/desk_over_rig.rs",
        "blocks",
    ),
    (
        "docs/recording.md",
        "shown: record --changed",
        "cargo-mcptest/tests/changed",
    ),
    ("docs/recording.md", "file: tools.yml", "recording/mock"),
    (
        "docs/recording.md",
        "file: suites/made_up.yml",
        "recording/mock",
    ),
    (
        "docs/reports.md",
        "mcptest commands: reports",
        "cargo-mcptest/tests/guide",
    ),
    (
        "docs/reports.md",
        "mcptest: a shop",
        "cargo-mcptest/tests/guide",
    ),
    (
        "docs/reports.md",
        "mcptest: a shop",
        "cargo-mcptest/tests/guide",
    ),
    (
        "docs/reports.md",
        "mcptest: four agents",
        "cargo-mcptest/tests/guide",
    ),
    (
        "docs/reports.md",
        "mcptest commands: evidence",
        "cargo-mcptest/tests/guide",
    ),
    (
        "docs/reports.md",
        "mcptest: a shop",
        "cargo-mcptest/tests/guide",
    ),
    (
        "docs/reports.md",
        "manifest: roots",
        "cargo-mcptest/tests/guide",
    ),
    (
        "docs/suites.md",
        "file: tests/with_the_standard_harness.rs",
        "newcomer",
    ),
];

/// A page of the guide.
pub(crate) struct Page {
    /// Its path from the workspace, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// A block of code.
pub(crate) struct Block {
    pub(crate) page: String,
    /// The line that it begins on, from 1.
    pub(crate) line: usize,
    /// What stands behind the fence.
    pub(crate) language: String,
    /// The kind and the subject that the comment above it says; empty without one.
    pub(crate) kind: String,
    pub(crate) about: String,
    pub(crate) text: String,
}

impl Block {
    pub(crate) fn location(&self) -> String {
        format!("{}:{}", self.page, self.line)
    }
}

/// The README, then the pages of `docs/` by name, without the list of them.
pub(crate) fn pages() -> Vec<Page> {
    let folder = fs::read_dir(workspace().join("docs")).unwrap();
    let mut docs: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    let is_page = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "md");
    docs.retain(|path| is_page(path) && !path.ends_with("SUMMARY.md"));
    docs.sort();
    let names = docs.iter().map(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        format!("docs/{name}")
    });
    let paths = std::iter::once("README.md".to_owned()).chain(names);
    let read = |path: String| Page {
        text: fs::read_to_string(workspace().join(&path)).unwrap(),
        path,
    };
    paths.map(read).collect()
}

/// The comment in a line of its own: its kind and what it is about.
fn comment(line: &str) -> Option<(&str, &str)> {
    let inner = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    inner.split_once(": ")
}

impl Page {
    /// Its blocks of code.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut lines = (1..).zip(self.text.lines());
        let mut above = "";
        while let Some((line, text)) = lines.next() {
            let Some(language) = text.strip_prefix("```") else {
                assert!(
                    !text.contains("```"),
                    "{}:{line} is no block that is read",
                    self.path
                );
                above = text;
                continue;
            };
            let inside = lines.by_ref().map(|(_, text)| text);
            let inside = inside.take_while(|text| *text != "```");
            let (kind, about) = comment(above).unwrap_or_default();
            blocks.push(Block {
                page: self.path.clone(),
                line,
                language: language.to_owned(),
                kind: kind.to_owned(),
                about: about.to_owned(),
                text: inside.map(|text| format!("{text}\n")).collect(),
            });
            above = "";
        }
        blocks
    }
}

/// The blocks of all pages.
pub(crate) fn blocks() -> Vec<Block> {
    pages().iter().flat_map(Page::blocks).collect()
}

/// The text of the one block of a kind and a subject.
pub(crate) fn block<'a>(blocks: &'a [Block], kind: &str, about: &str) -> &'a str {
    let fits = |block: &&Block| block.kind == kind && block.about == about;
    let mut found = blocks.iter().filter(fits);
    let one = found.next();
    assert!(found.next().is_none(), "two blocks `{kind}: {about}`");
    let one = one.unwrap_or_else(|| panic!("the guide has no block `{kind}: {about}`"));
    &one.text
}
