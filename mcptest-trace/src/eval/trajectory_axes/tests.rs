use serde_json::json;

use super::*;
use crate::eval::Metrics;
use proptest::prelude::*;

fn axes(dependencies: &[(&str, &str, Option<&str>)], order: &[(&str, &str)]) -> Axes {
    let dependency = |&(producer, consumer, arg): &(&str, &str, Option<&str>)| Dependency {
        producer: producer.to_owned(),
        consumer: consumer.to_owned(),
        arg: arg.map(str::to_owned),
    };
    let order_of = |&(first, second): &(&str, &str)| Order::new(first, second);
    Axes {
        dependencies: dependencies.iter().map(dependency).collect(),
        order: order.iter().map(order_of).collect(),
    }
}

fn names(names: &[&str]) -> Value {
    let calls: Vec<_> = names.iter().map(|name| json!({ "name": name })).collect();
    json!({ "tool_calls": calls })
}

fn order_holds(recorded: &[&str]) -> bool {
    let axes = axes(&[], &[("authenticate", "search")]);
    score_trajectory_axes(&names(recorded), &axes).order_satisfaction == 100
}

#[test]
fn the_first_calls_decide() {
    assert!(order_holds(&["authenticate", "search"]));
    assert!(order_holds(&[
        "x",
        "authenticate",
        "x",
        "search",
        "authenticate",
        "search"
    ]));
    assert!(!order_holds(&["search", "authenticate", "search"]));
}

#[test]
fn the_last_calls_decide_too_where_they_are_asked_for() {
    let axes = Axes {
        order: vec![Order {
            last: true,
            ..Order::new("edit", "test")
        }],
        ..Axes::default()
    };
    let score = |recorded: &[&str]| score_trajectory_axes(&names(recorded), &axes);
    let holds = |recorded: &[&str]| score(recorded).order_satisfaction == 100;
    assert!(holds(&["edit", "test"]));
    assert!(holds(&[
        "edit", "edit", "test", "edit", "x", "test", "test"
    ]));
    assert!(!holds(&["edit", "test", "edit"]));
    // What breaks the pair without `last` breaks it with `last`.
    assert!(!holds(&["test", "edit", "test"]));
    assert!(!holds(&["test"]) && !holds(&["edit"]) && !holds(&[]));
    let broken = score(&["edit", "test", "x", "edit"]).broken.remove(0);
    assert_eq!((broken.first_call, broken.second_call), (Some(3), Some(1)));
    assert_eq!(
        broken.reason,
        "the last `edit` must come before the last `test`, but is `tool_calls[3]`, and the last `test` is `tool_calls[1]`"
    );
}

#[test]
fn an_absent_tool_breaks_the_pair_and_says_so() {
    assert!(!order_holds(&["authenticate"]));
    assert!(!order_holds(&[]));
    let report = score_trajectory_axes(&names(&["b"]), &axes(&[], &[("a", "b")]));
    assert_eq!(
        report.broken,
        [BrokenEdge {
            axis: Axis::Order,
            index: 0,
            first_call: None,
            second_call: Some(0),
            reason: "`a` must come before `b`, but is never called".to_owned(),
        }]
    );
}

#[test]
fn a_tool_cannot_precede_itself() {
    let report = score_trajectory_axes(&names(&["a", "a"]), &axes(&[], &[("a", "a")]));
    assert_eq!(report.order_satisfaction, 0);
}

#[test]
fn percents_are_rounded_down_and_an_empty_axis_scores_100() {
    let order = [("a", "b"), ("b", "c"), ("c", "a")];
    let report = score_trajectory_axes(&names(&["a", "b", "c"]), &axes(&[], &order));
    assert_eq!(
        report.metrics(),
        json!({ "trajectory": { "dependency_satisfaction": 100, "order_satisfaction": 66 } })
    );
    assert_eq!(report.broken[0].index, 2);
}

/// A `search` with a result, then a `fetch` of an id.
fn flow(result: &Value, id: &Value) -> AxesReport {
    let run = json!({
        "tool_calls": [
            { "name": "search", "step": 0 },
            { "name": "fetch", "step": 1, "args": { "id": id } },
        ],
        "tool_results": [{ "call_index": 0, "result": result }],
    });
    score_trajectory_axes(&run, &axes(&[("search", "fetch", Some("id"))], &[]))
}

#[test]
fn the_value_must_occur_in_what_the_producer_returned() {
    let holds = |result, id| flow(&result, &id).broken.is_empty();
    assert!(holds(json!({ "items": [{ "id": "Z7" }] }), json!("Z7")));
    assert!(holds(json!("found Z7 and Z8"), json!(["Z8", "Z7"])));
    assert!(!holds(json!("found Z7"), json!(["Z8", "Z7"])));
    assert!(holds(json!([{ "id": 10.0 }]), json!(10)));
    assert!(holds(json!("{\"id\": 10}"), json!(10)));
    assert!(holds(json!("take 10."), json!(10.0)));
    assert!(!holds(json!("100, 2.10 and 10.5"), json!(10)));
    assert!(holds(json!(10), json!("10")));
    assert!(!holds(json!({ "Z7": null }), json!("Z7")));
}

