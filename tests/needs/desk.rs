//! The sample: three agents at the order desk, four runs each, made by this repository's recorder
//! of the real server and a scripted model.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::iter;

use mcptest::energy::Condition;
use scripted_provider::{Provider, Script};
use serde_json::Value;

use crate::energy::guarded;
use crate::mutated::{
    absent_with_the_verb, flagged_when_the_calls_fail, flagged_with_another_identifier,
};
use crate::reliability::pass_hat;
use crate::runs::{self, copy, of_the_desk};
use crate::suites::{self, outcomes};
use crate::support::folder::{collect, write};
use crate::support::live::desk::order_desk;
use crate::support::live::recording_crate::recording_crate;
use crate::support::outcome::Outcome::{Failed, Passed};
use crate::support::process;

/// Where its recordings lie.
const CASSETTES: &str = "suites/cassettes";

/// What the agent did: a recording without times, and without what only a session says. The committed recordings are older
/// than that the built-in agent has one.
fn done(bytes: &[u8]) -> Value {
    let mut run: Value = serde_json::from_slice(bytes).unwrap();
    let duration = &run["trace"]["conversation"]["duration_ms"];
    assert!(
        run["recorded_at"].is_string() && duration.is_u64(),
        "{run:#}"
    );
    assert!(run["tools"].is_array() && run["tools_fingerprint"].is_string());
    let envelope = run.as_object_mut().unwrap();
    for key in ["recorded_at", "recorded_on", "session", "tools"] {
        envelope.remove(key);
    }
    // A session writes down none where none was sent.
    let system = envelope.remove("system_prompt").unwrap_or_default();
    envelope.insert(
        "system_prompt".to_owned(),
        system.as_str().unwrap_or_default().into(),
    );
    timeless(&mut run);
    run
}

fn timeless(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(timeless),
        Value::Object(members) => {
            members.retain(|key, _| !["duration_ms", "cached", "reasoning"].contains(&&**key));
            members.values_mut().for_each(timeless);
        }
        _ => {}
    }
}

/// Where there are no recordings, this makes them, to be looked at and committed.
pub(crate) fn recording_it_again_gives_the_same_runs() {
    let committed = runs::desk().join(CASSETTES);
    let folder = copy(&runs::desk());
    let script = fs::read_to_string(folder.at("script.json")).unwrap();
    let provider = Provider::start(Script::from_json(&script).unwrap()).unwrap();
    let path = env::var_os("PATH").unwrap_or_default();
    let server = order_desk().parent().unwrap().to_owned();
    let path = iter::once(server).chain(env::split_paths(&path));
    let mut command = process::command(recording_crate().executable("agents"), folder.path());
    command
        .env("CARGO_MANIFEST_DIR", folder.path())
        .env("PATH", env::join_paths(path).unwrap())
        .env("MCPTEST_RECORD", "all")
        .env("ANTHROPIC_BASE_URL", provider.url())
        .env("OPENAI_BASE_URL", provider.url())
        .env("ANTHROPIC_API_KEY", "scripted")
        .env("OPENAI_API_KEY", "scripted");
    // Recorded and judged; not all of its cases hold.
    let ran = process::run(&mut command).exits(101);
    assert_eq!(ran.stderr.matches("recorded 4 runs").count(), 3, "{ran}");

    let again = collect(&folder.at(CASSETTES));
    if !committed.is_dir() {
        for (path, bytes) in &again {
            write(&committed.join(path), bytes);
        }
        panic!("{} was not there and is recorded", committed.display());
    }
    let before = collect(&committed);
    assert!(before.keys().eq(again.keys()), "{before:?}");
    assert_eq!(before.len(), 12);
    for (path, before) in before {
        assert_ne!(before, again[&path], "{path} was not recorded again");
        assert_eq!(done(&before), done(&again[&path]), "{path}");
    }
}

