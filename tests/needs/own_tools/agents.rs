//! The frameworks: what each recording has of its tools, and what playing it does.

use serde_json::{Value, json};

use super::Desk;

/// An agent over a framework.
struct Agent {
    program: &'static str,
    /// Keys of the suite beside those of all.
    keys: &'static str,
    /// What the model says.
    script: Value,
    /// What the tools do.
    effects: &'static [&'static str],
    /// The calls that the recording has: the tool, its arguments, and whether it failed.
    calls: Value,
    /// What is told of a changed argument, and of a call that is not made any more.
    red: [&'static str; 2],
}

impl Agent {
    /// Records it, plays it here and in another folder, and plays it to code that was changed.
    #[track_caller]
    fn is_proved(&self) -> Desk {
        let desk = Desk::new(self.program, &format!("    playback: {{}}\n{}", self.keys));
        let said = desk.record(&self.script).exits(0);
        assert!(said.stdout.contains(" passed; 0 failed"), "{said}");
        // It is recorded, and played once by the gate: each tool has run once.
        let effects = desk.effects();
        assert_eq!(effects, self.effects, "{said}");
        let run = desk.run();
        assert_eq!(calls(&run), self.calls, "{run:#}");
        desk.play("").exits(0);
        let elsewhere = desk.elsewhere();
        elsewhere.play("").exits(0);
        for (change, red) in ["an argument changed", "no call"].into_iter().zip(self.red) {
            let said = desk.play(change).exits(101);
            let (_, text) = said.only_failure();
            assert!(text.contains(red), "{change}: {text}");
        }
        assert_eq!((desk.effects(), elsewhere.effects()), (effects, Vec::new()));
        desk
    }
}

/// The calls of a recording, each with whether it failed; null where that is not known.
fn calls(run: &Value) -> Value {
    let results = run["trace"]["tool_results"].as_array().unwrap();
    let is_error = |place: usize| {
        let result = results.iter().find(|result| result["call_index"] == place);
        result.map(|result| result["is_error"].clone())
    };
    let made = run["trace"]["tool_calls"].as_array().unwrap().iter();
    let told = made
        .enumerate()
        .map(|(place, call)| json!([call["name"], call["args"], is_error(place)]));
    told.collect()
}

/// A turn in which the model calls tools.
fn turn(calls: &Value) -> Value {
    json!({ "calls": calls })
}

fn says(text: &str) -> Value {
    json!({ "text": text })
}

pub(crate) fn smolagents_with_calls() {
    Agent {
        program: "smolagents_calls.py",
        keys: "",
        script: json!([turn(&json!([["refund", { "order": 7 }]])), turn(&json!([["final_answer", { "answer": "Done." }]]))]),
        effects: &["refund 7"],
        calls: json!([["refund", { "order": 7 }, false], ["final_answer", { "answer": "Done." }, null]]),
        red: ["refund", "refund"],
    }
    .is_proved();
}

pub(crate) fn smolagents_with_code() {
    let code = |text: &str| says(&format!("Thought: next.\n<code>\n{text}\n</code>"));
    Agent {
        program: "smolagents_code.py",
        keys: "    closing: stdout\n",
        script: json!([
            code("print(refund(order=7))"),
            code("final_answer('Done.')")
        ]),
        effects: &["refund 7"],
        calls: json!([["refund", { "order": 7 }, false]]),
        red: ["refund", "refund"],
    }
    .is_proved();
}

pub(crate) fn langgraph() {
    Agent {
        program: "langgraph_desk.py",
        keys: "",
        script: json!([
            turn(&json!([["refund", { "order": "7" }], ["ship", { "order": 8 }]])),
            turn(&json!([["check", { "order": 7 }]])),
            says("Done."),
        ]),
        // The node is tried again.
        effects: &["check 7", "check 7", "refund 7 none 2", "ship 8 2"],
        calls: json!([
            ["refund", { "order": "7" }, false],
            ["ship", { "order": 8 }, false],
            ["check", { "order": 7 }, false],
        ]),
        red: ["refund", "refund"],
    }
    .is_proved();
}

pub(crate) fn pydantic_ai() {
    let item = json!({ "name": "pen" });
    Agent {
        program: "pydantic_ai_desk.py",
        keys: "",
        script: json!([
            turn(&json!([["refund", { "order": 6, "item": item }]])),
            turn(&json!([["refund", { "order": "7", "item": item }]])),
            turn(&json!([["ask", { "question": "How many?" }]])),
            turn(&json!([["stock", { "name": "pen" }]])),
            says("There are 3."),
            says("Done."),
        ]),
        effects: &["ask How many?", "refund 6", "refund 7", "stock pen"],
        calls: json!([
            ["refund", { "order": 6, "item": item }, true],
            ["refund", { "order": "7", "item": item }, false],
            ["ask", { "question": "How many?" }, false],
            ["stock", { "name": "pen" }, false],
        ]),
        red: ["refund", "refund"],
    }
    .is_proved();
}

