//! Recordings that cannot be used: missing, malformed, miscounted, misplaced.

use std::fs::File;

use serde_json::{Value, json};

use crate::sample::{assert_fails, assert_passes, runner};
use crate::support::clerk::{FIRST, ONE, SECOND, SUITE, TWICE, counted, desk};
use crate::support::outcome::Outcome::Failed;

/// A single cassette with these bytes fails the agent's case; the text is a snapshot.
#[track_caller]
fn assert_refused(snapshot: &str, bytes: impl AsRef<[u8]>) -> String {
    let folder = desk(SUITE).with_file(ONE, bytes);
    assert_fails(&format!("recording-{snapshot}"), &folder, "desk::clerk")
}

#[test]
fn a_good_recording_passes() {
    assert_eq!(
        assert_passes(&desk(SUITE).with_run(ONE, &counted(3))),
        ["desk::clerk"]
    );
    let twice = desk(TWICE)
        .with_run(FIRST, &counted(3))
        .with_run(SECOND, &counted(4));
    assert_eq!(
        assert_passes(&twice),
        ["desk::clerk", "desk::clerk::narrative"]
    );
}

#[test]
fn a_missing_recording_says_where_to_put_it() {
    let text = assert_fails("recording-missing", &desk(SUITE), "desk::clerk");
    assert!(text.contains(ONE), "{text}");
}

#[test]
fn a_recording_in_other_letters_is_told_from_none() {
    let other = "suites/cassettes/Clerk__m.JSON";
    let folder = desk(SUITE).with_run(other, &counted(3));
    assert_fails("recording-other-letters", &folder, "desk::clerk");
    let beside = folder.with_run(ONE, &counted(4));
    assert_fails("recording-other-letters-beside", &beside, "desk::clerk");
}

#[test]
fn a_pattern_that_fits_nothing_is_told_with_its_folder() {
    let named = SUITE.replace("    model", "    cassette: nope/*.json\n    model");
    assert_fails(
        "recording-pattern-fits-nothing",
        &desk(&named),
        "desk::clerk",
    );
}

#[test]
fn missing_recordings_of_several_runs_say_where_to_put_each() {
    let ran = runner(desk(TWICE).path(), &[]).exits(101);
    let failures = ran.failures();
    assert!(
        failures["desk::clerk"].contains("suites/cassettes/Clerk__m/run-1.json"),
        "{ran}"
    );
    let gate = &failures["desk::clerk::narrative"];
    assert_eq!(gate.trim_end().lines().count(), 1, "{gate}");
    assert!(gate.contains("see `desk::clerk`"), "{gate}");
}

#[test]
fn an_empty_file() {
    assert_refused("empty", "");
    assert_refused("blank", " \n\n");
}

#[test]
fn a_truncated_file() {
    let whole = format!("{:#}\n", counted(3));
    assert_refused("truncated", &whole[..whole.len() / 2]);
}

#[test]
fn a_file_that_is_not_utf_8() {
    let mut bytes = format!("{:#}\n", counted(3)).into_bytes();
    let at = bytes.windows(4).position(|part| part == b"pens").unwrap();
    bytes[at] = 0xff;
    assert_refused("not-utf-8", bytes);
}

#[test]
fn a_gigantic_file_is_not_read() {
    let folder = desk(SUITE).with_file(ONE, "");
    let file = File::options().write(true).open(folder.at(ONE)).unwrap();
    // Sparse: it takes no room.
    file.set_len((256 << 20) + 1).unwrap();
    assert_fails("recording-gigantic", &folder, "desk::clerk");
}

#[test]
fn a_deeply_nested_file() {
    let deep = format!("{}0{}", "[".repeat(100_000), "]".repeat(100_000));
    let text =
        counted(3)
            .to_string()
            .replacen("\"trace\":{", &format!("\"trace\":{{\"deep\":{deep},"), 1);
    assert!(text.len() > 200_000);
    assert_refused("deeply-nested", text);
}

#[test]
fn another_kind_of_json() {
    assert_refused("array", "[]\n");
    assert_refused("without-version", "{}\n");
}

#[test]
fn another_schema_version() {
    for (name, version) in [("version-2", json!("v2")), ("version-number", json!(1))] {
        let mut run = counted(3);
        run["schema_version"] = version;
        assert_refused(name, run.to_string());
    }
}

