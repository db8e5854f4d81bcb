//! One agent's model calls and tools, in order, as what happened.

use std::collections::HashSet;

use serde_json::{Number, Value};

use super::call_span::{arguments, may_be_of, outcome, span_id, tokens};
use super::messages::{self, Message, Part};
use super::span::{Log, Span};
use crate::import::event::{Answer, Call, Event, ForeignRun, Score, Stop};
use crate::import::json::unfolded;
use crate::import::openai::offered_tools;

/// What an agent did, each with the time at which it did it.
#[derive(Debug, Default)]
pub(super) struct Talk {
    pub(super) run: ForeignRun,
    events: Vec<(u64, Event)>,
    /// The messages that the last model call knew.
    known: Vec<String>,
    tools: Vec<Span>,
    model_calls: usize,
    with_content: usize,
}

impl Talk {
    pub(super) fn model_call(&mut self, span: &Span, logs: &[&Log]) {
        self.model_calls += 1;
        let run = &mut self.run;
        if let Some(model) = span.first(&["gen_ai.request.model", "llm.model_name", "ai.model.id"])
            && run.asked.is_none()
        {
            run.asked = model.as_str().map(str::to_owned);
        }
        if let Some(model) = span.text("gen_ai.response.model") {
            run.answered_by(model);
        }
        if let Some(Value::Array(tools)) = span.first(&["gen_ai.tool.definitions"]).map(unfolded)
            && run.tools.is_empty()
        {
            run.tools = offered_tools(&tools);
        }
        if let (None, Some(Value::Number(temperature))) = (
            &run.temperature,
            span.first(&["gen_ai.request.temperature"]),
        ) {
            run.temperature = Some(Number::clone(temperature));
        }
        run.max_tokens = run
            .max_tokens
            .or(span.count(&["gen_ai.request.max_tokens"]));
        let exchanged = messages::of(span, logs);
        self.with_content += usize::from(!exchanged.is_empty());
        let system: Vec<String> = exchanged
            .system
            .into_iter()
            .filter(|it| !it.is_empty())
            .collect();
        if self.run.system_prompt.is_none() && !system.is_empty() {
            self.run.system_prompt = Some(system.join("\n\n"));
        }
        let input: Vec<String> = exchanged.input.iter().map(Message::essence).collect();
        let new = self.new_from(&input);
        for message in &exchanged.input[new..] {
            self.sent(message, span.start);
        }
        self.events.push((span.end, Event::Step(tokens(span))));
        if exchanged.output.len() > 1 {
            self.run.note(format!(
                "{} other choices left out",
                exchanged.output.len() - 1
            ));
        }
        self.known = input;
        if let Some(message) = exchanged.output.first() {
            self.wrote(message, span.end);
            self.known.push(message.essence());
        }
        let keys = [
            "gen_ai.response.finish_reasons",
            "ai.response.finishReason",
            "ai.finishReason",
        ];
        let reasons = span.first(&keys).map(unfolded);
        let reason = reasons
            .as_ref()
            .and_then(|reasons| reasons.get(0).unwrap_or(reasons).as_str());
        let of_message = exchanged
            .output
            .first()
            .and_then(|message| message.finish.as_deref());
        self.run.stop = match reason.or(of_message) {
            Some(reason) => Some(Stop::Spelt(reason.to_owned())),
            None => span.failed().then_some(Stop::Known("error")),
        };
    }

    /// From where on an input is new: after the longest beginning that is known.
    fn new_from(&self, input: &[String]) -> usize {
        let same = self
            .known
            .iter()
            .zip(input)
            .take_while(|(known, new)| known == new)
            .count();
        if same > 0 || self.known.is_empty() {
            return same;
        }
        // The beginning was trimmed.
        let known: HashSet<&String> = self.known.iter().collect();
        input
            .iter()
            .take_while(|message| known.contains(message))
            .count()
    }

