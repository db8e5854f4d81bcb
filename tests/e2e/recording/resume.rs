//! Recordings that were interrupted, grow, shrink or are out of date: nothing that was paid for is
//! lost, and nothing is paid twice.

use serde_json::{Value, json};

use super::desk::{TWICE, declaring, refund, refunds_that_differ, run_path, script};
use super::recording_crate::Scene;
use crate::support::snapshot;

/// Four runs, the third of which the provider refuses at its last step.
fn third_fails() -> Value {
    let mut script = refunds_that_differ(4);
    script["conversations"][0]["runs"][2][2]["before"] =
        json!([{ "status": 400, "message": "this is too odd" }]);
    script
}

#[test]
fn runs_that_were_finished_stay_and_the_others_are_recorded_next() {
    let mut scene = Scene::new(&declaring(4), &third_fails());
    let ran = scene.record("missing", &[]).exits(101);
    let (case, text) = ran.only_failure();
    assert_eq!(case, "desk::refunds");
    assert!(text.contains("run 3 of 4: "), "{text}");
    snapshot::assert(
        "record-third-run-fails",
        &text.replace(&scene.url(), "[url]"),
        scene.folder.path(),
    );
    assert_eq!(scene.places(), [run_path(1), run_path(2)]);
    let first_two = scene.recorded();

    scene.start(&refunds_that_differ(2));
    scene.record("missing", &[]).exits(0);
    assert_eq!(scene.requests().len(), 6);
    let all = scene.recorded();
    assert_eq!(all.len(), 4);
    assert!(first_two.iter().all(|(path, bytes)| all[path] == *bytes));
}

#[test]
fn a_run_that_is_declared_later_is_added() {
    let mut scene = Scene::new(TWICE, &refunds_that_differ(2));
    scene.record("missing", &[]).exits(0);
    let before = scene.recorded();
    scene.suite(&declaring(3));
    scene.start(&script("Pay order A-1003 back.", &[refund("Later: RF-1.")]));
    scene.record("missing", &[]).exits(0);
    assert_eq!(scene.requests().len(), 3);
    let after = scene.recorded();
    assert!(before.iter().all(|(path, bytes)| after[path] == *bytes));
    assert_eq!(
        scene.run(&run_path(3))["trace"]["final_response"],
        "Later: RF-1."
    );
}

#[test]
fn a_gap_in_the_numbers_is_filled() {
    let scene = Scene::new(&declaring(3), &refunds_that_differ(4));
    scene.record("missing", &[]).exits(0);
    std::fs::remove_file(scene.folder.at(&run_path(2))).unwrap();
    scene.record("missing", &[]).exits(0);
    assert_eq!(scene.places(), [run_path(1), run_path(2), run_path(3)]);
    assert_eq!(scene.conversations(), 4);
    assert_eq!(
        scene.run(&run_path(2))["trace"]["final_response"],
        "Done for the 4. time: RF-1."
    );
}

#[test]
fn a_single_file_grows_into_a_folder() {
    let scene = Scene::new(&declaring(1), &refunds_that_differ(2));
    scene.record("missing", &[]).exits(0);
    let single = "suites/cassettes/Refunds__claude-sonnet-4-5.json";
    assert_eq!(scene.places(), [single]);
    let text = scene.text(single);
    scene.suite(TWICE);
    scene.record("missing", &[]).exits(0);
    assert_eq!(scene.places(), [run_path(1), run_path(2)]);
    assert_eq!(scene.text(&run_path(1)), text);
    scene.judge(&[]).exits(0);
}

#[test]
fn a_file_of_lines_grows_by_a_line() {
    let scene = Scene::new(&declaring(1), &refunds_that_differ(2));
    scene.record("missing", &[]).exits(0);
    let single = "suites/cassettes/Refunds__claude-sonnet-4-5.json";
    let lines = "suites/cassettes/Refunds__claude-sonnet-4-5.jsonl";
    // Without a line break at its end, as some editors leave it.
    let line = scene.run(single).to_string();
    std::fs::remove_file(scene.folder.at(single)).unwrap();
    scene.folder.write(lines, &line);
    scene.suite(TWICE);
    scene.record("missing", &[]).exits(0);
    assert_eq!(scene.places(), [lines]);
    let text = scene.text(lines);
    assert_eq!(text.lines().next(), Some(line.as_str()));
    assert_eq!(text.lines().count(), 2);
    scene.judge(&[]).exits(0);
}

