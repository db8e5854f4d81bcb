//! What the runs of an agent are made to demand.

use super::super::suspects;
use super::*;
use mcptest::trace::{OfferedTool, Origin, ReadOnlyTools, parse_run};
use serde_json::{Value, json};

mod evidence;

/// A run: whether it passed, its calls with their arguments, what it says.
fn run(passed: Option<bool>, calls: &[(&str, Value)], says: &str) -> Run {
    let results = (0..calls.len())
        .map(|call| json!({ "call_index": call, "is_error": false, "result": "it is RF77" }));
    let mut value = json!({
        "schema_version": "v1", "model": "m", "user_prompt": "p",
        "trace": {
            "tool_calls": calls.iter().map(|(name, args)| json!({ "name": name, "args": args })).collect::<Vec<_>>(),
            "tool_results": results.collect::<Vec<_>>(),
            "final_response": says,
            "conversation": { "stop_reason": "completed" },
        },
    });
    if let Some(passed) = passed {
        value["outcome"] = json!({ "passed": passed });
    }
    let origin = Origin::file("a");
    parse_run(value.to_string().as_bytes(), &origin).unwrap()
}

fn look() -> (&'static str, Value) {
    ("get_order", json!({ "order": 7 }))
}

fn refund(id: &str) -> (&'static str, Value) {
    ("refund", json!({ "receipt": id }))
}

fn suspects_of(runs: &[Run]) -> Vec<Suspect> {
    suspects::find(runs, &CalledTools::default())
}

fn suspect(number: usize, reasons: Vec<String>, aside: bool) -> Suspect {
    Suspect {
        model: "m".to_owned(),
        number,
        reasons,
        aside,
    }
}

fn proposed(runs: &[Run]) -> Option<String> {
    gates(runs, &[], &CalledTools::default(), &suspects_of(runs))
}

fn written_gates(runs: &[Run]) -> String {
    proposed(runs).unwrap()
}

