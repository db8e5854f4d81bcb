//! What counts as evidence of what runs must do, and what does not.

use super::*;
use crate::import::starter::tools::MOST_BESIDE;

/// Whether the plan that good runs lead to holds of a run, with how often each tool is called.
fn holds(good: &[&Run], run: &Run) -> bool {
    let reads = ReadOnlyTools::default();
    let evidence: Vec<_> = good.iter().map(|run| (*run, None)).collect();
    let changes = Changes::from_runs(&evidence, &reads);
    let times = plan::propose_call_counts(good, &changes, &reads);
    let plan = plan::propose_trajectory(good, &changes, &reads).unwrap();
    (plan.holds)(run) && times.iter().all(|times| times.holds(run))
}

/// A call that failed changed nothing: it may be made again, and need not be.
#[test]
fn a_failed_write_is_neither_demanded_nor_counted() {
    let charge = |amount: u64| ("charge", json!({ "amount": amount }));
    let failing = |calls: &[(&str, Value)], failed: &[usize]| {
        let mut run = run(None, calls, "Done.");
        for call in failed {
            run.trace.tool_results[*call].is_error = true;
        }
        run
    };
    let at_once = || failing(&[charge(9)], &[]);
    let again = || failing(&[charge(9), charge(9)], &[0]);
    let twice = failing(&[charge(9), charge(9)], &[]);
    let text = written_gates(&[at_once(), again(), at_once()]);
    let asked = "{ target: successful_tool_names, matcher: { schema: { contains: { const: \"charge\" }, minContains: 1 } } }";
    let plan = "      mode: subset\n      # Calls that fail need not be made; `expect` asks for the calls that succeed.\n      calls:\n        \
                - { name: \"charge\", args: { exact: {\"amount\": 9} }, is_error: false }\n        \
                - { name: \"charge\", args: { exact: {\"amount\": 9} }, is_error: true }\n";
    assert!(text.contains(asked) && text.contains(plan), "{text}");
    // Where runs go on differently, only what succeeds is bounded.
    let note = || ("add_note", json!({}));
    let more = failing(&[charge(9), charge(9), note()], &[0]);
    let text = written_gates(&[at_once(), more.clone()]);
    let bound = |tool: &str, target: &str| {
        format!(
            "{{ target: {target}, matcher: {{ schema: {{ contains: {{ const: \"{tool}\" }}, minContains: 0, maxContains: 1 }} }} }}"
        )
    };
    assert!(
        text.contains(&bound("charge", "successful_tool_names")),
        "{text}"
    );
    assert!(text.contains(&bound("add_note", "tool_names")), "{text}");
    assert!(!text.contains("is_error: true"), "{text}");
    // The gates judge so, too.
    let (one, other) = (at_once(), again());
    let other_amount = failing(&[charge(8)], &[]);
    let never = failing(&[charge(9)], &[0]);
    for good in [[&one, &other], [&one, &more]] {
        assert!(good.iter().all(|run| holds(&good, run)));
        for bad in [&twice, &other_amount, &never] {
            assert!(!holds(&good, bad), "{:?}", bad.trace);
        }
    }
    // Nothing succeeded in any run: what was tried may be tried.
    let refused = written_gates(&[never.clone(), never.clone()]);
    assert!(
        refused.contains("is_error: true") && !refused.contains("is_error: false"),
        "{refused}"
    );
    assert!(!holds(&[&never], &one) && holds(&[&never], &failing(&[], &[])));
}

/// What those that succeed have another of in every run, one that fails may have another of too.
#[test]
fn a_failed_write_is_as_free_as_one_that_succeeds() {
    let charge = |key: &str| ("charge", json!({ "amount": 9, "key": key }));
    let mut again = run(None, &[charge("k-81"), charge("k-82")], "Done.");
    again.trace.tool_results[0].is_error = true;
    let other = run(None, &[("note", json!({ "text": 1 }))], "Done.");
    let text = written_gates(&[run(None, &[charge("k-17")], "Done."), again, other]);
    assert!(
        text.contains("\"key\": {\"type\": \"string\"}") && text.contains("is_error: true"),
        "{text}"
    );
}

