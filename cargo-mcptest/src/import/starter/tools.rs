//! The tools of an import: which there are, which of them only read, and who says so.

use mcptest_trace::text::escape_line;
use mcptest_trace::trace::reads_by_name;
use serde_json::{Value, json};

use super::text::list;
use crate::import::plan::Plan;

/// The most names that the list of tools stands for where it is written once: a loader repeats only so
/// much through aliases.
pub(super) const MOST_ALIASED: usize = 50_000;

/// The most tools that are listed.
pub(super) const MOST_TOOLS: usize = 500;

/// The most names that are shown on a line.
const SHOWN: usize = 20;

/// What the list of tools is called in a suite.
const ANCHOR: &str = "tools";

/// The tools that any run of an import calls: what its agents have, as far as is seen.
#[derive(Debug, Default)]
pub(in crate::import) struct Tools {
    pub(super) names: Vec<String>,
    /// How the list is written in a gate.
    pub(super) written: String,
    /// Of each, whether it only reads, where a recording says so.
    recorded: Vec<Option<bool>>,
}

impl Tools {
    /// A suite says them once; entries that are put into another suite each say them.
    pub(in crate::import) fn new(plan: &Plan, in_suite: bool) -> Self {
        if plan.tools.len() > MOST_TOOLS {
            return Self::default();
        }
        let (names, recorded): (Vec<String>, _) = plan.tools.clone().into_iter().unzip();
        let once = plan.groups.len() * names.len() <= MOST_ALIASED;
        let written = if in_suite && once {
            format!("*{ANCHOR}")
        } else {
            list(&names)
        };
        Self {
            names,
            written,
            recorded,
        }
    }

    /// The lines above the agents of a suite.
    pub(super) fn head(&self, entries: &str) -> String {
        let mut head: String = self
            .kinds(usize::MAX)
            .map(|line| format!("# {line}\n"))
            .collect();
        if !head.is_empty() {
            head.push_str(
                "# Where that is wrong, `readonly_tools` or `mutating_tools` of `narrative` say so; then mend the plan too.\n",
            );
        }
        if entries.contains(&format!(" *{ANCHOR} }}\n")) {
            head.push_str(&format!(
                "# all that any run calls\nx-{ANCHOR}: &{ANCHOR} {}\n",
                list(&self.names)
            ));
        }
        head
    }

    /// What the tools were taken for, for the screen.
    pub(in crate::import) fn shown(&self) -> String {
        self.kinds(SHOWN).map(|line| line + "\n").collect()
    }

    /// A line for each way in which tools were told apart.
    fn kinds(&self, most: usize) -> impl Iterator<Item = String> {
        let ways = [
            (true, false, "taken for reads, by their names"),
            (false, false, "taken for writes, by their names"),
            (true, true, "reads, as their servers say"),
            (false, true, "writes, as their servers say"),
        ];
        ways.into_iter()
            .filter_map(move |(reads, is_recorded, says)| {
                let all = self
                    .all()
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

    /// Each tool, whether it only reads, and whether a recording says so.
    fn all(&self) -> impl Iterator<Item = (&String, bool, bool)> {
        let all = self.names.iter().zip(&self.recorded);
        all.map(|(name, said)| {
            (
                name,
                said.unwrap_or_else(|| reads_by_name(name)),
                said.is_some(),
            )
        })
    }

    pub(in crate::import) fn json(&self) -> Value {
        let kind = |(name, reads, recorded): (&String, bool, bool)| {
            let by = if recorded { "recording" } else { "name" };
            json!({ "name": name, "reads": reads, "by": by })
        };
        self.all().map(kind).collect()
    }
}
