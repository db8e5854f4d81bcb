//! Logged model calls: which of them are one run.

use serde_json::{Value, json};

use super::strangers::{call, calls, closing, stop};
use super::{Desk, ImportOutput, lines};

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

/// An answer that calls `refund`.
fn asks(arguments: &str) -> Value {
    json!({ "role": "assistant", "content": null, "tool_calls": [
        { "id": "call_0", "type": "function", "function": { "name": "refund", "arguments": arguments } }] })
}

fn result(text: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": "call_0", "content": text })
}

fn says(text: &str) -> Value {
    json!({ "role": "assistant", "content": text })
}

fn chat(id: &str, sent: &[Value], message: &Value) -> Value {
    json!({ "request": { "model": "m", "messages": sent },
        "response": { "id": id, "choices": [{ "message": message, "finish_reason": "stop" }] } })
}

fn chat_error(sent: &[Value]) -> Value {
    json!({ "request": { "model": "m", "messages": sent }, "response": { "error": { "code": 429 } } })
}

/// A logged model call in Anthropic's form.
fn claude(id: &str, sent: &[Value], content: &Value) -> Value {
    json!({ "request": { "model": "m", "messages": sent },
        "response": { "id": id, "type": "message", "role": "assistant", "model": "m", "content": content,
            "stop_reason": "end_turn", "usage": { "input_tokens": 1, "output_tokens": 1 } } })
}

