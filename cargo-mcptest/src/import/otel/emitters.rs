//! Who writes spans, and how each calls what it writes: the one table of them, from which the readers read
//! and of which the guide's tables are made.
//!
//! Sources: semantic-conventions v1.41.1:docs/gen-ai; rig@b75850e8 (rig-agent 0.44) `telemetry`; genai 0.7
//! `otel`; adk-telemetry 0.8; `openinference@1fe497f1:spec`; openllmetry 0.50.0 and 0.62.1; ai@6.0.77
//! `docs/03-ai-sdk-core/60-telemetry.mdx`; pydantic-ai `docs/logfire.md`.

use serde_json::{Map, Value};

/// What tells who wrote a span: the instrumentation's name, and the attributes.
#[derive(Clone, Copy)]
pub(super) struct Marked<'s> {
    pub(super) scope: Option<&'s str>,
    pub(super) attributes: &'s Map<String, Value>,
}

impl<'s> Marked<'s> {
    fn has(self, key: &str) -> bool {
        self.attributes.contains_key(key)
    }

    /// An attribute that is a text and says something.
    pub(super) fn text(self, key: &str) -> Option<&'s str> {
        let text = self.attributes.get(key)?.as_str();
        text.filter(|text| !text.is_empty())
    }
}

/// What writes spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::import) enum Emitter {
    Conventions,
    Rig,
    AdkRust,
    OpenInference,
    OpenLlmetry,
    AiSdk,
    PydanticAi,
    GoogleAdk,
}

/// What an emitter is known by, and how its content is switched on.
pub(in crate::import) struct Known {
    pub(in crate::import) emitter: Emitter,
    pub(in crate::import) name: &'static str,
    /// The files of its spans, beside the tests.
    #[cfg(test)]
    pub(in crate::import) fixtures: &'static [&'static str],
    /// How the names of its instrumentation scopes begin, or of the crates whose spans `tracing` passes on.
    pub(in crate::import) scopes: &'static [&'static str],
    /// How attributes begin that no other one writes.
    pub(in crate::import) own: &'static [&'static str],
    pub(in crate::import) switch: &'static str,
}

/// The emitters; whom the first row that fits does not name, the last one does.
pub(in crate::import) const EMITTERS: &[Known] = &[
    Known {
        emitter: Emitter::Rig,
        name: "rig",
        #[cfg(test)]
        fixtures: &["rig"],
        scopes: &["rig"],
        own: &["rig."],
        switch: "`.record_content_telemetry(true)` on the agent's builder (`record_telemetry_content` of a request of your own)",
    },
    Known {
        emitter: Emitter::AdkRust,
        name: "adk-rust",
        #[cfg(test)]
        fixtures: &["adk_rust"],
        scopes: &["adk_", "adk-"],
        own: &[],
        switch: "`SemconvConfig { capture_content: true }` of `adk-telemetry`",
    },
    Known {
        emitter: Emitter::OpenInference,
        name: "OpenInference",
        #[cfg(test)]
        fixtures: &["openinference"],
        scopes: &["openinference.", "@arizeai/openinference"],
        own: &["openinference."],
        switch: "`OPENINFERENCE_HIDE_INPUTS=false` and `OPENINFERENCE_HIDE_OUTPUTS=false` (and no `hide_…` in the `TraceConfig`)",
    },
    Known {
        emitter: Emitter::OpenLlmetry,
        name: "OpenLLMetry (Traceloop)",
        #[cfg(test)]
        fixtures: &["openllmetry"],
        scopes: &["traceloop", "@traceloop/"],
        own: &["traceloop.", "llm.request.type"],
        switch: "`TRACELOOP_TRACE_CONTENT=true` (in JavaScript also `traceContent: true`)",
    },
    Known {
        emitter: Emitter::AiSdk,
        name: "Vercel AI SDK",
        #[cfg(test)]
        fixtures: &["ai_sdk", "ai_sdk_old"],
        scopes: &["ai"],
        own: &["ai."],
        switch: "`experimental_telemetry: { isEnabled: true, recordInputs: true, recordOutputs: true }` of the call",
    },
    Known {
        emitter: Emitter::PydanticAi,
        name: "Pydantic AI",
        #[cfg(test)]
        fixtures: &["pydantic_ai"],
        scopes: &["pydantic-ai"],
        own: &["logfire."],
        switch: "`InstrumentationSettings(include_content=True)`",
    },
    Known {
        emitter: Emitter::GoogleAdk,
        name: "Google ADK",
        #[cfg(test)]
        fixtures: &["google_adk"],
        scopes: &["gcp.vertex.agent"],
        own: &["gcp.vertex.agent."],
        switch: "`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true`; what it keeps in `gcp.vertex.agent.*` is not read",
    },
    Known {
        emitter: Emitter::Conventions,
        name: "the conventions (opentelemetry's own instrumentations, genai)",
        #[cfg(test)]
        fixtures: &["conventions"],
        scopes: &[],
        own: &[],
        switch: "`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true` (`SPAN_ONLY` with \
                 `OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental`; in JavaScript also `captureMessageContent: true`)",
    },
];

