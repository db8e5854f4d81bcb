//! Definition: promptfoo `src/types/index.ts` (`EvaluateResult`, `GradingResult`).

use serde_json::{Value, json};

use super::strangers::closing;
use super::{Desk, lines};

fn result(id: &str, output: &Value) -> Value {
    json!({
        "id": id, "promptIdx": 0, "testIdx": 0, "provider": { "id": "openai:gpt-5", "label": "" },
        "prompt": { "raw": "Refund order 7.", "label": "refund" }, "vars": {}, "success": true, "score": 1, "failureReason": 0,
        "latencyMs": 812, "namedScores": {},
        "response": { "output": output, "cached": false, "tokenUsage": { "prompt": 40, "completion": 6, "total": 46 } },
        "gradingResult": { "pass": true, "score": 1, "reason": "All assertions passed", "componentResults": [] },
    })
}

fn file(results: &[Value]) -> String {
    json!({ "evalId": "e1", "results": { "version": 3, "results": results, "stats": {} }, "config": {} }).to_string()
}

#[test]
fn a_result_is_a_run_with_the_scores_of_its_assertions() {
    let mut one = result("r1", &json!("Refunded."));
    one["success"] = false.into();
    one["failureReason"] = 1.into();
    one["error"] = "Too long".into();
    one["namedScores"] = json!({ "tone": 0.5, "length": 0.25 });
    one["gradingResult"] = json!({ "pass": false, "score": 0.6, "reason": "Too long", "componentResults": [
        { "pass": true, "score": 1, "reason": "It is there", "assertion": { "type": "contains", "value": "Refunded" } },
        { "pass": false, "score": 0.5, "reason": "Curt", "assertion": { "type": "llm-rubric", "metric": "tone" } },
    ] });
    let desk = Desk::new();
    desk.write("results.json", file(&[one]));
    let said = desk.import(&["results.json"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    assert_eq!(
        (&run["model"], &run["user_prompt"]),
        (&json!("openai:gpt-5"), &json!("Refund order 7."))
    );
    assert_eq!(closing(&run), "Refunded.");
    assert_eq!(run["outcome"], json!({ "passed": false }));
    assert_eq!(
        run["trace"]["conversation"]["steps"],
        json!([{ "prompt": 40, "completion": 6, "duration_ms": 812 }])
    );
    assert_eq!(run["trace"]["conversation"].get("stop_reason"), None);
    assert_eq!(
        run["trace"]["scores"],
        json!([
            { "name": "contains", "value": 1.0, "passed": true, "by": "contains", "note": "It is there" },
            { "name": "tone", "value": 0.5, "passed": false, "by": "llm-rubric", "note": "Curt" },
            { "name": "length", "value": 0.25, "by": "promptfoo" },
            { "name": "overall", "value": 0.6, "passed": false, "by": "promptfoo", "note": "Too long" },
        ])
    );
}

#[test]
fn calls_and_conversations_are_read_as_their_provider_writes_them() {
    let call_of = json!([{ "id": "c1", "type": "function", "function": { "name": "refund", "arguments": "{\"order\":7}" } }]);
    let mut one = result("r1", &call_of);
    let talk = json!([{ "role": "system", "content": "Be kind." }, { "role": "user", "content": "Refund order 7." }]);
    one["prompt"]["raw"] = talk.to_string().into();
    let desk = Desk::new();
    desk.write("results.jsonl", lines(&[one]));
    let said = desk.import(&["results.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    assert_eq!(run["system_prompt"], "Be kind.");
    let calls = run["trace"]["tool_calls"].as_array().unwrap();
    assert_eq!(
        (calls.len(), &calls[0]["name"], &calls[0]["args"]),
        (1, &json!("refund"), &json!({ "order": 7 }))
    );
}

#[test]
fn an_answer_out_of_the_cache_and_one_that_failed_say_nothing_of_the_model() {
    let mut cached = result("r1", &json!("Refunded."));
    cached["response"]["cached"] = true.into();
    let mut failed = result("r2", &json!(null));
    failed["error"] = "429".into();
    failed["failureReason"] = 2.into();
    failed["success"] = false.into();
    failed.as_object_mut().unwrap().remove("gradingResult");
    let mut unasked = result("r3", &json!("Hm."));
    unasked["prompt"] = json!({ "raw": "" });
    let desk = Desk::new();
    desk.write("results.json", file(&[cached.clone(), failed.clone()]));
    let said = desk.import(&["results.json"]);
    assert_eq!(said.status, 0, "{said:?}");
    let runs = desk.recordings();
    assert_eq!(runs[0].1["trace"]["conversation"].get("steps"), None);
    assert_eq!(runs[0].1["trace"]["scores"][0]["name"], "overall");
    let (_, broken) = &runs[1];
    assert_eq!(broken["trace"]["conversation"]["stop_reason"], "error");
    assert_eq!(
        (broken.get("outcome"), broken["trace"].get("scores")),
        (None, None)
    );
    let other = Desk::new();
    other.write("results.json", file(&[unasked]));
    let said = other.import(&["results.json"]);
    assert_eq!(said.status, 2, "{said:?}");
    assert!(said.err.contains("has no prompt"), "{said:?}");
}
