//! What is one run, and whose its calls are.

use std::sync::{Arc, Barrier};

use serde_json::json;
use tracing::{Dispatch, info_span};
use tracing_subscriber::layer::SubscriberExt as _;

use super::super::capture;
use super::{Desk, agent, call_outcomes, calls, chat, read, result, says, stop, tool, user};

#[test]
fn a_run_is_what_happens_in_the_span_of_an_agent() {
    let desk = Desk::capture(|| {
        let _agent = agent("Refund agent").entered();
        let asked = user("Refund order 7.");
        drop(chat(&json!([asked]), &json!([calls("a", "refund")])));
        let ran = tool("refund", "a");
        ran.record("gen_ai.tool.call.outcome", "error");
        drop(ran);
        let sent = json!([asked, calls("a", "refund"), result("a", "It is too late.")]);
        let last = chat(&sent, &json!([says("It cannot be refunded.")]));
        last.record("gen_ai.response.finish_reasons", r#"["stop"]"#);
    });
    let runs = desk.runs();
    let (file, run) = &runs[0];
    assert_eq!(
        (runs.len(), file.as_str()),
        (1, "Refund_agent__gpt-5/run-1.json")
    );
    assert_eq!(run["agent_name"], "Refund agent");
    assert_eq!(run["user_prompt"], "Refund order 7.");
    assert_eq!(call_outcomes(run), [("refund", None, Some(true))]);
    let trace = &run["trace"];
    assert_eq!(trace["tool_calls"][0]["args"], json!({ "order": 7 }));
    assert_eq!(trace["tool_calls"][0]["step"], 0);
    assert_eq!(
        trace["tool_results"][0]["result"]["content"][0]["text"],
        "It is too late."
    );
    assert_eq!(trace["final_response"], "It cannot be refunded.");
    assert_eq!(trace["conversation"]["tokens"]["total"], 24);
    assert_eq!(stop(run), Some("completed"));
    assert_eq!(run["captured"]["unknown"], json!(["system_prompt"]));
}

#[test]
fn the_calls_of_a_nested_agent_carry_its_name() {
    let nested = |name: &str| {
        let inner = chat(&json!([user("Look.")]), &json!([calls("b", "find")]));
        inner.record("gen_ai.agent.name", name);
        drop(inner);
        drop(tool("find", "b"));
    };
    // By the name of its model calls within a tool, as rig does; by that of the tool, where nobody named the agent; by
    // the agent's own span.
    for (name, within, expected) in [
        ("Finder", None, "Finder"),
        ("Desk", None, "ask"),
        ("", Some("Clerk"), "Clerk"),
    ] {
        let desk = Desk::capture(|| {
            let _agent = agent("Desk").entered();
            let outer = chat(&json!([user("Go.")]), &json!([calls("a", "ask")]));
            outer.record("gen_ai.agent.name", "Desk");
            drop(outer);
            let _tool = tool("ask", "a").entered();
            let _inner = within.map(|within| agent(within).entered());
            nested(name);
        });
        let run = desk.run();
        assert_eq!(call_outcomes(&run)[0].0, "ask");
        assert_eq!(call_outcomes(&run)[1].1, Some(expected));
        assert_eq!(run["trace"]["tool_calls"][1].get("step"), None);
        // What both took, and the steps of the run's own agent.
        let conversation = &run["trace"]["conversation"];
        assert_eq!(conversation["tokens"], json!({ "total": 24 }));
        assert_eq!(conversation["steps"].as_array().unwrap().len(), 1);
        assert_eq!(run["user_prompt"], "Go.");
    }
}

#[test]
fn agents_that_run_at_once_are_runs_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let layer = capture(folder.path());
    let dispatch = Dispatch::new(tracing_subscriber::registry().with(layer));
    let both = Arc::new(Barrier::new(2));
    let threads = ["one", "two"].map(|name| {
        let (dispatch, both) = (dispatch.clone(), Arc::clone(&both));
        std::thread::spawn(move || {
            tracing::dispatcher::with_default(&dispatch, || {
                let agent = agent(name);
                for step in 0..20 {
                    both.wait();
                    // Entered and left, as the polls of a task do.
                    let said = json!([calls(&step.to_string(), name)]);
                    agent.in_scope(|| drop(chat(&json!([user(name)]), &said)));
                }
            });
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
    for name in ["one", "two"] {
        let run = read(&folder.path().join(format!("{name}__gpt-5/run-1.json")));
        assert_eq!(run["user_prompt"], name);
        assert_eq!(call_outcomes(&run), vec![(name, None, None); 20]);
    }
}

#[test]
fn in_a_root_span_without_an_agent_a_conversation_is_a_run() {
    let desk = Desk::capture(|| {
        let _request = info_span!("request").entered();
        let _inner = info_span!("handler").entered();
        for order in ["first", "second"] {
            let asked = user(order);
            drop(chat(&json!([asked]), &json!([calls("a", "find")])));
            drop(tool("find", "a"));
            let sent = json!([asked, calls("a", "find"), result("a", order)]);
            let last = chat(&sent, &json!([says("Found.")]));
            last.record("gen_ai.response.finish_reasons", r#"["stop"]"#);
        }
    });
    let runs = desk.runs();
    let prompts: Vec<_> = runs
        .iter()
        .map(|(_, run)| run["user_prompt"].as_str().unwrap())
        .collect();
    assert_eq!(prompts, ["first", "second"]);
    for (_, run) in &runs {
        assert_eq!(run["agent_name"], "request");
        assert_eq!(call_outcomes(run), [("find", None, None)]);
        assert_eq!(stop(run), Some("completed"));
    }
}

#[test]
fn two_agents_in_one_root_span_are_two_runs() {
    let desk = Desk::capture(|| {
        let _request = info_span!("request").entered();
        for name in ["one", "two"] {
            let call = chat(&json!([user("Go.")]), &json!([says("Done.")]));
            call.record("gen_ai.agent.name", name);
        }
    });
    let files: Vec<String> = desk.runs().into_iter().map(|(file, _)| file).collect();
    assert_eq!(files, ["one__gpt-5/run-1.json", "two__gpt-5/run-1.json"]);
}

#[test]
fn earlier_turns_of_a_conversation_belong_to_earlier_runs() {
    let desk = Desk::capture(|| {
        let _agent = agent("desk").entered();
        let sent = json!([
            user("Find it."),
            calls("a", "find"),
            result("a", "here"),
            says("Here."),
            user("Now refund it.")
        ]);
        drop(chat(&sent, &json!([calls("b", "refund")])));
    });
    let run = desk.run();
    assert_eq!(run["user_prompt"], "Now refund it.");
    assert_eq!(call_outcomes(&run), [("refund", None, None)]);
    let note = "4 earlier messages of the conversation left out: they are no part of this run";
    assert_eq!(run["captured"]["notes"], json!([note]));
}

#[test]
fn identifiers_that_repeat_are_calls_of_their_own() {
    let desk = Desk::capture(|| {
        let _agent = agent("desk").entered();
        let mut sent = vec![user("Go.")];
        for outcome in ["error", "success", "later"] {
            drop(chat(&json!(sent), &json!([calls("call_0", "find")])));
            let ran = tool("find", "call_0");
            ran.record("gen_ai.tool.call.outcome", outcome);
            sent.extend([calls("call_0", "find"), result("call_0", outcome)]);
        }
    });
    let run = desk.run();
    // A word that nobody knows is no success.
    assert_eq!(
        call_outcomes(&run),
        [
            ("find", None, Some(true)),
            ("find", None, Some(false)),
            ("find", None, None)
        ]
    );
}

#[test]
fn a_tool_that_no_model_asked_for_is_a_call() {
    let desk = Desk::capture(|| {
        let _agent = agent("desk").entered();
        drop(tool("warm_up", "x"));
        drop(chat(&json!([user("Go.")]), &json!([says("Done.")])));
    });
    let run = desk.run();
    assert_eq!(call_outcomes(&run), [("warm_up", None, None)]);
    assert_eq!(run["trace"]["tool_calls"][0].get("step"), None);
}

#[test]
fn conversations_that_overlap_in_a_root_span_keep_their_files() {
    let desk = Desk::capture(|| {
        let _request = info_span!("request").entered();
        let call = |name: &str| {
            let call = chat(&json!([user(name)]), &json!([says("Done.")]));
            call.record("gen_ai.agent.name", name);
            call
        };
        let early = call("early");
        // It begins later, and ends before.
        drop(call("late"));
        drop(early);
    });
    let runs = desk.runs();
    let files: Vec<_> = runs.iter().map(|(file, _)| file.as_str()).collect();
    assert_eq!(files, ["early__gpt-5/run-1.json", "late__gpt-5/run-1.json"]);
    for (file, run) in &runs {
        assert!(
            file.starts_with(run["agent_name"].as_str().unwrap()),
            "{file}"
        );
    }
}
