//! Several agents in one trace: those that take a talk over, and those that work for another.

use serde_json::{Map, Value, json};

use super::Desk;
use super::strangers::{call, calls, closing, tokens};

/// Who writes the spans.
#[derive(Debug, Clone, Copy, PartialEq)]
enum SpanWriter {
    Conventions,
    OpenInference,
    /// Spans of `OpenInference` without the names of agents.
    Nameless,
}

const ALL: [SpanWriter; 3] = [
    SpanWriter::Conventions,
    SpanWriter::OpenInference,
    SpanWriter::Nameless,
];

fn span(number: u64, parent: u64, name: &str, took: u64, attributes: &Value) -> Value {
    let list = attributes.as_object().unwrap().iter().map(|(key, value)| {
        let value = match value {
            Value::String(_) => json!({ "stringValue": value }),
            Value::Number(_) => json!({ "intValue": value.to_string() }),
            list => json!({ "stringValue": list.to_string() }),
        };
        json!({ "key": key, "value": value })
    });
    let mut span = json!({ "traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": format!("{number:016x}"), "name": name,
        "startTimeUnixNano": (number * 1_000_000_000).to_string(), "endTimeUnixNano": ((number + took) * 1_000_000_000).to_string(),
        "attributes": list.collect::<Vec<_>>(), "status": { "code": "STATUS_CODE_OK" } });
    if parent > 0 {
        span["parentSpanId"] = format!("{parent:016x}").into();
    }
    span
}