#[test]
fn every_malformed_field_is_listed() {
    let mut run = counted(3);
    run["model"] = json!(7);
    run["user_prompt"] = Value::Null;
    run["trace"]["tool_calls"][0]["name"] = json!(["count"]);
    run["trace"]["tool_results"][0]["call_index"] = json!(-1);
    run["trace"]["tool_results"][0]["is_error"] = json!("no");
    run["trace"]["conversation"]["tokens"]["total"] = json!("many");
    run["signals"] = json!({ "confidence": "high" });
    run.sort_all_objects();
    let text = assert_refused("malformed-fields", run.to_string());
    for field in [
        "model",
        "user_prompt",
        "tool_calls[0].name",
        "call_index",
        "is_error",
        "total",
        "confidence",
    ] {
        assert!(text.contains(field), "{field} in {text}");
    }
}

#[test]
fn no_room_is_made_for_what_a_number_claims() {
    let mut run = counted(3);
    run["trace"]["tool_results"][0]["call_index"] = json!(u64::MAX);
    run["trace"]["conversation"]["tokens"]["total"] = json!(u64::MAX);
    run["trace"]["conversation"]["duration_ms"] = json!(1e300);
    let ran = runner(desk(SUITE).with_file(ONE, run.to_string()).path(), &[]);
    assert!(matches!(ran.code, Some(0 | 101)), "{ran}");
    assert!(!ran.stderr.contains("panicked"), "{ran}");
}

#[test]
fn fewer_runs_than_declared_fail_the_agent_and_every_gate() {
    let folder = desk(TWICE).with_run(FIRST, &counted(3));
    let ran = runner(folder.path(), &[]).exits(101);
    assert!(
        ran.outcomes().values().all(|outcome| *outcome == Failed),
        "{ran}"
    );
    crate::support::snapshot::assert(
        "recording-fewer-runs",
        &ran.failures()["desk::clerk"],
        folder.path(),
    );
    assert_eq!(
        ran.failures()["desk::clerk::narrative"].lines().count(),
        1,
        "{ran}"
    );
}

#[test]
fn more_runs_than_declared_fail_as_well() {
    let folder = desk(SUITE)
        .with_run(FIRST, &counted(3))
        .with_run(SECOND, &counted(4));
    assert_fails("recording-more-runs", &folder, "desk::clerk");
}

#[test]
fn two_copies_of_one_run_are_not_two_runs() {
    let folder = desk(TWICE)
        .with_run(FIRST, &counted(3))
        .with_run(SECOND, &counted(3));
    let ran = runner(folder.path(), &["--skip", "narrative"]).exits(101);
    let text = &ran.failures()["desk::clerk"];
    assert!(text.contains(FIRST) && text.contains(SECOND), "{text}");
    crate::support::snapshot::assert("recording-copies", text, folder.path());
}

#[test]
fn two_places_at_once_are_an_error_that_names_both() {
    let other = "cassettes/desk/Clerk__m.json";
    let folder = desk(SUITE)
        .with_run(ONE, &counted(3))
        .with_run(other, &counted(4));
    let text = assert_fails("recording-two-places", &folder, "desk::clerk");
    assert!(text.contains(ONE) && text.contains(other), "{text}");
}

#[test]
fn two_layouts_at_once_are_an_error_that_names_both() {
    let folder = desk(SUITE)
        .with_run(ONE, &counted(3))
        .with_run(FIRST, &counted(4));
    assert_fails("recording-two-layouts", &folder, "desk::clerk");
}

#[test]
fn each_place_and_layout_alone_holds_the_runs() {
    for place in ["suites/cassettes", "cassettes/desk"] {
        let single = desk(SUITE).with_run(&format!("{place}/Clerk__m.json"), &counted(3));
        assert_passes(&single);
        let lines = format!("{}\n{}\n", counted(3), counted(4));
        assert_passes(&desk(TWICE).with_file(&format!("{place}/Clerk__m.jsonl"), lines));
        let files = desk(TWICE)
            .with_run(&format!("{place}/Clerk__m/run-9.json"), &counted(3))
            .with_run(&format!("{place}/Clerk__m/run-10.json"), &counted(4));
        assert_passes(&files);
    }
    let named = SUITE.replace("    model", "    cassette: kept/*.json\n    model");
    assert_passes(&desk(&named).with_run("suites/kept/any name.json", &counted(3)));
}
