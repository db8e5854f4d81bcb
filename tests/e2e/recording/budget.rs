//! What recording a suite may cost.

use serde_json::{Value, json};

use super::desk::{TWICE, declaring, run_path, script};
use super::recording_crate::Scene;
use crate::support::snapshot;

/// Every model call is sent 1,000 tokens and writes 100.
fn costly() -> Value {
    let mut run = super::desk::refund("Done: RF-1.");
    for step in run.as_array_mut().unwrap() {
        step["usage"] = json!({ "prompt": 1000, "completion": 100 });
    }
    script("Pay order A-1003 back.", &[run])
}

#[test]
fn recording_stops_before_it_overspends_and_goes_on_with_more() {
    // A call of this model costs 0.45 cents, and may cost some 2.
    let budget = |cents: u32, runs: usize| {
        format!(
            "budget: {{ per_suite_usd_cents: {cents} }}\n{}",
            declaring(runs)
        )
    };
    let scene = Scene::new(&budget(4, 3), &costly());
    let ran = scene.record("missing", &[]).exits(101);
    let (_, text) = ran.only_failure();
    assert!(
        text.contains("run 2 of 3: stopped before overspending: $0.0225 of $0.0400 are spent"),
        "{text}"
    );
    assert!(text.contains("MCPTEST_RECORD=missing"), "{text}");
    assert_eq!(scene.places(), [run_path(1)]);
    assert_eq!(scene.requests().len(), 5);

    scene.suite(&budget(50, 3));
    let ran = scene.record("missing", &[]).exits(0);
    assert!(
        ran.stderr
            .contains("recorded 2 runs of `Refunds` (6,600 tokens, $0.0270)"),
        "{ran}"
    );
    assert_eq!(scene.places().len(), 3);
}

#[test]
fn a_budget_below_the_first_call_spends_nothing() {
    let scene = Scene::new(
        &format!("budget: {{ per_suite_usd_cents: 1 }}\n{TWICE}"),
        &costly(),
    );
    let (_, text) = scene.record("missing", &[]).exits(101).only_failure();
    assert!(text.contains("$0.0000 of $0.0100 are spent"), "{text}");
    assert_eq!(scene.requests().len(), 0);
}

#[test]
fn all_agents_of_a_suite_share_its_budget() {
    let second = TWICE
        .split_once("agents:\n")
        .unwrap()
        .1
        .replace("Refunds", "Others")
        .replace("back.", "back!");
    let suite = format!("budget: {{ per_suite_usd_cents: 4 }}\n{TWICE}{second}");
    let mut script = costly();
    let mut other = script["conversations"][0].clone();
    other["user"] = "Pay order A-1003 back!".into();
    script["conversations"].as_array_mut().unwrap().push(other);
    let scene = Scene::new(&suite, &script);
    let ran = scene.record("missing", &["--test-threads=2"]).exits(101);
    // 4 cents are fewer than nine calls at 0.45.
    assert!(scene.requests().len() < 9, "{ran}");
    assert!(ran.stdout.contains("stopped before overspending"), "{ran}");
}

#[test]
fn a_model_without_a_known_price_is_refused_under_a_budget() {
    let suite = TWICE.replace("model: claude-sonnet-4-5", "model: claude-next-9");
    let scene = Scene::new(
        &format!("budget: {{ per_suite_usd_cents: 100 }}\n{suite}"),
        &costly(),
    );
    let (_, text) = scene.record("missing", &[]).exits(101).only_failure();
    snapshot::assert("budget-unknown-price", &text, scene.folder.path());
    assert_eq!(scene.requests().len(), 0);

    let priced = "budget: { per_suite_usd_cents: 100, prices: { claude-next-9: { prompt: 1.5, completion: 6 } } }";
    scene.suite(&format!("{priced}\n{suite}"));
    let ran = scene.record("missing", &[]).exits(0);
    // Six calls at 1,000 * 1.5 + 100 * 6 millionths of a dollar.
    assert!(ran.stderr.contains("$0.0126"), "{ran}");
}
