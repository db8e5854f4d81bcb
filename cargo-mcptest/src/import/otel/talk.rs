//! One agent's model calls and tools, in order, as what happened.

use std::cmp::Reverse;
use std::collections::HashSet;

use serde_json::{Value, json};

use super::call_span::{arguments, may_be_of, outcome, span_id, tokens};
use super::messages::{self, OtelMessage};
use super::span::{Log, OtelSpan};
use crate::import::event::{Answer, Call, Event, ForeignRun, Leading, ReportedScore, Stop};
use crate::import::json::unfolded;
use crate::import::openai::{lose_message, offered_tools};

/// What an agent did, each with the time at which it did it.
#[derive(Debug, Default)]
pub(super) struct OtelTalk {
    pub(super) run: ForeignRun,
    pub(super) events: Vec<(u64, Event)>,
    /// The messages that the last model call knew.
    known: Vec<String>,
    /// The last answer, where a call in it has no identifier, and where its events begin.
    anonymous: Option<(String, usize)>,
    tools: Vec<OtelSpan>,
    model_calls: usize,
    with_content: usize,
}

impl OtelTalk {
    pub(super) fn model_call(&mut self, span: &OtelSpan, logs: &[&Log]) {
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
        let temperature = || span.first(&["gen_ai.request.temperature"])?.as_number();
        run.temperature = run.temperature.take().or_else(|| temperature().cloned());
        run.max_tokens = run
            .max_tokens
            .or(span.count(&["gen_ai.request.max_tokens"]));
        let exchanged = messages::of(span, logs);
        self.with_content += usize::from(!exchanged.is_empty());
        if run.system_prompt.is_none() {
            let mut system = Leading::of(run, true);
            for text in &exchanged.system {
                system.takes(true, text);
            }
            system.give_to(run);
        }
        self.identify(&exchanged.input);
        let input: Vec<String> = exchanged.input.iter().map(OtelMessage::essence).collect();
        let new = self.new_from(&input);
        for message in &exchanged.input[new..] {
            self.sent(message, span.start);
        }
        self.events.push((span.end, Event::Step(tokens(span))));
        if let Some(more @ 1..) = exchanged.output.len().checked_sub(1) {
            self.run.note(format!("{more} other choices left out"));
        }
        self.known = input;
        if let Some(message) = exchanged.output.first() {
            if message.calls().any(|call| call.id.is_none()) {
                self.anonymous = Some((message.anonymous_essence(), self.events.len()));
            }
            self.wrote(message, span.end);
            self.known.push(message.essence());
        }
        let keys = [
            "gen_ai.response.finish_reasons",
            "ai.response.finishReason",
            "ai.finishReason",
        ];
        let reasons = span.first(&keys).map(unfolded);
        let reason = reasons.as_ref();
        let reason = reason.and_then(|reasons| reasons.get(0).unwrap_or(reasons).as_str());
        let message = exchanged.output.first();
        let of_message = message.and_then(|message| message.finish.as_deref());
        self.run.stop = match reason.or(of_message) {
            Some(reason) => Some(Stop::Spelt(reason.to_owned())),
            None => span.failed().then_some(Stop::Known("error")),
        };
    }

    /// Gives the calls of the last answer the identifiers that the next model call was sent of them: some
    /// instrumentations leave them out where the model writes them.
    fn identify(&mut self, input: &[OtelMessage]) {
        let anonymous = self.anonymous.take();
        let (Some((answer, begin)), Some(last)) = (anonymous, self.known.last_mut()) else {
            return;
        };
        let mut sent = input.iter().rev();
        let Some(sent) = sent.find(|sent| sent.anonymous_essence() == answer) else {
            return;
        };
        *last = sent.essence();
        let made = self.events[begin..].iter_mut();
        let made = made.filter_map(|(_, event)| match event {
            Event::Call(call) => Some(call),
            _ => None,
        });
        for (made, sent) in made.zip(sent.calls()) {
            made.id.clone_from(&sent.id);
        }
    }

