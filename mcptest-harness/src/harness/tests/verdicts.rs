//! Cases that neither hold nor fail, and demands that nothing recorded can be held against.

use serde_json::json;

use super::super::case_verdict::CaseOutcome;
use super::{LoadedSuite, calls, holds, judge, judge_runs, loaded, shows, trace, verdicts};

/// What became of the agent's own case.
fn own_case(agent: &str, checked: bool) -> Result<CaseOutcome, String> {
    let runs = [json!({ "trace": calls(&["a"]) })];
    let mut verdicts = verdicts("", agent, &runs, checked);
    let place = verdicts.iter().position(|(name, _)| name == "agent");
    verdicts.swap_remove(place.unwrap()).1
}

#[test]
fn what_reliability_judges_is_not_held_by_the_agents_own_case() {
    let agent = "  expect: [{ target: 'tool_calls[0].name', matcher: { exact: b } }]\n  reliability: { outcome: [expect], expect: [{ target: reliability.pass_rate, matcher: { exact: 0 } }] }\n";
    let judged = own_case(agent, false);
    assert_eq!(
        judged,
        Ok(CaseOutcome::Elsewhere(
            "`expect` judged by `reliability`".to_owned()
        ))
    );
    // Its recordings must be sound all the same.
    let capped = format!("  token_budget: 5\n{agent}");
    assert!(own_case(&capped, false).is_err());
}

#[test]
fn a_model_with_the_last_word_leaves_the_case_undecided() {
    let agent = |first: &str| {
        format!(
            "  expect:\n  - {{ target: final_response, matcher: {{ anyOf: [{{ contains: refunded }}, {{ llm-judge: was it polite? }}] }} }}\n  - {{ target: 'tool_calls[0].name', matcher: {{ exact: {first} }} }}\n"
        )
    };
    assert_eq!(
        own_case(&agent("a"), false),
        Ok(CaseOutcome::Undecided(
            "`final_response`: `llm-judge` needs a model, and judging has none".to_owned()
        ))
    );
    // What can be judged still fails.
    assert!(own_case(&agent("b"), false).is_err());
    // It is no pass for reliability either.
    let counted = format!("{}  reliability: {{ outcome: [expect] }}\n", agent("a"));
    shows!("reliability-undecided", judge(&counted, &[calls(&["a"])]));
}

#[test]
fn an_agent_of_which_nothing_is_judged_is_no_pass() {
    let model = "  expect: [{ target: final_response, matcher: { llm-judge: polite? } }]\n";
    let reason = "this harness runs nothing that the agent asks for: `llm-judge`";
    assert_eq!(
        own_case(model, false),
        Ok(CaseOutcome::Undecided(reason.to_owned()))
    );
    assert_eq!(own_case(model, true), Ok(CaseOutcome::Holds(None)));
    let gate = "  tool_selection: {}\n";
    assert!(matches!(
        own_case(gate, false),
        Ok(CaseOutcome::Undecided(_))
    ));
    let check = "  checks: { polite: {} }\n";
    assert_eq!(
        own_case(check, false),
        Ok(CaseOutcome::Undecided(
            "this agent asks only for the check `polite`, and no check of this name is registered here".to_owned()
        ))
    );
    assert_eq!(own_case(check, true), Ok(CaseOutcome::Holds(None)));
    // One demand beside them is enough.
    assert_eq!(
        own_case(&format!("{model}  max_tool_calls: 3\n"), false),
        Ok(CaseOutcome::Holds(None))
    );
}

#[test]
fn what_compares_all_agents_holds_no_runs() {
    let runs = [json!({ "trace": calls(&["a"]) })];
    let (_folder, suite) = loaded("", "  trajectory: { forbid: [x] }\n", &runs);
    let subject = suite.subjects().next().unwrap();
    let of = |suite: &LoadedSuite| suite.runs(subject).as_ref().unwrap().runs().as_ptr();
    assert_eq!(of(&suite.for_agent(subject)), of(&suite));
    assert_ne!(of(&suite.for_all_agents().for_agent(subject)), of(&suite));
}

