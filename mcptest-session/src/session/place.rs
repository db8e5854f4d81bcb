//! What stands at the address of a session: the model's API, and MCP servers.

use std::sync::Arc;

use crate::endpoint::{Answerer, Answering, Incoming};
use crate::mcp::Servers;
use crate::record::Relay;

/// What stands at the address of a session.
pub(super) struct Place {
    pub(super) relay: Relay,
    pub(super) servers: Arc<Servers>,
}

impl Answerer for Place {
    fn answer(&self, incoming: Incoming) -> Answering {
        if incoming.path.starts_with("/mcp/") {
            self.servers.answer(incoming)
        } else {
            self.relay.answer(incoming)
        }
    }
}
