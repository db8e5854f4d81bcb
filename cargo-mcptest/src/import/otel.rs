//! `OpenTelemetry` traces and logs of generative models, as OTLP writes them in JSON.
//!
//! Sources: semantic-conventions v1.41.1:docs/gen-ai; semantic-conventions-genai@32c328e8; the events
//! of v1.36.0:docs/gen-ai/gen-ai-events.md; opentelemetry-proto@ac2c4b5d "JSON Protobuf Encoding";
//! `openinference@1fe497f1:spec/semantic_conventions.md`; openllmetry 0.50.0 and 0.62.1.

mod adk_rust;
mod call_span;
mod console;
mod messages;
mod span;
mod spread;
mod talk;

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use self::span::{Log, OtelSpan};
use super::digest::Digest;
use super::event::{Event, ForeignRun, Lost, Stop};
use super::format::{Format, Gathered, Joins, Runs};
use super::input::{Form, Input, Record};
use super::joining::Joiner;
use super::json::given;
use super::mapping::Mapping;
use super::subagent_calls::take_calls;
use mcptest_trace::spans::{self, Emitter, Known, Meaning};
use mcptest_trace::text::counted;

/// The format `otel`.
pub(super) struct Otel;

impl Format for Otel {
    fn signature(&self) -> &'static str {
        "`resourceSpans`, `resourceLogs`, `batches` of `{resource, scopeSpans}`, or spans as an SDK's console exporter prints them"
    }

    fn fits(&self, input: &Input, value: &Value) -> bool {
        let lists = ["resourceSpans", "resourceLogs"];
        let walked = match input.form {
            Form::Document { under: Some(key) } => lists.contains(&key) || key == "batches",
            _ => false,
        };
        let spans = |value: &Value| {
            let keys = ["scopeSpans", "scopeLogs", "instrumentationLibrarySpans"];
            keys.iter().any(|key| given(value, key).is_some())
        };
        walked && spans(value)
            || console::export(value).is_some()
            || lists
                .iter()
                .any(|key| value.get(key).is_some_and(Value::is_array))
            || value["batches"]
                .as_array()
                .is_some_and(|batches| batches.iter().any(spans))
    }

    fn join(&self, record: &Record<'_>, joiner: &mut Joiner, mapping: &Mapping) -> Joins {
        let (spans, logs) = span::of(&record.value);
        for span in &spans {
            let key = trace_key(&span.trace);
            joiner.keyed(record.part, key);
            if let (Some(conversation), false) = (span.conversation(), mapping.trace_is_run()) {
                joiner.same(key, Digest::of(&["conversation", conversation]));
            }
        }
        for log in &logs {
            joiner.keyed(record.part, trace_key(&log.trace));
        }
        Ok(())
    }

    fn read(&self, run: &Gathered<'_, '_>, mapping: &Mapping) -> Runs {
        let (mut spans, mut logs) = (Vec::new(), Vec::new());
        for record in run.records {
            let (more_spans, more_logs) = span::of(&record.value);
            let of_run = |trace: &str| run.keys.contains(&trace_key(trace));
            spans.extend(more_spans.into_iter().filter(|span| of_run(&span.trace)));
            logs.extend(more_logs.into_iter().filter(|log| of_run(&log.trace)));
        }
        adk_rust::conventional(&mut spans);
        read(spans, &logs, mapping)
    }
}

fn trace_key(trace: &str) -> Digest {
    Digest::of(&["trace", trace])
}

/// The spans of a run, in order, with what is known of their places.
struct Tree {
    spans: Vec<OtelSpan>,
    by_id: HashMap<String, usize>,
    /// Tools in which an agent of rig ran, which has no span of its own there: by the tool's span, the agent's name.
    nested: HashMap<String, String>,
}

/// An agent within another.
struct SubAgent<'t> {
    id: &'t str,
    name: Option<&'t str>,
}

impl Tree {
    fn new(mut spans: Vec<OtelSpan>) -> Self {
        spans.sort_by(|left, right| left.when().cmp(&right.when()));
        let mut by_id = HashMap::new();
        let mut kept = Vec::new();
        for span in spans {
            // A span may be exported twice.
            if !by_id.contains_key(&span.id) {
                by_id.insert(span.id.clone(), kept.len());
                kept.push(span);
            }
        }
        let mut tree = Self {
            spans: kept,
            by_id,
            nested: HashMap::new(),
        };
        tree.nested = tree.within_tools();
        tree
    }

