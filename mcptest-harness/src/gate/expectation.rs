//! What must hold of a run or of a gate's metrics, and what is said when it does not.

use std::collections::BTreeMap;

use mcptest_suite::model::{Segment, Target};
use mcptest_suite::{Diagnostic, Span};
use serde_json::Value;

use super::default_sentence::DefaultSentence;
use super::run_verdict::RunVerdict;
use super::some_runs::{runs_note, scope};
use crate::check::{Check, CheckOutcome, Found, Mismatch, Snapshots};
use crate::render::{Diff, Evidence, Finding};
use crate::trace::{PathKeys, Run};
use mcptest_trace::text::{
    TextForm, describe_invisible_difference_in, format_dollars, run_numbers, short_json,
};

/// How many different things are shown of the runs that break something.
const GROUPS: usize = 10;

/// A number with at most four decimals, or with two digits where those would be zeros; anything else as JSON.
pub(crate) fn short_number(value: &Value) -> String {
    match value.as_f64() {
        Some(number) if value.is_f64() && number > 0.0 && number < 0.000_05 => {
            format_dollars(number)
        }
        Some(number) if value.is_f64() => {
            let text = format!("{number:.4}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => short_json(value),
    }
}

/// What asked for something that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    /// An assertion, by its place in the list.
    Check(usize),
    /// A bound of the default gate.
    Default { target: &'static str, asks: String },
    /// The gate itself, by an option or by what it is: what it asks.
    Gate(String),
}

/// Something that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Breach {
    pub(crate) cause: Cause,
    /// The run by its place; nothing where all runs together break something.
    pub(crate) run: Option<usize>,
    /// What was found, as words on one line: `found 3`.
    pub(crate) found: String,
    /// What is wrong, where a default gate asked and its target has a number.
    pub(crate) sentence: Option<DefaultSentence>,
    /// What is different, a line each.
    pub(crate) details: Vec<String>,
    pub(crate) diff: Option<Diff>,
    /// What could have been meant.
    pub(crate) help: Option<String>,
}

impl Breach {
    /// `found` is what was found, without the word.
    pub(crate) fn new(cause: Cause, found: &str) -> Self {
        Self {
            cause,
            run: None,
            found: format!("found {found}"),
            sentence: None,
            details: Vec::new(),
            diff: None,
            help: None,
        }
    }

    /// Sets the run that breaks it, by its place.
    pub(crate) fn in_run(self, run: usize) -> Self {
        let run = Some(run);
        Self { run, ..self }
    }

    /// What was asked, in words; `checks` are those that the breach came from.
    pub(crate) fn expectation(&self, checks: &[Check]) -> String {
        match &self.cause {
            Cause::Check(index) => {
                let check = &checks[*index];
                format!(
                    "expected `{}` {}",
                    check.target.text,
                    check.matcher.phrase()
                )
            }
            Cause::Default { target, asks } => format!("expected `{target}` {asks}"),
            Cause::Gate(asks) => asks.clone(),
        }
    }

    /// What is wrong, on one line; `checks` are those that the breach came from.
    pub(crate) fn to_line(&self, checks: &[Check]) -> String {
        let expectation = || format!("{}, {}", self.expectation(checks), self.found);
        let sentence = self.sentence.as_ref();
        sentence.map_or_else(expectation, DefaultSentence::with_target)
    }

    /// What was found in one of several runs, which found different things.
    fn found_in_run(&self) -> String {
        let sentence = self.sentence.as_ref();
        sentence.map_or_else(|| self.found.clone(), DefaultSentence::for_one_run)
    }
}

/// What became of assertions on a value.
#[derive(Debug, Default)]
pub(crate) struct CheckVerdicts {
    /// What does not hold.
    pub(crate) breaches: Vec<Breach>,
    /// What only a matcher that needs a model could tell: the assertion's place, and the matcher.
    pub(crate) undecided: Vec<(usize, &'static str)>,
    /// What holds of the items of lists, and there is none, by their places.
    pub(crate) of_none: Vec<usize>,
}

impl CheckVerdicts {
    /// What does not hold, and what nobody can tell here as what does not hold either.
    pub(crate) fn into_breaches(self) -> Vec<Breach> {
        let undecided = self.undecided.into_iter().map(|(index, matcher)| Breach {
            found: needs_model(matcher),
            ..Breach::new(Cause::Check(index), "")
        });
        self.breaches.into_iter().chain(undecided).collect()
    }

    /// What becomes of the run of which so much was asked.
    pub(crate) fn verdict(&self, asked: usize) -> RunVerdict {
        if !self.breaches.is_empty() {
            RunVerdict::Fails
        } else if !self.undecided.is_empty() {
            RunVerdict::Undecided
        } else if self.of_none.len() == asked {
            RunVerdict::NothingJudged
        } else {
            RunVerdict::Holds
        }
    }
}

/// Why nothing can be said of an assertion.
pub(crate) fn needs_model(matcher: &str) -> String {
    format!("`{matcher}` needs a model, and judging has none")
}

/// Judges assertions on a value.
pub(crate) fn check_breaches(
    checks: &[Check],
    root: &Value,
    snapshots: &Snapshots<'_>,
) -> CheckVerdicts {
    let mut verdicts = CheckVerdicts::default();
    for (index, check) in checks.iter().enumerate() {
        match check.judge(root, snapshots) {
            CheckOutcome::Holds => {}
            CheckOutcome::HoldsOfNone => verdicts.of_none.push(index),
            CheckOutcome::Undecided(matcher) => verdicts.undecided.push((index, matcher)),
            CheckOutcome::Fails(mismatch) => verdicts.breaches.push(breach(index, check, mismatch)),
        }
    }
    verdicts
}

/// Judges assertions on a run.
pub(crate) fn check_run(checks: &[Check], run: &Run, snapshots: &Snapshots<'_>) -> CheckVerdicts {
    // Where all holds, the parts that are looked at say all there is to say. What is missing is told
    // by what else is there, and a snapshot is looked at once.
    let paths: Vec<_> = checks.iter().map(|check| keys(&check.target)).collect();
    let snapshot = checks.iter().any(|check| check.matcher.has_snapshot());
    if !snapshot && paths.iter().all(|path| !path.is_empty()) {
        let verdicts = check_breaches(checks, &run.envelope_for(&paths), snapshots);
        if verdicts.breaches.is_empty() {
            return verdicts;
        }
    }
    check_breaches(checks, run.envelope(), snapshots)
}

/// The keys that a path leads along, up to where something is counted.
pub(super) fn keys(target: &Target) -> PathKeys<'_> {
    let keys = target.segments.iter().filter_map(|segment| match segment {
        Segment::Key(key) => Some(key.as_str()),
        _ => None,
    });
    let item = match target.segments.get(1) {
        Some(Segment::Index(item)) => Some(*item),
        _ => None,
    };
    PathKeys::new(keys.take_while(|key| *key != "length").collect(), item)
}

fn breach(index: usize, check: &Check, mismatch: Mismatch<'_>) -> Breach {
    let mut breach = match &mismatch.found {
        Found::Nothing(unresolved) => {
            let near = unresolved.nearest.as_ref();
            Breach {
                found: format!("the path leads nowhere: {unresolved}"),
                help: near.map(|near| format!("did you mean `{near}`?")),
                ..Breach::new(Cause::Check(index), "")
            }
        }
        Found::Value(value) => Breach {
            diff: text_diff(check, value),
            ..Breach::new(Cause::Check(index), &short_json(value))
        },
    };
    breach.details = mismatch.details;
    if let Found::Value(value) = &mismatch.found
        && breach.diff.is_none()
    {
        breach.details.extend(invisible_difference(check, value));
    }
    if let Found::Value(value) = &mismatch.found
        && let Some(help) = check.partial_name_note(value)
    {
        breach.help = Some(help);
    }
    breach
}

/// What tells what is asked from what was found, where both look the same.
fn invisible_difference(check: &Check, value: &Value) -> Option<String> {
    if let Some(expected) = check.matcher.exact() {
        return describe_invisible_difference_in(["expected", "found"], [expected, value]);
    }
    let why = if check.holds_in(value, &[TextForm::Composed, TextForm::Decomposed]) {
        "both texts had the same Unicode normalisation: one text writes a letter with its mark as one character, the other as two (`\\u{fc}`, `u\\u{308}`)"
    } else if check.holds_in(value, &[TextForm::Plain]) {
        "the recorded text had plain characters: some of its characters are invisible, or look like others"
    } else {
        return None;
    };
    Some(format!("the assertion would hold if {why}"))
}

/// Two texts that are not short are shown as a diff.
fn text_diff(check: &Check, value: &Value) -> Option<Diff> {
    let (Some(Value::String(expected)), Value::String(found)) = (check.matcher.exact(), value)
    else {
        return None;
    };
    let long = |text: &str| text.contains('\n') || text.chars().count() > 60;
    (long(expected) || long(found)).then(|| Diff {
        old_name: "expected".to_owned(),
        new_name: "recorded".to_owned(),
        old: expected.clone(),
        new: found.clone(),
    })
}

/// What a list of breaches is about.
#[derive(Clone, Copy)]
pub(crate) struct About<'a> {
    /// The gate's key, or `expect`.
    pub(crate) name: &'a str,
    /// Where its key stands.
    pub(crate) span: Span,
    pub(crate) checks: &'a [Check],
    pub(crate) runs: &'a [Run],
}

