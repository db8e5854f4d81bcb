//! Gates that hold the calls of a run against expected ones: `trajectory`, its axes, `golden_path`.

use serde_json::json;

use super::{calls, failure, holds, judge, judge_runs, shows, trace};

#[test]
fn a_strict_plan_shows_the_first_divergence() {
    let gate = "  trajectory: { mode: strict, calls: [{ name: a }, { name: b, args: { exact: { x: 1 } } }, { name: c }] }\n";
    holds(judge(
        gate,
        &[trace(
            &[
                ("a", json!({}), json!(1)),
                ("b", json!({ "x": 1.0 }), json!(1)),
                ("c", json!(null), json!(1)),
            ],
            "",
        )],
    ));
    shows!(
        "trajectory-strict",
        judge(
            gate,
            &[
                trace(
                    &[
                        ("a", json!({}), json!(1)),
                        ("b", json!({ "x": 2, "y": 3 }), json!(1)),
                        ("c", json!({}), json!(1))
                    ],
                    ""
                ),
                calls(&["a", "c", "d"]),
            ]
        )
    );
}

#[test]
fn each_mode_says_what_it_asks() {
    let gate = |mode: &str| {
        format!("  trajectory: {{ mode: {mode}, calls: [{{ name: a }}, {{ name: b }}] }}\n")
    };
    for (mode, good) in [
        ("subsequence", vec!["x", "a", "x", "b"]),
        ("unordered", vec!["b", "x", "a"]),
        ("superset", vec!["b", "a", "a"]),
        ("subset", vec!["b"]),
        ("exact_sequence", vec!["a", "b"]),
    ] {
        holds(judge(&gate(mode), &[calls(&good)]));
    }
    shows!(
        "trajectory-subsequence",
        judge(&gate("subsequence"), &[calls(&["b", "a"])])
    );
    shows!(
        "trajectory-superset",
        judge(&gate("superset"), &[calls(&["b", "x"])])
    );
    shows!(
        "trajectory-subset",
        judge(&gate("subset"), &[calls(&["a", "x", "a"])])
    );
}

#[test]
fn exactly_these_calls_in_any_order() {
    let gate = "  trajectory: { mode: exact_unordered, calls: [{ name: a }, { name: b }] }\n";
    holds(judge(gate, &[calls(&["b", "a"])]));
    shows!(
        "trajectory-exact-unordered",
        judge(gate, &[calls(&["b", "a", "a"]), calls(&["x", "b"])])
    );
}

#[test]
fn a_plan_over_writes_leaves_looking_up_free_and_nothing_else() {
    let gate = "  trajectory: { mode: strict, over: writes, calls: [{ name: cancel_order }, { name: send_mail }] }\n";
    holds(judge(
        gate,
        &[calls(&[
            "get_order",
            "cancel_order",
            "list_users",
            "send_mail",
            "get_order",
        ])],
    ));
    shows!(
        "trajectory-over-writes",
        judge(
            gate,
            &[calls(&[
                "get_order",
                "cancel_order",
                "refund_order",
                "send_mail"
            ])]
        )
    );
}

#[test]
fn an_empty_plan_over_writes_lets_nothing_change() {
    let changed = calls(&["get_order", "cancel_order", "cancel_order"]);
    for mode in ["exact_unordered", "subset", "strict"] {
        let gate = format!("  trajectory: {{ over: writes, mode: {mode}, calls: [] }}\n");
        holds(judge(&gate, &[calls(&["get_order"]), calls(&[])]));
        let failed = failure(judge(&gate, std::slice::from_ref(&changed)));
        assert!(failed.contains("the run may change nothing"), "{failed}");
    }
    let gate = "  trajectory: { over: writes, mode: strict, calls: [] }\n";
    shows!("trajectory-nothing-changes", judge(gate, &[changed]));
}

#[test]
fn what_narrative_says_of_tools_holds_for_a_plan_over_writes() {
    let plan = "  trajectory: { mode: strict, over: writes, calls: [{ name: cancel_order }] }\n";
    let run = &[calls(&["web_search", "cancel_order"])];
    let red = |gates: &str| {
        judge(gates, run)
            .iter()
            .any(|(_, failure)| failure.is_some())
    };
    assert!(red(plan));
    assert!(!red(&format!(
        "{plan}  narrative: {{ readonly_tools: [web_search] }}\n"
    )));
    let looks = &[calls(&["get_order", "cancel_order"])];
    let lists = "  narrative: { mutating_tools: [get_order] }\n";
    let found = judge(&format!("{plan}{lists}"), looks);
    assert!(found.iter().any(|(_, failure)| failure.is_some()));
}