    fn within_tools(&self) -> HashMap<String, String> {
        let calls = || self.spans.iter().filter(|span| span.is_model_call());
        let tool_around = |call: &OtelSpan| {
            let around = self.around(call).into_iter();
            around.rev().find(|outer| outer.is_tool())
        };
        if calls().all(|call| tool_around(call).is_some()) {
            return HashMap::new();
        }
        let of_rig = |call: &&OtelSpan| spans::of(call.marked()).emitter == Emitter::Rig;
        let named = calls().filter(of_rig).filter_map(|call| {
            let name = call.told_text(Meaning::AgentName)?;
            Some((tool_around(call)?.id.clone(), name.to_owned()))
        });
        named.collect()
    }

    /// The spans around a span, the nearest first.
    fn around(&self, span: &OtelSpan) -> Vec<&OtelSpan> {
        let mut around: Vec<&OtelSpan> = Vec::new();
        let mut next = span.parent.as_ref();
        while let Some(index) = next.and_then(|id| self.by_id.get(id)) {
            let parent = &self.spans[*index];
            // A circle leads nowhere.
            if around.len() > self.spans.len() {
                break;
            }
            around.push(parent);
            next = parent.parent.as_ref();
        }
        around
    }

    /// The sub-agent that a span belongs to: the outermost agent around it within the main one, if it has
    /// another name, or that of a tool around it.
    fn subagent(&self, span: &OtelSpan, main: Option<&str>) -> Option<SubAgent<'_>> {
        let around: Vec<&OtelSpan> = self.around(span).into_iter().rev().collect();
        let agents: Vec<&OtelSpan> = around
            .iter()
            .copied()
            .filter(|span| span.agent().is_some())
            .collect();
        let is_main = |span: &&OtelSpan| span.agent() == main;
        let within = agents.iter().position(is_main).map_or(0, |main| main + 1);
        let mut within = agents[within..].iter().copied();
        let own = within.find(|agent| !is_main(agent)).map(|agent| SubAgent {
            id: &agent.id,
            name: agent.agent(),
        });
        own.or_else(|| {
            let mut tools = around.into_iter();
            tools.find_map(|tool| {
                let name = self.nested.get(&tool.id)?;
                Some(SubAgent {
                    id: &tool.id,
                    name: Some(name),
                })
            })
        })
    }

    /// The main agent: the outermost one that calls a model itself.
    fn main(&self) -> Option<&str> {
        let agents = self.spans.iter().filter(|span| span.agent().is_some());
        let mut agents: Vec<&OtelSpan> = agents.collect();
        agents.sort_by_key(|span| (self.around(span).len(), span.when()));
        let calls = |main: &str| {
            let mut own = self.spans.iter().filter(|span| span.is_model_call());
            own.any(|span| self.subagent(span, Some(main)).is_none())
        };
        let names: Vec<&str> = agents.into_iter().filter_map(OtelSpan::agent).collect();
        let calling = names.iter().copied().find(|name| calls(name));
        calling.or(names.first().copied())
    }

    /// Model calls within which another instrumentation saw the same call.
    fn seen_twice(&self) -> HashSet<&str> {
        let calls = self.spans.iter().filter(|span| span.is_model_call());
        let around = calls.flat_map(|span| self.around(span));
        let twice = around.filter(|span| span.is_model_call());
        twice.map(|span| span.id.as_str()).collect()
    }
}

