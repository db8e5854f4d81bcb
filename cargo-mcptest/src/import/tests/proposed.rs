//! What is said of the runs and the tools that the first suite is made of.

use serde_json::{Value, json};

use super::{Desk, lines, record};

/// Which runs look bad is said, with what is seen in them.
#[test]
fn runs_that_look_bad_are_named() {
    let talk = |id: usize, last: &str| {
        let order = json!({ "id": "c1", "type": "function", "function": { "name": "get_order", "arguments": "{}" } });
        let mut messages = vec![
            json!({ "role": "user", "content": "Where is it?" }),
            json!({ "role": "assistant", "content": null, "tool_calls": [order] }),
            json!({ "role": "tool", "tool_call_id": "c1", "content": "shipped" }),
        ];
        if !last.is_empty() {
            messages.push(json!({ "role": "assistant", "content": last }));
        }
        json!({ "id": format!("r{id}"), "model": "gpt-5", "messages": messages })
    };
    let desk = Desk::new();
    let runs = [
        talk(1, "Shipped."),
        talk(2, ""),
        talk(3, "It is on its way."),
    ];
    desk.write("log.jsonl", lines(&runs));
    let said = desk.import(&["log.jsonl", "--check"]);
    assert!(
        said.out
            .contains("suspect: log run-2: it says nothing at its end (set aside)\n"),
        "{said:?}"
    );
    let said = desk.import(&["log.jsonl", "--format", "json"]);
    let said: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(
        said["suspects"],
        json!([{ "agent": "log", "model": "gpt-5", "run": 2, "set_aside": true,
                 "reasons": ["it says nothing at its end"] }])
    );
    assert!(
        desk.suite()
            .contains("# without run-2: it says nothing at its end\n")
    );
    let again = desk.import(&["log.jsonl"]);
    assert!(again.out.contains("suspect: log run-2: "), "{again:?}");
}

/// Which tools were taken for reads is said, and by whom: a person may know better.
#[test]
fn what_tools_are_taken_for_is_said() {
    let call = |id: usize, name: &str| json!({ "id": format!("c{id}"), "type": "function", "function": { "name": name, "arguments": "{}" } });
    let names = ["query_database", "web_search", "audit"];
    let calls: Vec<Value> = (0..).zip(names).map(|(id, name)| call(id, name)).collect();
    let result =
        |id: usize| json!({ "role": "tool", "tool_call_id": format!("c{id}"), "content": "ok" });
    let mut messages = vec![
        json!({ "role": "user", "content": "Clean up." }),
        json!({ "role": "assistant", "content": null, "tool_calls": calls }),
    ];
    messages.extend((0..3).map(result));
    messages.push(json!({ "role": "assistant", "content": "Done." }));
    let audit = json!({ "type": "function", "annotations": { "readOnlyHint": true },
                        "function": { "name": "audit", "parameters": {} } });
    let run = json!({ "id": "r1", "model": "gpt-5", "messages": messages, "tools": [audit] });
    let desk = Desk::new();
    desk.write("log.jsonl", lines(&[run]));
    let said = desk.import(&["log.jsonl", "--format", "json", "--check"]);
    let said: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(
        said["tools"],
        json!([{ "name": "audit", "reads": true, "by": "recording" },
               { "name": "query_database", "reads": true, "by": "name" },
               { "name": "web_search", "reads": false, "by": "name" }])
    );
    let said = desk.import(&["log.jsonl"]);
    let kinds = [
        "tools that only read, by their names: query_database",
        "tools that change something, by their names: web_search",
        "tools that only read, as their servers say: audit",
    ];
    for kind in kinds {
        assert!(said.out.contains(&format!("\n{kind}\n")), "{said:?}");
        assert!(
            desk.suite().contains(&format!("\n# {kind}\n")),
            "{}",
            desk.suite()
        );
    }
    assert!(
        desk.suite().contains("readonly_tools: [\"audit\"]"),
        "{}",
        desk.suite()
    );
    let recorded = &desk.recording()["tools"][0];
    assert_eq!(recorded["read_only"], json!(true));
}

