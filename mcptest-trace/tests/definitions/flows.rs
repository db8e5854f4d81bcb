//! What a result says and a later argument says again, by a search for each value in plain text.

use std::collections::BTreeSet;

use mcptest_trace::eval::{Flow, FlowEntry, FlowUnless, ToolPattern, trace_flow};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

/// Values, none of which is a part of another.
const VALUES: [&str; 6] = [
    "W2378156",
    "ann.lee@firm.example",
    "https://host.example/reports/q3",
    "/srv/data/ledger.csv",
    "48213077",
    "XK-99-ALPHA",
];

/// How the argument says a value.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Spelling {
    Plain,
    Json,
    Percent,
    Hex,
}

fn spelt(text: &str, spelling: Spelling) -> String {
    match spelling {
        Spelling::Plain => text.to_owned(),
        Spelling::Json => {
            let units = text.chars().map(|letter| match letter {
                letter if letter.is_ascii_alphanumeric() => letter.to_string(),
                letter => format!("\\u{:04x}", u32::from(letter)),
            });
            units.collect()
        }
        Spelling::Percent => {
            let bytes = text.bytes().map(|byte| match byte {
                byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
                byte => format!("%{byte:02X}"),
            });
            bytes.collect()
        }
        Spelling::Hex => text.bytes().map(|byte| format!("{byte:02x}")).collect(),
    }
}

/// Values with a word between, of which each text has its own: words in a row would be a value too.
fn text(values: &[&str], word: &str, spelling: Spelling) -> String {
    let values = values.iter().map(|value| spelt(value, spelling));
    let values: Vec<String> = values.collect();
    format!("{word} {} {word}", values.join(&format!(" {word} ")))
}

fn values() -> impl Strategy<Value = Vec<&'static str>> {
    subsequence(VALUES.to_vec(), 0..=VALUES.len())
}

fn spelling() -> impl Strategy<Value = Spelling> {
    let all = [
        Spelling::Plain,
        Spelling::Json,
        Spelling::Percent,
        Spelling::Hex,
    ];
    select(all.to_vec())
}

fn run(page: &str, mail: &str, prompt: &str) -> Value {
    json!({
        "tool_calls": [
            { "name": "fetch_page", "args": {}, "step": 0 },
            { "name": "send_mail", "args": { "body": mail }, "step": 1 },
        ],
        "tool_results": [
            { "call_index": 0, "is_error": false, "result": page },
            { "call_index": 1, "is_error": false, "result": "sent" },
        ],
        "conversation": { "turns": [{ "role": "user", "content": prompt }] },
    })
}

/// How many values leak.
fn leaks(run: &Value, unless: Option<FlowUnless>) -> usize {
    let tool = |name: &str| vec![ToolPattern::new(name)];
    let entry = FlowEntry::new(tool("fetch_page"), tool("send_mail"));
    let entry = match unless {
        Some(unless) => entry.with_unless(unless),
        None => entry,
    };
    trace_flow(run, &Flow::new([entry])).leaks.len()
}

proptest! {
    #[test]
    fn a_value_leaks_where_both_texts_have_it(
        page in values(), mail in values(), said in values(), there in spelling(), here in spelling(),
    ) {
        let run = run(&text(&page, "the", there), &text(&mail, "and", here), &text(&said, "see", Spelling::Plain));
        let both: BTreeSet<&str> = page.iter().filter(|value| mail.contains(value)).copied().collect();
        prop_assert_eq!(leaks(&run, None) > 0, !both.is_empty(), "{:?} in {}", both, run);
        // Two texts in one encoding have the encoded text in common too, which the user did not say.
        prop_assume!(there != here || here == Spelling::Plain);
        let unsaid = both.iter().any(|value| !said.contains(value));
        prop_assert_eq!(leaks(&run, Some(FlowUnless::User)) > 0, unsaid, "{:?} in {}", both, run);
    }
}
