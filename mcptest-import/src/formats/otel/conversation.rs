//! One agent's model calls and tools, in order, as what happened.

use std::collections::{HashMap, HashSet};

use mcptest_trace::spans::{Meaning, mark_new_parts};
use serde_json::{Value, json};

use super::call_span::{call_usage, span_id};
use super::join::{Stamped, join_spans};
use super::messages::{self, OtelMessage};
use super::span::{Log, OtelSpan};
use crate::event::{Call, CallTokens, Event, ForeignRun, ReportedScore, Stop, SystemPreamble};
use crate::formats::openai::{offered_tools, report_message};
use crate::json::unwrap_json_text;
use crate::scores::SourceScore;

/// Who evaluated, where nothing says it: the events do not.
const JUDGE: &str = "otel";

/// The conversation of an agent: everything that it did, each with its time.
#[derive(Debug, Default)]
pub(super) struct OtelConversation {
    pub(super) run: ForeignRun,
    pub(super) events: Vec<Stamped>,
    /// Whether a model call is open: only what a model wrote came after it.
    is_open: bool,
    /// Whether a user has spoken.
    has_user: bool,
    /// What the last model call was sent.
    known: Vec<String>,
    /// Whether the next model call is another agent's, which is told of the talk in other words.
    is_handed: bool,
    answer: LastAnswer,
    tools: Vec<OtelSpan>,
    /// Where the span of each tool stands among them, and the calls of which a tool ran.
    places: HashMap<String, usize>,
    ran: HashSet<String>,
    model_calls: usize,
    with_content: usize,
}

/// Whether two calls are one: by their identifiers, else by their arguments.
fn is_same_call(one: &Call, other: &Call) -> bool {
    let is_same = match (&one.id, &other.id) {
        (Some(one), Some(other)) => one == other,
        _ => unwrap_json_text(&one.args) == unwrap_json_text(&other.args),
    };
    one.name == other.name && is_same
}

/// The last answer of the model.
#[derive(Debug, Default)]
struct LastAnswer {
    /// Where its events begin.
    begin: usize,
    messages: Vec<OtelMessage>,
    /// What may be choices beside it, or more of it.
    others: Vec<OtelMessage>,
    at: u64,
}

impl OtelConversation {
    pub(super) fn add_model_call(&mut self, span: &OtelSpan, logs: &[&Log]) {
        self.model_calls += 1;
        let run = &mut self.run;
        if let Some(model) = span.attribute(Meaning::AskedModel)
            && run.asked.is_none()
        {
            run.asked = model.as_str().map(str::to_owned);
        }
        if let Some(model) = span.attribute_text(Meaning::AnsweringModel) {
            run.add_model(model);
        }
        if let Some(Value::Array(tools)) =
            span.attribute(Meaning::OfferedTools).map(unwrap_json_text)
            && run.tools.is_empty()
        {
            run.tools = offered_tools(&tools);
        }
        let temperature = || span.attribute(Meaning::Temperature)?.as_number();
        run.temperature = run.temperature.take().or_else(|| temperature().cloned());
        run.max_tokens = run.max_tokens.or(span.attribute_count(Meaning::MaxTokens));
        let exchanged = messages::from_span(span, logs);
        for change in &exchanged.changes {
            run.note(change.describe());
        }
        self.with_content += usize::from(!exchanged.is_empty());
        if run.system_prompt.is_none() {
            let mut system = SystemPreamble::new(run, true);
            for text in &exchanged.system {
                system.try_take(true, text);
            }
            system.apply_to(run);
        }
        self.select_choice(&exchanged.input);
        self.assign_call_ids(&exchanged.input);
        self.add_input(&exchanged.input, span.start);
        self.push(span.end, Event::Step(call_usage(span)));
        let reasons = span.attribute(Meaning::FinishReason).map(unwrap_json_text);
        let mut output = exchanged.output;
        let others = output.split_off(output.len().min(1));
        let of_message = output.iter().find_map(|message| message.finish.clone());
        self.answer = LastAnswer {
            begin: self.events.len(),
            messages: Vec::new(),
            others,
            at: span.end,
        };
        for message in output {
            self.set_answer(message);
        }
        let reason = reasons.as_ref();
        let reason = reason.and_then(|reasons| reasons.get(0).unwrap_or(reasons).as_str());
        let reason = reason.map(str::to_owned).or(of_message);
        // Who does not know it says so.
        let reason = reason.filter(|reason| !reason.eq_ignore_ascii_case("unknown"));
        self.run.stop = match reason {
            Some(reason) => Some(Stop::Spelt(reason)),
            None => span.has_failed().then_some(Stop::Known("error")),
        };
    }

    pub(super) fn has_begun(&self) -> bool {
        self.model_calls > 0
    }