#[test]
fn an_argument_that_carries_nothing_has_no_source() {
    for nothing in [json!(null), json!(""), json!([]), json!({})] {
        let report = flow(&json!("anything"), &nothing);
        assert_eq!(
            report.broken[0].reason,
            "`tool_calls[1]` has no value in `args.id`, so no value comes from the result of an earlier `search` call"
        );
    }
}

#[test]
fn every_consumer_call_needs_a_source_seen_before_it() {
    let axes = axes(&[("search", "fetch", Some("id"))], &[]);
    let run = |steps: [u64; 3]| {
        json!({
            "tool_calls": [
                { "name": "search", "step": steps[0] },
                { "name": "fetch", "step": steps[1], "args": { "id": "A1" } },
                { "name": "fetch", "step": steps[2], "args": { "id": "B2" } },
            ],
            "tool_results": [
                { "call_index": 0, "result": "A1" },
                { "call_index": 2, "result": "B2" },
            ],
        })
    };
    let report = score_trajectory_axes(&run([0, 1, 2]), &axes);
    assert_eq!(report.dependency_satisfaction, 0);
    assert_eq!(
        (report.broken[0].first_call, report.broken[0].second_call),
        (Some(0), Some(2))
    );
    assert_eq!(
        report.broken[0].reason,
        "`args.id` of `tool_calls[2]` is not in the result of an earlier `search` call: \"B2\""
    );
    // Made together with the search, the fetch cannot have read its result.
    let report = score_trajectory_axes(&run([0, 0, 1]), &axes);
    assert_eq!(report.broken[0].second_call, Some(1));
}

#[test]
fn a_tool_may_depend_on_its_own_earlier_calls() {
    let axes = axes(&[("list", "list", Some("page.cursor"))], &[]);
    let run = |cursors: [&str; 2]| {
        json!({
            "tool_calls": [
                { "name": "list" },
                { "name": "list", "args": { "page": { "cursor": cursors[0] } } },
                { "name": "list", "args": { "page": { "cursor": cursors[1] } } },
            ],
            "tool_results": [
                { "call_index": 0, "result": { "next": "c1" } },
                { "call_index": 1, "result": { "next": "c2" } },
            ],
        })
    };
    let score = |run: &Value| score_trajectory_axes(run, &axes);
    assert!(score(&run(["c1", "c2"])).broken.is_empty());
    let broken = score(&run(["c1", "c3"])).broken;
    assert_eq!(
        (broken[0].first_call, broken[0].second_call),
        (Some(0), Some(2))
    );
    assert_eq!(score(&run(["c2", "c1"])).broken[0].second_call, Some(1));
    assert!(score(&names(&["list"])).broken.is_empty());
    assert_eq!(
        score(&names(&["other"])).broken[0].reason,
        "`list` is never called"
    );
}

#[test]
fn what_failed_or_was_synthesized_is_no_source() {
    let holds = |more: Value| {
        let mut result = json!({ "call_index": 0, "result": { "text": "no Z7" } });
        result
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let run = json!({
            "tool_calls": [{ "name": "search" }, { "name": "fetch", "args": { "id": "Z7" } }],
            "tool_results": [result],
        });
        let axes = axes(&[("search", "fetch", Some("id"))], &[]);
        score_trajectory_axes(&run, &axes).broken.is_empty()
    };
    assert!(holds(json!({})));
    assert!(!holds(json!({ "is_error": true })));
    assert!(!holds(
        json!({ "result": { "isError": true, "text": "no Z7" } })
    ));
    assert!(!holds(
        json!({ "synthesized": { "fault": "f" }, "is_error": true })
    ));
}

