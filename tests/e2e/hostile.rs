//! Text from suites, recordings and file names is shown with its control characters made visible.

use serde_json::json;

use crate::sample::{assert_fails, runner};
use crate::support::clerk::{ONE, SUITE, counted, desk};
use crate::support::process::Finished;

/// Red, a bell, a carriage return, a title change, a right-to-left override, a null.
const HOSTILE: &str = "\u{1b}[31mred\u{7}\rover\u{1b}]0;title\u{7}\u{202e}txt\u{0}\u{9b}2J";

/// Nothing but line breaks and what can be seen reaches the terminal.
#[track_caller]
fn assert_clean(ran: &Finished) {
    for text in [&ran.stdout, &ran.stderr] {
        let bad = text.chars().find(|letter| {
            (letter.is_control() && *letter != '\n') || ('\u{202a}'..='\u{202e}').contains(letter)
        });
        assert_eq!(bad, None, "{ran:?}");
    }
}

#[test]
fn a_recording_with_control_characters_is_shown_and_not_emitted() {
    let mut run = counted(3);
    run["trace"]["final_response"] = json!(HOSTILE);
    run["trace"]["tool_calls"][0]["args"] = json!({ HOSTILE: HOSTILE });
    let suite =
        SUITE.to_owned() + "      - target: tool_calls[0].args\n        matcher: { exact: {} }\n";
    let folder = desk(&suite).with_run(ONE, &run);
    assert_clean(&runner(folder.path(), &[]).exits(101));
    let text = assert_fails("hostile-recording", &folder, "desk::clerk");
    assert!(text.contains("red") && text.contains("over"), "{text}");
}

#[test]
fn a_stale_prompt_with_control_characters_is_shown_and_not_emitted() {
    let mut run = counted(3);
    run["user_prompt"] = json!(HOSTILE);
    run["model"] = json!(HOSTILE);
    let folder = desk(SUITE).with_run(ONE, &run);
    assert_clean(&runner(folder.path(), &[]).exits(101));
}

#[test]
fn tool_names_with_control_characters_are_shown_and_not_emitted() {
    let gates = "    trajectory: { mode: strict, calls: [{ name: count }] }\n    golden_path: { calls: [count] }\n    narrative: {}\n";
    let mut run = counted(3);
    run["trace"]["tool_calls"][0]["name"] = json!(HOSTILE);
    let ran = runner(
        desk(&(SUITE.to_owned() + gates)).with_run(ONE, &run).path(),
        &[],
    )
    .exits(101);
    assert!(
        ran.failures().contains_key("desk::clerk::trajectory"),
        "{ran}"
    );
    assert_clean(&ran);
}

#[test]
fn a_malformed_recording_with_control_characters_is_shown_and_not_emitted() {
    let mut run = counted(3);
    run["schema_version"] = json!(HOSTILE);
    assert_clean(&runner(desk(SUITE).with_run(ONE, &run).path(), &[]).exits(101));
    let bad = format!("{{ \"{HOSTILE}");
    assert_clean(&runner(desk(SUITE).with_file(ONE, bad).path(), &[]).exits(101));
}

#[test]
fn a_suite_with_control_characters_is_shown_and_not_emitted() {
    let escaped = "\\e[31mred\\a\\r\\u202Etxt\\0";
    let keys = format!("agents:\n  - \"{escaped}\": 1\n    name: \"{escaped}\"\n");
    assert_clean(&runner(desk(&keys).path(), &[]).exits(101));
    let skip = SUITE.to_owned() + &format!("    skip: \"{escaped}\"\n");
    assert_clean(&runner(desk(&skip).path(), &[]).exits(0));
    let message = SUITE.replace("contains: pens", "contains: ink")
        + &format!("        message: \"{escaped}\"\n");
    assert_clean(&runner(desk(&message).with_run(ONE, &counted(3)).path(), &[]).exits(101));
    let cassette = SUITE.to_owned() + &format!("    cassette: \"{escaped}\"\n");
    assert_clean(&runner(desk(&cassette).path(), &[]).exits(101));
}

#[cfg(unix)]
#[test]
fn file_names_with_control_characters_are_shown_and_not_emitted() {
    let name = "a\u{1b}[31m\nb\u{202e}";
    let folder = desk(SUITE).with_file(&format!("suites/{name}.yml"), "agentss: []\n");
    let folder = folder.with_file(&format!("suites/cassettes/Clerk__m/{name}.json"), "{");
    let folder = folder.with_file("suites/cassettes/Clerk__m/\u{7}.json", "{");
    let ran = runner(folder.path(), &[]).exits(101);
    assert_eq!(ran.failures().len(), 2, "{ran}");
    assert_clean(&ran);
    assert_clean(&runner(folder.path(), &["--list"]).exits(0));
}
