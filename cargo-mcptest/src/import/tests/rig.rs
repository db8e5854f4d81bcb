//! Definition: rig-core 0.44 `effect`, `tool/result.rs`, `completion/request.rs`.

use serde_json::{Value, json};

use super::Desk;
use super::strangers::{call, calls, closing, stop, tokens};

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": [{ "type": "text", "text": text }] })
}

fn asks(id: &str, name: &str, order: u32) -> Value {
    json!({ "type": "toolcall", "id": { "provider": id }, "function": { "name": name, "arguments": { "order": order } } })
}

fn answers(id: &str, name: &str, text: &str, is_error: bool) -> Value {
    let mut part = json!({ "type": "toolresult", "call": { "provider": id }, "name": name, "content": [{ "type": "text", "text": text }] });
    if is_error {
        part["is_error"] = true.into();
    }
    json!({ "role": "user", "content": [part] })
}

fn model(agent: &str, history: &[Value], choice: &Value, finish: Option<&str>) -> Value {
    json!({ "id": 1, "key": format!("{agent}/model:default"), "kind": { "effect": "completion", "request": {
        "model": null, "chat_history": history, "temperature": 0.5, "max_tokens": 256,
        "tools": [{ "name": "refund", "description": "refunds", "parameters": { "type": "object", "properties": { "order": { "type": "integer" } } } }] } },
        "outcome": { "Ok": { "outcome": "completion", "choice": choice, "usage": { "input_tokens": 20, "output_tokens": 2, "total_tokens": 22 },
            "origin": { "api": "chat", "provider": "openai", "model": "gpt-5" }, "finish_reason": finish } } })
}

fn tool(agent: &str, name: &str, order: u32, result: &Value) -> Value {
    json!({ "id": 2, "key": format!("{agent}/tool:{name}#0"), "kind": { "effect": "tool_call", "name": name, "args": json!({ "order": order }).to_string() },
        "outcome": { "Ok": { "outcome": "tool_result", "result": result } } })
}

fn fine(text: &str) -> Value {
    json!({ "status": "success", "value": [{ "type": "text", "text": text }] })
}

fn failed(status: &str, shown: &str) -> Value {
    json!({ "status": status, "value": { "kind": "other", "message": "inside", "model_output": [{ "type": "text", "text": shown }] } })
}

fn import(records: &[Value]) -> (Desk, super::ImportOutput) {
    let desk = Desk::new();
    let header = json!({ "handlers": [], "signature": {} });
    desk.write(
        "effects.json",
        format!("{:#}", json!({ "header": header, "records": records })),
    );
    let said = desk.import(&["effects.json"]);
    (desk, said)
}

/// Two calls at once whose tools end in the other order, and one that failed.
#[test]
fn an_effect_log_is_a_run() {
    let system = json!({ "role": "system", "content": "You work at the desk." });
    let both = json!([asks("a", "refund", 1), asks("b", "refund", 2)]);
    let begin = [system, user("Refund 1 and 2.")];
    let assistant = json!({ "role": "assistant", "content": both, "stop": "tool_use" });
    let history = [
        &begin[..],
        &[
            assistant,
            answers("a", "refund", "declined", true),
            answers("b", "refund", "refunded", false),
        ],
    ]
    .concat();
    for (status, last) in [("error", Some("stop")), ("denied", None), ("skipped", None)] {
        let (desk, said) = import(&[
            model("desk", &begin, &both, Some("tool_calls")),
            tool("desk", "refund", 2, &fine("refunded")),
            tool("desk", "refund", 1, &failed(status, "declined")),
            model(
                "desk",
                &history,
                &json!([{ "type": "text", "text": "One of two." }]),
                last,
            ),
        ]);
        assert_eq!(said.status, 0, "{said:?}");
        let run = desk.recording();
        let expected = [
            call("refund", r#"{"order":1}"#, "declined", Some(true)),
            call("refund", r#"{"order":2}"#, "refunded", Some(false)),
        ];
        assert_eq!(calls(&run), expected, "{run:#}");
        assert_eq!(
            (closing(&run), stop(&run), tokens(&run)),
            ("One of two.", "completed", (40, 4))
        );
        assert_eq!(run["system_prompt"], "You work at the desk.");
        assert_eq!(
            (&run["agent_name"], &run["model"]),
            (&json!("desk"), &json!("gpt-5"))
        );
        assert_eq!(run["imported"]["from"], "rig");
        assert!(run["tools"].to_string().contains("refund"), "{run:#}");
    }
}

#[test]
fn a_run_that_breaks_off_is_none_that_ended() {
    let broken = |outcome: Value| {
        let mut effect = model("desk", &[user("Refund 1.")], &json!([]), None);
        effect["kind"]["request"]["model"] = "gpt-5".into();
        effect["outcome"] = outcome;
        let (desk, said) = import(&[effect]);
        assert_eq!(said.status, 0, "{said:?}");
        stop(&desk.recording()).to_owned()
    };
    assert_eq!(
        broken(json!({ "Err": { "message": "overloaded" } })),
        "error"
    );
    let asked = json!([asks("a", "refund", 1)]);
    let unanswered = model("desk", &[user("Refund 1.")], &asked, None);
    let mut lost = tool("desk", "refund", 1, &Value::Null);
    lost["outcome"] = json!({ "Err": { "message": "no such tool" } });
    let (desk, _) = import(&[unanswered, lost]);
    let run = desk.recording();
    assert_eq!((calls(&run)[0].3, stop(&run)), (Some(true), ""), "{run:#}");
}

/// Calls of another agent within are its calls.
#[test]
fn another_agents_calls_have_its_name() {
    let (desk, said) = import(&[
        model(
            "desk",
            &[user("go")],
            &json!([asks("a", "helper", 1)]),
            None,
        ),
        model(
            "helper",
            &[user("help")],
            &json!([asks("b", "refund", 1)]),
            None,
        ),
        tool("helper", "refund", 1, &fine("refunded")),
        model(
            "helper",
            &[user("help")],
            &json!([{ "type": "text", "text": "helped" }]),
            None,
        ),
        tool("desk", "helper", 1, &fine("helped")),
        model(
            "desk",
            &[user("go")],
            &json!([{ "type": "text", "text": "Done." }]),
            None,
        ),
    ]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    let agents: Vec<&Value> = run["trace"]["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| &call["agent_id"])
        .collect();
    assert_eq!(agents, [&Value::Null, &json!("helper")], "{run:#}");
    assert_eq!((closing(&run), tokens(&run)), ("Done.", (40, 4)), "{run:#}");
}
