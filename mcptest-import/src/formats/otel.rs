//! `OpenTelemetry` traces and logs of generative models, as OTLP writes them in JSON.
//!
//! Sources: semantic-conventions v1.41.1:docs/gen-ai; semantic-conventions-genai@32c328e8; the events
//! of v1.36.0:docs/gen-ai/gen-ai-events.md; opentelemetry-proto@ac2c4b5d "JSON Protobuf Encoding";
//! `openinference@1fe497f1:spec/semantic_conventions.md`; openllmetry 0.50.0 and 0.62.1.

mod adk_rust;
mod agents;
mod call_span;
mod console;
mod conversation;
mod conversations;
mod join;
mod messages;
mod span;
mod split;
mod spread;
mod tree;
mod wrapped;

use serde_json::Value;

use self::conversations::OtelConversations;
use self::span::{Log, OtelSpan};
use self::tree::Tree;
use crate::digest::Digest;
use crate::event::{Event, ForeignRun, Stop};
use crate::format::{Format, Gathered, Joins, Parts, Runs};
use crate::input::{Form, Input, Record};
use crate::joining::Joiner;
use crate::json::non_null;
use crate::loss::{LossReason, Lost};
use crate::mapping::Mapping;
use mcptest_trace::spans::{self, Emitter, EmitterInfo, Meaning};
use mcptest_trace::text::pluralize;

/// The format `otel`.
pub(crate) struct Otel;

impl Format for Otel {
    fn signature(&self) -> &'static str {
        "`resourceSpans`, `resourceLogs`, `batches` of `{resource, scopeSpans}`, or spans as an SDK's console exporter prints them, or as Phoenix exports them"
    }

    fn recognizes(&self, input: &Input, value: &Value) -> bool {
        let lists = ["resourceSpans", "resourceLogs"];
        let walked = match input.form {
            Form::Document { under: Some(key) } => lists.contains(&key) || key == "batches",
            _ => false,
        };
        let spans = |value: &Value| {
            let keys = ["scopeSpans", "scopeLogs", "instrumentationLibrarySpans"];
            keys.iter().any(|key| non_null(value, key).is_some())
        };
        walked && spans(value)
            || console::to_otlp(value).is_some()
            || lists
                .iter()
                .any(|key| value.get(key).is_some_and(Value::is_array))
            || value["batches"]
                .as_array()
                .is_some_and(|batches| batches.iter().any(spans))
    }

    fn join(&self, record: &Record<'_>, joiner: &mut Joiner, mapping: &Mapping) -> Joins {
        let (spans, logs) = span::parse_export(&record.value);
        for span in &spans {
            let key = trace_key(&span.trace);
            joiner.add_keyed(record.part, key);
            if let (Some(conversation), false) = (span.conversation_id(), mapping.trace_is_run()) {
                joiner.merge_keys(key, Digest::from_parts(&["conversation", conversation]));
            }
        }
        for log in &logs {
            joiner.add_keyed(record.part, trace_key(&log.trace));
        }
        Ok(())
    }

    fn split_by_run(&self, value: Value) -> Result<Parts, Value> {
        let traces = split::by_trace(value)?.into_iter();
        let traces = traces.map(|(trace, parts)| (trace_key(&trace), parts));
        Ok(traces.collect())
    }

    fn read(&self, run: &Gathered<'_, '_>, mapping: &Mapping) -> Runs {
        let (mut spans, mut logs) = (Vec::new(), Vec::new());
        for record in run.records {
            let (more_spans, more_logs) = span::parse_export(&record.value);
            let of_run = |trace: &str| run.keys.binary_search(&trace_key(trace)).is_ok();
            spans.extend(more_spans.into_iter().filter(|span| of_run(&span.trace)));
            logs.extend(more_logs.into_iter().filter(|log| of_run(&log.trace)));
        }
        adk_rust::add_conventions(&mut spans);
        read(spans, &logs, mapping)
    }
}

fn trace_key(trace: &str) -> Digest {
    Digest::from_parts(&["trace", trace])
}

