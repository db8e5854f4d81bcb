//! One agent's model calls and tools, in order, as what happened.

use std::cmp::Reverse;
use std::collections::HashSet;

use mcptest_trace::spans::{Meaning, is_new};
use serde_json::{Value, json};

use super::call_span::{arguments, may_be_of, outcome, span_id, taken};
use super::messages::{self, OtelMessage};
use super::span::{Log, OtelSpan};
use crate::import::event::{
    Answer, Call, CallTokens, Event, ForeignRun, Leading, ReportedScore, Stop,
};
use crate::import::json::unfolded;
use crate::import::openai::{lose_message, offered_tools};
use crate::import::scores::Told;

/// Who evaluated, where nothing says it: the events do not.
const JUDGE: &str = "otel";

/// What an agent did, each with the time at which it did it.
#[derive(Debug, Default)]
pub(super) struct OtelTalk {
    pub(super) run: ForeignRun,
    pub(super) events: Vec<(u64, Event)>,
    /// What the last model call was sent.
    known: Vec<String>,
    answer: Answered,
    tools: Vec<OtelSpan>,
    model_calls: usize,
    with_content: usize,
}

/// The last answer of the model.
#[derive(Debug, Default)]
struct Answered {
    /// Where its events begin.
    begin: usize,
    messages: Vec<OtelMessage>,
    /// What may be choices beside it, or more of it.
    others: Vec<OtelMessage>,
    at: u64,
}

impl OtelTalk {
    pub(super) fn model_call(&mut self, span: &OtelSpan, logs: &[&Log]) {
        self.model_calls += 1;
        let run = &mut self.run;
        if let Some(model) = span.told(Meaning::AskedModel)
            && run.asked.is_none()
        {
            run.asked = model.as_str().map(str::to_owned);
        }
        if let Some(model) = span.told_text(Meaning::AnsweringModel) {
            run.answered_by(model);
        }
        if let Some(Value::Array(tools)) = span.told(Meaning::OfferedTools).map(unfolded)
            && run.tools.is_empty()
        {
            run.tools = offered_tools(&tools);
        }
        let temperature = || span.told(Meaning::Temperature)?.as_number();
        run.temperature = run.temperature.take().or_else(|| temperature().cloned());
        run.max_tokens = run.max_tokens.or(span.told_count(Meaning::MaxTokens));
        let exchanged = messages::of(span, logs);
        for change in &exchanged.changes {
            run.note(change.told());
        }
        self.with_content += usize::from(!exchanged.is_empty());
        if run.system_prompt.is_none() {
            let mut system = Leading::of(run, true);
            for text in &exchanged.system {
                system.takes(true, text);
            }
            system.give_to(run);
        }
        self.choices(&exchanged.input);
        self.identify(&exchanged.input);
        self.send(&exchanged.input, span.start);
        self.events.push((span.end, Event::Step(taken(span))));
        let reasons = span.told(Meaning::FinishReason).map(unfolded);
        let mut output = exchanged.output;
        let others = output.split_off(output.len().min(1));
        let of_message = output.iter().find_map(|message| message.finish.clone());
        self.answer = Answered {
            begin: self.events.len(),
            messages: Vec::new(),
            others,
            at: span.end,
        };
        for message in output {
            self.answered_with(message);
        }
        let reason = reasons.as_ref();
        let reason = reason.and_then(|reasons| reasons.get(0).unwrap_or(reasons).as_str());
        let reason = reason.map(str::to_owned).or(of_message);
        // Who does not know it says so.
        let reason = reason.filter(|reason| !reason.eq_ignore_ascii_case("unknown"));
        self.run.stop = match reason {
            Some(reason) => Some(Stop::Spelt(reason)),
            None => span.failed().then_some(Stop::Known("error")),
        };
    }

    /// Tells the items of the last answer from choices beside it: those are its own that the next model call
    /// is sent, or of which a tool ran.
    fn choices(&mut self, input: &[OtelMessage]) {
        let others = std::mem::take(&mut self.answer.others);
        let sent: HashSet<String> = input.iter().flat_map(OtelMessage::essences).collect();
        let ran: HashSet<&str> = self.tools.iter().filter_map(span_id).collect();
        let is_own = |message: &OtelMessage| {
            let mut ids = message.calls().filter_map(|call| call.id.as_deref());
            ids.any(|id| ran.contains(id))
                || message.essences().any(|essence| sent.contains(&essence))
        };
        let (own, others): (Vec<_>, Vec<_>) = others.into_iter().partition(is_own);
        if !others.is_empty() {
            let more = others.len();
            self.run.note(format!("{more} other choices left out"));
        }
        for message in own {
            self.answered_with(message);
        }
    }

    fn answered_with(&mut self, message: OtelMessage) {
        self.wrote(&message, self.answer.at);
        self.answer.messages.push(message);
    }

