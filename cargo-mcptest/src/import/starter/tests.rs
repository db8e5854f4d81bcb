//! What is written of the runs of an agent.

mod arguments;
mod limits;

use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

fn run(prompt: &str, tools: &[&str]) -> Value {
    let calls: Vec<Value> = tools.iter().map(|name| json!({ "name": name })).collect();
    json!({ "user_prompt": prompt, "system_prompt": "s", "trace": { "tool_calls": calls } })
}

fn suite(runs: &[Value]) -> Result<String, StarterError> {
    let mut entry = AgentEntry::new("desk");
    entry.model("m");
    for run in runs {
        entry.add(run, None, false);
    }
    entry.beside("");
    let mut starter = Starter::default();
    starter.add(entry, EntryAction::Beside);
    starter.suite("x.yml".as_ref(), "x.yml")
}

#[test]
fn what_all_runs_call_is_demanded_in_their_order() {
    let text = suite(&[
        run("p", &["a", "b", "x", "c"]),
        run("p", &["a", "y", "b", "c"]),
    ]);
    let text = text.unwrap();
    assert!(
        text.contains("# run-1..run-2: all call a, b, c\n"),
        "{text}"
    );
    assert!(text.contains("mode: subsequence"), "{text}");
}

#[test]
fn runs_that_share_no_call_are_bounded_by_their_number() {
    let text = suite(&[run("p", &["a"]), run("p", &["b", "c"]), run("p", &[])]).unwrap();
    assert!(text.contains("from 0 (run-3) to 2 (run-2) calls"), "{text}");
    assert!(text.contains("between: [0, 2]"), "{text}");
    assert!(suite(&[run("p", &[])]).unwrap().contains("exact: 0"));
}

proptest! {
    #[test]
    fn every_prompt_reads_back(prompt in "\\PC{1,20}|[\\$\\{\\}a\\\\\"'#:\n\t ]{1,12}|.{1,20}") {
        prop_assume!(!prompt.trim().is_empty());
        let text = suite(&[run(&prompt, &["a"])]);
        prop_assert!(text.is_ok(), "{text:?}");
    }
}
