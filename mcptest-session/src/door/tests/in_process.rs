//! Tools of this process.

use mcptest_trace::trace::Trace;
use serde::{Deserialize, Serialize};

use super::*;
use crate::handle::ToolFailure;

fn with_message<T>(ran: Result<T, ToolFailure>) -> Result<T, String> {
    ran.map_err(|failure| failure.to_string())
}

const UNMADE: &str = "the code does not make the recorded call of the tool `refund`";

#[test]
fn a_tool_runs_once_and_is_given_back_afterwards() {
    runs(async {
        let records = Door::recording();
        let refund = |amount: u32| async move {
            if amount > 9 {
                Err("too much")
            } else {
                Ok(amount)
            }
        };
        let args = |amount: u32| json!({ "amount": amount });
        let paid = records.run_tool("refund", args(7), refund(7)).await;
        assert_eq!(with_message(paid), Ok(7));
        let failed = Err("too much".to_owned());
        let paid = records.run_tool("refund", args(10), refund(10)).await;
        assert_eq!(with_message(paid), failed);
        let written = records.notes();
        let error = json!({ "type": "ToolFailure", "text": "too much" });
        assert_eq!(
            (&written[0]["result"], &written[1]["error"]),
            (&json!(7), &error)
        );
        let plays = Door::from_notes(&written);
        let never = || async { panic!("it runs") as Result<u32, String> };
        let given = |amount: u32| plays.run_tool("refund", args(amount), never());
        assert_eq!(with_message(given(10).await), failed);
        assert_eq!(divergence_messages(&plays), [UNMADE]);
        assert_eq!(with_message(given(7).await), Ok(7));
        assert_eq!(divergence_messages(&plays), [""; 0]);
        for (amount, words) in [
            (
                7,
                "`refund` is called once more with these arguments than when the run was recorded",
            ),
            (
                8,
                "the recording has no call of `refund` with these arguments; the nearest recorded call has {\"amount\":7}: \
                 `amount` is 8 and was 7",
            ),
        ] {
            assert_eq!(
                with_message(given(amount).await),
                Err(format!("mcptest: {words}"))
            );
            assert_eq!(divergence_messages(&plays).last().unwrap(), words);
        }
    });
}

#[test]
fn a_tool_of_older_notes_is_given_back_too() {
    runs(async {
        let plays = Door::from_notes(&[json!({ "name": "refund", "args": [7], "error": "no" })]);
        let never = async { panic!("it runs") as Result<u32, String> };
        let given = plays.run_tool("refund", json!([7]), never).await;
        assert_eq!(with_message(given), Err("no".to_owned()));
    });
}

#[test]
fn a_call_inside_of_another_knows_it_and_one_that_is_dropped_has_left() {
    runs(async {
        let door = Door::recording();
        let inner = || door.run_tool("get_order", json!({}), async { Ok::<_, String>(7) });
        let outer = door.run_tool("refund", json!({}), async { with_message(inner().await) });
        assert_eq!(with_message(outer.await), Ok(7));
        let waits = async {
            tokio::task::yield_now().await;
            Ok::<_, String>(8)
        };
        let mut dropped = Box::pin(door.run_tool("wait", json!({}), waits));
        assert!(futures_util::poll!(&mut dropped).is_pending());
        drop(dropped);
        let calls = door.calls();
        let inside: Vec<Option<usize>> = calls.iter().map(|call| call.inside).collect();
        assert_eq!(inside, [None, Some(0), None]);
        assert_eq!(door.notes()[2]["left"], true);
    });
}

#[test]
fn a_value_that_does_not_come_back_as_it_was_is_not_kept() {
    /// What is written of it cannot be read.
    #[derive(Debug, Serialize, Deserialize)]
    struct Half {
        #[serde(skip_deserializing)]
        id: u32,
    }
    runs(async {
        let door = Door::recording();
        let open = async { Ok::<_, String>(Half { id: 7 }) };
        // The agent has it all the same.
        let opened = door.run_tool("open", json!({}), open).await;
        assert_eq!(opened.map(|half| half.id), Ok(7));
        let (tool, why) = door.unkept().unwrap();
        assert_eq!(tool, "open");
        assert!(why.contains("Half") && why.contains("another one"), "{why}");
    });
}

#[test]
fn a_call_whose_recorded_arguments_lack_a_secret_is_given_back() {
    runs(async {
        let recorded =
            json!({ "name": "charge", "args": { "key": "[redacted KEY]" }, "result": 1 });
        let plays = Door::from_notes(&[recorded]);
        let never = async { panic!("it runs") as Result<u32, String> };
        let given = plays
            .run_tool("charge", json!({ "key": "sk-1" }), never)
            .await;
        assert_eq!(with_message(given), Ok(1));
        assert_eq!(divergence_messages(&plays), [""; 0]);
    });
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Receipt {
    paid: u32,
}

#[test]
fn an_older_recording_gives_back_what_the_model_was_told_or_asks_to_be_recorded_again() {
    runs(async {
        let text = |words: &str| json!({ "content": [{ "type": "text", "text": words }] });
        let trace = Trace::from_envelope(&json!({
            "tool_calls": [
                { "name": "refund", "args": { "order": 7 } }, { "name": "refund", "args": { "order": 8 } },
                { "name": "shop__say", "args": { "times": "2" } }, { "name": "noted", "args": {} },
                { "name": "refund", "args": { "order": 9 } },
            ],
            "tool_results": [
                { "call_index": 0, "is_error": false, "result": text("{\"paid\": 18}") },
                { "call_index": 1, "is_error": true, "result": text("too much") },
                { "call_index": 2, "is_error": false, "result": text("hello") },
                { "call_index": 3, "is_error": false, "result": text("1") },
                { "call_index": 4, "is_error": false, "result": text("paid 18 EUR") },
            ],
        }));
        let plays = plays(
            &[json!({ "name": "noted", "args": {}, "result": 2 })],
            &trace,
        );
        let never = || async { panic!("it runs") as Result<Receipt, String> };
        let refund = |order: u32| plays.run_tool("refund", json!({ "order": order }), never());
        assert_eq!(with_message(refund(7).await), Ok(Receipt { paid: 18 }));
        assert_eq!(with_message(refund(8).await), Err("too much".to_owned()));
        let words = async { panic!("it runs") as Result<String, String> };
        // The framework wrote a prefix for the model, and made a number of a text.
        let hello = plays
            .run_tool("say", json!({ "times": 2, "loud": false }), words)
            .await;
        assert_eq!(with_message(hello), Ok("hello".to_owned()));
        // A note counts before what the model was told.
        let unmade = "the code does not make the recorded call of the tool `noted`, or no session sees it: its decorator is \
                      gone, or it runs where `MCPTEST_TOOLS` is not set";
        assert_eq!(divergence_messages(&plays), [unmade]);
        // Nothing runs where the words are no such value.
        let unfit = with_message(refund(9).await).unwrap_err();
        assert_eq!(
            unfit,
            "the recording has only what the model was told of `refund`, and the code cannot use that as a result: expected \
             value at line 1 column 1; record the run again, or let the tool run: `playback: { run: [refund] }`"
        );
        assert_eq!(divergence_messages(&plays), [unfit.as_str(), unmade]);
    });
}
