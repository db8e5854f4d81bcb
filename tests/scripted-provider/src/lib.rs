//! A model API on loopback that plays a script, for tests.
//!
//! It answers `POST /v1/messages` in the shape of the Anthropic Messages API,
//! `POST /v1/chat/completions` and `POST /v1/responses`, also without `/v1`, in
//! the shapes of `OpenAI`, and `POST /v1beta/models/<model>:generateContent` and
//! `:streamGenerateContent` in that of Gemini, `POST /api/chat` in that of Ollama, and `POST /model/<model>/converse` and
//! `/invoke` in those of Bedrock, each whole or as a stream, and `GET /v1/models`. The paths of Gemini and
//! Claude on Vertex AI, which take a bearer token, are there too. Requests are checked as the real services check them, and
//! the answers come from a [`Script`]:
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
//! With `"gzip": true` answers are compressed for clients that take it. `{ "cut": true }`
//! before a reply breaks its answer off in the middle, whole or streamed. `"usage"` of a
//! reply says its tokens: `prompt` with `cached` in it, `completion` with `reasoning` in it.
//! `"answers_as"` of a conversation is the model that answers, whichever is asked.
//!
//! A request without any assistant message starts the next run of the
//! conversation whose `user` is its first user message. A later request is
//! given to the run that its history shows: by the ids of the tool calls, else
//! by the texts that were answered. Its reply is the one whose index is the
//! number of assistant messages in the history.

#![forbid(unsafe_code)]

mod anthropic;
mod api;
mod bedrock;
mod exchange;
mod gemini;
mod node;
mod ollama;
mod openai;
mod pieces;
mod play;
mod provider;
mod responses;
mod script;
mod server;
mod streaming;
mod template;
mod vertex;

pub use provider::{Options, Provider, SeenRequest};
pub use script::{Script, ScriptError};
