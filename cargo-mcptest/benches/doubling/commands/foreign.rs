//! Runs as other programs keep them, to be imported.

use std::fs;

use serde_json::{Value, json};

use super::{command, imports, write};
use crate::Row;

/// A span of OTLP. Its place in the trace is its identifier, and its time.
fn span(at: usize, parent: Option<usize>, name: &str, attributes: &Value) -> Value {
    let attribute = |(key, value): (&String, &Value)| {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        json!({ "key": key, "value": { "stringValue": text } })
    };
    let attributes = attributes.as_object().into_iter().flatten().map(attribute);
    let id = |at: usize| format!("{:016x}", at + 1);
    json!({
        "traceId": "5b8efff798038103d269b633813fc60c", "spanId": id(at), "parentSpanId": parent.map(id), "name": name,
        "startTimeUnixNano": (1_000_000 * (at + 1)).to_string(), "endTimeUnixNano": (1_000_000 * (at + 1) + 1).to_string(),
        "attributes": attributes.collect::<Vec<_>>(),
    })
}

/// A model call that makes calls, of which each has an identifier or none.
fn model_call(at: usize, parent: Option<usize>, calls: &[Value]) -> Value {
    let asked = json!([{ "role": "user", "parts": [{ "type": "text", "content": "Do all." }] }]);
    let said = json!({ "type": "text", "content": "I do." });
    let parts: Vec<&Value> = std::iter::once(&said).chain(calls).collect();
    let attributes = json!({
        "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages": asked,
        "gen_ai.output.messages": [{ "role": "assistant", "parts": parts }],
    });
    span(at, parent, "chat m", &attributes)
}

fn call(id: Option<usize>, number: usize) -> Value {
    let id = id.map(|id| format!("c{id}"));
    json!({ "type": "tool_call", "id": id, "name": "find", "arguments": { "n": number } })
}

/// A tool that ran, for a call of an identifier or for one that has these arguments.
fn tool(at: usize, id: Option<usize>, arguments: &Value) -> Value {
    let mut attributes = json!({
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find", "gen_ai.tool.call.arguments": arguments,
        "gen_ai.tool.call.result": format!("{at} found"),
    });
    if let Some(id) = id {
        attributes["gen_ai.tool.call.id"] = format!("c{id}").into();
    }
    span(at, None, "execute_tool find", &attributes)
}

/// Imports spans, which are one record.
fn imports_spans(spans: &[Value]) -> Box<dyn FnMut()> {
    let export = json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] });
    imports(format!("{export}\n"))
}

/// A model call with calls, and the tools that ran for them.
fn joined(calls: &[Value], tools: impl Iterator<Item = Value>) -> Box<dyn FnMut()> {
    let spans: Vec<Value> = std::iter::once(model_call(0, None, calls))
        .chain(tools)
        .collect();
    imports_spans(&spans)
}

/// One trace each, all in one record.
fn traces(count: usize) -> Box<dyn FnMut()> {
    let one = |number: usize| {
        let mut span = model_call(number, None, &[]);
        span["traceId"] = format!("{:032x}", number + 1).into();
        span
    };
    imports_spans(&(0..count).map(one).collect::<Vec<_>>())
}

/// A sample of Inspect with so many calls, each with the events of its model call and of its tool.
fn sample(calls: usize) -> Box<dyn FnMut()> {
    let mut messages = vec![json!({ "role": "user", "content": "Do all." })];
    let mut events = Vec::new();
    for number in 0..calls {
        let call =
            json!({ "id": format!("c{number}"), "function": "find", "arguments": { "n": number } });
        let said = json!({ "id": format!("m{number}"), "role": "assistant", "content": "", "tool_calls": [call] });
        messages.push(said.clone());
        messages.push(
            json!({ "role": "tool", "tool_call_id": format!("c{number}"), "content": "found" }),
        );
        let usage = json!({ "input_tokens": 5, "output_tokens": 2, "total_tokens": 7 });
        events.push(json!({ "event": "model", "output": { "choices": [{ "message": said }], "usage": usage } }));
        events.push(json!({ "event": "tool", "id": format!("c{number}"), "function": "find", "result": "found" }));
    }
    let sample = json!({ "id": 1, "epoch": 1, "uuid": "u", "input": "Do all.", "messages": messages, "events": events });
    let eval = json!({ "task": "shop", "model": "m" });
    imports(format!(
        "{}\n",
        json!({ "status": "success", "eval": eval, "samples": [sample] })
    ))
}