    /// Whether what a model call was sent goes on with this talk: it holds what was called last, or else what was said
    /// last after the same beginning.
    pub(super) fn is_continued_by(&self, sent: &[OtelMessage]) -> bool {
        let last = || self.answer.messages.iter().chain(&self.answer.others);
        let sent_calls = || sent.iter().flat_map(OtelMessage::calls);
        if last().flat_map(OtelMessage::calls).next().is_some() {
            let mut calls = last().flat_map(OtelMessage::calls);
            return calls.any(|call| sent_calls().any(|sent| is_same_call(call, sent)));
        }
        let sent: HashSet<String> = sent.iter().flat_map(OtelMessage::part_keys).collect();
        let mut said = last().flat_map(OtelMessage::part_keys);
        let begins = self.known.first().is_some_and(|first| sent.contains(first));
        begins && said.any(|said| sent.contains(&said))
    }

    /// Whether the last answer hands the talk to an agent: by a call of `transfer_to_…` or its like.
    pub(super) fn is_handed_to(&self, agent: &str) -> bool {
        let letters = |text: &str| -> String {
            let letters = text.chars().filter(|letter| letter.is_alphanumeric());
            letters.flat_map(char::to_lowercase).collect()
        };
        let agent = letters(agent);
        let mut calls = self.answer.messages.iter().flat_map(OtelMessage::calls);
        calls.any(|call| {
            let name = letters(&call.name);
            let mut begins = ["transfer", "handoff"].iter();
            let Some(to) = begins.find_map(|begin| name.strip_prefix(begin)) else {
                return false;
            };
            let args = unwrap_json_text(&call.args);
            let mut told = args.as_object().into_iter().flat_map(|args| args.values());
            let is_told = told.any(|value| value.as_str().is_some_and(|it| letters(it) == agent));
            !agent.is_empty() && (to.ends_with(&agent) || is_told)
        })
    }

    /// The next model call is another agent's, which is told of the talk so far in other words.
    pub(super) fn hand_over(&mut self) {
        self.is_handed = true;
    }

    /// The talk of a sub-agent that is told of this one: what was said here is not its own.
    pub(super) fn for_subagent(&self) -> Self {
        let answer = self.answer.messages.iter().flat_map(OtelMessage::part_keys);
        let mut talk = Self {
            known: self.known.iter().cloned().chain(answer).collect(),
            ..Self::default()
        };
        talk.run.prompt = self.events.iter().find_map(|(_, event)| match event {
            Event::User(text) => Some(text.clone()),
            _ => None,
        });
        talk
    }

    /// Tells the items of the last answer from choices beside it: those are its own that the next model call
    /// is sent, or of which a tool ran.
    fn select_choice(&mut self, input: &[OtelMessage]) {
        let others = std::mem::take(&mut self.answer.others);
        if others.is_empty() {
            return;
        }
        let sent: HashSet<String> = input.iter().flat_map(OtelMessage::part_keys).collect();
        let is_own = |message: &OtelMessage| {
            let mut ids = message.calls().filter_map(|call| call.id.as_deref());
            ids.any(|id| self.ran.contains(id))
                || message.part_keys().any(|essence| sent.contains(&essence))
        };
        let (own, others): (Vec<_>, Vec<_>) = others.into_iter().partition(is_own);
        if !others.is_empty() {
            let more = others.len();
            self.run.note(format!("{more} other choices left out"));
        }
        for message in own {
            self.set_answer(message);
        }
    }

    fn set_answer(&mut self, message: OtelMessage) {
        self.add_model_message(&message, self.answer.at);
        self.answer.messages.push(message);
    }

