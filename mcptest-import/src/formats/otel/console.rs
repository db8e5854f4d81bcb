//! What the console exporters of the SDKs print and what Phoenix exports, a span an object: brought into the form of
//! OTLP.
//!
//! Sources: opentelemetry-python `opentelemetry/sdk/trace/__init__.py` (`ReadableSpan.to_json`) and
//! `sdk/_logs/_internal` (`to_json`); opentelemetry-js `sdk-trace-base/src/export/ConsoleSpanExporter.ts`
//! (`_exportInfo`), releases 1 and 2; Arize-ai/phoenix `src/phoenix/server/api/routers/v1/spans.py` (`Span`).

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::json::{list, non_null, text};

/// A printed span or log record as an export of OTLP, if it is one.
pub(super) fn to_otlp(value: &Value) -> Option<Value> {
    let resource = json!({ "attributes": &value["resource"]["attributes"] });
    if let Some(span) = from_python(value).or_else(|| from_javascript(value)) {
        let scope = [
            "instrumentationScope",
            "instrumentationLibrary",
            "instrumentation_scope",
        ];
        let scope = scope.iter().find_map(|key| non_null(value, key));
        let scopes = json!([{ "scope": scope, "spans": [span] }]);
        return Some(json!({ "resourceSpans": [{ "resource": resource, "scopeSpans": scopes }] }));
    }
    let log = log_from_python(value)?;
    let scopes = json!([{ "logRecords": [log] }]);
    Some(json!({ "resourceLogs": [{ "resource": resource, "scopeLogs": scopes }] }))
}

fn from_python(value: &Value) -> Option<Value> {
    let context = non_null(value, "context")?;
    let hex = |text: &str| text.trim_start_matches("0x").to_owned();
    let status = &value["status"];
    // Phoenix has these beside the attributes.
    let own = |key: &str| non_null(value, key).cloned().unwrap_or_default();
    let said = |of: &Value, own: Value| if of.is_null() { own } else { of.clone() };
    let mut attributes = flatten(&value["attributes"]);
    if let (Some(attributes), Some(kind)) = (attributes.as_object_mut(), text(value, "span_kind")) {
        let known = attributes.entry(KIND);
        known.or_insert_with(|| kind.into());
    }
    Some(json!({
        "traceId": hex(text(context, "trace_id")?),
        "spanId": hex(text(context, "span_id")?),
        "parentSpanId": text(value, "parent_id").map(hex),
        "name": value["name"],
        "startTimeUnixNano": unix_nanoseconds(text(value, "start_time")?)?,
        "endTimeUnixNano": text(value, "end_time").and_then(unix_nanoseconds),
        "attributes": attributes,
        "status": {
            "code": said(&status["status_code"], own("status_code")),
            "message": said(&status["description"], own("status_message")),
        },
        "events": events(value),
    }))
}

/// What tells of what a span is, where the attributes of `OpenInference` are.
const KIND: &str = "openinference.span.kind";

/// Attributes within one another under one name each: `llm.model_name`.
fn flatten(attributes: &Value) -> Value {
    fn flatten_into(name: &str, value: &Value, into: &mut Map<String, Value>) {
        let inner = |key: &str| {
            if name.is_empty() {
                key.to_owned()
            } else {
                format!("{name}.{key}")
            }
        };
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    flatten_into(&inner(key), value, into);
                }
            }
            Value::Array(list) if list.iter().any(Value::is_object) => {
                for (place, value) in list.iter().enumerate() {
                    flatten_into(&inner(&place.to_string()), value, into);
                }
            }
            _ => _ = into.insert(name.to_owned(), value.clone()),
        }
    }
    let is_nested = |value: &Value| value.is_object();
    let members = attributes.as_object();
    if !members.is_some_and(|map| map.values().any(is_nested)) {
        return attributes.clone();
    }
    let mut into = Map::new();
    flatten_into("", attributes, &mut into);
    Value::Object(into)
}

fn from_javascript(value: &Value) -> Option<Value> {
    let begin = nanoseconds(value.get("timestamp")?)?;
    let end = begin.saturating_add(nanoseconds(value.get("duration")?)?);
    let parent = text(&value["parentSpanContext"], "spanId").or_else(|| text(value, "parentId"));
    Some(json!({
        "traceId": text(value, "traceId")?,
        "spanId": text(value, "id")?,
        "parentSpanId": parent,
        "name": value["name"],
        "startTimeUnixNano": begin.to_string(),
        "endTimeUnixNano": end.to_string(),
        "attributes": value["attributes"],
        "status": value["status"],
        "events": events(value),
    }))
}

fn log_from_python(value: &Value) -> Option<Value> {
    let hex = |key: &str| Some(text(value, key)?.trim_start_matches("0x").to_owned());
    non_null(value, "severity_number")?;
    Some(json!({
        "traceId": hex("trace_id")?,
        "spanId": hex("span_id")?,
        "eventName": value.get("event_name"),
        "body": value["body"],
        "attributes": value["attributes"],
    }))
}

fn events(value: &Value) -> Value {
    let events = list(value, "events").iter();
    let events =
        events.map(|event| json!({ "name": event["name"], "attributes": event["attributes"] }));
    events.collect()
}

/// Nanoseconds since 1970 of a moment, as text.
fn unix_nanoseconds(text: &str) -> Option<String> {
    let moment: Timestamp = text.parse().ok()?;
    Some(moment.as_nanosecond().to_string())
}

/// Nanoseconds of microseconds, which may have a fraction.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is checked first"
)]
fn nanoseconds(microseconds: &Value) -> Option<u64> {
    let microseconds = microseconds
        .as_f64()
        .filter(|it| (0.0..9e15).contains(it))?;
    // In two parts: together they have more digits than a float.
    let fraction = (microseconds.fract() * 1000.0) as u64;
    Some(microseconds.trunc() as u64 * 1000 + fraction)
}
