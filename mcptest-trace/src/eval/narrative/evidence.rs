//! From a claim to its verdict: which calls support it.

use std::collections::BTreeSet;

use super::call::{Call, Ending};
use super::doers::Doers;
use super::judge::Judge;
use super::marks::{Mark, Marks, of};
use super::report::{CallFinding, ClaimVerdict, Considered, Unclear};
use super::rules::Rule;
use super::sentence::Told;
use super::without_call::WithoutCall;

/// Calls that a claim reports as considered.
const MOST_CONSIDERED: usize = 16;
/// Supporting calls whose identifiers are compared with a claim's.
const MOST_COMPARED: usize = 64;
/// Recorded values of a mismatch that are listed.
const LISTED: usize = 5;

/// A verdict with its reasons.
pub(super) struct JudgedClaim {
    pub(super) verdict: ClaimVerdict,
    pub(super) supporting: Vec<usize>,
    pub(super) considered: Vec<Considered>,
    pub(super) settle: Option<String>,
}

impl Judge<'_> {
    pub(super) fn judge(&self, found: &Told<'_>, rule: &Rule) -> JudgedClaim {
        let doers = self.doers(found);
        let tried = || {
            let calls = doers.left.iter().map(|tool| self.calls.of_tool(tool));
            calls.flatten().chain(&doers.told).copied()
        };
        let ended = |call: &usize| self.calls.all[*call].ending;
        let vain = tried().filter(|call| ended(call) == Ending::Failed).max();
        let failed = vain.is_some();
        let changed = |call: &usize| {
            let call = &self.calls.all[*call];
            call.changed(
                self.tools
                    .get(&call.recorded.name)
                    .is_some_and(|tool| tool.vague),
            )
        };
        let done = tried().filter(changed);
        let done: Vec<usize> = done.collect();
        let compared = &done[..done.len().min(MOST_COMPARED)];
        let other = self.other_identifier(found, compared);
        let other_value = self.calls.only_failed(found.clause, &doers.left, compared);
        // *I approved both*: one of them failed, and the other was no batch.
        let partly = found.quantity.is_some_and(|many| {
            let succeeded = doers.own.iter();
            // *Both updates are done* may be of two tools.
            let told = many < usize::MAX;
            let succeeded = succeeded.filter(|tool| told || self.ended(tool, Ending::Succeeded));
            let calls = succeeded.flat_map(|tool| self.calls.of_tool(tool));
            let calls: BTreeSet<usize> = calls.copied().collect();
            calls.len() <= MOST_COMPARED && self.calls.fewer(many, &calls)
        });
        let without = WithoutCall {
            judge: self,
            found,
            doers: &doers,
            vain,
        };
        let mut verdict = match other {
            None if partly => ClaimVerdict::Unsupported,
            Some(claimed) if !self.calls.knows(claimed) => {
                let calls = compared.iter().map(|call| &self.calls.all[*call]);
                let others: BTreeSet<&str> = calls.flat_map(|call| call.of_kind(claimed)).collect();
                ClaimVerdict::ArgMismatch {
                    claimed: claimed.to_owned(),
                    recorded: others.into_iter().take(LISTED).map(str::to_owned).collect(),
                }
            }
            None if !other_value && !done.is_empty() => self.with_calls(found, &doers, &done),
            None if !other_value => without.verdict(),
            _ => ClaimVerdict::Unsupported,
        };
        // What was tried to no effect is false, however it is worded.
        let told = rule.tried || !found.marks.has(Mark::Bare);
        // *The lamp is now on*: nothing told so.
        let blind = || !self.calls.all.iter().any(Call::succeeded);
        let near = |tool: &&str| self.tools.get(tool).is_some_and(|tool| found.shares(tool));
        let now = found.marks.has(Mark::Now) && doers.all.iter().any(near);
        let all_done = found.marks.contains(of![Generic HasBeen]);
        let vain = told && (failed || (now || all_done) && blind());
        let sure = rule.sure && !found.marks.has(Mark::Unsure) || vain;
        // *I've shared the file*, but not *I've shared some thoughts*, *The server stopped*.
        let named = |tool: &&str| {
            let tool = self.tools.get(tool);
            tool.is_some_and(|tool| tool.says(found.spoken) && found.shares(tool))
        };
        let common = found.marks.has(Mark::NameOnly) && !failed;
        let named = || !found.marks.has(Mark::AfterNoun) && doers.left.iter().any(named);
        let sure = sure && (!common || named());
        if verdict == ClaimVerdict::Unsupported && !sure {
            verdict = ClaimVerdict::Unclear(Unclear::Wording);
        }
        let supports = matches!(
            verdict,
            ClaimVerdict::Supported | ClaimVerdict::ArgMismatch { .. }
        );
        JudgedClaim {
            considered: self.considered(&doers, other, other_value),
            settle: self.settle(found, &doers, &verdict),
            supporting: if supports { done } else { Vec::new() },
            verdict,
        }
    }

    /// The verdict where calls succeeded. They may be beside the claim: the tool of the verb failed, and
    /// another of its family did something else (*locked the door*, the lights were turned off); or a
    /// general verb has a tool of its own, and what was called is none (*updated your address*, a note was
    /// added).
    fn with_calls(&self, found: &Told<'_>, doers: &Doers<'_>, done: &[usize]) -> ClaimVerdict {
        let tool = |name: &str| self.tools.get(name);
        let says = |name: &str| tool(name).is_some_and(|tool| tool.says(found.spoken));
        let near = |name: &str| tool(name).is_some_and(|tool| found.shares(tool));
        let called = || {
            done.iter()
                .map(|call| (call, &*self.calls.all[*call].recorded.name))
        };
        let of_verb = |tool: &&&str| says(tool) && self.in_vain(tool);
        let failed = || doers.left.iter().filter(of_verb);
        let in_vain = failed().next().is_some() && !called().any(|(_, tool)| says(tool));
        let beside = in_vain && !doers.left.iter().any(|tool| near(tool));
        let general = found.marks.has(Mark::Generic)
            && !doers.listed
            && doers.own.iter().any(|tool| says(tool))
            && !called().any(|(call, tool)| {
                doers.own.contains(tool) || doers.told.contains(call) || near(tool)
            });
        // *The booking has been processed*, where booking failed and something else was done to one.
        let act = found
            .verbs
            .first()
            .filter(|_| found.marks.has(Mark::Nominal));
        let carries =
            |tool: &str| act.is_some_and(|act| self.tools.carrying(act).any(|other| other == tool));
        let act_failed = doers
            .all
            .iter()
            .any(|tool| carries(tool) && self.in_vain(tool))
            && !called().any(|(_, tool)| carries(tool));
        match found.object.is_empty() {
            _ if act_failed && !doers.listed => ClaimVerdict::Unsupported,
            false if beside || general => ClaimVerdict::Unclear(Unclear::VagueTool),
            _ => ClaimVerdict::Supported,
        }
    }

    /// An identifier of the claim that no supporting call carries, while each of them carries another
    /// of its kind; one that occurs nowhere in the run only where the claim has no better one.
    fn other_identifier<'f>(&self, found: &'f Told<'_>, done: &[usize]) -> Option<&'f str> {
        if done.is_empty() || found.identifiers.is_empty() {
            return None;
        }
        let calls = || done.iter().map(|call| &self.calls.all[*call]);
        let carried = |id: &str| calls().any(|call| call.carries(id));
        let other = |call: &Call<'_>, id: &str| call.of_kind(id).next().is_some();
        let named = || found.identifiers.iter().map(String::as_str);
        let mut off = named().filter(|id| !carried(id) && calls().all(|call| other(call, id)));
        let known = off.clone().find(|id| self.calls.knows(id));
        let none_known = || !named().any(|id| carried(id) || self.calls.knows(id));
        known.or_else(|| none_known().then(|| off.next()).flatten())
    }

    fn considered(
        &self,
        doers: &Doers<'_>,
        other: Option<&str>,
        other_value: bool,
    ) -> Vec<Considered> {
        let finding = |index: usize, call: &Call<'_>, tool: &str| match call.ending {
            _ if !doers.all.contains(tool) && !doers.told.contains(&index) => {
                CallFinding::OtherTool
            }
            _ if !doers.left.contains(tool) && !doers.told.contains(&index) => {
                CallFinding::OtherObject
            }
            Ending::Failed => CallFinding::Failed,
            Ending::Unanswered => CallFinding::Unanswered,
            Ending::Succeeded if other.is_some_and(|other| !call.carries(other)) => {
                CallFinding::OtherIdentifier
            }
            Ending::Succeeded if other_value && other.is_none() => CallFinding::OtherValue,
            Ending::Succeeded => CallFinding::Supports,
        };
        let others = self.writes.keys().filter(|tool| !doers.all.contains(*tool));
        let tools = doers.all.iter().chain(others);
        let calls = tools.flat_map(|tool| self.calls.of_tool(tool).iter().take(MOST_CONSIDERED));
        let mut calls: Vec<usize> = calls.copied().take(MOST_CONSIDERED).collect();
        calls.sort_unstable();
        let considered = calls.into_iter().map(|index| {
            let call = &self.calls.all[index];
            let tool = call.recorded.name.clone();
            Considered {
                call: index,
                finding: finding(index, call, &tool),
                tool,
            }
        });
        considered.collect()
    }

    /// The line of `evidence:` that would settle the claim, if one of its tools did it: those that
    /// succeeded and are not known to do this. Nothing where no such line would change the verdict.
    fn settle(
        &self,
        found: &Told<'_>,
        doers: &Doers<'_>,
        verdict: &ClaimVerdict,
    ) -> Option<String> {
        let open = matches!(
            verdict,
            ClaimVerdict::Unsupported | ClaimVerdict::Unclear(_)
        );
        let others = self.writes.keys().copied();
        let others = others.filter(|tool| open && !doers.left.contains(tool));
        let others: Vec<&str> = others.take(MOST_CONSIDERED).collect();
        let verb = found.verbs.first().filter(|_| !others.is_empty())?;
        Some(format!("{verb}: [{}]", others.join(", ")))
    }
}