#[test]
fn forbidden_tools_break_any_plan_and_stand_alone() {
    let gate = "  trajectory: { forbid: [delete_*, drop_table] }\n";
    holds(judge(gate, &[calls(&["a", "undelete_order"])]));
    shows!(
        "trajectory-forbid",
        judge(gate, &[calls(&["a", "delete_order", "b", "drop_table"])])
    );
    let planned = "  trajectory: { mode: unordered, over: writes, calls: [{ name: cancel_order }], forbid: [get_*] }\n";
    holds(judge(planned, &[calls(&["cancel_order", "send_mail"])]));
    shows!(
        "trajectory-forbid-a-read",
        judge(planned, &[calls(&["get_order", "cancel_order"])])
    );
}

#[test]
fn an_open_plan_may_say_which_tools_are_called_beside_it() {
    let gate = "  trajectory: { mode: superset, over: writes, calls: [{ name: cancel_order }], allow: [send_*] }\n";
    let notes = ["get_order", "cancel_order", "send_mail"];
    holds(judge(gate, &[calls(&notes)]));
    let deletes = ["cancel_order", "send_mail", "delete_account"];
    shows!("trajectory-allow", judge(gate, &[calls(&deletes)]));
    let retried = |first: &str| {
        let cancels = |said: &str| ("cancel_order", json!({}), json!(said));
        judge(gate, &[trace(&[cancels(first), cancels("ok")], "")])
    };
    holds(retried("error"));
    shows!("trajectory-allow-again", retried("ok"));
}

#[test]
fn an_allowed_tool_that_no_recording_lists_is_told() {
    let gate = |allowed: &str| {
        format!(
            "  trajectory: {{ mode: superset, calls: [{{ name: cancel_order }}], allow: [{allowed}] }}\n"
        )
    };
    let run = json!({
        "tools": ["desk::cancel_order(id: string) #0a", "desk::add_note(id: string) #0b"],
        "trace": calls(&["cancel_order"]),
    });
    holds(judge_runs("", &gate("add_*"), std::slice::from_ref(&run)));
    let text = failure(judge_runs("", &gate("add_noet"), &[run]));
    assert!(
        text.starts_with(
            "error: `trajectory` names `add_noet`, and the recordings list no such tool"
        ),
        "{text}"
    );
    assert!(text.contains("did you mean `add_note`?"), "{text}");
    // Nobody knows what else it was offered.
    holds(judge(&gate("add_noet"), &[calls(&["cancel_order"])]));
}

#[test]
fn a_forbidden_tool_that_is_written_otherwise_is_told_from_one_that_was_not_called() {
    for forbidden in [
        "delete-*",
        "Delete_Order",
        "desk__delete_*",
        "desk::delete_order",
    ] {
        let gate = format!("  trajectory: {{ forbid: [\"{forbidden}\"] }}\n");
        let judged = judge(&gate, &[calls(&["delete_order"])]);
        let failed: String = judged.into_iter().filter_map(|(_, text)| text).collect();
        assert!(
            failed.contains("the recordings know no such tool"),
            "{forbidden}: {failed}"
        );
    }
    holds(judge(
        "  trajectory: { forbid: [drop_table, get_*] }\n",
        &[calls(&["delete_order"])],
    ));
}

#[test]
fn a_plan_fits_a_tool_with_its_wire_prefix_and_other_gates_do_not() {
    let plan = "  trajectory: { mode: strict, calls: [{ name: delete_file }] }\n";
    for called in ["fs__delete_file", "mcp__fs__delete_file"] {
        holds(judge(plan, &[calls(&[called])]));
    }
    failure(judge(plan, &[calls(&["fs__read_file"])]));
    let golden = "  golden_path: { calls: [delete_file] }\n";
    failure(judge(golden, &[calls(&["fs__delete_file"])]));
}

#[test]
fn a_tool_that_a_client_names_by_its_server_is_known() {
    let gate = "  trajectory: { forbid: [delete_order] }\n";
    let run = |called: &str| {
        json!({
            "tools": ["mcp__shop__delete_order(id: string) #0a", "mcp__shop__get_order(id: string) #0b"],
            "trace": calls(&[called]),
        })
    };
    holds(judge_runs("", gate, &[run("mcp__shop__get_order")]));
    let text = failure(judge_runs("", gate, &[run("mcp__shop__delete_order")]));
    assert!(!text.contains("no such tool"), "{text}");
    assert!(text.contains("mcp__shop__delete_order"), "{text}");

    // The wire prefix is no part of the name that a plan means.
    let plan = "  trajectory: { mode: superset, calls: [{ name: delete_order }] }\n";
    holds(judge_runs("", plan, &[run("mcp__shop__delete_order")]));
    failure(judge_runs("", plan, &[run("mcp__shop__get_order")]));
}