/// A server's word counts whichever run has it, and whenever the tool is called.
#[test]
fn what_a_server_says_counts_before_the_tool_is_called() {
    let call = json!({ "id": "c1", "type": "function", "function": { "name": "query_db", "arguments": "{}" } });
    let offers = json!({ "type": "function", "annotations": { "readOnlyHint": false },
                         "function": { "name": "query_db", "parameters": {} } });
    let asked = json!({ "role": "user", "content": "Clean up." });
    let done = json!({ "role": "assistant", "content": "Done." });
    let mut runs = [
        json!({ "id": "r1", "model": "gpt-5", "messages": [asked, done], "tools": [offers] }),
        json!({ "id": "r2", "model": "gpt-5", "messages": [
            asked, { "role": "assistant", "content": null, "tool_calls": [call] },
            { "role": "tool", "tool_call_id": "c1", "content": "ok" }, done,
        ] }),
    ];
    for _ in 0..2 {
        let desk = Desk::new();
        desk.write("log.jsonl", lines(&runs));
        let said = desk.import(&["log.jsonl"]);
        assert!(
            said.out
                .contains("\ntools that change something, as their servers say: query_db\n"),
            "{said:?}"
        );
        assert!(!said.out.contains("by their names"), "{said:?}");
        runs.reverse();
    }
}

/// Runs that did not do what they should say nothing of what to ask for.
#[test]
fn an_agent_without_a_passed_run_gets_no_plan() {
    let run = |id: usize| {
        let call = json!({ "id": "c1", "type": "function", "function": { "name": "delete_ticket", "arguments": "{}" } });
        json!({ "id": format!("r{id}"), "model": "gpt-5", "passed": false, "messages": [
            { "role": "user", "content": "Close it." },
            { "role": "assistant", "content": null, "tool_calls": [call] },
            { "role": "tool", "tool_call_id": "c1", "content": "ok" },
            { "role": "assistant", "content": "Deleted." },
        ] })
    };
    for (runs, why) in [
        (vec![run(1)], "its run did not pass"),
        (vec![run(1), run(2)], "none of its 2 runs passed"),
    ] {
        let desk = Desk::new();
        desk.write("log.jsonl", lines(&runs));
        let said = desk.import(&["log.jsonl"]);
        assert_eq!(said.status, 0, "{said:?}");
        let asked = format!(
            "    runs: {}\n    # no run passed, so the import writes no gates\n    \
             skip: \"{why}; add a run that passed, or write your own demand\"\n    expect:\n      \
             - {{ target: outcome.passed, matcher: {{ exact: true }} }}\n",
            runs.len()
        );
        assert!(desk.suite().ends_with(&asked), "{}", desk.suite());
    }
}

/// Where the suite is there, no run is left out of anything.
#[test]
fn nothing_is_set_aside_where_nothing_is_proposed() {
    let run = |id: usize, closing: &str| {
        json!({ "id": format!("r{id}"), "model": "gpt-5", "messages": [
            { "role": "user", "content": "Hello?" }, { "role": "assistant", "content": closing },
        ] })
    };
    let desk = Desk::new();
    desk.write(
        "log.jsonl",
        lines(&[run(1, "Hello."), run(2, " "), run(3, "Hi.")]),
    );
    let aside = "suspect: log run-2: it says nothing at its end (set aside)\n";
    let said = desk.import(&["log.jsonl"]);
    assert!(said.out.contains(aside), "{said:?}");
    let said = desk.import(&["log.jsonl"]);
    assert!(
        said.out
            .contains("suspect: log run-2: it says nothing at its end\n"),
        "{said:?}"
    );
}

