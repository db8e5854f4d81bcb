//! The desk as MCP tools.

use std::{
    borrow::Cow,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rmcp::{
    ServerHandler,
    handler::server::{router::tool::ToolRouter, wrapper::Parameters},
    model::{
        CallToolResult, ContentBlock, Implementation, ProtocolVersion, ServerCapabilities,
        ServerConfig,
    },
    schemars, tool, tool_handler, tool_router,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::desk::{Desk, DeskError};

/// An MCP server over one fresh [`Desk`].
#[derive(Debug)]
pub struct DeskServer {
    desk: Mutex<Desk>,
    tool_router: ToolRouter<Self>,
}

impl Default for DeskServer {
    fn default() -> Self {
        Self {
            desk: Mutex::default(),
            tool_router: Self::tool_router(),
        }
    }
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct FindOrder {
    /// The order's id, such as A-1001.
    order_id: String,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchOrders {
    /// The customer's name or a part of it; upper and lower case are the same.
    customer: String,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct CancelOrder {
    /// The order's id, such as A-1001.
    order_id: String,
    /// Why the customer cancels, in their words.
    reason: Option<String>,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct RefundOrder {
    /// The order's id, such as A-1001.
    order_id: String,
    /// How much to pay back, in cents.
    #[schemars(range(min = 1))]
    amount_cents: u64,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct UpdateAddress {
    /// The order's id, such as A-1001.
    order_id: String,
    /// The whole new address on one line.
    address: String,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct AddNote {
    /// The order's id, such as A-1001.
    order_id: String,
    /// What to note.
    text: String,
}

#[tool_router]
impl DeskServer {
    #[tool(description = "\
        Find one order by its id. Answers with the customer, the address, the \
        items, the total in cents and the status, which is paid, shipped or \
        cancelled.")]
    fn find_order(&self, Parameters(wish): Parameters<FindOrder>) -> CallToolResult {
        answer(self.desk().find(&wish.order_id))
    }

    #[tool(description = "\
        List the orders of a customer, by ascending order id. The list is \
        empty when no customer has such a name.")]
    fn search_orders(&self, Parameters(wish): Parameters<SearchOrders>) -> CallToolResult {
        let desk = self.desk();
        answer(Ok(json!({ "orders": desk.search(&wish.customer) })))
    }

    #[tool(description = "\
        Cancel an order that has been paid. An order that is shipped or \
        cancelled already cannot be cancelled. This does not pay any money \
        back: use `refund_order` for that.")]
    fn cancel_order(&self, Parameters(wish): Parameters<CancelOrder>) -> CallToolResult {
        answer(self.desk().cancel(&wish.order_id, wish.reason))
    }

    #[tool(description = "\
        Pay money back on a cancelled order, at most its total. Answers with \
        the id of the refund, such as RF-1.")]
    fn refund_order(&self, Parameters(wish): Parameters<RefundOrder>) -> CallToolResult {
        answer(self.desk().refund(&wish.order_id, wish.amount_cents))
    }

    #[tool(description = "\
        Change the address an order is sent to. Answers with the order as it \
        is now.")]
    fn update_address(&self, Parameters(wish): Parameters<UpdateAddress>) -> CallToolResult {
        answer(self.desk().update_address(&wish.order_id, &wish.address))
    }

    #[tool(description = "\
        Add a note to an order for the people at the desk. Answers with the id \
        of the note, such as N-1.")]
    fn add_note(&self, Parameters(wish): Parameters<AddNote>) -> CallToolResult {
        answer(self.desk().add_note(&wish.order_id, &wish.text))
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for DeskServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(
                env!("CARGO_PKG_NAME"),
                env!("CARGO_PKG_VERSION"),
            ))
            .with_instructions("A desk for customer orders. Amounts are in cents.")
    }

    /// The protocol versions that have sessions, for the state lives in one.
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::known_up_to(
            &ProtocolVersion::LATEST_WITH_INITIALIZE,
        ))
    }
}

/// The result as text and as structured content, or the refusal as a tool error.
fn answer<T: Serialize>(result: Result<T, DeskError>) -> CallToolResult {
    let value = result
        .map_err(|error| error.to_string())
        .and_then(|value| serde_json::to_value(value).map_err(|error| error.to_string()));
    match value {
        Ok(value) => CallToolResult::structured(value),
        Err(text) => CallToolResult::error(vec![ContentBlock::text(text)]),
    }
}
