//! `cargo mcptest explain` and `report`: what they say, and their exit status.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::fs;

use e2e_support::folder::Folder;
use e2e_support::process::{Finished, command, run};
use e2e_support::workshop::{cargo, manifest, share_packages, share_target};
use serde_json::{Value, json};
use support::four_agents::four_agents;
use support::{SUITE, good, mcptest, run_of, shop};

const BOTH: &str = "2 runs, suites/cassettes/Refund_agent__gpt-5/run-1.json … suites/cassettes/Refund_agent__gpt-5/run-2.json";

#[test]
fn a_case_is_explained_by_its_numbers_and_what_was_asked_of_them() {
    let shop = shop(&good());
    let said = mcptest(shop.path(), &["explain", "::calls"]).exits(0);
    assert_eq!(said.stderr, "");
    assert_eq!(
        said.stdout,
        format!(
            "refunds::refund_agent::calls: passed\n  asked in suites/refunds.yml:11:5\n  judged: {BOTH}\n  \
             items to judge: 4 calls\n  \
             target            run 1  run 2  what it is\n  \
             calls.count       2      2      a count, 0 or more\n  \
             calls.errors      0      0      a count, 0 or more\n  \
             calls.steps       none   none   a count, 1 or more\n  \
             calls.tokens      1000   1000   a number of tokens, 0 or more\n  \
             calls.ms          none   none   a number of milliseconds, 0 or more\n  \
             calls.slowest_ms  none   none   a number of milliseconds, 0 or more\n  \
             calls.usd         none   none   a number of US dollars, 0 or more\n\n  \
             run 1 (suites/cassettes/Refund_agent__gpt-5/run-1.json):\n\n  calls: get_order, refund\n\n  \
             run 2 (suites/cassettes/Refund_agent__gpt-5/run-2.json):\n\n  calls: get_order, refund\n\n\
             1 case: 1 passed, 0 failed, 0 ignored\n"
        )
    );
}

#[test]
fn a_red_case_is_a_finding_with_its_margin_and_what_it_was_made_of() {
    let shop = shop(&[]);
    let said = mcptest(shop.path(), &["explain", "::trajectory"]).exits(1);
    for part in [
        "refunds::refund_agent::trajectory: failed\n",
        "  trajectory.passed >= 1: does not hold, margin -1 (the gate's default)\n",
        "  error: `trajectory` does not hold in 1 of 2 runs: the calls differ from the plan (trajectory.passed: 0, at least 1)",
        "  - refund",
    ] {
        assert!(said.stdout.contains(part), "{part} in\n{said}");
    }
    let json = mcptest(shop.path(), &["explain", "--format", "json"]).exits(1);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["format"], "explain/1.0");
    assert_eq!(
        json["harness"],
        json!({ "here": env!("CARGO_PKG_VERSION"), "locked": null })
    );
    let cases = json["cases"].as_array().unwrap();
    let names: Vec<&Value> = cases.iter().map(|case| &case["result"]["case"]).collect();
    assert_eq!(
        names,
        [
            "refunds::refund_agent",
            "refunds::refund_agent::calls",
            "refunds::refund_agent::trajectory"
        ]
    );
    assert!(cases[2]["made_of"].to_string().contains("refund"));
}

#[test]
fn a_red_case_whose_numbers_hold_says_why_it_is_red() {
    let shop = shop(&[]);
    for (place, calls) in [good(), Vec::new()].iter().enumerate() {
        let mut run = run_of(calls);
        run["tools"] = json!([
            "get_order(order: integer) #0a",
            "refund(order: integer) #0b"
        ]);
        let path = format!(
            "suites/cassettes/Refund_agent__gpt-5/run-{}.json",
            place + 1
        );
        shop.write(&path, run.to_string());
    }
    let (agent, _) = SUITE.split_once("    trajectory:").unwrap();
    let forbids = "    trajectory: { forbid: [refnd] }\n";
    shop.write("suites/refunds.yml", format!("{agent}{forbids}"));
    let said = mcptest(shop.path(), &["explain", "::trajectory"]).exits(1);
    for part in [
        "  trajectory.passed >= 1: holds, margin 0 (the gate's default)\n",
        "  error: `trajectory` names `refnd`, and the recordings list no such tool\n    \
         note: tools in the recordings: `get_order`, `refund`\n    help: did you mean `refund`?\n",
    ] {
        assert!(said.stdout.contains(part), "{part} in\n{said}");
    }
}