/// Who imports the next runs must say the same of them; secrets are nobody's to read.
#[test]
fn the_options_of_an_import_stand_in_its_suite() {
    let desk = Desk::new();
    let talk = json!({ "model": "m", "messages": [
        { "role": "user", "content": "p" }, { "role": "assistant", "content": "x" },
    ] });
    desk.write("log.jsonl", lines(&[talk]));
    let first = |arguments: &[&str]| {
        let arguments = [&["log.jsonl"], arguments].concat();
        assert_eq!(desk.import(&arguments).status, 0);
        let suite = desk.suite();
        assert_eq!(
            desk.import(&[&arguments[..], &["--undo"]].concat()).status,
            0
        );
        assert_eq!(desk.suite(), "");
        let mut lines = suite.lines().skip(1);
        lines.next().unwrap_or_default().to_owned()
    };
    assert_eq!(first(&[]), "agents:");
    assert_eq!(first(&["--jsonl"]), "agents:");
    assert_eq!(
        first(&[
            "--error-if",
            "(?i)it's an error",
            "--subagents",
            "omit",
            "--redact",
            "hunter2",
            "--server",
            "shop"
        ]),
        "# The next import needs the same options: --error-if '(?i)it'\\''s an error' --server shop --subagents omit --redact …"
    );
}

/// A name on several lines is the agent's on one.
#[test]
fn the_name_of_an_agent_is_remembered_as_it_is_written() {
    let desk = Desk::new();
    desk.write("log.jsonl", lines(&[record("r1", "p", "x")]));
    assert_eq!(desk.import(&["log.jsonl", "--agent", "A\nB"]).status, 0);
    let suite = desk.suite();
    assert!(
        suite.contains("needs the same options: --agent 'A B'\n"),
        "{suite}"
    );
    assert!(suite.contains("  - name: \"A B\"\n"), "{suite}");
}

/// What no run did well is asked of the next all the same, and nobody shall take it for good.
#[test]
fn agents_of_which_every_run_looks_bad_are_said_to_be_known_for_nothing() {
    let desk = Desk::new();
    let runs = [
        record("a", "p", ""),
        record("b", "p", ""),
        record("c", "q", ""),
        record("d", "r", "Hi."),
        record("e", "r", ""),
    ];
    desk.write("log.jsonl", lines(&runs));
    let said = desk.import(&["log.jsonl"]);
    assert!(
        said.out.contains("note: every run of `log: p` and of 1 other agent looks bad: the first suite may demand bad behaviour\n"),
        "{said:?}"
    );
    let told = "    # every run looks bad, so nothing here is known to be good: it says nothing at its end\n";
    let suite = desk.suite();
    let told = suite
        .split("  - name: ")
        .skip(1)
        .map(|entry| entry.contains(told));
    assert_eq!(told.collect::<Vec<_>>(), [true, true, false], "{suite}");
}

/// A file a run makes an agent a file.
#[test]
fn many_agents_of_one_run_are_told_how_to_be_one() {
    let desk = Desk::new();
    for number in 0..3 {
        desk.write(
            &format!("logs/{number}.json"),
            record(&number.to_string(), "p", "x").to_string(),
        );
    }
    let hint = "note: 3 agents have one run each. To make one agent of several runs: ";
    let group = "`--group-by task` or `--group-by /POINTER` if the runs do the same task\n";
    let agent = "`--agent NAME` if the user asked the same";
    let said = desk.import(&["logs", "--check"]);
    assert!(
        said.out.contains(&format!("{hint}{agent}, {group}")),
        "{said:?}"
    );
    let said = desk.import(&["logs", "--group-by", "/id", "--check"]);
    assert!(said.out.contains(&format!("{hint}{agent}\n")), "{said:?}");
    let said = desk.import(&["logs", "--group-by", "/id", "--agent", "a", "--check"]);
    assert!(!said.out.contains("one run each"), "{said:?}");
    let said = desk.import(&["logs", "--group-by", "/model", "--agent", "a", "--check"]);
    assert!(!said.out.contains("one run each"), "{said:?}");
    let said = desk.import(&["logs", "--agent", "a"]);
    assert!(!said.out.contains("one run each"), "{said:?}");
}

