//! What the attributes of spans mean: the table of names, each with who writes it.

use super::emitters::{EMITTERS, Emitter, EmitterInfo, Marked};

/// What an attribute of a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    Conversation,
    AgentName,
    RunName,
    /// What the user asked of an agent.
    Task,
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
    /// Those of the prompt that were in the provider's cache.
    CachedTokens,
    /// Those of the completion that were spent on reasoning.
    ReasoningTokens,
    ToolName,
    CallId,
    Arguments,
    ToolResult,
    /// The result of a tool as JSON: a text stands in quotes.
    QuotedResult,
    /// Which of the words of [`parse_outcome`] a call came to.
    Outcome,
    /// Written of a call that succeeded, and of no other.
    Success,
    /// Written of what failed, and of nothing else.
    Failure,
    /// What a model call was sent and what it wrote, as JSON of the emitter's own.
    Request,
    Response,
    /// Events that are kept as JSON.
    Events,
    /// Content in a form that is not read.
    Unread,
}

/// An attribute, who writes it, and what it is.
#[derive(Debug)]
pub struct Attribute(pub Emitter, pub &'static str, pub Meaning);

use Emitter::{
    AdkRust, AiSdk, Conventions, GoogleAdk, OpenInference, OpenLlmetry, PydanticAi, Rig,
};

/// All attributes that are read. Of several with one meaning that a span has, the first is the one.
pub const ATTRIBUTES: &[Attribute] = &[
    Attribute(Conventions, "gen_ai.conversation.id", Meaning::Conversation),
    Attribute(OpenInference, "session.id", Meaning::Conversation),
    Attribute(Conventions, "gen_ai.agent.name", Meaning::AgentName),
    Attribute(OpenInference, "agent.name", Meaning::AgentName),
    Attribute(OpenLlmetry, "traceloop.entity.name", Meaning::AgentName),
    Attribute(Conventions, "gen_ai.workflow.name", Meaning::RunName),
    Attribute(OpenLlmetry, "traceloop.entity.name", Meaning::RunName),
    Attribute(OpenInference, "agent.name", Meaning::RunName),
    Attribute(AiSdk, "ai.telemetry.functionId", Meaning::RunName),
    Attribute(Rig, "gen_ai.prompt", Meaning::Task),
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
    Attribute(
        Conventions,
        "gen_ai.usage.cache_read.input_tokens",
        Meaning::CachedTokens,
    ),
    Attribute(
        Rig,
        "gen_ai.usage.reasoning_tokens",
        Meaning::ReasoningTokens,
    ),
    Attribute(
        Conventions,
        "gen_ai.usage.reasoning.output_tokens",
        Meaning::ReasoningTokens,
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
    Attribute(AdkRust, "gcp.vertex.agent.llm_request", Meaning::Request),
    Attribute(AdkRust, "gcp.vertex.agent.llm_response", Meaning::Response),
    Attribute(PydanticAi, "events", Meaning::Events),
    Attribute(GoogleAdk, "gcp.vertex.agent.llm_request", Meaning::Unread),
];

impl Meaning {
    /// The attributes with this meaning, in their order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let rows = ATTRIBUTES.iter().filter(move |row| row.2 == self);
        rows.map(|row| row.1)
    }
}

/// What a span is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanRole {
    ModelCall,
    Tool,
    Agent,
}

/// An attribute that says what a span is of, by one of some values (`*` stands for a beginning) or by being
/// there.
#[derive(Debug)]
pub struct Mark(
    pub Emitter,
    pub &'static str,
    pub &'static [&'static str],
    pub SpanRole,
);

/// What tells of what a span is.
pub const MARKS: &[Mark] = &[
    Mark(
        Conventions,
        "gen_ai.operation.name",
        &["chat", "generate_content", "text_completion"],
        SpanRole::ModelCall,
    ),
    Mark(
        OpenInference,
        "openinference.span.kind",
        &["llm"],
        SpanRole::ModelCall,
    ),
    Mark(
        OpenLlmetry,
        "traceloop.span.kind",
        &["llm"],
        SpanRole::ModelCall,
    ),
    Mark(
        OpenLlmetry,
        "llm.request.type",
        &["chat", "completion"],
        SpanRole::ModelCall,
    ),
    Mark(
        OpenLlmetry,
        "gen_ai.prompt.0.role",
        &[],
        SpanRole::ModelCall,
    ),
    Mark(
        AiSdk,
        "ai.operationId",
        &["*.doGenerate", "*.doStream"],
        SpanRole::ModelCall,
    ),
    Mark(
        AdkRust,
        "gcp.vertex.agent.llm_request",
        &[],
        SpanRole::ModelCall,
    ),
    Mark(
        Conventions,
        "gen_ai.operation.name",
        &["execute_tool"],
        SpanRole::Tool,
    ),
    Mark(Conventions, "gen_ai.tool.call.id", &[], SpanRole::Tool),
    Mark(
        Conventions,
        "mcp.method.name",
        &["tools/call"],
        SpanRole::Tool,
    ),
    Mark(
        OpenInference,
        "openinference.span.kind",
        &["tool"],
        SpanRole::Tool,
    ),
    Mark(
        OpenLlmetry,
        "traceloop.span.kind",
        &["tool"],
        SpanRole::Tool,
    ),
    Mark(AiSdk, "ai.operationId", &["ai.toolCall"], SpanRole::Tool),
    Mark(
        Conventions,
        "gen_ai.operation.name",
        &["invoke_agent"],
        SpanRole::Agent,
    ),
    Mark(
        OpenInference,
        "openinference.span.kind",
        &["agent"],
        SpanRole::Agent,
    ),
    Mark(AdkRust, "adk.app_name", &[], SpanRole::Agent),
    Mark(
        OpenLlmetry,
        "traceloop.span.kind",
        &["agent"],
        SpanRole::Agent,
    ),
];

impl Mark {
    /// Whether a span has this mark.
    fn matches(&self, span: Marked<'_>) -> bool {
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

impl SpanRole {
    /// Whether a span is of this.
    #[must_use]
    pub fn matches(self, span: Marked<'_>) -> bool {
        let mut marks = MARKS.iter().filter(|mark| mark.3 == self);
        marks.any(|mark| mark.matches(span))
    }
}

/// Who wrote a span: by its own names, else by what it calls things.
#[must_use]
pub fn find_emitter(span: Marked<'_>) -> &'static EmitterInfo {
    let told = |known: &&EmitterInfo| {
        let mut attributes = ATTRIBUTES.iter();
        attributes.any(|Attribute(by, name, _)| *by == known.emitter && span.has(name))
            || MARKS
                .iter()
                .any(|mark| mark.0 == known.emitter && mark.matches(span))
    };
    let found = EMITTERS.iter().find(|known| known.matches(span));
    let found = found.or_else(|| EMITTERS.iter().find(told));
    found.unwrap_or(&EMITTERS[EMITTERS.len() - 1])
}

/// Whether a call failed, in the words of those who say what it came to. A call that was not let through, or
/// was left out, did nothing; what another word means is not known.
#[must_use]
pub fn parse_outcome(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "success" | "succeeded" | "ok" => Some(false),
        "error" | "failure" | "failed" | "denied" | "refused" | "skipped" | "timeout"
        | "cancelled" | "canceled" => Some(true),
        _ => None,
    }
}