    /// Gives the calls of the last answer the identifiers that the next model call was sent of them: some
    /// instrumentations leave them out where the model writes them.
    fn identify(&mut self, input: &[OtelMessage]) {
        let sent: Vec<&Call> = input.iter().flat_map(OtelMessage::calls).collect();
        let answer = self.answer.messages.iter_mut();
        let mut made: Vec<&mut Call> = answer.flat_map(OtelMessage::calls_mut).collect();
        let Some(first) = sent.len().checked_sub(made.len()) else {
            return;
        };
        let sent = &sent[first..];
        let is_same = |(made, sent): (&&mut Call, &&Call)| {
            made.name == sent.name && unfolded(&made.args) == unfolded(&sent.args)
        };
        if made.iter().all(|call| call.id.is_some()) || !made.iter().zip(sent).all(is_same) {
            return;
        }
        for (made, sent) in made.iter_mut().zip(sent) {
            made.id.clone_from(&sent.id);
        }
        let written = self.events[self.answer.begin..].iter_mut();
        let written = written.filter_map(|(_, event)| match event {
            Event::Call(call) => Some(call),
            _ => None,
        });
        for (written, sent) in written.zip(sent) {
            written.id.clone_from(&sent.id);
        }
    }

    /// What is new of what a model call was sent.
    fn send(&mut self, input: &[OtelMessage], at: u64) {
        let essences = |messages: &[OtelMessage]| -> Vec<String> {
            messages.iter().flat_map(OtelMessage::essences).collect()
        };
        let sent = essences(input);
        let is_new = is_new(&self.known, &essences(&self.answer.messages), &sent);
        let mut is_new = is_new.into_iter();
        for message in input {
            let mut message = message.clone();
            message.parts.retain(|_| is_new.next() == Some(true));
            if !message.parts.is_empty() {
                self.sent(&message, at);
            }
        }
        self.known = sent;
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

    /// An answer of before. What is said before the first user is no model call; messages that follow one
    /// another are one, and so is what the span before did not tell.
    fn sent_back(&mut self, message: &OtelMessage, calls: bool, at: u64) {
        let is_user = |(_, event): &(u64, Event)| matches!(event, Event::User(_));
        let of_model = |event: &&(u64, Event)| {
            matches!(event.1, Event::Step(_) | Event::Said(_) | Event::Call(_))
        };
        let mut last = self.events.iter().rev().take_while(of_model);
        let is_open = last.any(|(_, event)| matches!(event, Event::Step(_)));
        if !is_open && (calls || self.events.iter().any(is_user)) {
            self.events.push((at, Event::Step(CallTokens::default())));
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

    /// A call is seen from another side: within a tool.
    pub(super) fn tool_again(&mut self, span: &OtelSpan, tool: &OtelSpan) {
        let mut tools = self.tools.iter_mut();
        if let Some(known) = tools.find(|known| known.id == tool.id) {
            known.take_failure(span);
        }
    }

    /// Verdicts beside spans, for the outcome.
    pub(super) fn scores<'l>(&mut self, events: impl Iterator<Item = &'l Log>) {
        for event in events.filter(|event| event.is_evaluation()) {
            let name = event.attributes.get("gen_ai.evaluation.name");
            let value = event.attributes.get("gen_ai.evaluation.score.value");
            if let (Some(Value::String(name)), Some(Value::Number(value))) = (name, value) {
                let score = ReportedScore::Reward(value.clone());
                self.run.scores.push((name.clone(), score));
            }
        }
    }

    /// What was evaluated, as judges' scores.
    pub(super) fn judged<'l>(&mut self, events: impl Iterator<Item = &'l Log>) {
        for event in events.filter(|event| event.is_evaluation()) {
            let own = |key: &str| event.attributes.get(&format!("gen_ai.evaluation.{key}"));
            let word = |key: &str| own(key)?.as_str().filter(|word| !word.trim().is_empty());
            let Some(name) = word("name") else {
                continue;
            };
            let told = Told {
                value: own("score.value"),
                label: word("score.label"),
                note: word("explanation").map(str::to_owned),
                ..Told::default()
            };
            let by = event.scope.as_deref().unwrap_or(JUDGE);
            self.run.judge(name, told.score(name, by));
        }
    }

    /// Whether there were model calls, and of none what was said.
    pub(super) fn lacks_content(&self) -> bool {
        self.model_calls > 0 && self.with_content == 0
    }

    /// Joins the spans of tools with the calls that the models made.
    pub(super) fn finish(&mut self) {
        self.choices(&[]);
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
                let flags = [answer.is_error, span.is_error()].into_iter().flatten();
                answer.is_error = flags.reduce(|one, other| one || other);
                answer.duration_ms = answer.duration_ms.or(span.duration_ms());
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
        is_error: span.is_error(),
        duration_ms: span.duration_ms(),
        ..Answer::default()
    };
    (span.end, Event::Answer(answer))
}
