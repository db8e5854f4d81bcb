//! The spans of one run, put into the order in which things happened.

use std::collections::{HashMap, HashSet};

use super::captured_run::{CapturedRun, milliseconds};
use super::conversation::Conversation;
use super::exchange::{Exchange, Message, Part, arguments};
use super::group::{Group, RunSpans};
use super::span::CapturedSpan;
use crate::spans::{self, Meaning, RunEnd};

/// The result of reading a run from its spans.
#[derive(Debug)]
pub(super) enum RunReading {
    /// A run that can be written down.
    Run(Box<CapturedRun>),
    /// Why it cannot be written, said once.
    Unwritable(String),
    /// Nothing was answered yet.
    Nothing,
}

/// An event of a run.
enum Event {
    Request(usize),
    Response(usize),
    /// A tool runs that no model asked for.
    ToolRun(usize),
}

/// Reads a run from its spans, event by event.
struct RunReader<'g> {
    group: &'g Group,
    /// The name by which the model calls of the run's own agent go.
    own_name: Option<String>,
    conversations: Vec<Conversation>,
    /// The tool that ran for a call: by the model call, and the call's place in its answer.
    tools: HashMap<(usize, usize), usize>,
    written: CapturedRun,
    /// Earlier messages of the conversation, which are no part of the run.
    earlier: usize,
}

/// Reads a run; `ended` says whether its root span has closed.
pub(super) fn read(group: &Group, run: &RunSpans, ended: bool) -> RunReading {
    let exchange = |call: &usize| group.spans[*call].exchange.as_ref();
    let exchanges = || run.calls.iter().filter_map(exchange);
    if exchanges().next().is_none() {
        return RunReading::Nothing;
    }
    if exchanges().all(|exchange| exchange.input.is_none()) {
        return RunReading::Unwritable(missing_content_reason(group, run));
    }
    let own = run
        .calls
        .iter()
        .filter(|call| group.enclosing(**call).is_none());
    let own: Vec<&CapturedSpan> = own.map(|call| &group.spans[*call]).collect();
    let first = own.first().copied().unwrap_or(&group.spans[run.calls[0]]);
    let agents = own.iter().filter_map(|call| call.text(Meaning::AgentName));
    let of_span = group
        .agent()
        .and_then(|agent| agent.text(Meaning::AgentName));
    let named = agents.clone().find(|name| Some(*name) == of_span);
    let own_name = named.or(agents.clone().next()).map(str::to_owned);
    let asked = own.iter().find_map(|call| call.text(Meaning::AskedModel));
    let answered = own
        .iter()
        .find_map(|call| call.text(Meaning::AnsweringModel));
    let Some(model) = asked.or(answered) else {
        return RunReading::Unwritable(
            "a run is not written: its spans name no model (`gen_ai.request.model`)".to_owned(),
        );
    };
    let agent = of_span.or(own_name.as_deref()).or(group.root);
    let (began, ended_at) = group.times(run);
    let written = CapturedRun::new(
        agent.unwrap_or(first.name),
        model,
        group.started + began,
        ended_at.saturating_sub(began),
    );
    let mut reading = RunReader {
        group,
        own_name,
        conversations: Vec::new(),
        tools: HashMap::new(),
        written,
        earlier: 0,
    };
    reading.written.set_emitter(first.emitter());
    let unasked = reading.match_tools(run);
    reading.read_settings(&own);
    let mut moments = Vec::new();
    for call in &run.calls {
        let span = &group.spans[*call];
        moments.push((span.began, Event::Request(*call)));
        moments.push((span.ended.unwrap_or(span.began), Event::Response(*call)));
    }
    moments.extend(
        unasked
            .into_iter()
            .map(|tool| (group.spans[tool].began, Event::ToolRun(tool))),
    );
    moments.sort_by_key(|(at, _)| *at);
    for (_, next) in moments {
        match next {
            Event::Request(call) => reading.handle_request(call),
            Event::Response(call) => reading.handle_response(call),
            Event::ToolRun(tool) => reading.handle_tool_run(tool),
        }
    }
    if reading.earlier > 0 {
        let earlier = crate::text::pluralize(reading.earlier, "earlier message");
        reading.written.add_note(format!(
            "{earlier} of the conversation left out: they are no part of this run"
        ));
    }
    if !reading.written.has_prompt() {
        return RunReading::Nothing;
    }
    let end = reading.run_end(own.last().copied(), ended);
    reading.written.set_end(end);
    RunReading::Run(Box::new(reading.written))
}

fn missing_content_reason(group: &Group, run: &RunSpans) -> String {
    let emitter = group.spans[run.calls[0]].emitter();
    format!(
        "runs over {} are not written: their spans do not have the texts of messages; switch the texts on: {}",
        emitter.name, emitter.switch
    )
}

