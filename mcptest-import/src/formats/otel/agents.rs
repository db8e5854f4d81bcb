//! Which agent each span is of: the main one, or one of its sub-agents.

use std::collections::{HashMap, HashSet};

use super::span::OtelSpan;
use super::tree::Tree;

/// An agent that works for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SubAgent<'t> {
    /// The place of its span, or of the tool's in which it ran.
    pub(super) place: usize,
    pub(super) id: &'t str,
    pub(super) name: Option<&'t str>,
}

/// The agents of a run.
///
/// A span of an agent without a name may be a part of the agent around it. It is a sub-agent if it runs within a tool,
/// or within an agent that calls models beside it.
#[derive(Debug)]
pub(super) struct Agents<'t> {
    tree: &'t Tree,
    main: Option<&'t str>,
    /// Spans of other agents that went on with the main one's talk.
    joined: HashSet<usize>,
    /// Whether each span runs in a tool of the run.
    in_tool: Vec<bool>,
    /// Whether each span is of an agent of its own.
    is_own: Vec<bool>,
    /// The place of the sub-agent that each span is of.
    of: Vec<Option<usize>>,
    /// The first model call of each sub-agent.
    first_calls: HashMap<usize, usize>,
}

/// The agents around a span, as far as they tell whose it is.
#[derive(Debug, Clone, Copy, Default)]
struct EnclosingAgents {
    /// The outermost one that is not the main one, and the outermost one within the main one.
    first: Option<usize>,
    within: Option<usize>,
    has_main: bool,
}

impl<'t> Agents<'t> {
    pub(super) fn new(tree: &'t Tree) -> Self {
        Self::with_main(tree, tree.main())
    }

    pub(super) fn with_main(tree: &'t Tree, main: Option<&'t str>) -> Self {
        let in_tool = tree.in_tools();
        let mut agents = Self {
            is_own: own_agent_flags(tree, &in_tool),
            tree,
            main,
            joined: HashSet::new(),
            in_tool,
            of: Vec::new(),
            first_calls: HashMap::new(),
        };
        agents.assign_subagents();
        agents
    }

    /// The name of the main agent.
    pub(super) fn main(&self) -> Option<&'t str> {
        self.main
    }

    /// The sub-agent that a span is of.
    pub(super) fn subagent(&self, place: usize) -> Option<SubAgent<'t>> {
        let place = self.of[place]?;
        let span = &self.tree.spans[place];
        let name = match self.tree.nested_agent(place) {
            Some(name) if !span.is_agent() => Some(name),
            _ => span.display_name(),
        };
        Some(SubAgent {
            place,
            id: &span.id,
            name,
        })
    }

    /// The first model call of a sub-agent.
    pub(super) fn first_call(&self, agent: SubAgent<'_>) -> Option<&'t OtelSpan> {
        let call = self.first_calls.get(&agent.place)?;
        Some(&self.tree.spans[*call])
    }

    pub(super) fn is_nameless(&self, agent: SubAgent<'_>) -> bool {
        self.tree.spans[agent.place].invoked_agent().is_none()
    }

    pub(super) fn is_in_tool(&self, agent: SubAgent<'_>) -> bool {
        self.in_tool[agent.place] || !self.tree.spans[agent.place].is_agent()
    }

    /// An agent took over from the main one: it is the main one.
    pub(super) fn merge_into_main(&mut self, agent: SubAgent<'_>) {
        self.joined.insert(agent.place);
        self.assign_subagents();
    }

    fn is_main(&self, place: usize) -> bool {
        let name = self.tree.spans[place].invoked_agent();
        name.is_some() && name == self.main || self.joined.contains(&place)
    }

    /// Works out the sub-agent that each span is of: the outermost agent around it within the main one, or that of a tool
    /// around it. Outside the main one, an agent around the main one is none.
    fn assign_subagents(&mut self) {
        let spans = &self.tree.spans;
        let holds_main = self.tree.around_any(|place| self.is_main(place));
        let nesting = self.tree.nesting();
        let around = nesting.inherit(EnclosingAgents::default(), |around, outer| {
            if !self.is_own[outer] {
                return *around;
            }
            let is_main = self.is_main(outer);
            let found = Some(outer).filter(|_| !is_main);
            EnclosingAgents {
                first: around.first.or(found.filter(|_| !holds_main[outer])),
                within: around.within.or(found.filter(|_| around.has_main)),
                has_main: around.has_main || is_main,
            }
        });
        let tools = (self.tree).outermost(|tool| self.tree.nested_agent(tool).is_some());
        let of = around.into_iter().zip(tools).map(|(around, tool)| {
            let agent = if around.has_main {
                around.within
            } else {
                around.first
            };
            agent.or(tool)
        });
        self.of = of.collect();
        self.first_calls.clear();
        for (place, (span, agent)) in spans.iter().zip(&self.of).enumerate() {
            if let Some(agent) = agent.filter(|_| span.is_model_call()) {
                self.first_calls.entry(agent).or_insert(place);
            }
        }
    }
}

/// Whether each span is of an agent of its own: of one with a name, or of one that works for the agent around it.
fn own_agent_flags(tree: &Tree, in_tool: &[bool]) -> Vec<bool> {
    let is_agent: Vec<bool> = tree.spans.iter().map(OtelSpan::is_agent).collect();
    let nearest = tree.nesting().inherit(None, |nearest, outer| {
        is_agent[outer].then_some(outer).or(*nearest)
    });
    let calls = tree.spans.iter().zip(&nearest);
    let calling = calls.filter_map(|(span, agent)| agent.filter(|_| span.is_model_call()));
    let calling: HashSet<usize> = calling.collect();
    let own = tree.spans.iter().enumerate().map(|(place, span)| {
        let works_for = || nearest[place].is_some_and(|outer| calling.contains(&outer));
        is_agent[place] && (span.invoked_agent().is_some() || in_tool[place] || works_for())
    });
    own.collect()
}
