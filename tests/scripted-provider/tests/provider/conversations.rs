//! Which reply a request is given.

use scripted_provider::Provider;
use serde_json::{Value, json};

use crate::{chat, messages, play, post_chat, start, user};

/// Asks with a history of texts, the user's and the assistant's in turn.
fn say(provider: &Provider, texts: &[&str]) -> String {
    let history: Vec<Value> = texts
        .iter()
        .zip(["user", "assistant"].into_iter().cycle())
        .map(|(text, role)| json!({ "role": role, "content": text }))
        .collect();
    let body = chat(provider, &json!(history)).ok();
    body["choices"][0]["message"]["content"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// The history after the assistant's calls were answered with `result`.
fn answered(body: &Value, result: &str) -> Value {
    let message = &body["choices"][0]["message"];
    let id = &message["tool_calls"][0]["id"];
    json!([user("go"), message, { "role": "tool", "tool_call_id": id, "content": result }])
}

#[test]
fn starts_take_the_runs_in_turn() {
    let provider = start(&json!({ "conversations": [
        { "user": "go", "runs": [[{ "text": "one" }], [{ "text": "two" }]] },
        { "user": "stop", "runs": [[{ "text": "stopped" }]] },
    ] }));
    let said: Vec<_> = ["go", "stop", "go", "go"]
        .map(|text| say(&provider, &[text]))
        .into();
    assert_eq!(said, ["one", "stopped", "two", "one"]);
}

#[test]
fn models_have_their_own_turns_and_conversations() {
    let provider = start(&json!({ "conversations": [
        { "user": "go", "runs": [[{ "text": "one" }], [{ "text": "two" }]] },
        { "user": "go", "model": "special", "runs": [[{ "text": "for special" }]] },
    ] }));
    let ask = |model: &str| {
        let body = post_chat(
            &provider,
            &json!({ "model": model, "messages": [user("go")] }),
        )
        .ok();
        assert_eq!(body["model"], model);
        body["choices"][0]["message"]["content"].clone()
    };
    let said = ["a", "b", "special", "a"].map(ask);
    assert_eq!(said, ["one", "one", "for special", "two"]);
}

#[test]
fn concurrent_conversations_are_told_apart_by_their_calls() {
    let run = |word: &str| {
        json!([
            { "text": "Looking.", "calls": [{ "name": "find", "args": {} }] },
            { "text": format!("{word}: {{{{result:find:/status}}}}") },
        ])
    };
    let script =
        json!({ "conversations": [{ "user": "go", "runs": [run("first"), run("second")] }] });
    let provider = start(&script);
    let first = chat(&provider, &json!([user("go")])).ok();
    let second = chat(&provider, &json!([user("go")])).ok();
    let end = |body, status| {
        let body = chat(&provider, &answered(body, status)).ok();
        body["choices"][0]["message"]["content"].clone()
    };
    assert_eq!(end(&second, r#"{"status":"paid"}"#), "second: paid");
    assert_eq!(end(&first, r#"{"status":"lost"}"#), "first: lost");
}

#[test]
fn many_threads_each_stay_in_their_run() {
    let runs: Vec<Value> = (0..8)
        .map(|run| {
            json!([
                { "calls": [{ "name": "find", "args": { "run": run } }], "before": [{ "wait_ms": 20 }] },
                { "text": run.to_string() },
            ])
        })
        .collect();
    let provider = start(&json!({ "conversations": [{ "user": "go", "runs": runs }] }));
    let converse = || {
        let first = chat(&provider, &json!([user("go")])).ok();
        let call = &first["choices"][0]["message"]["tool_calls"][0];
        let args = call["function"]["arguments"].as_str().unwrap().to_owned();
        let second = chat(&provider, &answered(&first, "{}")).ok();
        let text = second["choices"][0]["message"]["content"].as_str().unwrap();
        assert_eq!(args, format!("{{\"run\":{text}}}"));
        text.to_owned()
    };
    let mut texts: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(converse)).collect();
        let joined = threads.into_iter().map(|thread| thread.join().unwrap());
        joined.collect()
    });
    texts.sort();
    assert_eq!(texts, ["0", "1", "2", "3", "4", "5", "6", "7"]);
}

#[test]
fn conversations_without_calls_go_by_their_texts() {
    let run = |open: &str, end: &str| json!([{ "text": open }, { "text": end }]);
    let provider = start(&json!({ "conversations": [{
        "user": "go", "runs": [run("Which?", "a"), run("Which?", "b"), run("How?", "c")],
    }] }));
    for opening in ["Which?", "Which?", "How?"] {
        assert_eq!(say(&provider, &["go"]), opening);
    }
    assert_eq!(say(&provider, &["go", "How?", "so"]), "c");
    // Two runs fit: the one started later wins.
    assert_eq!(say(&provider, &["go", "Which?", "that"]), "b");
}

#[test]
fn what_fits_nothing_is_named() {
    let provider = play(&json!([{ "text": "one" }]));
    let ask = |history: Value| chat(&provider, &history).error(400).to_owned();
    assert_eq!(
        ask(json!([user("stay")])),
        "no conversation of the script has the first user message \"stay\" for the model m; \
         reply 0 was asked for"
    );
    assert_eq!(
        ask(json!([user("go"), { "role": "assistant", "content": "one" }, user("on")])),
        "reply 1 to the first user message \"go\" was asked for, but the assistant messages \
         before it belong to no run that was started"
    );
    assert_eq!(say(&provider, &["go"]), "one");
    assert_eq!(
        ask(json!([user("go"), { "role": "assistant", "content": "one" }, user("on")])),
        "reply 1 of run 0 to the first user message \"go\" was asked for, but the run has 1 \
         replies only"
    );
}

#[test]
fn placeholders_carry_results_over() {
    let provider = play(&json!([
        { "calls": [{ "name": "find", "args": {} }] },
        { "calls": [{ "name": "find", "args": {
            "cents": "{{result:find:/total}}", "note": "refund {{result:find:/total}} on {{result:find:/id}}",
        } }] },
        { "text": "{{result:find:/id}}" },
    ]));
    let tools = |turns: &[Value], result: &str| {
        let mut history = vec![user("go")];
        for turn in turns {
            let id = turn["content"][0]["id"].clone();
            history.push(json!({ "role": "assistant", "content": turn["content"] }));
            history.push(json!({ "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": id, "content": result },
            ] }));
        }
        messages(&provider, &json!(history))
    };
    let first = tools(&[], "").ok();
    let missing = tools(std::slice::from_ref(&first), "{}");
    assert!(
        missing
            .error(400)
            .ends_with("the latest result of the tool find has nothing at /total")
    );
    let second = tools(std::slice::from_ref(&first), r#"{"id":"A-1","total":7}"#).ok();
    assert_eq!(
        second["content"][0]["input"],
        json!({ "cents": 7, "note": "refund 7 on A-1" })
    );
    let third = tools(&[first, second], r#"{"id":"RF-1"}"#).ok();
    assert_eq!(third["content"][0]["text"], "RF-1");
}

#[test]
fn a_text_can_end_with_an_environment_variable() {
    let provider = play(&json!([{ "text": "in ", "text_from_env": "PATH" }]));
    let path = std::env::var("PATH").unwrap();
    assert_eq!(say(&provider, &["go"]), format!("in {path}"));
}
