//! An import of many agents: one suite holds them all.

use serde_json::json;

use super::{Desk, lines};

#[test]
fn a_suite_of_hundreds_of_agents_is_written_found_again_and_taken_back() {
    const AGENTS: usize = 215;
    let record = |agent: usize| {
        let system = format!(
            "You are agent {agent}. {}",
            "Be kind to the customer. ".repeat(450)
        );
        json!({ "model": "m", "id": agent.to_string(), "messages": [
            { "role": "system", "content": system }, { "role": "user", "content": format!("Refund order {agent}.") },
            { "role": "assistant", "content": null, "tool_calls": [{ "id": "c", "function": { "name": "refund", "arguments": json!({ "order": agent }).to_string() } }] },
            { "role": "tool", "tool_call_id": "c", "content": "ok" }, { "role": "assistant", "content": "Refunded." }] })
    };
    let records: Vec<_> = (1..=AGENTS).map(record).collect();
    let desk = Desk::new();
    desk.write("logs.jsonl", lines(&records));
    let said = desk.import(&["logs.jsonl"]);
    assert_eq!(said.status, 0, "{}", said.err);
    let suite = desk.suite();
    assert!(suite.len() > 2 << 20, "{}", suite.len());
    assert_eq!(suite.matches("\n  - name: ").count(), AGENTS);
    let again = desk.import(&["logs.jsonl"]);
    assert_eq!(again.status, 0, "{}", again.err);
    assert!(
        !again.out.contains("the suite does not have"),
        "{}",
        again.out
    );
    assert_eq!(desk.recordings().len(), AGENTS);
    let undone = desk.import(&["logs.jsonl", "--undo"]);
    assert_eq!(undone.status, 0, "{}", undone.err);
    assert!(desk.recordings().is_empty() && desk.suite().is_empty());
}
