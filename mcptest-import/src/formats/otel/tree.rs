//! The spans of a run, and what is around each: who the main agent is, and what was seen twice.

use std::collections::{HashMap, HashSet};

use mcptest_trace::spans::{self, Emitter, Meaning};

use super::span::OtelSpan;
use crate::nesting::{Nesting, Visit};

/// The spans of a run, in order, with what is known of their places.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) spans: Vec<OtelSpan>,
    nesting: Nesting,
    /// Tools in which an agent of rig ran, which has no span of its own there: by the tool's span, the agent's name.
    nested: HashMap<usize, String>,
}

impl Tree {
    pub(super) fn new(mut spans: Vec<OtelSpan>) -> Self {
        spans.sort_by(|left, right| left.sort_key().cmp(&right.sort_key()));
        // A span may be exported twice.
        let mut known = HashSet::new();
        spans.retain(|span| known.insert(span.id.clone()));
        let names = spans
            .iter()
            .map(|span| (span.id.as_str(), span.parent.as_deref()));
        let mut tree = Self {
            nesting: Nesting::from_pairs(names),
            spans,
            nested: HashMap::new(),
        };
        tree.nested = tree.within_tools();
        tree
    }

    fn within_tools(&self) -> HashMap<usize, String> {
        let tools = self.outermost(|tool| self.spans[tool].is_tool());
        let calls = || {
            let spans = self.spans.iter().zip(&tools);
            spans.filter(|(span, _)| span.is_model_call())
        };
        if calls().all(|(_, tool)| tool.is_some()) {
            return HashMap::new();
        }
        let named = calls().filter_map(|(call, tool)| {
            let is_of_rig = spans::find_emitter(call.marked()).emitter == Emitter::Rig;
            let name = call
                .attribute_text(Meaning::AgentName)
                .filter(|_| is_of_rig)?;
            Some(((*tool)?, name.to_owned()))
        });
        named.collect()
    }

    /// For each span, the outermost one of some kind around it.
    pub(super) fn outermost(&self, is_it: impl Fn(usize) -> bool) -> Vec<Option<usize>> {
        let down =
            |found: &Option<usize>, outer| found.or_else(|| Some(outer).filter(|it| is_it(*it)));
        self.nesting.inherit(None, down)
    }

    pub(super) fn nesting(&self) -> &Nesting {
        &self.nesting
    }

    /// The name of the agent of rig that ran in a tool without a span of its own.
    pub(super) fn nested_agent(&self, tool: usize) -> Option<&str> {
        self.nested.get(&tool).map(String::as_str)
    }

    /// Whether each span runs in a tool. Where every model call does, the tool is what started the run.
    pub(super) fn in_tools(&self) -> Vec<bool> {
        let tools = self.outermost(|tool| self.spans[tool].is_tool());
        let calls = self.spans.iter().zip(&tools);
        let is_outside = calls
            .filter(|(span, _)| span.is_model_call())
            .any(|(_, tool)| tool.is_none());
        tools
            .iter()
            .map(|tool| is_outside && tool.is_some())
            .collect()
    }

    /// Whether each span is around one of some kind.
    pub(super) fn around_any(&self, is_it: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut around = vec![false; self.spans.len()];
        let (mut met, mut before) = (0, Vec::new());
        for visit in self.nesting.visits() {
            match *visit {
                Visit::Enter(place) => {
                    met += usize::from(is_it(place));
                    before.push(met);
                }
                Visit::Leave(place) => {
                    around[place] = before.pop().is_some_and(|before| met > before);
                }
            }
        }
        around
    }

    /// The main agent: the outermost one that calls a model itself, and works in no tool of the run.
    pub(super) fn main(&self) -> Option<&str> {
        let depths = self.nesting.inherit(0, |depth: &usize, _| depth + 1);
        let mut agents: Vec<(usize, &str)> = Vec::new();
        let in_tools = self.in_tools();
        for ((span, depth), in_tool) in self.spans.iter().zip(depths).zip(in_tools) {
            let name = span.invoked_agent().filter(|_| !in_tool);
            agents.extend(name.map(|name| (depth, name)));
        }
        // Spans of one depth stay in the order of their times.
        agents.sort_by_key(|(depth, _)| *depth);
        let calling = self.calling_agents();
        let names = || agents.iter().map(|(_, name)| *name);
        let found = names().find(|name| calling.contains(&Some(*name)) || calling.contains(&None));
        found.or(names().next())
    }

    /// The agents that call a model themselves: those nearest around a model call, if nothing but the agent is within the
    /// outermost span of its name. A model call without an agent around it may be any agent's.
    fn calling_agents(&self) -> HashSet<Option<&str>> {
        let within_tools = self.outermost(|tool| self.nested.contains_key(&tool));
        let mut calling = HashSet::new();
        // The agents around, each with whether all within the outermost span of its name have this name.
        let mut around: Vec<(&str, bool)> = Vec::new();
        let mut times: HashMap<&str, usize> = HashMap::new();
        for visit in self.nesting.visits() {
            match *visit {
                Visit::Enter(place) => {
                    let span = &self.spans[place];
                    let nearest = around.last().copied();
                    if span.is_model_call() && within_tools[place].is_none() {
                        match nearest {
                            None => _ = calling.insert(None),
                            Some((name, true)) => _ = calling.insert(Some(name)),
                            Some((_, false)) => {}
                        }
                    }
                    if let Some(name) = span.invoked_agent() {
                        let count = times.entry(name).or_default();
                        *count += 1;
                        let goes_on =
                            nearest.is_some_and(|(outer, is_alone)| outer == name && is_alone);
                        around.push((name, goes_on || *count == 1));
                    }
                }
                Visit::Leave(place) => {
                    if let Some(name) = self.spans[place].invoked_agent() {
                        around.pop();
                        if let Some(count) = times.get_mut(name) {
                            *count -= 1;
                        }
                    }
                }
            }
        }
        calling
    }

    /// Model calls within which another instrumentation saw the same call.
    pub(super) fn duplicate_model_calls(&self) -> Vec<bool> {
        let is_call: Vec<bool> = self.spans.iter().map(OtelSpan::is_model_call).collect();
        let around = self.around_any(|place| is_call[place]);
        let both = is_call.iter().zip(around);
        both.map(|(is_call, around)| *is_call && around).collect()
    }

    /// For each tool, the call that it shows from another side: the MCP call inside of a tool, or the server's view of
    /// it. It is the outermost tool around it that has its name.
    pub(super) fn same_calls(&self) -> Vec<Option<&OtelSpan>> {
        let mut same = vec![None; self.spans.len()];
        let mut outermost: HashMap<Option<&str>, usize> = HashMap::new();
        for visit in self.nesting.visits() {
            let (Visit::Enter(place) | Visit::Leave(place)) = *visit;
            let span = &self.spans[place];
            if !span.is_tool() {
                continue;
            }
            let name = span.tool_name();
            if *visit == Visit::Enter(place) {
                let outer = *outermost.entry(name).or_insert(place);
                same[place] = Some(&self.spans[outer]).filter(|_| outer != place);
            } else if outermost.get(&name) == Some(&place) {
                outermost.remove(&name);
            }
        }
        same
    }
}

#[cfg(test)]
mod tests;
