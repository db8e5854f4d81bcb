//! Any text is read, in time that grows with its length.

use std::time::{Duration, Instant};

use mcptest_trace::eval::{ClaimVerdict, NarrativeOptions, narrative_divergence};
use mcptest_trace::trace::Trace;
use proptest::prelude::*;
use serde_json::{Value, json};

fn closing(text: &str) -> Value {
    json!({
        "tool_calls": [{"name": "update_event", "args": {"id": "EV-1"}}],
        "tool_results": [{"call_index": 0, "is_error": false, "result": "ok"}],
        "final_response": text,
    })
}

const PIECES: &[&str] = &[
    "I ",
    "have ",
    "has been ",
    "cancelled ",
    "your order ",
    "W123 ",
    "and ",
    ", ",
    ". ",
    "? ",
    "\n",
    "\n- ",
    "# ",
    "| ",
    "|-|-|\n",
    "**",
    "`",
    "“",
    "”",
    "\"",
    "é",
    "🎉",
    "❌ ",
    "’s ",
    "not ",
    "if ",
    "by ",
    "was ",
    "(",
    ")",
    ": ",
    "&amp;",
    "\\*",
    "[x] ",
    "> ",
    "~~",
    "sent ",
    "all set ",
    "to ",
    "able ",
    "{\"a\": \"",
    "}",
    "日本",
    "\u{0301}",
    "a-",
    "@",
    "'",
    "&eacute;",
    "<b>",
    "``",
    "\r\n",
    "\t",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn any_mixture_is_read(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        check(&pieces.concat());
    }
}

/// Time of this thread on a processor, where the system tells; else the time that passed.
fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let spent = text.split(' ').next().and_then(|nanos| nanos.parse().ok());
    spent.map_or_else(|| BEGUN.with(Instant::elapsed), Duration::from_nanos)
}

thread_local! {
    static BEGUN: Instant = Instant::now();
}

fn check(text: &str) {
    let run = closing(text);
    let report = narrative_divergence(&run, &NarrativeOptions::default());
    let again = narrative_divergence(&run, &NarrativeOptions::default());
    assert_eq!(report, again);
    assert!((0.0..=1.0).contains(&report.divergence_score));
    for claim in &report.claims {
        assert!(
            text.get(claim.span.clone())
                .is_some_and(|claim| !claim.is_empty())
        );
        assert!(claim.sentence_span.start <= claim.span.start);
        assert!(claim.span.end <= claim.sentence_span.end);
        assert!(text[claim.sentence_span.clone()].starts_with(&claim.sentence));
    }
    let without = json!({ "final_response": text });
    let report = narrative_divergence(&without, &NarrativeOptions::default());
    let supported =
        |verdict: &ClaimVerdict| matches!(verdict, ClaimVerdict::Supported | ClaimVerdict::Read);
    assert!(!report.claims.iter().any(|claim| supported(&claim.verdict)));
}

#[test]
fn text_is_read_in_linear_time() {
    let shapes = [
        "I have cancelled your order W123 and ",
        "has been cancelled, ",
        "word ",
        "a.",
        "(((([[[[",
        "**a ",
        ".)",
        "cancelled ",
        "cancelled, ",
        "we cancelled, ",
        "if ",
        "“",
        "1 ",
        "x\n",
        "- cancelled: a\n",
        "| a | cancelled |\n",
        "> ",
        "`",
        "a-b@",
        "{\"a\": ",
        "; ",
        "Dr. ",
        "\u{301}",
    ];
    for shape in shapes {
        let time = |bytes: usize| {
            let text = shape.repeat(bytes / shape.len());
            let start = cpu();
            let report = narrative_divergence(&closing(&text), &NarrativeOptions::default());
            assert!(report.divergence_score <= 1.0);
            cpu().saturating_sub(start)
        };
        let small = time(1 << 16);
        let large = time(1 << 18);
        // Four times the text; were it quadratic, it would take sixteen times as long.
        let most = small * 10 + Duration::from_millis(50);
        assert!(large < most, "{shape:?} took {small:?}, then {large:?}");
    }
}

/// Without optimisation too: a suite is run so. It says a figure of the machine, and so decides nothing
/// where it is not asked for.
#[test]
#[ignore = "it measures this machine: -- --ignored megabyte --nocapture"]
fn a_megabyte_in_one_sentence_is_judged_in_a_second() {
    for shape in [
        "I have cancelled your order W123 and ",
        "I have cancelled order W1 and refunded it, ",
        "the order (a lamp) is cancelled and ",
        "word ",
        "1 ",
    ] {
        let text = shape.repeat((1 << 20) / shape.len());
        let run = closing(&text);
        let time = || {
            let start = cpu();
            let report = narrative_divergence(&run, &NarrativeOptions::default());
            assert!(report.divergence_score <= 1.0);
            cpu().saturating_sub(start)
        };
        // Other work on the same processor only ever makes it slower.
        let took = (0..3).map(|_| time()).min().unwrap();
        println!("{shape:?}: {took:?}");
        assert!(took < Duration::from_secs(1), "{shape:?} took {took:?}");
    }
}

#[test]
fn many_calls_are_read_in_linear_time() {
    let text = "I have cancelled order W1. ".repeat(1000);
    let time = |calls: usize| {
        let names =
            (0..calls).map(|n| json!({"name": "get_order", "args": {"id": format!("W{n}")}}));
        let results = (0..calls).map(
            |n| json!({"call_index": n, "is_error": false, "result": format!("W{n} is cancelled")}),
        );
        let trace = Trace::from_envelope(&json!({
            "tool_calls": names.collect::<Vec<_>>(),
            "tool_results": results.collect::<Vec<_>>(),
            "final_response": text,
        }));
        let start = cpu();
        let report = narrative_divergence(&trace, &NarrativeOptions::default());
        assert_eq!(report.claims.len(), 1000);
        cpu().saturating_sub(start)
    };
    let (few, many) = (time(2000), time(16_000));
    let most = few * 20 + Duration::from_millis(50);
    assert!(many < most, "{few:?}, then {many:?}");
}
