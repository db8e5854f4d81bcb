//! Definition: harbor 0.25.0 `harbor/models/trajectories/*.py` (ATIF-v1.8).

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Desk;
use super::talk::{FormatCapabilities, Talk, assert_kept, talk};

pub(super) fn trajectory(talk: &Talk) -> Value {
    let mut steps = vec![json!({ "source": "system", "message": talk.system })];
    for exchange in &talk.exchanges {
        steps.push(json!({ "source": "user", "message": exchange.user }));
        for answer in &exchange.answers {
            let calls: Vec<Value> = answer.calls.iter()
                .map(|call| json!({ "tool_call_id": call.id, "function_name": call.name, "arguments": call.args })).collect();
            let results = answer.calls.iter().filter_map(|call| {
                let text = call.result.as_ref()?;
                Some(json!({ "source_call_id": call.id, "content": text, "extra": { "tool_result_is_error": call.is_error } }))
            });
            let results: Vec<Value> = results.collect();
            let (prompt, completion) = answer.tokens;
            steps.push(json!({ "source": "agent", "message": answer.said, "tool_calls": calls, "observation": { "results": results },
                "metrics": { "prompt_tokens": prompt, "completion_tokens": completion } }));
        }
    }
    json!({ "schema_version": "ATIF-v1.8", "trajectory_id": "t", "session_id": "s", "agent": { "name": "terminus", "version": "2", "model_name": "m" }, "steps": steps })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn nothing_of_a_trajectory_is_lost(talk in talk(FormatCapabilities::ALL)) {
        assert_kept(&talk, FormatCapabilities::ALL, "a.json", format!("{:#}", trajectory(&talk)).as_bytes(), &[]);
    }
}

fn document(steps: &[Value]) -> Value {
    json!({ "schema_version": "ATIF-v1.5", "agent": { "name": "terminus", "model_name": "m" }, "steps": steps })
}

#[test]
fn results_without_identifiers_are_those_of_the_only_call() {
    let call = |id: &str| json!({ "tool_call_id": id, "function_name": "bash", "arguments": {} });
    let steps = [
        json!({ "source": "user", "message": "go" }),
        json!({ "source": "agent", "message": "", "tool_calls": [call("a")], "observation": { "results": [{ "content": "one" }] } }),
        json!({ "source": "agent", "message": "", "tool_calls": [call("b"), call("c")], "observation": { "results": [{ "content": "two" }] } }),
        json!({ "source": "agent", "message": "copied", "is_copied_context": true }),
        json!({ "source": "system", "message": "later" }),
        json!({ "source": "agent", "message": "end", "llm_call_count": 2, "metrics": { "prompt_tokens": 1, "completion_tokens": 2 } }),
    ];
    let desk = Desk::new();
    desk.write("a.json", document(&steps).to_string());
    let said = desk.import(&["a.json"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    let results = run["trace"]["tool_results"].as_array().unwrap();
    assert_eq!(results.len(), 1, "{results:#?}");
    assert_eq!(results[0]["result"]["content"][0]["text"], "one");
    let turns = run["trace"]["conversation"]["turns"].to_string();
    assert!(
        !turns.contains("\"two\"") && turns.contains("\"later\"") && !turns.contains("copied"),
        "{turns}"
    );
    assert!(run["trace"]["conversation"].get("steps").is_none());
    assert!(
        said.out
            .contains("observations that are no result of a call"),
        "{said:?}"
    );
}

#[test]
fn the_result_of_the_trial_gives_task_outcome_and_stop() {
    let desk = Desk::new();
    let steps = [
        json!({ "source": "user", "message": "go" }),
        json!({ "source": "agent", "message": "done" }),
    ];
    desk.write("job/t1/agent/trajectory.json", document(&steps).to_string());
    desk.write("job/t1/result.json", json!({ "task_name": "hello", "verifier_result": { "rewards": { "reward": 1.0, "style": 0.2 } },
        "exception_info": { "exception_type": "AgentTimeoutError" } }).to_string());
    let said = desk.import(&["job/t1/agent/trajectory.json"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    assert_eq!(run["outcome"], json!({ "reward": 1.0, "passed": true }));
    assert_eq!(run["trace"]["conversation"]["stop_reason"], "time_budget");
    let folder = Desk::new();
    folder.write("job/t1/agent/trajectory.json", document(&steps).to_string());
    folder.write(
        "job/t1/result.json",
        json!({ "task_name": "hello", "verifier_result": null }).to_string(),
    );
    assert_eq!(folder.import(&["job"]).status, 0);
}

/// The result of a trial whose verdict is lost would make a run that failed look good.
#[test]
fn a_result_of_a_trial_is_read_as_python_writes_it_or_reported() {
    let steps = [
        json!({ "source": "user", "message": "go" }),
        json!({ "source": "agent", "message": "done" }),
    ];
    let import = |result: &[u8]| {
        let desk = Desk::new();
        desk.write("job/t1/agent/trajectory.json", document(&steps).to_string());
        desk.write("job/t1/result.json", result);
        let said = desk.import(&["job"]);
        (said, desk.recording())
    };
    let failed = r#"{"task_name":"t","loss":NaN,"verifier_result":{"rewards":{"reward":0.0}}}"#;
    let with_bom = format!("\u{feff}{}", failed.replace("NaN", "1"));
    for text in [failed, &with_bom] {
        let (said, run) = import(text.as_bytes());
        assert_eq!(said.status, 0, "{said:?}");
        assert_eq!(run["outcome"]["passed"], false, "{text}");
    }
    for (text, why) in [
        (
            r#"{"task_name":"t""#,
            "`result.json` of the trial: EOF while parsing an object",
        ),
        (
            r#"{"verifier_result":{"rewards":{"reward":NaN}}}"#,
            "the reward `reward` in `result.json` of the trial is no number and no verdict",
        ),
    ] {
        let (said, run) = import(text.as_bytes());
        assert_eq!(said.status, 1, "{said:?}");
        assert!(
            said.err
                .contains("error[import]: outcome that cannot be read\n")
                && said.err.contains(why),
            "{said:?}"
        );
        assert_eq!(run.get("outcome"), None);
    }
}

#[test]
fn a_document_that_goes_on_in_another_is_one_run_with_it() {
    let desk = Desk::new();
    let mut first = document(&[
        json!({ "source": "user", "message": "go" }),
        json!({ "source": "agent", "message": "one" }),
    ]);
    first["continued_trajectory_ref"] = "t.cont-1.json".into();
    desk.write("d/t.json", first.to_string());
    desk.write(
        "d/t.cont-1.json",
        document(&[json!({ "source": "agent", "message": "two" })]).to_string(),
    );
    let said = desk.import(&["d"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(desk.recording()["trace"]["final_response"], "two");
}
