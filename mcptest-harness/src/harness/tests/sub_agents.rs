//! `agent: NAME` of a gate, and `agents` in targets.

use serde_json::{Value, json};

use super::super::agent_test::AgentTest;
use super::{calls, failure, holds, judge, judge_runs, loaded, shows};
use crate::result::RunVerdict;

/// A run whose calls are by these sub-agents; an empty name is the agent itself.
fn run(made: &[(&str, &str)]) -> Value {
    let names: Vec<&str> = made.iter().map(|(_, tool)| *tool).collect();
    let mut trace = calls(&names);
    for (place, (agent, _)) in made.iter().enumerate() {
        if !agent.is_empty() {
            trace["tool_calls"][place]["agent_id"] = json!(agent);
        }
    }
    trace["conversation"]["steps"] = json!([{ "prompt": 900, "completion": 10 }]);
    trace["conversation"]["duration_ms"] = json!(70);
    trace
}

fn team() -> Value {
    run(&[
        ("", "plan"),
        ("researcher", "search"),
        ("writer", "write"),
        ("researcher", "read"),
        ("", "send"),
    ])
}

#[test]
fn a_gate_judges_the_calls_of_one_sub_agent() {
    let both = [
        "calls: { agent: researcher, max: 2 }",
        "trajectory: { agent: researcher, mode: strict, calls: [{ name: search }, { name: read }] }",
        "trajectory_axes: { agent: researcher, order: [{ first: search, second: read }] }",
        "golden_path: { agent: writer, calls: [write] }",
        "flow: { agent: researcher, entries: [{ from: [search], to: [read] }] }",
    ];
    for gate in crate::gates() {
        let name = gate.kind.name();
        let is_here = both
            .iter()
            .any(|block| block.starts_with(&format!("{name}: {{ agent:")));
        assert_eq!(
            is_here,
            gate.schema["properties"]["agent"].is_object(),
            "a gate that says `JUDGES_CALLS` takes `agent: NAME`: it has a block here that holds for the sub-agent, and no \
             other gate has one. Look at the block of `{name}`"
        );
    }
    for block in both {
        holds(judge(&format!("  {block}\n"), &[team(), team()]));
        let whole = block
            .replacen("agent: researcher, ", "", 1)
            .replacen("agent: writer, ", "", 1);
        let is_broken = judge(&format!("  {whole}\n"), &[team()]);
        let is_broken = is_broken.iter().any(|(_, failure)| failure.is_some());
        let of_order = whole.starts_with("trajectory_axes") || whole.starts_with("flow");
        assert_eq!(is_broken, !of_order, "{whole}");
    }
    // What another did is no excuse.
    failure(judge("  calls: { agent: researcher, max: 1 }\n", &[team()]));
    let order =
        "  trajectory_axes: { agent: researcher, order: [{ first: plan, second: read }] }\n";
    failure(judge(order, &[team()]));
}

