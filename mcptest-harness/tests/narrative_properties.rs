//! What holds of the metric whatever the text and the calls.

use mcptest::eval::narrative::{NarrativeOptions, narrative_divergence};
use proptest::prelude::*;
use serde_json::{Value, json};

const PIECES: &[&str] = &[
    "I",
    "we",
    "you",
    "the",
    "your",
    "has been",
    "was",
    "is now",
    "updated",
    "cancelled",
    "added",
    "set",
    "put",
    "sent",
    "wrote",
    "and",
    "or",
    "but",
    "not",
    "n't",
    "will",
    "if",
    "when",
    "that",
    "which",
    "reservation",
    "bags",
    "`x.rs`",
    "#42",
    "ABC123",
    "“q”",
    "\"q\"",
    "'q'",
    ".",
    ",",
    ":",
    ";",
    "?",
    "!",
    "\n",
    "\n- ",
    "\n# ",
    "\n```\n",
    "\n> ",
    "| a | b |",
    "**",
    "(",
    ")",
    "—",
    "’",
    "ß",
    "İ",
    "é",
    "🎉",
    "✅",
    "\u{301}",
    "\u{200d}",
    "日本",
    "May",
    "am",
    "$5",
    "10%",
    "5",
    "https://a.b/c",
    "did",
    "to",
    "able",
    "managed",
    "by",
    "for",
    "on",
    "'s",
    "I'd",
    "can't",
    "/",
    "..",
    "…",
];

fn closing() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(PIECES), 0..40);
    let joined = (pieces, prop::bool::ANY)
        .prop_map(|(pieces, spaced)| pieces.join(if spaced { " " } else { "" }));
    prop_oneof![
        joined,
        ".{0,200}",
        "(I|We) (have )?(not )?(added|cancelled|sent|set) [a-zA-Z0-9# ]{0,30}[.?!]"
    ]
}

fn calls() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(
        &[
            "update_reservation",
            "sendEmail",
            "delete-file",
            "get_x",
            "bash",
            "add",
            "",
            "日本_add",
        ][..],
    );
    let answer = prop::sample::select(&["ok", "error", "none"][..]);
    let value = prop::sample::select(
        &[
            "ABC123",
            "x.rs",
            "rm x",
            "",
            "{\"id\": \"ABC123\", \"status\": \"cancelled\"}",
        ][..],
    );
    prop::collection::vec((name, answer, value), 0..5).prop_map(|calls| {
        let results = calls.iter().enumerate().filter(|(_, (_, answer, _))| *answer != "none").map(|(index, (_, answer, value))| {
            json!({ "call_index": index, "is_error": *answer == "error", "result": { "content": [{ "type": "text", "text": value }] } })
        });
        let results: Vec<_> = results.collect();
        let calls: Vec<_> = calls.iter().map(|(name, _, value)| json!({ "name": name, "args": { "id": value, "path": "x.rs" } })).collect();
        json!({ "tool_calls": calls, "tool_results": results })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reports_are_sound_on_any_text(text in closing(), envelope in calls()) {
        let mut envelope = envelope;
        envelope["final_response"] = json!(text);
        let options = NarrativeOptions { verbs: vec!["book".into(), "naïve-verb".into(), String::new()], ..NarrativeOptions::default() };
        let report = narrative_divergence(&envelope, &options);
        prop_assert!((0.0..=1.0).contains(&report.divergence_score));
        prop_assert_eq!(&report, &narrative_divergence(&envelope, &options));
        for claim in &report.claims {
            prop_assert_eq!(text.get(claim.sentence_span.clone()), Some(claim.sentence.as_str()));
            prop_assert!(text.get(claim.span.clone()).is_some());
            prop_assert!(claim.sentence_span.start <= claim.span.start && claim.span.end <= claim.sentence_span.end);
        }
        for call in &report.present_but_unclaimed {
            prop_assert!(call.call < report.recorded_calls);
        }
    }

    #[test]
    fn without_calls_no_claim_is_supported_and_none_is_flagged_less(text in closing(), envelope in calls()) {
        let mut envelope = envelope;
        envelope["final_response"] = json!(text);
        let before = narrative_divergence(&envelope, &NarrativeOptions::default());
        let without = json!({ "final_response": text });
        let after = narrative_divergence(&without, &NarrativeOptions::default());
        prop_assert!(before.claimed_but_absent().count() <= after.claimed_but_absent().count());
        prop_assert_eq!(after.claims.len(), after.claimed_but_absent().count());
    }
}

#[test]
fn long_texts_take_no_longer_than_their_length_asks() {
    for piece in [
        "I have updated the order and ",
        "- Set x\n",
        "\"a ",
        "(",
        "' ",
        "a.b ",
        "I, ",
        "was cancelled, ",
    ] {
        let text = piece.repeat(30_000 / piece.len());
        let report = narrative_divergence(
            &json!({ "final_response": text }),
            &NarrativeOptions::default(),
        );
        assert!(report.divergence_score <= 1.0);
    }
}
