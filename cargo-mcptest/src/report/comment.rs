//! What a pull request is told: a comment a suite, which a workflow keeps up to date.
//!
//! A comment begins with a marker that nobody sees and by which it is found again. Its first line that is
//! seen is the verdict.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use mcptest::command::command_line;
use mcptest::result::{CaseResult, CaseStatus};
use mcptest::suite::gates::GateKind;
use mcptest_suite::portable_path;
use mcptest_trace::record::redact::Redactor;
use mcptest_trace::text::{MarkdownBlock, join_blocks, pluralize};

use super::markdown::{HEAD, agent_rows, folded};
use crate::compare::{Compared, GITHUB, redactor, truncation_note};
use crate::failure::Failure;
use crate::files;
use crate::judging::PackageVerdicts;
use crate::status::ExitStatus;
use crate::table::escaped;

/// The comment of a suite.
pub(super) struct Comment {
    /// The name of the suite.
    name: String,
    text: String,
}

/// The comment of each suite, in the order of their names.
pub(super) fn comments(
    verdicts: &PackageVerdicts,
    compared: &Compared,
) -> Result<Vec<Comment>, Failure> {
    let redactor = redactor()?;
    let package = &verdicts.opened.package;
    let folder = package.work_tree.as_ref().unwrap_or(&package.folder);
    let below = crate::git::repository_prefix(folder).unwrap_or_default();
    let suites: BTreeMap<&str, String> = verdicts
        .opened
        .suites
        .suites()
        .map(|(name, suite)| {
            let path = suite.source.path();
            let file = path.strip_prefix(&package.folder).unwrap_or(path);
            (name, portable_path(file))
        })
        .collect();
    let files: Vec<&str> = suites.values().map(String::as_str).collect();
    let comment = |(place, (name, file)): (usize, (&&str, &String))| {
        let shown = portable_path(&below.join(file));
        let cases = verdicts.cases.iter();
        let cases: Vec<&CaseResult> = cases.filter(|case| case.suite.file == *file).collect();
        let mut blocks = compared.suite_markdown(file, &files);
        blocks.splice(0..1, headline(&shown, &blocks, &cases));
        blocks.extend(case_blocks(&cases, &redactor));
        if place == 0 {
            let notes = verdicts.notes.iter();
            blocks.extend(notes.map(|note| MarkdownBlock::new(format!("\n{}\n", escaped(note)))));
        }
        Comment {
            name: (*name).to_owned(),
            text: join_blocks(&blocks, GITHUB, &truncation_note()),
        }
    };
    Ok(suites.iter().enumerate().map(comment).collect())
}

/// The marker, the verdict, and whose it is.
fn headline(suite: &str, blocks: &[MarkdownBlock], cases: &[&CaseResult]) -> [MarkdownBlock; 2] {
    let failed = cases
        .iter()
        .filter(|case| case.status == CaseStatus::Failed);
    let failed = match failed.count() {
        0 => String::new(),
        1 => format!(" **1 of {} fails.**", pluralize(cases.len(), "case")),
        more => format!(" **{more} of {} fail.**", pluralize(cases.len(), "case")),
    };
    let verdict = blocks.first().map_or("", |first| first.head.trim_end());
    let played = playback_note(cases).unwrap_or_default();
    [
        MarkdownBlock::new(format!("{}\n{verdict}{failed}{played}\n", marker(suite))),
        MarkdownBlock::new(format!("\nAgent tests of {}\n", escaped(suite))),
    ]
}

/// What a pull request comes to: the comparison, and whether the agents' own code still does what is recorded. Whether
/// other cases are red is for the tests to say.
pub(super) fn status(verdicts: &PackageVerdicts, compared: ExitStatus) -> ExitStatus {
    if verdicts.status() == ExitStatus::CouldNotRun {
        return ExitStatus::CouldNotRun;
    }
    let mut played = verdicts.cases.iter().filter(|case| is_played(case));
    match compared {
        ExitStatus::Holds | ExitStatus::CannotTell
            if played.any(|case| case.status == CaseStatus::Failed) =>
        {
            ExitStatus::Finding
        }
        compared => compared,
    }
}

/// Whether a case runs the agent's own code against its recordings.
fn is_played(case: &CaseResult) -> bool {
    case.gate.as_deref() == Some(GateKind::Playback.name())
}

