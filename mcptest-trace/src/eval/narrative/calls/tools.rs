//! The tools of an agent: which of them change something, and which of them do a verb.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::trace::{OfferedTool, Run, Trace, read_only_hints};

use super::call::{Call, Ending};
use crate::eval::narrative::options::NarrativeOptions;
use crate::eval::narrative::words::lexicon::{Lexicon, evidence};
use crate::eval::narrative::words::marks::Mark;
use crate::eval::narrative::words::said::Said;

/// The tools that an agent is known to have, and whether these are all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownTools {
    tools: BTreeMap<String, KnownTool>,
    servers: BTreeSet<String>,
    /// What the runs say that the agent was asked and told.
    asked: BTreeSet<String>,
    complete: bool,
}

/// A known tool.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KnownTool {
    /// Whether the server says that it only reads.
    read_only: Option<bool>,
    said: Arc<Said>,
}

impl KnownTools {
    /// The tools that an agent was offered; a list with a tool in it makes the known tools complete.
    ///
    /// ```
    /// use mcptest_trace::eval::KnownTools;
    /// use mcptest_trace::trace::OfferedTool;
    ///
    /// let tools = KnownTools::offered(&[OfferedTool::from_line("desk::get_order(id)")]);
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
            known.servers.extend(tool.server.clone());
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
            for text in [&run.user_prompt, &run.system_prompt] {
                if !known.asked.contains(text) {
                    known.asked.insert(text.clone());
                }
            }
        }
        known
    }

    /// Adds the tools that a run called.
    pub fn add_called(&mut self, trace: &Trace) {
        for call in &trace.tool_calls {
            self.add(&call.name);
            if !call.server.is_empty() && !self.servers.contains(&call.server) {
                self.servers.insert(call.server.clone());
            }
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
                said: Said::shared(name),
            })
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// The servers of the tools, sorted, as far as they are known.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        self.servers.iter().map(String::as_str)
    }

    /// What the agent was asked and told, besides the turns of a run.
    pub(crate) fn prompts(&self) -> impl Iterator<Item = &str> {
        self.asked.iter().map(String::as_str)
    }

    /// Whether the agent has no other tools.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// The tools that the run and the options add to these.
    pub(crate) fn beside(&self, trace: &Trace, options: &NarrativeOptions) -> Self {
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

/// A tool of an agent, with its calls in a run.
#[derive(Debug)]
pub(crate) struct Tool<'t> {
    pub(crate) name: &'t str,
    pub(crate) said: &'t Said,
    /// Whether it changes something.
    pub(crate) write: bool,
    /// Its name says only that something is changed, or nothing that is known.
    pub(crate) vague: bool,
    pub(crate) calls: Vec<Call<'t>>,
    /// Whether a call of it changed something.
    pub(crate) changed: bool,
}

/// Some tools, by name.
pub(crate) type Tools<'t> = BTreeMap<&'t str, &'t Tool<'t>>;

impl<'t> Tool<'t> {
    /// Whether its name has a verb.
    pub(crate) fn says(&self, verb: &str) -> bool {
        self.said.verbs.contains(verb)
    }

    /// Whether its name has one of these verbs.
    pub(crate) fn says_any(&self, mut is: impl FnMut(&str) -> bool) -> bool {
        self.said.verbs.iter().any(|verb| is(verb))
    }

    /// Whether a call of it ended so.
    pub(crate) fn ended(&self, ending: Ending) -> bool {
        self.calls.iter().any(|call| call.ending == ending)
    }

    /// Whether every call of it failed.
    pub(crate) fn in_vain(&self) -> bool {
        self.ended(Ending::Failed) && !self.ended(Ending::Succeeded)
    }

    /// Its calls, each with the tool itself.
    pub(crate) fn called(&'t self) -> impl Iterator<Item = (&'t Self, &'t Call<'t>)> {
        self.calls.iter().map(move |call| (self, call))
    }

    /// Whether it does a verb of these families, or a verb of the suite's own wherever it stands in the name.
    fn carries(&self, verb: &str, families: &[usize]) -> bool {
        if self.said.hands_over() && !Lexicon::get().is(verb, Mark::HandsOver) {
            return self.says(verb);
        }
        families
            .iter()
            .any(|family| self.said.families.contains(family))
            || families.is_empty() && self.said.stems.iter().any(|word| word == verb)
    }
}

/// The known tools with their calls in a run, and what the suite says of them.
#[derive(Debug)]
pub(crate) struct ToolBox<'t> {
    tools: BTreeMap<&'t str, Tool<'t>>,
    evidence: BTreeMap<String, Vec<&'t str>>,
    pub(crate) complete: bool,
}

