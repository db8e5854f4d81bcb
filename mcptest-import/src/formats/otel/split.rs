//! Exports that hold several traces, taken apart.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::span::{LISTS, SCOPES, scope_name, service_name, trace_id};
use crate::json::{list, nonempty_string};

/// What belongs to each trace, in the order of the export: places that rise, and spans or log records that follow one
/// another, as an export of their own.
pub(super) type Traces = HashMap<String, Vec<(usize, Value)>>;

/// The traces of an export.
///
/// # Errors
///
/// The export as it is, if it has fewer than two traces.
pub(super) fn by_trace(mut export: Value) -> Result<Traces, Value> {
    if count_traces(&export) < 2 {
        return Err(export);
    }
    let mut resources: Vec<Value> = Vec::new();
    for key in LISTS {
        resources.extend(take_list(&mut export, key));
    }
    resources.push(export);
    let mut traces = Traces::new();
    let mut place = 0;
    for mut resource in resources {
        let service = service_name(&resource);
        let kinds = [
            (SCOPES[0], "spans"),
            (SCOPES[1], "spans"),
            ("scopeLogs", "logRecords"),
        ];
        for (scopes, items) in kinds {
            for mut scope in take_list(&mut resource, scopes) {
                let is_log = items == "logRecords";
                let name = if is_log {
                    nonempty_string(&scope["scope"], "name")
                } else {
                    scope_name(&scope)
                };
                for (trace, items_of) in group_by_trace(take_list(&mut scope, items)) {
                    let lists = if is_log {
                        ["resourceLogs", "scopeLogs"]
                    } else {
                        ["resourceSpans", "scopeSpans"]
                    };
                    let mut part = json!({ "scope": { "name": name } });
                    part[items] = items_of.into();
                    let mut resource =
                        json!({ "resource": { "attributes": { "service.name": service } } });
                    resource[lists[1]] = Value::Array(vec![part]);
                    let mut export = json!({});
                    export[lists[0]] = Value::Array(vec![resource]);
                    traces.entry(trace).or_default().push((place, export));
                    place += 1;
                }
            }
        }
    }
    Ok(traces)
}

/// How many traces an export has: none, one, or more.
fn count_traces(export: &Value) -> usize {
    let resources = LISTS
        .iter()
        .flat_map(|key| list(export, key))
        .chain([export]);
    let items = resources.flat_map(|resource| {
        let spans = SCOPES.iter().flat_map(|key| list(resource, key));
        let spans = spans.flat_map(|scope| list(scope, "spans"));
        let logs = list(resource, "scopeLogs").iter();
        spans.chain(logs.flat_map(|scope| list(scope, "logRecords")))
    });
    let mut known = HashSet::new();
    let new = items
        .filter_map(trace_id)
        .filter(|trace| known.insert(trace.clone()));
    new.take(2).count()
}

/// A list that is taken out of a value.
fn take_list(value: &mut Value, key: &str) -> Vec<Value> {
    match value.get_mut(key).map(Value::take) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

/// Items of one trace that follow one another. What is of no trace is left out.
fn group_by_trace(items: Vec<Value>) -> Vec<(String, Vec<Value>)> {
    let mut parts: Vec<(String, Vec<Value>)> = Vec::new();
    for item in items {
        let Some(trace) = trace_id(&item) else {
            continue;
        };
        match parts.last_mut().filter(|(last, _)| *last == trace) {
            Some((_, part)) => part.push(item),
            None => parts.push((trace, vec![item])),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::otel::span;

    /// What is read of a part, trace by trace, is what is read of the whole.
    #[test]
    fn an_export_that_is_taken_apart_says_the_same() {
        let item =
            |trace: &str, name: &str| json!({ "traceId": trace, "spanId": "s", "name": name });
        let scopes = |name: &str, key: &str, items: &[(&str, &str)]| {
            let items: Vec<Value> = items
                .iter()
                .map(|(trace, name)| item(trace, name))
                .collect();
            json!({ "scope": { "name": name }, key: items })
        };
        let service = json!({ "attributes": [{ "key": "service.name", "value": { "stringValue": "desk" } }] });
        let export = json!({
            "resourceSpans": [
                { "resource": service, "scopeSpans": [scopes("one", "spans", &[("a", "1"), ("b", "2"), ("a", "3"), ("a", "4")])] },
                { "instrumentationLibrarySpans": [{ "instrumentationLibrary": { "name": "two" }, "spans": [item("b", "5")] }] },
            ],
            "batches": [{ "scopeSpans": [scopes("three", "spans", &[("a", "6"), ("c", "7")])] }],
            "resourceLogs": [{ "scopeLogs": [scopes("four", "logRecords", &[("c", "8"), ("a", "9")]), { "logRecords": [{ "name": "of none" }] }] }],
        });
        let shown = |export: &Value| {
            let (spans, logs) = span::parse_export(export);
            let spans = spans.iter().map(|span| format!("{span:?}"));
            let logs = logs.iter().map(|log| format!("{log:?}"));
            (spans.collect::<Vec<_>>(), logs.collect::<Vec<_>>())
        };
        let whole = shown(&export);
        assert_eq!((whole.0.len(), whole.1.len()), (7, 2));
        let traces = by_trace(export).unwrap();
        for (trace, expected) in [("a", 5), ("b", 2), ("c", 2)] {
            let own: usize = traces[trace]
                .iter()
                .map(|(_, part)| {
                    let (spans, logs) = span::parse_export(part);
                    assert!(
                        spans.iter().all(|span| span.trace == trace)
                            && logs.iter().all(|log| log.trace == trace)
                    );
                    spans.len() + logs.len()
                })
                .sum();
            assert_eq!(own, expected, "{trace}");
        }
        let mut parts: Vec<(usize, Value)> = traces.into_values().flatten().collect();
        parts.sort_by_key(|(place, _)| *place);
        let mut all = (Vec::new(), Vec::new());
        for (_, part) in &parts {
            let (spans, logs) = shown(part);
            all.0.extend(spans);
            all.1.extend(logs);
        }
        assert_eq!(all, whole);
    }

    #[test]
    fn an_export_of_one_trace_stays_as_it_is() {
        let span = json!({ "traceId": "a", "spanId": "s" });
        let export = json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": [span, span] }] }] });
        assert_eq!(by_trace(export.clone()), Err(export));
    }
}
