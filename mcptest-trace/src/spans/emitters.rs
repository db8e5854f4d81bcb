//! Who writes spans, and what each is known by.
//!
//! Sources: semantic-conventions v1.41.1:docs/gen-ai; rig-agent 0.44.0 `agent/telemetry.rs`, rig-core 0.44.0 `telemetry`;
//! genai 0.7.2 `otel`; adk-agent 2.3.0 `llm_agent.rs`, adk-telemetry 2.3.0 `spans.rs`;
//! `openinference@1fe497f1:spec`; openllmetry 0.50.0 and 0.62.1; ai@6.0.77
//! `docs/03-ai-sdk-core/60-telemetry.mdx`; pydantic-ai `docs/logfire.md`.

use serde_json::{Map, Value};

/// What tells who wrote a span: the instrumentation's name, and the attributes.
#[derive(Debug, Clone, Copy)]
pub struct Marked<'s> {
    /// The instrumentation, or the crate whose span `tracing` passes on.
    pub scope: Option<&'s str>,
    /// The attributes.
    pub attributes: &'s Map<String, Value>,
}

impl<'s> Marked<'s> {
    pub(super) fn has(self, key: &str) -> bool {
        self.attributes.contains_key(key)
    }

    /// An attribute that is a text and says something.
    #[must_use]
    pub fn text(self, key: &str) -> Option<&'s str> {
        let text = self.attributes.get(key)?.as_str();
        text.filter(|text| !text.is_empty())
    }
}

/// What writes spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emitter {
    Conventions,
    Rig,
    Genai,
    AdkRust,
    OpenInference,
    OpenLlmetry,
    AiSdk,
    PydanticAi,
    GoogleAdk,
}

/// What an emitter is known by, and how its content is switched on.
#[derive(Debug)]
pub struct EmitterInfo {
    /// Who it is.
    pub emitter: Emitter,
    /// What it is called.
    pub name: &'static str,
    /// The versions whose spans were read.
    pub version: &'static str,
    /// How the names of its instrumentation scopes begin, or of the crates whose spans `tracing` passes on.
    pub scopes: &'static [&'static str],
    /// How attributes begin that no other one writes.
    pub own: &'static [&'static str],
    /// How what is said gets into its spans.
    pub switch: &'static str,
}

/// The emitters; whom the first row that fits does not name, the last one does.
pub const EMITTERS: &[EmitterInfo] = &[
    EmitterInfo {
        emitter: Emitter::Rig,
        name: "rig",
        version: "0.44.0",
        scopes: &["rig"],
        own: &["rig."],
        switch: "`.record_content_telemetry(true)` on the agent's builder (`record_telemetry_content` of a request of your own)",
    },
    EmitterInfo {
        emitter: Emitter::Genai,
        name: "genai",
        version: "0.7.2",
        scopes: &["genai"],
        own: &[],
        switch: "`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true`, before the first model call",
    },
    EmitterInfo {
        emitter: Emitter::AdkRust,
        name: "adk-rust",
        version: "2.3.0",
        scopes: &["adk_", "adk-"],
        own: &[],
        switch: "`RunConfig::builder().record_payloads(true)`, with the feature `record-payloads` of `adk-agent`",
    },
    EmitterInfo {
        emitter: Emitter::OpenInference,
        name: "OpenInference",
        version: "1fe497f1",
        scopes: &["openinference.", "@arizeai/openinference"],
        own: &["openinference."],
        switch: "`OPENINFERENCE_HIDE_INPUTS=false` and `OPENINFERENCE_HIDE_OUTPUTS=false` (and no `hide_…` in the `TraceConfig`)",
    },
    EmitterInfo {
        emitter: Emitter::OpenLlmetry,
        name: "OpenLLMetry (Traceloop)",
        version: "0.50.0, 0.62.1",
        scopes: &["traceloop", "@traceloop/"],
        own: &["traceloop.", "llm.request.type"],
        switch: "`TRACELOOP_TRACE_CONTENT=true` (in JavaScript also `traceContent: true`)",
    },
    EmitterInfo {
        emitter: Emitter::AiSdk,
        name: "Vercel AI SDK",
        version: "6.0.77",
        scopes: &["ai"],
        own: &["ai."],
        switch: "`experimental_telemetry: { isEnabled: true, recordInputs: true, recordOutputs: true }` of the call",
    },
    EmitterInfo {
        emitter: Emitter::PydanticAi,
        name: "Pydantic AI",
        version: "its documentation",
        scopes: &["pydantic-ai"],
        own: &["logfire."],
        switch: "`InstrumentationSettings(include_content=True)`",
    },
    EmitterInfo {
        emitter: Emitter::GoogleAdk,
        name: "Google ADK",
        version: "its documentation",
        scopes: &["gcp.vertex.agent"],
        own: &["gcp.vertex.agent."],
        switch: "`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true`; what it keeps in `gcp.vertex.agent.*` is not read",
    },
    EmitterInfo {
        emitter: Emitter::Conventions,
        name: "the conventions (opentelemetry's own instrumentations)",
        version: "1.41.1",
        scopes: &[],
        own: &[],
        switch: "`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true` (`SPAN_ONLY` with \
                 `OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental`; in JavaScript also `captureMessageContent: true`)",
    },
];

impl EmitterInfo {
    /// Whether a span is one of this emitter's.
    pub(super) fn matches(&self, span: Marked<'_>) -> bool {
        // A name in whole, or what a separator ends.
        let begins = |begin: &str, whole: &str| {
            let rest = whole.strip_prefix(begin);
            rest.is_some_and(|rest| {
                rest.is_empty()
                    || !begin.ends_with(char::is_alphanumeric)
                    || !rest.starts_with(char::is_alphanumeric)
            })
        };
        let mut scopes = [span.scope, span.text("target")].into_iter().flatten();
        let is_own = |key: &String| self.own.iter().any(|begin| key.starts_with(begin));
        scopes.any(|scope| self.scopes.iter().any(|begin| begins(begin, scope)))
            || span.attributes.keys().any(is_own)
    }
}
