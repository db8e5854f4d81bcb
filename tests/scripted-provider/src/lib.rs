//! A model API on loopback that plays a script, for tests.
//!
//! It answers `POST /v1/messages` in the shape of the Anthropic Messages API,
//! and `POST /v1/chat/completions` and `POST /chat/completions` in the shape of
//! `OpenAI` Chat Completions, both without streaming. Requests are checked as the
//! real services check them, and the answers come from a [`Script`]:
//!
//! ```json
//! {
//!   "key": "test-key",
//!   "models": ["some-model"],
//!   "conversations": [
//!     {
//!       "user": "Where is A-1001?",
//!       "runs": [
//!         [
//!           { "calls": [{ "name": "find_order", "args": { "order_id": "A-1001" } }] },
//!           { "text": "It is {{result:find_order:/status}}.", "before": [{ "status": 429 }] }
//!         ]
//!       ]
//!     }
//!   ]
//! }
//! ```
//!
//! A request without any assistant message starts the next run of the
//! conversation whose `user` is its first user message. A later request is
//! given to the run that its history shows: by the ids of the tool calls, else
//! by the texts that were answered. Its reply is the one whose index is the
//! number of assistant messages in the history.

#![forbid(unsafe_code)]

mod anthropic;
mod api;
mod exchange;
mod node;
mod openai;
mod play;
mod provider;
mod script;
mod server;
mod template;

pub use provider::{Options, Provider, SeenRequest};
pub use script::{Script, ScriptError};