#[test]
fn a_gate_that_reliability_counts_is_explained_by_its_numbers_too() {
    let shop = shop(&[]);
    let reliability = "    reliability:\n      outcome: [trajectory]\n      \
                       expect: [{ target: reliability.pass_rate, matcher: { min: 50 } }]\n";
    shop.write("suites/refunds.yml", format!("{SUITE}{reliability}"));
    let said = mcptest(shop.path(), &["explain", "::trajectory"]).exits(3);
    for part in [
        "refunds::refund_agent::trajectory: ignored (judged by `reliability`)\n  asked in suites/refunds.yml:6:5\n",
        &format!("  judged: {BOTH}\n  items to judge: 3 calls\n"),
        "  trajectory.mismatch_count      0      1  a count, 0 or more\n",
        "  trajectory.passed >= 1: does not hold, margin -1 (the gate's default)\n",
        "  - refund",
    ] {
        assert!(said.stdout.contains(part), "{part} in\n{said}");
    }
    // An agent that is skipped has no numbers: nothing of it is judged.
    let skipped = format!("{SUITE}{reliability}    skip: flaky\n");
    shop.write("suites/refunds.yml", skipped);
    let said = mcptest(shop.path(), &["explain", "::trajectory"]).exits(3);
    assert!(said.stdout.contains("ignored (skipped: flaky)"), "{said}");
    assert!(!said.stdout.contains("trajectory.passed"), "{said}");
}

/// Who asks why a claim is believed sees the call.
#[test]
fn a_claim_is_explained_by_the_call_that_supports_it() {
    let shop = shop(&good());
    shop.write(
        "suites/refunds.yml",
        format!("{SUITE}    narrative: {{}}\n"),
    );
    for number in 1..=2 {
        let mut run = run_of(&good()[number % 2..]);
        run["trace"]["final_response"] =
            json!("I have refunded your order. I have cancelled the delivery.");
        let path = format!("suites/cassettes/Refund_agent__gpt-5/run-{number}.json");
        shop.write(&path, format!("{run:#}"));
    }
    let said = mcptest(shop.path(), &["explain", "::narrative"]);
    let second = said.stdout.split_once("  run 2 (").unwrap().1;
    let (absent, supported) = second
        .split_once("  supported (rule `i-have-done`):\n")
        .unwrap();
    assert!(
        absent.contains("| I have cancelled the delivery."),
        "{said}"
    );
    assert_eq!(
        supported.lines().take(3).collect::<Vec<_>>(),
        [
            "    | I have refunded your order.",
            "    | ^^^^^^^^^^^^^^^^^^^^^^^^^^",
            "    call 1: refund {\"order\":7,\"reason\":\"broken\"}: supports the claim",
        ],
        "{said}"
    );
}

#[test]
fn no_case_of_a_name_is_no_verdict() {
    let shop = shop(&good());
    let said = mcptest(shop.path(), &["explain", "trajectry"]).exits(3);
    assert_eq!(
        said.stderr,
        "error: no case has this name: trajectry\n\nhelp: did you mean `trajectory`?\n"
    );
    let exact = mcptest(shop.path(), &["explain", "--exact", "refunds"]).exits(3);
    assert!(
        exact
            .stderr
            .contains("error: no case has this name: refunds\n"),
        "{exact}"
    );
    mcptest(
        shop.path(),
        &["explain", "--exact", "refunds::refund_agent"],
    )
    .exits(0);
}