    /// From where on an input is new: after the longest beginning that is known.
    fn new_from(&self, input: &[String]) -> usize {
        let both = self.known.iter().zip(input);
        let same = both.take_while(|(known, new)| known == new).count();
        if same > 0 || self.known.is_empty() {
            return same;
        }
        // The beginning was trimmed.
        let known: HashSet<&String> = self.known.iter().collect();
        let known = input.iter().take_while(|message| known.contains(message));
        known.count()
    }

    /// A message that a model call was sent.
    fn sent(&mut self, message: &OtelMessage, at: u64) {
        let calls = message.calls().next().is_some();
        match message.role.as_str() {
            "assistant" | "model" | "ai" | "agent" => self.sent_back(message, calls, at),
            role @ ("user" | "human" | "tool" | "function" | "system" | "developer") => {
                self.answered(message, at);
                let text = message.text();
                if !text.is_empty() {
                    let said = match role {
                        "user" | "human" => Event::User(text),
                        _ => Event::Turn {
                            role: role.to_owned(),
                            text,
                        },
                    };
                    self.events.push((at, said));
                }
            }
            // Whatever the one who calls is named.
            _ if calls => self.sent_back(message, calls, at),
            role => {
                self.answered(message, at);
                let text = message.text();
                if !text.is_empty() {
                    lose_message(&json!({ "role": role, "content": text }), &mut self.run);
                }
            }
        }
    }

    /// The results in a message.
    fn answered(&mut self, message: &OtelMessage, at: u64) {
        let is_answer = |part: &&Event| matches!(part, Event::Answer(_));
        let answers = message.parts.iter().filter(is_answer);
        self.events
            .extend(answers.map(|answer| (at, answer.clone())));
    }

    /// An answer of before. What is said before the first user is no model call.
    fn sent_back(&mut self, message: &OtelMessage, calls: bool, at: u64) {
        let is_user = |(_, event): &(u64, Event)| matches!(event, Event::User(_));
        if calls || self.events.iter().any(is_user) {
            self.events.push((at, Event::Step(None)));
        }
        self.wrote(message, at);
    }

    /// What a model wrote.
    fn wrote(&mut self, message: &OtelMessage, at: u64) {
        let is_said = |part: &&Event| !matches!(part, Event::Said(text) if text.is_empty());
        let parts = message.parts.iter().filter(is_said);
        self.events.extend(parts.map(|part| (at, part.clone())));
        message.notes.iter().for_each(|note| self.run.note(*note));
    }

    pub(super) fn tool(&mut self, span: &OtelSpan) {
        self.tools.push(span.clone());
    }