/// How many recordings the agents' own code does otherwise now, which agents have none that can be played, and how they
/// are recorded anew; nothing where all play.
fn playback_note(cases: &[&CaseResult]) -> Option<String> {
    let (mut broken, mut all) = (0, 0);
    let (mut changed, mut unplayed) = (BTreeSet::new(), BTreeSet::new());
    for case in cases.iter().filter(|case| is_played(case)) {
        let verdicts = case.run_verdicts.iter();
        let fail = verdicts.filter(|verdict| verdict.passed() == Some(false));
        let fail = fail.count();
        all += case.run_verdicts.len();
        broken += fail;
        let agent = case.agent.iter().map(|agent| agent.case.as_str());
        if fail > 0 {
            changed.extend(agent);
        } else if case.status == CaseStatus::Failed && case.run_verdicts.is_empty() {
            unplayed.extend(agent);
        }
    }
    let command = |agents: &BTreeSet<&str>| {
        let first = agents.first()?;
        let filter = match agents.len() {
            1 => (*first).to_owned(),
            _ => format!("{}::", first.split("::").next().unwrap_or_default()),
        };
        Some(command_line(&format!("record --changed {filter}")).replace('`', "ʼ"))
    };
    let changed = command(&changed).map(|command| {
        format!(
            " **{broken} of {} no longer play{}: record them with `{command}`.**",
            pluralize(all, "recording"),
            if broken == 1 { "s" } else { "" },
        )
    });
    let cannot_be = command(&unplayed).map(|command| {
        let (count, them) = (
            unplayed.len(),
            if unplayed.len() == 1 { "it" } else { "them" },
        );
        let have = if count == 1 { "has" } else { "have" };
        format!(
            " **{} {have} no recordings that can be played: record {them} with `{command}`.**",
            pluralize(count, "agent")
        )
    });
    let both: String = [changed, cannot_be].into_iter().flatten().collect();
    (!both.is_empty()).then_some(both)
}

/// What the comment of a suite begins with.
fn marker(suite: &str) -> String {
    let suite: String = suite.chars().filter(|sign| !sign.is_control()).collect();
    // `-->` would end it.
    format!("<!-- mcptest: {} -->", suite.replace('>', "&gt;"))
}

/// What fails; then every agent, those of which no case fails folded.
fn case_blocks(cases: &[&CaseResult], redactor: &Redactor) -> Vec<MarkdownBlock> {
    let (red, green): (Vec<_>, Vec<_>) = agent_rows(cases.iter().copied())
        .into_iter()
        .partition(|(fails, _)| *fails);
    let of = |rows: Vec<(bool, String)>| rows.into_iter().map(|(_, row)| row).collect();
    let mut blocks = Vec::new();
    if !red.is_empty() {
        blocks.push(MarkdownBlock {
            head: format!("\n{HEAD}"),
            rows: of(red),
            tail: String::new(),
        });
    }
    let failed = cases
        .iter()
        .filter(|case| case.status == CaseStatus::Failed);
    blocks.extend(
        failed
            .filter_map(|case| folded(case, redactor))
            .map(MarkdownBlock::new),
    );
    if !green.is_empty() {
        let count = pluralize(green.len(), "agent");
        blocks.push(MarkdownBlock {
            head: format!("\n<details><summary>{count} without a failed case</summary>\n\n{HEAD}"),
            rows: of(green),
            tail: "\n</details>\n".to_owned(),
        });
    }
    let ignored = cases
        .iter()
        .filter(|case| case.status == CaseStatus::Ignored);
    let ignored: Vec<String> = ignored
        .map(|case| {
            let reason = case.reason.as_deref().unwrap_or_default();
            format!("- {}: {}\n", escaped(&case.case), escaped(reason))
        })
        .collect();
    if !ignored.is_empty() {
        blocks.push(MarkdownBlock {
            head: format!(
                "\n<details><summary>{} ignored</summary>\n\n",
                pluralize(ignored.len(), "case")
            ),
            rows: ignored,
            tail: "\n</details>\n".to_owned(),
        });
    }
    blocks
}

/// All of them, one after the other.
pub(super) fn text(comments: &[Comment]) -> String {
    let texts: Vec<&str> = comments
        .iter()
        .map(|comment| comment.text.as_str())
        .collect();
    texts.join("\n")
}

/// Writes each into a file of its own in a folder, in the place of older ones there.
pub(super) fn write_comments(comments: &[Comment], folder: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(format!(
            "the comments cannot be written to `{}`: {error}",
            folder.display()
        ))
    };
    fs::create_dir_all(folder).map_err(failed)?;
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let text = fs::read_to_string(&path).unwrap_or_default();
        if path.extension().is_some_and(|end| end == "md") && text.starts_with("<!-- mcptest: ") {
            fs::remove_file(&path).map_err(failed)?;
        }
    }
    for (number, comment) in comments.iter().enumerate() {
        let name = mcptest_trace::text::slug(&comment.name);
        let path = folder.join(format!("{:03}-{name}.md", number + 1));
        files::replace(&path, &comment.text).map_err(failed)?;
    }
    Ok(())
}