pub(crate) fn openai_agents() {
    Agent {
        program: "openai_agents_desk.py",
        keys: "",
        script: json!([
            turn(&json!([["refund", { "order": 7 }], ["ship", { "order": 8 }]])),
            turn(&json!([["check", { "order": 7 }]])),
            says("Done."),
        ]),
        effects: &["check 7", "refund 7", "ship 8"],
        calls: json!([
            ["refund", { "order": 7 }, false],
            ["ship", { "order": 8 }, true],
            ["check", { "order": 7 }, false],
        ]),
        red: ["refund", "refund"],
    }
    .is_proved();
}

pub(crate) fn agno() {
    Agent {
        program: "agno_desk.py",
        keys: "",
        script: json!([
            turn(&json!([["refund", { "order": "7" }], ["ship", { "order": 8 }], ["track", { "order": 7 }]])),
            turn(&json!([["check", { "order": 7 }]])),
            says("Done."),
        ]),
        effects: &["check 7", "refund 7", "ship 8", "track 7"],
        calls: json!([
            ["refund", { "order": "7" }, false],
            ["ship", { "order": 8 }, true],
            ["track", { "order": 7 }, false],
            ["check", { "order": 7 }, false],
        ]),
        red: ["refund", "refund"],
    }
    .is_proved();
}

pub(crate) fn dspy() {
    let next = |tool: &str, args: &Value| {
        says(&format!(
            "[[ ## next_thought ## ]]\nNext.\n\n[[ ## next_tool_name ## ]]\n{tool}\n\n[[ ## next_tool_args ## ]]\n{args}\n\n\
             [[ ## completed ## ]]"
        ))
    };
    Agent {
        program: "dspy_react.py",
        keys: "    closing: stdout\n",
        script: json!([
            next("refund", &json!({ "order": 6 })),
            next("refund", &json!({ "order": 7 })),
            next("finish", &json!({})),
            says(
                "[[ ## reasoning ## ]]\nPaid.\n\n[[ ## answer ## ]]\nDone.\n\n[[ ## completed ## ]]"
            ),
        ]),
        effects: &["refund 6", "refund 7"],
        calls: json!([["refund", { "order": 6 }, true], ["refund", { "order": 7 }, false]]),
        red: ["refund", "refund"],
    }
    .is_proved();
}

pub(crate) fn mini_swe_agent() {
    let bash = |command: &str| says(&format!("Next.\n\n```mswea_bash_command\n{command}\n```"));
    let pays = "echo paid >> effects.txt; echo paid";
    let ends = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT";
    Agent {
        program: "mini_swe.py",
        keys: "    closing: stdout\n",
        script: json!([bash(pays), bash(ends)]),
        effects: &["paid"],
        calls: json!([
            ["bash", { "action": { "command": pays } }, false],
            // That the agent is done is an exception there.
            ["bash", { "action": { "command": ends } }, true],
        ]),
        red: ["bash", "bash"],
    }
    .is_proved();
}

/// A tool that is left by control flow has not failed, and is not played: nothing runs, and the case is red.
pub(crate) fn langgraph_with_an_interrupt() {
    let desk = Desk::new("langgraph_interrupt.py", "");
    let script = json!([turn(&json!([["refund", { "order": 7 }]])), says("Done.")]);
    let said = desk.record(&script).exits(0);
    assert!(said.stdout.contains(" passed; 0 failed"), "{said}");
    let run = desk.run();
    assert_eq!(
        calls(&run),
        json!([["refund", { "order": 7 }, false]]),
        "{run:#}"
    );
    let ends = run["session"]["tools"].as_array().unwrap().iter();
    let ends: Vec<Value> = ends
        .map(|note| json!([note["left"], note["result"]]))
        .collect();
    let expected = [json!([true, null]), json!([null, "Order 7 is paid back."])];
    assert_eq!(ends, expected, "{run:#}");
    let suite = std::fs::read_to_string(desk.folder.at("suites/desk.yml")).unwrap();
    desk.folder
        .write("suites/desk.yml", format!("{suite}    playback: {{}}\n"));
    let said = desk.play("").exits(101);
    assert!(said.stdout.contains("control flow"), "{said}");
    assert_eq!(desk.effects(), ["refund 7 yes"]);
}
