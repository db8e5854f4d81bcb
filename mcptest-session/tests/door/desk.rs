//! What is recorded and played, changed and answered.

use mcptest_trace::eval::{
    Decisions, Fault, FaultKind, FaultPlan, OwnAnswer, OwnAnswers, OwnReply, PlaybackOptions,
    judge_recovery,
};
use serde_json::{Value, json};

use crate::agents::{Change, delegates, pays, postpays, prepays, writes};
use crate::tools::{Call, Tools};
use crate::{Effects, divergences, is_green, play, record};

pub(crate) const PROMPT: &str = "Refund orders 7 and 8.";

/// The model asks for two refunds at once, then closes.
fn script() -> Value {
    let call = |name: &str, order: u64| json!({ "name": name, "args": { "order": order } });
    json!({ "conversations": [{ "user": PROMPT, "runs": [[
        { "calls": [call("refund", 7), call("refund", 8)] },
        { "calls": [call("close", 7)] },
        { "text": "Both are refunded." },
    ]] }] })
}

fn recorded(change: Change, effects: &Effects) -> Value {
    let run = record(&script(), effects, |_| {}, |place| pays(place, change));
    run.unwrap().cassette
}

fn names(cassette: &Value) -> Vec<&str> {
    let calls = cassette["trace"]["tool_calls"].as_array().unwrap().iter();
    calls.map(|call| call["name"].as_str().unwrap()).collect()
}

fn flags(cassette: &Value) -> Vec<Option<bool>> {
    let results = cassette["trace"]["tool_results"].as_array().unwrap().iter();
    results.map(|one| one["is_error"].as_bool()).collect()
}

#[test]
fn what_a_tool_did_is_recorded_once_and_never_played() {
    for nameless in [false, true] {
        let change = Change {
            nameless,
            ..Change::default()
        };
        let effects = Effects::new();
        let cassette = recorded(change, &effects);
        assert_eq!(effects.count(), 3);
        assert_eq!(names(&cassette), ["refund", "refund", "close"]);
        assert_eq!(flags(&cassette), [Some(false), Some(false), Some(true)]);
        let tools = cassette["session"]["tools"].as_array().unwrap();
        let calls: Vec<_> = tools.iter().map(|tool| tool["call"].as_u64()).collect();
        assert_eq!(calls, [Some(0), Some(1), Some(2)]);
        assert_eq!(tools[0]["omitted"], json!(["state"]));
        assert_eq!(tools[2]["error"]["type"], "Closed");
        is_green(&cassette, &effects, |place| pays(place, change));
    }
}

#[test]
fn what_the_code_does_otherwise_is_told_and_nothing_is_done() {
    let effects = Effects::new();
    let cassette = recorded(Change::default(), &effects);
    let plays = |change: Change, runs: usize| {
        let played = play(
            &cassette,
            &effects,
            PlaybackOptions::suite_default(),
            |place| pays(place, change),
        );
        assert_eq!(effects.count(), 3 + runs, "{change:?}");
        divergences(&played)
    };
    for nameless in [false, true] {
        let other = plays(
            Change {
                order: Some(9),
                nameless,
                ..Change::default()
            },
            0,
        );
        let nearest = "tools[refund]: the recording has no call of `refund` with these arguments; the nearest recorded call \
                       has {\"order\":7}: `order` is 9 and was 7";
        assert!(other.contains(&nearest.to_owned()), "{other:#?}");
    }
    let skipped = plays(
        Change {
            skips: true,
            ..Change::default()
        },
        0,
    );
    let unmade = "tools[refund]: the code does not make the recorded call of the tool `refund`, or no session sees it: its \
                  decorator is gone, or it runs where `MCPTEST_TOOLS` is not set";
    assert_eq!(
        skipped.iter().filter(|told| *told == unmade).count(),
        2,
        "{skipped:#?}"
    );
    let twice = plays(
        Change {
            retries: true,
            ..Change::default()
        },
        0,
    );
    assert!(
        twice
            .iter()
            .any(|told| told.contains("`close` is called once more")),
        "{twice:#?}"
    );
}

#[test]
fn a_call_before_the_model_asks_for_it_is_told() {
    for nameless in [false, true] {
        let change = Change {
            nameless,
            ..Change::default()
        };
        let effects = Effects::new();
        let cassette = recorded(change, &effects);
        let played = play(
            &cassette,
            &effects,
            PlaybackOptions::suite_default(),
            prepays,
        );
        assert_eq!(effects.count(), 3);
        assert_eq!(
            divergences(&played),
            ["tools[refund]: the code calls the tool `refund` before the model asks for it"]
        );
    }
}

