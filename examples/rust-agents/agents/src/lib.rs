#![forbid(unsafe_code)]
//! One order desk, six agents, each as its library's users write one: a model, two tools, and a loop that ends when the
//! model calls no tool any more. None of them knows that it is recorded.

pub mod desk;
pub mod over_async_openai;
pub mod over_bedrock;
pub mod over_genai;
pub mod over_ollama;
pub mod over_reqwest;
pub mod over_rig;

/// Why an agent failed.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// How an agent asks its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// Each answer as a whole.
    Whole,
    /// Each answer as a stream of events.
    Streamed,
}

/// How often an agent asks its model before it gives up.
const MOST_TURNS: usize = 6;

/// How often a request is made that is answered with 429 or 5xx, where the library asks once.
const MOST_TRIES: u32 = 3;

/// How long an agent waits before it asks again.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(50);
