//! One talk in every format that is imported, with two turns, parallel calls and a tool that fails.

mod logs;

use serde_json::{Value, json};

const MODEL: &str = "gpt-5";
const SYSTEM: &str = "You work at the order desk.";
const FIRST: &str = "Please refund orders 7 and 8.";
/// What a simulated user is told to want.
const WANTS: &str = "You bought the lamps of orders 7 and 8, and a sofa.";
const SECOND: &str = "And where is order 9?";
const LOOKS: &str = "Let me look.";
const CLOSINGS: [&str; 2] = [
    "Order 7 is refunded. There is no order 8.",
    "Order 9 is on its way.",
];

/// A call: its identifier, name, order and result, and whether that is an error.
#[derive(Clone, Copy)]
struct Call(&'static str, &'static str, u32, &'static str, bool);

const ORDER_7: Call = Call(
    "a",
    "get_order",
    7,
    "{\"order\":7,\"total\":\"18.00 EUR\"}",
    false,
);
const ORDER_8: Call = Call("b", "get_order", 8, "there is no order 8", true);
const REFUND: Call = Call("c", "refund", 7, "refunded 18.00 EUR", false);
const ORDER_9: Call = Call("d", "get_order", 9, "on its way", false);

impl Call {
    fn args(self) -> Value {
        json!({ "order": self.2 })
    }
}

/// What is said, in order.
#[derive(Clone)]
enum Said {
    User(&'static str),
    /// An answer of the model: its text, and its calls.
    Model(&'static str, Vec<Call>),
    Result(Call),
}

fn talk() -> Vec<Said> {
    let [first, second] = CLOSINGS;
    vec![
        Said::User(FIRST),
        Said::Model(LOOKS, vec![ORDER_7, ORDER_8]),
        Said::Result(ORDER_7),
        Said::Result(ORDER_8),
        Said::Model("", vec![REFUND]),
        Said::Result(REFUND),
        Said::Model(first, vec![]),
        Said::User(SECOND),
        Said::Model("", vec![ORDER_9]),
        Said::Result(ORDER_9),
        Said::Model(second, vec![]),
    ]
}

/// What each item of the talk becomes; nothing where it has no place in a format.
fn each(item: impl FnMut(&Said) -> Vec<Value>) -> Vec<Value> {
    talk().iter().flat_map(item).collect()
}

fn lines(all: &[Value]) -> String {
    all.iter().map(|line| format!("{line}\n")).collect()
}

/// A format by its name, and a file of it.
pub(super) fn all() -> [(&'static str, &'static str, String); 10] {
    [
        ("openai", "a.json", openai().to_string()),
        ("anthropic", "a.json", anthropic().to_string()),
        ("langsmith", "a.json", langsmith().to_string()),
        ("atif", "a.json", atif().to_string()),
        ("tau", "a.json", tau().to_string()),
        ("inspect", "a.json", inspect().to_string()),
        ("codex", "a.jsonl", lines(&logs::codex())),
        ("claude-code", "a.jsonl", lines(&logs::claude_code())),
        ("otel", "a.json", logs::otel().to_string()),
        ("rig", "a.json", logs::rig().to_string()),
    ]
}

fn openai_call(call: Call) -> Value {
    let function = json!({ "name": call.1, "arguments": call.args().to_string() });
    json!({ "id": call.0, "type": "function", "function": function })
}

fn openai() -> Value {
    let messages = each(|said| {
        vec![match said {
            Said::User(text) => json!({ "role": "user", "content": text }),
            Said::Model(text, calls) if calls.is_empty() => {
                json!({ "role": "assistant", "content": text })
            }
            Said::Model(text, calls) => {
                let calls: Value = calls.iter().copied().map(openai_call).collect();
                json!({ "role": "assistant", "content": text, "tool_calls": calls })
            }
            Said::Result(call) => {
                json!({ "role": "tool", "tool_call_id": call.0, "content": call.3 })
            }
        }]
    });
    let system = json!({ "role": "system", "content": SYSTEM });
    let messages: Value = [system].into_iter().chain(messages).collect();
    json!({ "model": MODEL, "messages": messages })
}

/// The blocks of an answer, as Anthropic's API has them.
fn blocks(text: &str, calls: &[Call]) -> Vec<Value> {
    let text = (!text.is_empty()).then(|| json!({ "type": "text", "text": text }));
    let calls = calls.iter();
    let calls = calls.map(
        |call| json!({ "type": "tool_use", "id": call.0, "name": call.1, "input": call.args() }),
    );
    text.into_iter().chain(calls).collect()
}

fn result_block(call: Call) -> Value {
    let content = json!([{ "type": "text", "text": call.3 }]);
    json!({ "type": "tool_result", "tool_use_id": call.0, "is_error": call.4, "content": content })
}

fn anthropic() -> Value {
    let messages = each(|said| {
        vec![match said {
            Said::User(text) => json!({ "role": "user", "content": text }),
            Said::Model(text, calls) => {
                json!({ "role": "assistant", "content": blocks(text, calls) })
            }
            Said::Result(call) => json!({ "role": "user", "content": [result_block(*call)] }),
        }]
    });
    json!({ "model": MODEL, "system": SYSTEM, "messages": messages })
}

fn langsmith() -> Value {
    let mut messages = vec![json!({ "type": "system", "content": SYSTEM })];
    messages.extend(each(|said| {
        vec![match said {
            Said::User(text) => json!({ "type": "human", "content": text }),
            Said::Model(text, calls) => {
                let calls = calls.iter();
                let calls = calls.map(|call| json!({ "id": call.0, "name": call.1, "args": call.args(), "type": "tool_call" }));
                json!({ "type": "ai", "content": text, "tool_calls": calls.collect::<Value>(), "invalid_tool_calls": [] })
            }
            Said::Result(call) => {
                let status = if call.4 { "error" } else { "success" };
                json!({ "type": "tool", "tool_call_id": call.0, "content": call.3, "status": status })
            }
        }]
    }));
    json!({ "model": MODEL, "messages": messages })
}

fn atif() -> Value {
    let mut steps = vec![json!({ "source": "system", "message": SYSTEM })];
    steps.extend(each(|said| match said {
        Said::User(text) => vec![json!({ "source": "user", "message": text })],
        Said::Model(text, calls) => {
            let named = calls.iter();
            let named = named.map(|call| json!({ "tool_call_id": call.0, "function_name": call.1, "arguments": call.args() }));
            let results = calls.iter().map(|call| {
                let extra = json!({ "tool_result_is_error": call.4 });
                json!({ "source_call_id": call.0, "content": call.3, "extra": extra })
            });
            vec![json!({ "source": "agent", "message": text, "tool_calls": named.collect::<Value>(),
                "observation": { "results": results.collect::<Value>() } })]
        }
        Said::Result(_) => vec![],
    }));
    let agent = json!({ "name": "desk", "version": "1", "model_name": MODEL });
    json!({ "schema_version": "ATIF-v1.8", "trajectory_id": "t", "session_id": "s", "agent": agent, "steps": steps })
}

fn tau() -> Value {
    let messages = each(|said| {
        vec![match said {
            Said::User(text) => json!({ "role": "user", "content": text }),
            Said::Model(text, calls) => {
                let calls = calls.iter();
                let calls = calls.map(|call| json!({ "id": call.0, "name": call.1, "arguments": call.args(), "requestor": "assistant" }));
                json!({ "role": "assistant", "content": text, "tool_calls": calls.collect::<Value>() })
            }
            Said::Result(call) => {
                json!({ "role": "tool", "id": call.0, "content": call.3, "error": call.4, "requestor": "assistant" })
            }
        }]
    });
    let run = json!({ "id": "s1", "task_id": "t1", "trial": 0, "termination_reason": "user_stop", "messages": messages,
        "reward_info": { "reward": 1.0 }, "start_time": "2026-01-01T00:00:00", "end_time": "2026-01-01T00:01:00" });
    let info = json!({ "agent_info": { "implementation": "llm_agent", "llm": MODEL },
        "environment_info": { "domain_name": "retail", "policy": SYSTEM } });
    json!({ "info": info, "tasks": [{ "id": "t1", "user_scenario": WANTS }], "simulations": [run] })
}

fn inspect() -> Value {
    let mut messages = vec![json!({ "role": "system", "content": SYSTEM })];
    messages.extend(each(|said| {
        vec![match said {
            Said::User(text) => json!({ "role": "user", "content": text }),
            Said::Model(text, calls) => {
                let calls = calls.iter();
                let calls = calls.map(|call| json!({ "id": call.0, "function": call.1, "arguments": call.args(), "type": "function" }));
                json!({ "role": "assistant", "content": text, "tool_calls": calls.collect::<Value>() })
            }
            Said::Result(call) => {
                let error = call.4.then(|| json!({ "type": "unknown", "message": "no" }));
                json!({ "role": "tool", "tool_call_id": call.0, "function": call.1, "content": call.3, "error": error })
            }
        }]
    }));
    let sample = json!({ "id": "s", "epoch": 1, "uuid": "u", "input": FIRST, "messages": messages, "events": [],
        "attachments": {}, "output": { "choices": [{ "stop_reason": "stop" }] }, "scores": {} });
    let eval = json!({ "task": "orders", "model": MODEL, "created": "2026-01-01T00:00:00+00:00" });
    json!({ "version": 2, "status": "success", "eval": eval, "samples": [sample] })
}
