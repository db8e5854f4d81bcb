//! The `playback` gate: does the agent's own code, run against a recording, still do what was recorded?

use std::{iter, ptr};

use mcptest_suite::{Diagnostic, Node, escape_line};
use regex::Regex;
use serde_json::{Value, json};

use super::block::Block;
use super::form::Own;
use super::key::{Key, Keyed, Range};
use super::table::GateEntry;
use super::{
    Breach, Cause, Counts, EachRun, Expect, Input, Options, PlayedFacts, RunScore, RunVerdict,
    SnapshotStore, Threshold, wide,
};
use crate::eval::{Divergence, DivergenceKind, IgnoredPath, PlaybackOptions, PlaybackReport};
use crate::record::PlayedRun;
use crate::render::{Diff, Evidence};
use crate::text::{numbers, truncate_lines};
use crate::trace::{Run, pretty_json};

pub(super) const ENTRY: GateEntry = GateEntry::each_run::<PlaybackOptions>();

/// Runs an agent's own code against its recordings.
pub(crate) trait Player {
    /// What became of a recorded run, by its place. An error is why it could not be played.
    fn played(&self, run: usize, options: &PlaybackOptions) -> Result<&PlayedRun, Unplayable>;

    /// The command that records the agent anew.
    fn command(&self) -> String;
}

/// Why a run was not played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unplayable {
    /// What was found.
    pub(crate) found: String,
    /// What shows it.
    pub(crate) details: Vec<String>,
    pub(crate) help: Option<String>,
}

impl Options for PlaybackOptions {
    const SAYS: &'static str = "The agent's own code, run against each recording, still does what was recorded. Needs `command:`, or its function. Default: playback.passed >= 1.";

    const EXAMPLE: &'static str = "playback: {}";

    // Whether code does what was recorded is no matter of degree.
    const CALIBRATED_BY: Option<&'static str> = None;
}

impl Keyed for PlaybackOptions {
    const KEYS: &'static [Key<Self>] = &[
        Key::form(
            "ignore",
            &Own {
                schema: kinds_schema,
                read: ignore,
            },
        )
        .says("What may differ from the recording."),
        Key::form(
            "ignore_paths",
            &Own {
                schema: texts_schema,
                read: ignore_paths,
            },
        )
        .says("Values that may differ, each by its path, such as `parameters.seed`."),
        Key::form(
            "mask",
            &Own {
                schema: texts_schema,
                read: mask,
            },
        )
        .says("Regular expressions. What they match is blanked in the recording and in what is asked now, before the two are compared."),
        Key::number("timeout_s", Range::Above0, |options: &mut Self| {
            &mut options.timeout_s
        })
        .says("The most seconds that a played run may take."),
        Key::flag("gates", |options: &mut Self| &mut options.gates).says(
            "Whether the agent's gates that judge run by run, and its `expect:`, judge the played run too.",
        ),
    ];

    fn usual() -> Self {
        Self::usual()
    }
}

fn ignorable() -> impl Iterator<Item = &'static str> {
    let kinds = DivergenceKind::ALL.into_iter();
    kinds
        .filter(|kind| kind.may_be_ignored())
        .map(DivergenceKind::as_str)
}

fn kinds_schema() -> Value {
    let words: Vec<&str> = ignorable().collect();
    json!({ "type": "array", "items": { "enum": words } })
}

fn texts_schema() -> Value {
    json!({ "type": "array", "items": { "type": "string" } })
}