#[test]
fn a_call_after_the_model_was_told_its_result_is_told() {
    for nameless in [false, true] {
        let change = Change {
            nameless,
            ..Change::default()
        };
        let effects = Effects::new();
        let cassette = recorded(change, &effects);
        let played = play(
            &cassette,
            &effects,
            PlaybackOptions::suite_default(),
            |place| postpays(place, change),
        );
        assert_eq!(effects.count(), 3);
        assert_eq!(
            divergences(&played),
            ["tools[refund]: the code calls the tool `refund` after the model was told its result"]
        );
        // Code that did so when it was recorded has not changed.
        let later = |place| postpays(place, change);
        let run = record(&script(), &effects, |_| {}, later);
        let cassette = run.unwrap().cassette;
        let played = play(&cassette, &effects, PlaybackOptions::suite_default(), later);
        assert_eq!((divergences(&played), effects.count()), (vec![], 6));
    }
}

#[test]
fn that_the_code_pays_for_another_order_is_said_when_it_is_recorded() {
    let change = Change {
        order: Some(70),
        ..Change::default()
    };
    let cassette = recorded(change, &Effects::new());
    let notes = cassette["session"]["notes"].to_string();
    let told =
        "the code called its tool with something else than the model asked (`order` of `refund`)";
    assert!(notes.contains(told), "{notes}");
}

#[test]
fn an_attempt_that_failed_is_played_too() {
    let change = Change {
        retries: true,
        fails_first: true,
        ..Change::default()
    };
    let effects = Effects::new();
    let cassette = recorded(change, &effects);
    // Refund 7 twice, refund 8, and close twice.
    assert_eq!(effects.count(), 5);
    assert_eq!(names(&cassette), ["refund", "refund", "close"]);
    assert_eq!(flags(&cassette), [Some(false), Some(false), Some(true)]);
    let own = &cassette["trace"]["tool_calls"][0]["own"];
    assert_eq!(own["attempts"].as_array().unwrap().len(), 2);
    assert_eq!(own["attempts"][0]["error"]["text"], "it is closed");
    assert_eq!(
        cassette["session"]["notes"],
        json!([
            "the code ran its tool more than once for 2 calls of the model (`refund`); each counts as one call, with its last result"
        ])
    );
    is_green(&cassette, &effects, |place| pays(place, change));
    // The code no longer tries again.
    let once = Change {
        retries: false,
        ..change
    };
    let played = play(
        &cassette,
        &effects,
        PlaybackOptions::suite_default(),
        |place| pays(place, once),
    );
    assert_eq!(effects.count(), 5);
    assert!(
        divergences(&played)
            .iter()
            .any(|told| told.contains("does not make the recorded call"))
    );
}

#[test]
fn a_secret_of_a_result_is_played_as_its_marker() {
    let change = Change {
        secret: Some("hunter2-planted"),
        ..Change::default()
    };
    let effects = Effects::new();
    let secret = |options: &mut mcptest_session::session::SessionOptions| {
        options.secrets = vec![("RECEIPT".to_owned(), "hunter2-planted".to_owned())];
    };
    let run = record(&script(), &effects, secret, |place| pays(place, change));
    let cassette = run.unwrap().cassette;
    assert!(!cassette.to_string().contains("hunter2"), "{cassette:#}");
    is_green(&cassette, &effects, |place| pays(place, change));
}

#[test]
fn an_older_recording_plays_what_the_model_was_told() {
    let effects = Effects::new();
    let mut cassette = recorded(Change::default(), &effects);
    let session = cassette["session"].as_object_mut().unwrap();
    assert!(session.remove("tools").is_some() && session.remove("told").is_some());
    // The format does not say that a tool failed, and the model is told so in words of the client.
    for result in cassette["trace"]["tool_results"].as_array_mut().unwrap() {
        result.as_object_mut().unwrap().remove("is_error");
    }
    is_green(&cassette, &effects, |place| pays(place, Change::default()));
    // Who wrote it knew nothing of the tool, so what is not called is told by the model's results alone.
    let played = play(
        &cassette,
        &effects,
        PlaybackOptions::suite_default(),
        |place| {
            let order = Some(9);
            pays(
                place,
                Change {
                    order,
                    ..Change::default()
                },
            )
        },
    );
    assert_eq!(effects.count(), 3);
    assert!(
        divergences(&played)
            .iter()
            .any(|told| told.contains("no call of `refund` with these arguments"))
    );
}

#[test]
fn tools_that_are_named_run_for_real_and_their_results_are_compared() {
    let effects = Effects::new();
    let cassette = recorded(Change::default(), &effects);
    let plays = |secret: Option<&'static str>| {
        let mut options = PlaybackOptions::suite_default();
        options.run = vec!["refund".to_owned()];
        let change = Change {
            secret,
            ..Change::default()
        };
        divergences(&play(&cassette, &effects, options, |place| {
            pays(place, change)
        }))
    };
    assert_eq!(plays(None), [""; 0]);
    assert_eq!(effects.count(), 5);
    let other = plays(Some("other"));
    assert!(
        other
            .iter()
            .any(|told| told.contains("the result of `refund` differs")),
        "{other:#?}"
    );
}

