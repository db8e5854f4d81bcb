//! The talks of a run: the main agent's, and those of the agents that work for it.

use std::collections::HashMap;

use super::agents::{Agents, SubAgent};
use super::conversation::OtelConversation;
use super::messages;
use super::span::{Log, OtelSpan};
use super::tree::Tree;
use crate::event::ForeignRun;
use crate::subagent_calls::{Invoked, merge_subagent_calls};

/// The conversations of all agents of a run.
pub(super) struct OtelConversations<'t> {
    agents: Agents<'t>,
    logs: HashMap<&'t str, Vec<&'t Log>>,
    pub(super) main: OtelConversation,
    subagents: Vec<(SubAgent<'t>, OtelConversation)>,
    /// Where the talk of each sub-agent stands among them, by the agent's place.
    places: HashMap<usize, usize>,
}

impl<'t> OtelConversations<'t> {
    pub(super) fn new(tree: &'t Tree, logs: &'t [Log]) -> Self {
        let mut of_span: HashMap<&str, Vec<&Log>> = HashMap::new();
        for log in logs {
            of_span.entry(log.span.as_str()).or_default().push(log);
        }
        Self {
            agents: Agents::new(tree),
            logs: of_span,
            main: OtelConversation::default(),
            subagents: Vec::new(),
            places: HashMap::new(),
        }
    }

    /// The log records beside a span.
    fn logs_beside(&self, span: &OtelSpan) -> Vec<&'t Log> {
        self.logs.get(span.id.as_str()).cloned().unwrap_or_default()
    }

    /// Takes in a span, and the call that it shows from another side, if it does.
    pub(super) fn add_span(&mut self, place: usize, span: &OtelSpan, same: Option<&OtelSpan>) {
        let logs = self.logs_beside(span);
        let into = self.conversation_mut(place);
        if span.is_model_call() {
            into.add_model_call(span, &logs);
        } else if span.is_tool() {
            match same {
                Some(outer) => into.merge_tool_view(span, outer),
                None => into.add_tool(span),
            }
        }
    }

    /// Verdicts beside a span, for the outcome.
    pub(super) fn add_outcomes(&mut self, span: &OtelSpan) {
        let logs = self.logs_beside(span).into_iter();
        self.main.add_outcomes(span.events.iter().chain(logs));
    }

    /// The talk that a span is of.
    fn conversation_mut(&mut self, place: usize) -> &mut OtelConversation {
        while let Some(agent) = self.agents.subagent(place) {
            if let Some(known) = self.places.get(&agent.place) {
                return &mut self.subagents[*known].1;
            }
            if !self.takes_over(agent) {
                self.begin_subagent(agent);
                continue;
            }
            self.agents.merge_into_main(agent);
        }
        &mut self.main
    }

    /// Whether an agent takes over from the main one: it goes on with the same talk, or the talk was handed to it. What
    /// runs in a tool works for the main one, whatever it is told.
    fn takes_over(&mut self, agent: SubAgent<'_>) -> bool {
        if self.agents.is_in_tool(agent) {
            return false;
        }
        let begins = self.agents.is_nameless(agent) && !self.main.has_begun();
        if begins || self.continues_main(agent) {
            return true;
        }
        let is_handed = agent.name.is_some_and(|name| self.main.is_handed_to(name));
        if is_handed {
            self.main.hand_over();
        }
        is_handed
    }

    /// Whether an agent was sent what the main one called or said last.
    fn continues_main(&self, agent: SubAgent<'_>) -> bool {
        self.agents.first_call(agent).is_some_and(|call| {
            let sent = messages::from_span(call, &self.logs_beside(call)).input;
            self.main.is_continued_by(&sent)
        })
    }

    /// Begins the talk of a sub-agent.
    fn begin_subagent(&mut self, agent: SubAgent<'t>) {
        let mut talk = if self.continues_main(agent) {
            self.main.for_subagent()
        } else {
            OtelConversation::default()
        };
        talk.run.id = Some(agent.id.to_owned());
        talk.run.agent = agent.name.map(str::to_owned);
        self.places.insert(agent.place, self.subagents.len());
        self.subagents.push((agent, talk));
    }

    /// The main agent's name, and its run, with those of its sub-agents.
    pub(super) fn into_run(mut self) -> (Option<&'t str>, ForeignRun) {
        self.main.finish();
        for (_, talk) in &mut self.subagents {
            talk.finish();
        }
        let invoked = self.subagents.iter().map(|(agent, talk)| Invoked {
            id: agent.id,
            name: agent.name.unwrap_or(agent.id),
            events: &talk.events,
        });
        merge_subagent_calls(&mut self.main.events, invoked);
        let mut run = self.main.into_run();
        let subagents = self.subagents.into_iter();
        run.subagents = subagents.map(|(_, talk)| talk.into_run()).collect();
        (self.agents.main(), run)
    }
}