#[test]
fn stale_recordings_are_not_mixed_with_new_ones() {
    let scene = Scene::new(TWICE, &refunds_that_differ(3));
    scene.record("missing", &[]).exits(0);
    let before = scene.recorded();
    scene.suite(&declaring(3).replace("You work at the order desk.", "You are the order desk."));
    let ran = scene.record("missing", &[]).exits(101);
    let (_, text) = ran.only_failure();
    assert_eq!(scene.requests().len(), 6, "{ran}");
    assert_eq!(scene.recorded(), before);
    snapshot::assert("record-beside-stale", &text, scene.folder.path());
}

#[test]
fn stale_recordings_that_are_all_there_cost_nothing_and_still_fail() {
    let scene = Scene::new(TWICE, &refunds_that_differ(3));
    scene.record("missing", &[]).exits(0);
    scene.suite(&TWICE.replace("You work at the order desk.", "You are the order desk."));
    let (_, text) = scene.record("missing", &[]).exits(101).only_failure();
    assert!(text.contains("stale"), "{text}");
    assert_eq!(scene.requests().len(), 6);
    // Recording all of them anew mends it.
    scene.record("all", &[]).exits(0);
    scene.judge(&[]).exits(0);
    assert_eq!(scene.places().len(), 2);
}

#[test]
fn a_recording_that_cannot_be_read_is_not_added_to() {
    let scene = Scene::new(&declaring(3), &refunds_that_differ(3));
    scene.record("missing", &[]).exits(0);
    std::fs::remove_file(scene.folder.at(&run_path(3))).unwrap();
    scene.folder.write(&run_path(2), "{ \"cut\": ");
    let before = scene.recorded();
    let (_, text) = scene.record("missing", &[]).exits(101).only_failure();
    assert!(text.contains(&run_path(2)), "{text}");
    assert_eq!(scene.conversations(), 3);
    assert_eq!(scene.recorded(), before);
}

#[test]
fn fewer_runs_than_there_are_are_no_reason_to_remove_any() {
    let scene = Scene::new(&declaring(3), &refunds_that_differ(3));
    scene.record("missing", &[]).exits(0);
    let before = scene.recorded();
    scene.suite(TWICE);
    let (_, text) = scene.record("missing", &[]).exits(101).only_failure();
    assert!(text.contains("2 runs declared, 3 recorded"), "{text}");
    assert_eq!(scene.recorded(), before);
    assert_eq!(scene.conversations(), 3);
    // Recorded anew, there are as many as the suite says.
    scene.record("all", &[]).exits(0);
    assert_eq!(scene.places(), [run_path(1), run_path(2)]);
}

#[test]
fn all_that_fails_halfway_leaves_the_old_runs_and_goes_on_next_time() {
    let mut scene = Scene::new(&declaring(4), &refunds_that_differ(4));
    scene.record("missing", &[]).exits(0);
    let old = scene.recorded();

    scene.start(&third_fails());
    let ran = scene.record("all", &[]).exits(101);
    assert!(ran.only_failure().1.contains("run 3 of 4: "), "{ran}");
    let between = scene.recorded();
    for (path, bytes) in &old {
        assert_eq!(&between[path], bytes, "{path}");
    }
    // What is judged meanwhile is the old recording.
    scene.judge(&[]).exits(0);

    scene.start(&script(
        "Pay order A-1003 back.",
        &[refund("New 3: RF-1."), refund("New 4: RF-1.")],
    ));
    let ran = scene.record("all", &[]).exits(0);
    assert!(
        ran.stderr.contains("continuing: 2 of 4 runs of `Refunds`"),
        "{ran}"
    );
    assert_eq!(scene.conversations(), 2);
    assert_eq!(
        scene.places(),
        [run_path(1), run_path(2), run_path(3), run_path(4)]
    );
    let closings: Vec<Value> = (1..=4)
        .map(|run| scene.run(&run_path(run))["trace"]["final_response"].clone())
        .collect();
    assert_eq!(
        closings,
        [
            "Done for the 1. time: RF-1.",
            "Done for the 2. time: RF-1.",
            "New 3: RF-1.",
            "New 4: RF-1."
        ]
    );
}

