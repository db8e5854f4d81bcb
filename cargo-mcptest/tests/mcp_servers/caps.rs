//! Faults, caps and the budget of an agent's own program.

use e2e_support::folder::Folder;
use e2e_support::live::desk::HttpServer;
use e2e_support::process::run;
use scripted_provider::Provider;
use serde_json::{Value, json};

use super::{asks, calls, formats, mcptest, provider, record, record_in, recorded, says, suite};

fn find() -> Value {
    asks("desk__find_order", &json!({ "order_id": "A-1001" }))
}

fn model(asked: usize) -> Provider {
    let mut replies = vec![find(); asked];
    replies.push(says("Order A-1001 is there."));
    provider(&[replies.into()], &[])
}

fn stopped(run: &Value) -> &str {
    run["trace"]["conversation"]["stop_reason"]
        .as_str()
        .unwrap()
}

#[test]
fn faults_are_put_in_at_the_servers() {
    let far = HttpServer::desk(None);
    let faults = "faults: [{ name: flaky, target: { tool: find_order }, kind: recover_after, failures: 1 }]\n";
    let with = suite(&far, faults, "  inject: [flaky]\n  recovery: {}\n");
    let folder = Folder::new().with_file("suites/desk.yml", with.clone());
    record(&folder, &model(2)).exits(0);
    let run = recorded(&folder);
    let results = run["trace"]["tool_results"].as_array().unwrap();
    assert_eq!(
        results[0]["synthesized"],
        json!({ "fault": "flaky", "kind": "recover_after" })
    );
    assert_eq!(results[0]["is_error"], true);
    assert_eq!(results[1]["is_error"], false);
    assert!(results[1].get("synthesized").is_none());
    // The same plan is what the run is judged by.
    super::run(&mut mcptest(&folder, None, &["test"])).exits(0);
    // Without a server there is nowhere to put a fault of a server in.
    let with = with.replace(
        "target: { tool: find_order }",
        "target: { tool: find_order, server: desk }",
    );
    let (_, rest) = with.split_once("faults:").unwrap();
    let without = format!("faults:{}", rest.replace("  servers: [desk, far]\n", ""));
    let folder = Folder::new().with_file("suites/desk.yml", without);
    let said = record(&folder, &model(1)).exits(1);
    assert!(
        said.stdout.contains(
            "a fault is for the MCP server `desk`, and the suite declares no server of this agent"
        ),
        "{said}"
    );
}

#[test]
fn a_cap_on_calls_and_one_on_tokens_hold() {
    let far = HttpServer::desk(None);
    let folder =
        Folder::new().with_file("suites/desk.yml", suite(&far, "", "  max_tool_calls: 2\n"));
    record(&folder, &model(4));
    let run = recorded(&folder);
    assert_eq!((stopped(&run), calls(&run).len()), ("tool_call_budget", 2));
    let folder =
        Folder::new().with_file("suites/desk.yml", suite(&far, "", "  token_budget: 300\n"));
    record(&folder, &model(4));
    let run = recorded(&folder);
    assert_eq!((stopped(&run), calls(&run).len()), ("token_budget", 2));
    assert_eq!(run["trace"]["conversation"]["tokens"]["total"], 220);
    // What was not reached is no reason to stop.
    let caps = "  max_tool_calls: 2\n  token_budget: 1000\n  max_turns: 3\n";
    let folder = Folder::new().with_file("suites/desk.yml", suite(&far, "", caps));
    record(&folder, &model(2)).exits(0);
    assert_eq!(stopped(&recorded(&folder)), "completed");
}

#[test]
fn a_budget_is_kept_and_its_price_must_be_known() {
    let far = HttpServer::desk(None);
    // 110 tokens cost 13 and 10 hundredths of a cent at these prices, and the most that an answer may have 102.
    let top = |cents: u64| {
        format!(
            "budget: {{ per_suite_usd_cents: {cents}, prices: {{ gpt-5: {{ prompt: 100, completion: 1000 }} }} }}\n"
        )
    };
    let caps = "  max_tokens: 10\n";
    let folder = Folder::new().with_file("suites/desk.yml", suite(&far, &top(100), caps));
    let said = record(&folder, &model(2)).exits(0);
    assert!(said.stderr.contains("(330 tokens, $0.0600)"), "{said}");
    let folder = Folder::new().with_file("suites/desk.yml", suite(&far, &top(30), caps));
    let said = record(&folder, &model(9)).exits(1);
    assert!(
        said.stdout.contains("stopped before overspending: $"),
        "{said}"
    );
    assert!(
        said.stdout.contains("raise `per_suite_usd_cents`"),
        "{said}"
    );
    assert!(
        !folder
            .at("suites/cassettes/Desk_agent__gpt-5.json")
            .exists()
    );
    let unknown =
        suite(&far, "budget: { per_suite_usd_cents: 5 }\n", "").replace("gpt-5", "own-model");
    let folder = Folder::new().with_file("suites/desk.yml", unknown);
    let said = run(&mut mcptest(&folder, Some(&model(1)), &["record"])).exits(1);
    assert!(
        said.stdout
            .contains("the price of `own-model` is not known"),
        "{said}"
    );
}

/// What holds of Chat Completions holds of each other format, whole and streamed: the limits are kept by what went by.
#[test]
fn other_formats_have_the_same_faults_caps_and_budget() {
    let far = HttpServer::desk(None);
    let folder_of =
        |top: &str, more: &str| Folder::new().with_file("suites/desk.yml", suite(&far, top, more));
    for format in formats::OTHERS {
        let faults = "faults: [{ name: flaky, target: { tool: find_order }, kind: recover_after, failures: 1 }]\n";
        let folder = folder_of(faults, "  inject: [flaky]\n  recovery: {}\n");
        record_in(format, &folder, &model(2)).exits(0);
        let run = recorded(&folder);
        let results = run["trace"]["tool_results"].as_array().unwrap();
        let flags: Vec<_> = results.iter().map(|result| &result["is_error"]).collect();
        assert_eq!(flags, [true, false], "{format}");
        assert_eq!(results[0]["synthesized"]["fault"], "flaky", "{format}");

        for (cap, word, steps) in [
            ("  max_turns: 2\n", "turn_budget", 2),
            ("  max_tool_calls: 2\n", "tool_call_budget", 3),
            ("  token_budget: 300\n", "token_budget", 2),
        ] {
            let folder = folder_of("", cap);
            record_in(format, &folder, &model(4));
            let run = recorded(&folder);
            assert_eq!((stopped(&run), calls(&run).len()), (word, 2), "{format}");
            let conversation = &run["trace"]["conversation"];
            assert_eq!(conversation["tokens"]["total"], steps * 110, "{format}");
            // The most tokens of an answer, as the request of each format says it.
            assert_eq!(run["max_tokens"], 10, "{format}");
        }

        // As with Chat Completions, but that the most tokens of an answer stand in the request, and not in the suite.
        let prices = "prices: { gpt-5: { prompt: 100, completion: 1000 } }";
        for (cents, is_enough) in [(100, true), (30, false)] {
            let budget = format!("budget: {{ per_suite_usd_cents: {cents}, {prices} }}\n");
            let folder = folder_of(&budget, "");
            let asked = if is_enough { 2 } else { 9 };
            let said = record_in(format, &folder, &model(asked));
            if is_enough {
                let said = said.exits(0);
                assert!(
                    said.stderr.contains("(330 tokens, $0.0600)"),
                    "{format}: {said}"
                );
            } else {
                let said = said.exits(1);
                let told = "stopped before overspending: $";
                assert!(said.stdout.contains(told), "{format}: {said}");
            }
        }
    }
}
