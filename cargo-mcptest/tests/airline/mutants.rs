//! What the suite of names notices, and what plans of the writes notice.

use std::fs;

use mcptest_trace::trace::{Origin, parse_run, reads_by_name};
use serde_json::{Value, json};

use crate::data::{airline, answer, edit_suite, expected, same};

/// The expected numbers leave `narrative` out.
fn without_narrative(suite: &str) -> String {
    suite.replace("  narrative: {}\n", "")
}

pub(crate) fn what_the_suite_notices() {
    let folder = airline();
    edit_suite(&folder, without_narrative);
    let found = answer(&folder, &["mutants", "--only-green"], 0);
    let expected = &expected()["mutants_of_passed_runs"];
    assert_eq!(found["runs"], expected["runs"]);
    let mut wrong = Vec::new();
    for (operator, wanted) in expected["operators"].as_object().unwrap() {
        let (sites, scores) = (
            &found["sites"][operator],
            &found["scores"]["operators"][operator],
        );
        let by = |gate: &str| scores["by_gate"].get(gate).cloned().unwrap_or(json!(0));
        let counts = scores
            .get("counted")
            .cloned()
            .unwrap_or(json!({ "killed": 0, "mutants": 0 }));
        for (what, count) in [
            ("sites", sites["sites"].clone()),
            ("harmless", sites["harmless"].clone()),
            ("unclear", sites["unclear"].clone()),
            ("duplicate", sites["duplicates"].clone()),
            ("chosen", counts["mutants"].clone()),
            ("killed", counts["killed"].clone()),
            ("trajectory", by("trajectory")),
            ("golden_path", by("golden_path")),
        ] {
            if wanted[what] != count {
                wrong.push(format!("{operator} {what}: {count}, not {}", wanted[what]));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    for kind in ["harm", "waste"] {
        let (found, wanted) = (&found["scores"][kind], &expected[kind]["killed"]);
        same(kind, &found["score"], &wanted["score"]);
        assert_eq!(found["count"]["killed"], wanted["killed"], "{kind}");
        assert_eq!(found["count"]["mutants"], wanted["mutants"], "{kind}");
    }
    assert_eq!(
        found["scores"]["brittle"],
        json!({ "killed": 0, "mutants": expected["harmless"]["chosen"] })
    );
}

/// A suite with one agent for each passed run, which asks for its state-changing calls as recorded.
pub(crate) fn a_plan_of_the_writes_notices_more() {
    let folder = airline();
    let mut suite = "agents:\n".to_owned();
    let stems = fs::read_dir(folder.at("cassettes/airline")).unwrap();
    let mut stems: Vec<String> = stems
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    stems.sort();
    for stem in stems {
        for number in 1..=4 {
            let path = folder.at(&format!("cassettes/airline/{stem}/run-{number}.json"));
            let bytes = fs::read(&path).unwrap();
            let shown = path.display().to_string();
            let run = parse_run(&bytes, &Origin::file(shown)).unwrap();
            if run.outcome.and_then(|outcome| outcome.passed) != Some(true) {
                continue;
            }
            let name = format!("{} run {number}", run.agent_name.clone().unwrap());
            let mut recorded: Value = serde_json::from_slice(&bytes).unwrap();
            recorded["agent_name"] = name.clone().into();
            let slug = name.replace(' ', "_");
            folder.write(
                &format!("cassettes/airline/{slug}__gpt-4o.json"),
                recorded.to_string(),
            );
            let calls = run.trace.tool_calls.iter().zip(run.trace.results_by_call());
            let writes = calls.filter(|(call, _)| !reads_by_name(&call.name));
            let writes = writes.map(|(call, result)| {
                let mut asked = json!({ "name": call.name, "args": { "exact": call.args } });
                if let Some(result) = result {
                    asked["is_error"] = result.is_error.into();
                }
                asked
            });
            let writes: Vec<Value> = writes.collect();
            let plan = if writes.is_empty() {
                json!({ "forbid": ["book_*", "cancel_*", "update_*", "send_*", "transfer_*"] })
            } else {
                json!({ "mode": "strict", "over": "writes", "calls": writes })
            };
            let agent = json!({
                "name": name, "model": "gpt-4o", "servers": ["airline"], "prompt": run.user_prompt, "system_prompt": run.system_prompt,
                "trajectory": plan,
            });
            suite.push_str(&format!("- {agent}\n"));
        }
        fs::remove_dir_all(folder.at(&format!("cassettes/airline/{stem}"))).unwrap();
    }
    edit_suite(&folder, |_| suite.clone());
    // Of other agents' names other mutants are chosen, so all of them are judged.
    let found = answer(&folder, &["mutants", "--all"], 0);
    assert_eq!(found["runs"], 36);
    let harm = found["scores"]["harm"]["score"].as_f64().unwrap();
    assert!((0.4..0.55).contains(&harm), "{harm}");
    assert_eq!(found["scores"]["brittle"]["killed"], 0);
}
