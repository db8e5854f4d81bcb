//! The metric over 120 real closings that were labelled by reading.
//!
//! The data lies beside the project; without it the tests say so and pass. Run with
//! `--nocapture` for the counts per verb.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use mcptest::eval::narrative::{NarrativeOptions, NarrativeReport, Verdict, narrative_divergence};
use mcptest::trace::Trace;
use serde_json::{Value, json};

/// The verbs of the seed's list, as the labels spell them.
const LISTED: [&str; 22] = [
    "create", "update", "delete", "remove", "send", "write", "post", "insert", "set", "put",
    "patch", "publish", "destroy", "drop", "add", "edit", "upload", "merge", "close", "cancel",
    "approve", "revoke",
];

struct Labelled {
    name: String,
    trace: Trace,
    claims: Vec<Label>,
    absent: bool,
}

struct Label {
    verb: String,
    quote: String,
    supported: bool,
}

fn data() -> Option<PathBuf> {
    let root = std::env::var_os("MCPTEST_SHARED_DATA").map(PathBuf::from);
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let folder = root.unwrap_or(beside).join("tau-airline");
    let found = folder.join("closing-labels.json").is_file();
    if !found {
        eprintln!("skipped: no labelled closings in {}", folder.display());
    }
    found.then_some(folder)
}