#[test]
fn a_suite_that_does_not_load_is_in_the_report() {
    let shop = shop(&good()).with_file("suites/odd.yml", "agnets: []\n");
    let said = mcptest(shop.path(), &["report", "--format", "markdown"]).exits(2);
    assert!(said.stdout.contains("❌ odd::load: "), "{said}");
    assert!(said.stdout.contains("did you mean `agents`?"), "{said}");
    assert!(
        said.stdout.contains("**3 passed, 1 failed, 0 ignored**"),
        "{said}"
    );
}

#[test]
fn a_report_for_a_pull_request_shows_agents_and_failures() {
    let skipped = shop(&good());
    skipped.write("suites/refunds.yml", format!("{SUITE}    skip: flaky\n"));
    let said = mcptest(skipped.path(), &["report", "--format", "markdown"]).exits(3);
    let row = "| refunds::refund\\_agent | skipped: flaky |  | ➖ ";
    assert!(said.stdout.contains(row), "{said}");
    let green = mcptest(shop(&good()).path(), &["report", "--format", "markdown"]).exits(0);
    assert_eq!(
        green.stdout,
        "## Agent tests of shop\n\n**3 passed, 0 failed, 0 ignored**\n\n\
         | agent test | runs passed | tokens of a run | verdicts |\n|---|---|---|---|\n\
         | refunds::refund\\_agent | 2 of 2 | 1000 | ✅ expect, ✅ calls, ✅ trajectory |\n"
    );
    let unknown = shop(&good());
    let mut run = run_of(&good());
    run["outcome"] = json!({});
    unknown.write(
        "suites/cassettes/Refund_agent__gpt-5/run-2.json",
        format!("{run:#}"),
    );
    let said = mcptest(unknown.path(), &["report", "--format", "markdown"]).exits(0);
    // The gates say it of a run whose recording does not, as on the page.
    assert!(said.stdout.contains(" | 2 of 2 | "), "{said}");
    let folder = shop(&[(
        "refund",
        json!({ "order": "```\n</details><script>alert(1)</script>|\u{1b}[31m" }),
    )]);
    let red = mcptest(
        folder.path(),
        &["report", "--format", "markdown", "-o", "report.md"],
    )
    .exits(1);
    assert_eq!(red.stdout, "report.md\n");
    let text = fs::read_to_string(folder.at("report.md")).unwrap();
    let (before, after) = text.split_once("\n````text\n").unwrap();
    assert!(
        before.contains("<details><summary>❌ refunds::refund\\_agent::trajectory: "),
        "{text}"
    );
    let (inside, after) = after.split_once("\n````\n").unwrap();
    assert!(inside.contains("</details><script>"), "{text}");
    assert!(
        !before.contains("<script>") && !after.contains("<script>"),
        "{text}"
    );
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn junit_is_read_back_with_its_properties() {
    let folder = shop(&[("refund", json!({ "order": "\u{1b}]]> & < \"x\" \u{fffe}" }))]);
    let said = mcptest(folder.path(), &["report", "--format", "junit"]).exits(1);
    let document = roxmltree::Document::parse(&said.stdout).unwrap();
    let suites = document.root_element();
    assert_eq!(
        (suites.attribute("name"), suites.attribute("tests")),
        (Some("shop"), Some("3"))
    );
    assert_eq!(suites.attribute("failures"), Some("1"));
    // Nobody took the time of a case that is judged here: none, and no negative one.
    let times = document
        .descendants()
        .filter_map(|node| node.attribute("time"));
    assert!(times.eq(["0.000"; 5]), "{said}");
    let cases: Vec<_> = document
        .descendants()
        .filter(|node| node.has_tag_name("testcase"))
        .collect();
    let case = |name: &str| {
        cases
            .iter()
            .find(|case| case.attribute("name") == Some(name))
            .unwrap()
    };
    let calls = case("refund_agent::calls");
    assert_eq!(calls.attribute("classname"), Some("refunds"));
    let properties: Vec<_> = calls
        .descendants()
        .filter(|node| node.has_tag_name("property"))
        .map(|node| {
            (
                node.attribute("name").unwrap(),
                node.attribute("value").unwrap(),
            )
        })
        .collect();
    assert_eq!(
        properties,
        [
            ("calls.count[run 1]", "2"),
            ("calls.count[run 2]", "2"),
            ("calls.errors[run 1]", "0"),
            ("calls.errors[run 2]", "0"),
            ("calls.tokens[run 1]", "1000"),
            ("calls.tokens[run 2]", "1000"),
        ]
    );
    let failure = case("refund_agent::trajectory")
        .first_element_child()
        .unwrap();
    let failure = if failure.has_tag_name("failure") {
        failure
    } else {
        failure.next_sibling_element().unwrap()
    };
    assert!(failure.text().unwrap().contains("]]> & <"), "{said}");
}

#[test]
fn a_report_for_programs_has_every_result() {
    let said = mcptest(shop(&good()).path(), &["report", "--format", "json"]).exits(0);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(report["format"], "report/1.0");
    assert_eq!(
        report["counts"],
        json!({ "passed": 3, "failed": 0, "ignored": 0 })
    );
    assert_eq!(report["cases"][1]["targets"][0]["per_run"], json!([2, 2]));
}

#[test]
fn checks_in_rust_are_in_it_when_the_tests_run() {
    let check = "fn main() -> std::process::ExitCode {\n    mcptest::harness!()\n        .check(\"polite\", |_| Ok::<(), String>(()))\n        .run()\n}\n";
    let plain = shop(&good());
    let folder = Folder::new()
        .with_file(
            "Cargo.toml",
            manifest(
                "report-checks",
                "[[test]]\nname = \"agents\"\nharness = false\n",
            ),
        )
        .with_file("src/lib.rs", "")
        .with_file("tests/agents.rs", check);
    for (path, bytes) in e2e_support::folder::collect(&plain.at("suites")) {
        folder.write(&format!("suites/{path}"), bytes);
    }
    share_packages(folder.path());
    let mut line = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder.path());
    line.args(["report", "--format", "markdown", "--with-checks"]);
    share_target(&mut line);
    let said = run(&mut line).exits(0);
    assert!(said.stdout.contains("✅ polite"), "{said}");

    // The results stay where they are asked for, and those of cases that are gone are named.
    let results = folder.at("results");
    let mut tests = cargo(folder.path(), &["test"]);
    let ran = run(tests.env("MCPTEST_RESULTS", &results)).exits(0);
    // In the shared target folder nothing else would remove them.
    for executable in ran.executables() {
        _ = fs::remove_file(executable);
    }
    let suite = fs::read_to_string(folder.at("suites/refunds.yml")).unwrap();
    folder.write(
        "suites/refunds.yml",
        suite.replace("    calls: { max: 4 }\n", ""),
    );
    let said = mcptest(
        folder.path(),
        &["report", "--format", "markdown", "--results", "results"],
    )
    .exits(0);
    assert!(
        said.stderr.contains("note: refunds::refund_agent::calls is left out: the suites have no such case any more\n"),
        "{said}"
    );
    assert!(
        said.stdout.contains("**3 passed, 0 failed, 0 ignored**"),
        "{said}"
    );
}