/// The model writes what is to be done.
fn written() -> Value {
    json!({ "conversations": [{ "user": PROMPT, "runs": [[
        { "text": "refund 7" }, { "text": "refund 8" }, { "text": "Both are refunded." },
    ]] }] })
}

#[test]
fn an_agent_that_acts_in_text_is_recorded_and_played() {
    let effects = Effects::new();
    let run = record(
        &written(),
        &effects,
        |_| {},
        |place| writes(place, false, None),
    );
    let cassette = run.unwrap().cassette;
    assert_eq!(effects.count(), 2);
    assert_eq!(names(&cassette), ["refund", "refund"]);
    assert_eq!(flags(&cassette), [Some(false), Some(false)]);
    let steps: Vec<_> = [0, 1]
        .map(|call| cassette["trace"]["tool_calls"][call]["step"].as_u64())
        .into();
    assert_eq!(steps, [Some(0), Some(1)]);
    assert_eq!(cassette["trace"]["final_response"], "Both are refunded.");
    is_green(&cassette, &effects, |place| writes(place, false, None));
    let plays = |skips: bool, order: Option<u64>| {
        let played = play(
            &cassette,
            &effects,
            PlaybackOptions::suite_default(),
            |place| writes(place, skips, order),
        );
        assert_eq!(effects.count(), 2);
        divergences(&played)
    };
    // The results are the same, and nothing was called.
    let skipped = plays(true, None);
    let unmade = "tools[refund]: the code does not make the recorded call of the tool `refund`, or no session sees it: its \
                  decorator is gone, or it runs where `MCPTEST_TOOLS` is not set";
    assert_eq!(skipped, [unmade, unmade]);
    let other = plays(false, Some(9));
    assert!(
        other
            .iter()
            .any(|told| told.contains("`order` is 9 and was 7")),
        "{other:#?}"
    );
}

/// A tool that asks a model of its own.
fn researched() -> Value {
    let question = json!({ "question": "Which order is late?" });
    json!({ "conversations": [
        { "user": PROMPT, "runs": [[
            { "calls": [{ "name": "research", "args": question }] }, { "text": "Order 7 is late." },
        ]] },
        { "user": "Which order is late?", "runs": [[
            { "calls": [{ "name": "find", "args": { "q": "late" } }] }, { "text": "It is 7." },
        ]] },
    ] })
}

#[test]
fn what_a_tool_asks_for_is_not_asked_for_when_it_is_given_back() {
    let effects = Effects::new();
    let run = record(
        &researched(),
        &effects,
        |_| {},
        |place| delegates(place, false),
    );
    let cassette = run.unwrap().cassette;
    // What the agent inside did: it found, and wrote it down.
    assert_eq!(effects.count(), 2);
    assert_eq!(names(&cassette), ["research", "find"]);
    let tools = cassette["session"]["tools"].as_array().unwrap().iter();
    let known = tools.map(|tool| {
        (
            tool["name"].as_str().unwrap(),
            tool["call"].as_u64(),
            tool["inside"].as_u64(),
        )
    });
    assert_eq!(
        known.collect::<Vec<_>>(),
        [
            ("research", Some(0), None),
            ("find", Some(1), Some(0)),
            ("audit", None, Some(0))
        ]
    );
    is_green(&cassette, &effects, |place| delegates(place, false));
    // Where the tool itself is not called, what is inside of it is missing with it.
    let played = play(
        &cassette,
        &effects,
        PlaybackOptions::suite_default(),
        |place| async move {
            let tools = Tools::new(&place);
            let call = |message: &Value| crate::model::calls(message)[0].0.clone();
            let asked = crate::model::ask(&tools, &[crate::model::user(PROMPT)], &["research"])
                .await
                .unwrap();
            let result = crate::model::result(&call(&asked), "It is 7.");
            let talk = [crate::model::user(PROMPT), asked, result];
            crate::model::ask(&tools, &talk, &["research"])
                .await
                .unwrap();
        },
    );
    let own = divergences(&played);
    let own: Vec<&String> = own
        .iter()
        .filter(|told| told.starts_with("tools["))
        .collect();
    // What was inside of it goes with it.
    assert_eq!(own.len(), 1, "{own:#?}");
    assert!(own[0].starts_with(
        "tools[research]: the code does not make the recorded call of the tool `research`"
    ));
}

