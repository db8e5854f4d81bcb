//! The tools of an agent: which of them change something, and which of them do a verb.

use std::collections::{BTreeMap, BTreeSet};

use crate::trace::{OfferedTool, Run, Trace, read_only_hints};

use super::lexicon::{Lexicon, evidence};
use super::marks::Mark;
use super::options::NarrativeOptions;
use super::said::Said;

/// The tools that an agent is known to have, and whether these are all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownTools {
    tools: BTreeMap<String, KnownTool>,
    complete: bool,
}

/// A known tool.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KnownTool {
    /// Whether the server says that it only reads.
    read_only: Option<bool>,
    said: Said,
}

impl KnownTools {
    /// The tools that an agent was offered; a list with a tool in it makes the known tools complete.
    ///
    /// ```
    /// use mcptest_trace::eval::KnownTools;
    /// use mcptest_trace::trace::OfferedTool;
    ///
    /// let tools = KnownTools::offered(&[OfferedTool::in_line("desk::get_order(id)")]);
    /// assert!(tools.is_complete());
    /// assert_eq!(tools.names().collect::<Vec<_>>(), ["get_order"]);
    /// ```
    #[must_use]
    pub fn offered(tools: &[OfferedTool]) -> Self {
        let mut known = Self {
            complete: !tools.is_empty(),
            ..Self::default()
        };
        for tool in tools {
            known.add(&tool.name);
        }
        for (name, reads) in read_only_hints(tools) {
            known.entry(name).read_only = Some(reads);
        }
        known
    }

    /// The tools of an agent, by its recorded runs: all that were offered or called. They are
    /// complete when every run lists what it was offered.
    #[must_use]
    pub fn of_runs(runs: &[Run]) -> Self {
        let lists = || {
            runs.iter()
                .map(|run| run.tools.as_deref().unwrap_or_default())
        };
        let offered: Vec<OfferedTool> = lists().flatten().cloned().collect();
        let mut known = Self::offered(&offered);
        known.complete &= lists().all(|tools| !tools.is_empty());
        for run in runs {
            known.add_called(&run.trace);
        }
        known
    }

    /// Adds the tools that a run called.
    pub fn add_called(&mut self, trace: &Trace) {
        for call in &trace.tool_calls {
            self.add(&call.name);
        }
    }

    /// Adds a tool of which only the name is known.
    pub fn add(&mut self, name: &str) {
        if !self.tools.contains_key(name) {
            self.entry(name);
        }
    }

    fn entry(&mut self, name: &str) -> &mut KnownTool {
        self.tools
            .entry(name.to_owned())
            .or_insert_with(|| KnownTool {
                read_only: None,
                said: Said::of(name),
            })
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// Whether the agent has no other tools.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// The tools that the run and the options add to these.
    pub(super) fn beside(&self, trace: &Trace, options: &NarrativeOptions) -> Self {
        let mut more = Self::default();
        let called = trace.tool_calls.iter().map(|call| &call.name);
        let named = options.evidence.values().flatten().chain(&options.tools);
        let all = called.chain(named);
        all.filter(|name| !self.tools.contains_key(*name))
            .for_each(|name| more.add(name));
        more.complete = self.complete || !options.tools.is_empty();
        more
    }
}

/// A tool of an agent.
#[derive(Debug)]
pub(super) struct Tool<'k> {
    /// Whether it changes something.
    pub(super) write: bool,
    /// Its name says only that something is changed, or nothing that is known.
    pub(super) vague: bool,
    pub(super) said: &'k Said,
}

impl Tool<'_> {
    /// Whether its name has a verb.
    pub(super) fn says(&self, verb: &str) -> bool {
        self.said.verbs.contains(verb)
    }
}

/// The known tools, with what the suite says of them.
#[derive(Debug)]
pub(super) struct ToolBox<'k> {
    tools: BTreeMap<&'k str, Tool<'k>>,
    evidence: BTreeMap<String, Vec<&'k str>>,
    pub(super) complete: bool,
}

impl<'k> ToolBox<'k> {
    /// The tools that are known, and those that a run and its options add.
    pub(super) fn new(
        known: &'k KnownTools,
        more: &'k KnownTools,
        options: &'k NarrativeOptions,
    ) -> Self {
        let listed = |names: &[String], name| names.iter().any(|listed| listed == name);
        let read = |(name, known): (&'k String, &'k KnownTool)| {
            let reads = known.read_only.unwrap_or(known.said.reads());
            let named = || options.evidence.values().flatten().any(|tool| tool == name);
            let write = (!reads || listed(&options.mutating_tools, name) || named())
                && !listed(&options.readonly_tools, name);
            let vague = write && known.said.is_vague();
            let said = &known.said;
            (name.as_str(), Tool { write, vague, said })
        };
        Self {
            tools: known.tools.iter().chain(&more.tools).map(read).collect(),
            evidence: evidence(options),
            complete: more.complete,
        }
    }