#[test]
fn results_that_are_not_there_are_told() {
    let shop = shop(&good());
    let said = mcptest(shop.path(), &["report", "--results", "nowhere"]).exits(2);
    assert_eq!(
        said.stderr,
        "error: the results cannot be read: nowhere: no such folder\n\n\
             help: `MCPTEST_RESULTS=nowhere cargo test` writes results there\n"
    );
}

#[test]
fn a_result_that_is_cut_or_gone_is_no_verdict() {
    let shop = shop(&[]);
    mcptest(shop.path(), &["compare", "--accept", "results"]).exits(0);
    let file = "results/shop/refunds.refund_agent.trajectory.json";
    let text = fs::read_to_string(shop.at(file)).unwrap();
    let read = |arguments: &[&str]| {
        let all = [arguments, &["--results", "results"]].concat();
        mcptest(shop.path(), &all)
    };
    read(&["report", "--format", "json"]).exits(1);

    shop.write(file, &text[..text.len() / 2]);
    let said = read(&["explain"]).exits(2);
    assert!(
        said.stdout
            .ends_with("0 failed, 0 ignored, 1 without a result, 1 unreadable file\n"),
        "{said}"
    );
    let said = read(&["report", "--format", "junit"]).exits(2);
    assert!(said.stdout.contains(" errors=\"2\""), "{said}");

    fs::remove_file(shop.at(file)).unwrap();
    let said = read(&["report", "--format", "json"]).exits(3);
    let missing = "refunds::refund_agent::trajectory";
    let note = format!("note: {missing} has no result: run the tests again\n");
    assert!(said.stderr.contains(&note), "{said}");
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(report["missing"], json!([missing]));
    let said = read(&["report", "--format", "junit"]).exits(3);
    assert!(
        said.stdout
            .contains("<error message=\"it has no result\"/>"),
        "{said}"
    );
    // What a filter leaves out is not missed.
    read(&["explain", "::calls"]).exits(0);
    read(&["explain", "::trajectory"]).exits(3);
}