#[test]
fn members_that_only_some_have_leave_the_others_pinned() {
    let book = |more: Value| {
        let mut flight = json!({ "number": "HAT271" });
        flight
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        run(None, &[("book", json!({ "flights": [flight] }))], "Done.")
    };
    let text = written_gates(&[book(json!({})), book(json!({ "price": 100 }))]);
    assert!(text.contains(r#""number": {"const": "HAT271"}"#), "{text}");
    assert!(text.contains(r#""price": {"type": "number"}"#), "{text}");
    assert!(!text.contains("# broken by"), "{text}");
    // Nothing in common, no shape.
    let apart = written_gates(&[
        run(None, &[("book", json!({ "of": { "a": 1 } }))], "Done."),
        run(None, &[("book", json!({ "of": { "b": 1 } }))], "Done."),
    ]);
    assert!(apart.contains(r#""of": {"type": "object"}"#), "{apart}");
}

#[test]
fn runs_that_change_the_same_are_held_to_it_and_free_in_what_they_read() {
    let runs = [
        run(None, &[look(), refund("RF77")], "Done."),
        run(None, &[look(), look(), refund("RF77")], "It is done."),
    ];
    assert_eq!(
        written_gates(&runs),
        "    # from run-1..run-2\n    expect:\n      - { target: final_response, matcher: { regex: \"\\\\S\" } }\n      \
         - { target: conversation.stop_reason, matcher: { exact: \"completed\" } }\n    \
         calls: { max_errors: 0 }\n    \
         trajectory:\n      over: writes\n      mode: strict\n      calls:\n        \
         - { name: \"refund\", args: { exact: {\"receipt\": \"RF77\"} }, is_error: false }\n    \
         trajectory_axes:\n      order:\n        - { first: \"get_order\", second: \"refund\" }\n      \
         dependencies:\n        - { producer: \"get_order\", consumer: \"refund\", arg: \"receipt\" }\n    narrative: {}\n"
    );
}

#[test]
fn a_lookup_is_demanded_where_a_change_follows_from_it_or_none_is_made() {
    let demanded = |calls: &[(&str, Value)]| {
        let tools = [vec![look()], calls.to_vec()].concat();
        written_gates(&[run(None, &tools, "Done.")]).contains("consumer: \"get_parcel\"")
    };
    let parcel = || ("get_parcel", json!({ "receipt": "RF77" }));
    let close = ("close_order", json!({ "order": "done" }));
    assert!(demanded(&[parcel()]));
    assert!(demanded(&[parcel(), refund("RF77")]));
    let depot = ("get_depot", json!({ "receipt": "RF77" }));
    assert!(demanded(&[parcel(), depot, refund("RF77")]));
    assert!(!demanded(&[parcel(), close]));
}

#[test]
fn what_a_hand_over_tells_of_is_looked_up_before() {
    let hand_over = |summary: &str| ("transfer_to_human", json!({ "summary": summary }));
    let asks = |summary: &str| {
        let text = written_gates(&[run(None, &[look(), hand_over(summary)], "Done.")]);
        text.contains("{ first: \"get_order\", second: \"transfer_to_human\" }")
    };
    assert!(asks("The receipt RF77 is wrong."));
    assert!(!asks("The customer is unhappy."));
}

#[test]
fn what_coding_agents_look_up_is_no_change() {
    let calls = [
        ("Grep", json!({ "pattern": "fn main" })),
        ("Edit", json!({ "file_path": "src/main.rs" })),
    ];
    let text = written_gates(&[run(None, &calls, "Done.")]);
    assert!(text.contains("readonly_tools: [\"Grep\"]"), "{text}");
    assert!(
        text.contains("name: \"Edit\"") && !text.contains("name: \"Grep\""),
        "{text}"
    );
}

#[test]
fn a_call_of_all_runs_stays_in_the_plan_though_an_argument_of_it_varies() {
    let calls = |reason: &str, more: &[(&'static str, Value)]| {
        let note = |kind: &str| ("add_note", json!({ "kind": kind }));
        let cancel = json!({ "order": "A-1001", "reason": reason });
        let mut calls = vec![note("begun"), ("cancel_order", cancel), note("done")];
        calls.extend(more.iter().cloned());
        run(None, &calls, "Done.")
    };
    let text = written_gates(&[
        calls("size", &[]),
        calls("late", &[("close_ticket", json!({ "ticket": "T-1" }))]),
        calls("size", &[]),
    ]);
    let plan = &text[text
        .find("mode: subsequence")
        .unwrap_or_else(|| panic!("{text}"))..];
    for pinned in ["cancel_order", "A-1001", "begun", "done"] {
        assert!(plan.contains(pinned), "{pinned} in\n{text}");
    }
    assert!(!text.contains("# broken by"), "{text}");
}

#[test]
fn what_only_some_runs_change_is_not_demanded() {
    let more = run(None, &[refund("R1"), ("close_order", json!({}))], "Done.");
    let text = written_gates(&[run(None, &[refund("R1")], "Done."), more]);
    assert!(text.contains("mode: subsequence\n      calls:\n        - { name: \"refund\", args: { exact: {\"receipt\": \"R1\"} }"), "{text}");
    assert!(!text.contains("name: \"close_order\""), "{text}");
    let nothing = run(None, &[look()], "Done.");
    let text = written_gates(&[run(None, &[refund("R1")], "Done."), nothing]);
    assert!(text.contains("mode: subset\n      calls:\n        - { name: \"refund\", args: { exact: {\"receipt\": \"R1\"} }"), "{text}");
}

#[test]
fn who_changes_nothing_may_call_nothing_that_does() {
    let failed = run(Some(false), &[look(), refund("R1")], "Done.");
    let text = written_gates(&[run(Some(true), &[look()], "Here it is."), failed]);
    assert!(
        text.contains("    trajectory: { over: writes, mode: strict, calls: [] }\n"),
        "{text}"
    );
}

#[test]
fn failed_runs_count_at_the_rate_that_was_observed() {
    let runs = [
        run(Some(true), &[refund("R1")], "Done."),
        run(Some(false), &[refund("R2")], "Done."),
        run(Some(false), &[], ""),
    ];
    let text = written_gates(&runs);
    assert!(text.starts_with("    # from run-1\n"), "{text}");
    assert!(
        text.ends_with("    # 1 of 3 runs hold all of these\n    reliability:\n      outcome: [expect, calls, trajectory, narrative]\n      \
                        expect: [{ target: reliability.pass_rate, matcher: { min: 33 } }]\n"),
        "{text}"
    );
    assert_eq!(proposed(&runs[1..]), None);
    assert!(
        !text.contains("failed runs that hold all of these too"),
        "{text}"
    );
}

/// What the gates cannot see is said.
#[test]
fn a_failed_run_that_holds_all_gates_is_named() {
    let runs = [Some(true), Some(false), Some(false)].map(|it| run(it, &[refund("R1")], "Done."));
    let text = written_gates(&runs);
    assert!(
        text.contains("    # 3 of 3 runs hold all of these\n    # failed runs that hold all of these too: run-2..run-3\n"),
        "{text}"
    );
}

#[test]
fn a_gate_that_a_good_run_breaks_is_a_comment() {
    let runs = [
        run(Some(true), &[look()], "I have refunded order 7."),
        run(Some(true), &[look()], "Here it is."),
    ];
    let text = written_gates(&runs);
    assert!(
        text.contains("    # broken by run-1:\n    # narrative: {}\n"),
        "{text}"
    );
}

#[test]
fn no_tool_that_no_good_run_needed_changes_anything_where_the_plan_is_open() {
    let close = ("close_order", json!({}));
    let drop = ("delete_account", json!({ "id": "ana" }));
    let runs = [
        run(Some(true), &[refund("R1")], "Done."),
        run(Some(true), &[refund("R1"), close], "Done."),
        run(Some(false), &[refund("R1"), drop], "Done."),
    ];
    let text = written_gates(&runs);
    assert!(text.contains("mode: subsequence\n"), "{text}");
    let allows = "      allow: [\"close_order\", \"refund\"]\n";
    assert!(text.contains(allows), "{text}");
}

/// One bad run in a log without outcomes says nothing of what the others must do.
#[test]
fn a_suspect_run_loosens_nothing() {
    let refunds = || run(None, &[look(), refund("R1")], "Refunded.");
    let good = written_gates(&[refunds(), refunds()]);
    let mut cut = run(None, &[look()], "");
    cut.trace.final_response = None;
    let claims = run(None, &[look()], "I have refunded order 7.");
    let broken = |run: Run, reason: &str| {
        let text = written_gates(&[refunds(), run, refunds()]);
        assert!(
            text.contains(&format!("    # without run-2: {reason}\n")),
            "{text}"
        );
        assert!(text.contains("mode: strict\n"), "{text}");
        assert!(text.contains("    narrative: {}\n"), "{text}");
        assert!(text.contains("max_errors: 0 }"), "{text}");
        assert!(
            text.contains("    # 2 of 3 runs hold all of these\n"),
            "{text}"
        );
        let plan = |text: &str| {
            text.split("    expect:")
                .nth(1)
                .unwrap()
                .split("    reliability:")
                .next()
                .unwrap()
                .replace("    # 2 of 3 runs hold all of these\n", "")
        };
        assert_eq!(plan(&text), plan(&good));
    };
    broken(
        claims,
        "its closing message claims something that no call did; it changes nothing, and most others do",
    );
    let mut failed = refunds();
    failed.trace.tool_results[1].is_error = true;
    broken(
        failed,
        "its last call, `refund`, failed; its closing message claims something that no call did",
    );
}

/// What half of the runs do is how the agent works.
#[test]
fn what_half_of_the_runs_share_sets_none_of_them_aside() {
    let odd = || {
        let mut run = run(None, &[look()], "No such order.");
        run.trace.tool_results[0].is_error = true;
        run
    };
    let runs = [odd(), odd(), run(None, &[look()], "Here it is.")];
    let found = suspects_of(&runs);
    let reasons = vec!["its last call, `get_order`, failed".to_owned()];
    let expected = [1, 2].map(|number| suspect(number, reasons.clone(), false));
    assert_eq!(found, expected);
    let alone = [odd()];
    let found = suspects_of(&alone);
    assert_eq!(found, [suspect(1, reasons, false)]);
    assert!(written_gates(&runs).contains("    calls: { max_errors: 1 }\n"));
}

#[test]
fn many_more_errors_and_repeats_than_the_others_have_are_seen() {
    let calm = || run(None, &[look(), refund("R1")], "Refunded.");
    let mut busy = run(
        None,
        &[look(), look(), look(), look(), refund("R1")],
        "Refunded.",
    );
    for result in &mut busy.trace.tool_results[..3] {
        result.is_error = true;
    }
    let runs = [calm(), busy, calm()];
    let found = suspects_of(&runs);
    let reasons = vec![
        "3 of its calls failed".to_owned(),
        "3 of its calls repeat another".to_owned(),
    ];
    assert_eq!(found, [suspect(2, reasons, true)]);
    let mut outcome = runs;
    outcome[0].outcome = calm_outcome();
    assert_eq!(suspects_of(&outcome), []);
}

fn calm_outcome() -> Option<mcptest::trace::Outcome> {
    run(Some(true), &[], "Done.").outcome
}

/// What stands between the calls of an open plan may be made, but not more often than any good run did.
#[test]
fn a_write_is_made_no_more_often_than_in_any_good_run() {
    let charge = || ("charge", json!({ "amount": 9 }));
    let note = || ("add_note", json!({}));
    let most = |tool: &str, most: usize| {
        format!(
            "{{ target: tool_names, matcher: {{ schema: {{ contains: {{ const: \"{tool}\" }}, minContains: 0, maxContains: {most} }} }} }}\n"
        )
    };
    let open = [
        run(None, &[charge(), note()], "Done."),
        run(None, &[charge(), note(), note()], "Done."),
    ];
    let text = written_gates(&open);
    assert!(text.contains("mode: subsequence\n"), "{text}");
    assert!(
        text.contains(&most("charge", 1)) && text.contains(&most("add_note", 2)),
        "{text}"
    );
    // Each pays another amount: the plan has both, a run has one.
    let other = ("charge", json!({ "amount": 8 }));
    let either = [
        run(None, &[charge()], "Done."),
        run(None, &[other, note()], "Done."),
    ];
    let text = written_gates(&either[..]);
    assert!(text.contains(&most("charge", 1)), "{text}");
    let agreed = written_gates(&[open[0].clone(), open[0].clone()]);
    assert!(!agreed.contains("tool_names"), "{agreed}");
}

/// Where the user ends the talk there is no final response, but the agent's last word.
#[test]
fn an_answer_before_the_users_last_word_is_asked_for() {
    let talk = |turns: &[(&str, &str)]| {
        let turns = turns
            .iter()
            .map(|(role, content)| json!({ "role": role, "content": content }));
        let run = json!({
            "schema_version": "v1", "model": "m", "user_prompt": "p",
            "trace": { "tool_calls": [], "conversation": { "turns": turns.collect::<Vec<_>>() } },
        });
        parse_run(run.to_string().as_bytes(), &Origin::file("a")).unwrap()
    };
    let (bye, says) = (("user", "Bye."), ("assistant", "Here it is."));
    let ended = talk(&[("user", "p"), says, bye]);
    let asks = "{ target: \"conversation.turns[-2]\", matcher: { schema: { required: [role, content], properties: { \
                role: { const: assistant }, content: { pattern: \"\\\\S\", not: { pattern: \"^tool_use \" } } } } } }\n";
    let alone = std::slice::from_ref(&ended);
    assert!(written_gates(alone).contains(asks));
    assert_eq!(suspects_of(alone), []);
    let calls = ("assistant", "tool_use get_order with {}");
    for other in [
        vec![("user", "p"), calls, bye],
        vec![("user", "p"), ("assistant", " \n"), bye],
        vec![("user", "p"), bye],
        vec![bye],
    ] {
        let other = talk(&other);
        let runs = [ended.clone(), other.clone(), ended.clone()];
        let found = suspects_of(&runs);
        let reasons = vec!["it says nothing at its end".to_owned()];
        assert_eq!(found, [suspect(2, reasons, true)]);
        let gate = propose_expect(&[&ended], Vec::new()).unwrap();
        assert!((gate.holds)(&ended) && !(gate.holds)(&other));
        assert!(!written_gates(&[other]).contains(asks));
    }
}

/// Servers know better than names do, and the suite says what they said.
#[test]
fn what_servers_say_of_their_tools_is_written_down() {
    let query = || ("query_database", json!({ "sql": "DROP" }));
    let mut runs = [
        run(
            None,
            &[query(), ("grep", json!({ "for": "x" }))],
            "Here it is.",
        ),
        run(
            None,
            &[query(), ("grep", json!({ "for": "y" }))],
            "Here it is.",
        ),
    ];
    let said = |name: &str, reads| OfferedTool::from_line(name).with_read_only(Some(reads));
    for run in &mut runs {
        run.tools = Some(vec![
            said("query_database", false),
            said("grep", true),
            said("get_order", true),
        ]);
    }
    let text = written_gates(&runs);
    assert!(
        text.contains(
            "    narrative: { readonly_tools: [\"grep\"], mutating_tools: [\"query_database\"] }\n"
        ),
        "{text}"
    );
    assert!(
        text.contains("- { name: \"query_database\", args: { exact: {\"sql\": \"DROP\"} }"),
        "{text}"
    );
    assert!(!text.contains("name: \"grep\""), "{text}");
}