#[test]
fn what_is_known_of_the_whole_run_alone_is_within_no_limit_of_a_part() {
    for limit in [
        "max_steps: 100",
        "max_tokens: 1000000",
        "max_ms: 1000000",
        "max_usd: 100",
    ] {
        let mut made = team();
        // Some recorders say of each call which model call made it.
        for (step, call) in made["tool_calls"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .enumerate()
        {
            call["step"] = json!(step);
        }
        made["conversation"]["steps"] = vec![json!({ "prompt": 900, "completion": 10 }); 5].into();
        let top = "prices: { m: { prompt: 1, completion: 1 } }\n";
        let runs = [json!({ "trace": made })];
        holds(judge_runs(top, &format!("  calls: {{ {limit} }}\n"), &runs));
        let of_part = format!("  calls: {{ agent: researcher, {limit} }}\n");
        let text = failure(judge_runs(top, &of_part, &runs));
        assert!(text.contains("so nothing was judged"), "{text}");
    }
}

#[test]
fn a_sub_agent_that_no_run_has_fails() {
    let named = |name: &str| format!("  calls: {{ agent: {name}, max: 9 }}\n");
    shows!(
        "sub_agent_misspelt",
        judge(&named("reseacher"), &[team(), team()])
    );
    let other = failure(judge(&named("editor"), &[team()]));
    assert!(
        other.contains("name one of them: `researcher`, `writer`"),
        "{other}"
    );
    let none = failure(judge(&named("editor"), &[calls(&["find"])]));
    assert!(
        none.contains("no call names a sub-agent (`agent_id`)"),
        "{none}"
    );
    // Counted by `reliability`, no run of it passes.
    let counted = named("editor")
        + "  reliability: { outcome: calls, expect: [{ target: reliability.pass_rate, matcher: { min: 50 } }] }\n";
    let text = failure(judge(&counted, &[team(), team()]));
    assert!(
        text.contains("no run has a call of the sub-agent `editor`"),
        "{text}"
    );
}

#[test]
fn reliability_counts_what_a_gate_makes_of_a_sub_agent() {
    let busy = run(&[
        ("researcher", "search"),
        ("researcher", "search"),
        ("", "send"),
    ]);
    let counted = "  calls: { agent: researcher, max: 1 }\n  reliability: { outcome: calls, expect: [{ target: reliability.pass_rate, matcher: { exact: 50 } }] }\n";
    let calm = run(&[("researcher", "search"), ("", "send"), ("", "send")]);
    holds(judge(counted, &[calm, busy]));
}

#[test]
fn reliability_counts_no_run_without_the_sub_agent() {
    let counted = |rate: u32, rest: &str| {
        format!(
            "  calls: {{ agent: researcher, max: 1 }}\n{rest}  reliability: {{ outcome: calls, expect: [{{ target: reliability.pass_rate, matcher: {{ exact: {rate} }} }}] }}\n"
        )
    };
    let calm = || run(&[("researcher", "search")]);
    let busy = || run(&[("researcher", "search"), ("researcher", "read")]);
    let alone = || run(&[("", "plan")]);
    holds(judge(&counted(50, ""), &[calm(), busy(), alone(), alone()]));
    holds(judge(&counted(100, ""), &[calm(), alone()]));
    let runs = [calm(), alone()].map(|trace| json!({ "trace": trace }));
    let shown = format!("{:?}", super::verdicts("", &counted(100, ""), &runs, false));
    let note =
        "left out 1 of 2 runs, in which `calls` judged nothing, so nothing was judged: run 2";
    assert!(shown.contains(note), "{shown}");
    // What else is counted judges such a run.
    let both = "  expect: [{ target: tool_names, matcher: { contains: plan } }]\n";
    let both = counted(50, both).replace("outcome: calls", "outcome: [expect, calls]");
    holds(judge(&both, &[calm(), alone()]));
}

#[test]
fn what_a_sub_agent_must_not_call_is_seen_in_lists_of_lists() {
    let broken = |matcher: &str| {
        let agent =
            format!("  expect: [{{ target: 'agents[*].tool_names', matcher: {matcher} }}]\n");
        judge(&agent, &[team()]).remove(0).1
    };
    assert_eq!(broken("{ not: { contains: refund } }"), None);
    assert!(broken("{ not: { contains: search } }").is_some());
    for matcher in ["[search]", "[refund]"] {
        let text = broken(&format!("{{ not: {{ contains: {matcher} }} }}")).unwrap();
        assert!(
            text.contains("name a single value, or the place of one list"),
            "{text}"
        );
    }
    // A list of calls has no name in it either.
    let calls = "  expect: [{ target: tool_calls, matcher: { not: { contains: [search] } } }]\n";
    assert!(judge(calls, &[team()]).remove(0).1.is_some());
}

#[test]
fn a_run_without_the_sub_agent_is_told() {
    let alone = run(&[("", "plan")]);
    let verdicts = super::verdicts(
        "",
        "  calls: { agent: researcher, max: 2 }\n",
        &[json!({ "trace": team() }), json!({ "trace": alone })],
        false,
    );
    let shown = format!("{verdicts:?}");
    let note = "the sub-agent `researcher` made no call, so nothing was judged, in run 2";
    assert!(shown.contains(note), "{shown}");
}

#[test]
fn a_run_by_itself_is_judged_as_among_all() {
    let agent = "  calls: { agent: researcher, max: 2 }\n";
    let runs = [team(), run(&[("", "plan")])].map(|trace| json!({ "trace": trace }));
    let (_folder, suite) = loaded("", agent, &runs);
    let test = AgentTest::new("s", &suite, suite.subjects().next().unwrap());
    let ask = test.asks()[0];
    let verdicts = test.runs().unwrap().iter().map(|run| ask.judge_run(run));
    let wanted = [RunVerdict::Holds, RunVerdict::NothingJudged].map(Some);
    assert_eq!(verdicts.collect::<Vec<_>>(), wanted);
}

#[test]
fn targets_lead_to_one_sub_agent() {
    let expect = |target: &str, matcher: &str| {
        format!("  expect: [{{ target: '{target}', matcher: {matcher} }}]\n")
    };
    holds(judge(
        &expect("agents.researcher.tool_names", "{ exact: [search, read] }"),
        &[team()],
    ));
    holds(judge(
        &expect("agents[*].agent_id", "{ exact: [researcher, writer] }"),
        &[team()],
    ));
    holds(judge(
        &expect("agents[-1].tool_calls[0].name", "{ exact: write }"),
        &[team()],
    ));
    let misspelt = failure(judge(
        &expect("agents.reseacher.tool_names", "{ exact: [search] }"),
        &[team()],
    ));
    assert!(
        misspelt.contains("did you mean `agents.researcher.tool_names`?"),
        "{misspelt}"
    );
    // Without sub-agents there is nothing to hold, also under `not`.
    failure(judge(
        &expect("agents.a.tool_names", "{ not: { exact: [x] } }"),
        &[calls(&["x"])],
    ));
}