/// Turns breaches into findings, one for each thing that asked.
pub(crate) fn findings(about: &About<'_>, breaches: Vec<Breach>) -> Vec<Finding> {
    let mut by_cause: BTreeMap<Cause, Vec<Breach>> = BTreeMap::new();
    for breach in breaches {
        let of_cause = by_cause.entry(breach.cause.clone());
        of_cause.or_default().push(breach);
    }
    by_cause
        .into_iter()
        .map(|(cause, breaches)| finding(about, &cause, breaches))
        .collect()
}

fn finding(about: &About<'_>, cause: &Cause, breaches: Vec<Breach>) -> Finding {
    let broken: Vec<usize> = breaches.iter().filter_map(|breach| breach.run).collect();
    let scope = scope(broken.len(), about.runs.len());
    let first = &breaches[0];
    let alike = breaches
        .iter()
        .all(|breach| (&breach.found, &breach.sentence) == (&first.found, &first.sentence));
    let found = if alike {
        first.found.clone()
    } else {
        "see the runs below".to_owned()
    };
    let broken_gate = format!("`{}` does not hold{scope}", about.name);
    let message = format!("{broken_gate}: {}", first.expectation(about.checks));
    // A run without a number is no run with a wrong one.
    let have_sentence = breaches.iter().all(|breach| breach.sentence.is_some());
    let sentence = first.sentence.as_ref().filter(|_| have_sentence);
    let mut problem = match cause {
        Cause::Check(index) => {
            let check = &about.checks[*index];
            let named = check.name.as_ref();
            let named = named.map_or(String::new(), |name| format!(" ({})", name.value));
            let problem = Diagnostic::new(message + &named).label(check.target.span, found.clone());
            check.message.iter().fold(problem, Diagnostic::note)
        }
        Cause::Default { .. } => {
            let message = match sentence {
                Some(sentence) if alike => format!("{broken_gate}: {}", sentence.with_target()),
                Some(sentence) => format!("{broken_gate}: {}", sentence.for_several_runs()),
                None => format!("{message}, {found}"),
            };
            Diagnostic::new(message).label(about.span, "the default gate asks for this")
        }
        Cause::Gate(_) => Diagnostic::at(about.span, format!("{message}, {found}")),
    };
    if !broken.is_empty() {
        problem = problem.note(runs_note(about.runs, &broken));
    }
    let help = breaches.iter().find_map(|breach| breach.help.clone());
    problem.helps.extend(help);
    let mut finding = evidence(problem, about.runs.len(), breaches, alike);
    let is_beside = alike && matches!(cause, Cause::Check(_));
    finding.found = is_beside.then_some(found);
    finding
}

