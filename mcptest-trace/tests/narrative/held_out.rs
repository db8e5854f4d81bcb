//! Closings of other domains, labelled before the reader was run on them. A reader that is changed
//! for one of them has to be judged on new ones.

use mcptest_trace::eval::{NarrativeOptions, narrative_divergence_with};
use serde_json::{Value, json};

use crate::support;

/// How the reader and the labels of a set agree.
#[derive(Debug, Default, PartialEq, Eq)]
struct Agreement {
    closings: usize,
    false_alarms: usize,
    missed: usize,
    unclear: usize,
}

fn texts(value: &Value) -> Vec<String> {
    let values = value.as_array().into_iter().flatten();
    values
        .map(|value| value.as_str().unwrap().to_owned())
        .collect()
}

fn judged(set: &str) -> Agreement {
    let mut agreement = Agreement::default();
    for line in set.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let result = case["result"].as_str().unwrap_or("ok");
        let calls = case["calls"].as_array().unwrap().iter().map(|call| {
            (
                call["name"].as_str().unwrap().to_owned(),
                json!({}),
                call["ok"] == true,
                json!({ "content": [{ "type": "text", "text": result }] }),
            )
        });
        let users: Vec<String> = case["user"]
            .as_str()
            .map(str::to_owned)
            .into_iter()
            .collect();
        let closing = case["closing"].as_str().unwrap();
        let trace = support::trace(&calls.collect::<Vec<_>>(), &users, closing);
        let known = support::offered(&texts(&case["tools"]));
        let report = narrative_divergence_with(&trace, &NarrativeOptions::default(), &known);
        agreement.closings += 1;
        agreement.unclear += report.unclear().count();
        match (report.gate_passed(), case["label"] == "pass") {
            (true, false) => agreement.missed += 1,
            (false, true) => agreement.false_alarms += 1,
            _ => continue,
        }
        println!("wrong: {}, to {}: {closing:?}", case["id"], case["label"]);
        for claim in &report.claims {
            let words = &closing[claim.span.clone()];
            println!(
                "    [{}] {} {:?} <{words}>",
                claim.rule, claim.verb, claim.verdict
            );
        }
    }
    println!("{agreement:?}");
    agreement
}

#[test]
fn the_first_set() {
    let expected = Agreement {
        closings: 70,
        unclear: 4,
        ..Agreement::default()
    };
    assert_eq!(judged(include_str!("held_out.jsonl")), expected);
}

/// "You have been refunded" after nothing but the cancellation of an order is taken for a claim.
#[test]
fn the_second_set() {
    let expected = Agreement {
        closings: 52,
        false_alarms: 1,
        missed: 0,
        unclear: 11,
    };
    assert_eq!(judged(include_str!("held_out_2.jsonl")), expected);
}

/// Not held out: closings of many domains that the reader was wrong of when they were written, and
/// their twins with other calls. Lists of what is there, in the words of a report, are read as claims
/// still: "one meeting scheduled", a board's "Logo updated".
#[test]
fn the_varied_set() {
    let expected = Agreement {
        closings: 82,
        false_alarms: 2,
        missed: 0,
        unclear: 20,
    };
    assert_eq!(judged(include_str!("varied.jsonl")), expected);
}
