//! Results that say themselves that their call failed, whatever their flag.

use serde_json::{Value, json};

use super::{Desk, lines};

fn record(id: usize, result: &str, flag: Option<bool>) -> Value {
    let mut answer = json!({ "role": "tool", "tool_call_id": "c", "content": result });
    if let Some(flag) = flag {
        answer["is_error"] = flag.into();
    }
    json!({ "model": "m", "id": id.to_string(), "messages": [
        { "role": "user", "content": "Refund order 7." },
        { "role": "assistant", "content": null, "tool_calls": [{ "id": "c", "function": { "name": "refund", "arguments": "{\"order\":7}" } }] },
        answer, { "role": "assistant", "content": "Please call us about it." }] })
}

#[test]
fn the_column_counts_what_results_say_and_the_plan_does_not_pin_it() {
    let fails = r#"{"success":false,"error":"insufficient funds"}"#;
    for (result, flag, column, is_pinned, suspect) in [
        ("refunded", Some(false), ["0", "0"], true, ""),
        ("refunded", None, ["0", "2"], false, ""),
        (
            fails,
            Some(false),
            ["2", "0"],
            false,
            "says that it failed: `success: false`",
        ),
        (
            fails,
            None,
            ["2", "0"],
            false,
            "says that it failed: `success: false`",
        ),
        (
            "The order was not found.",
            Some(false),
            ["0", "2"],
            false,
            "sounds as if it had failed",
        ),
        (
            "The order was not found.",
            None,
            ["0", "2"],
            false,
            "sounds as if it had failed",
        ),
        (fails, Some(true), ["2", "0"], false, ""),
    ] {
        let desk = Desk::new();
        desk.write(
            "a.jsonl",
            lines(&[record(1, result, flag), record(2, result, flag)]),
        );
        let said = desk.import(&["a.jsonl", "--agent", "desk"]);
        assert_eq!(said.status, 0, "{said:?}");
        let row = said.out.lines().nth(1).unwrap_or_default();
        let cells: Vec<&str> = row.split_whitespace().skip(5).take(2).collect();
        assert_eq!(cells, column, "{result} {flag:?}: {said:?}");
        assert_eq!(
            desk.suite().contains("is_error: false"),
            is_pinned,
            "{result} {flag:?}:\n{}",
            desk.suite()
        );
        assert_eq!(
            said.out.contains("suspect:") && said.out.contains("its call `refund`"),
            !suspect.is_empty(),
            "{said:?}"
        );
        assert!(said.out.contains(suspect), "{result} {flag:?}: {said:?}");
        // It is named, and no run is set aside for it.
        assert!(!said.out.contains("(set aside)"), "{said:?}");
    }
}