#[test]
fn an_order_may_hold_for_the_last_calls_too() {
    let gate = "  trajectory_axes: { order: [{ first: edit, second: test, last: true }] }\n";
    holds(judge(gate, &[calls(&["edit", "test", "edit", "test"])]));
    shows!(
        "axes-last",
        judge(gate, &[calls(&["edit", "test", "edit"])])
    );
}

#[test]
fn the_best_matching_is_found() {
    let gate = "  trajectory: { mode: unordered, calls: [{ name: search }, { name: search, args: { exact: { q: x } } }] }\n";
    let search = |q: &str| ("search", json!({ "q": q }), json!("ok"));
    holds(judge(gate, &[trace(&[search("x"), search("y")], "")]));
}

#[test]
fn arguments_are_held_against_a_schema_and_results_against_their_flag() {
    let gate = "  trajectory:\n    mode: subsequence\n    calls:\n    - name: a\n      args: { schema: { required: [city], properties: { days: { minimum: 1 } } } }\n      is_error: false\n";
    holds(judge(
        gate,
        &[trace(
            &[("a", json!({ "city": "Oslo", "days": 2 }), json!("ok"))],
            "",
        )],
    ));
    shows!(
        "trajectory-schema",
        judge(
            gate,
            &[trace(&[("a", json!({ "days": 0 }), json!("ok"))], "")]
        )
    );
    shows!(
        "trajectory-is-error",
        judge(
            gate,
            &[trace(
                &[("a", json!({ "city": "Oslo" }), json!("error"))],
                ""
            )]
        )
    );
}

#[test]
fn parallel_calls_may_come_in_any_order_when_asked() {
    let gate = |parallel: &str| {
        format!(
            "  trajectory: {{ mode: strict, calls: [{{ name: a }}, {{ name: b }}]{parallel} }}\n"
        )
    };
    let mut run = calls(&["b", "a"]);
    run["tool_calls"][0]["step"] = json!(0);
    run["tool_calls"][1]["step"] = json!(0);
    holds(judge(&gate(", parallel: unordered"), &[run.clone()]));
    assert!(judge(&gate(""), &[run])[1].1.is_some());
}

#[test]
fn a_target_of_the_gate_can_be_asserted_instead() {
    let gate = "  trajectory:\n    mode: strict\n    calls: [{ name: a }]\n    expect: [{ target: trajectory.mismatch_count, matcher: { schema: { maximum: 1 } } }]\n";
    holds(judge(gate, &[calls(&["b"])]));
    shows!("trajectory-expect", judge(gate, &[calls(&["b", "c"])]));
}

#[test]
fn axes_say_which_edge_is_broken() {
    let gate = "  trajectory_axes:\n    dependencies: [{ producer: search, consumer: fetch, arg: url }]\n    order: [{ first: login, second: search }]\n";
    let search = ("search", json!({}), json!("see https://a.example/x"));
    let fetch = |url: &str| ("fetch", json!({ "url": url }), json!("ok"));
    let login = ("login", json!({}), json!("ok"));
    holds(judge(
        gate,
        &[trace(
            &[login.clone(), search.clone(), fetch("https://a.example/x")],
            "",
        )],
    ));
    shows!(
        "axes",
        judge(
            gate,
            &[trace(&[search, login, fetch("https://b.example")], "")]
        )
    );
}

#[test]
fn a_golden_path_scores_itself_perfectly() {
    let gate = "  golden_path: { calls: [a, b, a, a] }\n";
    holds(judge(gate, &[calls(&["a", "b", "a", "a"]), calls(&["a"])]));
    shows!(
        "golden-path",
        judge(gate, &[calls(&["a", "b", "a", "a", "c", "a"])])
    );
}