fn read(spans: Vec<OtelSpan>, logs: &[Log], mapping: &Mapping) -> Runs {
    let tree = Tree::new(spans);
    let is_of_agent = |span: &OtelSpan| span.is_model_call() || span.is_tool();
    if !tree.spans.iter().any(is_of_agent) {
        // Spans of a web server or a database.
        return Ok(Vec::new());
    }
    let mut talks = OtelConversations::new(&tree, logs);
    let seen = tree
        .duplicate_model_calls()
        .into_iter()
        .zip(tree.same_calls());
    for (place, (span, (is_twice, same))) in tree.spans.iter().zip(seen).enumerate() {
        if is_twice {
            continue;
        }
        talks.add_span(place, span, same);
        if mapping.score.is_some() {
            talks.add_outcomes(span);
        }
    }
    // What was evaluated may stand beside a span that is not there.
    let events = tree.spans.iter().flat_map(|span| &span.events);
    talks.main.add_scores(events.chain(logs));
    if talks.main.lacks_content() {
        return Err(lacks_content(&tree));
    }
    let (main, mut run) = talks.into_run();
    read_resource(&tree, main, &mut run);
    if mapping.trace_is_run() {
        run.id = tree.spans.first().map(|span| span.trace.clone());
    }
    Ok(vec![run])
}

/// What the spans say of the run as a whole.
fn read_resource(tree: &Tree, main: Option<&str>, run: &mut ForeignRun) {
    let spans = &tree.spans;
    let conversation = spans.iter().find_map(OtelSpan::conversation_id);
    let trace = spans.first().map(|span| span.trace.as_str());
    run.id = conversation.or(trace).map(str::to_owned);
    let named = Meaning::RunName.names().find_map(|key| {
        let mut spans = spans.iter().filter(|span| !span.is_tool());
        spans.find_map(|span| span.text(key))
    });
    let service = spans.iter().find_map(|span| span.service.as_deref());
    run.agent = main.or(named).or(service).map(str::to_owned);
    for span in spans {
        run.add_time(Some(span::to_milliseconds(span.start)));
        run.add_time(Some(span::to_milliseconds(span.end.max(span.start))));
    }
    // Of several turns, the last one.
    let mut agents = spans.iter().rev();
    let agent = agents.find(|span| span.is_agent() && span.invoked_agent() == main);
    let is_closed =
        |agent: &OtelSpan| !agent.has_failed() && agent.attribute(Meaning::Closing).is_some();
    if run.stop.is_none() && agent.is_some_and(is_closed) {
        run.stop = Some(Stop::Known("completed"));
    }
    let dropped = spans.iter().filter(|span| span.dropped > 0).count();
    if dropped > 0 {
        let dropped = pluralize(dropped, "span");
        run.note(format!("{dropped} lost attributes because of their limit"));
    }
    let is_call = |event: &Event| matches!(event, Event::Call(_));
    if !run.events.iter().any(is_call) && spans.iter().any(OtelSpan::is_tool) {
        run.note("tools ran without names");
    }
}

fn lacks_content(tree: &Tree) -> Lost {
    let mut unread = Meaning::Unread.names();
    let is_own = |span: &OtelSpan| spans::find_emitter(span.marked()).emitter == Emitter::AdkRust;
    let unread = unread.find(|key| (tree.spans.iter()).any(|span| span.has(key) && !is_own(span)));
    let calls = tree.spans.iter().filter(|span| span.is_model_call());
    let mut wrote: Vec<&EmitterInfo> = Vec::new();
    for emitter in calls.map(|call| spans::find_emitter(call.marked())) {
        if !wrote.iter().any(|known| known.name == emitter.name) {
            wrote.push(emitter);
        }
    }
    let switches = wrote
        .iter()
        .map(|known| format!("{}: {}", known.name, known.switch));
    let switches = switches.collect::<Vec<_>>().join("; ");
    let detail = match unread {
        Some(key) => {
            format!(
                "its content is in `{key}` and similar attributes, which the command does not read yet; {switches}"
            )
        }
        None => format!("prompts and answers are not in the spans; record them: {switches}"),
    };
    Lost::new(LossReason::ContentNotCaptured, detail)
}