#[test]
fn a_grouping_by_what_no_run_has_is_told() {
    let desk = Desk::new();
    desk.write("a.json", record("1", "p", "x").to_string());
    for by in ["/nosuch", "task"] {
        let said = desk.import(&["a.json", "--group-by", by, "--check"]);
        let told = said.err.contains("no run has the field to group by\n");
        assert!(told && said.err.contains(by), "{said:?}");
        assert_eq!(said.status, 1, "{said:?}");
    }
    let said = desk.import(&["a.json", "--group-by", "/id", "--check"]);
    assert_eq!(said.status, 0, "{said:?}");
}

/// A rule for errors says nothing of what it does not match.
#[test]
fn results_that_no_rule_matches_stay_unknown_and_are_said_to() {
    let call =
        json!({ "id": "c1", "type": "function", "function": { "name": "get", "arguments": "{}" } });
    let run = json!({ "id": "r", "model": "m", "messages": [
        { "role": "user", "content": "p" },
        { "role": "assistant", "content": null, "tool_calls": [call] },
        { "role": "tool", "tool_call_id": "c1", "content": "timed out" },
        { "role": "assistant", "content": "x" },
    ] });
    let desk = Desk::new();
    desk.write("log.jsonl", lines(&[run]));
    for (rule, is_error, told) in [
        (
            "^Error",
            Value::Null,
            "`--error-if` finds failed calls only; a result that it does not match stays unknown\n",
        ),
        ("timed out", json!(true), ""),
    ] {
        let said = desk.import(&["log.jsonl", "--error-if", rule, "--replace"]);
        assert!(said.out.contains(told), "{said:?}");
        assert_eq!(
            desk.recording()["trace"]["tool_results"][0]["is_error"],
            is_error
        );
    }
}

/// A policy of pages stands once, and an agent without one is not given it.
#[test]
fn a_system_prompt_that_all_agents_have_is_a_default() {
    let says = |id: &str, system: &str, prompt: &str| {
        let mut run = record(id, prompt, "x");
        run["system"] = json!(system);
        run
    };
    let first = |runs: &[Value]| {
        let desk = Desk::new();
        desk.write("log.jsonl", lines(runs));
        assert_eq!(desk.import(&["log.jsonl"]).status, 0);
        desk
    };
    let policy = "Be kind: \"always\".\nNever ${swear}.";
    let desk = first(&[says("a", policy, "p"), says("b", policy, "q")]);
    let suite = desk.suite();
    let written =
        "defaults:\n  system_prompt: \"Be kind: \\\"always\\\".\\nNever $${swear}.\"\nagents:\n";
    assert!(suite.contains(written), "{suite}");
    assert_eq!(suite.matches("system_prompt").count(), 1, "{suite}");
    // The same import finds its agents, and another gets none of it.
    let again = desk.import(&["log.jsonl"]);
    assert!(!again.out.contains("the suite does not have"), "{again:?}");
    desk.write("other.jsonl", lines(&[record("c", "r", "x")]));
    let other = desk.import(&["other.jsonl"]);
    assert!(
        other
            .out
            .contains("    prompt: \"r\"\n    system_prompt: \"\"\n"),
        "{other:?}"
    );
    let entry = other.out.split_once("below `agents:`\n").unwrap().1;
    desk.write("suites/x.yml", suite + entry);
    let again = desk.import(&["other.jsonl"]);
    assert!(
        !again.out.contains("the suite does not have") && !again.out.contains("stale"),
        "{again:?}"
    );
    for runs in [
        vec![says("a", "s", "p")],
        vec![says("a", "s", "p"), says("b", "t", "q")],
        vec![says("a", "s", "p"), record("b", "q", "x")],
    ] {
        let suite = first(&runs).suite();
        assert!(
            !suite.contains("defaults:") && suite.contains("    system_prompt: \"s\"\n"),
            "{suite}"
        );
    }
}