/// One failed attempt does not take the order from what is done.
#[test]
fn a_failed_write_leaves_the_others_in_their_order() {
    let (drain, reboot) = (
        ("act", json!({ "do": "drain" })),
        ("act", json!({ "do": "reboot" })),
    );
    let good = run(None, &[drain.clone(), reboot.clone()], "Done.");
    let mut again = run(
        None,
        &[drain.clone(), drain.clone(), reboot.clone()],
        "Done.",
    );
    again.trace.tool_results[0].is_error = true;
    let swapped = run(None, &[reboot, drain], "Done.");
    assert!(holds(&[&good, &again], &again) && !holds(&[&good, &again], &swapped));
}

/// What runs do in different orders has none, but is done all the same.
#[test]
fn the_same_writes_in_another_order_are_each_made() {
    let cancel = |order: u64| ("cancel", json!({ "order": order }));
    let one = run(None, &[cancel(7), cancel(8)], "Done.");
    let other = run(None, &[cancel(8), cancel(7)], "Done.");
    let twice = run(None, &[cancel(7), cancel(7)], "Done.");
    let good = [&one, &other];
    assert!(holds(&good, &one) && holds(&good, &other) && !holds(&good, &twice));
    let text = written_gates(&[one.clone(), other.clone()]);
    assert!(text.contains("mode: exact_unordered\n"), "{text}");
}

/// A key of an argument is what it is: variables are for values.
#[test]
fn a_key_that_looks_like_a_variable_is_written_as_it_is() {
    let odd = || run(None, &[("set", json!({ "${x}": "${y}" }))], "Done.");
    let text = written_gates(&[odd(), odd()]);
    assert!(text.contains("{\"${x}\": \"$${y}\"}"), "{text}");
}

/// Copies of one run agree with each other, whatever they hold.
#[test]
fn copies_of_a_run_are_evidence_once() {
    let note = ("add_note", json!({ "text": "Please leave it at the door" }));
    let runs = [0; 3].map(|_| run(None, std::slice::from_ref(&note), "Done."));
    let sources: Vec<RunSource> = [false, true, true]
        .map(|is_copy| RunSource {
            is_copy,
            ..RunSource::default()
        })
        .into();
    let text = gates(&runs, &sources, &CalledTools::default(), &[]).unwrap();
    assert!(
        text.starts_with(
            "    # from run-1..run-3\n    # copies, which prove nothing more: run-2..run-3\n"
        ),
        "{text}"
    );
    assert!(text.contains("\"text\": {\"type\": \"string\"}"), "{text}");
    let text = gates(&runs, &[], &CalledTools::default(), &[]).unwrap();
    assert!(text.contains("exact: {\"text\": \"Please leave"), "{text}");
}

/// One list tells of the tools of all runs; and the suite does, whatever becomes of the closings.
#[test]
fn what_one_run_says_of_a_tool_counts_for_all() {
    let grep = || ("grep", json!({ "for": "x" }));
    let listed = |calls: &[(&str, Value)], says: &str| {
        let mut run = run(Some(true), calls, says);
        run.tools = Some(vec![
            OfferedTool::from_line("grep").with_read_only(Some(true)),
        ]);
        run
    };
    let bare = |says: &str| run(Some(true), &[refund("R1"), grep(), grep()], says);
    let text = written_gates(&[bare("Done."), listed(&[grep(), refund("R1")], "Done.")]);
    assert!(text.contains("mode: strict\n"), "{text}");
    assert!(
        !text.contains("name: \"grep\"") && !text.contains("first: \"grep\""),
        "{text}"
    );
    let text = written_gates(&[bare("Done."), listed(&[grep()], "I have refunded order 7.")]);
    assert!(
        text.contains(
            "    narrative: { readonly_tools: [\"grep\"], \
             expect: [{ target: narrative.claimed_but_absent, matcher: { max: 1 } }] }\n"
        ),
        "{text}"
    );
}