    /// A message that a model call was sent.
    fn sent(&mut self, message: &Message, at: u64) {
        match message.role.as_str() {
            "assistant" | "model" | "ai" => {
                let greets = !self
                    .events
                    .iter()
                    .any(|(_, event)| matches!(event, Event::User(_)));
                if !greets
                    || message
                        .parts
                        .iter()
                        .any(|part| matches!(part, Part::Call { .. }))
                {
                    self.events.push((at, Event::Step(None)));
                }
                self.wrote(message, at);
            }
            role => {
                for part in &message.parts {
                    self.answer(part, at);
                }
                let text = message.text();
                if !text.is_empty() {
                    let role = role.to_owned();
                    self.events.push((
                        at,
                        match role.as_str() {
                            "user" | "human" => Event::User(text),
                            _ => Event::Turn { role, text },
                        },
                    ));
                }
            }
        }
    }

    /// What a model wrote.
    fn wrote(&mut self, message: &Message, at: u64) {
        for part in &message.parts {
            match part {
                Part::Text(text) if text.is_empty() => {}
                Part::Text(text) => self.events.push((at, Event::Said(text.clone()))),
                Part::Call { id, name, args } => self.events.push((
                    at,
                    Event::Call(Call {
                        id: id.clone(),
                        name: name.clone(),
                        args: args.clone(),
                        ..Call::default()
                    }),
                )),
                Part::Response { .. } => self.answer(part, at),
                Part::Reasoning => self.run.note("reasoning left out"),
                Part::NoCall => self.run.note("what is no tool call left out"),
            }
        }
    }

    fn answer(&mut self, part: &Part, at: u64) {
        if let Part::Response { id, value, failed } = part {
            let answer = Answer {
                id: id.clone(),
                value: value.clone(),
                is_error: *failed,
            };
            self.events.push((at, Event::Answer(answer)));
        }
    }

    pub(super) fn tool(&mut self, span: &Span) {
        self.tools.push(span.clone());
    }

    /// Verdicts beside a span.
    pub(super) fn scores(&mut self, span: &Span, logs: &[&Log]) {
        for event in span.events.iter().chain(logs.iter().copied()) {
            if event.name != "gen_ai.evaluation.result" {
                continue;
            }
            let name = event
                .attributes
                .get("gen_ai.evaluation.name")
                .and_then(Value::as_str);
            let value = event.attributes.get("gen_ai.evaluation.score.value");
            if let (Some(name), Some(Value::Number(value))) = (name, value) {
                let score = Score::Reward(value.clone());
                self.run.scores.push((name.to_owned(), score));
            }
        }
    }

    /// Whether there were model calls, and of none what was said.
    pub(super) fn lacks_content(&self) -> bool {
        self.model_calls > 0 && self.with_content == 0
    }

    /// Joins the spans of tools with the calls that the models made.
    pub(super) fn finish(&mut self) {
        let mut met: HashSet<usize> = HashSet::new();
        let mut spans = std::mem::take(&mut self.tools);
        // What names its call or its arguments first, then what may be of a call by its name.
        for by_name in [false, true] {
            spans.retain(|span| match self.call_of(span, &met, by_name) {
                Some(index) => {
                    met.insert(index);
                    self.result_of(index, span, &mut met);
                    false
                }
                None => true,
            });
        }
        for span in &spans {
            self.own_call(span, &mut met);
        }
    }

    /// The call that a tool's span is the execution of.
    fn call_of(&self, span: &Span, met: &HashSet<usize>, by_name: bool) -> Option<usize> {
        let calls = self
            .events
            .iter()
            .enumerate()
            .filter_map(|(index, (at, event))| match event {
                Event::Call(call) if !met.contains(&index) => Some((index, *at, call)),
                _ => None,
            });
        let calls: Vec<(usize, u64, &Call)> = calls.collect();
        if let Some(id) = span_id(span) {
            // Identifiers repeat: the latest call before the tool ran.
            let of_id = || {
                calls
                    .iter()
                    .filter(|(.., call)| call.id.as_deref() == Some(id))
            };
            let before = of_id()
                .filter(|(_, at, _)| *at <= span.start)
                .max_by_key(|(_, at, _)| *at);
            let chosen = before.map(|(_, at, _)| *at);
            if let Some(chosen) = chosen {
                return of_id()
                    .find(|(_, at, _)| *at == chosen)
                    .map(|(index, ..)| *index);
            }
            return of_id().next().map(|(index, ..)| *index);
        }
        let args = arguments(span);
        let same = |call: &Call| {
            let own = unfolded(&call.args);
            Some(call.name.as_str()) == span.tool_name()
                && if by_name {
                    args.as_ref().is_none_or(|args| may_be_of(args, &own))
                } else {
                    args.as_ref() == Some(&own)
                }
        };
        calls
            .iter()
            .find(|(.., call)| same(call))
            .map(|(index, ..)| *index)
    }

