//! Records that are no JSON by the letter, or would lose something: read, and said.

use serde_json::Value;

use super::Desk;
use super::strangers::{calls, closing};

fn record(closing: &str, args: &str, more: &str) -> String {
    let args = args.replace('"', "\\\"");
    format!(
        r#"{{"model":"m","messages":[{{"role":"user","content":"go"}},{{"role":"assistant","tool_calls":[{{"id":"c","function":{{"name":"find","arguments":"{args}"}}}}]}},{{"role":"tool","tool_call_id":"c","content":"x"}},{{"role":"assistant","content":"{closing}"}}]{more}}}"#
    )
}

#[test]
fn what_is_read_otherwise_is_counted_and_said() {
    let texts = [
        record(r"Done \ud83d.", "{}", ""),
        record(r"Done \ude00!", "{}", r#","x":1e400"#),
        record("Done.", "{}", r#","x":NaN"#),
        record("Done?", "{}", r#","id":"7","id":"8""#),
        record(
            "Fine.",
            r#"{\"n\":123456789012345678901234567890}"#.replace('\\', "").as_str(),
            "",
        ),
        record("Good.", "{}", r#","x":12345678901234567890123"#),
    ];
    let desk = Desk::new();
    desk.write("a.jsonl", texts.join("\n"));
    let said = desk.import(&["a.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    let runs = desk.recordings();
    assert_eq!(runs.len(), 6, "{said:?}");
    let closings: Vec<&str> = runs.iter().map(|(_, run)| closing(run)).collect();
    assert!(closings.contains(&"Done \u{fffd}."), "{closings:?}");
    assert!(runs.iter().any(|(_, run)| run["imported"]["id"] == "8"));
    let of_long = runs
        .iter()
        .find(|(_, run)| closing(run) == "Fine.")
        .unwrap();
    assert_eq!(
        calls(&of_long.1)[0].1,
        r#"{"n":"123456789012345678901234567890"}"#
    );
    for note in [
        "half a character is read as U+FFFD (2 records)",
        "a number that would be rounded is kept as a text (2 records)",
        "`NaN` or `Infinity` is read as null (1 record)",
        "a key is twice in an object: the last one is read (1 record)",
        "note: a number that would be rounded is kept as a text\n",
    ] {
        assert!(said.out.contains(note), "{note}: {said:?}");
    }
    let desk = Desk::new();
    desk.write("a.jsonl", &texts[0]);
    let said = desk.import(&["a.jsonl", "--format", "json"]);
    let told: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(
        told["notes"][0]["note"], "half a character is read as U+FFFD",
        "{told:#}"
    );
    assert_eq!(told["notes"][0]["count"], 1);
}
