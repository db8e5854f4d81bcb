//! Where recordings are put.

use super::desk::{TWICE, declaring, refunds_that_differ};
use super::recording_crate::Scene;
use crate::support::snapshot;

fn named(runs: usize, cassette: &str) -> Scene {
    let key = format!("    cassette: {cassette:?}\n    model:");
    let suite = declaring(runs).replace("    model:", &key);
    Scene::new(&suite, &refunds_that_differ(4))
}

#[test]
fn cassette_names_a_file_a_folder_or_a_file_of_lines() {
    for (runs, cassette, places) in [
        (1, "kept/refund.json", &["suites/kept/refund.json"][..]),
        (
            2,
            "kept/refunds",
            &[
                "suites/kept/refunds/run-1.json",
                "suites/kept/refunds/run-2.json",
            ],
        ),
        (2, "../kept", &["kept/run-1.json", "kept/run-2.json"]),
        (2, "kept/refunds.jsonl", &["suites/kept/refunds.jsonl"]),
        (1, "one.jsonl", &["suites/one.jsonl"]),
        (1, "kept", &["suites/kept/run-1.json"]),
    ] {
        let scene = named(runs, cassette);
        let ran = scene.record("missing", &[]).exits(0);
        assert_eq!(scene.places(), places, "{cassette}\n{ran}");
        scene.judge(&[]).exits(0);
        scene.record("missing", &[]).exits(0);
        assert_eq!(scene.conversations(), runs, "{cassette}");
        scene.record("all", &[]).exits(0);
        assert_eq!(scene.places(), places, "{cassette}");
        assert_eq!(scene.conversations(), 2 * runs, "{cassette}");
        scene.judge(&[]).exits(0);
    }
}

#[test]
fn a_pattern_is_no_place_to_record_to() {
    let scene = named(2, "kept/*.json");
    let (_, text) = scene.record("missing", &[]).exits(101).only_failure();
    snapshot::assert("record-to-a-pattern", &text, scene.folder.path());
    assert_eq!(scene.requests().len(), 0);
}

#[test]
fn one_file_does_not_hold_two_runs() {
    let scene = named(2, "kept/refund.json");
    let (_, text) = scene.record("missing", &[]).exits(101).only_failure();
    snapshot::assert("record-two-into-one", &text, scene.folder.path());
    assert_eq!(scene.requests().len(), 0);
}

#[test]
fn a_place_outside_the_suite_by_an_absolute_path_is_refused() {
    let scene = named(1, "/somewhere/refund.json");
    let (_, text) = scene.record("missing", &[]).exits(101).only_failure();
    assert!(text.contains("is not relative to the suite"), "{text}");
    assert_eq!(scene.requests().len(), 0);
}

#[test]
fn recordings_are_added_where_the_others_lie() {
    let scene = Scene::new(&declaring(1), &refunds_that_differ(2));
    scene.record("missing", &[]).exits(0);
    let text = scene.text("suites/cassettes/Refunds__claude-sonnet-4-5.json");
    std::fs::remove_dir_all(scene.folder.at("suites/cassettes")).unwrap();
    let central = "cassettes/desk/Refunds__claude-sonnet-4-5";
    scene.folder.write(&format!("{central}.json"), &text);
    scene.suite(TWICE);
    scene.record("missing", &[]).exits(0);
    assert_eq!(
        scene.places(),
        [
            format!("{central}/run-1.json"),
            format!("{central}/run-2.json")
        ]
    );
}

#[test]
fn two_places_are_refused_before_anything_is_spent() {
    let scene = Scene::new(&declaring(1), &refunds_that_differ(2));
    scene.record("missing", &[]).exits(0);
    let text = scene.text("suites/cassettes/Refunds__claude-sonnet-4-5.json");
    scene
        .folder
        .write("cassettes/desk/Refunds__claude-sonnet-4-5.json", &text);
    for word in ["missing", "all"] {
        let (_, text) = scene.record(word, &[]).exits(101).only_failure();
        assert!(text.contains("are in several places"), "{text}");
    }
    assert_eq!(scene.conversations(), 1);
}

#[test]
fn something_else_in_the_way_is_said_before_anything_is_spent() {
    let scene = Scene::new(TWICE, &refunds_that_differ(2));
    scene.folder.write("suites/cassettes", "a file");
    let (_, text) = scene.record("missing", &[]).exits(101).only_failure();
    snapshot::assert("record-file-in-the-way", &text, scene.folder.path());
    assert_eq!(scene.requests().len(), 0, "{text}");
}