/// The runs with the same evidence are shown together.
fn evidence(problem: Diagnostic, all: usize, breaches: Vec<Breach>, alike: bool) -> Finding {
    let mut groups: Vec<(Vec<usize>, Breach)> = Vec::new();
    for mut breach in breaches {
        let run = breach.run.take();
        match groups.iter_mut().find(|(_, known)| *known == breach) {
            Some((runs, _)) => runs.extend(run),
            None => groups.push((run.into_iter().collect(), breach)),
        }
    }
    let mut finding = Finding::new(problem);
    let left_out = groups.len().saturating_sub(GROUPS);
    for (runs, breach) in groups.into_iter().take(GROUPS) {
        let mut lines = Vec::new();
        let title = match (runs.len(), all) {
            (0, _) | (_, 1) => None,
            (1, _) => Some(format!("run {}", run_numbers(&runs))),
            _ => Some(format!("runs {}", run_numbers(&runs))),
        };
        match title {
            Some(title) if !alike => lines.push(format!("{title}: {}", breach.found_in_run())),
            Some(title) if !breach.details.is_empty() || breach.diff.is_some() => {
                lines.push(format!("{title}:"));
            }
            _ => {}
        }
        lines.extend(breach.details.iter().map(|detail| format!("- {detail}")));
        if !lines.is_empty() {
            finding = finding.show(Evidence::Text(lines.join("\n")));
        }
        if let Some(diff) = breach.diff {
            finding = finding.show(Evidence::Diff(diff));
        }
    }
    if left_out > 0 && !alike {
        let text = format!("… {left_out} more runs are left out");
        finding = finding.show(Evidence::Text(text));
    }
    finding
}