fn ignore(block: &mut Block<'_, '_>, node: &Node, options: &mut PlaybackOptions) -> bool {
    let before = block.problems.noted();
    for item in block.problems.items(node, "kinds").into_iter().flatten() {
        let Some(word) = block.problems.words(item) else {
            continue;
        };
        let mut kinds = DivergenceKind::ALL.into_iter();
        let kind = kinds.find(|kind| kind.may_be_ignored() && kind.as_str() == word.value);
        if let Some(kind) = kind {
            options.ignore.insert(kind);
            continue;
        }
        let all: Vec<&str> = ignorable().collect();
        let message = format!(
            "`ignore` takes `{}`, found `{}`",
            all.join("`, `"),
            word.value
        );
        let mut problem = Diagnostic::at(item.span, message);
        if let Some(near) = mcptest_suite::nearest(&word.value, ignorable()) {
            problem = problem.help(format!("did you mean `{near}`?"));
        }
        block.problems.push(problem);
    }
    block.problems.noted() == before
}

fn ignore_paths(block: &mut Block<'_, '_>, node: &Node, options: &mut PlaybackOptions) -> bool {
    let before = block.problems.noted();
    for item in block.problems.items(node, "paths").into_iter().flatten() {
        let Some(text) = block.problems.words(item) else {
            continue;
        };
        match text.value.parse::<IgnoredPath>() {
            Ok(path) => options.ignore_paths.push(path),
            Err(message) => {
                let help = "write e.g. `tool_results[*].looked_up` or `parameters.seed`";
                block
                    .problems
                    .push(Diagnostic::at(item.span, message).help(help));
            }
        }
    }
    block.problems.noted() == before
}

/// Texts that have nothing in common: masks that make two of them one text would make any two texts one.
const UNLIKE: [&str; 6] = [
    "Refund order 7, please.",
    "You are a clerk at the desk of orders.",
    "Error: there is no such customer",
    "{\"status\":\"delivered\",\"total\":18.5}",
    "zwei\nZeilen: ja",
    "ok",
];

/// Whether masks leave nothing to compare of most texts.
fn hides_all(masks: &[Regex]) -> bool {
    let rest = UNLIKE.map(|text| {
        let masked = masks.iter().fold(text.to_owned(), |text, mask| {
            mask.replace_all(&text, "\u{0}").into_owned()
        });
        let letters = masked.chars().filter(|letter| letter.is_alphanumeric());
        // A few letters that are left tell no text from another.
        letters.count() * 4 < text.chars().count()
    });
    rest.into_iter().filter(|hidden| *hidden).count() * 2 >= UNLIKE.len()
}

fn mask(block: &mut Block<'_, '_>, node: &Node, options: &mut PlaybackOptions) -> bool {
    let before = block.problems.noted();
    let mut masks: Vec<Regex> = Vec::new();
    let items = block.problems.items(node, "regular expressions");
    for item in items.into_iter().flatten() {
        let Some(text) = block.problems.words(item) else {
            continue;
        };
        let text = text.value;
        let problem = match Regex::new(&text) {
            Err(error) => {
                let words = error.to_string();
                let last = words.lines().last().unwrap_or_default();
                let last = last.trim_start_matches("error: ");
                Diagnostic::at(
                    item.span,
                    format!("`{text}` is no regular expression: {last}"),
                )
            }
            Ok(mask) if mask.as_str().is_empty() => {
                Diagnostic::at(item.span, "an empty mask blanks nothing").help("leave it out")
            }
            Ok(mask) => {
                masks.push(mask);
                if !hides_all(&masks) {
                    options.mask.push(text);
                    continue;
                }
                let message = if masks.len() == 1 {
                    format!(
                        "`{text}` matches nearly all of a text, so hardly anything would be compared"
                    )
                } else {
                    format!(
                        "with `{text}` the masks match nearly all of a text, so hardly anything would be compared"
                    )
                };
                Diagnostic::at(item.span, message)
                    .help("match only what changes from day to day, such as `\\d{4}-\\d{2}-\\d{2}`")
            }
        };
        block.problems.push(problem);
    }
    block.problems.noted() == before
}

/// Why a gate has no number for a run.
fn unplayable(why: Unplayable) -> Box<Breach> {
    let cause = Cause::Gate("the agent's own code must be run against the recording".to_owned());
    Box::new(Breach {
        details: why.details,
        help: why.help,
        ..Breach::new(cause, &why.found)
    })
}

