//! Against a door that listens.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::cell::Cell;
use std::sync::Arc;

use super::*;
use crate::door::Door;
use crate::endpoint::Endpoint;

/// Everything is on one thread: what asks the door must not hold up what answers.
fn block_on<T>(run: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(run)
}

async fn listening(door: &Door) -> (Endpoint, Tools) {
    let endpoint = Endpoint::start(Arc::new(door.clone())).await.unwrap();
    let address = format!("{}/tools", endpoint.url());
    let tools = from_variable(Some(Ok(address)), true).unwrap();
    (endpoint, tools)
}

fn with_message<T>(ran: Result<T, ToolFailure>) -> Result<T, String> {
    ran.map_err(|failure| failure.to_string())
}

#[test]
fn a_tool_runs_while_it_is_recorded_and_not_while_it_is_played() {
    block_on(async {
        let records = Door::recording();
        let (_endpoint, tools) = listening(&records).await;
        let inner = || tools.call("get_order", json!({}), async { Ok::<_, String>(7) });
        let outer = async {
            let order = inner().await.unwrap();
            Ok::<_, String>(vec![order, 18])
        };
        let id = Some("call_1");
        let paid = tools
            .call_with_id(id, "refund", json!({ "order": 7 }), outer)
            .await;
        assert_eq!(with_message(paid), Ok(vec![7, 18]));
        let fails = async { Err::<u32, _>("too much") };
        let failed = tools.call("refund", json!({ "order": 8 }), fails).await;
        assert_eq!(with_message(failed), Err("too much".to_owned()));
        let begun = Cell::new(false);
        let never_ends = async {
            begun.set(true);
            std::future::pending::<Result<u32, String>>().await
        };
        let mut waits = Box::pin(tools.call("wait", json!({}), never_ends));
        while !begun.get() {
            _ = futures_util::poll!(&mut waits);
            tokio::task::yield_now().await;
        }
        drop(waits);
        while records.notes()[3].get("left").is_none() {
            tokio::task::yield_now().await;
        }
        let calls = records.calls();
        assert_eq!(
            (calls[0].call_id.as_deref(), calls[1].inside),
            (id, Some(0))
        );
        let plays = Door::from_notes(&records.notes()[..3]);
        let (_endpoint, tools) = listening(&plays).await;
        let never = || async { panic!("it runs") as Result<Vec<u32>, String> };
        let paid = tools.call("refund", json!({ "order": 7 }), never()).await;
        assert_eq!(with_message(paid), Ok(vec![7, 18]));
        let failed = tools.call("refund", json!({ "order": 8 }), never()).await;
        assert_eq!(with_message(failed), Err("too much".to_owned()));
        let other = tools.call("refund", json!({ "order": 9 }), never()).await;
        assert!(
            with_message(other)
                .unwrap_err()
                .contains("no call of `refund` with these arguments")
        );
    });
}

#[test]
fn nothing_runs_where_the_session_does_not_say_that_it_may() {
    block_on(async {
        let never = || async { panic!("it runs") as Result<u32, String> };
        let door = Door::recording();
        let (endpoint, tools) = listening(&door).await;
        door.end();
        let ended = with_message(tools.call("refund", json!({}), never()).await).unwrap_err();
        assert!(
            ended.contains("does not run") && ended.contains("has ended"),
            "{ended}"
        );
        drop(endpoint);
        tokio::task::yield_now().await;
        let gone = with_message(tools.call("refund", json!({}), never()).await).unwrap_err();
        assert!(gone.contains("does not run"), "{gone}");
        for address in [
            "https://127.0.0.1:1/tools",
            "http://example.com:1/tools",
            "http://127.0.0.1.example.com:1/tools",
            "http://127.0.0.1:1@example.com/tools",
            "http://localhost:1/tools",
            "http://127.0.0.1:x/tools",
            "http://127.0.0.1:1/a b",
            "http://127.0.0.1:99999/tools",
        ] {
            assert!(
                from_variable(Some(Ok(address.to_owned())), false).is_err(),
                "{address}"
            );
        }
        assert!(from_variable(None, true).is_err());
    });
}

#[test]
fn without_a_session_a_tool_runs_as_it_is() {
    block_on(async {
        let tools = from_variable(None, false).unwrap();
        let ran = tools
            .call("refund", json!({}), async { Ok::<_, String>(7) })
            .await;
        assert_eq!(with_message(ran), Ok(7));
    });
}