/// Three agents, of which the last breaks its gate; the first has a tag, and so has the second.
fn tagged() -> Folder {
    let agent = |name: &str, tags: &str| {
        format!(
            "  - {{ name: {name}, model: gpt-5, prompt: Please refund order 7., tags: [{tags}], calls: {{ max: 2 }} }}\n"
        )
    };
    let suite = [
        agent("One", "smoke"),
        agent("Two", "slow"),
        agent("Three", ""),
    ]
    .concat();
    let refund = ("refund", json!({ "order": 7 }));
    let run = |name: &str, calls: &[(&str, Value)]| {
        let mut run = run_of(calls);
        run["agent_name"] = json!(name);
        run
    };
    shop(&good())
        .with_file("suites/refunds.yml", format!("agents:\n{suite}"))
        .with_run("suites/cassettes/One__gpt-5.json", &run("One", &[]))
        .with_run("suites/cassettes/Two__gpt-5.json", &run("Two", &[]))
        .with_run(
            "suites/cassettes/Three__gpt-5.json",
            &run("Three", &[refund.clone(), refund]),
        )
}

fn with_tags(folder: &Folder, tags: &str, arguments: &[&str]) -> Finished {
    let mut line = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder.path());
    run(line.env("MCPTEST_TAGS", tags).args(arguments))
}

#[test]
fn what_is_left_out_by_its_tags_is_ignored_and_not_missed() {
    let shop = tagged();
    mcptest(shop.path(), &["report", "--format", "json"]).exits(1);
    let counts = |tags: &str| {
        let said = with_tags(&shop, tags, &["report", "--format", "json"]);
        let report: Value = serde_json::from_str(&said.stdout).unwrap_or_default();
        let case = |case: &Value| format!("{} {}", case["case"], case["reason"]);
        let ignored = report["cases"].as_array().into_iter().flatten();
        let ignored: Vec<String> = ignored
            .filter(|it| it["status"] == "ignored")
            .map(case)
            .collect();
        (said.code, report["counts"].clone(), ignored)
    };
    let (code, passed, ignored) = counts("smoke");
    assert_eq!(code, Some(0));
    assert_eq!(passed, json!({ "passed": 2, "failed": 0, "ignored": 4 }));
    assert_eq!(
        ignored[..2],
        [
            r#""refunds::three" "not tagged `smoke`, and `MCPTEST_TAGS` asks for it""#,
            r#""refunds::three::calls" "not tagged `smoke`, and `MCPTEST_TAGS` asks for it""#,
        ]
    );
    assert_eq!(counts("!slow").0, Some(1));
    let said = with_tags(&shop, "smoke", &["explain", "refunds::three"]).exits(3);
    assert!(
        said.stdout
            .contains("refunds::three::calls: ignored (not tagged `smoke`"),
        "{said}"
    );
    assert!(!said.stdout.contains("calls: get_order"), "{said}");

    mcptest(shop.path(), &["compare", "--accept", "results"]).exits(0);
    let file = "results/shop/refunds.three.calls.json";
    fs::remove_file(shop.at(file)).unwrap();
    let missing = |tags: &str| {
        let said = with_tags(
            &shop,
            tags,
            &["report", "--results", "results", "--format", "json"],
        );
        let report: Value = serde_json::from_str(&said.stdout).unwrap_or_default();
        report["missing"].as_array().map(Vec::len)
    };
    assert_eq!(missing("!slow"), Some(1));
    assert_eq!(missing("slow"), Some(0));
}