    /// Verdicts beside a span.
    pub(super) fn scores(&mut self, span: &OtelSpan, logs: &[&Log]) {
        for event in span.events.iter().chain(logs.iter().copied()) {
            if event.name != "gen_ai.evaluation.result" {
                continue;
            }
            let own = |key: &str| event.attributes.get(key);
            let name = own("gen_ai.evaluation.name").and_then(Value::as_str);
            let value = own("gen_ai.evaluation.score.value");
            if let (Some(name), Some(Value::Number(value))) = (name, value) {
                let score = ReportedScore::Reward(value.clone());
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
    fn call_of(&self, span: &OtelSpan, met: &HashSet<usize>, by_name: bool) -> Option<usize> {
        let events = self.events.iter().enumerate();
        let mut calls = events.filter_map(|(index, (at, event))| match event {
            Event::Call(call) if !met.contains(&index) => Some((index, *at, call)),
            _ => None,
        });
        let id = span_id(span);
        if id.is_some() {
            // Identifiers repeat: the latest call before the tool ran, of several at that time the first.
            let of_id = calls.clone().filter(|(.., call)| call.id.as_deref() == id);
            let best =
                of_id.min_by_key(|(_, at, _)| Reverse(Some(*at).filter(|at| *at <= span.start)));
            if let Some((index, ..)) = best {
                return Some(index);
            }
        }
        let args = arguments(span);
        let same = |call: &Call| {
            let own = unfolded(&call.args);
            (id.is_none() || call.id.is_none())
                && Some(call.name.as_str()) == span.tool_name()
                && if by_name {
                    args.as_ref().is_none_or(|args| may_be_of(args, &own))
                } else {
                    args.as_ref() == Some(&own)
                }
        };
        let found = calls.find(|(.., call)| same(call));
        found.map(|(index, ..)| index)
    }

    /// The result of a call: that of the message, with what the span says of errors, else the span's.
    fn result_of(&mut self, call: usize, span: &OtelSpan, met: &mut HashSet<usize>) {
        let Event::Call(made) = &self.events[call].1 else {
            return;
        };
        let id = made.id.clone();
        let is_call = |event: &Event| matches!(event, Event::Call(_));
        let answers = |event: &Event| matches!(event, Event::Answer(answer) if answer.id == id);
        let mut later = self.events.iter().enumerate().skip(call);
        let answered = if id.is_some() {
            later.find(|(index, (_, event))| !met.contains(index) && answers(event))
        } else {
            // Without identifiers they stand in the order of the calls, before the next ones.
            let before = self.events[..call].iter().rev();
            let before = before.take_while(|(_, event)| is_call(event)).count();
            let later = later.skip_while(|(_, (_, event))| is_call(event));
            let later = later.take_while(|(_, (_, event))| !is_call(event));
            later.filter(|(_, (_, event))| answers(event)).nth(before)
        };
        let answered = answered.map(|(index, _)| index);
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
        let calls = rest.take_while(|(_, event)| matches!(event, Event::Call(_)));
        let at = call + 1 + calls.count();
        let id = id.unwrap_or_else(|| format!("span:{}", span.id));
        if let Event::Call(made) = &mut self.events[call].1 {
            made.id = Some(id.clone());
        }
        self.insert(at, result_of(span, id, value), met);
    }

    /// A call that no message tells of.
    fn own_call(&mut self, span: &OtelSpan, met: &mut HashSet<usize>) {
        let Some(name) = span.tool_name() else {
            return;
        };
        let id = span_id(span).map_or_else(|| format!("span:{}", span.id), str::to_owned);
        let args = arguments(span).unwrap_or_default();
        let call = Call::new(Some(id.clone()), Some(name), args);
        let at = self.events.iter().position(|(at, _)| *at > span.start);
        let at = at.unwrap_or(self.events.len());
        self.insert(at, (span.start, Event::Call(call)), met);
        met.insert(at);
        if let Some(value) = outcome(span) {
            // A message may tell of it, too.
            let told = (at..self.events.len()).find(|index| {
                let event = &self.events[*index].1;
                !met.contains(index)
                    && matches!(event, Event::Answer(answer) if answer.id.is_none() && answer.value == value)
            });
            if let Some(told) = told {
                self.events.remove(told);
                let moved = met.iter().map(|index| index - usize::from(*index > told));
                *met = moved.collect();
            }
            self.insert(at + 1, result_of(span, id, value), met);
            met.insert(at + 1);
        }
    }

    fn insert(&mut self, at: usize, event: (u64, Event), met: &mut HashSet<usize>) {
        self.events.insert(at, event);
        let moved = met.iter().map(|index| index + usize::from(*index >= at));
        *met = moved.collect();
    }

    pub(super) fn into_run(self) -> ForeignRun {
        self.run.with(self.events)
    }
}

/// The result that the span of a call has, when it ended.
fn result_of(span: &OtelSpan, id: String, value: Value) -> (u64, Event) {
    let answer = Answer {
        id: Some(id),
        value,
        is_error: Some(span.failed()),
    };
    (span.end, Event::Answer(answer))
}
