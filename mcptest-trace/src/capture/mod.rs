//! Runs of agents, written down from the spans of their library: one line in `main`, and nothing in the agent.
//!
//! - `layer`: sees spans begin and end; `state` keeps those that are open, and groups them into runs;
//! - `span` and `exchange`: what a span says, by the table of names in `spans`;
//! - `run` and `conversation`: the spans of a run in the order in which things happened;
//! - `captured_run`: a cassette of a run;
//! - `files`: where cassettes are put.

mod captured_run;
mod conversation;
mod exchange;
mod fields;
mod files;
mod group;
mod layer;
mod run;
mod span;
mod state;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

pub use layer::Capture;

/// A layer that writes a cassette for each run of an agent whose library tells of it in spans of the `OpenTelemetry`
/// conventions for generative models (`gen_ai.*`): rig, genai, and whatever else follows them.
///
/// A run is what happens in an agent's span, `invoke_agent`. rig makes one where the program has no span around the
/// agent. Where there is none, each conversation within a root span is a run; model calls outside of any span are not
/// written. An agent within an agent's span, or within a tool, is part of the run: its calls carry its name as
/// `agent_id`.
///
/// A cassette is put into `FOLDER/<agent>__<model>/run-N.json`, where a suite looks for it. It is written when a model
/// call or a tool ends, so that a process that exits or is killed leaves a run that was `interrupted`. A run that a
/// panic ended, stopped by `error`. What the spans do not carry is absent: tokens that no provider told are not zero,
/// and a tool whose span says nothing of failure has no `is_error`.
///
/// Where `MCPTEST_MODE` is set nothing is written: a session of the harness records the program, or plays a recording to
/// it.
///
/// Libraries leave what is said out of their spans until it is switched on: rig by `.record_content_telemetry(true)` on
/// the agent's builder, genai by `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true`. Such runs are not written,
/// which is said once. The layer sees what the program's own filter lets through: spans of the level `INFO` must be.
///
/// ```
/// use tracing::info_span;
/// use tracing_subscriber::layer::SubscriberExt as _;
///
/// let folder = tempfile::tempdir()?;
/// // In `main`: `mcptest_trace::capture("cassettes").install()?;`
/// let subscriber = tracing_subscriber::registry().with(mcptest_trace::capture(folder.path()));
/// tracing::subscriber::with_default(subscriber, || {
///     // What a library does.
///     let _agent = info_span!("invoke_agent", gen_ai.agent.name = "desk").entered();
///     let _call = info_span!(
///         "chat",
///         gen_ai.operation.name = "chat",
///         gen_ai.request.model = "gpt-5",
///         gen_ai.input.messages = r#"[{"role":"user","parts":[{"type":"text","content":"Hello."}]}]"#,
///         gen_ai.output.messages = r#"[{"role":"assistant","parts":[{"type":"text","content":"Good day."}]}]"#,
///     )
///     .entered();
/// });
/// assert!(folder.path().join("desk__gpt-5/run-1.json").is_file());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn capture(folder: impl Into<PathBuf>) -> Capture {
    Capture::new(folder.into())
}
