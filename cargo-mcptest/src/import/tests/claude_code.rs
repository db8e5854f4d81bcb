//! No public definition; the form is that of harbor 0.25.0 `agents/installed/claude_code.py`.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::anthropic::blocks;
use super::talk::{FormatCapabilities, Talk, assert_kept, talk};
use super::{Desk, lines};

const WORTH: &str = r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s-1","isSidechain":false,"version":"2.1.230","timestamp":"2026-08-01T10:00:00.000Z","message":{"role":"user","content":"What is order 7 worth?"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s-1","isSidechain":false,"version":"2.1.230","timestamp":"2026-08-01T10:00:02.000Z","message":{"id":"m1","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"Looking."}],"stop_reason":null,"usage":{"input_tokens":4,"cache_creation_input_tokens":100,"cache_read_input_tokens":900,"output_tokens":1}}}
{"type":"assistant","uuid":"a2","parentUuid":"a1","sessionId":"s-1","isSidechain":false,"version":"2.1.230","timestamp":"2026-08-01T10:00:02.400Z","message":{"id":"m1","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"t1","name":"mcp__shop__get_order","input":{"order":7}}],"stop_reason":"tool_use","usage":{"input_tokens":4,"cache_creation_input_tokens":100,"cache_read_input_tokens":900,"output_tokens":31}}}
{"type":"user","uuid":"u2","parentUuid":"a2","sessionId":"s-1","isSidechain":false,"version":"2.1.230","timestamp":"2026-08-01T10:00:03.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"18.00 EUR"}]}]}}
{"type":"assistant","uuid":"a3","parentUuid":"u2","sessionId":"s-1","isSidechain":false,"version":"2.1.230","timestamp":"2026-08-01T10:00:05.500Z","message":{"id":"m2","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"18.00 EUR."}],"stop_reason":"end_turn","usage":{"input_tokens":6,"cache_creation_input_tokens":0,"cache_read_input_tokens":1040,"output_tokens":9}}}
"#;

#[test]
fn a_model_call_on_two_lines_is_one_step() {
    let desk = Desk::new();
    desk.write("s-1.jsonl", WORTH);
    let said = desk.import(&["s-1.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    let expected = json!({"schema_version": "v1", "agent_name": "claude-code", "model": "claude-sonnet-4-5", "recorded_at": "2026-08-01T10:00:00.000Z", "user_prompt": "What is order 7 worth?", "trace": {
      "tool_calls": [{"name": "get_order", "server": "shop", "args": {"order": 7}, "step": 0, "hop_index": 0}],
      "tool_results": [{"call_index": 0, "server": "shop", "is_error": false, "result": {"content": [{"text": "18.00 EUR", "type": "text"}]}}],
      "final_response": "18.00 EUR.",
      "conversation": {"stop_reason": "completed", "tokens": {"prompt": 2050, "cached": 1940, "completion": 40, "total": 2090}, "duration_ms": 5500, "message_count": 4,
        "turns": [{"role": "user", "content": "What is order 7 worth?"}, {"role": "assistant", "content": "Looking."}, {"role": "assistant", "content": "tool_use shop::get_order with {\"order\":7}"}, {"role": "assistant", "content": "18.00 EUR."}],
        "steps": [{"prompt": 1004, "cached": 900, "completion": 31}, {"prompt": 1046, "cached": 1040, "completion": 9}]}},
     "imported": {"file": "s-1.jsonl", "from": "claude-code", "id": "s-1", "record": 1, "unknown": ["system_prompt"], "version": "2.1.230"}});
    assert_eq!(desk.recording(), expected);
}

/// A copy of a session is no other session, and that is said.
#[test]
fn a_session_that_lies_in_two_files_is_one() {
    let desk = Desk::new();
    desk.write("s-1.jsonl", WORTH);
    desk.write("copy.jsonl", WORTH);
    let said = desk.import(&["s-1.jsonl", "copy.jsonl"]);
    assert_eq!((said.status, desk.recordings().len()), (0, 1), "{said:?}");
    let told =
        "note: several files of one session have the same lines: these lines are read once\n";
    assert!(said.out.contains(told), "{said:?}");
}

/// The lines of a talk, one block a line, with parallel calls as a tree.
pub(super) fn session(talk: &Talk) -> Vec<Value> {
    let mut all: Vec<Value> = vec![json!({ "type": "summary", "summary": "old", "leafUuid": "x" })];
    let mut number = 0;
    let mut parent = Value::Null;
    let mut line = |kind: &str, parent: &Value, message: Value, all: &mut Vec<Value>| {
        number += 1;
        let uuid = format!("u{number}");
        all.push(json!({ "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "isSidechain": false,
            "timestamp": format!("2026-08-01T10:00:00.{number:03}Z"), "message": message }));
        json!(uuid)
    };
    let mut model_calls = 0;
    for exchange in &talk.exchanges {
        parent = line(
            "user",
            &parent,
            json!({ "role": "user", "content": exchange.user }),
            &mut all,
        );
        for answer in &exchange.answers {
            model_calls += 1;
            let (content, results) = blocks(answer);
            let (prompt, completion) = answer.tokens;
            let mut callers = Vec::new();
            for block in content {
                let is_call = block["type"] == "tool_use";
                let id = block["id"].clone();
                parent = line(
                    "assistant",
                    &parent,
                    json!({ "id": format!("m{model_calls}"), "role": "assistant", "model": "m", "content": [block],
                    "usage": { "input_tokens": prompt, "output_tokens": completion } }),
                    &mut all,
                );
                if is_call {
                    callers.push((id, parent.clone()));
                }
            }
            for result in results {
                let caller = callers
                    .iter()
                    .find(|(id, _)| *id == result["tool_use_id"])
                    .unwrap()
                    .1
                    .clone();
                parent = line(
                    "user",
                    &caller,
                    json!({ "role": "user", "content": [result] }),
                    &mut all,
                );
            }
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn nothing_of_a_session_is_lost(talk in talk(FormatCapabilities { system: false, ..FormatCapabilities::ALL })) {
        let can = FormatCapabilities { system: false, ..FormatCapabilities::ALL };
        assert_kept(&talk, can, "s.jsonl", lines(&session(&talk)).as_bytes(), &[]);
    }
}

fn line(kind: &str, uuid: &str, parent: Option<&str>, message: impl Into<Value>) -> Value {
    json!({ "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": "2026-08-01T10:00:00.000Z", "message": message.into() })
}

fn user(uuid: &str, parent: Option<&str>, text: &str) -> Value {
    line(
        "user",
        uuid,
        parent,
        json!({ "role": "user", "content": text }),
    )
}

fn assistant(uuid: &str, parent: &str, content: impl Into<Value>) -> Value {
    line(
        "assistant",
        uuid,
        Some(parent),
        json!({ "id": format!("m-{uuid}"), "role": "assistant", "model": "m", "content": content.into(), "stop_reason": "end_turn" }),
    )
}

#[test]
fn rewound_branches_and_bookkeeping_stay_out() {
    let say = |text: &str| json!([{ "type": "text", "text": text }]);
    let mut meta = user("x", Some("a1"), "a note");
    meta["isMeta"] = true.into();
    let desk = Desk::new();
    desk.write(
        "s.jsonl",
        lines(&[
            user("u1", None, "first"),
            assistant("a1", "u1", say("one")),
            user("u2", Some("a1"), "a wrong way"),
            assistant("a2", "u2", say("wrong")),
            meta,
            user("u3", Some("x"), "<command-name>/clear</command-name>"),
            user("u4", Some("u3"), "the right way"),
            assistant("a4", "u4", say("right")),
            line(
                "user",
                "u4",
                Some("u3"),
                json!({ "role": "user", "content": "the right way" }),
            ),
            line("hologram", "h", Some("a4"), json!({})),
            user("u5", Some("a4"), "[Request interrupted by user]"),
        ]),
    );
    let said = desk.import(&["s.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    assert_eq!(
        turns(&run),
        [
            "first",
            "one",
            "the right way",
            "right",
            "[Request interrupted by user]"
        ]
    );
    assert_eq!(run["trace"]["conversation"]["stop_reason"], "interrupted");
    assert!(
        said.out
            .contains("records of rewound or cleared branches left out"),
        "{said:?}"
    );
    assert!(said.out.contains("unknown type `hologram`"), "{said:?}");
}

fn turns(run: &Value) -> Vec<&str> {
    let turns = run["trace"]["conversation"]["turns"].as_array().unwrap();
    let said = turns.iter().map(|it| it["content"].as_str().unwrap());
    said.collect()
}

#[test]
fn a_line_whose_parent_is_missing_follows_the_line_before_it() {
    let say = |text: &str| json!([{ "type": "text", "text": text }]);
    let desk = Desk::new();
    desk.write(
        "s.jsonl",
        lines(&[
            user("u1", None, "first"),
            assistant("a1", "u1", say("one")),
            line("progress", "p", Some("gone"), json!({})),
            user("u2", Some("p"), "second"),
            assistant("a2", "u2", say("two")),
        ]),
    );
    let said = desk.import(&["s.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(
        turns(&desk.recording()),
        ["first", "one", "second", "two"],
        "{said:?}"
    );
    assert!(!said.out.contains("left out"), "{said:?}");
}

/// Releases before the boundary of a compaction was written begin a new tree with its summary.
#[test]
fn what_precedes_a_summary_without_a_parent_is_kept() {
    let say = |text: &str| json!([{ "type": "text", "text": text }]);
    let mut summary = user("u2", None, "This session is being continued.");
    summary["isCompactSummary"] = true.into();
    let desk = Desk::new();
    desk.write(
        "s.jsonl",
        lines(&[
            user("u1", None, "first"),
            assistant("a1", "u1", say("one")),
            summary,
            assistant("a2", "u2", say("two")),
        ]),
    );
    let said = desk.import(&["s.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    assert_eq!(run["user_prompt"], "first", "{said:?}");
    let turns = turns(&run);
    assert!(turns.starts_with(&["first", "one"]), "{turns:?}");
    assert!(turns.ends_with(&["two"]), "{turns:?}");
    assert!(!said.out.contains("rewound"), "{said:?}");
}

#[test]
fn a_command_with_a_prompt_of_its_own_is_what_the_user_asks() {
    let asks = "<command-message>review</command-message>\n<command-name>/review</command-name>\n\
                <command-args>order 7</command-args>";
    let mut prompt = user("p", Some("u1"), "# Review\nLook closely.");
    prompt["isMeta"] = true.into();
    let desk = Desk::new();
    desk.write(
        "s.jsonl",
        lines(&[
            user("u1", None, asks),
            prompt,
            assistant("a1", "p", json!([{ "type": "text", "text": "Fine." }])),
            user(
                "u2",
                Some("a1"),
                "<command-name>/exit</command-name>\n<command-message>exit</command-message>",
            ),
        ]),
    );
    let said = desk.import(&["s.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(turns(&desk.recording()), ["/review order 7", "Fine."]);
}

#[test]
fn a_call_that_the_user_interrupted_has_its_result() {
    let call = json!([{ "type": "tool_use", "id": "t", "name": "find", "input": {} }]);
    let result = json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t", "is_error": true,
        "content": "[Request interrupted by user for tool use]" }] });
    let desk = Desk::new();
    desk.write(
        "s.jsonl",
        lines(&[
            user("u1", None, "first"),
            assistant("a1", "u1", call),
            line("user", "u2", Some("a1"), result),
        ]),
    );
    let said = desk.import(&["s.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    let trace = &desk.recording()["trace"];
    assert_eq!(trace["tool_results"][0]["is_error"], true, "{said:?}");
    assert_eq!(trace["conversation"]["stop_reason"], "interrupted");
}

#[test]
fn the_files_of_a_session_may_come_in_any_order() {
    let say = |text: &str| json!([{ "type": "text", "text": text }]);
    let later = |mut line: Value| {
        line["timestamp"] = "2026-08-01T11:00:00.000Z".into();
        line
    };
    let desk = Desk::new();
    desk.write(
        "a.jsonl",
        lines(&[
            later(user("u2", Some("a1"), "second")),
            later(assistant("a2", "u2", say("two"))),
        ]),
    );
    desk.write(
        "b.jsonl",
        lines(&[user("u1", None, "first"), assistant("a1", "u1", say("one"))]),
    );
    let said = desk.import(&["a.jsonl", "b.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(turns(&desk.recording()), ["first", "one", "second", "two"]);
}

#[test]
fn a_session_that_is_the_beginning_of_another_is_left_out() {
    let say = |text: &str| json!([{ "type": "text", "text": text }]);
    let of_session = |session: &str, more: &[(&str, &str)]| {
        let mut all = vec![
            user("u1", None, "first"),
            assistant("a1", "u1", say("one")),
            user("u2", Some("a1"), "second"),
            assistant("a2", "u2", say("two")),
        ];
        let mut parent = "a2".to_owned();
        for (index, (asks, answers)) in more.iter().enumerate() {
            let ids = (format!("{session}u{index}"), format!("{session}a{index}"));
            all.push(user(&ids.0, Some(&parent), asks));
            all.push(assistant(&ids.1, &ids.0, say(answers)));
            parent = ids.1;
        }
        for line in &mut all {
            line["sessionId"] = session.into();
        }
        lines(&all)
    };
    let desk = Desk::new();
    desk.write("p/a.jsonl", of_session("old", &[]));
    desk.write("p/b.jsonl", of_session("new", &[("third", "three")]));
    desk.write("p/c.jsonl", of_session("other", &[("fourth", "four")]));
    let said = desk.import(&["p"]);
    assert_eq!(said.status, 0, "{said:?}");
    let runs = desk.recordings();
    let ids: Vec<&str> = runs
        .iter()
        .map(|(_, run)| run["imported"]["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["other", "new"]);
    assert!(
        said.out
            .contains("`old` is only the beginning of `new`, and is left out"),
        "{said:?}"
    );
    assert!(
        said.out.contains("`other` begins like another session"),
        "{said:?}"
    );
}

/// Runs of one task often say the same, and one of them may have failed.
#[test]
fn sessions_that_only_say_the_same_are_runs_of_their_own() {
    let call = |id: &str| json!([{ "type": "tool_use", "id": id, "name": "cancel", "input": {} }]);
    let say = json!([{ "type": "text", "text": "Order 7 is cancelled." }]);
    let of_session = |session: &str, prefix: &str, failed: bool| {
        let id = |name: &str| format!("{prefix}{name}");
        let result = json!([{ "type": "tool_result", "tool_use_id": id("t"), "is_error": failed, "content": "done" }]);
        let mut all = vec![
            user(&id("u1"), None, "Cancel order 7."),
            assistant(&id("a1"), &id("u1"), call(&id("t"))),
            line(
                "user",
                &id("r1"),
                Some(&id("a1")),
                json!({ "role": "user", "content": result }),
            ),
            assistant(&id("a2"), &id("r1"), say.clone()),
        ];
        for line in &mut all {
            line["sessionId"] = session.into();
        }
        lines(&all)
    };
    let desk = Desk::new();
    desk.write("p/a.jsonl", of_session("good", "x", false));
    desk.write("p/b.jsonl", of_session("bad", "y", true));
    // A copy keeps the identifiers.
    desk.write("p/c.jsonl", of_session("copy", "x", false));
    let said = desk.import(&["p"]);
    let runs = desk.recordings();
    let ids: Vec<&str> = runs
        .iter()
        .map(|(_, run)| run["imported"]["id"].as_str().unwrap())
        .collect();
    assert_eq!((said.status, ids.len()), (0, 2), "{said:?}");
    assert!(ids.contains(&"bad") && ids.contains(&"good"), "{said:?}");
    let told = "`copy` is only the beginning of `good`, and is left out";
    assert!(said.out.contains(told), "{said:?}");
}

#[test]
fn the_calls_of_subagents_stand_among_those_of_the_main_agent() {
    let call =
        |id: &str, name: &str| json!([{ "type": "tool_use", "id": id, "name": name, "input": {} }]);
    let result = |id: &str, text: &str| json!([{ "type": "tool_result", "tool_use_id": id, "content": text }]);
    let side = |mut line: Value| {
        line["isSidechain"] = true.into();
        line["agentId"] = "ag1".into();
        line
    };
    let desk = Desk::new();
    desk.write(
        "p/s.jsonl",
        lines(&[
            user("u1", None, "go"),
            assistant("a1", "u1", call("t1", "Task")),
            line(
                "user",
                "r1",
                Some("a1"),
                json!({ "role": "user", "content": result("t1", "done") }),
            ),
            assistant("a2", "r1", json!([{ "type": "text", "text": "all done" }])),
        ]),
    );
    desk.write(
        "p/s/subagents/agent-ag1.jsonl",
        lines(&[
            side(user("su", None, "dig")),
            side(assistant("sa", "su", call("t1", "Grep"))),
            side(line(
                "user",
                "sr",
                Some("sa"),
                json!({ "role": "user", "content": result("t1", "dug") }),
            )),
            side(assistant(
                "se",
                "sr",
                json!([{ "type": "text", "text": "secret words" }]),
            )),
        ]),
    );
    // What the program keeps of the sub-agent beside its lines is no session.
    let about = "p/s/subagents/agent-ag1.meta.json";
    desk.write(about, r#"{"agentType":"Explore"}"#);
    let apart = desk.import(&["p", "--check", "--subagents", "separate"]);
    assert_eq!(apart.status, 0, "{apart:?}");
    assert!(apart.out.contains("claude-code/Explore"), "{apart:?}");
    desk.write(about, r#"{"agentType":1}"#);
    let apart = desk.import(&["p", "--check", "--subagents", "separate"]);
    assert!(
        apart.out.contains("claude-code/subagent")
            && apart
                .out
                .contains("note: `agent-ag1.meta.json` does not say the kind of the sub-agent"),
        "{apart:?}"
    );
    desk.write(about, r#"{"agentType":"Explore"}"#);
    let said = desk.import(&["p"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    let calls = run["trace"]["tool_calls"].as_array().unwrap();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[1]["agent_id"], "ag1");
    assert_eq!(run["trace"]["tool_results"].as_array().unwrap().len(), 2);
    assert!(
        !run["trace"]["conversation"]["turns"]
            .to_string()
            .contains("secret words")
    );
}
