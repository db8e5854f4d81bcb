//! `agent: NAME` of a gate: it judges the calls of one sub-agent alone.

use mcptest_suite::model::GateKind;
use mcptest_suite::{Diagnostic, Spanned, escape_line, nearest, quoted_list};

use super::block::Block;
use super::expectation::{Breach, Cause};
use super::table::{AGENT, judging_calls};
use super::{name_runs, run_places};
use crate::render::Finding;
use crate::trace::Run;

/// The sub-agent whose calls a gate judges.
#[derive(Debug)]
pub(super) struct SubAgent(Spanned<String>);

impl SubAgent {
    /// Reads the key; a gate that judges more than calls has none.
    pub(super) fn read(kind: GateKind, block: &mut Block<'_, '_>) -> Option<Self> {
        let takes = judging_calls().any(|judging| judging == kind);
        if !takes && !block.has_name(AGENT) {
            return None;
        }
        let node = block.get(AGENT)?;
        if takes {
            return block.problems.non_blank_text(node).map(Self);
        }
        let message = format!(
            "{} judges more than calls, so it cannot have `agent`",
            kind.quoted()
        );
        let all = quoted_list(judging_calls().map(GateKind::name));
        let help = format!("remove `agent`; only gates that judge calls can have it: {all}");
        let problem = Diagnostic::at(node.span, message).help(help);
        block.problems.push(problem);
        None
    }

    /// The runs with its calls alone.
    pub(super) fn narrow(&self, runs: &[Run]) -> Vec<Run> {
        let runs = runs.iter();
        runs.map(|run| run.for_sub_agent(&self.0.value)).collect()
    }

    /// What to know of the verdict: which runs have no call of it.
    pub(super) fn note(&self, runs: &[Run]) -> Option<String> {
        let idle = run_places(runs, |run| !self.is_called_in(run));
        let name = escape_line(&self.0.value);
        let said = format!("the sub-agent `{name}` made no call, so nothing was judged, in");
        (!idle.is_empty() && idle.len() < runs.len()).then(|| name_runs(&said, runs, &idle))
    }

    /// The finding that no run has a call of the sub-agent.
    pub(super) fn missing_finding(&self, kind: GateKind, runs: &[Run]) -> Option<Finding> {
        let message = format!("{} does not hold: {}", kind.quoted(), self.unknown(runs)?);
        let problem = Diagnostic::at(self.0.span, message);
        let known = known_sub_agents(runs);
        let names = known.iter().map(String::as_str);
        Some(Finding::new(match nearest(&self.0.value, names.clone()) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None if known.is_empty() => {
                problem.help("remove `agent`: these recordings name no sub-agent")
            }
            None => problem.help(format!("name one of them: {}", quoted_list(names))),
        }))
    }

    /// What a run breaks where no run has a call of the sub-agent.
    pub(super) fn missing_breach(&self, runs: &[Run]) -> Option<Breach> {
        let unknown = self.unknown(runs)?;
        Some(Breach::new(Cause::Gate(unknown), "none"))
    }

    fn unknown(&self, runs: &[Run]) -> Option<String> {
        let name = escape_line(&self.0.value);
        let known = known_sub_agents(runs);
        let which = match known.as_slice() {
            [] => "no call names a sub-agent (`agent_id`)".to_owned(),
            known => format!(
                "the runs have {}",
                quoted_list(known.iter().map(String::as_str))
            ),
        };
        let called = runs.iter().any(|run| self.is_called_in(run));
        (!called).then(|| format!("no run has a call of the sub-agent `{name}`; {which}"))
    }

    /// Whether a run has a call of it.
    pub(super) fn is_called_in(&self, run: &Run) -> bool {
        let mut calls = run.trace.tool_calls.iter();
        calls.any(|call| call.agent_id.as_deref() == Some(self.0.value.as_str()))
    }
}

/// The sub-agents of the runs, by name.
fn known_sub_agents(runs: &[Run]) -> Vec<String> {
    let all = runs.iter().flat_map(|run| run.trace.sub_agents());
    let mut all: Vec<String> = all.map(|name| escape_line(name).into_owned()).collect();
    all.sort_unstable();
    all.dedup();
    all
}