#[test]
fn what_is_not_seen_of_an_argument_is_told() {
    let gate = |city: &str| {
        format!(
            "  trajectory: {{ mode: strict, calls: [{{ name: find, args: {{ exact: {{ city: {city} }} }} }}] }}\n"
        )
    };
    let found = |city: &str| {
        let mut run = calls(&["find"]);
        run["tool_calls"][0]["args"] = json!({ "city": city });
        [run]
    };
    shows!(
        "trajectory-normalised-otherwise",
        judge(&gate("Z\u{fc}rich"), &found("Zu\u{308}rich"))
    );
    shows!(
        "trajectory-another-space",
        judge(&gate("San Jose"), &found("San\u{a0}Jose"))
    );
}

#[test]
fn a_plan_that_leaves_parallel_calls_open_says_where_no_run_tells_of_any() {
    let gate =
        "  trajectory: { mode: strict, parallel: unordered, calls: [{ name: a }, { name: b }] }\n";
    let came = |run: serde_json::Value| {
        let mut verdicts = super::verdicts("", gate, &[json!({ "trace": run })], false);
        verdicts.remove(1).1.unwrap()
    };
    let super::CaseOutcome::Holds(Some(said)) = came(calls(&["a", "b"])) else {
        panic!("nothing was said")
    };
    assert!(
        said.ends_with("no recording says which calls were made together (`step` of a call), so `parallel: unordered` changes nothing: the recorded order counts"),
        "{said}"
    );
    let mut stepped = calls(&["b", "a"]);
    for call in 0..2 {
        stepped["tool_calls"][call]["step"] = json!(0);
    }
    let super::CaseOutcome::Holds(Some(said)) = came(stepped) else {
        panic!("nothing was said")
    };
    assert!(!said.contains("no run says"), "{said}");
}

#[test]
fn a_subset_compares_values_and_says_which_shape_compares_parts() {
    let gate = |shape: &str| {
        format!(
            "  trajectory: {{ mode: superset, calls: [{{ name: refund, args: {{ {shape} }} }}] }}\n"
        )
    };
    let run = |order: &str| trace(&[("refund", json!({ "order": order }), json!("ok"))], "");
    holds(judge(&gate("subset: { order: 7 }"), &[run("7")]));
    holds(judge(&gate("contains: { order: 7 }"), &[run("order 7")]));
    holds(judge(&gate("contains: { order: A-1 }"), &[run("A-10")]));
    shows!(
        "trajectory-part-of-a-text",
        judge(&gate("subset: { order: A-1 }"), &[run("A-10")])
    );
    // No part of a text either.
    let text = failure(judge(&gate("subset: { order: 7 }"), &[run("17")]));
    assert!(!text.contains("`args: { contains:"), "{text}");
}

#[test]
fn patterns_and_expected_calls_may_be_of_one_server() {
    let run = |server: &str, name: &str| {
        json!({ "tool_calls": [{ "name": name, "server": server, "args": {} }],
            "tool_results": [{ "call_index": 0, "is_error": false, "result": {} }] })
    };
    let forbid = "  trajectory: { forbid: [{ name: delete_*, server: fs }] }\n";
    holds(judge(forbid, &[run("shop", "delete_order")]));
    shows!(
        "trajectory-forbidden-server",
        judge(
            forbid,
            &[run("fs", "fs_delete_file"), run("", "delete_file")]
        )
    );
    let expected = "  trajectory: { mode: superset, calls: [{ name: delete_file, server: fs }] }\n";
    holds(judge(expected, &[run("fs", "delete_file")]));
    holds(judge(expected, &[run("fs", "fs_delete_file")]));
    holds(judge(expected, &[run("", "mcp__fs__delete_file")]));
    shows!(
        "trajectory-another-server",
        judge(
            expected,
            &[run("shop", "delete_file"), run("", "delete_file")]
        )
    );
    let allow = "  trajectory: { mode: superset, calls: [{ name: get_order }], allow: [{ name: delete_*, server: fs }] }\n";
    let both = |server: &str| json!({ "tool_calls": [{ "name": "get_order" }, { "name": "delete_file", "server": server }] });
    holds(judge(allow, &[both("fs")]));
    failure(judge(allow, &[both("shop")]));
    failure(judge(allow, &[both("")]));
}

#[test]
fn a_planned_tool_that_is_taken_for_a_read_is_told() {
    let gate = "  trajectory: { over: writes, mode: superset, calls: [{ name: check_door }] }\n";
    shows!(
        "trajectory-taken-for-a-read",
        judge(gate, &[calls(&["check_door"])])
    );
    let told = format!("{gate}  narrative: {{ mutating_tools: [check_door] }}\n");
    holds(judge(&told, &[calls(&["check_door"])]));
}
