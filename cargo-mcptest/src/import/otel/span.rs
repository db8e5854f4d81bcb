//! Spans and log records, read leniently.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::import::blob::hex;
use crate::import::json::{count, list, named, text, unfolded, whole};

/// A span.
#[derive(Debug, Clone)]
pub(super) struct OtelSpan {
    pub(super) trace: String,
    pub(super) id: String,
    pub(super) parent: Option<String>,
    name: String,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) attributes: Map<String, Value>,
    pub(super) events: Vec<Log>,
    failed: bool,
    /// What the status says besides.
    said: Option<String>,
    pub(super) service: Option<String>,
    pub(super) dropped: u64,
}

/// A log record, or an event of a span.
#[derive(Debug, Clone)]
pub(super) struct Log {
    pub(super) trace: String,
    pub(super) span: String,
    pub(super) name: String,
    pub(super) attributes: Map<String, Value>,
    pub(super) body: Value,
}

/// The spans and log records of an export, or of a resource's part of one.
pub(super) fn of(value: &Value) -> (Vec<OtelSpan>, Vec<Log>) {
    let (mut spans, mut logs) = (Vec::new(), Vec::new());
    let lists = ["resourceSpans", "resourceLogs", "batches"];
    let mut resources: Vec<&Value> = lists.iter().flat_map(|key| list(value, key)).collect();
    resources.push(value);
    for resource in resources {
        let about = attributes(&resource["resource"]["attributes"]);
        let service = about.get("service.name").and_then(Value::as_str);
        for key in ["scopeSpans", "instrumentationLibrarySpans"] {
            for scope in list(resource, key) {
                let read = list(scope, "spans").iter();
                spans.extend(read.filter_map(|it| span(it, service)));
            }
        }
        for scope in list(resource, "scopeLogs") {
            let read = list(scope, "logRecords").iter();
            logs.extend(read.filter_map(|it| log(it, None)));
        }
    }
    (spans, logs)
}

fn span(value: &Value, service: Option<&str>) -> Option<OtelSpan> {
    let (trace, id) = (identifier(value, "traceId")?, identifier(value, "spanId")?);
    let attributes = attributes(&value["attributes"]);
    // Pydantic AI's first version keeps them in an attribute.
    let kept = attributes.get("events").map(unfolded);
    let kept = kept.as_ref().and_then(Value::as_array).into_iter();
    let events = list(value, "events").iter().chain(kept.flatten());
    let events = events.filter_map(|event| log(event, Some((&trace, &id))));
    let status = &value["status"]["code"];
    let named_error = status.as_str().map(str::to_uppercase);
    let named_error = matches!(named_error.as_deref(), Some("ERROR" | "STATUS_CODE_ERROR"));
    Some(OtelSpan {
        events: events.collect(),
        parent: identifier(value, "parentSpanId"),
        name: text(value, "name").unwrap_or_default().to_owned(),
        start: count(value, "startTimeUnixNano").unwrap_or_default(),
        end: count(value, "endTimeUnixNano").unwrap_or_default(),
        attributes,
        failed: whole(status) == Some(2) || named_error,
        said: named(&value["status"], "message"),
        service: service.map(str::to_owned),
        dropped: count(value, "droppedAttributesCount").unwrap_or_default(),
        trace,
        id,
    })
}

fn log(value: &Value, of: Option<(&String, &String)>) -> Option<Log> {
    let (trace, span) = match of {
        Some((trace, span)) => (trace.clone(), span.clone()),
        None => (identifier(value, "traceId")?, identifier(value, "spanId")?),
    };
    let attributes = attributes(&value["attributes"]);
    let mut keys = ["event.name", "eventName", "name"].iter();
    let named = keys.find_map(|key| text(value, key));
    let named = named.or_else(|| attributes.get("event.name")?.as_str());
    let is_body = value.get("event.name").is_some();
    let body = value.get("body").or_else(|| is_body.then_some(value));
    Some(Log {
        trace,
        span,
        name: named.unwrap_or_default().to_owned(),
        body: body.map(any_value).unwrap_or_default(),
        attributes,
    })
}

/// Hex digits, also where they are in base64.
fn identifier(value: &Value, key: &str) -> Option<String> {
    let text = text(value, key).filter(|text| !text.is_empty())?;
    let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hex && (text.len() == 32 || text.len() == 16) {
        return Some(text.to_ascii_lowercase());
    }
    let bytes = STANDARD.decode(text).ok();
    Some(bytes.map_or_else(|| text.to_owned(), |bytes| hex(&bytes)))
}

pub(super) fn milliseconds(nanoseconds: u64) -> i64 {
    i64::try_from(nanoseconds / 1_000_000).unwrap_or(i64::MAX)
}

