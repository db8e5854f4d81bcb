//! What a suite does where there is much.

use mcptest::trace::{Origin, Run, parse_run};
use serde_json::json;

use super::super::entry::{MOST_BYTES, MOST_RUNS, RetainedRuns};
use super::super::tools::{CalledTools, MOST_ALIASED, MOST_TOOLS};
use crate::import::plan::{Group, ImportPlan};
use mcptest_import::Digest;

fn run() -> Run {
    let run = json!({ "schema_version": "v1", "model": "m", "user_prompt": "p", "trace": { "tool_calls": [] } });
    parse_run(run.to_string().as_bytes(), &Origin::file("run.json")).unwrap()
}

/// Once there are too many, none is kept.
#[test]
fn runs_that_are_too_many_are_let_go() {
    let mut long = RetainedRuns::default();
    long.add(&json!({}), Some((run(), 1)));
    assert_eq!(long.runs.len(), 1);
    for _ in 0..=MOST_RUNS {
        long.add(&json!({}), Some((run(), 1)));
    }
    let mut large = RetainedRuns::default();
    large.add(&json!({}), Some((run(), MOST_BYTES + 1)));
    let mut unread = RetainedRuns::default();
    unread.add(&json!({}), None);
    for mut whole in [long, large, unread] {
        whole.add(&json!({}), Some((run(), 1)));
        assert!(whole.runs.is_empty() && whole.too_many);
    }
}

fn group() -> Group {
    let digest = Digest::from_parts(&["a"]);
    Group {
        agent: "a".into(),
        model: "m".into(),
        label: String::new(),
        subject: digest,
        asked: digest,
        by_task: false,
        of_file: false,
        any_failed: false,
        runs: Vec::new(),
    }
}

/// Loaders repeat only so much through aliases: a list that is needed more often is written out.
#[test]
fn a_list_of_tools_that_is_too_often_needed_is_written_out() {
    let tools = |agents: usize, suite: Option<&str>| {
        let plan = ImportPlan {
            groups: (0..agents).map(|_| group()).collect(),
            tools: (0..MOST_TOOLS)
                .map(|tool| format!("t{tool:03}").into())
                .collect(),
            ..ImportPlan::default()
        };
        CalledTools::new(&plan, suite).written
    };
    let most = MOST_ALIASED / MOST_TOOLS;
    assert_eq!(tools(most, None), "*tools");
    for written in [tools(most + 1, None), tools(1, Some(""))] {
        assert!(written.starts_with("[\"t000\", \"t001\", "), "{written}");
    }
}