fn claude_error(sent: &[Value]) -> Value {
    json!({ "request": { "model": "m", "messages": sent },
        "response": { "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } } })
}

fn claude_call(input: &Value) -> Value {
    json!({ "type": "tool_use", "id": "t1", "name": "refund", "input": input })
}

fn claude_result() -> Value {
    json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t1", "content": "ok" }] })
}

fn import(log: &[Value]) -> (Desk, ImportOutput) {
    let desk = Desk::new();
    desk.write("log.jsonl", lines(log));
    let said = desk.import(&["--agent", "desk", "log.jsonl"]);
    (desk, said)
}

/// How the runs end: closing, and stop reason.
fn ends(desk: &Desk) -> Vec<(String, String)> {
    let recordings = desk.recordings();
    let ends = recordings
        .iter()
        .map(|(_, run)| (closing(run).to_owned(), stop(run).to_owned()));
    ends.collect()
}

fn end(closing: &str, stop: &str) -> (String, String) {
    (closing.to_owned(), stop.to_owned())
}

const LEFT_OUT: &str = "note: failed model calls left out, because the same was asked again: ";

#[test]
fn a_failed_attempt_is_no_part_of_the_run_that_went_on() {
    let begin = [user("Refund order 7.")];
    let next = [begin[0].clone(), asks("{}"), result("ok")];
    let of_chat = [
        chat_error(&begin),
        chat("a", &begin, &asks("{}")),
        chat_error(&next),
        chat_error(&next),
        chat("b", &next, &says("Refunded.")),
    ];
    let call_block = claude_call(&json!({}));
    let kept = json!({ "role": "assistant", "content": [call_block] });
    let after = [begin[0].clone(), kept, claude_result()];
    let of_claude = [
        claude_error(&begin),
        claude("a", &begin, &json!([call_block])),
        claude_error(&after),
        claude_error(&after),
        claude(
            "b",
            &after,
            &json!([{ "type": "text", "text": "Refunded." }]),
        ),
    ];
    let input = json!([user("Refund order 7.")]);
    let item =
        json!({ "type": "function_call", "call_id": "c", "name": "refund", "arguments": "{}" });
    let output = json!({ "type": "function_call_output", "call_id": "c", "output": "ok" });
    let response = |id: &str, status: &str, output: Value| json!({ "object": "response", "id": id, "status": status, "output": output });
    let failed = response("f", "failed", json!([]));
    let all = json!([input[0], item, output]);
    let done = json!([{ "type": "message", "role": "assistant", "content": [
        { "type": "output_text", "text": "Refunded." }] }]);
    let of_items = [
        json!({ "request": { "model": "m", "input": input }, "response": failed }),
        json!({ "request": { "model": "m", "input": input }, "response": response("a", "completed", json!([item])) }),
        json!({ "request": { "model": "m", "input": all }, "error": "connection lost" }),
        json!({ "request": { "model": "m", "input": all }, "response": { "error": { "code": 500 } } }),
        json!({ "request": { "model": "m", "input": all }, "response": response("b", "completed", done) }),
    ];
    for log in [&of_chat, &of_claude, &of_items] {
        let (desk, said) = import(log);
        assert_eq!(said.status, 0, "{said:?}");
        assert_eq!(ends(&desk), [end("Refunded.", "completed")]);
        assert_eq!(calls(&desk.recording())[0].2, "ok");
        assert_eq!(desk.recording()["imported"]["id"], "a");
        assert!(said.out.contains(&format!("{LEFT_OUT}3\n")), "{said:?}");
    }
}

/// A run that nobody tried again ended in an error, whether other runs of the same prompt went well before it or not.
#[test]
fn a_failed_call_that_was_not_tried_again_ends_its_run() {
    let begin = [user("Refund order 7.")];
    let next = [begin[0].clone(), asks("{}"), result("ok")];
    let refused = [begin[0].clone(), asks("{}"), result("no")];
    let (desk, said) = import(&[
        chat("a1", &begin, &asks("{}")),
        chat("b1", &begin, &asks("{}")),
        chat("a2", &next, &says("Refunded.")),
        chat_error(&refused),
        chat_error(&begin),
    ]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(
        ends(&desk),
        [
            end("Refunded.", "completed"),
            end("", "error"),
            end("", "error")
        ]
    );
    assert!(!said.out.contains(LEFT_OUT), "{said:?}");
    // The same once more: what failed after the good answer is no attempt that it went on from.
    let (desk, said) = import(&[
        chat("a1", &begin, &asks("{}")),
        chat("a2", &next, &says("Refunded.")),
        chat_error(&next),
    ]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(
        ends(&desk),
        [end("Refunded.", "completed"), end("", "error")]
    );
}

#[test]
fn runs_in_one_log_go_on_each_from_its_own_beginning() {
    let begin = [user("Refund order 7.")];
    let next = |given: &str| [begin[0].clone(), asks("{}"), result(given)];
    let (desk, said) = import(&[
        chat("a1", &begin, &asks("{}")),
        chat("b1", &begin, &asks("{}")),
        chat("a2", &next("ok"), &says("Refunded.")),
        chat("b2", &next("no"), &says("Refused.")),
    ]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(
        ends(&desk),
        [end("Refunded.", "completed"), end("Refused.", "completed")]
    );
    let ids = desk.recordings();
    let ids: Vec<&Value> = ids.iter().map(|(_, run)| &run["imported"]["id"]).collect();
    assert_eq!(ids, ["a1", "b1"]);
}

#[test]
fn a_second_way_to_go_on_is_a_run_with_an_identifier_of_its_own() {
    let begin = [user("Refund order 7.")];
    let next = |given: &str| [begin[0].clone(), asks("{}"), result(given)];
    let response = |id: &str, said: &str| {
        json!({ "object": "response", "id": id, "status": "completed", "output": [
            { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": said }] }] })
    };
    let goes_on = |said: &str, answer: &Value| json!({ "request": { "model": "m", "previous_response_id": "r1", "input": said }, "response": answer });
    let of_chat = [
        chat("r1", &begin, &asks("{}")),
        chat("r2", &next("ok"), &says("One.")),
        chat("r3", &next("no"), &says("Two.")),
    ];
    let of_items = [
        json!({ "request": { "model": "m", "input": "Hi" }, "response": response("r1", "Hello.") }),
        goes_on("a", &response("r2", "One.")),
        goes_on("b", &response("r3", "Two.")),
    ];
    for log in [of_chat, of_items] {
        let (desk, said) = import(&log);
        assert_eq!(said.status, 0, "{said:?}");
        let runs = desk.recordings();
        let mut runs: Vec<_> = runs
            .iter()
            .map(|(_, run)| (closing(run), run["imported"]["id"].as_str().unwrap()))
            .collect();
        runs.sort_unstable();
        assert_eq!(runs, [("One.", "r1"), ("Two.", "r1/r3")]);
        // The same log is there already.
        let again = desk.import(&["--agent", "desk", "log.jsonl"]);
        assert_eq!((again.status, desk.recordings().len()), (0, 2), "{again:?}");
    }
}

#[test]
fn a_request_may_spell_what_was_answered_in_another_way() {
    let begin = user("Refund order 7.");
    for (answered, repeated) in [
        (r#"{"b":1,"a":2}"#, r#"{"b": 1, "a": 2}"#),
        (r#"{"b":1,"a":2}"#, r#"{"a":2,"b":1}"#),
        (r#"{"a":1}"#, r#"{"a":1.0}"#),
        ("", "{}"),
    ] {
        let next = [begin.clone(), asks(repeated), result("ok")];
        let (desk, said) = import(&[
            chat("a", std::slice::from_ref(&begin), &asks(answered)),
            chat("b", &next, &says("Done.")),
        ]);
        assert_eq!(said.status, 0, "{said:?}");
        assert_eq!(ends(&desk), [end("Done.", "completed")], "{repeated}");
    }
    // Names of those who speak, a text in parts, and white space at its end.
    let mut named = begin.clone();
    named["name"] = "ann".into();
    let repeated = json!({ "role": "assistant", "name": "desk", "content": [
        { "type": "text", "text": "Which" }, { "type": "text", "text": " one?" }] });
    let (desk, said) = import(&[
        chat("a", &[begin], &says("Which one? \n")),
        chat("b", &[named, repeated, user("7")], &says("Done.")),
    ]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(ends(&desk), [end("Done.", "completed")]);
}

#[test]
fn other_arguments_are_another_run() {
    let begin = user("Refund order 7.");
    let next = [begin.clone(), asks(r#"{"a":2}"#), result("ok")];
    let (desk, _) = import(&[
        chat("a", &[begin], &asks(r#"{"a":1}"#)),
        chat("b", &next, &says("Done.")),
    ]);
    assert_eq!(desk.recordings().len(), 2);
}

#[test]
fn blocks_may_be_joined_and_spelt_in_another_way() {
    let begin = user("Refund order 7.");
    let answered = json!([
        { "type": "text", "text": "Let me " }, { "type": "text", "text": "look. " },
        claude_call(&json!({ "a": 1.0, "b": null })),
    ]);
    let repeated = json!({ "role": "assistant", "content": [
        { "type": "text", "text": "Let me look." }, claude_call(&json!({ "b": null, "a": 1 }))] });
    let next = [begin.clone(), repeated, claude_result()];
    let last = json!([{ "type": "text", "text": "Done." }]);
    let (desk, said) = import(&[
        claude("a", std::slice::from_ref(&begin), &answered),
        claude("b", &next, &last),
    ]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(ends(&desk), [end("Done.", "completed")]);
    assert_eq!(
        calls(&desk.recording()),
        [call("refund", r#"{"a":1.0,"b":null}"#, "ok", Some(false))]
    );
}

/// Clients may leave out what the model thought, and what a user allows is no model call.
#[test]
fn items_are_one_run_without_their_reasoning_and_with_an_approval() {
    let begin = user("Refund order 7.");
    let item = |arguments: &str| json!({ "type": "function_call", "call_id": "c", "name": "refund", "arguments": arguments });
    let output = json!({ "type": "function_call_output", "call_id": "c", "output": "ok" });
    let request = json!({ "type": "mcp_approval_request", "id": "q", "server_label": "shop", "name": "pay", "arguments": "{}" });
    let approval =
        json!({ "type": "mcp_approval_response", "approval_request_id": "q", "approve": true });
    let done = json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Paid." }] });
    let usage = json!({ "input_tokens": 10, "output_tokens": 5 });
    let response = |id: &str, output: Value| json!({ "object": "response", "id": id, "status": "completed", "usage": usage, "output": output });
    let thought = json!({ "type": "reasoning", "id": "rs", "summary": [] });
    let second = json!([begin, item(r#"{"a": 1}"#), output]);
    let third = json!([begin, item(r#"{"a":1}"#), output, request, approval]);
    let (desk, said) = import(&[
        json!({ "request": { "model": "m", "input": "Refund order 7." }, "response": response("a", json!([thought, item(r#"{"a":1}"#)])) }),
        json!({ "request": { "model": "m", "input": second }, "response": response("b", json!([thought, request])) }),
        json!({ "request": { "model": "m", "input": third }, "response": response("c", json!([done])) }),
    ]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    assert_eq!(closing(&run), "Paid.");
    assert_eq!(calls(&run), [call("refund", r#"{"a":1}"#, "ok", None)]);
    let steps = &run["trace"]["conversation"]["steps"];
    assert_eq!(steps.as_array().map(Vec::len), Some(3), "{run:#}");
}
