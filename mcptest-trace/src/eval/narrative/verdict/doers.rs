//! Which tools do what a claim tells.

use super::covers::covers;
use crate::eval::narrative::calls::call::{Call, Ending};
use crate::eval::narrative::calls::tools::{Tool, ToolBox, Tools, narrowed};
use crate::eval::narrative::claims::sentence::Told;
use crate::eval::narrative::words::lexicon::Lexicon;
use crate::eval::narrative::words::marks::Mark;

/// The tools that do the verb of a claim.
pub(crate) struct Doers<'t> {
    pub(crate) all: Tools<'t>,
    /// Those that the claim's object leaves, and those of them that are not only general.
    pub(crate) left: Tools<'t>,
    pub(crate) own: Tools<'t>,
    /// Calls of general tools that are told to do it.
    pub(crate) told: Vec<(&'t Tool<'t>, &'t Call<'t>)>,
    /// Whether the suite names them, be it none.
    pub(crate) listed: bool,
}

/// These tools, by name.
pub(crate) fn by_name<'t>(tools: impl Iterator<Item = &'t Tool<'t>>) -> Tools<'t> {
    tools.map(|tool| (tool.name, tool)).collect()
}

impl<'t> Doers<'t> {
    /// The tools that do the verb of a claim.
    pub(crate) fn for_claim(tools: &'t ToolBox<'t>, found: &Told<'_>) -> Self {
        let verbs = &found.verbs;
        // *I've applied a credit*: by a tool of credits, if there is one; but *the requested updates*.
        let general = found.marks.has(Mark::Generic);
        let said: &[&str] = if general { verbs } else { &[found.spoken] };
        let named = verbs.iter().filter_map(|verb| tools.named(verb));
        let listed = named.clone().next().is_some();
        let mut all = if listed {
            by_name(named.flatten().filter_map(|name| tools.get(name)))
        } else {
            saying(tools, found)
        };
        // A general verb may be meant of any write, unless the suite names its tools or its object
        // picks one of them.
        let mut own = narrowed(&all, &found.object, said);
        // *saved the table to survey.tex*, whatever the tool is for
        let given = |call: &Call<'_>| files(found.clause).any(|file| call.is_given(file));
        let names_it = |tool: &Tool<'_>| {
            let mut calls = tool.calls.iter();
            calls.any(|call| call.succeeded() && given(call))
        };
        own.extend(all.iter().filter(|(_, tool)| names_it(tool)));
        // *Navigation updated*, by another tool of navigation
        let creates = |verb: &str| Lexicon::get().is(verb, Mark::Creating);
        let near = |tool: &Tool<'_>| {
            !own.contains_key(tool.name) && found.shares(tool) && !tool.says_any(creates)
        };
        let picked = own.len() == 1 && all.len() > 1 && !tools.changed().any(near);
        // Where a tool is named so, that one is meant; but for the object of the tool that was told.
        let vain = all.values().any(|tool| tool.in_vain());
        let mut open = verbs.clone();
        open.retain(|verb| !tools.says(verb));
        let told = |(tool, call): &(&Tool<'_>, &Call<'_>)| {
            let meant = if found.shares(tool) && !vain {
                verbs
            } else {
                &open
            };
            let is_told = || {
                call.is_told(meant, tool.vague)
                    || call.is_told_to(meant, found.clause)
                    || call.is_flagged(meant, &found.object, found.clause)
            };
            covers(call, found) || !all.contains_key(tool.name) && is_told()
        };
        let others = tools
            .writes()
            .filter(|tool| !listed && !own.contains_key(tool.name));
        let told = others.flat_map(Tool::called).filter(told);
        let mut told: Vec<(&Tool<'_>, &Call<'_>)> = told.collect();
        told.sort_by_key(|(_, call)| call.index);
        let mut left = own.clone();
        if general && !listed && !picked {
            // *I updated the deal*: not by adding a note, where the update failed.
            let vague = tools.writes().filter(|tool| tool.vague);
            let in_vain = own.values().copied().chain(vague).any(Tool::in_vain);
            let done = tools
                .changed()
                .filter(|tool| !in_vain || found.shares(tool));
            all.extend(by_name(done));
            left = narrowed(&all, &found.object, said);
        }
        told.retain(|(tool, _)| !left.contains_key(tool.name));
        Self {
            all,
            left,
            own,
            told,
            listed,
        }
    }
}

/// The tools whose names say that they do the verb of a claim.
fn saying<'t>(tools: &'t ToolBox<'t>, found: &Told<'_>) -> Tools<'t> {
    let lexicon = Lexicon::get();
    let mut all = by_name(found.verbs.iter().flat_map(|verb| tools.carrying(verb)));
    // *opened the valve* by `HassTurnOn`, but no ticket by `turn_on_roaming`
    let turns = |verb: &str| lexicon.lists("turns", verb);
    let moves = |verb: &str| lexicon.lists("moves", verb);
    let beside = |tool: &Tool<'_>| {
        let last = tool.said.words.last();
        let of_any = last.is_some_and(|last| matches!(&**last, "on" | "off"));
        let other = turns(found.spoken) && tool.says_any(moves)
            || moves(found.spoken) && tool.says_any(turns);
        other && !of_any && !found.shares(tool)
    };
    all.retain(|_, tool| !beside(tool));
    // *I've shared the deck* by a post, but not where sharing it failed.
    let in_vain = |tool: &&Tool<'_>| tool.says(found.spoken) && tool.ended(Ending::Failed);
    if found.marks.has(Mark::NameOnly) && all.values().any(in_vain) {
        all.retain(|_, tool| tool.says(found.spoken));
    }
    let head = found.object.last().map_or("", String::as_str);
    // *removed the star*, by `git_unstar`
    if lexicon.akin(found.spoken, "remove") {
        let undo = |word: &String| word.strip_prefix("un") == Some(head);
        let undoes = |tool: &&Tool<'_>| tool.said.words.last().is_some_and(undo);
        all.extend(by_name(tools.changed().filter(undoes)));
    }
    // *I've added a certificate* by `send_certificate`, where no tool adds one.
    if all.is_empty() {
        let stands_in = |tool: &&Tool<'_>| tool.said.stands_in(found.spoken, head);
        all = by_name(tools.changed().filter(stands_in));
    }
    all
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