    /// Gives the calls of the last answer the identifiers that the next model call was sent of them: some
    /// instrumentations leave them out where the model writes them.
    fn assign_call_ids(&mut self, input: &[OtelMessage]) {
        let sent: Vec<&Call> = input.iter().flat_map(OtelMessage::calls).collect();
        let answer = self.answer.messages.iter_mut();
        let mut made: Vec<&mut Call> = answer.flat_map(OtelMessage::calls_mut).collect();
        let Some(first) = sent.len().checked_sub(made.len()) else {
            return;
        };
        let sent = &sent[first..];
        let is_same = |(made, sent): (&&mut Call, &&Call)| {
            made.name == sent.name && unwrap_json_text(&made.args) == unwrap_json_text(&sent.args)
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
    fn add_input(&mut self, input: &[OtelMessage], at: u64) {
        let essences = |messages: &[OtelMessage]| -> Vec<String> {
            messages.iter().flat_map(OtelMessage::part_keys).collect()
        };
        let sent = essences(input);
        let is_new = mark_new_parts(&self.known, &essences(&self.answer.messages), &sent);
        let mut is_new = is_new.into_iter();
        let is_handed = std::mem::take(&mut self.is_handed);
        for message in input {
            let mut message = message.clone();
            message.parts.retain(|part| {
                let is_told = !is_handed || matches!(part, Event::Answer(_));
                is_new.next() == Some(true) && is_told
            });
            if !message.parts.is_empty() {
                self.add_sent_message(&message, at);
            }
        }
        self.known = sent;
    }

    /// A message that a model call was sent.
    fn add_sent_message(&mut self, message: &OtelMessage, at: u64) {
        let calls = message.calls().next().is_some();
        match message.role.as_str() {
            "assistant" | "model" | "ai" | "agent" => self.add_earlier_answer(message, calls, at),
            role @ ("user" | "human" | "tool" | "function" | "system" | "developer") => {
                self.add_results(message, at);
                let text = message.text();
                if !text.is_empty() {
                    let said = match role {
                        "user" | "human" => Event::User(text),
                        _ => Event::Turn {
                            role: role.to_owned(),
                            text,
                        },
                    };
                    self.push(at, said);
                }
            }
            // Whatever the one who calls is named.
            _ if calls => self.add_earlier_answer(message, calls, at),
            role => {
                self.add_results(message, at);
                let text = message.text();
                if !text.is_empty() {
                    report_message(&json!({ "role": role, "content": text }), &mut self.run);
                }
            }
        }
    }

    /// The results in a message.
    fn add_results(&mut self, message: &OtelMessage, at: u64) {
        let is_answer = |part: &&Event| matches!(part, Event::Answer(_));
        for answer in message.parts.iter().filter(is_answer) {
            self.push(at, answer.clone());
        }
    }

    /// An answer of before. What is said before the first user is no model call; messages that follow one
    /// another are one, and so is what the span before did not tell.
    fn add_earlier_answer(&mut self, message: &OtelMessage, calls: bool, at: u64) {
        if !self.is_open && (calls || self.has_user) {
            self.push(at, Event::Step(CallTokens::default()));
        }
        self.add_model_message(message, at);
    }

    /// Adds a message that a model wrote.
    fn add_model_message(&mut self, message: &OtelMessage, at: u64) {
        let is_said = |part: &&Event| !matches!(part, Event::Said(text) if text.is_empty());
        for part in message.parts.iter().filter(is_said) {
            self.push(at, part.clone());
        }
        message.notes.iter().for_each(|note| self.run.note(*note));
    }

    fn push(&mut self, at: u64, event: Event) {
        self.is_open = match &event {
            Event::Step(_) => true,
            Event::Said(_) | Event::Call(_) => self.is_open,
            _ => false,
        };
        self.has_user |= matches!(event, Event::User(_));
        self.events.push((at, event));
    }

    pub(super) fn add_tool(&mut self, span: &OtelSpan) {
        self.places.insert(span.id.clone(), self.tools.len());
        self.ran.extend(span_id(span).map(str::to_owned));
        self.tools.push(span.clone());
    }

    /// A call is seen from another side: within a tool.
    pub(super) fn merge_tool_view(&mut self, span: &OtelSpan, tool: &OtelSpan) {
        let place = self.places.get(&tool.id);
        if let Some(known) = place.and_then(|place| self.tools.get_mut(*place)) {
            known.merge_failure(span);
        }
    }

    /// Verdicts beside spans, for the outcome.
    pub(super) fn add_outcomes<'l>(&mut self, events: impl Iterator<Item = &'l Log>) {
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
    pub(super) fn add_scores<'l>(&mut self, events: impl Iterator<Item = &'l Log>) {
        for event in events.filter(|event| event.is_evaluation()) {
            let own = |key: &str| event.attributes.get(&format!("gen_ai.evaluation.{key}"));
            let word = |key: &str| own(key)?.as_str().filter(|word| !word.trim().is_empty());
            let Some(name) = word("name") else {
                continue;
            };
            let told = SourceScore {
                value: own("score.value"),
                label: word("score.label"),
                note: word("explanation").map(str::to_owned),
                ..SourceScore::default()
            };
            let by = event.scope.as_deref().unwrap_or(JUDGE);
            self.run.push_score(name, told.into_score(name, by));
        }
    }

    /// Whether there were model calls, and of none what was said.
    pub(super) fn lacks_content(&self) -> bool {
        self.model_calls > 0 && self.with_content == 0
    }

    /// Joins the spans of tools with the calls that the models made.
    pub(super) fn finish(&mut self) {
        self.select_choice(&[]);
        let (events, tools) = (
            std::mem::take(&mut self.events),
            std::mem::take(&mut self.tools),
        );
        self.events = join_spans(events, tools);
    }

    pub(super) fn into_run(self) -> ForeignRun {
        self.run.with_events(self.events)
    }
}
