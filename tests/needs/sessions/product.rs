//! An agent that is a product: the coding agent `opencode`, as the npm registry has it. It streams, and asks a smaller
//! model for a title on the side.

use scripted_provider::{Provider, Script};
use serde_json::{Value, json};

use super::desk::{self, KEY};
use super::packages;
use crate::support::folder::Folder;
use crate::support::process::{Finished, run};

const PACKAGE: &str = include_str!("../agents/product/package.json");

const MODEL: &str = "claude-sonnet-4-5";
const PROMPT: &str = "Copy note.txt to copy.txt.";
const LOOKS: &str = "I look at the note, and at what may be there already.";
const CLOSING: &str = "I wrote the line of note.txt into the new file copy.txt.";
const TITLE: &str = "Copy of a note";

/// It looks at two files, of which one is not there, writes one, and says so. The first request of the second run is
/// refused, and the last one of the third.
fn provider() -> Provider {
    let run = |number: usize| {
        let before = |refused: bool| {
            let refusals = refused.then(|| json!({ "status": 429 }));
            refusals.into_iter().collect::<Value>()
        };
        json!([
            { "text": LOOKS, "before": before(number == 2), "calls": [
                { "name": "read", "args": { "filePath": "note.txt" } },
                { "name": "read", "args": { "filePath": "copy.txt" } },
            ], "usage": { "prompt": 900, "completion": 40, "cached": 600, "reasoning": 9 } },
            { "calls": [{ "name": "write", "args": { "filePath": "copy.txt", "content": "pens: 3\n" } }],
              "usage": { "prompt": 1000, "completion": 30, "cached": 900, "reasoning": 8 } },
            { "text": CLOSING, "before": before(number == 3),
              "usage": { "prompt": 1100, "completion": 12, "cached": 1000, "reasoning": 7 } },
        ])
    };
    let title = json!([{ "text": TITLE, "usage": { "prompt": 50, "completion": 3 } }]);
    let script = json!({ "key": KEY, "conversations": [
        { "user": PROMPT, "model": MODEL, "runs": [run(1), run(2), run(3)] },
        { "user": format!("Generate a title for this conversation:\n{PROMPT}"), "runs": [title] },
    ] });
    Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap()
}

/// The product runs in the folder of the suite.
fn suite(most: usize) -> String {
    let program = packages::modules("opencode", PACKAGE).join("node_modules/.bin/opencode");
    let command = json!([program, "run", "-m", format!("anthropic/{MODEL}")]);
    format!(
        "agents:\n- name: Copying agent\n  model: {MODEL}\n  prompt: {PROMPT}\n  runs: 3\n  command: {command}\n  \
         before: [rm, -f, copy.txt]\n  trajectory:\n    mode: strict\n    calls:\n      \
         - {{ name: read, args: {{ exact: {{ filePath: note.txt }} }} }}\n      \
         - {{ name: read }}\n      - {{ name: write, args: {{ subset: {{ filePath: copy.txt }} }} }}\n  \
         calls: {{ max: {most} }}\n  stability: {{}}\n  narrative: {{}}\n"
    )
}

/// The command, where the product keeps what it keeps in the folder, and asks no other address.
fn mcptest(folder: &Folder, provider: Option<&Provider>, arguments: &[&str]) -> Finished {
    let mut command = desk::command(folder, provider, arguments);
    command
        .env("HOME", folder.at("home"))
        .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
        .env("OPENCODE_DISABLE_AUTOUPDATE", "1");
    run(&mut command)
}

pub(crate) fn a_coding_agent_from_the_registry() {
    let folder = Folder::new()
        .with_file("suites/note.txt", "pens: 3\n")
        .with_file("home/.keep", "")
        .with_file("suites/copy.yml", suite(3));
    let provider = provider();
    let said = mcptest(&folder, Some(&provider), &["record"]).exits(0);
    assert!(said.stdout.contains("5 passed; 0 failed"), "{said}");
    let written = std::fs::read_to_string(folder.at("suites/copy.txt")).unwrap();
    assert_eq!(written, "pens: 3\n");
    let asked = provider.requests();
    drop(provider);
    for number in 1..=3 {
        let place = format!("suites/cassettes/Copying_agent__{MODEL}/run-{number}.json");
        let text = std::fs::read_to_string(folder.at(&place)).unwrap();
        assert!(!text.contains(KEY), "{text}");
        let run: Value = serde_json::from_str(&text).unwrap();
        is_as_scripted(&run, number);
        has_the_tools(&run, &asked[0].json(), &asked[1].json());
    }
    mcptest(&folder, None, &["test"]).exits(0);
    folder.write("suites/copy.yml", suite(2));
    let (case, text) = mcptest(&folder, None, &["test"]).exits(101).only_failure();
    assert_eq!(case, "copy::copying_agent::calls");
    assert!(text.contains("does not hold in 3 of 3 runs"), "{text}");
}

