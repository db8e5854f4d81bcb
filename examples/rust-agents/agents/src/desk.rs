//! The order desk: what the agents are told, and two tools, of which one fails sometimes. `AGENT_CHANGE` says what the code
//! does otherwise than when it was recorded: `another system prompt`, `a tool removed`, `an argument changed`.

use std::env;
use std::fmt;

use serde_json::{Value, json};

/// What every agent is told before the user asks.
const SYSTEM: &str = "You work at the order desk. Say exactly what you did.";

/// What the desk answers when it cannot do what it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeskError(String);

impl fmt::Display for DeskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DeskError {}

/// A tool as a model is told of it.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// What the model calls it.
    pub name: &'static str,
    /// What it is for.
    pub description: &'static str,
}

impl Tool {
    /// The JSON Schema of its arguments.
    #[must_use]
    pub fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": { "order": { "type": "integer", "description": "The number of the order" } },
            "required": ["order"],
        })
    }
}

/// The tools of the desk.
const TOOLS: [Tool; 2] = [
    Tool {
        name: "find_order",
        description: "Looks up the status and the total of an order",
    },
    Tool {
        name: "refund_order",
        description: "Gives the money of a paid order back",
    },
];

/// What every agent is told before the user asks.
#[must_use]
pub fn system() -> &'static str {
    if is_changed("another system prompt") {
        "You work at the order desk. Be quick."
    } else {
        SYSTEM
    }
}

/// The tools that an agent offers its model.
#[must_use]
pub fn tools() -> &'static [Tool] {
    let removed = usize::from(is_changed("a tool removed"));
    &TOOLS[..TOOLS.len() - removed]
}

/// Whether the code does something otherwise.
fn is_changed(change: &str) -> bool {
    env::var("AGENT_CHANGE").is_ok_and(|named| named == change)
}

/// Calls a tool by its name.
///
/// ```
/// use agents::desk;
/// use serde_json::json;
///
/// assert_eq!(desk::call("find_order", &json!({ "order": 7 }))?["status"], "paid");
/// assert!(desk::call("find_order", &json!({ "order": "seven" })).is_err());
/// # Ok::<(), desk::DeskError>(())
/// ```
pub fn call(tool: &str, arguments: &Value) -> Result<Value, DeskError> {
    let order = arguments["order"].as_u64();
    let order = order.ok_or_else(|| DeskError("`order` is no number of an order".to_owned()))?;
    match tool {
        "find_order" => find_order(order),
        "refund_order" => refund_order(order),
        _ => Err(DeskError(format!("there is no tool `{tool}`"))),
    }
}

/// The status and the total of an order.
///
/// ```
/// assert_eq!(agents::desk::find_order(7)?["status"], "paid");
/// # Ok::<(), agents::desk::DeskError>(())
/// ```
pub fn find_order(order: u64) -> Result<Value, DeskError> {
    let order = order + u64::from(is_changed("an argument changed"));
    let (status, total) = match order {
        7 => ("paid", 40),
        8 => ("refunded", 25),
        _ => return Err(DeskError(format!("there is no order {order}"))),
    };
    Ok(json!({ "order": order, "status": status, "total": total }))
}

/// Gives the money of an order back. It fails for an order that has its money back already.
///
/// ```
/// let error = agents::desk::refund_order(8).unwrap_err();
/// assert_eq!(error.to_string(), "order 8 is refunded, not paid");
/// ```
pub fn refund_order(order: u64) -> Result<Value, DeskError> {
    let found = find_order(order)?;
    match found["status"].as_str() {
        Some("paid") => Ok(json!({ "order": order, "refunded": found["total"] })),
        status => {
            let status = status.unwrap_or("unknown");
            Err(DeskError(format!("order {order} is {status}, not paid")))
        }
    }
}