pub(crate) fn its_cases_pass_and_fail_as_reviewed() {
    let gates = [
        "stability",
        "trajectory",
        "golden_path",
        "narrative",
        "energy",
    ];
    let outcomes = outcomes(&copy(&runs::desk()), &gates);
    let expected = [
        ("desk::address_agent", Passed),
        ("desk::address_agent::energy", Passed),
        ("desk::address_agent::golden_path", Failed),
        ("desk::address_agent::narrative", Passed),
        ("desk::address_agent::stability", Failed),
        ("desk::address_agent::trajectory", Passed),
        ("desk::cancel_agent", Passed),
        ("desk::cancel_agent::energy", Passed),
        ("desk::cancel_agent::golden_path", Failed),
        ("desk::cancel_agent::narrative", Failed),
        ("desk::cancel_agent::stability", Failed),
        ("desk::cancel_agent::trajectory", Failed),
        ("desk::sum_agent", Passed),
        ("desk::sum_agent::energy", Failed),
        ("desk::sum_agent::golden_path", Failed),
        ("desk::sum_agent::narrative", Passed),
        ("desk::sum_agent::stability", Failed),
        ("desk::sum_agent::trajectory", Passed),
    ];
    let expected = expected.map(|(name, outcome)| (name.to_owned(), outcome));
    assert_eq!(outcomes, BTreeMap::from(expected));
}

pub(crate) fn its_failures_are_the_same_bytes_in_any_thread_order() {
    let folder = copy(&runs::desk());
    suites::assert_failures_are_the_same_bytes_in_any_thread_order(&folder);
}

pub(crate) fn the_default_guard_over_its_runs() {
    let guarded = guarded(&of_the_desk(), &[1.5, 2.0, 5.0], &[2, 3]);
    // The recorder says which calls were made together, so an estimate counts the same steps.
    let counted = [3, 2, 2, 4, 3, 2, 2, 3, 3, 6, 7, 9].map(|steps| (steps, steps));
    assert_eq!(guarded.counted, counted);
    assert_eq!((guarded.trips, guarded.estimated_trips), (2, 0));
    let cells = guarded.sweep.cells.iter().map(|cell| {
        let tally = &cell.tally;
        let stops = (tally.stops, tally.true_positives, tally.false_positives);
        (cell.ratio_threshold, cell.window, stops, tally.tokens_saved)
    });
    assert_eq!(
        cells.collect::<Vec<_>>(),
        [
            (1.5, 2, (2, 1, 1), 58_875),
            (1.5, 3, (2, 1, 1), 44_077),
            (2.0, 2, (2, 1, 1), 58_875),
            (2.0, 3, (2, 1, 1), 44_077),
            (5.0, 2, (2, 1, 1), 37_623),
            (5.0, 3, (2, 1, 1), 9_968),
        ]
    );
    let ablation = guarded.ablation.iter();
    let ablation = ablation.map(|(condition, tally)| (*condition, tally.stops, tally.tokens_saved));
    assert_eq!(
        ablation.collect::<Vec<_>>(),
        [
            (Condition::Baseline, 0, 0),
            (Condition::GrowthOnly, 2, 44_077),
            (Condition::GrowthAndCompression, 2, 44_077),
            (Condition::FullStack, 0, 0),
            (Condition::NaiveCap, 0, 0),
        ]
    );
}

/// Of four runs each, two, three and three did what was asked: the mean of C(c, k) / C(4, k).
pub(crate) fn its_reliability_is_as_computed_by_hand() {
    let by_hand = ["0.667", "0.389", "0.167", "0.000"];
    assert_eq!(pass_hat(&of_the_desk()), by_hand);
}

pub(crate) fn its_recordings_fit_the_schema() {
    runs::assert_recordings_fit_the_schema(&runs::desk(), 12);
}

pub(crate) fn claims_are_flagged_without_the_calls_that_support_them() {
    let runs = of_the_desk();
    let flagged = flagged_when_the_calls_fail(&runs);
    assert_eq!((flagged.claims, flagged.left), (7, Vec::new()));
    let flagged = flagged_with_another_identifier(&runs);
    assert_eq!((flagged.claims, flagged.left), (6, Vec::new()));
    assert_eq!(absent_with_the_verb(&runs, "find"), Vec::<String>::new());
}
