//! Definition: sierra-research/tau-bench@59a200c6 `types.py`, `run.py`; tau2-bench@a2c02472
//! `data_model/simulation.py`, `message.py`, `tasks.py`.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Desk;
use super::talk::{FormatCapabilities, Talk, assert_kept, talk};

pub(super) fn simulation(talk: &Talk) -> Value {
    let mut messages = Vec::new();
    for exchange in &talk.exchanges {
        messages.push(json!({ "role": "user", "content": exchange.user }));
        for answer in &exchange.answers {
            let calls: Vec<Value> = answer
                .calls
                .iter()
                .map(|call| json!({ "id": call.id, "name": call.name, "arguments": call.args, "requestor": "assistant" }))
                .collect();
            let (prompt, completion) = answer.tokens;
            messages.push(
                json!({ "role": "assistant", "content": answer.said, "tool_calls": calls,
                "usage": { "prompt_tokens": prompt, "completion_tokens": completion } }),
            );
            let results = answer.calls.iter().filter_map(|call| {
                let result = call.result.as_ref()?;
                Some(json!({ "role": "tool", "id": call.id, "content": result, "error": call.is_error, "requestor": "assistant" }))
            });
            let results: Vec<Value> = results.collect();
            match results.len() {
                0 => {}
                1 => messages.extend(results),
                _ => messages.push(json!({ "role": "tool", "tool_messages": results })),
            }
        }
    }
    json!({ "id": "s1", "task_id": "t1", "trial": 0, "termination_reason": "user_stop", "messages": messages,
        "start_time": "2026-01-01T00:00:00", "end_time": "2026-01-01T00:01:00", "reward_info": { "reward": 1.0 } })
}

pub(super) fn results(simulations: &[Value], talk: Option<&Talk>) -> Value {
    let scenario = talk.map_or("Return a lamp.", |talk| talk.exchanges[0].user.as_str());
    let policy = talk.map_or("Be kind.", |talk| talk.system.as_str());
    json!({
        "info": { "agent_info": { "implementation": "llm_agent", "llm": "gpt-4.1" },
            "environment_info": { "domain_name": "retail", "policy": policy } },
        "tasks": [{ "id": "t1", "user_scenario": scenario }],
        "simulations": simulations,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn nothing_of_a_simulation_is_lost(talk in talk(FormatCapabilities::ALL)) {
        let text = results(&[simulation(&talk)], Some(&talk)).to_string();
        assert_kept(&talk, FormatCapabilities::ALL, "results.json", text.as_bytes(), &[]);
    }

    #[test]
    fn nothing_of_a_trajectory_is_lost(talk in talk(FormatCapabilities::ALL)) {
        let can = FormatCapabilities { errors: false, tokens: false, ..FormatCapabilities::ALL };
        let mut traj = vec![json!({ "role": "system", "content": talk.system })];
        for message in simulation(&talk)["messages"].as_array().unwrap() {
            let answers = message["tool_messages"].as_array();
            let one = [message.clone()];
            for message in answers.map_or(&one[..], Vec::as_slice) {
                let mut message = message.clone();
                if message["role"] == "tool" {
                    message["tool_call_id"] = message["id"].take();
                }
                for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
                    *call = json!({ "id": call["id"], "type": "function",
                        "function": { "name": call["name"], "arguments": call["arguments"].to_string() } });
                }
                message.as_object_mut().unwrap().remove("usage");
                traj.push(message);
            }
        }
        let record = json!({ "task_id": 0, "trial": 0, "reward": 0.0, "traj": traj,
            "info": { "task": { "instruction": talk.exchanges[0].user } } });
        assert_kept(&talk, can, "a.json", json!([record]).to_string().as_bytes(), &[]);
    }
}

#[test]
fn the_first_edition_has_errors_outcomes_and_trials() {
    let record = |trial: u32, reward: f64, said: &str| {
        json!({ "task_id": 3, "trial": trial, "reward": reward, "info": { "task": { "instruction": "You want a lamp." } },
            "traj": [{ "role": "system", "content": "Policy." }, { "role": "user", "content": "A lamp, please." },
                { "role": "assistant", "content": null, "tool_calls": [{ "id": "a", "function": { "name": "find", "arguments": "{}" } }] },
                { "role": "tool", "tool_call_id": "a", "name": "find", "content": said },
                { "role": "assistant", "content": "Here." }, { "role": "user", "content": "###STOP###" }] })
    };
    let failed = json!({ "task_id": 4, "trial": 0, "reward": 0.0, "traj": [], "info": { "error": "rate limit" } });
    let desk = Desk::new();
    let runs = json!([
        record(1, 0.0, "Error: no lamp"),
        record(0, 1.0, "a lamp"),
        failed
    ]);
    desk.write("a.json", format!("{runs:#}"));
    let said = desk.import(&["a.json", "--model", "gpt-4o", "--agent", "Airline"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(
        said.err.contains(" --> a.json:3\n  = rate limit"),
        "{said:?}"
    );
    let runs = desk.recordings();
    assert_eq!(runs.len(), 2);
    let (path, first) = &runs[0];
    assert_eq!(path, "Airline__gpt-4o/run-1.json");
    assert_eq!(first["user_prompt"], "You want a lamp.");
    assert_eq!(first["outcome"], json!({ "passed": true, "reward": 1.0 }));
    assert_eq!(first["trace"]["final_response"], "Here.");
    assert_eq!(first["trace"]["tool_results"][0]["is_error"], false);
    assert_eq!(runs[1].1["trace"]["tool_results"][0]["is_error"], true);
    assert_eq!(
        runs[1].1["outcome"],
        json!({ "passed": false, "reward": 0.0 })
    );
}

#[test]
fn the_simulated_users_calls_are_left_out_and_counted() {
    let simulation = json!({ "id": "s1", "task_id": "t1", "trial": 0, "termination_reason": "max_steps", "messages": [
        { "role": "assistant", "content": "Hi!" },
        { "role": "user", "content": "My phone is broken." },
        { "role": "assistant", "content": "Restart it.", "usage": { "prompt_tokens": 5, "completion_tokens": 2 } },
        { "role": "user", "content": null, "tool_calls": [{ "id": "u", "name": "restart", "arguments": {}, "requestor": "user" }] },
        { "role": "tool", "id": "u", "content": "ok", "error": false, "requestor": "user" },
    ] });
    let voice = json!({ "id": "s2", "task_id": "t1", "trial": 1, "termination_reason": "user_stop", "ticks": [{}] });
    let broken = json!({ "id": "s3", "task_id": "t1", "trial": 2, "termination_reason": "infrastructure_error", "messages": [] });
    let desk = Desk::new();
    desk.write(
        "results.json",
        format!("{:#}", results(&[simulation, voice, broken], None)),
    );
    let said = desk.import(&["results.json"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(
        said.err.contains("results.json:/simulations/1") && said.err.contains("ticks"),
        "{said:?}"
    );
    assert!(said.err.contains("infrastructure"), "{said:?}");
    assert!(
        said.out
            .contains("calls and results of the simulated user left out: 2"),
        "{said:?}"
    );
    let run = desk.recording();
    assert_eq!(run["agent_name"], "retail llm_agent");
    assert_eq!(run["model"], "gpt-4.1");
    assert_eq!(run["user_prompt"], "Return a lamp.");
    assert_eq!(run["trace"]["conversation"]["stop_reason"], "turn_budget");
    assert_eq!(
        run["trace"]["conversation"]["steps"],
        json!([{ "prompt": 5, "completion": 2 }])
    );
    assert_eq!(run["trace"]["tool_calls"], json!([]));
}