impl Known {
    /// Whether a span is one of this emitter's.
    fn wrote(&self, span: Marked<'_>) -> bool {
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

/// Who wrote a span: by its own names, else by what it calls things.
pub(super) fn of(span: Marked<'_>) -> &'static Known {
    let told = |known: &&Known| {
        let mut attributes = ATTRIBUTES.iter();
        attributes.any(|Attribute(by, name, _)| *by == known.emitter && span.has(name))
            || MARKS
                .iter()
                .any(|mark| mark.0 == known.emitter && mark.is_on(span))
    };
    let found = EMITTERS.iter().find(|known| known.wrote(span));
    let found = found.or_else(|| EMITTERS.iter().find(told));
    found.unwrap_or(&EMITTERS[EMITTERS.len() - 1])
}

/// What an attribute of a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::import) enum Meaning {
    Conversation,
    AgentName,
    RunName,
    AskedModel,
    AnsweringModel,
    Temperature,
    MaxTokens,
    OfferedTools,
    SystemPrompt,
    Input,
    Output,
    /// Messages that keep their parts as content.
    Prompt,
    OutputText,
    OutputCalls,
    /// Messages spread over attributes that begin so.
    InputTree,
    OutputTree,
    FinishReason,
    /// Written of an agent that ended by itself, and of no other.
    Closing,
    PromptTokens,
    CompletionTokens,
    ToolName,
    CallId,
    Arguments,
    ToolResult,
    /// The same as JSON: a text stands in quotes.
    QuotedResult,
    /// Which of the words of [`outcome`] a call came to.
    Outcome,
    /// Written of a call that succeeded, and of no other.
    Success,
    /// Written of what failed, and of nothing else.
    Failure,
    /// Events that are kept as JSON.
    Events,
    /// Content in a form that is not read.
    Unread,
}

/// An attribute, who writes it, and what it is.
pub(in crate::import) struct Attribute(
    pub(in crate::import) Emitter,
    pub(in crate::import) &'static str,
    pub(in crate::import) Meaning,
);

use Emitter::{AiSdk, Conventions, GoogleAdk, OpenInference, OpenLlmetry, PydanticAi, Rig};

/// All attributes that are read. Of several with one meaning that a span has, the first is the one.
pub(in crate::import) const ATTRIBUTES: &[Attribute] = &[
    Attribute(Conventions, "gen_ai.conversation.id", Meaning::Conversation),
    Attribute(OpenInference, "session.id", Meaning::Conversation),
    Attribute(Conventions, "gen_ai.agent.name", Meaning::AgentName),
    Attribute(OpenInference, "agent.name", Meaning::AgentName),
    Attribute(OpenLlmetry, "traceloop.entity.name", Meaning::AgentName),
    Attribute(Conventions, "gen_ai.workflow.name", Meaning::RunName),
    Attribute(OpenLlmetry, "traceloop.entity.name", Meaning::RunName),
    Attribute(OpenInference, "agent.name", Meaning::RunName),
    Attribute(AiSdk, "ai.telemetry.functionId", Meaning::RunName),
    Attribute(Conventions, "gen_ai.request.model", Meaning::AskedModel),
    Attribute(OpenInference, "llm.model_name", Meaning::AskedModel),
    Attribute(AiSdk, "ai.model.id", Meaning::AskedModel),
    Attribute(
        Conventions,
        "gen_ai.response.model",
        Meaning::AnsweringModel,
    ),
    Attribute(
        Conventions,
        "gen_ai.request.temperature",
        Meaning::Temperature,
    ),
    Attribute(Conventions, "gen_ai.request.max_tokens", Meaning::MaxTokens),
    Attribute(
        Conventions,
        "gen_ai.tool.definitions",
        Meaning::OfferedTools,
    ),
    Attribute(
        Conventions,
        "gen_ai.system_instructions",
        Meaning::SystemPrompt,
    ),
    Attribute(Conventions, "gen_ai.input.messages", Meaning::Input),
    Attribute(AiSdk, "ai.prompt.messages", Meaning::Prompt),
    Attribute(Conventions, "gen_ai.output.messages", Meaning::Output),
    Attribute(AiSdk, "ai.response.text", Meaning::OutputText),
    Attribute(AiSdk, "ai.result.text", Meaning::OutputText),
    Attribute(AiSdk, "ai.response.object", Meaning::OutputText),
    Attribute(AiSdk, "ai.result.object", Meaning::OutputText),
    Attribute(AiSdk, "ai.response.toolCalls", Meaning::OutputCalls),
    Attribute(AiSdk, "ai.result.toolCalls", Meaning::OutputCalls),
    Attribute(OpenLlmetry, "gen_ai.prompt.", Meaning::InputTree),
    Attribute(OpenInference, "llm.input_messages.", Meaning::InputTree),
    Attribute(OpenLlmetry, "gen_ai.completion.", Meaning::OutputTree),
    Attribute(OpenInference, "llm.output_messages.", Meaning::OutputTree),
    Attribute(
        Conventions,
        "gen_ai.response.finish_reasons",
        Meaning::FinishReason,
    ),
    Attribute(AiSdk, "ai.response.finishReason", Meaning::FinishReason),
    Attribute(AiSdk, "ai.finishReason", Meaning::FinishReason),
    Attribute(OpenInference, "llm.finish_reason", Meaning::FinishReason),
    Attribute(Rig, "gen_ai.completion", Meaning::Closing),
    Attribute(
        Conventions,
        "gen_ai.usage.input_tokens",
        Meaning::PromptTokens,
    ),
    Attribute(
        OpenLlmetry,
        "gen_ai.usage.prompt_tokens",
        Meaning::PromptTokens,
    ),
    Attribute(
        OpenInference,
        "llm.token_count.prompt",
        Meaning::PromptTokens,
    ),
    Attribute(AiSdk, "ai.usage.inputTokens", Meaning::PromptTokens),
    Attribute(AiSdk, "ai.usage.promptTokens", Meaning::PromptTokens),
    Attribute(
        Conventions,
        "gen_ai.usage.output_tokens",
        Meaning::CompletionTokens,
    ),
    Attribute(
        OpenLlmetry,
        "gen_ai.usage.completion_tokens",
        Meaning::CompletionTokens,
    ),
    Attribute(
        OpenInference,
        "llm.token_count.completion",
        Meaning::CompletionTokens,
    ),
    Attribute(AiSdk, "ai.usage.outputTokens", Meaning::CompletionTokens),
    Attribute(
        AiSdk,
        "ai.usage.completionTokens",
        Meaning::CompletionTokens,
    ),
    Attribute(Conventions, "gen_ai.tool.name", Meaning::ToolName),
    Attribute(OpenInference, "tool.name", Meaning::ToolName),
    Attribute(Conventions, "mcp.tool.name", Meaning::ToolName),
    Attribute(AiSdk, "ai.toolCall.name", Meaning::ToolName),
    Attribute(OpenLlmetry, "traceloop.entity.name", Meaning::ToolName),
    Attribute(Conventions, "gen_ai.tool.call.id", Meaning::CallId),
    Attribute(OpenInference, "tool.id", Meaning::CallId),
    Attribute(AiSdk, "ai.toolCall.id", Meaning::CallId),
    Attribute(
        Conventions,
        "gen_ai.tool.call.arguments",
        Meaning::Arguments,
    ),
    Attribute(AiSdk, "ai.toolCall.args", Meaning::Arguments),
    Attribute(PydanticAi, "tool_arguments", Meaning::Arguments),
    Attribute(OpenInference, "input.value", Meaning::Arguments),
    Attribute(OpenLlmetry, "traceloop.entity.input", Meaning::Arguments),
    Attribute(Conventions, "gen_ai.tool.call.result", Meaning::ToolResult),
    Attribute(PydanticAi, "tool_response", Meaning::ToolResult),
    Attribute(OpenInference, "output.value", Meaning::ToolResult),
    Attribute(AiSdk, "ai.toolCall.result", Meaning::QuotedResult),
    Attribute(
        OpenLlmetry,
        "traceloop.entity.output",
        Meaning::QuotedResult,
    ),
    Attribute(Rig, "gen_ai.tool.call.outcome", Meaning::Outcome),
    Attribute(AiSdk, "ai.toolCall.result", Meaning::Success),
    Attribute(Conventions, "error.type", Meaning::Failure),
    Attribute(Rig, "gen_ai.tool.error.type", Meaning::Failure),
    Attribute(PydanticAi, "events", Meaning::Events),
    Attribute(GoogleAdk, "gcp.vertex.agent.llm_request", Meaning::Unread),
];

impl Meaning {
    /// The attributes with this meaning, in their order.
    pub(in crate::import) fn names(self) -> impl Iterator<Item = &'static str> {
        let rows = ATTRIBUTES.iter().filter(move |row| row.2 == self);
        rows.map(|row| row.1)
    }
}

/// What a span is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::import) enum Role {
    ModelCall,
    Tool,
    Agent,
}

