//! Spans of tools whose identifiers repeat, and spans that lie within each other in a circle.

use serde_json::{Value, json};

use super::Desk;
use super::otel::export;

fn span(id: u64, parent: Option<u64>, times: (u64, u64), attributes: &Value) -> Value {
    let attribute = |(key, value): (&String, &Value)| {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        json!({ "key": key, "value": { "stringValue": text } })
    };
    let attributes = attributes.as_object().unwrap().iter().map(attribute);
    json!({
        "traceId": "5b8efff798038103d269b633813fc60c", "spanId": format!("{id:016x}"), "name": "x",
        "parentSpanId": parent.map(|parent| format!("{parent:016x}")), "attributes": attributes.collect::<Vec<_>>(),
        "startTimeUnixNano": times.0, "endTimeUnixNano": times.1,
    })
}

fn model_call(id: u64, parent: Option<u64>, calls: &[Value]) -> Value {
    let asked = json!([{ "role": "user", "parts": [{ "type": "text", "content": "Do all." }] }]);
    let said = json!([{ "role": "assistant", "parts": calls }]);
    let attributes = json!({
        "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages": asked, "gen_ai.output.messages": said,
    });
    span(id, parent, (1, 2), &attributes)
}

fn call(id: &str, name: &str) -> Value {
    json!({ "type": "tool_call", "id": id, "name": name, "arguments": {} })
}

fn tool(
    id: u64,
    parent: Option<u64>,
    times: (u64, u64),
    call: &str,
    name: &str,
    result: &str,
) -> Value {
    let attributes = json!({
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.id": call, "gen_ai.tool.name": name, "gen_ai.tool.call.result": result,
    });
    span(id, parent, times, &attributes)
}

/// The calls of the recording, each with the text of its result.
fn results(spans: &[Value]) -> Vec<(String, String)> {
    let desk = Desk::new();
    desk.write("trace.json", export(spans).to_string());
    let said = desk.import(&["trace.json"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    let results = run["trace"]["tool_results"].as_array().unwrap();
    let calls = run["trace"]["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .enumerate();
    let with_result = calls.map(|(index, call)| {
        let result = results.iter().find(|result| result["call_index"] == index);
        let text = &result.unwrap_or(&Value::Null)["result"]["content"][0]["text"];
        let text = text.as_str().unwrap_or_default();
        (call["name"].as_str().unwrap().to_owned(), text.to_owned())
    });
    with_result.collect()
}

fn both() -> Vec<(String, String)> {
    let pairs = [("find", "found"), ("read", "was read")];
    pairs
        .map(|(name, result)| (name.to_owned(), result.to_owned()))
        .to_vec()
}

/// Some adapters number the calls of each answer from 0, or name all of them alike.
#[test]
fn parallel_calls_of_one_identifier_keep_the_results_of_their_spans() {
    let spans = [
        model_call(1, None, &[call("0", "find"), call("0", "read")]),
        tool(2, None, (3, 4), "0", "find", "found"),
        tool(3, None, (4, 5), "0", "read", "was read"),
    ];
    assert_eq!(results(&spans), both());
}

#[test]
fn calls_that_no_message_tells_of_keep_their_results_if_they_overlap() {
    let spans = [
        model_call(1, None, &[json!({ "type": "text", "content": "I look." })]),
        tool(2, None, (3, 6), "0", "find", "found"),
        tool(3, None, (4, 5), "0", "read", "was read"),
    ];
    assert_eq!(results(&spans), both());
}

#[test]
fn spans_that_lie_within_each_other_in_a_circle_are_read() {
    let spans = [
        model_call(1, Some(1), &[call("a", "find"), call("b", "read")]),
        tool(2, Some(3), (3, 6), "a", "find", "found"),
        tool(3, Some(2), (4, 5), "b", "read", "was read"),
    ];
    assert_eq!(results(&spans), both());
}