/// What the player made of a run.
fn played<'i>(
    options: &PlaybackOptions,
    input: &Input<'i>,
    run: &Run,
) -> Result<&'i PlayedRun, Unplayable> {
    let not_here = || Unplayable {
        found: "nothing that runs it here".to_owned(),
        details: Vec::new(),
        help: None,
    };
    let player = input.player.ok_or_else(not_here)?;
    let place = input.runs.iter().position(|other| ptr::eq(other, run));
    player.played(place.ok_or_else(not_here)?, options)
}

impl EachRun for PlaybackOptions {
    type Report = PlaybackReport;

    const DEFAULT: &'static [Threshold] = &[Threshold::at_least("playback.passed", 1.0)];

    fn score(&self, input: &Input<'_>, run: &Run) -> Result<RunScore<PlaybackReport>, Box<Breach>> {
        let played = played(self, input, run).map_err(unplayable)?;
        let mut report = played.report.clone();
        if self.gates {
            report.turned = turned(input, run, played.run.as_ref());
        }
        Ok(RunScore::of(report))
    }

    fn counts(&self, _run: &Run, report: &PlaybackReport) -> Counts {
        Counts::from([("model calls played", wide(report.model_calls))])
    }

    fn played(&self, input: &Input<'_>, run: &Run, report: &PlaybackReport) -> Option<PlayedFacts> {
        let place = input.runs.iter().position(|other| ptr::eq(other, run))?;
        let played = played(self, input, run).ok()?;
        Some(PlayedFacts::of(place, played, report))
    }

    fn explain(&self, input: &Input<'_>, run: &Run, report: &PlaybackReport) -> Vec<Evidence> {
        let place = input.runs.iter().position(|other| ptr::eq(other, run));
        place.map_or_else(Vec::new, |place| {
            self.explain_all(input, &[(place, report)])
        })
    }

    fn explain_rest(&self, _run: &Run, report: &PlaybackReport) -> Vec<Evidence> {
        if !report.passed() {
            return Vec::new();
        }
        let calls = mcptest_trace::text::counted(report.model_calls, "model call");
        let text = format!("the code made {calls}, each as recorded");
        vec![Evidence::Text(text)]
    }

    /// One change of the code shows in many runs: it is told once, with the runs.
    fn explain_all(&self, input: &Input<'_>, broken: &[(usize, &PlaybackReport)]) -> Vec<Evidence> {
        let mut evidence = differences(input, broken);
        let turned =
            common(broken.iter().flat_map(|(run, report)| {
                report.turned.iter().map(move |line| (*run, line.clone()))
            }));
        if !turned.is_empty() {
            let title = "what holds for the recording and not for the run that the code made:";
            evidence.push(listed(title, &turned, input, "- "));
        }
        let played = |run: usize| played(self, input, &input.runs[run]).ok();
        let ended = common(
            broken
                .iter()
                .filter_map(|(run, _)| Some((*run, played(*run)?.ended.clone()?))),
        );
        if !ended.is_empty() {
            evidence.push(listed("how the code ended:", &ended, input, "- "));
        }
        let words = broken
            .iter()
            .find_map(|(run, _)| played(*run).filter(|played| !played.stderr.is_empty()));
        if let Some(played) = words {
            let lines = played
                .stderr
                .iter()
                .map(|line| format!("  | {}", escape_line(line)));
            let title = "the last lines of the program's standard error:".to_owned();
            let lines: Vec<String> = iter::once(title).chain(lines).collect();
            evidence.push(Evidence::Text(truncate_lines(&lines)));
        }
        if let Some(player) = input
            .player
            .filter(|_| broken.iter().any(|(_, report)| !report.passed()))
        {
            evidence.push(Evidence::Text(format!(
                "mend the code; or, where the change was meant, record anew: MCPTEST_RECORD=all {}",
                player.command()
            )));
        }
        evidence
    }
}

