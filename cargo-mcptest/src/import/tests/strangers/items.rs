//! Definitions: openai-python 3.3.1 `types/responses`; openai-agents `Result.to_input_list`; the records that
//! evaluation harnesses keep; tau-bench and tau2-bench `data_model`; ATIF-v1.4 to v1.6 of Harbor.

use serde_json::{Value, json};

use super::super::{Desk, lines};
use super::{call, calls, closing, stop, tokens};

fn imported(name: &str, text: &str) -> (String, Value) {
    let desk = Desk::new();
    desk.write(name, text);
    let said = desk.import(&[name]);
    (format!("{}{}", said.out, said.err), desk.recording())
}

/// A call of the provider that failed has neither output nor error, and says so by its status.
#[test]
fn items_that_failed_are_errors_though_nothing_came_back() {
    let items = json!([
        { "role": "user", "content": "find it" },
        { "type": "reasoning", "id": "rs_1", "summary": [] },
        { "type": "mcp_call", "id": "mcp_1", "server_label": "shop", "name": "find", "arguments": "{\"q\":1}", "status": "failed" },
        { "type": "web_search_call", "id": "ws_1", "status": "failed", "action": { "type": "search", "query": "it" } },
        { "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "put", "arguments": "{}", "status": "completed" },
        { "type": "function_call", "id": "fc_2", "call_id": "call_2", "name": "get", "arguments": "{}", "status": "completed" },
        { "type": "function_call_output", "call_id": "call_2", "output": [{ "type": "input_text", "text": "two" }] },
        { "type": "function_call_output", "call_id": "call_1", "output": "one" },
        { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Half.", "annotations": [] }] },
    ]);
    let record = json!({ "model": "gpt-5", "messages": items });
    let (said, run) = imported("run.jsonl", &lines(&[record]));
    let found = calls(&run);
    let flags: Vec<(&str, Option<bool>)> = found.iter().map(|it| (it.0.as_str(), it.3)).collect();
    let expected = [
        ("find", Some(true)),
        ("web_search", Some(true)),
        ("put", None),
        ("get", None),
    ];
    assert_eq!(flags, expected, "{said}");
    assert_eq!((found[2].2.as_str(), found[3].2.as_str()), ("one", "two"));
    assert_eq!(closing(&run), "Half.");
}

/// What a harness keeps of a run as a whole: its tokens and why it ended.
#[test]
fn totals_and_reasons_of_a_record_are_its_runs() {
    let record = json!({ "model": "m", "usage": { "prompt_tokens": 90, "completion_tokens": 8 }, "finish_reason": "length",
        "messages": [{ "role": "user", "content": "p" }, { "role": "assistant", "content": "half an answ" }] });
    let (_, run) = imported("run.jsonl", &lines(&[record]));
    assert_eq!((tokens(&run), stop(&run)), ((90, 8), "token_budget"));
}

/// Whatever the one who calls is named, a call is a call.
#[test]
fn calls_count_whoever_makes_them() {
    let asks = json!([{ "id": "c1", "type": "function", "function": { "name": "find", "arguments": "{}" } }]);
    for role in ["ai", "model", "agent"] {
        let record = json!({ "model": "m", "messages": [{ "role": "user", "content": "p" }, { "role": role, "tool_calls": asks },
            { "role": "tool", "tool_call_id": "c1", "content": "x" }, { "role": "assistant", "content": "y" }] });
        let (said, run) = imported("run.jsonl", &lines(&[record]));
        assert_eq!(
            calls(&run),
            [call("find", "{}", "x", None)],
            "{role}: {said}"
        );
    }
}

/// Both editions: a reward of 0 did not pass, errors are flags, and the user's own calls are not the agent's.
#[test]
fn runs_of_both_editions_of_tau_keep_their_verdicts() {
    let asks = |id: &str| json!([{ "id": id, "type": "function", "function": { "name": "refund", "arguments": "{\"id\": \"7\"}" } }]);
    let first = json!([{ "task_id": 3, "trial": 1, "reward": 0.0, "info": { "task": { "instruction": "You want a refund." } }, "traj": [
        { "role": "system", "content": "policy" }, { "role": "user", "content": "Refund me." },
        { "role": "assistant", "content": null, "tool_calls": asks("a") },
        { "role": "tool", "tool_call_id": "a", "name": "refund", "content": "Error: order not found" },
        { "role": "assistant", "content": "It is done." }, { "role": "user", "content": "###STOP###" }] }]);
    let desk = Desk::new();
    desk.write("old.json", first.to_string());
    desk.import(&["old.json", "--model", "gpt-4o"]);
    let run = desk.recording();
    assert_eq!(
        (&run["outcome"]["passed"], &run["outcome"]["reward"]),
        (&json!(false), &json!(0.0))
    );
    assert_eq!(
        calls(&run),
        [call(
            "refund",
            r#"{"id":"7"}"#,
            "Error: order not found",
            Some(true)
        )]
    );

    let message = |role: &str, text: &str| json!({ "role": role, "content": text });
    let agent = json!({ "role": "assistant", "content": null, "usage": { "prompt_tokens": 9, "completion_tokens": 1 },
        "tool_calls": [{ "id": "b", "name": "refund", "arguments": { "id": "7" }, "requestor": "assistant" }] });
    let user = json!({ "role": "user", "content": null, "tool_calls": [{ "id": "c", "name": "toggle", "arguments": {}, "requestor": "user" }] });
    let said = json!({ "role": "assistant", "content": "It is done.", "usage": { "prompt_tokens": 12, "completion_tokens": 2 } });
    let simulation = json!({ "id": "s", "task_id": "3", "trial": 0, "termination_reason": "user_stop", "reward_info": { "reward": 0.0, "reward_basis": ["DB"] }, "messages": [
        message("assistant", "Hi!"), message("user", "Refund me."), agent,
        { "role": "tool", "id": "b", "content": "order not found", "error": true, "requestor": "assistant" },
        user, { "role": "tool", "id": "c", "content": "on", "error": false, "requestor": "user" },
        said, message("user", "###STOP###")] });
    let second = json!({ "info": { "agent_info": { "implementation": "llm_agent", "llm": "gpt-5" }, "environment_info": { "domain_name": "retail", "policy": "policy" } },
        "tasks": [{ "id": "3", "user_scenario": { "instructions": "You want a refund." } }], "simulations": [simulation] });
    let (said, run) = imported("new.json", &second.to_string());
    assert_eq!(
        (&run["outcome"]["passed"], stop(&run)),
        (&json!(false), "completed"),
        "{said}"
    );
    assert_eq!(
        calls(&run),
        [call(
            "refund",
            r#"{"id":"7"}"#,
            "order not found",
            Some(true)
        )]
    );
    assert_eq!((tokens(&run), closing(&run)), ((21, 3), "It is done."));
}

/// A trial whose verifier gave nothing, and whose agent ran out of time.
#[test]
fn a_trial_of_harbor_that_ran_out_of_time_did_not_pass() {
    let desk = Desk::new();
    let trajectory = json!({ "schema_version": "ATIF-v1.4", "session_id": "s", "agent": { "name": "terminus-2", "version": "2.0", "model_name": "gpt-5" },
        "final_metrics": { "total_prompt_tokens": 500, "total_completion_tokens": 20, "total_cached_tokens": 400 },
        "steps": [
            { "step_id": 1, "source": "user", "message": "fix it" },
            { "step_id": 2, "source": "agent", "message": "Looking.", "tool_calls": [
                { "tool_call_id": "c1", "function_name": "bash", "arguments": { "keystrokes": "ls\n" } },
                { "tool_call_id": "c2", "function_name": "bash", "arguments": { "keystrokes": "pwd\n" } }],
              "observation": { "results": [{ "source_call_id": "c2", "content": "/" }, { "source_call_id": "c1", "content": "a b", "extra": { "is_error": true } }] },
              "metrics": { "prompt_tokens": 500, "completion_tokens": 20, "cached_tokens": 400 } },
        ] });
    desk.write("trial/agent/trajectory.json", trajectory.to_string());
    desk.write(
        "trial/result.json",
        json!({ "task_name": "fix", "verifier_result": { "rewards": { "reward": 0 } },
        "exception_info": { "exception_type": "AgentTimeoutError" } })
        .to_string(),
    );
    let said = desk.import(&["trial"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    assert_eq!(
        (&run["outcome"]["passed"], stop(&run), tokens(&run)),
        (&json!(false), "time_budget", (500, 20))
    );
    let found = calls(&run);
    assert_eq!((found[0].2.as_str(), found[0].3), ("a b", Some(true)));
    assert_eq!((found[1].2.as_str(), found[1].3), ("/", None));
}
