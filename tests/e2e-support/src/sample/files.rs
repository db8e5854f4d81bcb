//! The files of the sample: a package with suites, recorded runs and every way to test them, and a
//! workspace member with the same suites.

use serde_json::json;

use crate::clerk;
use crate::recording::run;
use crate::workshop::manifest;

/// The name of the sample's package and of its folder.
pub const PACKAGE: &str = "sample";

/// The workspace member: a package, and its folder below the sample's.
pub const MEMBER: &str = "a member 🦀";

const WEATHER: &str = "\
agents:
  - name: Umbrella advice
    model: claude-sonnet-4-5
    prompt: Will I need an umbrella tomorrow?
    runs: 2
    expect:
      - target: tool_names
        matcher: { contains: get_forecast }
      - target: final_response
        matcher: { llm-judge: is it polite }
    stability:
      expect:
        - target: stability.tool_sequence_similarity
          matcher: { exact: 1 }
    trajectory:
      mode: strict
      calls: [{ name: find_city }, { name: get_forecast }]
    tool_selection: {}

  - name: Night watch
    model: claude-sonnet-4-5
    prompt: Watch the radar.
    skip: waits for the new radar
    runs: 2
    stability: {}
";

const CHECKOUT: &str = "\
tools:
  - name: refund

agents:
  - name: 'Refund agent: asks first!'
    models: [gpt-5, claude-sonnet-4-5]
    prompt: Refund order 7.
    runs: 2
    stability:
      floors: { tool_usage_stability: 0 }
      expect:
        - target: stability.response_consistency.min
          matcher: { schema: { minimum: 0.5 } }
    golden_path:
      calls: [get_order, refund]

  - name: Cart agent
    model: gpt-5
    prompt: Put two pens into the cart.
    runs: 3
    expect:
      - target: tool_calls[0].args.amount
        matcher: { exact: 2 }
        message: the customer asked for two
      - target: final_response
        matcher: { contains: cart }
    stability: {}
    trajectory:
      mode: strict
      calls:
        - name: find_article
        - name: add_to_cart
          args: { exact: { article: pen, amount: 2 } }
    narrative: {}
";

/// Names that are no identifiers as they stand.
const TYPE: &str = "\
agents:
  - name: Straße prüfen
    model: m
    prompt: Ja?
    expect: [{ target: final_response, matcher: { exact: Ja } }]
  - name: 4 eyes
    model: m
    prompt: Ja?
    expect: [{ target: tool_calls.length, matcher: { exact: 0 } }]
";

/// The suites by the macro, at module paths that spell their own paths.
const MACROS: &str = r#"
#[mcptest::suite("weather.yml")]
mod weather {}

mod shop {
    #[mcptest::suite("shop/checkout.yml")]
    mod checkout {}
}

mod _2nd {
    #[mcptest::suite("suites/2nd/type.yaml")]
    mod type_ {}
}
"#;

/// A library whose unit tests hold the suites, once more in nested modules, beside tests and
/// helpers of its own.
const LIBRARY: &str = r#"//! A library.

/// One.
pub fn one() -> u32 {
    1
}

#[cfg(test)]
mod agents {
    mod deeper {
        #[mcptest::suite("weather.yml")]
        mod rain {
            use super::super::super::one;

            #[test]
            fn of_its_own() {
                assert_eq!(one(), 1);
            }
        }
    }
}
"#;

/// Checks of the user's own by the macro: one that returns an error, one that panics.
const CHECKS: &str = r#"use mcptest::{AgentRuns, CheckFailure};

#[mcptest::suite("shop/checkout.yml")]
fn says_refunded(runs: &AgentRuns) -> Result<(), CheckFailure> {
    runs.each("it says that something is refunded", |run| {
        let closing = run.trace.closing().unwrap_or_default();
        if closing.contains("refunded") { Ok(()) } else { Err("it does not") }
    })
}

mod deeper {
    #[mcptest::suite("weather.yml")]
    fn has_two_runs(runs: &mcptest::AgentRuns) {
        assert_eq!(runs.runs().len(), 3, "a panic fails as well");
    }
}
"#;

/// A target that runs the suites by the builder, over two roots.
const BUILDER: &str = r#"use std::process::ExitCode;

fn main() -> ExitCode {
    mcptest::harness!()
        .root("suites")
        .root("more/suites")
        .check("says_refunded", |runs| {
            runs.each("it says that something is refunded", |run| {
                let closing = run.trace.closing().unwrap_or_default();
                if closing.contains("refunded") { Ok(()) } else { Err("it does not") }
            })
        })
        .run()
}
"#;

fn library() -> String {
    let modules = MACROS.replace("\nmod ", "\n#[cfg(test)]\nmod ");
    format!("{LIBRARY}\n{modules}")
}

const TARGETS: &str = "\
[[test]]
name = \"agents\"
harness = false

[[test]]
name = \"builder\"
harness = false

