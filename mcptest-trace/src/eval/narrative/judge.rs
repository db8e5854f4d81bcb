//! What claims are judged by.

use std::collections::{BTreeMap, BTreeSet};

use super::call::Ending;
use super::calls::Calls;
use super::tools::{Tool, ToolBox};

/// What claims are judged by.
pub(super) struct Judge<'t> {
    pub(super) calls: &'t Calls<'t>,
    pub(super) tools: &'t ToolBox<'t>,
    /// The successful writes of the run.
    pub(super) writes: BTreeMap<&'t str, &'t Tool<'t>>,
    /// The writes with a general name.
    pub(super) vague: BTreeSet<&'t str>,
}

impl<'t> Judge<'t> {
    pub(super) fn new(calls: &'t Calls<'t>, tools: &'t ToolBox<'t>) -> Self {
        let vague = tools.all_writes().filter(|(_, tool)| tool.vague);
        let writes: BTreeMap<_, _> = calls.writing_tools().collect();
        Self {
            calls,
            tools,
            writes,
            vague: vague.map(|(name, _)| name).collect(),
        }
    }

    /// Whether a call of a tool ended so.
    pub(super) fn ended(&self, tool: &str, ending: Ending) -> bool {
        let mut calls = self.calls.of_tool(tool).iter();
        calls.any(|call| self.calls.all[*call].ending == ending)
    }

    /// Whether every call of a tool failed.
    pub(super) fn in_vain(&self, tool: &str) -> bool {
        self.ended(tool, Ending::Failed) && !self.ended(tool, Ending::Succeeded)
    }
}