proptest! {
    #[test]
    fn data_flow_is_what_looking_at_every_earlier_result_finds(
        calls in prop::collection::vec((any::<bool>(), 0..60_u8, 0..40_u64), 0..240),
    ) {
        let text = |page: u8| format!("see page-{page}, page/{page} and {page}");
        let made = calls.iter().map(|(produces, page, step)| match produces {
            true => json!({ "name": "search", "step": step }),
            false => json!({ "name": "fetch", "step": step, "args": { "page": format!("page/{page}") } }),
        });
        let results = calls.iter().enumerate().filter(|(_, (produces, ..))| *produces);
        let results = results.map(|(index, (_, page, _))| json!({
            "call_index": index, "is_error": false, "result": [{ "text": text(*page) }],
        }));
        let run = json!({ "tool_calls": made.collect::<Vec<_>>(), "tool_results": results.collect::<Vec<_>>() });
        let held = |(index, (_, page, step)): (usize, &(bool, u8, u64))| {
            calls[..index].iter().any(|(produces, other, earlier)| {
                *produces && earlier != step && other == page
            })
        };
        let fetches = || calls.iter().enumerate().filter(|(_, (produces, ..))| !produces);
        let first = |wanted: bool| calls.iter().position(|(produces, ..)| *produces == wanted);
        let ordered = matches!((first(true), first(false)), (Some(search), Some(fetch))
            if search < fetch && calls[search].2 != calls[fetch].2);
        let expected = ordered && fetches().all(held);
        let report = score_trajectory_axes(&run, &axes(&[("search", "fetch", Some("page"))], &[]));
        prop_assert_eq!(report.dependency_satisfaction == 100, expected);
        if ordered && !expected {
            let first = fetches().find(|fetch| !held(*fetch)).map(|(index, _)| index);
            prop_assert_eq!(report.broken[0].second_call, first);
        }
    }

    #[test]
    fn satisfaction_is_a_percent_and_full_exactly_when_nothing_broke(
        calls in prop::collection::vec(0usize..4, 0..8),
        order in prop::collection::vec((0usize..4, 0usize..4), 0..6),
    ) {
        const NAMES: [&str; 4] = ["a", "b", "c", "d"];
        let calls: Vec<_> = calls.into_iter().map(|call| NAMES[call]).collect();
        let order: Vec<_> = order.into_iter().map(|(a, b)| (NAMES[a], NAMES[b])).collect();
        let report = score_trajectory_axes(&names(&calls), &axes(&[], &order));
        prop_assert!(report.order_satisfaction <= 100);
        prop_assert_eq!(report.order_satisfaction == 100, report.broken.is_empty());
    }
}

#[test]
fn calls_of_one_step_hold_no_order() {
    let run = |steps: [Option<u64>; 2]| {
        json!({ "tool_calls": [
            { "name": "auth", "step": steps[0] },
            { "name": "pay", "step": steps[1] },
        ]})
    };
    let order = axes(&[], &[("auth", "pay")]);
    let holds = |steps| score_trajectory_axes(&run(steps), &order).order_satisfaction == 100;
    assert!(holds([Some(0), Some(1)]) && holds([None, None]) && holds([Some(0), None]));
    assert!(!holds([Some(0), Some(0)]));
    let report = score_trajectory_axes(&run([Some(2), Some(2)]), &order);
    assert_eq!(
        report.broken[0].reason,
        "`auth` must come before `pay`, but `tool_calls[0]` and `tool_calls[1]` are made in one step"
    );
}

#[test]
fn the_last_calls_of_one_step_hold_no_order() {
    let order = Axes {
        order: vec![Order::new("edit", "test").with_last(true)],
        ..Axes::default()
    };
    let call = |name: &str, step: u64| json!({ "name": name, "step": step });
    let run = json!({ "tool_calls": [call("edit", 0), call("test", 1), call("edit", 2), call("test", 2)] });
    let report = score_trajectory_axes(&run, &order);
    assert_eq!(
        report.broken[0].reason,
        "the last `edit` must come before the last `test`, but is `tool_calls[2]`, and the last `test` is `tool_calls[3]`, in one step"
    );
}

/// A dependency of `pay` on `auth` over calls with these results: the flag, and whether there is one.
fn dependency_holds(calls: &[(&str, Option<Value>)]) -> bool {
    let results = calls.iter().enumerate().filter_map(|(index, (_, result))| {
        let mut result = result.clone()?;
        result["call_index"] = index.into();
        Some(result)
    });
    let run = json!({
        "tool_calls": calls.iter().map(|(name, _)| json!({ "name": name })).collect::<Vec<_>>(),
        "tool_results": results.collect::<Vec<_>>(),
    });
    let axes = axes(&[("auth", "pay", None)], &[]);
    score_trajectory_axes(&run, &axes).dependency_satisfaction == 100
}

#[test]
fn a_producer_that_failed_produced_nothing() {
    let ok = || Some(json!({ "is_error": false, "result": "token" }));
    let denied = || Some(json!({ "is_error": true, "result": "denied" }));
    assert!(dependency_holds(&[("auth", ok()), ("pay", ok())]));
    assert!(!dependency_holds(&[("auth", denied()), ("pay", ok())]));
    assert!(!dependency_holds(&[("auth", None), ("pay", ok())]));
    assert!(dependency_holds(&[
        ("auth", denied()),
        ("auth", ok()),
        ("pay", ok())
    ]));
    assert!(!dependency_holds(&[
        ("auth", denied()),
        ("pay", ok()),
        ("auth", ok())
    ]));
    // Without a flag, the result says it.
    let silent = |result| Some(json!({ "result": result }));
    assert!(!dependency_holds(&[
        ("auth", silent(json!({ "error": "denied" }))),
        ("pay", ok())
    ]));
    assert!(dependency_holds(&[
        ("auth", silent(json!({ "token": "t" }))),
        ("pay", ok())
    ]));
}

#[test]
fn a_text_must_be_produced_whole() {
    let holds = |result, id| flow(&result, &id).broken.is_empty();
    assert!(!holds(json!({ "users": ["user_12"] }), json!("user_1")));
    assert!(!holds(json!({ "name": "concatenate" }), json!("cat")));
    assert!(holds(
        json!("see https://shop.example/orders/A-1 for more"),
        json!("A-1")
    ));
}
