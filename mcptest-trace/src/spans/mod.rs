//! Spans of generative models: who writes them, what their attributes mean, what is new of a history, and how a run
//! ended.
//!
//! The table is the one place that knows names of attributes. Two readers use it: the layer that writes runs down as
//! their spans close (feature `tracing`), and the import of `cargo mcptest`.

mod attributes;
mod emitters;
mod history;
mod stop;

pub use attributes::{
    ATTRIBUTES, Attribute, MARKS, Mark, Meaning, SpanRole, find_emitter, parse_outcome,
};
pub use emitters::{EMITTERS, Emitter, EmitterInfo, Marked};
pub use history::mark_new_parts;
pub use stop::{RunEnd, parse_end};

/// The name of the span of an agent. A span of this name is an agent's, whatever its attributes say.
pub const AGENT_SPAN: &str = "invoke_agent";