/// What several runs say alike, with the runs, in the order in which it was said first.
fn common(all: impl Iterator<Item = (usize, String)>) -> Vec<(String, Vec<usize>)> {
    let mut common: Vec<(String, Vec<usize>)> = Vec::new();
    for (run, line) in all {
        match common.iter_mut().find(|(known, _)| *known == line) {
            Some((_, runs)) => runs.push(run),
            None => common.push((line, vec![run])),
        }
    }
    common
}

/// In which runs, where the agent has several.
fn in_runs(runs: &[usize], input: &Input<'_>) -> String {
    match runs {
        _ if input.runs.len() == 1 => String::new(),
        all if all.len() == input.runs.len() => "in every run: ".to_owned(),
        [one] => format!("in run {}: ", one + 1),
        some => format!("in runs {}: ", numbers(some)),
    }
}

fn listed(
    title: &str,
    lines: &[(String, Vec<usize>)],
    input: &Input<'_>,
    before: &str,
) -> Evidence {
    let lines = lines
        .iter()
        .map(|(line, runs)| format!("{before}{}{}", in_runs(runs, input), escape_line(line)));
    let lines: Vec<String> = iter::once(title.to_owned()).chain(lines).collect();
    Evidence::Text(truncate_lines(&lines))
}

/// What the code does differently: the first in full, the others a line each.
fn differences(input: &Input<'_>, broken: &[(usize, &PlaybackReport)]) -> Vec<Evidence> {
    let mut all: Vec<(&Divergence, Vec<usize>)> = Vec::new();
    for (run, report) in broken {
        for one in report.divergences.iter().chain(&report.unasked) {
            // At which model call it shows may differ from run to run.
            let is_same = |other: &Divergence| {
                (other.kind, &other.path, &other.message) == (one.kind, &one.path, &one.message)
                    && other.recorded == one.recorded
                    && other.played == one.played
            };
            match all.iter_mut().find(|(known, _)| is_same(known)) {
                Some((_, runs)) => runs.push(*run),
                None => all.push((one, vec![*run])),
            }
        }
    }
    let Some(((first, runs), others)) = all.split_first() else {
        return Vec::new();
    };
    let mut evidence = in_full(first, &in_runs(runs, input));
    if !others.is_empty() {
        let lines: Vec<(String, Vec<usize>)> = others
            .iter()
            .map(|(one, runs)| (format!("{one} (`{}`)", one.path), runs.clone()))
            .collect();
        evidence.push(listed("then:", &lines, input, "- "));
    }
    evidence
}

/// The gates that hold for the recorded run and not for the run that the code made.
fn turned(input: &Input<'_>, recorded: &Run, played: Option<&Run>) -> Vec<String> {
    let Some(played) = played else {
        return Vec::new();
    };
    let of = |run: &Run, judge: &dyn Fn(&Input<'_>) -> Option<Vec<String>>| {
        judge(&Input {
            runs: std::slice::from_ref(run),
            snapshots: &NoSnapshots,
            player: None,
            ..*input
        })
    };
    let mut turned = Vec::new();
    let mut ask = |name: &str, judge: &dyn Fn(&Input<'_>) -> Option<Vec<String>>| {
        let before = of(recorded, judge);
        if before.is_some_and(|broken| broken.is_empty())
            && let Some(first) = of(played, judge).unwrap_or_default().into_iter().next()
        {
            turned.push(format!("`{name}`: {first}"));
        }
    };
    ask("expect", &|input| {
        let verdicts = Expect::verdicts(input, 0);
        let fails = verdicts.verdict(input.gates.expect.len()) == RunVerdict::Fails;
        let words = "an assertion does not hold".to_owned();
        Some(fails.then_some(words).into_iter().collect())
    });
    for gate in &input.gates.gates {
        if gate.gate.options().is::<PlaybackOptions>() {
            continue;
        }
        ask(gate.kind.name(), &|input| {
            let broken = gate.broken_by(input, 0)?;
            let words = |breach: Breach| {
                let asks = breach.asks(&gate.expect);
                format!("{asks}, {}", breach.found)
            };
            Some(broken.into_iter().map(words).collect())
        });
    }
    turned
}