fn read(spans: Vec<OtelSpan>, logs: &[Log], mapping: &Mapping) -> Runs {
    let tree = Tree::new(spans);
    let mut of_span: HashMap<&str, Vec<&Log>> = HashMap::new();
    for log in logs {
        of_span.entry(log.span.as_str()).or_default().push(log);
    }
    let is_of_agent = |span: &OtelSpan| span.is_model_call() || span.is_tool();
    if !tree.spans.iter().any(is_of_agent) {
        // Spans of a web server or a database.
        return Ok(Vec::new());
    }
    let main = tree.main();
    let seen_twice = tree.seen_twice();
    let mut talk = talk::OtelTalk::default();
    let mut subagents: Vec<(String, talk::OtelTalk)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for span in &tree.spans {
        let agent = tree.subagent(span, main);
        let into = match agent {
            None => &mut talk,
            Some(agent) => {
                let place = places.entry(agent.id.to_owned());
                let index = *place.or_insert_with(|| {
                    let mut talk = talk::OtelTalk::default();
                    talk.run.id = Some(agent.id.to_owned());
                    talk.run.agent = agent.name.map(str::to_owned);
                    subagents.push((agent.id.to_owned(), talk));
                    subagents.len() - 1
                });
                &mut subagents[index].1
            }
        };
        let empty = Vec::new();
        let logs = of_span.get(span.id.as_str()).unwrap_or(&empty);
        if span.is_model_call() && seen_twice.contains(span.id.as_str()) {
            continue;
        }
        if span.is_model_call() {
            into.model_call(span, logs);
        } else if span.is_tool() {
            match the_same_call(&tree, span) {
                Some(outer) => into.tool_again(span, outer),
                None => into.tool(span),
            }
        }
        if mapping.score.is_some() {
            talk.scores(span.events.iter().chain(logs.iter().copied()));
        }
    }
    // What was evaluated may stand beside a span that is not there.
    let events = tree.spans.iter().flat_map(|span| &span.events);
    talk.judged(events.chain(logs));
    if talk.lacks_content() {
        return Err(lacks_content(&tree));
    }
    talk.finish();
    for (_, subagent) in &mut subagents {
        subagent.finish();
    }
    let of_agents = subagents.iter();
    let of_agents = of_agents.map(|(id, subagent)| (&**id, &*subagent.events));
    take_calls(&mut talk.events, of_agents);
    let mut run = talk.into_run();
    let subagents = subagents.into_iter();
    run.subagents = subagents.map(|(_, talk)| talk.into_run()).collect();
    about(&tree, main, &mut run);
    if mapping.trace_is_run() {
        run.id = tree.spans.first().map(|span| span.trace.clone());
    }
    Ok(vec![run])
}

/// What the spans say of the run as a whole.
fn about(tree: &Tree, main: Option<&str>, run: &mut ForeignRun) {
    let spans = &tree.spans;
    let conversation = spans.iter().find_map(OtelSpan::conversation);
    let trace = spans.first().map(|span| span.trace.as_str());
    run.id = conversation.or(trace).map(str::to_owned);
    let named = Meaning::RunName.names().find_map(|key| {
        let mut spans = spans.iter().filter(|span| !span.is_tool());
        spans.find_map(|span| span.text(key))
    });
    let service = spans.iter().find_map(|span| span.service.as_deref());
    run.agent = main.or(named).or(service).map(str::to_owned);
    for span in spans {
        run.at(Some(span::milliseconds(span.start)));
        run.at(Some(span::milliseconds(span.end.max(span.start))));
    }
    // Of several turns, the last one.
    let mut agents = spans.iter().rev();
    let agent = agents.find(|span| span.is_agent() && span.agent() == main);
    let is_closed = |agent: &OtelSpan| !agent.failed() && agent.told(Meaning::Closing).is_some();
    if run.stop.is_none() && agent.is_some_and(is_closed) {
        run.stop = Some(Stop::Known("completed"));
    }
    let dropped = spans.iter().filter(|span| span.dropped > 0).count();
    if dropped > 0 {
        let dropped = counted(dropped, "span");
        run.note(format!("{dropped} lost attributes because of their limit"));
    }
    let is_call = |event: &Event| matches!(event, Event::Call(_));
    if !run.events.iter().any(is_call) && spans.iter().any(OtelSpan::is_tool) {
        run.note("tools ran without names");
    }
}

/// The call that a span shows from another side: the MCP call inside of a tool, or the server's view of it.
fn the_same_call<'t>(tree: &'t Tree, span: &OtelSpan) -> Option<&'t OtelSpan> {
    let name = span.tool_name();
    let around = tree.around(span).into_iter();
    // The outermost one.
    let mut around = around.rev();
    around.find(|outer| outer.is_tool() && outer.tool_name() == name)
}

fn lacks_content(tree: &Tree) -> Lost {
    let mut unread = Meaning::Unread.names();
    let is_own = |span: &OtelSpan| spans::of(span.marked()).emitter == Emitter::AdkRust;
    let unread = unread.find(|key| (tree.spans.iter()).any(|span| span.has(key) && !is_own(span)));
    let calls = tree.spans.iter().filter(|span| span.is_model_call());
    let mut wrote: Vec<&Known> = Vec::new();
    for emitter in calls.map(|call| spans::of(call.marked())) {
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
    Lost::new("content was not captured", detail)
}
