//! The tools of an agent: which of them change something, and which of them do a verb.

use std::collections::{BTreeMap, BTreeSet};

use crate::trace::{OfferedTool, Run, Trace};

use super::NarrativeOptions;
use super::lexicon::{Lexicon, evidence, stem};
use super::marks::Mark;

/// The tools that an agent is known to have, and whether these are all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownTools {
    /// By name, whether the server says that the tool only reads.
    tools: BTreeMap<String, Option<bool>>,
    complete: bool,
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
            let read_only = known.tools.entry(tool.name.clone()).or_default();
            // Of two that disagree, the one that writes counts.
            *read_only = match (*read_only, tool.read_only) {
                (Some(one), Some(other)) => Some(one && other),
                (one, other) => one.or(other),
            };
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
            self.tools.insert(name.to_owned(), None);
        }
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

    /// These tools with those of the run and of the options.
    pub(super) fn joined(&self, trace: &Trace, options: &NarrativeOptions) -> Self {
        let mut known = self.clone();
        known.add_called(trace);
        let named = options.evidence.values().flatten().chain(&options.tools);
        named.for_each(|name| known.add(name));
        known.complete |= !options.tools.is_empty();
        known
    }
}

/// The words of a tool's name, split at signs and at changes of case.
pub(super) fn name_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut lower = false;
    for sign in name.chars() {
        if !sign.is_alphanumeric() || lower && sign.is_uppercase() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (sign.is_alphanumeric(), words.last_mut()) {
            word.extend(sign.to_lowercase());
        }
        lower = sign.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What the name of a tool says.
#[derive(Debug)]
pub(super) struct Tool {
    /// Whether it changes something.
    pub(super) write: bool,
    /// Its name says only that something is changed, or nothing that is known.
    pub(super) vague: bool,
    /// It hands the work to another agent.
    pub(super) delegates: bool,
    pub(super) verbs: BTreeSet<&'static str>,
    stems: Vec<String>,
}

/// The known tools, read.
#[derive(Debug)]
pub(super) struct ToolBox {
    tools: BTreeMap<String, Tool>,
    evidence: BTreeMap<String, Vec<String>>,
    pub(super) complete: bool,
}

impl ToolBox {
    pub(super) fn new(known: &KnownTools, options: &NarrativeOptions) -> Self {
        let named: BTreeSet<&String> = options.evidence.values().flatten().collect();
        let read = |(name, read_only): (&String, &Option<bool>)| {
            let words = name_words(name);
            let first = words.first().map(String::as_str).unwrap_or_default();
            let reads = read_only.unwrap_or(false) || Lexicon::get().is(first, Mark::Reads);
            let write = options.mutating_tools.contains(name) || named.contains(name) || !reads;
            let write = write && !options.readonly_tools.contains(name);
            (name.clone(), Tool::read(&words, write))
        };
        Self {
            tools: known.tools.iter().map(read).collect(),
            evidence: evidence(options),
            complete: known.complete,
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name)
    }

    /// Whether a tool changes something.
    pub(super) fn writes(&self, name: &str) -> bool {
        self.get(name).is_some_and(|tool| tool.write)
    }

    /// The tools that change something.
    pub(super) fn all_writes(&self) -> impl Iterator<Item = (&str, &Tool)> {
        let writes = self.tools.iter().filter(|(_, tool)| tool.write);
        writes.map(|(name, tool)| (name.as_str(), tool))
    }

    /// The tools that the suite names for a verb.
    pub(super) fn named(&self, verb: &str) -> Option<&[String]> {
        self.evidence.get(verb).map(Vec::as_slice)
    }

    /// The writes whose names carry a verb or one of its family; a verb of the suite's own counts
    /// wherever it stands in the name.
    pub(super) fn carrying(&self, verb: &str) -> impl Iterator<Item = &str> {
        let lexicon = Lexicon::get();
        let own = !lexicon.is_verb(verb);
        let carries = move |tool: &Tool| {
            tool.verbs.iter().any(|other| lexicon.akin(other, verb))
                || own && tool.stems.iter().any(|word| word == verb)
        };
        let carrying = self.all_writes().filter(move |(_, tool)| carries(tool));
        carrying.map(|(name, _)| name)
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
        verbs: &[String],
    ) -> BTreeSet<&'t str> {
        let shares = |name: &&str, noun: &str| self.get(name).is_some_and(|tool| tool.shares(noun));
        for noun in object.iter().rev().filter(|noun| !verbs.contains(noun)) {
            let fit: BTreeSet<&str> = tools
                .iter()
                .copied()
                .filter(|name| shares(name, noun))
                .collect();
            if !fit.is_empty() {
                return fit;
            }
        }
        tools.clone()
    }
}

impl Tool {
    fn read(words: &[String], write: bool) -> Self {
        let lexicon = Lexicon::get();
        let base = |word: &String| {
            let known = lexicon.word(word)?;
            known.verb.filter(|_| known.marks.has(Mark::Base))
        };
        let is = |word: &String, mark| lexicon.is(word, mark);
        // A word that is a noun too, such as `order`, is the verb only where no other word is.
        let plain = |word: &&String| base(word).is_some() && !is(word, Mark::Thing);
        let head = words.iter().find(plain);
        let head = head.or_else(|| words.iter().find(|word| base(word).is_some()));
        let mut verbs: BTreeSet<&'static str> = head.and_then(base).into_iter().collect();
        if head.is_none_or(|head| is(head, Mark::MakingHead)) {
            let nouns = words.iter().filter(|word| Some(*word) != head);
            verbs.extend(nouns.filter_map(|word| lexicon.word(word)?.noun_of));
        }
        let delegate = |word: &String| is(word, Mark::Delegates);
        let handing = |word: &String| is(word, Mark::DelegatingHead) || delegate(word);
        let delegates = words.iter().any(delegate)
            && !words.iter().any(|word| is(word, Mark::People))
            && words
                .iter()
                .all(|word| base(word).is_none() || handing(word));
        let generic = words
            .first()
            .is_some_and(|word| is(word, Mark::GenericName));
        Self {
            write,
            vague: write && (generic || verbs.is_empty()),
            delegates,
            verbs,
            stems: words.iter().map(|word| stem(word)).collect(),
        }
    }

    /// Whether its name has a noun, or another for the same thing.
    pub(super) fn shares(&self, noun: &str) -> bool {
        self.stems
            .iter()
            .any(|stem| Lexicon::get().same_thing(stem, noun))
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
        assert_eq!(known.tools["c"], Some(true));
        assert!(!KnownTools::of_runs(&[listed, run("")]).is_complete());
    }

    #[test]
    fn a_name_says_what_its_tool_does() {
        let verbs = |name: &str| Tool::read(&name_words(name), true).verbs;
        assert!(verbs("create_reservation").contains("book"));
        assert!(!verbs("cancel_reservation").contains("book"));
        assert!(verbs("cancel_pending_order").contains("cancel"));
        assert!(!verbs("cancel_pending_order").contains("order"));
        assert!(verbs("orderCancel").contains("cancel"));
        assert!(verbs("update_dns_record").contains("update"));
        let delegates = |name: &str| Tool::read(&name_words(name), true).delegates;
        assert!(delegates("run_agent") && delegates("Task") && delegates("handoff_to_billing"));
        assert!(!delegates("create_task") && !delegates("transfer_to_human_agents"));
    }
}
