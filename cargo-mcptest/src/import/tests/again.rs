//! What a second import makes of a suite that a first one wrote.

use serde_json::{Value, json};

use super::{Desk, lines};

/// A run that refunds an order, or says so without.
fn run(id: &str, known: &Value, refunds: bool) -> Value {
    let call = |id: &str, name: &str| {
        let function = json!({ "name": name, "arguments": "{\"order\":7}" });
        json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": id, "type": "function", "function": function }] })
    };
    let result = |id: &str| json!({ "role": "tool", "tool_call_id": id, "content": "ok" });
    let mut messages = vec![
        json!({ "role": "user", "content": "Refund order 7." }),
        call("c1", "get_order"),
        result("c1"),
    ];
    if refunds {
        messages.extend([call("c2", "refund"), result("c2")]);
    }
    messages.push(json!({ "role": "assistant", "content": "Order 7 is done." }));
    let mut run = json!({ "id": id, "model": "m", "messages": messages });
    for (key, value) in known.as_object().unwrap() {
        run[key] = value.clone();
    }
    run
}

/// What passing runs of one model do says nothing of another model of which no run passed.
#[test]
fn a_model_without_a_passed_run_shares_no_entry() {
    let of = |id: &str, model: &str, passed: bool| {
        run(id, &json!({ "model": model, "passed": passed }), passed)
    };
    let desk = Desk::new();
    desk.write(
        "desk.jsonl",
        lines(&[
            of("a", "m", true),
            of("b", "m", true),
            of("c", "n", false),
            of("d", "n", false),
            of("e", "o", true),
            of("f", "o", false),
        ]),
    );
    let said = desk.import(&["desk.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    let suite = desk.suite();
    let entries: Vec<&str> = suite.split("  - name: ").skip(1).collect();
    assert_eq!(entries.len(), 3, "{suite}");
    assert!(
        entries[0].starts_with("\"desk\"\n    model: \"m\"\n"),
        "{suite}"
    );
    assert!(entries[0].contains("- { name: \"refund\""), "{suite}");
    assert!(
        entries[1].starts_with("\"desk 2\"\n    model: \"n\"\n"),
        "{suite}"
    );
    assert!(
        entries[1].contains("    skip: \"none of its 2 runs passed;"),
        "{suite}"
    );
    assert!(entries[2].contains("reliability:"), "{suite}");
    assert!(
        said.out
            .contains("note: no run of `desk 2` passed: the suite skips them, and says why; import runs that passed to get a plan\n"),
        "{said:?}"
    );
    // The same import finds each of them.
    let again = desk.import(&["desk.jsonl"]);
    assert_eq!((again.status, desk.suite()), (0, suite), "{again:?}");
    assert!(
        !again.out.contains("lacks") && !again.out.contains("skips"),
        "{again:?}"
    );
}

/// A reward between the two is no pass either.
#[test]
fn a_model_with_a_part_of_the_reward_shares_no_entry() {
    let of = |id: &str, model: &str, reward: f64| {
        run(
            id,
            &json!({ "model": model, "reward": reward }),
            reward > 0.9,
        )
    };
    let desk = Desk::new();
    desk.write("desk.jsonl", lines(&[of("a", "m", 1.0), of("b", "n", 0.5)]));
    assert_eq!(desk.import(&["desk.jsonl"]).status, 0);
    let suite = desk.suite();
    assert!(
        !suite.contains("models:") && suite.contains("model: \"n\""),
        "{suite}"
    );
}

const TOLD: &str = "the suite's comments on the runs of these agents are no longer true; replace their entries with these\n";

/// A run that was judged anew changes what its suite says of it.
#[test]
fn the_comments_of_runs_that_were_replaced_are_told_to_go() {
    let desk = Desk::new();
    let write = |second: bool| {
        let runs = [
            run("a", &json!({ "passed": true }), true),
            run("b", &json!({ "passed": second }), true),
        ];
        desk.write("desk.jsonl", lines(&runs));
    };
    write(true);
    let files = ["desk.jsonl", "--agent", "desk"];
    desk.import(&files);
    let suite = desk.suite();
    assert!(suite.contains("    # from run-1..run-2\n"), "{suite}");
    let replace = ["desk.jsonl", "--agent", "desk", "--replace"];
    assert!(!desk.import(&replace).out.contains(TOLD));
    write(false);
    let said = desk.import(&replace);
    let (_, entry) = said
        .out
        .split_once(TOLD)
        .unwrap_or_else(|| panic!("{said:?}"));
    assert!(
        entry.contains("    # from run-1\n    ") && entry.contains("reliability:"),
        "{entry}"
    );
    assert_eq!(desk.suite(), suite);
    desk.write(
        "suites/x.yml",
        suite.split("  - name").next().unwrap().to_owned() + entry,
    );
    assert!(!desk.import(&replace).out.contains(TOLD));
}

/// The outcome of some runs is not known: it is not said that they failed.
#[test]
fn runs_without_an_outcome_are_not_said_to_have_failed() {
    let desk = Desk::new();
    let runs = [
        run("a", &json!({ "passed": false }), false),
        run("b", &json!({}), true),
    ];
    desk.write("desk.jsonl", lines(&runs));
    assert_eq!(desk.import(&["desk.jsonl"]).status, 0);
    assert!(
        desk.suite().contains(
            "    skip: \"none of its 2 runs is known to have passed; add a run that passed"
        ),
        "{}",
        desk.suite()
    );
}

/// A `skip` of an import goes when there is a run that passed.
#[test]
fn a_skip_for_want_of_a_passed_run_is_told_to_go_when_there_is_one() {
    let desk = Desk::new();
    desk.write(
        "bad.jsonl",
        lines(&[run("a", &json!({ "passed": false }), false)]),
    );
    desk.write(
        "good.jsonl",
        lines(&[run("b", &json!({ "passed": true }), true)]),
    );
    desk.import(&["bad.jsonl", "--agent", "desk"]);
    let skipped = desk.suite();
    assert!(skipped.contains("    skip: "), "{skipped}");
    let said = desk.import(&["good.jsonl", "--agent", "desk"]);
    assert_eq!(
        (said.status, desk.suite()),
        (0, skipped.clone()),
        "{said:?}"
    );
    let told = TOLD;
    let (_, entry) = said
        .out
        .split_once(told)
        .unwrap_or_else(|| panic!("{said:?}"));
    assert!(
        entry.contains("    runs: 2\n") && entry.contains("reliability:"),
        "{entry}"
    );
    assert!(!said.out.contains("write `runs: 2` in place"), "{said:?}");
    // As data, too.
    let data = desk.import(&["good.jsonl", "--agent", "desk", "--format", "json"]);
    let data: Value = serde_json::from_str(&data.out).unwrap();
    assert_eq!(data["missing_entries"], Value::Null);
    let entry = data["replacing_entries"].as_str().unwrap();
    assert!(said.out.ends_with(&format!("{told}{entry}\n")), "{said:?}");
    // Put there, it is all that is needed; and a `skip` of somebody's own stays.
    let head = skipped.split("  - name").next().unwrap().to_owned();
    desk.write("suites/x.yml", head + entry);
    let own = skipped.replace("; add a run that passed", "; I look at it tomorrow");
    for (suite, why) in [(desk.suite(), "put"), (own, "own")] {
        desk.write("suites/x.yml", suite);
        let again = desk.import(&["good.jsonl", "--agent", "desk"]);
        assert!(!again.out.contains(told), "{why}: {again:?}");
    }
}

/// What the suite says for all its agents is not said again.
#[test]
fn an_entry_for_a_suite_says_what_the_suite_does_not_say() {
    let known = |prompt: &str| {
        let mut run = run(prompt, &json!({ "system": "Be kind." }), true);
        run["messages"][0]["content"] = prompt.into();
        run
    };
    let desk = Desk::new();
    desk.write("two.jsonl", lines(&[known("p"), known("q")]));
    desk.write("one.jsonl", lines(&[known("r")]));
    assert_eq!(desk.import(&["two.jsonl"]).status, 0);
    let suite = desk.suite();
    assert!(
        suite.contains("x-tools: &tools [\"get_order\", \"refund\"]\n"),
        "{suite}"
    );
    let said = desk.import(&["one.jsonl"]);
    let (_, entry) = said.out.split_once("below `agents:`\n").unwrap();
    assert!(
        entry.contains("    narrative: { tools: *tools }\n"),
        "{entry}"
    );
    assert!(!entry.contains("system_prompt"), "{entry}");
    desk.write("suites/x.yml", suite.clone() + entry);
    let again = desk.import(&["one.jsonl"]);
    assert!(
        !again.out.contains("lacks") && !again.out.contains("stale"),
        "{again:?}"
    );
    // A tool that the suite's list has not is listed.
    desk.write("suites/x.yml", suite.replace(", \"refund\"]", "]"));
    let said = desk.import(&["one.jsonl"]);
    assert!(
        said.out.contains("tools: [\"get_order\", \"refund\"] }"),
        "{said:?}"
    );
}