#[test]
fn what_was_staged_for_another_prompt_is_not_used() {
    let mut scene = Scene::new(&declaring(4), &third_fails());
    scene.record("all", &[]).exits(101);
    scene.suite(&declaring(2).replace("You work", "You now work"));
    scene.start(&refunds_that_differ(2));
    scene.record("all", &[]).exits(0);
    assert_eq!(scene.conversations(), 2);
    assert_eq!(scene.places(), [run_path(1), run_path(2)]);
}

#[test]
fn what_was_staged_under_other_caps_is_not_used() {
    let mut scene = Scene::new(&declaring(4), &third_fails());
    scene.record("all", &[]).exits(101);
    scene.suite(&declaring(4).replace("runs: 4", "runs: 4\n    max_tokens: 99"));
    scene.start(&refunds_that_differ(4));
    scene.record("all", &[]).exits(0);
    assert_eq!(scene.conversations(), 4);
    for run in 1..=4 {
        assert_eq!(scene.run(&run_path(run))["max_tokens"], 99);
    }
}

#[test]
fn runs_are_not_added_to_runs_of_other_caps() {
    let scene = Scene::new(TWICE, &refunds_that_differ(3));
    scene.record("missing", &[]).exits(0);
    scene.suite(&declaring(3).replace("runs: 3", "runs: 3\n    max_tokens: 99"));
    let (_, text) = scene.record("missing", &[]).exits(101).only_failure();
    assert!(
        text.contains("with other turns, servers, faults or caps"),
        "{text}"
    );
    assert_eq!(scene.conversations(), 2);
}

#[test]
fn missing_after_an_all_that_failed_loses_nothing() {
    // Nothing was recorded before, so only the staging folder holds what was paid for.
    let mut scene = Scene::new(&declaring(4), &third_fails());
    scene.record("all", &[]).exits(101);
    scene.start(&refunds_that_differ(4));
    scene.record("missing", &[]).exits(0);
    // Two of them were paid for already.
    assert_eq!(scene.conversations(), 2);
    assert!(scene.places().iter().all(|path| !path.contains("/.")));
    assert_eq!(
        (1..=4)
            .filter(|run| scene.places().contains(&run_path(*run)))
            .count(),
        4,
        "{:?}",
        scene.places()
    );
    scene.judge(&[]).exits(0);
}

#[test]
fn tools_that_changed_are_shown_when_runs_are_recorded_anew() {
    let scene = Scene::new(TWICE, &refunds_that_differ(2));
    scene.record("missing", &[]).exits(0);
    let same = scene.record("all", &[]).exits(0);
    assert!(!same.stderr.contains("changed since"), "{same}");
    scene.suite(
        &TWICE
            .replace("agents:", "  more: { command: [ORDER_DESK] }\nagents:")
            .replace("[desk]", "[desk, more]"),
    );
    let ran = scene.record("all", &[]).exits(0);
    let said = format!("{}\n", ran.stderr.trim_end());
    snapshot::assert("record-tools-changed", &said, scene.folder.path());
}

/// The runs of a recording are of one agent with one set of tools.
#[test]
fn what_was_staged_with_other_tools_is_not_used() {
    let mut scene = Scene::new(&declaring(4), &third_fails());
    scene.record("all", &[]).exits(101);
    scene.suite(
        &declaring(4)
            .replace("agents:", "  more: { command: [ORDER_DESK] }\nagents:")
            .replace("[desk]", "[desk, more]"),
    );
    scene.start(&refunds_that_differ(4));
    scene.record("all", &[]).exits(0);
    let fingerprint = |run| scene.run(&run_path(run))["tools_fingerprint"].clone();
    for run in 2..=4 {
        assert_eq!(fingerprint(run), fingerprint(1), "run {run}");
    }
}