#[track_caller]
fn is_as_scripted(run: &Value, number: usize) {
    let (trace, session) = (&run["trace"], &run["session"]);
    let system = run["system_prompt"].as_str().unwrap();
    assert!(system.starts_with("You are OpenCode"), "{system}");
    let calls = trace["tool_calls"].as_array().unwrap();
    let calls: Vec<_> = calls
        .iter()
        .map(|call| (&call["name"], &call["args"]))
        .collect();
    let (read, write) = (json!("read"), json!("write"));
    let [note, copy] = ["note.txt", "copy.txt"].map(|file| json!({ "filePath": file }));
    let content = json!({ "filePath": "copy.txt", "content": "pens: 3\n" });
    assert_eq!(calls, [(&read, &note), (&read, &copy), (&write, &content)]);
    let results = trace["tool_results"].as_array().unwrap();
    let expected = [(false, "pens: 3"), (true, "not found"), (false, "Wrote")];
    assert_eq!(results.len(), expected.len());
    for (place, (result, (is_error, words))) in results.iter().zip(expected).enumerate() {
        assert_eq!(result["call_index"], place);
        assert_eq!(result["is_error"], is_error, "{result}");
        let text = result["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(words), "{result}");
    }
    assert_eq!(trace["final_response"], CLOSING);
    let conversation = &trace["conversation"];
    assert_eq!(conversation["stop_reason"], "completed");
    let turns = conversation["turns"].as_array().unwrap();
    assert_eq!(turns[0], json!({ "role": "user", "content": PROMPT }));
    assert_eq!(turns[1]["content"], LOOKS);
    assert!(!conversation["turns"].to_string().contains(TITLE));
    let steps = conversation["steps"].as_array().unwrap();
    let keys = ["prompt", "cached", "completion", "reasoning"];
    let steps: Vec<_> = steps
        .iter()
        .map(|step| keys.map(|key| step[key].as_u64().unwrap()))
        .collect();
    assert_eq!(
        steps,
        [[900, 600, 40, 9], [1000, 900, 30, 8], [1100, 1000, 12, 7]]
    );
    // The title was paid for too.
    assert_eq!(conversation["tokens"], json!({ "total": 3082 + 53 }));
    let retries = (number > 1).then(|| json!(1));
    assert_eq!(session.get("retries"), retries.as_ref());
    assert_eq!(session.get("unknown"), None);
    has_a_title_beside(session);
}

/// The title is no part of the run, and kept.
#[track_caller]
fn has_a_title_beside(session: &Value) {
    let conversations = session["conversations"].as_array().unwrap();
    assert_eq!(conversations.len(), 2, "{session}");
    let of = |role: &str| conversations.iter().find(|it| it["role"] == role).unwrap();
    let (main, side) = (of("main"), of("side"));
    assert_eq!(side["answers"][0]["parts"], json!([{ "text": TITLE }]));
    assert_ne!(side["answers"][0]["asked"], MODEL);
    let answers = main["answers"].as_array().unwrap();
    assert_eq!(answers.len(), 3);
    assert!(answers.iter().all(|answer| answer["streamed"] == true));
}

/// The tools as one of the first two requests has them; the other one asks for the title.
#[track_caller]
fn has_the_tools(run: &Value, first: &Value, second: &Value) {
    let request = [first, second].into_iter().find(|it| it["model"] == MODEL);
    let keys =
        |tool: &Value, schema: &str| ["name", "description", schema].map(|it| tool[it].clone());
    let all = |tools: &Value, schema: &str| -> Vec<_> {
        let tools = tools.as_array().unwrap().iter();
        tools.map(|tool| keys(tool, schema)).collect()
    };
    let offered = all(&request.unwrap()["tools"], "input_schema");
    assert_eq!(all(&run["tools"], "input_schema"), offered);
    for name in ["read", "write"] {
        assert!(offered.iter().any(|tool| tool[0] == name), "{name}");
    }
}