/// Snapshots are of recorded runs.
struct NoSnapshots;

impl SnapshotStore for NoSnapshots {
    fn value(&self, _: usize, _: &str, _: &Value) -> Result<(), Vec<String>> {
        Ok(())
    }

    fn outline(&self, _: &str) -> Result<(), Vec<String>> {
        Ok(())
    }
}

/// A divergence with what shows it.
fn in_full(one: &Divergence, runs: &str) -> Vec<Evidence> {
    let place = one.place.as_ref();
    let place = place.map_or(String::new(), |place| format!("; recorded at `{place}`"));
    let mut evidence = vec![Evidence::Text(format!(
        "{runs}{} (`{}`{place})",
        escape_line(&one.to_string()),
        escape_line(&one.path)
    ))];
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        value => pretty_json(value),
    };
    match (&one.recorded, &one.played) {
        (Some(recorded), Some(played)) => evidence.push(Evidence::Diff(Diff {
            old_name: "recorded".to_owned(),
            new_name: "now".to_owned(),
            old: text(recorded),
            new: text(played),
        })),
        (None, None) => {}
        // Where there is nothing beside it, a diff shows nothing more.
        (one, other) => {
            let (what, value) = match (one, other) {
                (Some(value), _) => ("recorded", value),
                (_, other) => ("now", other.as_ref().unwrap_or(&Value::Null)),
            };
            let lines = text(value)
                .lines()
                .map(|line| format!("  | {}", escape_line(line)))
                .collect::<Vec<_>>();
            let lines: Vec<String> = iter::once(format!("{what}:")).chain(lines).collect();
            evidence.push(Evidence::Text(truncate_lines(&lines)));
        }
    }
    evidence
}

#[cfg(test)]
mod tests {
    use crate::parse_suite;

    fn refused(block: &str) -> Option<String> {
        let text = format!("agents:\n- name: a\n  model: m\n  prompt: p\n  playback: {block}\n");
        let source = mcptest_suite::Source::new("a.yml", "a.yml", text);
        let error = parse_suite(source).err()?;
        Some(error.problems()[0].message.clone())
    }

    #[test]
    fn a_mask_that_hides_what_is_compared_is_refused() {
        for mask in [
            "'.*'",
            "'(?s).*'",
            "'[^x]'",
            "'[A-Z].*', '[a-z]'",
            "'\\w+', '\\W+'",
        ] {
            let told = refused(&format!("{{ mask: [{mask}] }}")).unwrap();
            assert!(
                told.contains("hardly anything would be compared"),
                "{mask}: {told}"
            );
        }
        for mask in [
            "'\\d{4}-\\d{2}-\\d{2}'",
            "'\\d+'",
            "'[0-9a-f]{8,}'",
            "'Today is .*'",
        ] {
            assert_eq!(refused(&format!("{{ mask: [{mask}] }}")), None, "{mask}");
        }
    }

    #[test]
    fn what_no_option_takes_is_refused_with_what_it_takes() {
        for (block, told) in [
            (
                "{ ignore: [another_call] }",
                "`ignore` takes `system_prompt`, `tools`, `user_turns`, `assistant_turns`, `tool_results`, `parameters`, `final_response`, found `another_call`",
            ),
            (
                "{ ignore_paths: [results.a] }",
                "a path begins with one of `tool_results`, `assistant_turns`, `parameters`, `tools`, `user_turns`, and `results.a` does not",
            ),
            (
                "{ mask: ['('] }",
                "`(` is no regular expression: unclosed group",
            ),
            ("{ timeout_s: 0 }", "expected a number above 0"),
        ] {
            let found = refused(block).unwrap();
            assert!(found.contains(told), "{found}");
        }
        assert_eq!(refused("{}"), None);
    }
}
