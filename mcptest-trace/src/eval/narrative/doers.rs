//! Which tools do what a claim tells.

use std::collections::BTreeSet;

use super::call::{Call, Ending};
use super::judge::Judge;
use super::lexicon::Lexicon;
use super::marks::Mark;
use super::said::Said;
use super::sentence::Told;
use super::tools::Tool;

/// The tools that do the verb of a claim.
pub(super) struct Doers<'t> {
    pub(super) all: BTreeSet<&'t str>,
    /// Those that the claim's object leaves, and those of them that are not only general.
    pub(super) left: BTreeSet<&'t str>,
    pub(super) own: BTreeSet<&'t str>,
    /// Calls of general tools that are told to do it.
    pub(super) told: Vec<usize>,
    /// Whether the suite names them, be it none.
    pub(super) listed: bool,
}

impl<'t> Judge<'t> {
    /// The tools whose names say that they do the verb of a claim.
    fn by_name(&self, found: &Told<'_>) -> BTreeSet<&'t str> {
        let (tools, lexicon) = (self.tools, Lexicon::get());
        let carrying = found.verbs.iter().flat_map(|verb| tools.carrying(verb));
        let mut all: BTreeSet<&str> = carrying.collect();
        // *opened the valve* by `HassTurnOn`, but no ticket by `turn_on_roaming`
        let turns = |verb: &str| lexicon.lists("turns", verb);
        let moves = |verb: &str| lexicon.lists("moves", verb);
        let beside = |tool: &Tool<'_>| {
            let does = |is: &dyn Fn(&str) -> bool| tool.said.verbs.iter().any(|verb| is(verb));
            let last = tool.said.words.last();
            let of_any = last.is_some_and(|last| matches!(&**last, "on" | "off"));
            let other = turns(found.spoken) && does(&moves) || moves(found.spoken) && does(&turns);
            other && !of_any && !found.shares(tool)
        };
        all.retain(|tool| !tools.get(tool).is_some_and(beside));
        // *I've shared the deck* by a post, but not where sharing it failed.
        let own = |tool: &str| tools.get(tool).is_some_and(|tool| tool.says(found.spoken));
        let in_vain = |tool: &&str| own(tool) && self.ended(tool, Ending::Failed);
        if found.marks.has(Mark::NameOnly) && all.iter().any(in_vain) {
            all.retain(|tool| own(tool));
        }
        let head = found.object.last().map_or("", String::as_str);
        let done = |does: &dyn Fn(&Said) -> bool| {
            let done = self.writes.iter().filter(|(_, tool)| does(tool.said));
            done.map(|(name, _)| *name).collect::<Vec<_>>()
        };
        // *removed the star*, by `git_unstar`
        if lexicon.akin(found.spoken, "remove") {
            let undo = |word: &String| word.strip_prefix("un") == Some(head);
            all.extend(done(&|said| said.words.last().is_some_and(undo)));
        }
        // *I've added a certificate* by `send_certificate`, where no tool adds one.
        if all.is_empty() {
            all.extend(done(&|said| said.stands_in(found.spoken, head)));
        }
        all
    }

    /// The tools that do the verb of a claim.
    pub(super) fn doers(&self, found: &Told<'_>) -> Doers<'t> {
        let (tools, verbs) = (self.tools, &found.verbs);
        // *I've applied a credit*: by a tool of credits, if there is one; but *the requested updates*.
        let general = found.marks.has(Mark::Generic);
        let said: &[&str] = if general { verbs } else { &[found.spoken] };
        let named = verbs.iter().filter_map(|verb| tools.named(verb));
        let listed = named.clone().next().is_some();
        let mut all: BTreeSet<&str> = named.flatten().copied().collect();
        if !listed {
            all = self.by_name(found);
        }
        // A general verb may be meant of any write, unless the suite names its tools or its object
        // picks one of them.
        let mut own = tools.narrowed(&all, &found.object, said);
        // *saved the table to survey.tex*, whatever the tool is for
        let names_it = |tool: &&&str| {
            let mut calls = self
                .calls
                .of_tool(tool)
                .iter()
                .map(|call| &self.calls.all[*call]);
            calls
                .any(|call| call.succeeded() && files(found.clause).any(|file| call.is_given(file)))
        };
        own.extend(all.iter().filter(names_it));
        // *Navigation updated*, by another tool of navigation
        let creates = |tool: &Tool<'_>| {
            let mut verbs = tool.said.verbs.iter();
            verbs.any(|verb| Lexicon::get().is(verb, Mark::Creating))
        };
        let near = |(name, tool): (&&str, &&Tool<'_>)| {
            !own.contains(name) && found.shares(tool) && !creates(tool)
        };
        let picked = own.len() == 1 && all.len() > 1 && !self.writes.iter().any(near);
        let settled = listed || picked;
        // Where a tool is named so, that one is meant; but for the object of the tool that was told.
        let vain = all.iter().any(|tool| self.in_vain(tool));
        let mut open = verbs.clone();
        open.retain(|verb| !tools.says(verb));
        let told = |call: &Call<'_>| {
            let name = &*call.recorded.name;
            let told = |tool: &Tool<'_>| {
                let meant = if found.shares(tool) && !vain {
                    verbs
                } else {
                    &open
                };
                let told = call.is_told(meant, tool.vague) || call.is_told_to(meant, found.clause);
                tool.write && (told || call.is_flagged(meant, &found.object, found.clause))
            };
            !all.contains(name) && tools.get(name).is_some_and(told)
        };
        let calls = self.calls.all.iter().enumerate();
        let calls = calls.filter(|(_, call)| !listed && told(call));
        let told = calls.map(|(call, _)| call).collect();
        if !found.marks.has(Mark::Generic) || settled {
            return Doers {
                all,
                left: own.clone(),
                own,
                told,
                listed,
            };
        }
        // *I updated the deal*: not by adding a note, where the update failed.
        let mut tried = own.iter().chain(&self.vague);
        let in_vain = tried.any(|tool| self.in_vain(tool));
        let done = self.writes.iter();
        let done = done.filter(|(_, tool)| !in_vain || found.shares(tool));
        all.extend(done.map(|(name, _)| *name));
        let left = tools.narrowed(&all, &found.object, said);
        Doers {
            all,
            left,
            own,
            told,
            listed,
        }
    }
}

/// The names of files in a clause: `survey.tex`.
fn files(clause: &str) -> impl Iterator<Item = &str> {
    let words = clause.split_whitespace();
    let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.filter(|word| {
        let ending = word.rsplit_once('.');
        ending.is_some_and(|(name, ending)| {
            name.len() > 1 && ending.len() > 1 && ending.chars().all(char::is_alphabetic)
        })
    })
}
