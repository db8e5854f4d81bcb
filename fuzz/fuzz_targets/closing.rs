//! A closing over calls of tools with any names: the verdict is the same twice, and its claims stand in the
//! closing. Its text is that of a line of `mcptest-trace/tests/narrative/pairs.txt`: `tools ; calls | closing`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcptest_trace::eval::{KnownTools, NarrativeOptions, narrative_divergence_with};
use mcptest_trace::trace::{OfferedTool, Trace};
use serde_json::json;

fuzz_target!(|text: &str| {
    let (made, closing) = text.split_once('|').unwrap_or(("", text));
    let (tools, calls) = made.split_once(';').unwrap_or((made, ""));
    let tools: Vec<_> = tools
        .split_whitespace()
        .map(OfferedTool::from_line)
        .collect();
    let named = |call: &str| json!({ "name": call.trim_start_matches('!'), "args": {} });
    let calls: Vec<_> = calls.split_whitespace().collect();
    let made: Vec<_> = calls.iter().map(|call| named(call)).collect();
    let results = calls.iter().enumerate().map(|(at, call)| {
        json!({ "call_index": at, "is_error": call.starts_with('!'), "result": "done" })
    });
    let results: Vec<_> = results.collect();
    let trace = Trace::from_envelope(&json!({
        "tool_calls": made, "tool_results": results, "final_response": closing,
    }));
    let known = KnownTools::offered(&tools);
    let judge = || narrative_divergence_with(&trace, &NarrativeOptions::default(), &known);
    let report = judge();
    assert_eq!(report.claims, judge().claims);
    for claim in &report.claims {
        assert!(claim.span.end <= closing.len(), "{claim:?}");
        assert!(closing.get(claim.span.clone()).is_some(), "{claim:?}");
    }
});