impl SpanWriter {
    fn agent(self, number: u64, parent: u64, name: &str, took: u64) -> Value {
        let attributes = match self {
            Self::Conventions => {
                json!({ "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name })
            }
            Self::OpenInference => {
                json!({ "openinference.span.kind": "AGENT", "agent.name": name })
            }
            Self::Nameless => json!({ "openinference.span.kind": "AGENT" }),
        };
        span(number, parent, name, took, &attributes)
    }

    /// A model call: what it was sent, and what it wrote.
    fn model(self, number: u64, parent: u64, sent: &[Value], wrote: &Value) -> Value {
        if self == Self::Conventions {
            let parts = |message: &Value| {
                let mut parts = Vec::new();
                let role = message["role"].as_str().unwrap();
                if role == "tool" {
                    parts.push(json!({ "type": "tool_call_response", "id": message["id"], "response": message["content"] }));
                } else if let Some(text) = message["content"].as_str() {
                    parts.push(json!({ "type": "text", "content": text }));
                }
                if let Some(call) = message.get("call") {
                    parts.push(json!({ "type": "tool_call", "id": call[0], "name": call[1], "arguments": call[2] }));
                }
                json!({ "role": role, "parts": parts })
            };
            let sent: Vec<Value> = sent.iter().map(parts).collect();
            let attributes = json!({ "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5", "gen_ai.input.messages": sent,
                "gen_ai.output.messages": [parts(wrote)], "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 5 });
            return span(number, parent, "chat", 0, &attributes);
        }
        let mut attributes = Map::new();
        let mut put = |prefix: String, message: &Value| {
            let mut one = |key: &str, value: &Value| {
                attributes.insert(format!("{prefix}.message.{key}"), value.clone());
            };
            one("role", &message["role"]);
            if let Some(text) = message.get("content") {
                one("content", text);
            }
            if let Some(id) = message.get("id") {
                one("tool_call_id", id);
            }
            if let Some(call) = message.get("call") {
                one("tool_calls.0.tool_call.id", &call[0]);
                one("tool_calls.0.tool_call.function.name", &call[1]);
                one(
                    "tool_calls.0.tool_call.function.arguments",
                    &call[2].to_string().into(),
                );
            }
        };
        for (place, message) in sent.iter().enumerate() {
            put(format!("llm.input_messages.{place}"), message);
        }
        put("llm.output_messages.0".to_owned(), wrote);
        let mut attributes = Value::Object(attributes);
        attributes["openinference.span.kind"] = "LLM".into();
        attributes["llm.model_name"] = "gpt-5".into();
        attributes["llm.token_count.prompt"] = 10.into();
        attributes["llm.token_count.completion"] = 5.into();
        span(number, parent, "model", 0, &attributes)
    }

    fn tool(
        self,
        number: u64,
        parent: u64,
        name: &str,
        args: &Value,
        result: &str,
        took: u64,
    ) -> Value {
        let attributes = if self == Self::Conventions {
            json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name,
                "gen_ai.tool.call.arguments": args, "gen_ai.tool.call.result": result })
        } else {
            json!({ "openinference.span.kind": "TOOL", "tool.name": name, "input.value": args, "output.value": result })
        };
        span(number, parent, name, took, &attributes)
    }
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn says(text: &str) -> Value {
    json!({ "role": "assistant", "content": text })
}

fn asks(id: &str, name: &str, args: &Value) -> Value {
    json!({ "role": "assistant", "call": [id, name, args] })
}

fn tool_result(id: &str, text: &str) -> Value {
    json!({ "role": "tool", "id": id, "content": text })
}

fn imported(spans: &[Value]) -> Value {
    let desk = Desk::new();
    let service =
        json!({ "attributes": [{ "key": "service.name", "value": { "stringValue": "desk" } }] });
    let export =
        json!({ "resourceSpans": [{ "resource": service, "scopeSpans": [{ "spans": spans }] }] });
    desk.write("a.json", export.to_string());
    let said = desk.import(&["a.json"]);
    assert_eq!(said.status, 0, "{said:?}");
    desk.recording()
}

fn user_turns(run: &Value) -> Vec<&str> {
    let turns = run["trace"]["conversation"]["turns"].as_array().unwrap();
    let turns = turns.iter().filter(|turn| turn["role"] == "user");
    turns
        .map(|turn| turn["content"].as_str().unwrap())
        .collect()
}

fn agents(run: &Value) -> Vec<Option<&str>> {
    let calls = run["trace"]["tool_calls"].as_array().unwrap();
    calls.iter().map(|call| call["agent_id"].as_str()).collect()
}

/// The first agent hands over to a sibling, which is sent the talk so far: whole, without the calls, or summed up.
#[test]
fn an_agent_that_takes_the_talk_over_goes_on_with_the_run() {
    let ask = user("Refund order 7.");
    let hand = asks("c1", "transfer_to_billing", &json!({}));
    let refund = asks("c2", "refund_order", &json!({ "order": 7 }));
    let whole = vec![
        ask.clone(),
        hand.clone(),
        tool_result("c1", "billing has it"),
    ];
    let summed = vec![says("So far: the user wants a refund of order 7.")];
    for wrote in ALL {
        for sent in [whole.clone(), vec![ask.clone()], summed.clone()] {
            // Nothing says who a nameless agent is: what it is sent must.
            if wrote == SpanWriter::Nameless && sent.len() == 1 && sent == summed {
                continue;
            }
            let mut after = sent.clone();
            after.extend([refund.clone(), tool_result("c2", "refunded")]);
            let run = imported(&[
                span(1, 0, "workflow", 90, &json!({})),
                wrote.agent(2, 1, "triage", 3),
                wrote.model(3, 2, std::slice::from_ref(&ask), &hand),
                wrote.tool(4, 2, "transfer_to_billing", &json!({}), "billing has it", 0),
                wrote.agent(6, 1, "billing", 60),
                wrote.model(7, 6, &sent, &refund),
                wrote.tool(8, 6, "refund_order", &json!({ "order": 7 }), "refunded", 0),
                wrote.model(9, 6, &after, &says("I have refunded order 7.")),
            ]);
            let expected = [
                call("transfer_to_billing", "{}", "billing has it", Some(false)),
                call("refund_order", r#"{"order":7}"#, "refunded", Some(false)),
            ];
            assert_eq!(calls(&run), expected, "{wrote:?} {sent:?}");
            assert_eq!(agents(&run), [None, None], "{wrote:?} {sent:?}");
            assert_eq!(
                (closing(&run), tokens(&run), user_turns(&run)),
                (
                    "I have refunded order 7.",
                    (30, 15),
                    vec!["Refund order 7."]
                ),
                "{wrote:?} {sent:?}"
            );
        }
    }
}

/// An agent in a tool has the words of its own caller, not the user's, and acts once.
#[test]
fn an_agent_in_a_tool_works_for_the_one_that_called_it() {
    let ask = user("Cancel order 7.");
    let order = json!({ "order": 7 });
    let (help, void) = (
        asks("c1", "ask_billing", &order),
        asks("c2", "void_payment", &order),
    );
    let own = user("Stop the payment of order 7.");
    // The last one is told of the whole talk.
    for (sent, wrote) in [vec![own.clone()], vec![ask.clone(), help.clone(), own]]
        .into_iter()
        .flat_map(|sent| ALL.map(|wrote| (sent.clone(), wrote)))
    {
        let mut after = sent.clone();
        after.extend([void.clone(), tool_result("c2", "voided")]);
        let run = imported(&[
            wrote.agent(1, 0, "desk", 90),
            wrote.model(2, 1, std::slice::from_ref(&ask), &help),
            wrote.tool(3, 1, "ask_billing", &order, "payment stopped", 50),
            wrote.agent(4, 3, "billing", 40),
            wrote.model(5, 4, &sent, &void),
            wrote.tool(6, 4, "void_payment", &order, "voided", 0),
            wrote.model(7, 4, &after, &says("payment stopped")),
            wrote.model(
                60,
                1,
                &[
                    ask.clone(),
                    help.clone(),
                    tool_result("c1", "payment stopped"),
                ],
                &says("Order 7 is cancelled."),
            ),
        ]);
        let expected = [
            call(
                "ask_billing",
                r#"{"order":7}"#,
                "payment stopped",
                Some(false),
            ),
            call("void_payment", r#"{"order":7}"#, "voided", Some(false)),
        ];
        assert_eq!(calls(&run), expected, "{wrote:?} {sent:?}");
        assert_eq!(agents(&run), [None, Some("billing")], "{wrote:?} {sent:?}");
        assert_eq!(
            (closing(&run), tokens(&run), user_turns(&run)),
            ("Order 7 is cancelled.", (20, 10), vec!["Cancel order 7."]),
            "{wrote:?} {sent:?}"
        );
        assert_eq!(run["agent_name"], "desk");
    }
}

/// The main agent has no name, or no span, and the one that it calls has both; nothing shows the tool around it.
#[test]
fn an_agent_works_for_one_of_which_less_is_told() {
    let ask = user("Cancel order 7.");
    let order = json!({ "order": 7 });
    let (help, void) = (
        asks("c1", "ask_billing", &order),
        asks("c2", "void_payment", &order),
    );
    let own = user("Stop the payment.");
    let after = [ask.clone(), help.clone(), tool_result("c1", "stopped")];
    let (inner, outer) = (SpanWriter::OpenInference, SpanWriter::Nameless);
    let tool = inner.tool(3, 1, "ask_billing", &order, "stopped", 50);
    let model = |parent| {
        [
            inner.model(2, parent, std::slice::from_ref(&ask), &help),
            inner.model(5, 4, std::slice::from_ref(&own), &void),
            inner.model(60, parent, &after, &says("Order 7 is cancelled.")),
        ]
    };
    let chain = span(
        1,
        0,
        "desk",
        90,
        &json!({ "openinference.span.kind": "CHAIN" }),
    );
    let kinds: [Vec<Value>; 3] = [
        vec![
            outer.agent(1, 0, "desk", 90),
            tool.clone(),
            inner.agent(4, 3, "billing", 40),
        ],
        vec![chain, tool, inner.agent(4, 3, "billing", 40)],
        vec![
            outer.agent(1, 0, "desk", 90),
            outer.agent(4, 1, "billing", 40),
        ],
    ];
    for mut spans in kinds {
        spans.extend(model(1));
        let run = imported(&spans);
        assert_eq!(agents(&run), [None, Some("billing")], "{run:#}");
        assert_eq!(
            (closing(&run), tokens(&run), user_turns(&run)),
            ("Order 7 is cancelled.", (20, 10), vec!["Cancel order 7."])
        );
    }
}

/// A graph of agents without names, each in a span of its own below one that calls no model, is one run.
#[test]
fn nodes_of_a_graph_are_one_agent() {
    let wrote = SpanWriter::Nameless;
    let draft = says("A draft.");
    let run = imported(&[
        wrote.agent(1, 0, "graph", 90),
        wrote.agent(2, 1, "plan", 3),
        wrote.model(3, 2, &[user("Write it.")], &draft),
        wrote.agent(6, 1, "write", 60),
        wrote.model(7, 6, &[user("Write it."), draft], &says("It is written.")),
    ]);
    assert_eq!(
        (closing(&run), tokens(&run), user_turns(&run)),
        ("It is written.", (20, 10), vec!["Write it."])
    );
}
