//! The tools of an import: which there are, which of them only read, and who says so.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use mcptest::eval::KnownTools;
use mcptest::trace::{OfferedTool, ReadOnlyTools, Run};
use mcptest_trace::text::escape_line;
use mcptest_trace::trace::reads_by_name;
use serde_json::{Value, json};

use super::text::yaml_list;
use crate::import::plan::ImportPlan;

/// The most names that the list of tools stands for where it is written once: a loader repeats only so
/// much through aliases.
pub(super) const MOST_ALIASED: usize = 50_000;

/// The most tools that are listed.
pub(super) const MOST_TOOLS: usize = 500;

/// The most tools of an import that all its agents are taken to have.
pub(super) const MOST_BESIDE: usize = 50;

/// Tools of Claude Code that change nothing but the agent's own notes, though their names do not say so.
const OF_CLAUDE_CODE: [&str; 14] = [
    "AskUserQuestion",
    "BashOutput",
    "EnterPlanMode",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "LS",
    "NotebookRead",
    "TaskOutput",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
];

/// The most names that are shown on a line.
const SHOWN: usize = 20;

/// What the list of tools is called in a suite.
const ANCHOR: &str = "tools";

/// The tools that any run of an import calls: what its agents have, as far as is seen.
#[derive(Debug, Default)]
pub(in crate::import) struct CalledTools {
    pub(super) names: Vec<String>,
    /// How the list is written in a gate.
    pub(super) written: String,
    /// Whether tools only read, where a recording says so.
    hints: HashMap<Rc<str>, bool>,
}

/// The line that other lines take the list of tools from.
fn anchor_list(list: &str) -> String {
    format!("x-{ANCHOR}: &{ANCHOR} {list}")
}

/// Whether a tool only reads, by its name.
fn is_read_only_name(name: &str) -> bool {
    OF_CLAUDE_CODE.contains(&name) || reads_by_name(name)
}

impl CalledTools {
    /// A suite says them once; entries that are put into one name its list, if it has all of them.
    pub(in crate::import) fn new(plan: &ImportPlan, suite: Option<&str>) -> Self {
        let hints = plan.hints.clone();
        if plan.tools.len() > MOST_TOOLS {
            return Self {
                hints,
                ..Self::default()
            };
        }
        let mut names: Vec<String> = plan.tools.iter().map(|name| (**name).to_owned()).collect();
        let of_suite = suite.map(|suite| {
            let lists = suite
                .lines()
                .filter_map(|line| line.strip_prefix(&anchor_list("")));
            let mut lists = lists.filter_map(|list| serde_json::from_str::<Vec<String>>(list).ok());
            lists.find(|list| names.iter().all(|name| list.contains(name)))
        });
        let in_suite = of_suite.as_ref().is_none_or(Option::is_some);
        names = of_suite.flatten().unwrap_or(names);
        let once = plan.groups.len() * names.len() <= MOST_ALIASED;
        let written = if in_suite && once {
            format!("*{ANCHOR}")
        } else {
            yaml_list(&names)
        };
        Self {
            names,
            written,
            hints,
        }
    }

    /// Which tools only read: as a recording of the agent or of another one says, else by their names.
    pub(super) fn read_only(&self, runs: &[Run]) -> ReadOnlyTools {
        let known = KnownTools::of_runs(runs);
        let hint = |name: &str| {
            let mut tool = OfferedTool::default();
            name.clone_into(&mut tool.name);
            let said = self.hints.get(name).copied();
            let said = said.or_else(|| OF_CLAUDE_CODE.contains(&name).then_some(true))?;
            Some(tool.with_read_only(Some(said)))
        };
        let hints: Vec<OfferedTool> = known.names().filter_map(hint).collect();
        let offered = runs.iter().flat_map(|run| run.tools.iter().flatten());
        ReadOnlyTools::new(offered.chain(&hints), [], [])
    }

    /// The lines above the agents of a suite.
    pub(super) fn header(&self, entries: &str) -> String {
        let lines = self.kinds(usize::MAX).map(|line| format!("# {line}\n"));
        let mut head: String = lines.collect();
        if !head.is_empty() {
            head.push_str(
                "# If one is wrong, correct it with `readonly_tools` or `mutating_tools` of `narrative`, and correct the plan.\n",
            );
        }
        if entries.contains(&format!(" *{ANCHOR} }}\n")) {
            head.push_str(&format!(
                "# all tools that any run calls; add the tools that no run calls\n{}\n",
                anchor_list(&yaml_list(&self.names))
            ));
        }
        head
    }

    /// What the tools were taken for, for the screen.
    pub(in crate::import) fn render(&self) -> String {
        let mut shown: String = self.kinds(SHOWN).map(|line| line + "\n").collect();
        if self.iter().any(|(_, _, is_recorded)| !is_recorded) {
            shown += "  if a name misleads, correct it in the suite: `narrative: { readonly_tools: [NAME], mutating_tools: [NAME] }`\n";
        }
        shown
    }

    /// A line for each way in which tools were told apart.
    fn kinds(&self, most: usize) -> impl Iterator<Item = String> {
        let ways = [
            (true, false, "tools that only read, by their names"),
            (false, false, "tools that change something, by their names"),
            (true, true, "tools that only read, as their servers say"),
            (
                false,
                true,
                "tools that change something, as their servers say",
            ),
        ];
        ways.into_iter()
            .filter_map(move |(reads, is_recorded, says)| {
                let all = self
                    .iter()
                    .filter(|(_, it, recorded)| (*it, *recorded) == (reads, is_recorded));
                let mut names: Vec<String> = all
                    .map(|(name, ..)| escape_line(name).into_owned())
                    .collect();
                let more = names.len().saturating_sub(most);
                names.truncate(most);
                if more > 0 {
                    names.push(format!("{more} more"));
                }
                (!names.is_empty()).then(|| format!("{says}: {}", names.join(", ")))
            })
    }

    /// The tools that only other agents have, as far as is seen, and that are not what their names say; whether
    /// they only read. None where there are so many that they are those of different agents.
    pub(super) fn misnamed_elsewhere(
        &self,
        own: &KnownTools,
    ) -> impl Iterator<Item = (&str, bool)> {
        let own: HashSet<&str> = own.names().collect();
        let misnamed = self.iter().filter(move |(name, reads, _)| {
            self.names.len() <= MOST_BESIDE
                && reads_by_name(name) != *reads
                && !own.contains(name.as_str())
        });
        misnamed.map(|(name, reads, _)| (name.as_str(), reads))
    }

    /// Each tool, whether it only reads, and whether a recording says so.
    fn iter(&self) -> impl Iterator<Item = (&String, bool, bool)> {
        self.names.iter().map(|name| {
            let said = self.hints.get(name.as_str()).copied();
            let reads = said.unwrap_or_else(|| is_read_only_name(name));
            (name, reads, said.is_some())
        })
    }

    pub(in crate::import) fn json(&self) -> Value {
        let kind = |(name, reads, recorded): (&String, bool, bool)| {
            let by = if recorded { "recording" } else { "name" };
            json!({ "name": name, "reads": reads, "by": by })
        };
        self.iter().map(kind).collect()
    }
}