    /// The result of a call: that of the message, with what the span says of errors, else the span's.
    fn result_of(&mut self, call: usize, span: &Span, met: &mut HashSet<usize>) {
        let Event::Call(made) = &self.events[call].1 else {
            return;
        };
        let id = made.id.clone();
        let later = self.events.iter().enumerate().skip(call + 1);
        let answered =
            later
                .filter(|(index, _)| !met.contains(index))
                .find_map(|(index, (_, event))| match event {
                    Event::Answer(answer) if id.is_some() && answer.id == id => Some(index),
                    _ => None,
                });
        if let Some(index) = answered {
            met.insert(index);
            if let Event::Answer(answer) = &mut self.events[index].1 {
                answer.is_error = Some(span.failed() || answer.is_error == Some(true));
            }
            return;
        }
        let Some(value) = outcome(span) else {
            return;
        };
        // After the calls of the same answer.
        let rest = self.events[call + 1..].iter();
        let calls = rest
            .take_while(|(_, event)| matches!(event, Event::Call(_)))
            .count();
        let at = call + 1 + calls;
        let id = id.unwrap_or_else(|| format!("span:{}", span.id));
        if let Event::Call(made) = &mut self.events[call].1 {
            made.id = Some(id.clone());
        }
        let answer = Answer {
            id: Some(id),
            value,
            is_error: Some(span.failed()),
        };
        self.insert(at, (span.end, Event::Answer(answer)), met);
    }

    /// A call that no message tells of.
    fn own_call(&mut self, span: &Span, met: &mut HashSet<usize>) {
        let Some(name) = span.tool_name() else {
            return;
        };
        let id = span_id(span).map_or_else(|| format!("span:{}", span.id), str::to_owned);
        let call = Call {
            id: Some(id.clone()),
            name: name.to_owned(),
            args: arguments(span).unwrap_or_default(),
            ..Call::default()
        };
        let at = self.events.iter().position(|(at, _)| *at > span.start);
        let at = at.unwrap_or(self.events.len());
        self.insert(at, (span.start, Event::Call(call)), met);
        met.insert(at);
        if let Some(value) = outcome(span) {
            let answer = Answer {
                id: Some(id),
                value,
                is_error: Some(span.failed()),
            };
            self.insert(at + 1, (span.end, Event::Answer(answer)), met);
            met.insert(at + 1);
        }
    }

    fn insert(&mut self, at: usize, event: (u64, Event), met: &mut HashSet<usize>) {
        self.events.insert(at, event);
        *met = met
            .iter()
            .map(|index| if *index >= at { index + 1 } else { *index })
            .collect();
    }

    /// Puts the calls of a sub-agent among those of this one, by time.
    pub(super) fn take_calls(&mut self, agent: &str, other: &Self) {
        for (at, event) in &other.events {
            let event = match event {
                Event::Call(call) => Event::Call(Call {
                    agent_id: Some(agent.to_owned()),
                    id: call.id.as_ref().map(|id| format!("{agent}/{id}")),
                    ..call.clone()
                }),
                Event::Answer(answer) => Event::Answer(Answer {
                    id: answer.id.as_ref().map(|id| format!("{agent}/{id}")),
                    ..answer.clone()
                }),
                _ => continue,
            };
            let before = self.events.iter().position(|(own, _)| own > at);
            let before = before.unwrap_or(self.events.len());
            self.events.insert(before, (*at, event));
        }
    }

    pub(super) fn into_run(self) -> ForeignRun {
        let mut run = self.run;
        run.events = self.events.into_iter().map(|(_, event)| event).collect();
        run
    }
}