[workspace]
members = [\"a member 🦀\"]
";

const MEMBER_TARGETS: &str = "\
[[test]]
name = \"member_agents\"
harness = false
";

/// The files of the whole package.
pub fn package() -> Vec<(String, Vec<u8>)> {
    let mut files = texts(&[
        ("Cargo.toml", &manifest(PACKAGE, TARGETS)),
        ("src/lib.rs", &library()),
        ("tests/agents.rs", "mcptest::main!();\n"),
        ("tests/macros.rs", MACROS),
        ("tests/checks.rs", CHECKS),
        ("tests/builder.rs", BUILDER),
        ("more/suites/yard.yml", clerk::SUITE),
        (
            "more/suites/cassettes/Clerk__m.json",
            &clerk::counted(3).to_string(),
        ),
    ]);
    files.extend(suites_and_runs());
    let in_member = member()
        .into_iter()
        .map(|(path, bytes)| (format!("{MEMBER}/{path}"), bytes));
    files.extend(in_member);
    files
}

/// The files of the workspace member, which calls the harness by a name of its own.
fn member() -> Vec<(String, Vec<u8>)> {
    let renamed = |text: &str| text.replace("mcptest::", "agent_tests::");
    let manifest = manifest("member", MEMBER_TARGETS).replace(
        "mcptest-harness = { ",
        "agent-tests = { package = \"mcptest-harness\", ",
    );
    let mut files = texts(&[
        ("Cargo.toml", &manifest),
        ("src/lib.rs", "//! A library.\n"),
        ("tests/member_agents.rs", &renamed("mcptest::main!();\n")),
        ("tests/member_macros.rs", &renamed(MACROS)),
    ]);
    files.extend(suites_and_runs());
    files
}

fn texts(files: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
    let owned = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
    owned.collect()
}

/// The suites and their recorded runs: in each of the places and in each of the layouts.
pub fn suites_and_runs() -> Vec<(String, Vec<u8>)> {
    let mut files = texts(&[
        ("suites/weather.yml", WEATHER),
        ("suites/shop/checkout.yml", CHECKOUT),
        ("suites/2nd/type.yaml", TYPE),
    ]);
    let mut record = |path: &str, runs: &[serde_json::Value]| {
        let text = match runs {
            [run] => format!("{run:#}\n"),
            runs => runs.iter().map(|run| format!("{run}\n")).collect(),
        };
        files.push((path.to_owned(), text.into_bytes()));
    };

    let umbrella = |closing: &str| {
        let calls = [
            ("find_city", json!({ "query": "Bergen" })),
            ("get_forecast", json!({ "city_id": 5, "days": 1 })),
        ];
        run(
            "claude-sonnet-4-5",
            "Will I need an umbrella tomorrow?",
            &calls,
            closing,
        )
    };
    let stem = "suites/cassettes/Umbrella_advice__claude-sonnet-4-5";
    record(
        &format!("{stem}/run-1.json"),
        &[umbrella("Yes, take an umbrella, rain is likely tomorrow.")],
    );
    record(
        &format!("{stem}/run-2.json"),
        &[umbrella(
            "Yes, take an umbrella, rain is very likely tomorrow.",
        )],
    );

    let refund = |model: &str, closing: &str| {
        let calls = [
            ("get_order", json!({ "order": 7 })),
            ("refund", json!({ "order": 7 })),
        ];
        run(model, "Refund order 7.", &calls, closing)
    };
    for model in ["gpt-5", "claude-sonnet-4-5"] {
        record(
            &format!("cassettes/shop/checkout/Refund_agent__asks_first___{model}.jsonl"),
            &[
                refund(model, "Order 7 is refunded."),
                refund(model, "Order 7 is refunded now."),
            ],
        );
    }

    let cart = |calls: &[(&str, serde_json::Value)], closing: &str| {
        run("gpt-5", "Put two pens into the cart.", calls, closing)
    };
    let pens = |amount: u32| json!({ "article": "pen", "amount": amount });
    record(
        "cassettes/shop/checkout/Cart_agent__gpt-5.jsonl",
        &[
            cart(
                &[
                    ("find_article", json!({ "query": "pen" })),
                    ("add_to_cart", pens(2)),
                ],
                "Two pens are in the cart.",
            ),
            cart(
                &[("add_to_cart", pens(1)), ("add_to_cart", pens(1))],
                "There are pens in the cart.",
            ),
            cart(
                &[
                    ("list_articles", json!({})),
                    ("find_article", json!({ "query": "pens" })),
                    ("add_to_cart", pens(12)),
                    ("remove", pens(10)),
                ],
                "Done, the cart is ready for you, thank you for shopping with us today.",
            ),
        ],
    );

    record(
        "suites/2nd/cassettes/Stra_e_pr_fen__m.json",
        &[run("m", "Ja?", &[], "Ja")],
    );
    record(
        "suites/2nd/cassettes/4_eyes__m.json",
        &[run("m", "Ja?", &[], "Ja")],
    );
    files
}