#[test]
fn a_run_that_is_recorded_as_failed_is_told_of() {
    let run = |passed: bool| json!({ "trace": calls(&["a"]), "outcome": { "passed": passed } });
    let mut other = run(true);
    other["trace"]["final_response"] = json!("Done otherwise.");
    let own = |asked: &str, runs: &[_]| verdicts("", asked, runs, false).swap_remove(0).1;
    let expect = |tool: &str| {
        format!("  expect: [{{ target: tool_names, matcher: {{ exact: [{tool}] }} }}]\n")
    };
    let note = "1 of 2 runs recorded as failed (`outcome.passed: false`): 2; no case fails for this; to make a case fail, write e.g. `reliability: { outcome: recorded }`";
    assert_eq!(
        own(&expect("a"), &[run(true), run(false)]),
        Ok(CaseOutcome::Holds(Some(note.to_owned())))
    );
    assert_eq!(
        own(&expect("a"), &[run(true), other]),
        Ok(CaseOutcome::Holds(None))
    );
    let red = own(&expect("b"), &[run(true), run(false)]).unwrap_err();
    assert!(red.contains(note), "{red}");
}

#[test]
fn a_cap_with_nothing_to_judge_it_by_is_not_kept() {
    let caps = "  max_turns: 3\n  token_budget: 100\n  max_tool_calls: 3\n  golden_path: { calls: [a, b] }\n";
    shows!("caps-unknown", judge(caps, &[calls(&["a"]), calls(&["b"])]));
    let mut stepped = calls(&["a", "b"]);
    stepped["tool_calls"][1]["step"] = json!(2);
    let turns = |most: u32| format!("  max_turns: {most}\n  golden_path: {{ calls: [a, b] }}\n");
    assert!(judge(&turns(3), &[stepped.clone()])[0].1.is_some());
    holds(judge(&turns(4), &[stepped]));
}

#[test]
fn runs_in_which_nothing_happened_are_not_stable() {
    let nothing = trace(&[], "All done.");
    shows!(
        "stability-vacuous",
        judge("  stability: {}\n", &[nothing.clone(), nothing.clone()])
    );
    let target =
        "  stability: { expect: [{ target: stability.redundancy.min, matcher: { exact: 1 } }] }\n";
    assert!(judge(target, &[nothing.clone(), nothing])[1].1.is_some());
}

#[test]
fn a_gate_says_why_the_recordings_cannot_be_used() {
    let stale = json!({ "trace": calls(&["a"]), "model": "another" });
    let failed = judge_runs("", "  golden_path: { calls: [a] }\n", &[stale]);
    assert_eq!(
        failed[1].1.as_deref(),
        Some(
            "not judged: the recordings of this agent cannot be used; see `s::agent` (stale: recorded with another model in the one run)"
        )
    );
}

#[test]
fn runs_that_behave_alike_are_named_when_the_case_fails() {
    let agent = "  expect: [{ target: 'tool_calls[0].name', matcher: { exact: a } }]\n";
    let runs = [
        calls(&["b"]),
        calls(&["a"]),
        calls(&["a", "b"]),
        calls(&["a"]),
    ];
    shows!("expect-alike", judge(agent, &runs));
}

#[test]
fn a_recording_of_another_agent_is_no_evidence() {
    let agent = "  golden_path: { calls: [a] }\n";
    let of = |name: &str| json!({ "agent_name": name, "trace": calls(&["a"]) });
    // Names are compared as the files spell them.
    holds(judge_runs("", agent, &[of("Agent"), of("agent")]));
    let failed = judge_runs("", agent, &[of("agent"), of("clerk")]);
    let text = failed[0].1.as_deref().unwrap();
    assert!(
        text.starts_with("error: recorded for another agent, `clerk` in 1 of 2 runs"),
        "{text}"
    );
}

#[test]
fn a_tool_that_the_recordings_do_not_list_is_named() {
    let offered = |tools: serde_json::Value| json!({ "tools": tools, "trace": trace(&[("refund", json!({}), json!("ok"))], "I have refunded it.") });
    let agent = "  narrative: { evidence: { refund: [refund, refnd] } }\n";
    let lines = json!(["desk::refund(id: string) #0a", { "name": "find", "read_only": true }]);
    shows!(
        "unknown-tool",
        judge_runs("", agent, &[offered(lines.clone())])
    );
    let known = "  narrative: { evidence: { refund: [refund], look: [find] } }\n";
    holds(judge_runs("", known, &[offered(lines)]));
    // Where the tools are not listed nothing is known of them.
    holds(judge_runs("", agent, &[offered(json!(null))]));
}

#[test]
fn a_verdict_that_rests_on_errors_says_where_they_are_unknown() {
    let mut run = trace(
        &[("refund", json!({}), json!("done"))],
        "I have refunded it.",
    );
    run["tool_results"][0]
        .as_object_mut()
        .unwrap()
        .remove("is_error");
    let agent = "  trajectory: { mode: strict, calls: [{ name: refund, is_error: true }] }\n";
    shows!("errors-unknown", judge(agent, &[run]));
}
