//! The desk over stdio.

use rmcp::{ServiceError, model::CallToolRequestParams};
use serde_json::{Value, json};

use crate::{connect, ok, refused};

#[tokio::test]
async fn the_tools_are_described_with_closed_schemas() {
    let client = connect(&[], &[]).await;
    let tools = client.list_all_tools().await.unwrap();
    let required: Vec<_> = tools
        .iter()
        .map(|tool| {
            assert!(
                tool.description
                    .as_ref()
                    .is_some_and(|text| text.len() > 40)
            );
            assert_eq!(tool.input_schema["type"], "object");
            assert_eq!(tool.input_schema["additionalProperties"], false);
            let properties = tool.input_schema["properties"].as_object().unwrap();
            for (name, schema) in properties {
                assert!(schema["description"].is_string(), "{}.{name}", tool.name);
            }
            (tool.name.as_ref(), tool.input_schema["required"].clone())
        })
        .collect();
    assert_eq!(
        required,
        [
            ("add_note", json!(["order_id", "text"])),
            ("cancel_order", json!(["order_id"])),
            ("find_order", json!(["order_id"])),
            ("refund_order", json!(["order_id", "amount_cents"])),
            ("search_orders", json!(["customer"])),
            ("update_address", json!(["order_id", "address"])),
        ]
    );
    assert_eq!(
        client
            .peer_info()
            .unwrap()
            .server_info
            .as_ref()
            .unwrap()
            .name,
        "order-desk"
    );
}

#[tokio::test]
async fn calls_change_the_state() {
    let client = connect(&[], &[]).await;
    let id = json!({ "order_id": "A-1001" });
    let order = ok(&client, "find_order", id.clone()).await;
    assert_eq!(order["status"], "paid");
    assert_eq!(order["items"].as_array().map(Vec::len), Some(2));
    assert_eq!(order["total_cents"], 10_800);

    let cancel = json!({ "order_id": "A-1001", "reason": "too slow" });
    assert_eq!(
        ok(&client, "cancel_order", cancel.clone()).await["status"],
        "cancelled"
    );
    assert_eq!(
        refused(&client, "cancel_order", cancel).await,
        "order A-1001 is already cancelled"
    );
    let refund = json!({ "order_id": "A-1001", "amount_cents": 10_800 });
    assert_eq!(
        ok(&client, "refund_order", refund).await,
        json!({
            "refund_id": "RF-1", "order_id": "A-1001",
            "amount_cents": 10_800, "refunded_cents": 10_800,
        })
    );
    let note = json!({ "order_id": "A-1001", "text": "call back" });
    assert_eq!(
        ok(&client, "add_note", note).await,
        json!({ "note_id": "N-1", "order_id": "A-1001" })
    );
    let address = json!({ "order_id": "A-1001", "address": "1 New Road, Bath" });
    ok(&client, "update_address", address).await;

    let order = ok(&client, "find_order", id).await;
    assert_eq!(order["status"], "cancelled");
    assert_eq!(order["cancel_reason"], "too slow");
    assert_eq!(order["refunded_cents"], 10_800);
    assert_eq!(order["address"], "1 New Road, Bath");
    assert_eq!(
        order["notes"],
        json!([{ "note_id": "N-1", "text": "call back" }])
    );
}

#[tokio::test]
async fn a_search_lists_orders() {
    let client = connect(&[], &[]).await;
    let ids = |found: Value| -> Vec<String> {
        let orders = found["orders"].as_array().unwrap().clone();
        let id = |order: &Value| order["order_id"].as_str().unwrap().to_owned();
        orders.iter().map(id).collect()
    };
    let found = ok(&client, "search_orders", json!({ "customer": "novak" })).await;
    assert_eq!(ids(found), ["A-1001", "A-1004"]);
    let found = ok(&client, "search_orders", json!({ "customer": "nobody" })).await;
    assert!(ids(found).is_empty());
}

#[tokio::test]
async fn the_desk_refuses_with_tool_errors() {
    let client = connect(&[], &[]).await;
    let unknown = json!({ "order_id": "Z-1" });
    assert_eq!(
        refused(&client, "find_order", unknown).await,
        "no order Z-1"
    );
    let shipped = json!({ "order_id": "A-1002" });
    assert_eq!(
        refused(&client, "cancel_order", shipped).await,
        "order A-1002 is already shipped"
    );
    let too_much = json!({ "order_id": "A-1003", "amount_cents": 15_001 });
    assert_eq!(
        refused(&client, "refund_order", too_much).await,
        "15001 cents are more than the 15000 cents left to refund on order A-1003"
    );
}

#[tokio::test]
async fn wrong_arguments_are_tool_errors_that_say_what_is_wrong() {
    let client = connect(&[], &[]).await;
    let wrong = [
        (json!({}), "missing field `order_id`"),
        (
            json!({ "order_id": "A-1001", "urgent": true }),
            "unknown field `urgent`",
        ),
    ];
    for (arguments, message) in wrong {
        let error = refused(&client, "find_order", arguments).await;
        assert!(error.contains(message), "{error}");
    }
    let error = client
        .call_tool(CallToolRequestParams::new("sing"))
        .await
        .unwrap_err();
    assert!(matches!(error, ServiceError::McpError(_)), "{error:?}");
}
