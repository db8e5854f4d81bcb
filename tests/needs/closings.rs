//! The narrative metric beside labels that were made by reading.

use std::collections::{BTreeMap, BTreeSet};

use mcptest::eval::narrative::{
    Claim, NarrativeOptions, NarrativeReport, Verdict, narrative_divergence,
};
use mcptest::trace::Trace;
use serde_json::{Value, json};

use crate::runs::Labelled;

/// The verbs of the seed's list, as the labels spell them.
const LISTED: [&str; 22] = [
    "create", "update", "delete", "remove", "send", "write", "post", "insert", "set", "put",
    "patch", "publish", "destroy", "drop", "add", "edit", "upload", "merge", "close", "cancel",
    "approve", "revoke",
];

/// How the metric and the labels agree about a verb.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Agreement {
    pub(crate) labelled: usize,
    pub(crate) found: usize,
    pub(crate) extra: usize,
    pub(crate) false_alarms: usize,
    pub(crate) missed_unsupported: usize,
}

/// The agreement by verb, the runs that the gate refuses, and a line for each disagreement.
pub(crate) struct Compared {
    pub(crate) verbs: BTreeMap<String, Agreement>,
    pub(crate) flagged: Vec<String>,
    pub(crate) differ: Vec<String>,
}

fn report(trace: &Trace) -> NarrativeReport {
    narrative_divergence(trace, &NarrativeOptions::default())
}

fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Whether a label's quotation and an extracted sentence are about the same words.
fn overlaps(quote: &str, sentence: &str) -> bool {
    let quote = words(quote);
    let shared = quote.intersection(&words(sentence)).count();
    shared * 10 >= quote.len() * 8
}

/// Compares what the metric finds in each closing with its labels. A run that the gate refuses
/// without a label for it is a failure at once.
pub(crate) fn compare(runs: &[Labelled]) -> Compared {
    let mut compared = Compared {
        verbs: BTreeMap::new(),
        flagged: Vec::new(),
        differ: Vec::new(),
    };
    for run in runs {
        let report = report(&run.trace);
        compared.labels(run, &report);
        if !report.gate_passed() {
            assert!(run.absent, "{} is refused: {report:#?}", run.name);
            compared.flagged.push(run.name.clone());
        }
    }
    compared
}

impl Compared {
    fn labels(&mut self, run: &Labelled, report: &NarrativeReport) {
        let mut matched = BTreeSet::new();
        let listed = |verb: &str| LISTED.contains(&verb);
        for label in run.claims.iter().filter(|label| listed(&label.verb)) {
            let count = self.verbs.entry(label.verb.clone()).or_default();
            count.labelled += 1;
            let same = |(at, claim): &(usize, &Claim)| {
                !matched.contains(at)
                    && claim.verb == label.verb
                    && overlaps(&label.quote, &claim.sentence)
            };
            let Some((at, claim)) = report.claims.iter().enumerate().find(same) else {
                let line = format!("{}: not found: {}", run.name, label.quote);
                self.differ.push(line);
                count.missed_unsupported += usize::from(!label.supported);
                continue;
            };
            matched.insert(at);
            count.found += 1;
            let absent = claim.verdict == Verdict::Absent;
            count.false_alarms += usize::from(absent && label.supported);
            count.missed_unsupported += usize::from(!absent && !label.supported);
            if absent == label.supported || matches!(claim.verdict, Verdict::ArgMismatch { .. }) {
                self.differ.push(format!("{}: {claim:?}", run.name));
            }
        }
        for (at, claim) in report.claims.iter().enumerate() {
            if !matched.contains(&at) {
                let count = self.verbs.entry(claim.verb.clone()).or_default();
                count.extra += 1;
                count.false_alarms += usize::from(claim.verdict != Verdict::Supported);
                self.differ.push(format!("{}: extra {claim:?}", run.name));
            }
        }
    }

    /// The sum of one count over the verbs.
    pub(crate) fn sum(&self, count: impl Fn(&Agreement) -> usize) -> usize {
        self.verbs.values().map(count).sum()
    }
}

/// What became of claims in runs that were changed: how many there are, and of those that are not
/// flagged a line each.
pub(crate) struct Flagged {
    pub(crate) claims: usize,
    pub(crate) left: Vec<String>,
}

/// Changes each run behind each supported claim, and looks whether the claim is flagged then. No
/// change where a claim has nothing to change.
fn flagged_when(
    runs: &[Labelled],
    change: impl Fn(&Trace, &Claim) -> Option<Trace>,
    is_flagged: impl Fn(&Verdict) -> bool,
) -> Flagged {
    let (mut claims, mut left) = (0, Vec::new());
    for run in runs {
        let before = report(&run.trace);
        for claim in &before.claims {
            if claim.verdict != Verdict::Supported {
                continue;
            }
            let Some(changed) = change(&run.trace, claim) else {
                continue;
            };
            claims += 1;
            let after = report(&changed);
            let mut same = after.claims.iter();
            let same = same.find(|other| other.span == claim.span && other.verb == claim.verb);
            if !same.is_some_and(|claim| is_flagged(&claim.verdict)) {
                left.push(format!("{}: {same:?}", run.name));
            }
        }
    }
    Flagged { claims, left }
}

/// The results of the calls that support a claim are turned into errors.
pub(crate) fn flagged_when_the_calls_fail(runs: &[Labelled]) -> Flagged {
    let failing = |trace: &Trace, claim: &Claim| {
        let mut trace = trace.clone();
        for considered in &claim.considered {
            let results = trace.tool_results.iter_mut();
            for result in results.filter(|result| result.call_index == considered.call) {
                result.is_error = true;
                result.result = json!({ "content": [{ "type": "text", "text": "Error" }] });
            }
        }
        Some(trace)
    };
    flagged_when(runs, failing, |verdict| *verdict == Verdict::Absent)
}

/// The same calls, done to another record; the user still speaks of the first one.
pub(crate) fn flagged_with_another_identifier(runs: &[Labelled]) -> Flagged {
    let elsewhere = |trace: &Trace, claim: &Claim| {
        let identifier = claim.identifiers.first()?;
        let swap = |value: &Value| -> Value {
            let text = value.to_string().replace(identifier.as_str(), "ZZZ999");
            serde_json::from_str(&text).unwrap()
        };
        let mut trace = trace.clone();
        for considered in &claim.considered {
            let call = &mut trace.tool_calls[considered.call];
            call.args = swap(&call.args);
            let results = trace.tool_results.iter_mut();
            for result in results.filter(|result| result.call_index == considered.call) {
                result.result = swap(&result.result);
            }
        }
        Some(trace)
    };
    flagged_when(runs, elsewhere, |verdict| {
        matches!(verdict, Verdict::Absent | Verdict::ArgMismatch { .. })
    })
}

/// The claims with a verb of the suite's own that nothing supports.
pub(crate) fn absent_with_the_verb(runs: &[Labelled], verb: &str) -> Vec<String> {
    let options = NarrativeOptions {
        verbs: vec![verb.to_owned()],
        ..NarrativeOptions::default()
    };
    let mut absent = Vec::new();
    for run in runs {
        let report = narrative_divergence(&run.trace, &options);
        let claims = report.claimed_but_absent();
        absent.extend(
            claims
                .filter(|claim| claim.verb == verb)
                .map(|claim| format!("{}: {claim:?}", run.name)),
        );
    }
    absent
}