impl RunReader<'_> {
    /// Finds the span of each call that a model made. Returns those that nobody asked for.
    fn match_tools(&mut self, run: &RunSpans) -> Vec<usize> {
        let spans = &self.group.spans;
        let mut taken = HashSet::new();
        let mut answers = run.calls.clone();
        answers.sort_by_key(|call| spans[*call].ended);
        for by_id in [true, false] {
            for call in &answers {
                let made = spans[*call].exchange.iter().flat_map(Exchange::calls);
                for (place, part) in made.enumerate() {
                    let Part::Call { id, name, args } = part else {
                        continue;
                    };
                    if self.tools.contains_key(&(*call, place)) {
                        continue;
                    }
                    let is_it = |tool: &&usize| {
                        let span = &spans[**tool];
                        let own = span.text(Meaning::CallId);
                        let same = if by_id {
                            own.is_some() && own == id.as_deref()
                        } else {
                            let shown = span.attribute(Meaning::Arguments).map(arguments);
                            (own.is_none() || id.is_none())
                                && span.tool() == Some(name)
                                && shown.is_none_or(|shown| shown == *args)
                        };
                        same && span.began >= spans[*call].began && !taken.contains(*tool)
                    };
                    if let Some(tool) = run.tools.iter().find(is_it) {
                        taken.insert(*tool);
                        self.tools.insert((*call, place), *tool);
                    }
                }
            }
        }
        let rest = run.tools.iter().filter(|tool| !taken.contains(*tool));
        rest.filter(|tool| spans[**tool].tool().is_some())
            .copied()
            .collect()
    }

    /// Reads the settings of the run from its model calls: the system prompt, the parameters and the tools.
    fn read_settings(&mut self, own: &[&CapturedSpan]) {
        let exchanges = || own.iter().filter_map(|call| call.exchange.as_ref());
        let system = exchanges().find_map(|exchange| exchange.system.clone());
        self.written.system_prompt = system;
        let number = |meaning| {
            own.iter()
                .find_map(|call| call.attribute(meaning)?.as_number())
        };
        self.written.temperature = number(Meaning::Temperature).cloned();
        self.written.max_tokens = own.iter().find_map(|call| call.count(Meaning::MaxTokens));
        self.written.tools = own.iter().find_map(|call| {
            let told = call.attribute(Meaning::OfferedTools)?;
            let told = serde_json::from_str(told.as_str()?).unwrap_or_else(|_| told.clone());
            let names = told.as_array()?.iter().map(|tool| {
                let function = tool.get("function").unwrap_or(tool);
                Some(function.get("name")?.as_str()?.to_owned())
            });
            names.collect()
        });
    }

    /// The conversation of a model call or of a tool.
    fn conversation(&mut self, span: usize, name: Option<&str>) -> usize {
        let within = self.group.enclosing(span);
        let is_own = within.is_none() && (name.is_none() || name == self.own_name.as_deref());
        let name = name.filter(|_| !is_own);
        let mut conversations = self.conversations.iter();
        let known = conversations.position(|it| it.within == within && it.name.as_deref() == name);
        known.unwrap_or_else(|| {
            let agent = (!is_own).then(|| self.subagent_name(within, name));
            let name = name.map(str::to_owned);
            self.conversations
                .push(Conversation::new(within, name, agent));
            self.conversations.len() - 1
        })
    }

    /// The name of a nested agent: its own, else that of the agent's span or of the tool around it.
    fn subagent_name(&self, within: Option<usize>, name: Option<&str>) -> String {
        let around = within.map(|at| &self.group.spans[at]);
        let of_span = around.and_then(|span| span.text(Meaning::AgentName).or(span.tool()));
        let own = self.own_name.as_deref();
        // Agents that nobody named have one name in some libraries.
        let name = name.filter(|name| Some(*name) != own || of_span.is_none());
        name.or(of_span).unwrap_or("agent").to_owned()
    }

    fn handle_request(&mut self, call: usize) {
        let Some(exchange) = &self.group.spans[call].exchange else {
            return;
        };
        let at = self.conversation(call, self.group.spans[call].text(Meaning::AgentName));
        let is_own = self.conversations[at].agent.is_none();
        let new = self.conversations[at].add_request(exchange);
        let mut new = new.into_iter();
        let mut messages: Vec<(&Message, Vec<&Part>)> = Vec::new();
        for message in exchange.input.iter().flatten() {
            let parts = message.parts.iter().filter(|_| new.next() == Some(true));
            messages.push((message, parts.collect()));
        }
        let is_text = |part: &&Part| matches!(part, Part::Text(text) if !text.is_empty());
        if is_own && !self.written.has_prompt() {
            // What was said before the last thing that the user says belongs to earlier runs.
            let asks = |(message, parts): &(&Message, Vec<&Part>)| {
                message.is_of_user() && parts.iter().any(is_text)
            };
            let begin = messages.iter().rposition(asks).unwrap_or(0);
            self.earlier += messages.drain(..begin).count();
        }
        for (message, parts) in messages {
            let mut said = String::new();
            for part in parts {
                match part {
                    Part::Text(text) => said.push_str(text),
                    Part::Result { id, value } => {
                        if let Some(call) = self.conversations[at].close_call(id.as_deref()) {
                            self.written.add_result(call, value.clone());
                        }
                    }
                    Part::Call { .. } => {}
                }
            }
            if is_own && message.is_of_user() && !said.is_empty() {
                self.add_user_text(&said);
            }
        }
    }

    /// Adds what the user said. The prompt is the task of the agent's span, where it has one.
    fn add_user_text(&mut self, said: &str) {
        let task = self
            .group
            .agent()
            .and_then(|agent| agent.text(Meaning::Task));
        let task = task.filter(|_| !self.written.has_prompt());
        self.written.add_user_text(task.unwrap_or(said));
    }

    fn handle_response(&mut self, call: usize) {
        let span = &self.group.spans[call];
        let Some(exchange) = &span.exchange else {
            return;
        };
        let at = self.conversation(call, span.text(Meaning::AgentName));
        let agent = self.conversations[at].agent.clone();
        let tokens = crate::trace::StepTokens {
            prompt: span.count(Meaning::PromptTokens),
            completion: span.count(Meaning::CompletionTokens),
            cached: span.count(Meaning::CachedTokens),
            reasoning: span.count(Meaning::ReasoningTokens),
            duration_ms: span
                .ended
                .map(|ended| milliseconds(ended.saturating_sub(span.began))),
            stated_total: None,
        };
        // A call that brought nothing and took nothing was an attempt.
        if exchange.output.is_none() && tokens.prompt.is_none() && tokens.completion.is_none() {
            return;
        }
        self.written
            .add_step(tokens, span.text(Meaning::AnsweringModel), agent.is_some());
        self.conversations[at].add_response(exchange);
        let mut place = 0;
        for part in exchange.output.iter().flat_map(|message| &message.parts) {
            match part {
                Part::Text(text) if agent.is_none() && !text.is_empty() => {
                    self.written.add_agent_text(text);
                }
                Part::Call { name, args, .. } => {
                    let made = self
                        .written
                        .add_call(name, args.clone(), agent.as_deref(), true);
                    self.conversations[at].add_call(part, made);
                    if let Some(tool) = self.tools.get(&(call, place)).copied() {
                        self.written.add_tool_span(made, &self.group.spans[tool]);
                    }
                    place += 1;
                }
                _ => {}
            }
        }
    }

    /// Adds a call for a tool that ran although no model asked for it.
    fn handle_tool_run(&mut self, tool: usize) {
        let at = self.conversation(tool, None);
        let agent = self.conversations[at].agent.clone();
        let span = &self.group.spans[tool];
        let args = span
            .attribute(Meaning::Arguments)
            .map_or_else(|| serde_json::json!({}), arguments);
        let name = span.tool().unwrap_or_default();
        let made = self.written.add_call(name, args, agent.as_deref(), false);
        self.written.add_tool_span(made, span);
    }

    /// How the run ended, as far as its spans say it.
    fn run_end(&self, last: Option<&CapturedSpan>, ended: bool) -> RunEnd {
        let agent = self.group.agent();
        if self.group.panicked || agent.is_some_and(CapturedSpan::failed) {
            return RunEnd::with_reason("error");
        }
        let last_said = last.and_then(|last| last.exchange.as_ref());
        // Of a root span that is no agent's, the last answer is all that tells.
        let is_over = ended
            || self.group.root.is_some()
                && last_said.is_some_and(|said| said.calls().next().is_none());
        // What is written before the end is what is left of a process that is killed.
        let Some(exchange) = last_said.filter(|_| is_over) else {
            return RunEnd::with_reason("interrupted");
        };
        if last.is_some_and(CapturedSpan::failed) {
            return RunEnd::with_reason("error");
        }
        if exchange.output.is_none() {
            return RunEnd::with_reason("interrupted");
        }
        let told = last.and_then(|last| last.attribute(Meaning::FinishReason));
        let told = told.and_then(|told| {
            let listed = serde_json::from_str::<Vec<String>>(told.as_str()?).ok();
            listed.map_or_else(
                || told.as_str().map(str::to_owned),
                |all| all.into_iter().next(),
            )
        });
        // Who does not know it says so.
        let told = told.or_else(|| exchange.finish.clone());
        let told = told.filter(|word| !word.eq_ignore_ascii_case("unknown"));
        if let Some(word) = told {
            return spans::parse_end(&word);
        }
        let is_closed = agent.is_some_and(|agent| agent.text(Meaning::Closing).is_some());
        if is_closed && exchange.calls().next().is_none() {
            return RunEnd::with_reason("completed");
        }
        RunEnd::default()
    }
}
