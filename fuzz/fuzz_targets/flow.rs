//! A result and an argument after it: what leaks is marked in both, it is the same twice, and in a list it is the same too.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcptest_trace::eval::{Flow, FlowEntry, FlowUnless, ToolPattern, trace_flow};
use serde_json::{Value, json};

type Input<'a> = (&'a str, &'a str, &'a str, u8);

fuzz_target!(|input: Input<'_>| {
    let (page, mail, prompt, unless) = input;
    let patterns = |name: &str| vec![ToolPattern::new(name)];
    let entry = FlowEntry::new(patterns("fetch_*"), patterns("send_*"));
    let entry = match unless % 4 {
        0 => entry,
        1 => entry.with_unless(FlowUnless::User),
        2 => entry.with_unless(FlowUnless::System),
        _ => entry.with_unless(FlowUnless::Tools(patterns("fetch_other"))),
    };
    let flow = Flow::new([entry]);
    let run = |page: Value| {
        json!({
            "tool_calls": [
                { "name": "fetch_page", "args": { "place": prompt }, "step": 0 },
                { "name": "send_mail", "args": { "body": mail }, "step": 1 },
            ],
            "tool_results": [
                { "call_index": 0, "is_error": false, "result": page },
                { "call_index": 1, "is_error": false, "result": "sent" },
            ],
            "conversation": { "turns": [{ "role": "user", "content": prompt }] },
        })
    };
    let report = trace_flow(&run(page.into()), &flow);
    for leak in &report.leaks {
        for shown in [&leak.argument, &leak.result] {
            let mark = shown.text.get(shown.mark.clone());
            assert!(mark.is_some_and(|mark| !mark.is_empty()), "{shown:?}");
        }
    }
    assert_eq!(report, trace_flow(&run(page.into()), &flow));
    // A text says the same in a list.
    let beside = trace_flow(&run(json!([page, null])), &flow);
    assert_eq!(beside.leaks.is_empty(), report.leaks.is_empty());
});
