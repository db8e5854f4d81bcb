//! An agent's own loop, registered with the builder.

use std::path::Path;

use serde_json::json;

use super::function_crate::{RecordingFolder, counting, suite};
use crate::support::folder::Folder;
use crate::support::snapshot;

#[test]
fn a_loop_of_ones_own_records_and_is_judged() {
    let stage = RecordingFolder::new(&counting(2));
    stage.judge().exits(101);
    assert!(stage.begun_runs().is_empty());
    let ran = stage.record("missing", &[]).exits(0);
    assert!(
        ran.stderr
            .contains("recorded 2 runs of `Clerk` (586 tokens) -> suites/cassettes/Clerk__clerk-1"),
        "{ran}"
    );
    assert_eq!(stage.begun_runs(), [1, 2]);
    stage.judge().exits(0);
    stage.record("missing", &[]).exits(0);
    assert_eq!(stage.begun_runs(), [1, 2]);
    stage.record("all", &[]).exits(0);
    assert_eq!(stage.begun_runs(), [1, 2, 1, 2]);

    let run = &stage.runs()["Clerk__clerk-1/run-2.json"];
    assert_eq!(run["agent_name"], "Clerk");
    assert_eq!(
        run["trace"]["final_response"],
        "There are 3 pens, says run 2. "
    );
    assert_eq!(
        run["trace"]["tool_calls"],
        json!([{ "name": "count", "server": "desk", "args": { "article": "pen" }, "step": 0, "hop_index": 0 }])
    );
    assert_eq!(
        run["trace"]["tool_results"][0]["result"]["content"],
        json!([{ "type": "text", "text": "3" }])
    );
    assert_eq!(
        run["trace"]["conversation"]["tokens"],
        json!({ "prompt": 270, "completion": 23, "total": 293 })
    );
}

#[test]
fn an_error_of_the_loop_fails_the_agent_and_keeps_the_runs_before_it() {
    let stage = RecordingFolder::new(&suite("Fail at the second run.", 3));
    let (case, text) = stage.record("missing", &[]).exits(101).only_failure();
    assert_eq!(case, "desk::clerk");
    snapshot::assert("own-loop-error", &text, stage.folder.path());
    assert_eq!(stage.runs().len(), 1);
    assert_eq!(stage.begun_runs(), [1, 2]);
}

#[test]
fn a_panic_of_the_loop_fails_the_agent_and_keeps_the_runs_before_it() {
    let stage = RecordingFolder::new(&suite("Panic at the second run.", 3));
    let ran = stage.record("missing", &[]).exits(101);
    let (case, text) = ran.only_failure();
    assert_eq!(case, "desk::clerk");
    assert!(text.contains("the pens fell down"), "{ran}");
    assert_eq!(stage.runs().len(), 1);
    // The lock went with the panic, and the next recording goes on.
    let ran = stage.record("missing", &[]).exits(101);
    assert_eq!(stage.begun_runs(), [1, 2, 2], "{ran}");
}

#[test]
fn a_key_in_what_the_loop_says_is_blanked() {
    let stage = RecordingFolder::new(&counting(1));
    let key = "sk-own-88aa02dd71";
    stage
        .record("missing", &[("OPENAI_API_KEY", key), ("GENERATION", key)])
        .exits(0);
    let run = &stage.runs()["Clerk__clerk-1.json"];
    assert_eq!(
        run["trace"]["final_response"],
        "There are 3 pens, says run 1. [redacted OPENAI_API_KEY]"
    );
}

/// Two files with the same bytes count as copies of one run, and this loop does the same every
/// time, on a disk in memory quicker than the clock ticks.
#[test]
fn quick_runs_that_are_alike_are_still_runs() {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() {
        Folder::new_below(memory)
    } else {
        Folder::new()
    };
    let stage = RecordingFolder::in_folder(folder, &suite("Say the same.", 40));
    let ran = stage.record("missing", &[]);
    assert_eq!(stage.runs().len(), 40, "{ran}");
    stage.judge().exits(0);
}

#[test]
fn what_the_loop_calls_a_secret_is_blanked_in_runs_and_errors() {
    let stage = RecordingFolder::new(&suite("Say the secret.", 1));
    stage.record("missing", &[]).exits(0);
    let run = &stage.runs()["Clerk__clerk-1.json"];
    assert_eq!(
        run["trace"]["final_response"],
        "It is [redacted DB_PASSWORD]."
    );
    assert!(!run.to_string().contains("hunter2"), "{run}");

    let stage = RecordingFolder::new(&suite("Fail with the secret.", 1));
    let ran = stage.record("missing", &[]).exits(101);
    assert!(
        ran.only_failure()
            .1
            .contains("cannot sign in with [redacted DB_PASSWORD]"),
        "{ran}"
    );
    assert!(!format!("{ran}").contains("hunter2"), "{ran}");
}

#[test]
fn a_loop_that_forgets_the_user_is_told_so_at_its_first_run() {
    let stage = RecordingFolder::new(&suite("Forget the user.", 3));
    let (_, text) = stage.record("missing", &[]).exits(101).only_failure();
    assert!(text.contains("did not record what the user said"), "{text}");
    assert!(text.contains("run.user(&asked.user_turns[0])"), "{text}");
    assert_eq!((stage.begun_runs(), stage.runs().len()), (vec![1], 0));
}

#[test]
fn the_harness_writes_the_runs_of_a_loop_and_the_loop_does_not() {
    let stage = RecordingFolder::new(&suite("Keep it yourself.", 1));
    stage.record("missing", &[]).exits(0);
    let run = &stage.runs()["Clerk__clerk-1.json"];
    let said = run["trace"]["final_response"].as_str().unwrap();
    assert!(said.contains("the harness writes this run"), "{said}");
}

#[test]
fn a_loop_that_panics_is_run_once_for_all_cases_of_its_agent() {
    let gates = "    narrative: {}\n    snapshot: {}\n";
    let stage = RecordingFolder::new(&format!("{}{gates}", suite("Panic at the second run.", 2)));
    let ran = stage.record("missing", &[]).exits(101);
    assert_eq!(stage.begun_runs(), [1, 2], "{ran}");
    let failures = ran.failures();
    assert!(
        failures["desk::clerk"].contains("the agent's own loop panicked"),
        "{ran}"
    );
    assert_eq!(failures.len(), 3, "{ran}");
}