impl<'t> ToolBox<'t> {
    /// The tools that are known, and those that a run and its options add.
    pub(crate) fn new(
        trace: &'t Trace,
        known: &'t KnownTools,
        more: &'t KnownTools,
        options: &'t NarrativeOptions,
    ) -> Self {
        let listed = |names: &[String], name| names.iter().any(|listed| listed == name);
        let read = |(name, known): (&'t String, &'t KnownTool)| {
            let reads = known.read_only.unwrap_or(known.said.reads());
            let named = || options.evidence.values().flatten().any(|tool| tool == name);
            let write = (!reads || listed(&options.mutating_tools, name) || named())
                && !listed(&options.readonly_tools, name);
            let tool = Tool {
                name,
                said: &known.said,
                write,
                vague: write && known.said.is_vague(),
                calls: Vec::new(),
                changed: false,
            };
            (tool.name, tool)
        };
        let tools = known.tools.iter().chain(&more.tools).map(read);
        let mut tools: BTreeMap<&str, Tool<'_>> = tools.collect();
        let calls = trace.tool_calls.iter().zip(trace.results_by_call());
        for (index, (call, result)) in calls.enumerate() {
            if let Some(tool) = tools.get_mut(&*call.name) {
                let call = Call::from_recorded(index, call, result, tool.said, tool.write);
                tool.changed |= tool.write && call.changed(tool.vague);
                tool.calls.push(call);
            }
        }
        Self {
            tools,
            evidence: evidence(options),
            complete: more.complete,
        }
    }

    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Tool<'t>> {
        self.tools.values()
    }

    /// Those that change something.
    pub(crate) fn writes(&self) -> impl Iterator<Item = &Tool<'t>> + Clone {
        self.tools.values().filter(|tool| tool.write)
    }

    /// Those of them that did.
    pub(crate) fn changed(&self) -> impl Iterator<Item = &Tool<'t>> + Clone {
        self.tools.values().filter(|tool| tool.changed)
    }

    /// The calls of all of them, in no order.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &Call<'t>> {
        self.tools.values().flat_map(|tool| &tool.calls)
    }

    /// Whether no known tool changes anything.
    pub(crate) fn only_read(&self) -> bool {
        self.writes().next().is_none()
    }

    /// The tools that the suite names for a verb.
    pub(crate) fn named(&self, verb: &str) -> Option<&[&'t str]> {
        self.evidence.get(verb).map(Vec::as_slice)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Tool<'t>> {
        self.tools.get(name)
    }

    /// The writes whose names carry a verb or one of its family.
    pub(crate) fn carrying(&self, verb: &str) -> impl Iterator<Item = &Tool<'t>> {
        let families = Lexicon::get().families(verb);
        self.writes()
            .filter(move |tool| tool.carries(verb, families))
    }

    /// Whether the name of a tool that changes something has a verb.
    pub(crate) fn says(&self, verb: &str) -> bool {
        self.writes().any(|tool| tool.says(verb))
    }

    /// Whether the name of a tool says that it does this verb to a thing: *create* an *order*.
    pub(crate) fn does_to(&self, verb: &str, noun: &str) -> bool {
        self.writes()
            .any(|tool| tool.says(verb) && tool.said.shares(noun))
    }

    /// Whether the name of a tool says that it does this verb to these things, or to anything that is the agent's own
    /// work. A tool that names no thing settles any: *order 7 is refunded*, by `refund`.
    pub(crate) fn does_just(&self, verb: &str, nouns: &[String]) -> bool {
        let lexicon = Lexicon::get();
        let work = nouns.last().is_none_or(|noun| lexicon.is(noun, Mark::Work));
        let shares = |tool: &Tool<'_>| nouns.iter().any(|noun| tool.said.shares(noun));
        let any = lexicon.is(verb, Mark::Settles);
        // `book_reservation` is of reservations.
        let thing = |word: &String| lexicon.is(word, Mark::Thing);
        let of_any =
            |tool: &Tool<'_>| any && !tool.said.has_object && !tool.said.words.iter().any(thing);
        self.writes()
            .any(|tool| tool.says(verb) && (work || shares(tool) || of_any(tool)))
    }

    /// Whether a known tool does a verb, as far as its name or the suite tells.
    pub(crate) fn does(&self, verb: &str) -> bool {
        match self.named(verb) {
            Some(tools) => !tools.is_empty(),
            None => self.carrying(verb).next().is_some(),
        }
    }
}

/// Of several tools for a verb, those that the object leaves. A tool that shares no word with it drops out
/// where another does; the verb and the words of all names count for nothing.
pub(crate) fn narrowed<'t>(tools: &Tools<'t>, object: &[String], verbs: &[&str]) -> Tools<'t> {
    let lexicon = Lexicon::get();
    // *the appropriate request* may be of any form.
    let submits = verbs.iter().any(|verb| lexicon.akin(verb, "submit"));
    let any = |noun: &str| {
        // *the Excel file*
        let other = |other: &String| other != "file" && !other.contains('.');
        let known = lexicon.word(noun).copied().unwrap_or_default();
        noun == "file" && object.iter().any(other)
            || submits && known.marks.has(Mark::Carrier) && known.noun_of == Some("submit")
    };
    // *the users have been notified*: not by `invite_user`
    let whom = verbs.iter().any(|verb| lexicon.lists("tells-whom", verb));
    // *three course selection schemes* are no courses.
    let nouns = object.iter().rev().take(2).map(String::as_str);
    let nouns = nouns.filter(|noun| !verbs.contains(noun) && !any(noun));
    let fit = nouns.map(|noun| {
        let does = |tool: &Tool<'_>| !whom || tool.says_any(|verb| verbs.contains(&verb));
        let mut fit = tools.clone();
        fit.retain(|_, tool| tool.said.shares(noun) && does(tool));
        fit
    });
    let mut fit = fit.filter(|fit| !fit.is_empty());
    let says = |tool: &Tool<'_>| tool.says_any(|verb| verbs.contains(&verb));
    let first = fit.next().unwrap_or_else(|| tools.clone());
    // *added the label bug*: by `add_label`, not by `create_bug`.
    let own = fit.find(|fit| fit.values().any(|tool| says(tool)));
    match own {
        Some(mut own) if !whom && !first.values().any(|tool| says(tool)) => {
            own.retain(|_, tool| says(tool));
            own
        }
        _ => first,
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