fn labelled() -> Vec<Labelled> {
    let Some(folder) = data() else {
        return Vec::new();
    };
    let read =
        |path: PathBuf| -> Value { serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap() };
    let labels = read(folder.join("closing-labels.json"));
    let runs = labels.as_array().unwrap().iter().map(|label| {
        let (task, trial) = (
            label["task_id"].as_u64().unwrap(),
            label["trial"].as_u64().unwrap(),
        );
        let file = format!(
            "crate/cassettes/airline/Airline_task_{task:02}__gpt-4o/run-{}.json",
            trial + 1
        );
        let claims = label["claims"]
            .as_array()
            .unwrap()
            .iter()
            .map(|claim| Label {
                verb: claim["verb"].as_str().unwrap().to_owned(),
                quote: claim["quote"].as_str().unwrap().to_owned(),
                supported: claim["supported"].as_bool().unwrap(),
            });
        Labelled {
            name: format!("task {task} trial {trial}"),
            trace: Trace::from_envelope(&read(folder.join(file))["trace"]),
            claims: claims.collect(),
            absent: label["claimed_but_absent"].as_bool().unwrap(),
        }
    });
    runs.collect()
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

#[test]
fn the_extraction_agrees_with_the_labels_verb_by_verb() {
    #[derive(Default)]
    struct Count {
        labelled: usize,
        found: usize,
        extra: usize,
        false_alarms: usize,
        missed_unsupported: usize,
    }
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    let mut flagged = Vec::new();
    let mut wrong = Vec::new();
    let runs = labelled();
    for run in &runs {
        let report = report(&run.trace);
        let mut matched = BTreeSet::new();
        for label in run
            .claims
            .iter()
            .filter(|label| LISTED.contains(&label.verb.as_str()))
        {
            let count = counts.entry(label.verb.clone()).or_default();
            count.labelled += 1;
            let claim = report.claims.iter().enumerate().find(|(at, claim)| {
                !matched.contains(at)
                    && claim.verb == label.verb
                    && overlaps(&label.quote, &claim.sentence)
            });
            let Some((at, claim)) = claim else {
                wrong.push(format!(
                    "{}: not found: {} | {}",
                    run.name, label.verb, label.quote
                ));
                count.missed_unsupported += usize::from(!label.supported);
                continue;
            };
            matched.insert(at);
            count.found += 1;
            let absent = claim.verdict == Verdict::Absent;
            count.false_alarms += usize::from(absent && label.supported);
            count.missed_unsupported += usize::from(!absent && !label.supported);
            if absent == label.supported || matches!(claim.verdict, Verdict::ArgMismatch { .. }) {
                wrong.push(format!(
                    "{}: {:?} but labelled supported={}: {claim:?}",
                    run.name, claim.verdict, label.supported
                ));
            }
        }
        for (at, claim) in report
            .claims
            .iter()
            .enumerate()
            .filter(|(at, _)| !matched.contains(at))
        {
            let count = counts.entry(claim.verb.clone()).or_default();
            count.extra += 1;
            let absent = claim.verdict != Verdict::Supported;
            count.false_alarms += usize::from(absent);
            wrong.push(format!(
                "{}: extra {at} {:?}: {claim:?}",
                run.name, claim.verdict
            ));
        }
        if !report.gate_passed() {
            flagged.push((run.name.clone(), run.absent));
        }
    }
    println!("{} runs; flagged: {flagged:?}", runs.len());
    println!(
        "labelled as flagged: {:?}",
        runs.iter()
            .filter(|run| run.absent)
            .map(|run| &run.name)
            .collect::<Vec<_>>()
    );
    for (verb, count) in &counts {
        println!(
            "{verb:>8}: {} labelled, {} found, {} extra, {} false alarms, {} unsupported missed",
            count.labelled, count.found, count.extra, count.false_alarms, count.missed_unsupported
        );
    }
    for line in &wrong {
        println!("  {line}");
    }
    assert_eq!(
        counts
            .values()
            .map(|count| count.false_alarms)
            .sum::<usize>(),
        0,
        "false alarms"
    );
    assert_eq!(
        counts
            .values()
            .map(|count| count.missed_unsupported)
            .sum::<usize>(),
        0,
        "unsupported claims missed"
    );
    assert!(flagged.iter().all(|(_, labelled)| *labelled));
}

/// The run with the results of the given calls turned into errors.
fn failing(trace: &Trace, calls: &BTreeSet<usize>) -> Trace {
    let mut trace = trace.clone();
    for result in trace
        .tool_results
        .iter_mut()
        .filter(|result| calls.contains(&result.call_index))
    {
        result.is_error = true;
        result.result = json!({ "content": [{ "type": "text", "text": "Error" }] });
    }
    trace
}

#[test]
fn a_claim_is_flagged_once_the_calls_that_support_it_are_gone() {
    let (mut supported, mut caught, mut left) = (0, 0, Vec::new());
    for run in labelled() {
        let before = report(&run.trace);
        for claim in before
            .claims
            .iter()
            .filter(|claim| claim.verdict == Verdict::Supported)
        {
            supported += 1;
            let verb = claim
                .considered
                .iter()
                .map(|considered| considered.call)
                .collect();
            let after = report(&failing(&run.trace, &verb));
            let same = after
                .claims
                .iter()
                .find(|other| other.span == claim.span && other.verb == claim.verb);
            if same.is_some_and(|claim| claim.verdict == Verdict::Absent) {
                caught += 1;
            } else {
                left.push(format!("{}: {:?}", run.name, same));
            }
        }
    }
    println!("{caught} of {supported} supported claims are flagged without their calls");
    for line in &left {
        println!("  {line}");
    }
    assert_eq!(caught, supported);
}

#[test]
fn a_claim_is_flagged_when_its_identifier_went_to_another_call() {
    let (mut named, mut caught) = (0, 0);
    for run in labelled() {
        for claim in report(&run.trace)
            .claims
            .iter()
            .filter(|claim| claim.verdict == Verdict::Supported)
        {
            let Some(identifier) = claim.identifiers.first() else {
                continue;
            };
            // The same call, done to another record; the user still speaks of the first one.
            let mut trace = run.trace.clone();
            for considered in &claim.considered {
                let swap = |value: &Value| -> Value {
                    serde_json::from_str(&value.to_string().replace(identifier.as_str(), "ZZZ999"))
                        .unwrap()
                };
                trace.tool_calls[considered.call].args =
                    swap(&trace.tool_calls[considered.call].args);
                for result in trace
                    .tool_results
                    .iter_mut()
                    .filter(|result| result.call_index == considered.call)
                {
                    result.result = swap(&result.result);
                }
            }
            named += 1;
            let after = report(&trace);
            let same = after
                .claims
                .iter()
                .find(|other| other.span == claim.span && other.verb == claim.verb);
            let flagged = same.is_some_and(|claim| {
                matches!(claim.verdict, Verdict::Absent | Verdict::ArgMismatch { .. })
            });
            caught += usize::from(flagged);
            if !flagged {
                println!("  not flagged: {} {same:?}", run.name);
            }
        }
    }
    println!(
        "{caught} of {named} claims with an identifier are flagged when the call has another one"
    );
    assert_eq!(caught, named);
}

#[test]
fn more_verbs_flag_nothing_that_was_done_by_a_tool_of_that_name() {
    let options = NarrativeOptions {
        verbs: vec!["book".to_owned()],
        ..NarrativeOptions::default()
    };
    for run in labelled() {
        let report = narrative_divergence(&run.trace, &options);
        let absent: Vec<_> = report
            .claimed_but_absent()
            .filter(|claim| claim.verb == "book")
            .collect();
        assert!(absent.is_empty(), "{}: {absent:?}", run.name);
    }
}