/// A trace of `LangSmith` with so many calls in parallel, and the runs of their tools.
fn runs_of_tools(calls: usize) -> Box<dyn FnMut()> {
    let run = |at: usize, kind: &str, more: Value| {
        let mut run = json!({ "id": format!("r{at}"), "trace_id": "t", "run_type": kind, "name": "find", "dotted_order": format!("{at:09}") });
        run.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        format!("{run}\n")
    };
    let made = (0..calls).map(
        |number| json!({ "id": format!("c{number}"), "name": "find", "args": { "n": number } }),
    );
    let said = json!({ "type": "ai", "content": "", "tool_calls": made.collect::<Vec<_>>() });
    let asked = json!({ "messages": [{ "type": "human", "content": "Do all." }] });
    let first = json!({ "inputs": asked, "outputs": { "generations": [[{ "message": said }]] }, "extra": { "metadata": { "ls_model_name": "m" } } });
    let mut text = run(0, "llm", first);
    for number in 0..calls {
        text += &run(
            number + 1,
            "tool",
            json!({ "inputs": { "n": number }, "outputs": { "output": "found" } }),
        );
    }
    imports(text)
}

/// A talk in which each lookup gives the identifier that the next two calls are about.
fn lookups(calls: usize) -> Box<dyn FnMut()> {
    let mut messages = vec![json!({ "role": "user", "content": "Do all." })];
    for number in 0..calls {
        let name = ["get_order", "update_order"][number % 2];
        let arguments = json!({ "order": format!("A{:05}X", number / 2) }).to_string();
        let call = json!({ "id": format!("c{number}"), "type": "function", "function": { "name": name, "arguments": arguments } });
        messages.push(json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
        let found = json!({ "next": format!("A{:05}X", number / 2 + 1) }).to_string();
        messages.push(
            json!({ "role": "tool", "tool_call_id": format!("c{number}"), "content": found }),
        );
    }
    messages.push(json!({ "role": "assistant", "content": "Done." }));
    imports(format!(
        "{}\n",
        json!({ "model": "m", "messages": messages })
    ))
}

/// A folder of files, each a talk.
fn files(count: usize) -> Box<dyn FnMut()> {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..count {
        let talk = super::talk(number % 2, 0);
        write(
            folder.path(),
            &format!("logs/talks-of-a-day/{number}.json"),
            &talk.to_string(),
        );
    }
    Box::new(move || {
        _ = fs::remove_dir_all(folder.path().join("suites"));
        let arguments = [
            "import",
            "logs",
            "--agent",
            "a",
            "--suite",
            "suites/x.yml",
            "--jsonl",
        ];
        command(folder.path(), &arguments);
    })
}

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::new(
            "import of tools that no message tells of",
            "spans",
            500,
            |tools| {
                joined(
                    &[],
                    (1..=tools).map(|at| tool(at, Some(at), &json!({ "n": at }))),
                )
            },
        ),
        Row::new(
            "import of tools, by the identifiers of calls",
            "spans",
            500,
            |tools| {
                let calls: Vec<Value> = (1..=tools).map(|at| call(Some(at), at)).collect();
                joined(
                    &calls,
                    (1..=tools).map(|at| tool(at, Some(at), &json!({ "n": at }))),
                )
            },
        ),
        Row::new(
            "import of tools, by wrapped arguments",
            "spans",
            500,
            |tools| {
                let calls: Vec<Value> = (1..=tools).map(|at| call(None, at)).collect();
                joined(
                    &calls,
                    (1..=tools).map(|at| tool(at, None, &json!({ "input": { "n": at } }))),
                )
            },
        ),
        Row::new("import of spans within each other", "spans", 500, |spans| {
            let around = |at: usize| span(at, at.checked_sub(1), "step", &json!({}));
            let mut all: Vec<Value> = (0..spans).map(around).collect();
            all.push(model_call(spans, Some(spans - 1), &[]));
            imports_spans(&all)
        }),
        Row::new(
            "import of agents that call no model",
            "spans",
            500,
            |agents| {
                let agent = |at: usize, name: &str| {
                    let attributes = json!({ "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name });
                    span(at, None, "invoke_agent", &attributes)
                };
                let mut all: Vec<Value> = (0..agents).map(|at| agent(at, "idle")).collect();
                all.push(agent(agents, "desk"));
                all.extend((1..=agents).map(|at| model_call(agents + at, Some(agents), &[])));
                imports_spans(&all)
            },
        ),
        Row::new("import of traces in one record", "traces", 250, traces),
        Row::new("import of a sample of Inspect", "calls", 500, sample),
        Row::new(
            "import of runs of tools of LangSmith",
            "calls",
            500,
            runs_of_tools,
        ),
        Row::new("import of lookups and changes", "calls", 1_000, lookups),
        Row::new("import of a folder", "files", 500, files),
    ]
}