/// An attribute that says what a span is of, by one of some values (`*` stands for a beginning) or by being
/// there.
pub(in crate::import) struct Mark(
    pub(in crate::import) Emitter,
    pub(in crate::import) &'static str,
    pub(in crate::import) &'static [&'static str],
    pub(in crate::import) Role,
);

/// What tells of what a span is.
pub(in crate::import) const MARKS: &[Mark] = &[
    Mark(
        Conventions,
        "gen_ai.operation.name",
        &["chat", "generate_content", "text_completion"],
        Role::ModelCall,
    ),
    Mark(
        OpenInference,
        "openinference.span.kind",
        &["llm"],
        Role::ModelCall,
    ),
    Mark(
        OpenLlmetry,
        "traceloop.span.kind",
        &["llm"],
        Role::ModelCall,
    ),
    Mark(
        OpenLlmetry,
        "llm.request.type",
        &["chat", "completion"],
        Role::ModelCall,
    ),
    Mark(OpenLlmetry, "gen_ai.prompt.0.role", &[], Role::ModelCall),
    Mark(
        AiSdk,
        "ai.operationId",
        &["*.doGenerate", "*.doStream"],
        Role::ModelCall,
    ),
    Mark(
        Conventions,
        "gen_ai.operation.name",
        &["execute_tool"],
        Role::Tool,
    ),
    Mark(Conventions, "gen_ai.tool.call.id", &[], Role::Tool),
    Mark(Conventions, "mcp.method.name", &["tools/call"], Role::Tool),
    Mark(
        OpenInference,
        "openinference.span.kind",
        &["tool"],
        Role::Tool,
    ),
    Mark(OpenLlmetry, "traceloop.span.kind", &["tool"], Role::Tool),
    Mark(AiSdk, "ai.operationId", &["ai.toolCall"], Role::Tool),
    Mark(
        Conventions,
        "gen_ai.operation.name",
        &["invoke_agent"],
        Role::Agent,
    ),
    Mark(
        OpenInference,
        "openinference.span.kind",
        &["agent"],
        Role::Agent,
    ),
    Mark(OpenLlmetry, "traceloop.span.kind", &["agent"], Role::Agent),
];

impl Mark {
    /// Whether a span has this mark.
    fn is_on(&self, span: Marked<'_>) -> bool {
        let Mark(_, attribute, values, _) = self;
        let says = |said: &str| {
            values.iter().any(|value| match value.strip_prefix('*') {
                Some(end) => said.ends_with(end),
                None => said.eq_ignore_ascii_case(value),
            })
        };
        match values {
            [] => span.has(attribute),
            _ => span.text(attribute).is_some_and(says),
        }
    }
}

impl Role {
    /// Whether a span is of this.
    pub(super) fn is_of(self, span: Marked<'_>) -> bool {
        let mut marks = MARKS.iter().filter(|mark| mark.3 == self);
        marks.any(|mark| mark.is_on(span))
    }
}

/// Whether a call failed, in the words of those who say what it came to. A call that was not let through, or
/// was left out, did nothing; what another word means is not known.
pub(super) fn outcome(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "success" | "succeeded" | "ok" => Some(false),
        "error" | "failure" | "failed" | "denied" | "refused" | "skipped" | "timeout"
        | "cancelled" | "canceled" => Some(true),
        _ => None,
    }
}
