//! Spans and log records, read leniently.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcptest_trace::spans::{AGENT_SPAN, Marked, Meaning, SpanRole, parse_outcome};
use serde_json::{Map, Value};

use super::console;
use crate::blob::hex;
use crate::json::{count, list, nonempty_string, parse_count, text, truthy, unwrap_json_text};

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
    status: Status,
    /// What the status says besides.
    said: Option<String>,
    /// Another view of the same call failed.
    failed_within: bool,
    /// The instrumentation that wrote it.
    pub(super) scope: Option<String>,
    pub(super) service: Option<String>,
    pub(super) dropped: u64,
}

/// What a span's status says. Where nothing set it, it says nothing, least of all that all went well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Unset,
    Fine,
    Failed,
}

impl Status {
    fn from_code(code: &Value) -> Self {
        let named = code.as_str().map(str::to_uppercase);
        let named = named
            .as_deref()
            .map(|name| name.strip_prefix("STATUS_CODE_").unwrap_or(name));
        match (named, parse_count(code)) {
            (Some("ERROR"), _) | (_, Some(2)) => Self::Failed,
            (Some("OK"), _) | (_, Some(1)) => Self::Fine,
            _ => Self::Unset,
        }
    }
}

/// A log record, or an event of a span.
#[derive(Debug, Clone)]
pub(super) struct Log {
    pub(super) trace: String,
    pub(super) span: String,
    pub(super) name: String,
    pub(super) attributes: Map<String, Value>,
    pub(super) body: Value,
    /// The instrumentation that wrote it.
    pub(super) scope: Option<String>,
}

impl Log {
    /// Whether it says what an evaluation came to.
    pub(super) fn is_evaluation(&self) -> bool {
        self.name == "gen_ai.evaluation.result"
    }
}

/// The lists of resources in an export, and those of what wrote spans in a resource.
pub(super) const LISTS: [&str; 3] = ["resourceSpans", "resourceLogs", "batches"];
pub(super) const SCOPES: [&str; 2] = ["scopeSpans", "instrumentationLibrarySpans"];

/// The name of the service that a resource is.
pub(super) fn service_name(resource: &Value) -> Option<String> {
    let about = parse_attributes(&resource["resource"]["attributes"]);
    about.get("service.name")?.as_str().map(str::to_owned)
}

/// The instrumentation that wrote spans.
pub(super) fn scope_name(scope: &Value) -> Option<String> {
    let about = ["scope", "instrumentationLibrary"];
    about
        .iter()
        .find_map(|key| nonempty_string(&scope[*key], "name"))
}

/// The trace that a span or a log record is of.
pub(super) fn trace_id(item: &Value) -> Option<String> {
    parse_id(item, "traceId")
}

/// The spans and log records of an export, or of a resource's part of one.
pub(super) fn parse_export(value: &Value) -> (Vec<OtelSpan>, Vec<Log>) {
    let (mut spans, mut logs) = (Vec::new(), Vec::new());
    let printed = console::to_otlp(value);
    let value = printed.as_ref().unwrap_or(value);
    let mut resources: Vec<&Value> = LISTS.iter().flat_map(|key| list(value, key)).collect();
    resources.push(value);
    for resource in resources {
        let service = service_name(resource);
        for key in SCOPES {
            for scope in list(resource, key) {
                let name = scope_name(scope);
                let read = list(scope, "spans").iter();
                spans.extend(
                    read.filter_map(|it| parse_span(it, service.as_deref(), name.as_deref())),
                );
            }
        }
        for scope in list(resource, "scopeLogs") {
            let name = nonempty_string(&scope["scope"], "name");
            let read = list(scope, "logRecords").iter();
            logs.extend(read.filter_map(|it| parse_log(it, None, name.as_deref())));
        }
    }
    (spans, logs)
}

fn parse_span(value: &Value, service: Option<&str>, scope: Option<&str>) -> Option<OtelSpan> {
    let (trace, id) = (parse_id(value, "traceId")?, parse_id(value, "spanId")?);
    let attributes = parse_attributes(&value["attributes"]);
    let kept = Meaning::Events
        .names()
        .find_map(|key| attributes.get(key))
        .map(unwrap_json_text);
    let kept = kept.as_ref().and_then(Value::as_array).into_iter();
    let events = list(value, "events").iter().chain(kept.flatten());
    let events = events.filter_map(|event| parse_log(event, Some((&trace, &id)), scope));
    Some(OtelSpan {
        events: events.collect(),
        parent: parse_id(value, "parentSpanId"),
        name: text(value, "name").unwrap_or_default().to_owned(),
        start: count(value, "startTimeUnixNano").unwrap_or_default(),
        end: count(value, "endTimeUnixNano").unwrap_or_default(),
        attributes,
        status: Status::from_code(&value["status"]["code"]),
        said: nonempty_string(&value["status"], "message"),
        failed_within: false,
        scope: scope.map(str::to_owned),
        service: service.map(str::to_owned),
        dropped: count(value, "droppedAttributesCount").unwrap_or_default(),
        trace,
        id,
    })
}

fn parse_log(value: &Value, of: Option<(&String, &String)>, scope: Option<&str>) -> Option<Log> {
    let (trace, span) = match of {
        Some((trace, span)) => (trace.clone(), span.clone()),
        None => (parse_id(value, "traceId")?, parse_id(value, "spanId")?),
    };
    let attributes = parse_attributes(&value["attributes"]);
    let mut keys = ["event.name", "eventName", "name"].iter();
    let named = keys.find_map(|key| text(value, key));
    let named = named.or_else(|| attributes.get("event.name")?.as_str());
    let is_body = value.get("event.name").is_some();
    let body = value.get("body").or_else(|| is_body.then_some(value));
    Some(Log {
        trace,
        span,
        name: named.unwrap_or_default().to_owned(),
        body: body.map(parse_any_value).unwrap_or_default(),
        scope: scope.map(str::to_owned),
        attributes,
    })
}

