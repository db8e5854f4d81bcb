//! A desk for customer orders as an MCP server.
//!
//! The desk keeps its orders in memory: one fresh [`Desk`] per process over
//! stdio, one per session over HTTP. Ids are counted up and no clock or random
//! number is read, so the same calls in the same order give the same answers.

#![forbid(unsafe_code)]

mod desk;
mod http;
mod misbehave;
mod orders;
mod raw;
mod server;

pub use desk::{Desk, DeskError, NoteTaken, Refund};
pub use http::router;
pub use misbehave::{Misbehaviour, misbehave};
pub use orders::{Item, Note, Order, Status, seeded};
pub use raw::Raw;
pub use server::DeskServer;