fn attributes(value: &Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map.clone(),
        Value::Array(pairs) => pairs
            .iter()
            .filter_map(|pair| Some((text(pair, "key")?.to_owned(), any_value(pair.get("value")?))))
            .collect(),
        _ => Map::new(),
    }
}

/// A value as the protocol wraps it.
fn any_value(value: &Value) -> Value {
    let Value::Object(map) = value else {
        return value.clone();
    };
    let Some((kind, inner)) = map.iter().next().filter(|_| map.len() == 1) else {
        return value.clone();
    };
    match kind.as_str() {
        "stringValue" | "boolValue" | "doubleValue" | "bytesValue" => inner.clone(),
        "intValue" => match inner {
            Value::String(text) => text
                .parse::<i64>()
                .map_or_else(|_| inner.clone(), Value::from),
            other => other.clone(),
        },
        "arrayValue" => list(inner, "values").iter().map(any_value).collect(),
        "kvlistValue" => Value::Object(attributes(&inner["values"])),
        _ => value.clone(),
    }
}

impl OtelSpan {
    pub(super) fn when(&self) -> (u64, u64, &str) {
        (self.start, self.end, &self.id)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.attributes.contains_key(key)
    }

    /// An attribute that is a text and says something.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        let text = self.attributes.get(key)?.as_str();
        text.filter(|text| !text.is_empty())
    }

    pub(super) fn count(&self, keys: &[&str]) -> Option<u64> {
        keys.iter()
            .find_map(|key| self.attributes.get(*key).and_then(whole))
    }

    /// The first of some attributes that is there.
    pub(super) fn first(&self, keys: &[&str]) -> Option<&Value> {
        keys.iter()
            .find_map(|key| self.attributes.get(*key).filter(|it| !it.is_null()))
    }

    pub(super) fn conversation(&self) -> Option<&str> {
        self.text("gen_ai.conversation.id")
            .or_else(|| self.text("session.id"))
    }

    /// What a span of the Vercel AI SDK is of.
    fn of_ai_sdk(&self) -> &str {
        self.text("ai.operationId").unwrap_or_default()
    }

    fn operation(&self) -> &str {
        self.text("gen_ai.operation.name").unwrap_or_default()
    }

    /// What a span is to those who began before the conventions.
    fn kind(&self) -> String {
        let kind = self.text("openinference.span.kind");
        let kind = kind.or_else(|| self.text("traceloop.span.kind"));
        kind.unwrap_or_default().to_ascii_lowercase()
    }

    pub(super) fn is_model_call(&self) -> bool {
        matches!(
            self.operation(),
            "chat" | "generate_content" | "text_completion"
        ) || self.kind() == "llm"
            || matches!(self.text("llm.request.type"), Some("chat" | "completion"))
            || self.has("gen_ai.prompt.0.role")
            || matches!(
                self.of_ai_sdk().rsplit('.').next(),
                Some("doGenerate" | "doStream")
            )
    }

    pub(super) fn is_tool(&self) -> bool {
        self.operation() == "execute_tool"
            || self.has("gen_ai.tool.call.id")
            || self.kind() == "tool"
            || self.of_ai_sdk() == "ai.toolCall"
            || self.text("mcp.method.name") == Some("tools/call")
    }

    /// The name of the agent that a span invokes.
    pub(super) fn agent(&self) -> Option<&str> {
        self.agent_name().filter(|_| self.is_agent())
    }

    fn is_agent(&self) -> bool {
        self.operation() == "invoke_agent" || self.kind() == "agent"
    }

    fn agent_name(&self) -> Option<&str> {
        let names = ["gen_ai.agent.name", "agent.name", "traceloop.entity.name"];
        names.iter().find_map(|key| self.text(key))
    }

    pub(super) fn tool_name(&self) -> Option<&str> {
        let names = [
            "gen_ai.tool.name",
            "tool.name",
            "mcp.tool.name",
            "ai.toolCall.name",
            "traceloop.entity.name",
        ];
        let own = names.iter().find_map(|key| self.text(key));
        let mut prefixes = ["execute_tool ", "tools/call "].iter();
        own.or_else(|| prefixes.find_map(|prefix| self.name.strip_prefix(prefix)))
    }

    pub(super) fn failed(&self) -> bool {
        self.failed || self.has("error.type")
    }

    /// What went wrong, in the words of the span.
    pub(super) fn failure(&self) -> Option<&str> {
        let mut events = self.events.iter();
        let said = self.said.as_deref();
        said.or_else(|| events.find_map(|it| it.attributes.get("exception.message")?.as_str()))
            .or_else(|| self.text("error.type"))
            .filter(|_| self.failed())
    }
}
