//! Requests as real clients send them: each goes on after a call of one tool for two orders. `clients.json` holds
//! what reached a scripted provider from agents of a few lines.

use serde_json::Value;

use crate::exchange::{Item, Part};
use crate::protocol;

#[test]
fn what_real_clients_send_is_read() {
    let all: Vec<Value> = serde_json::from_str(include_str!("clients.json")).unwrap();
    assert_eq!(all.len(), 16);
    for request in &all {
        let client = request["client"].as_str().unwrap();
        let (protocol, route) = protocol::at(request["path"].as_str().unwrap()).unwrap();
        let asked = protocol.parse_request(&route, &request["body"]);
        assert_eq!(asked.model.as_deref(), Some("m"), "{client}");
        assert_eq!(asked.system.as_deref(), Some("Help."), "{client}");
        assert_eq!(asked.opening(), Some("Cancel orders 7 and 8."), "{client}");
        assert_eq!(asked.tools.len(), 1, "{client}");
        let tool = &asked.tools[0];
        assert_eq!(tool.name, "cancel", "{client}");
        assert_eq!(tool.description.as_deref(), Some("Cancels."), "{client}");
        let order = tool
            .schema
            .as_ref()
            .unwrap()
            .pointer("/properties/order/type");
        assert_eq!(order.unwrap(), "integer", "{client}");
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for item in &asked.items {
            match item {
                Item::Answer(parts) => calls.extend(parts.iter().filter_map(|part| match part {
                    Part::Call(call) => Some((call.id.clone(), call.args["order"].clone())),
                    _ => None,
                })),
                Item::Result(result) => results.push((result.id.clone(), result.is_error)),
                _ => {}
            }
        }
        let ids = |all: &[(Option<String>, Value)]| {
            all.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>()
        };
        let of_results: Vec<_> = results.iter().map(|(id, _)| id.clone()).collect();
        assert_eq!(ids(&calls), of_results, "{client}");
        let orders: Vec<&Value> = calls.iter().map(|(_, order)| order).collect();
        assert_eq!(orders, [7, 8], "{client}");
        let says = protocol.name() == "anthropic_messages";
        assert!(
            results
                .iter()
                .all(|(_, is_error)| is_error.is_some() == says),
            "{client}"
        );
    }
}