#[test]
fn a_name_that_joins_a_change_to_a_read_is_no_read() {
    let of = |name: &'static str| {
        let call = (name, json!({ "id": 3 }));
        written_gates(&[run(None, &[call], "Done.")])
    };
    for name in ["fetch_and_delete", "getOrCreate", "find-and-replace"] {
        let text = of(name);
        assert!(text.contains(&format!("- {{ name: \"{name}\"")), "{text}");
        assert!(!text.contains("mutating_tools"), "{text}");
    }
    for name in ["find_and_list", "get_terms_and_conditions", "get_order"] {
        assert!(!of(name).contains("- { name:"), "{name}");
    }
}

/// A tool of another agent may be nearer to a claim than the one that did it.
#[test]
fn the_tools_of_all_agents_are_left_out_where_they_make_a_claim_of_a_good_run_false() {
    let tools = |names: &[&str]| {
        let mut tools = CalledTools::default();
        tools.names = names.iter().map(|name| (*name).to_owned()).collect();
        "*tools".clone_into(&mut tools.written);
        tools
    };
    let runs = [run(
        Some(true),
        &[("refund_payment", json!({ "order": 7 }))],
        "I've refunded your order.",
    )];
    let asked = |names: &[&str]| gates(&runs, &[], &tools(names), &[]).unwrap();
    let own = asked(&["refund_payment", "find_order"]);
    assert!(
        own.contains("\n    narrative: { tools: *tools }\n"),
        "{own}"
    );
    let others = asked(&["refund_payment", "find_order", "refund_order"]);
    assert!(
        others.contains("would count as false\n    narrative: {}\n") && !others.contains("broken"),
        "{others}"
    );
}

/// Where the agent closes with *You're welcome!*, what it said before is read.
#[test]
fn where_closings_are_silent_all_messages_are_read() {
    let talk = |failed: bool, says: &str, closing: &str| {
        let value = json!({
            "schema_version": "v1", "model": "m", "user_prompt": "p",
            "trace": {
                "tool_calls": [{ "name": "refund_order" }],
                "tool_results": [{ "call_index": 0, "is_error": failed, "result": "ok" }],
                "final_response": closing,
                "conversation": { "turns": [
                    { "role": "user", "content": "p" },
                    { "role": "assistant", "content": "tool_use refund_order with {}" },
                    { "role": "assistant", "content": says },
                    { "role": "user", "content": "Thanks!" },
                    { "role": "assistant", "content": closing },
                ] },
            },
        });
        parse_run(value.to_string().as_bytes(), &Origin::file("a")).unwrap()
    };
    let (says, bye) = ("I have refunded your order.", "You're welcome!");
    let reads_all =
        |runs: &[Run]| written_gates(runs).contains("narrative: { all_messages: true }");
    let looked = || talk(false, "Here it is.", bye);
    assert!(reads_all(&[talk(false, says, bye), looked()]));
    assert!(!reads_all(&[looked()]));
    assert!(!reads_all(&[talk(true, says, bye)]));
    assert!(!reads_all(&[
        talk(false, says, "I have refunded it."),
        looked()
    ]));
}

#[test]
fn what_is_asked_for_at_once_has_no_order() {
    let close = ("close_order", json!({ "receipt": "RF77" }));
    let mut at_once = run(None, &[look(), refund("RF77"), close], "Done.");
    for call in &mut at_once.trace.tool_calls {
        call.step = Some(1);
    }
    let text = written_gates(&[at_once]);
    assert!(text.contains("mode: exact_unordered\n"), "{text}");
    assert!(
        !text.contains("order:\n") && !text.contains("second: \"refund\""),
        "{text}"
    );
}