/// Hex digits, also where they are in base64.
fn parse_id(value: &Value, key: &str) -> Option<String> {
    let text = text(value, key).filter(|text| !text.is_empty())?;
    let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hex && (text.len() == 32 || text.len() == 16) {
        return Some(text.to_ascii_lowercase());
    }
    let bytes = STANDARD.decode(text).ok();
    Some(bytes.map_or_else(|| text.to_owned(), |bytes| hex(&bytes)))
}

pub(super) fn to_milliseconds(nanoseconds: u64) -> i64 {
    i64::try_from(nanoseconds / 1_000_000).unwrap_or(i64::MAX)
}

fn parse_attributes(value: &Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map.clone(),
        Value::Array(pairs) => pairs
            .iter()
            .filter_map(|pair| {
                Some((
                    text(pair, "key")?.to_owned(),
                    parse_any_value(pair.get("value")?),
                ))
            })
            .collect(),
        _ => Map::new(),
    }
}

/// A value as the protocol wraps it.
fn parse_any_value(value: &Value) -> Value {
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
        "arrayValue" => list(inner, "values").iter().map(parse_any_value).collect(),
        "kvlistValue" => Value::Object(parse_attributes(&inner["values"])),
        _ => value.clone(),
    }
}

impl OtelSpan {
    pub(super) fn sort_key(&self) -> (u64, u64, &str) {
        (self.start, self.end, &self.id)
    }

    /// How long it took, in milliseconds. One that ends as it begins was not timed.
    pub(super) fn duration_ms(&self) -> Option<u64> {
        let took = self.end.checked_sub(self.start);
        let took = took.filter(|took| self.start > 0 && *took > 0);
        took.map(|nanoseconds| nanoseconds.div_ceil(1_000_000))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.attributes.contains_key(key)
    }

    /// An attribute that is a text and says something.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.marked().text(key)
    }

    /// What tells who wrote it.
    pub(super) fn marked(&self) -> Marked<'_> {
        Marked {
            scope: self.scope.as_deref(),
            attributes: &self.attributes,
        }
    }

    /// The first attribute of a meaning that is there.
    pub(super) fn attribute(&self, meaning: Meaning) -> Option<&Value> {
        let mut values = meaning.names().filter_map(|key| self.attributes.get(key));
        values.find(|value| !value.is_null())
    }

    /// The first attribute of a meaning that is a text and says something.
    pub(super) fn attribute_text(&self, meaning: Meaning) -> Option<&str> {
        meaning.names().find_map(|key| self.text(key))
    }

    /// The first attribute of a meaning that counts something.
    pub(super) fn attribute_count(&self, meaning: Meaning) -> Option<u64> {
        let mut values = meaning.names().filter_map(|key| self.attributes.get(key));
        values.find_map(parse_count)
    }

    pub(super) fn conversation_id(&self) -> Option<&str> {
        self.attribute_text(Meaning::Conversation)
    }

    pub(super) fn is_model_call(&self) -> bool {
        SpanRole::ModelCall.matches(self.marked())
    }

    pub(super) fn is_tool(&self) -> bool {
        SpanRole::Tool.matches(self.marked())
    }

    /// The name of the agent that a span invokes.
    pub(super) fn invoked_agent(&self) -> Option<&str> {
        let name = self.attribute_text(Meaning::AgentName);
        name.filter(|_| self.is_agent())
    }

    pub(super) fn is_agent(&self) -> bool {
        SpanRole::Agent.matches(self.marked()) || self.name == AGENT_SPAN
    }

    /// What an agent is called: its name, else that of its span.
    pub(super) fn display_name(&self) -> Option<&str> {
        let prefix = format!("{AGENT_SPAN} ");
        let own = || self.name.strip_prefix(&prefix).unwrap_or(&self.name);
        let is_name = |name: &&str| !name.is_empty() && *name != AGENT_SPAN;
        self.invoked_agent().or_else(|| Some(own()).filter(is_name))
    }

    pub(super) fn tool_name(&self) -> Option<&str> {
        let mut prefixes = ["execute_tool ", "tools/call "].iter();
        let own = self.attribute_text(Meaning::ToolName);
        own.or_else(|| prefixes.find_map(|prefix| self.name.strip_prefix(prefix)))
    }

    /// Whether a call failed: by what its emitter says of that, else by the status, where something set it.
    pub(super) fn is_error(&self) -> Option<bool> {
        let outcome = self
            .attribute_text(Meaning::Outcome)
            .and_then(parse_outcome);
        if self.has_failed() || outcome == Some(true) {
            return Some(true);
        }
        let is_fine = self.status == Status::Fine || self.attribute(Meaning::Success).is_some();
        outcome.or(is_fine.then_some(false))
    }

    /// Whatever failed in another view of the same call failed in this.
    pub(super) fn merge_failure(&mut self, of: &Self) {
        self.failed_within |= of.is_error() == Some(true);
        self.said = self
            .said
            .take()
            .or_else(|| of.failure_text().map(str::to_owned));
    }

    pub(super) fn has_failed(&self) -> bool {
        self.status == Status::Failed
            || self.failed_within
            || self.attribute(Meaning::Failure).is_some_and(truthy)
    }

    /// What went wrong, in the words of the span.
    pub(super) fn failure_text(&self) -> Option<&str> {
        let mut events = self.events.iter();
        let said = self.said.as_deref();
        said.or_else(|| events.find_map(|it| it.attributes.get("exception.message")?.as_str()))
            .or_else(|| self.attribute_text(Meaning::Failure))
            .filter(|_| self.is_error() == Some(true))
    }
}
