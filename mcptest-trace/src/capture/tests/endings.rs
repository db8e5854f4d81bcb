//! How runs end, and what is not known of them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::json;
use tracing::info_span;

use super::{Desk, agent, call_outcomes, calls, chat, result, says, stop, tool, user};

fn asks() -> serde_json::Value {
    json!([user("Go.")])
}

#[test]
fn what_ended_a_run_is_what_its_spans_say() {
    for (reason, expected) in [
        (Some(r#"["stop"]"#), Some("completed")),
        (Some("length"), Some("token_budget")),
        (Some("unknown"), None),
        (None, None),
    ] {
        let desk = Desk::capture(|| {
            let _agent = agent("desk").entered();
            let call = chat(&asks(), &json!([says("Done.")]));
            if let Some(reason) = reason {
                call.record("gen_ai.response.finish_reasons", reason);
            }
        });
        assert_eq!(stop(&desk.run()), expected, "{reason:?}");
    }
    // rig says no reason, and writes what an agent came to only of one that ended well.
    for (said, expected) in [
        (says("Done."), Some("completed")),
        (calls("a", "find"), None),
    ] {
        let desk = Desk::capture(|| {
            let agent = agent("desk").entered();
            drop(chat(&asks(), &json!([said])));
            agent.record("gen_ai.completion", "Done.");
        });
        assert_eq!(stop(&desk.run()), expected, "{said}");
    }
}

#[test]
fn a_run_that_failed_is_not_completed() {
    let failing = |fail: &dyn Fn()| {
        let run = Desk::capture(|| {
            let _ = catch_unwind(AssertUnwindSafe(fail));
        });
        run.run()
    };
    let done = || {
        let call = chat(&asks(), &json!([says("Done.")]));
        call.record("gen_ai.response.finish_reasons", r#"["stop"]"#);
    };
    let by_span = failing(&|| {
        let agent = agent("desk").entered();
        done();
        agent.record("error.type", "timeout");
    });
    assert_eq!(stop(&by_span), Some("error"));
    let by_panic = failing(&|| {
        let _agent = agent("desk").entered();
        done();
        std::panic::resume_unwind(Box::new("a panic"));
    });
    assert_eq!(stop(&by_panic), Some("error"));
    let in_root = failing(&|| {
        let _request = info_span!("request").entered();
        done();
        std::panic::resume_unwind(Box::new("a panic"));
    });
    assert_eq!(stop(&in_root), Some("error"));
    // The last model call brought nothing.
    let unanswered = failing(&|| {
        let _agent = agent("desk").entered();
        drop(chat(&asks(), &json!([calls("a", "find")])));
        let sent = json!([user("Go."), calls("a", "find"), result("a", "here")]);
        let call = info_span!(
            "chat",
            gen_ai.operation.name = "chat",
            gen_ai.request.model = "gpt-5",
            gen_ai.input.messages = sent.to_string(),
        );
        drop(call);
    });
    assert_eq!(stop(&unanswered), Some("interrupted"));
    assert_eq!(
        unanswered["trace"]["conversation"]["steps"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn a_tool_that_panics_failed() {
    let desk = Desk::capture(|| {
        let agent = agent("desk").entered();
        drop(chat(&asks(), &json!([calls("a", "find")])));
        let _ = catch_unwind(|| {
            let _tool = tool("find", "a").entered();
            std::panic::resume_unwind(Box::new("a panic"));
        });
        drop(chat(
            &json!([user("Go."), calls("a", "find")]),
            &json!([says("It broke.")]),
        ));
        agent.record("gen_ai.completion", "It broke.");
    });
    let run = desk.run();
    assert_eq!(call_outcomes(&run), [("find", None, Some(true))]);
    assert_eq!(stop(&run), Some("completed"));
}

#[test]
fn a_process_that_stops_leaves_what_had_happened() {
    let desk = Desk::capture(|| {
        let agent = agent("desk").entered();
        drop(chat(&asks(), &json!([calls("a", "find")])));
        // As after `std::process::exit`: the span never ends.
        std::mem::forget(agent);
    });
    let run = desk.run();
    assert_eq!(stop(&run), Some("interrupted"));
    assert_eq!(call_outcomes(&run), [("find", None, None)]);
}

#[test]
fn one_known_flag_makes_no_other_known() {
    let desk = Desk::capture(|| {
        let _agent = agent("desk").entered();
        let both = [calls("a", "find"), calls("b", "find")];
        let parts: Vec<_> = both.iter().map(|call| call["parts"][0].clone()).collect();
        let answer = json!({ "role": "assistant", "parts": parts });
        drop(chat(&asks(), &json!([answer])));
        let sent = json!([
            user("Go."),
            answer,
            result("a", "here"),
            result("b", "Error: gone")
        ]);
        tool("find", "a").record("otel.status_code", "OK");
        drop(tool("find", "b"));
        drop(chat(&sent, &json!([says("Done.")])));
    });
    let run = desk.run();
    assert_eq!(
        call_outcomes(&run),
        [("find", None, Some(false)), ("find", None, None)]
    );
    let text = run.to_string();
    let run = crate::trace::parse_run(text.as_bytes(), &crate::trace::Origin::file("a")).unwrap();
    assert_eq!(run.trace.errors_unknown(), 1);
    assert!(run.by_session);
}

#[test]
fn tokens_that_no_provider_told_are_absent() {
    let desk = Desk::capture(|| {
        let _agent = agent("desk").entered();
        drop(chat(&asks(), &json!([calls("a", "find")])));
        let call = info_span!(
            "chat",
            gen_ai.operation.name = "chat",
            gen_ai.input.messages =
                json!([user("Go."), calls("a", "find"), result("a", "here")]).to_string(),
            gen_ai.output.messages = json!([says("Done.")]).to_string(),
        );
        drop(call);
    });
    let run = desk.run();
    let conversation = &run["trace"]["conversation"];
    assert_eq!(conversation.get("tokens"), None);
    assert_eq!(conversation["steps"][1].get("prompt"), None);
    assert_eq!(
        run["captured"]["unknown"],
        json!(["is_error", "stop_reason", "system_prompt", "tokens"])
    );
}

#[test]
fn what_is_not_said_or_belongs_to_no_run_is_not_written() {
    // Content is switched off; no model is named; no span is around the call.
    let silent = || {
        drop(info_span!(
            "chat",
            gen_ai.operation.name = "chat",
            gen_ai.request.model = "gpt-5"
        ));
    };
    let nameless = || {
        let (sent, said) = (asks().to_string(), json!([says("Done.")]).to_string());
        let call = info_span!(
            "chat",
            gen_ai.operation.name = "chat",
            gen_ai.input.messages = sent,
            gen_ai.output.messages = said
        );
        drop(call);
    };
    for call in [&silent as &dyn Fn(), &nameless] {
        let desk = Desk::capture(|| {
            let _agent = agent("desk").entered();
            call();
        });
        assert_eq!(desk.runs(), []);
    }
    let desk = Desk::capture(|| drop(chat(&asks(), &json!([says("Done.")]))));
    assert_eq!(desk.runs(), []);
}

#[test]
fn a_secret_gets_into_no_file() {
    let desk = Desk::capture(|| {
        let _agent = agent("desk").entered();
        let sent = json!([user("My key is desk-secret-1.")]);
        drop(chat(&sent, &json!([calls("desk-secret-1", "find")])));
        let ran = tool("find", "desk-secret-1");
        ran.record("gen_ai.tool.call.result", "it is desk-secret-1");
    });
    let run = desk.run().to_string();
    assert!(!run.contains("desk-secret-1"), "{run}");
    assert_eq!(run.matches("[redacted DESK]").count(), 3, "{run}");
}