    /// Verbs in names of tools that the lexicon does not have.
    pub(super) fn new_verbs(&self) -> impl Iterator<Item = &'k str> {
        let tools = self.tools.values();
        tools.filter_map(|tool| tool.said.new_verb.as_deref())
    }

    pub(super) fn get(&self, name: &str) -> Option<&Tool<'k>> {
        self.tools.get(name)
    }

    /// Whether a tool changes something.
    pub(super) fn writes(&self, name: &str) -> bool {
        self.get(name).is_some_and(|tool| tool.write)
    }

    /// The tools that change something.
    pub(super) fn all_writes(&self) -> impl Iterator<Item = (&'k str, &Tool<'k>)> + Clone {
        let writes = self.tools.iter().filter(|(_, tool)| tool.write);
        writes.map(|(name, tool)| (*name, tool))
    }

    /// Whether no known tool changes anything.
    pub(super) fn only_read(&self) -> bool {
        self.all_writes().next().is_none()
    }

    /// The tools that the suite names for a verb.
    pub(super) fn named(&self, verb: &str) -> Option<&[&'k str]> {
        self.evidence.get(verb).map(Vec::as_slice)
    }

    /// The writes whose names carry a verb or one of its family; a verb of the suite's own counts
    /// wherever it stands in the name.
    pub(super) fn carrying(&self, verb: &str) -> impl Iterator<Item = &'k str> {
        let families = Lexicon::get().families(verb);
        let hands_over = Lexicon::get().is(verb, Mark::HandsOver);
        let carries = move |tool: &Tool<'_>| {
            let said = tool.said;
            if said.hands_over() && !hands_over {
                return said.verbs.contains(verb);
            }
            families.iter().any(|family| said.families.contains(family))
                || families.is_empty() && said.stems.iter().any(|word| word == verb)
        };
        let carrying = self.all_writes().filter(move |(_, tool)| carries(tool));
        carrying.map(|(name, _)| name)
    }

    /// Whether the name of a tool that changes something has a verb.
    pub(super) fn says(&self, verb: &str) -> bool {
        self.all_writes().any(|(_, tool)| tool.says(verb))
    }

    /// Whether the name of a tool says that it does this verb to a thing: *create* an *order*.
    pub(super) fn does_to(&self, verb: &str, noun: &str) -> bool {
        let mut writes = self.all_writes();
        writes.any(|(_, tool)| tool.said.verbs.contains(verb) && tool.said.shares(noun))
    }

    /// Whether a known tool does a verb, as far as its name or the suite tells.
    pub(super) fn does(&self, verb: &str) -> bool {
        match self.named(verb) {
            Some(tools) => !tools.is_empty(),
            None => self.carrying(verb).next().is_some(),
        }
    }

    /// Of several tools for a verb, those that the object leaves. A tool that shares no word with
    /// it drops out where another does; the verb and the words of all names count for nothing.
    pub(super) fn narrowed<'t>(
        &self,
        tools: &BTreeSet<&'t str>,
        object: &[String],
        verbs: &[&str],
    ) -> BTreeSet<&'t str> {
        // *three course selection schemes* are no courses.
        let nouns = object.iter().rev().take(2).map(String::as_str);
        // *the appropriate request* may be of any form.
        let submits = verbs.iter().any(|verb| Lexicon::get().akin(verb, "submit"));
        let any = |noun: &str| {
            // *the Excel file*
            let other = |other: &String| other != "file" && !other.contains('.');
            if noun == "file" && object.iter().any(other) {
                return true;
            }
            let known = Lexicon::get().word(noun).copied().unwrap_or_default();
            submits && known.marks.has(Mark::Carrier) && known.noun_of == Some("submit")
        };
        // *the users have been notified*: not by `invite_user`
        let whom = |verb: &&str| Lexicon::get().lists("tells-whom", verb);
        let whom = verbs.iter().any(whom);
        let nouns = nouns.filter(|noun| !verbs.contains(noun) && !any(noun));
        let fit = nouns.map(|noun| {
            let said = |name: &str| self.get(name).map(|tool| tool.said);
            let does = |said: &Said| verbs.iter().any(|verb| said.verbs.contains(verb));
            let shares = |said: &Said| said.shares(noun) && (!whom || does(said));
            let shares = |name: &&str| said(name).is_some_and(shares);
            let fit = tools.iter().copied().filter(shares);
            fit.collect::<BTreeSet<&str>>()
        });
        let mut fit = fit.filter(|fit| !fit.is_empty());
        fit.next().unwrap_or_else(|| tools.clone())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "helpers of tests")]
mod tests {
    use super::*;
    use crate::trace::read_runs;

    #[test]
    fn a_run_without_a_list_leaves_the_tools_incomplete() {
        let run = |tools: &str| {
            let text = format!(
                r#"{{"schema_version": "v1", "model": "m", "user_prompt": "p", "trace": {{"tool_calls": [{{"name": "b"}}]}}{tools}}}"#
            );
            let file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
            std::fs::write(&file, text).unwrap();
            let files = [(file.path().to_owned(), "run.json".to_owned())];
            read_runs(&files).unwrap().remove(0)
        };
        let listed = run(r#", "tools": ["a", {"name": "c", "read_only": true}]"#);
        let known = KnownTools::of_runs(std::slice::from_ref(&listed));
        assert!(known.is_complete());
        assert_eq!(known.names().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(known.tools["c"].read_only, Some(true));
        assert!(!KnownTools::of_runs(&[listed, run("")]).is_complete());
    }
}