#[test]
fn a_change_comes_after_what_looks_up_the_same_and_after_nothing_else() {
    let has_order = |calls: &[(&'static str, Value)]| {
        let text = written_gates(&[run(None, calls, "Done.")]);
        text.contains("order:\n")
    };
    assert!(has_order(&[look(), refund("RF77")]));
    assert!(!has_order(&[look(), refund("the usual one")]));
    assert!(!has_order(&[refund("RF77"), look()]));
}

#[test]
fn where_only_some_runs_change_anything_none_need_look_it_up() {
    let receipt = ("get_receipt", json!({ "receipt": "RF77" }));
    let lookups = [look(), receipt];
    let changes = [&lookups[..], &[refund("RF77")]].concat();
    let run = |calls: &[(&str, Value)]| run(None, calls, "Here it is.");
    let axes = |runs: &[Run]| written_gates(runs).contains("trajectory_axes");
    assert!(axes(&[run(&lookups), run(&lookups)]));
    assert!(axes(&[run(&changes), run(&changes)]));
    assert!(!axes(&[run(&changes), run(&lookups), run(&changes)]));
}

#[test]
fn a_lookup_takes_its_argument_from_the_first_result_that_has_it() {
    let receipt = json!({ "receipt": "RF77" });
    let lookups = [look(), ("get_user", json!({})), ("get_receipt", receipt)];
    let producers = |calls: &[(&str, Value)], consumer: &str| -> Vec<bool> {
        let text = written_gates(&[run(None, calls, "Done.")]);
        let edge = |producer| format!("producer: \"{producer}\", consumer: \"{consumer}\"");
        ["get_order", "get_user"]
            .map(|producer| text.contains(&edge(producer)))
            .into()
    };
    assert_eq!(producers(&lookups, "get_receipt"), [true, false]);
    // What is changed was looked at before, wherever else it was seen.
    let changes = [look(), ("get_user", json!({})), refund("RF77")];
    assert_eq!(producers(&changes, "refund"), [true, true]);
}

/// A rate that no gate can ask for leaves the other agents their gates.
#[test]
fn an_agent_that_hardly_ever_passes_has_no_gates() {
    let call = [("refund", json!({ "order": 7 }))];
    let of = |failed: usize| {
        let mut runs = vec![run(Some(true), &call, "Done.")];
        runs.resize(1 + failed, run(Some(false), &[], "No."));
        proposed(&runs)
    };
    assert!(of(100).is_none() && of(49).is_some());
}

/// All good runs agree on what they change: on nothing. What a tool of another agent does is told where its
/// name does not say so.
#[test]
fn who_changes_nothing_may_change_nothing_with_any_tool() {
    let text = |runs: &[Run], names: &[&str]| {
        let mut called = CalledTools::default();
        called.names = names.iter().map(|&name| name.to_owned()).collect();
        gates(runs, &[], &called, &[]).unwrap()
    };
    let looks = || run(Some(true), &[look()], "Here it is.");
    let few = ["get_order", "list_and_drop", "cancel_order", "Grep"];
    let nothing = "    trajectory: { over: writes, mode: strict, calls: [] }\n";
    let lists = "narrative: { readonly_tools: [\"Grep\"], tools: ";
    let found = text(&[looks()], &few);
    assert!(found.contains(nothing) && found.contains(lists), "{found}");
    let silent = run(Some(true), &[], "Here it is.");
    assert!(text(&[silent], &[]).contains(nothing));
    let many: Vec<String> = (0..=MOST_BESIDE)
        .map(|tool| format!("list_and_drop_{tool}"))
        .collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let found = text(&[looks()], &many);
    assert!(
        found.contains(nothing) && !found.contains("mutating_tools"),
        "{found}"
    );
    let changes = run(Some(true), &[refund("R1")], "Done.");
    assert!(!text(&[changes], &few).contains(nothing));
    let mut knows = looks();
    knows.tools = Some(vec![OfferedTool::from_line("get_order")]);
    let found = text(&[knows], &few);
    assert!(
        found.contains(nothing) && !found.contains("mutating_tools"),
        "{found}"
    );
}
