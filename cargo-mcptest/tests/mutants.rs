//! `cargo mcptest mutants`: which broken runs the suites notice, and what is said of the others.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::fs;

use serde_json::{Value, json};
use support::{SUITE, good, mcptest, shop};

const LINE: &str = "refunds::refund_agent run-1 change_number call 2 refund args.order 7 → 8";

#[test]
fn survivors_are_shown_with_the_gate_that_would_kill_them() {
    let shop = shop(&good());
    let said = mcptest(shop.path(), &["mutants", "--all", "--diffs", "9"]).exits(0);
    assert_eq!(said.stderr, "");
    assert!(said.stdout.starts_with("2 runs broken: "), "{said}");
    let survivor = "\
refunds::refund_agent run-1 fail_result call 2 refund
in suites/cassettes/Refund_agent__gpt-5/run-1.json
would be killed by `is_error: false` on the call, or `expect:` on `tool_results[*].is_error`
--- recorded
+++ mutant
@@ -1,4 +1,4 @@
 get_order {\"order\":7} → ok
-refund {\"order\":7} → ok
+refund {\"order\":7} → error
 says: Done.
 stops: completed
";
    assert!(
        !said.stdout.contains(LINE),
        "a killed mutant among the survivors\n{said}"
    );
    let folder = shop.at("target/mcptest/mutants");
    let file = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert!(
        file("killed.txt").lines().any(|line| line == LINE),
        "{}",
        file("killed.txt")
    );
    let survived = file("survived.txt");
    let outcomes: Value = serde_json::from_str(&file("outcomes.json")).unwrap();
    assert_eq!(outcomes["format"], "mutants/1.0");
    let lines = |state: &str| {
        let mutants = outcomes["mutants"].as_array().unwrap();
        mutants
            .iter()
            .filter(|mutant| mutant["state"] == state)
            .count()
    };
    assert_eq!(
        survived.lines().count(),
        lines("survived") + lines("not_covered")
    );
    assert_eq!(file("killed.txt").lines().count(), lines("killed"));
    assert_eq!(file("brittle.txt").lines().count(), lines("brittle"));
    assert!(said.stdout.contains(survivor), "{survivor}\nin\n{said}");
    let json = mcptest(shop.path(), &["mutants", "--all", "--format", "json"]).exits(0);
    assert_eq!(
        serde_json::from_str::<Value>(&json.stdout).unwrap(),
        outcomes
    );
}

/// What is there already is no advice.
#[test]
fn a_claim_that_a_narrative_leaves_open_is_killed_by_what_it_lacks() {
    let shop = shop(&good());
    // A tool that the other agent has.
    let cancel = support::run_of(&[("cancel_order", json!({ "order": 7 }))]);
    let cancel = serde_json::to_string(&cancel)
        .unwrap()
        .replace("Refund agent", "Desk");
    shop.write("suites/cassettes/Desk__gpt-5.json", cancel);
    let suite = |gate: &str| {
        let (head, _) = SUITE.split_once("    trajectory:").unwrap();
        let desk = head
            .replace("Refund agent", "Desk")
            .replace("runs: 2", "runs: 1");
        let desk = desk.replace("agents:\n", "");
        format!("{head}{gate}{desk}    calls: {{ max: 4 }}\n")
    };
    for (gate, advice) in [
        ("    calls: { max: 4 }\n", "`narrative: {}`"),
        (
            "    narrative: {}\n",
            "`tools:` with all tools of the agent, or `evidence:` in `narrative`",
        ),
    ] {
        shop.write("suites/refunds.yml", suite(gate));
        let said = mcptest(shop.path(), &["mutants"]).exits(0);
        let claim = "run-1 false_claim";
        let (_, survivor) = said
            .stdout
            .split_once(claim)
            .unwrap_or_else(|| panic!("{said}"));
        let told = survivor
            .lines()
            .find(|line| line.starts_with("would be killed"));
        assert_eq!(
            told,
            Some(&*format!("would be killed by {advice}")),
            "{said}"
        );
    }
}

#[test]
fn a_gate_that_nobody_needs_and_one_that_alone_notices_are_named() {
    let shop = shop(&good());
    shop.write("suites/refunds.yml", SUITE.replace("max: 4", "max: 99"));
    let said = mcptest(shop.path(), &["mutants"]).exits(0);
    for line in [
        "gates that notice nothing: calls\n",
        "noticed by only one gate: trajectory ",
    ] {
        assert!(said.stdout.contains(line), "{line} in\n{said}");
    }
}

#[test]
fn a_red_suite_is_no_start_unless_told() {
    let shop = shop(&[]);
    let said = mcptest(shop.path(), &["mutants"]).exits(2);
    assert_eq!(
        said.stderr,
        "red: refunds::refund_agent::trajectory on run-2\n\
             error: 1 gate is red before anything is broken, and a red gate notices nothing\n\n\
             help: correct them first, or use only the green gates: `--only-green`\n"
    );
    let said = mcptest(
        shop.path(),
        &["mutants", "--only-green", "--format", "json"],
    )
    .exits(0);
    let said: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(
        said["red_before"],
        json!(["refunds::refund_agent::trajectory on run-2"])
    );
    let kills_of = |run: u64| {
        let mutants = said["mutants"].as_array().unwrap().iter();
        mutants
            .filter(|mutant| {
                mutant["run"] == run && mutant["killed_by"].to_string().contains("trajectory")
            })
            .count()
    };
    assert!(kills_of(1) > 0 && kills_of(2) == 0);
}

#[test]
fn the_exit_status_says_whether_enough_is_noticed() {
    let shop = shop(&good());
    let under = mcptest(shop.path(), &["mutants", "--fail-under", "99"]).exits(1);
    assert!(under.stderr.contains("% is under 99%\n"), "{under}");
    mcptest(shop.path(), &["mutants", "--fail-under", "2"]).exits(0);
    let share = mcptest(shop.path(), &["mutants", "--fail-under", "0.8"]).exits(2);
    assert!(share.stderr.contains("write 80"), "{share}");
    // No change of these runs is harmless.
    let none = mcptest(shop.path(), &["mutants", "--fail-brittle", "20"]).exits(3);
    assert!(none.stderr.contains("so there is no brittleness"), "{none}");
    for wrong in [
        ["--shard", "5/4"],
        ["--shard", "x"],
        ["--fail-under", "101"],
        ["--fail-brittle", "nan"],
    ] {
        mcptest(shop.path(), &[&["mutants"][..], &wrong].concat()).exits(2);
    }
    let nothing = mcptest(shop.path(), &["mutants", "no_such_agent"]).exits(3);
    assert!(
        nothing
            .stderr
            .contains("error: no case has this name: no_such_agent\n"),
        "{nothing}"
    );
}

#[test]
fn runs_that_failed_are_left_alone() {
    let shop = shop(&good());
    for run in 1..=2 {
        let path = shop.at(&format!(
            "suites/cassettes/Refund_agent__gpt-5/run-{run}.json"
        ));
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text.replace("\"passed\": true", "\"passed\": false")).unwrap();
    }
    let said = mcptest(shop.path(), &["mutants"]).exits(3);
    assert_eq!(
        said.stderr,
        "error: there is no run that can be broken\n\nhelp: the command does not break runs that failed; record runs that pass\n"
    );
}

#[test]
fn shards_together_are_all_mutants_and_all_is_more() {
    let shop = shop(&good());
    let count = |more: &[&str]| {
        let said = mcptest(
            shop.path(),
            &[&["mutants", "--format", "json"], more].concat(),
        )
        .exits(0);
        let said: Value = serde_json::from_str(&said.stdout).unwrap();
        said["mutants"].as_array().unwrap().len()
    };
    let all = count(&[]);
    assert_eq!(
        all,
        (1..=3)
            .map(|part| count(&["--shard", &format!("{part}/3")]))
            .sum::<usize>()
    );
    assert!(count(&["--per-operator", "1"]) < count(&["--all"]));
    // They were counted from 0 before.
    let refused = mcptest(shop.path(), &["mutants", "--shard", "0/3"]).exits(2);
    let told =
        "shards are counted from 1, as nextest counts them: the first is `1/3`, the last is `3/3`";
    assert!(refused.stderr.contains(told), "{refused}");
}

#[test]
fn a_suggested_plan_kills_what_the_suite_did_not() {
    let shop = shop(&[("refund", json!({ "order": 7 }))]);
    // Two runs that are equal in every value are one run copied.
    let second = shop.at("suites/cassettes/Refund_agent__gpt-5/run-2.json");
    let text = fs::read_to_string(&second).unwrap();
    fs::write(&second, text.replace("Done.", "It is done.")).unwrap();
    let without = SUITE.split("    trajectory:").next().unwrap();
    shop.write(
        "suites/refunds.yml",
        format!("{without}    calls: {{ max: 4 }}\n"),
    );
    let said = mcptest(shop.path(), &["mutants", "--suggest"]).exits(0);
    let (_, plan) = said
        .stdout
        .split_once("# refunds::refund_agent: 2 passing runs agree\n")
        .unwrap();
    assert_eq!(
        plan,
        "trajectory:\n  over: writes\n  mode: strict\n  calls:\n    - { name: \"refund\", args: { exact: {\"order\":7} }, is_error: false }\n"
    );
    let indented: String = plan.lines().map(|line| format!("    {line}\n")).collect();
    shop.write("suites/refunds.yml", format!("{without}{indented}"));
    mcptest(shop.path(), &["mutants"]).exits(0);
    let killed = fs::read_to_string(shop.at("target/mcptest/mutants/killed.txt")).unwrap();
    assert!(killed.lines().any(|line| line == LINE), "{killed}");
}

/// What only reads says the recording, and the agent's `narrative`; a name alone may say otherwise.
#[test]
fn a_suggested_plan_goes_by_what_is_known_of_the_tools() {
    let calls = [
        ("order_history", json!({ "order": 7 })),
        ("get_lock", json!({ "order": 7 })),
    ];
    let run = |closing: &str| {
        let mut run = support::run_of(&calls);
        run["tools"] = json!([
            { "name": "get_order" }, { "name": "order_history", "read_only": true }, { "name": "get_lock" }
        ]);
        run["trace"]["final_response"] = json!(closing);
        run
    };
    let folder = shop(&[])
        .with_run(
            "suites/cassettes/Refund_agent__gpt-5/run-1.json",
            &run("Seen."),
        )
        .with_run(
            "suites/cassettes/Refund_agent__gpt-5/run-2.json",
            &run("Looked."),
        );
    let without = SUITE.split("    trajectory:").next().unwrap();
    let narrative = format!("{without}    narrative: {{ mutating_tools: [get_lock] }}\n");
    folder.write("suites/refunds.yml", &narrative);
    let said = mcptest(folder.path(), &["mutants", "--suggest"]).exits(0);
    let (_, plan) = said.stdout.split_once("2 passing runs agree\n").unwrap();
    assert_eq!(
        plan,
        "trajectory:\n  over: writes\n  mode: strict\n  calls:\n    - { name: \"get_lock\", args: { exact: {\"order\":7} }, is_error: false }\n"
    );
    let indented: String = plan.lines().map(|line| format!("    {line}\n")).collect();
    folder.write("suites/refunds.yml", format!("{narrative}{indented}"));
    mcptest(folder.path(), &["explain"]).exits(0);
}

#[test]
fn a_suggestion_for_an_agent_that_changes_nothing_lets_nothing_change() {
    let mut folder = shop(&[]);
    folder = folder.with_run("suites/cassettes/Refund_agent__gpt-5/run-2.json", &{
        let mut run = support::run_of(&[]);
        run["tools"] = json!(["shop::get_order(order)", "shop::refund(order)"]);
        run
    });
    let first = folder.at("suites/cassettes/Refund_agent__gpt-5/run-1.json");
    fs::write(&first, format!("{:#}", support::run_of(&[]))).unwrap();
    let without = SUITE.split("    trajectory:").next().unwrap();
    folder.write(
        "suites/refunds.yml",
        format!("{without}    calls: {{ max: 4 }}\n"),
    );
    let said = mcptest(folder.path(), &["mutants", "--suggest"]).exits(0);
    let told = "# refunds::refund_agent: 2 passing runs agree: nothing changes\ntrajectory: { over: writes, mode: strict, calls: [] }\n";
    assert!(said.stdout.ends_with(told), "{said}");
    folder.write(
        "suites/refunds.yml",
        format!("{without}    trajectory: {{ over: writes, mode: strict, calls: [] }}\n"),
    );
    mcptest(folder.path(), &["mutants"]).exits(0);
}

/// What `reliability` counts is no case of its own in `report`, and no red gate here.
#[test]
fn a_gate_that_reliability_counts_is_not_red() {
    let shop = shop(&[]);
    let reliability = "    expect: [{ target: tool_names, matcher: { contains: refund } }]\n    reliability:\n      \
                       outcome: [expect, trajectory]\n      expect: [{ target: reliability.pass_rate, matcher: { min: 50 } }]\n";
    shop.write("suites/refunds.yml", format!("{SUITE}{reliability}"));
    mcptest(shop.path(), &["report"]).exits(0);
    let said = mcptest(shop.path(), &["mutants", "--format", "json"]).exits(0);
    let said: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(said["red_before"], json!([]));
    let by_trajectory = |mutant: &&Value| mutant["killed_by"].to_string().contains("trajectory");
    let mut killed = said["mutants"]
        .as_array()
        .unwrap()
        .iter()
        .filter(by_trajectory);
    assert!(killed.all(|mutant| mutant["run"] == 1));
    // Less than it asks for is red as ever.
    let red = reliability.replace("min: 50", "min: 51");
    shop.write("suites/refunds.yml", format!("{SUITE}{red}"));
    let said = mcptest(shop.path(), &["mutants"]).exits(2);
    assert!(
        said.stderr
            .contains("red: refunds::refund_agent::reliability\n"),
        "{said}"
    );
    // `expect` has a verdict again where only another gate is counted.
    let other = reliability.replace("outcome: [expect, trajectory]", "outcome: [trajectory]");
    shop.write("suites/refunds.yml", format!("{SUITE}{other}"));
    let said = mcptest(shop.path(), &["mutants"]).exits(2);
    assert!(
        said.stderr
            .contains("red: refunds::refund_agent::expect on run-2\n"),
        "{said}"
    );
}

/// One of two faults fires in every run, the other in none: each run by itself holds, all together do not.
#[test]
fn a_gate_that_holds_for_each_run_and_not_for_all_is_red() {
    let shop = shop(&good());
    let suite = "\
faults:
  - { name: dead, target: { tool: refund }, kind: hang }
  - { name: never, target: { tool: cancel_order }, kind: hang }
agents:
  - name: Refund agent
    model: gpt-5
    prompt: Please refund order 7.
    runs: 2
    inject: [dead, never]
    calls: { max: 4 }
    recovery:
      expect: [{ target: recovery.detections, matcher: { min: 1 } }]
";
    shop.write("suites/refunds.yml", suite);
    for number in 1..=2 {
        let path = format!("suites/cassettes/Refund_agent__gpt-5/run-{number}.json");
        let text = fs::read_to_string(shop.at(&path)).unwrap();
        let mut run: Value = serde_json::from_str(&text).unwrap();
        run["trace"]["tool_results"][1]["is_error"] = true.into();
        shop.write(&path, format!("{run:#}"));
    }
    let said = mcptest(shop.path(), &["mutants"]).exits(2);
    assert!(
        said.stderr
            .contains("red: refunds::refund_agent::recovery\nerror: 1 gate is red"),
        "{said}"
    );
    let arguments = ["mutants", "--only-green", "--format", "json"];
    let said = mcptest(shop.path(), &arguments).exits(0);
    let found: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(
        found["red_before"],
        json!(["refunds::refund_agent::recovery"])
    );
    let mutants = found["mutants"].as_array().unwrap();
    let mut by = mutants.iter().map(|mutant| mutant["killed_by"].to_string());
    assert!(by.all(|by| !by.contains("recovery")), "{said}");
}
