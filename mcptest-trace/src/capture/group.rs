//! Spans that belong together: those of an agent's span, or of a root span without any.

use std::time::{Duration, Instant, SystemTime};

use super::exchange::Exchange;
use super::span::CapturedSpan;
use crate::spans::{Meaning, SpanRole};

/// Spans that belong together, in the order in which they began.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) spans: Vec<CapturedSpan>,
    /// The name of the root span, where no agent's span is around the model calls.
    pub(super) root: Option<&'static str>,
    pub(super) started: SystemTime,
    began: Instant,
    /// A panic left the root span.
    pub(super) panicked: bool,
}

/// The model calls and the tools of one run, in the order in which they began.
#[derive(Debug)]
pub(super) struct RunSpans {
    /// What tells it from the other runs of its group, now and later.
    pub(super) key: usize,
    pub(super) calls: Vec<usize>,
    pub(super) tools: Vec<usize>,
}

impl Group {
    /// The group of an agent's span; with the name of a root span, of what is in that.
    pub(super) fn new(root: Option<&'static str>) -> Self {
        Self {
            spans: Vec::new(),
            root,
            started: SystemTime::now(),
            began: Instant::now(),
            panicked: false,
        }
    }

    pub(super) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// When a run began and ended, since the group did: with the agent's span, else with its own spans.
    pub(super) fn times(&self, run: &RunSpans) -> (Duration, Duration) {
        if let Some(agent) = self.agent() {
            return (agent.began, agent.ended.unwrap_or_else(|| self.now()));
        }
        let spans = || {
            run.calls
                .iter()
                .chain(&run.tools)
                .map(|span| &self.spans[*span])
        };
        let began = spans().map(|span| span.began).min();
        let ended = spans().filter_map(|span| span.ended).max();
        let began = began.unwrap_or_default();
        (began, ended.unwrap_or(began))
    }

    /// The agent's span, which is the first of its group.
    pub(super) fn agent(&self) -> Option<&CapturedSpan> {
        self.spans.first().filter(|_| self.root.is_none())
    }

    /// The spans around a span, the nearest first, without the agent's own.
    fn ancestors(&self, span: usize) -> impl Iterator<Item = usize> {
        let outside = |index: &usize| self.root.is_some() || *index > 0;
        let around = std::iter::successors(self.spans[span].parent, |at| self.spans[*at].parent);
        around.filter(outside)
    }

    /// The nearest tool or agent around a span: what runs in it is another agent's.
    pub(super) fn enclosing(&self, span: usize) -> Option<usize> {
        let mut around = self.ancestors(span);
        around.find(|at| {
            matches!(
                self.spans[*at].role(),
                Some(SpanRole::Tool | SpanRole::Agent)
            )
        })
    }

    /// The runs in the group. An agent's span is one. In a root span without any, each conversation is one: a
    /// model call goes on with a conversation if a model had answered in it, and begins one otherwise.
    pub(super) fn runs(&self) -> Vec<RunSpans> {
        let of_role = |role: SpanRole| {
            let spans = self.spans.iter().enumerate();
            let spans = spans.filter(move |(_, span)| span.role() == Some(role));
            spans.map(|(index, _)| index).collect::<Vec<_>>()
        };
        let is_read = |call: &usize| self.spans[*call].exchange.is_some();
        let (mut calls, tools) = (of_role(SpanRole::ModelCall), of_role(SpanRole::Tool));
        calls.retain(is_read);
        if self.root.is_none() {
            return vec![RunSpans {
                key: 0,
                calls,
                tools,
            }];
        }
        let mut runs: Vec<RunSpans> = Vec::new();
        for call in calls {
            let Some(exchange) = &self.spans[call].exchange else {
                continue;
            };
            let run = match self.outermost_tool(call) {
                Some(tool) => self.find_tool_run(&runs, tool),
                None => self.find_call_run(&runs, call, exchange),
            };
            match run {
                Some(run) => runs[run].calls.push(call),
                None => runs.push(RunSpans {
                    key: call,
                    calls: vec![call],
                    tools: Vec::new(),
                }),
            }
        }
        for tool in tools {
            let outermost = self.outermost_tool(tool).unwrap_or(tool);
            if let Some(run) = self.find_tool_run(&runs, outermost) {
                runs[run].tools.push(tool);
            }
        }
        runs
    }

    fn outermost_tool(&self, span: usize) -> Option<usize> {
        let around = self.ancestors(span);
        let tools = around.filter(|at| self.spans[*at].role() == Some(SpanRole::Tool));
        tools.last()
    }

    /// The run of which a tool is: whose model asked for it, else the one that was asked last before.
    fn find_tool_run(&self, runs: &[RunSpans], tool: usize) -> Option<usize> {
        let tool = &self.spans[tool];
        let id = tool.text(Meaning::CallId);
        let asked = |run: &RunSpans| {
            let calls = run.calls.iter().rev().map(|call| &self.spans[*call]);
            let mut before = calls.filter(|call| call.began <= tool.began);
            before.any(|call| id.is_some() && requests_tool(call, id))
        };
        let began = |run: &RunSpans| {
            let calls = run.calls.iter().map(|call| self.spans[*call].began);
            calls.filter(|began| *began <= tool.began).max()
        };
        let asking = runs.iter().rposition(asked);
        asking.or_else(|| {
            let runs = runs.iter().enumerate();
            let last = runs
                .filter_map(|(index, run)| Some((began(run)?, index)))
                .max();
            last.map(|(_, index)| index)
        })
    }

    /// Finds the run that a model call goes on with. A model call that was not answered may be sent again.
    fn find_call_run(&self, runs: &[RunSpans], call: usize, exchange: &Exchange) -> Option<usize> {
        let agent = self.spans[call].text(Meaning::AgentName);
        let opening = exchange.first_user_text();
        let is_it = |run: &RunSpans| {
            let first = run.calls.first().map(|first| &self.spans[*first]);
            let same = first.is_some_and(|first| {
                let known = first.exchange.as_ref().and_then(Exchange::first_user_text);
                first.text(Meaning::AgentName) == agent && known == opening
            });
            let mut calls = run
                .calls
                .iter()
                .filter_map(|it| self.spans[*it].exchange.as_ref());
            same && (exchange.continues_conversation() || calls.all(|known| known.output.is_none()))
        };
        runs.iter().rposition(is_it)
    }
}

fn requests_tool(call: &CapturedSpan, id: Option<&str>) -> bool {
    let mut calls = call.exchange.iter().flat_map(Exchange::calls);
    calls.any(
        |part| matches!(part, super::exchange::Part::Call { id: own, .. } if own.as_deref() == id),
    )
}