#[test]
fn what_the_suite_answers_is_not_done_and_plays() {
    let effects = Effects::new();
    let answers = vec![
        OwnAnswer::new("refund", OwnReply::Result(json!({ "refunded": 18 }))),
        OwnAnswer::new("close", OwnReply::Run),
    ];
    let run = record(
        &script(),
        &effects,
        |options| options.answers = OwnAnswers::new(answers),
        |place| pays(place, Change::default()),
    );
    let run = run.unwrap();
    assert_eq!(effects.count(), 1);
    assert_eq!(run.answers.used(), [2, 1]);
    let cassette = run.cassette;
    let by: Vec<bool> = [0, 1, 2]
        .map(|call| cassette["trace"]["tool_calls"][call]["own"]["by"] == "suite")
        .into();
    assert_eq!(by, [true, true, false]);
    is_green(&cassette, &effects, |place| pays(place, Change::default()));
}

#[test]
fn a_fault_strikes_a_tool_of_the_agents_own() {
    let effects = Effects::new();
    let flaky = Fault::new("flaky", FaultKind::RecoverAfter { failures: 1 }).with_tool("refund");
    let slow = Fault::new("slow", FaultKind::Slow { delay_ms: 500 }).with_tool("close");
    let plan = FaultPlan::new(vec![flaky, slow]);
    let faults = Decisions::new(plan.clone());
    let run = record(
        &script(),
        &effects,
        |options| options.faults = Some(faults),
        |place| pays(place, Change::default()),
    );
    let cassette = run.unwrap().cassette;
    // The first refund did not run.
    assert_eq!(effects.count(), 2);
    let text = "`refund` timed out: no answer within 3000 ms";
    let error = json!({ "type": "TimeoutError", "module": "builtins", "text": text });
    assert_eq!(cassette["session"]["tools"][0]["error"], error);
    let mark = json!({ "fault": "flaky", "kind": "recover_after" });
    assert_eq!(cassette["trace"]["tool_results"][0]["synthesized"], mark);
    let report = judge_recovery(&cassette["trace"], &plan);
    assert!(
        report.contradictions.is_empty() && report.unplanned.is_empty(),
        "{report:?}"
    );
    assert_eq!(report.fired, [1, 1]);
    is_green(&cassette, &effects, |place| pays(place, Change::default()));
}

#[test]
fn a_tool_recovers_within_the_codes_own_loop() {
    let change = Change {
        retries: true,
        ..Change::default()
    };
    let effects = Effects::new();
    let plan = |failures| {
        let flaky = Fault::new("flaky", FaultKind::RecoverAfter { failures });
        FaultPlan::new(vec![flaky.with_tool("refund")])
    };
    let faults = Decisions::new(plan(3));
    let run = record(
        &script(),
        &effects,
        |options| options.faults = Some(faults),
        |place| pays(place, change),
    );
    let cassette = run.unwrap().cassette;
    // Both refunds are struck as the model asks for them. The first one is struck once more, the second is paid, and to close
    // fails twice by itself.
    assert_eq!(effects.count(), 3);
    assert_eq!(flags(&cassette), [Some(true), Some(false), Some(true)]);
    let attempts = |call: usize| cassette["trace"]["tool_calls"][call]["own"]["attempts"].clone();
    let marks = |call: usize| {
        let attempts = attempts(call);
        let marks = attempts.as_array().unwrap().iter();
        let marks: Vec<bool> = marks.map(|one| one["synthesized"].is_object()).collect();
        marks
    };
    assert_eq!((marks(0), marks(1)), (vec![true, true], vec![true, false]));
    let report = judge_recovery(&cassette["trace"], &plan(3));
    assert_eq!(report.fired, [3]);
    assert!(report.contradictions.is_empty() && report.foreign_marks.is_empty());
    assert_eq!(
        judge_recovery(&cassette["trace"], &plan(4))
            .contradictions
            .len(),
        1
    );
    is_green(&cassette, &effects, |place| pays(place, change));
}

#[test]
fn a_value_that_cannot_be_kept_ends_the_session_without_a_recording() {
    let effects = Effects::new();
    let run = record(
        &script(),
        &effects,
        |_| {},
        |place| async move {
            let tools = Tools::new(&place);
            let call = Call {
                name: "connect",
                args: json!({}),
                ..Call::default()
            };
            let run = tools.begin(&call).await.unwrap();
            let why = "its value of the type `socket` is no JSON";
            tools
                .post("done", &json!({ "run": run, "unkept": why }))
                .await;
            pays(place, Change::default()).await;
        },
    );
    assert_eq!(
        run.unwrap_err().to_string(),
        "the tool `connect` gave a value that cannot be kept, so that the run cannot be played: its value of the type `socket` \
         is no JSON; let the tool give a value that is JSON, or say how its value is kept (`encode=` and `decode=`)"
    );
}