#[test]
fn a_tag_that_no_agent_has_is_an_error() {
    let shop = tagged();
    for arguments in [
        &["report"][..],
        &["explain"],
        &["validate"],
        &["validate", "--fix"],
    ] {
        let said = with_tags(&shop, "typo", arguments).exits(2);
        assert_eq!(
            said.stderr,
            "error: `MCPTEST_TAGS` names `typo`, and no agent of these suites has this tag\n\nhelp: known tags: `slow`, `smoke`\n",
        );
    }
    let suite = fs::read_to_string(shop.at("suites/refunds.yml")).unwrap();
    let skipped = suite.replace("tags: [slow", "skip: because, tags: [slow");
    assert_ne!(skipped, suite);
    let shop = shop.with_file("suites/refunds.yml", skipped);
    let said = with_tags(&shop, "slow", &["report"]).exits(2);
    assert!(
        said.stderr
            .contains("selects only agents that `skip` or `only` leaves out"),
        "{said}"
    );
    let said = with_tags(&shop, "slow", &["validate"]);
    assert!(
        said.stdout
            .contains("1 agent test (2 more left out by `MCPTEST_TAGS`)"),
        "{said}"
    );
    with_tags(&shop, "smoke,!", &["report"]).exits(2);
    with_tags(&shop, "smoke,!smoke", &["report"]).exits(2);
}

#[test]
fn a_snapshot_that_differs_says_what_accepts_it() {
    let suite = SUITE.replace("    calls: { max: 4 }\n", "    snapshot: {}\n");
    let shop = shop(&good()).with_file("suites/refunds.yml", suite);
    let mut line = command(env!("CARGO_BIN_EXE_cargo-mcptest"), shop.path());
    let said = run(line
        .env("INSTA_UPDATE", "always")
        .args(["explain", "::snapshot"]))
    .exits(1);
    let advice = "help: this command writes no snapshot, whatever `INSTA_UPDATE` says: run `cargo test` and then `cargo insta review`, or `INSTA_UPDATE=always cargo test`\n";
    assert!(said.stdout.contains(advice), "{said}");
    assert!(!shop.at("suites/snapshots").exists());
}

#[test]
fn a_report_has_pages_of_evidence_where_they_are_asked_for() {
    let folder = four_agents();
    let page = |arguments: &[&str]| mcptest(folder.path(), &[&["report"], arguments].concat());
    let said = page(&[
        "--baseline",
        "before",
        "--calibrate",
        "--mutants",
        "-o",
        "page.html",
    ]);
    // All cases hold, and two agents are worse than in the baseline.
    said.exits(1);
    let text = fs::read_to_string(folder.at("page.html")).unwrap();
    for id in ["compare", "calibrate", "mutants"] {
        assert!(text.contains(&format!(" id=\"{id}\">")), "{id}");
    }
    let said = page(&["--baseline", "nowhere/at/all"]).exits(2);
    assert!(!folder.at("target/mcptest/report.html").exists(), "{said}");
    let said = page(&["--mutants", "--format", "markdown"]).exits(2);
    assert_eq!(
        said.stderr,
        "error: `--calibrate`, `--mutants` and `--history` are pages of the HTML report\n\n\
         help: for another format, use the commands `calibrate` and `mutants`; only the HTML report has `--history`\n"
    );
}
