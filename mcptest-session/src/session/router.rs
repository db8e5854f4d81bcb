//! The router at the address of a session: it passes requests to the model's API, to MCP servers, or to the door
//! of own tools.

use std::sync::Arc;

use crate::door::{Door, is_door};
use crate::endpoint::{Answerer, Answering, Incoming};
use crate::mcp::Servers;
use crate::record::Relay;

/// Passes each request at the address of a session to whoever answers it.
pub(super) struct Router {
    pub(super) relay: Relay,
    pub(super) servers: Arc<Servers>,
    pub(super) door: Door,
}

impl Answerer for Router {
    fn answer(&self, incoming: Incoming) -> Answering {
        if incoming.path.starts_with("/mcp/") {
            self.servers.answer(incoming)
        } else if is_door(&incoming.path) {
            self.door.answer(incoming)
        } else {
            self.relay.answer(incoming)
        }
    }
}
