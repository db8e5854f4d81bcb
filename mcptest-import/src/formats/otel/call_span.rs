//! What a span says of a call: its identifier, arguments, result and tokens.

use mcptest_trace::spans::Meaning;
use serde_json::Value;

use super::span::OtelSpan;
use crate::event::CallTokens;
use crate::json::unwrap_json_text;

pub(super) fn span_id(span: &OtelSpan) -> Option<&str> {
    span.attribute_text(Meaning::CallId)
}

pub(super) fn arguments(span: &OtelSpan) -> Option<Value> {
    span.attribute(Meaning::Arguments).map(unwrap_json_text)
}

/// What came back: of a failure that brought nothing, what is said of it.
pub(super) fn call_outcome(span: &OtelSpan) -> Option<Value> {
    // Those who write every result as JSON put texts in quotes; digits are left as they stand: a number
    // would not keep them.
    let quoted = || {
        span.attribute(Meaning::QuotedResult)
            .map(|value| match value {
                Value::String(text) if !text.starts_with(['"', '{', '[']) => value.clone(),
                value => unwrap_json_text(value),
            })
    };
    let found = span.attribute(Meaning::ToolResult).cloned().or_else(quoted);
    found.or_else(|| span.failure_text().map(Value::from))
}

/// The tokens of a model call; cached and reasoning tokens are parts of them.
fn tokens(span: &OtelSpan) -> Option<CallTokens> {
    let of = |meaning| span.attribute_count(meaning);
    let mut taken = CallTokens::new(of(Meaning::PromptTokens)?, of(Meaning::CompletionTokens)?);
    taken.cached = of(Meaning::CachedTokens);
    taken.reasoning = of(Meaning::ReasoningTokens);
    Some(taken)
}

/// The tokens and the duration of a model call.
pub(super) fn call_usage(span: &OtelSpan) -> CallTokens {
    let mut taken = tokens(span).unwrap_or_default();
    taken.duration_ms = span.duration_ms();
    taken
}
