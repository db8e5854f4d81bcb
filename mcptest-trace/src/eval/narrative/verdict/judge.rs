//! From a claim to its verdict: which calls support it.

use std::collections::BTreeSet;

use crate::trace::Trace;

use super::call_facts::{CallFacts, fewer, only_failed};
use super::detail_check::{Compared, Differs};
use super::doers::Doers;
use super::report::{CallFinding, ClaimVerdict, Considered, Unclear};
use super::without_call::WithoutCall;
use crate::eval::narrative::calls::call::{Call, Ending};
use crate::eval::narrative::calls::reported::Reported;
use crate::eval::narrative::calls::tools::{KnownTools, Tool, ToolBox};
use crate::eval::narrative::claims::rules::Rule;
use crate::eval::narrative::claims::sentence::Told;
use crate::eval::narrative::words::marks::{Mark, Marks, of};

/// Calls that a claim reports as considered.
const MOST_CONSIDERED: usize = 16;
/// Supporting calls whose identifiers are compared with a claim's.
const MOST_COMPARED: usize = 64;
/// Recorded values of a mismatch that are listed.
const LISTED: usize = 5;

/// A verdict with its reasons.
pub(crate) struct JudgedClaim {
    pub(crate) verdict: ClaimVerdict,
    pub(crate) supporting: Vec<usize>,
    pub(crate) considered: Vec<Considered>,
    pub(crate) settle: Option<String>,
}

/// What the calls of a claim lack of what the claim names.
struct Lacks<'f> {
    identifier: Option<&'f str>,
    /// They have another value, and a failed call has the claimed one.
    value: bool,
    /// What else they do not have, as it is told.
    detail: Option<String>,
}

/// What claims are judged by.
pub(crate) struct Judge<'t> {
    pub(crate) tools: &'t ToolBox<'t>,
    pub(crate) calls: CallFacts<'t>,
}

impl<'t> Judge<'t> {
    pub(crate) fn new(trace: &'t Trace, tools: &'t ToolBox<'t>, known: &'t KnownTools) -> Self {
        let calls = CallFacts::new(trace, tools, known);
        Self { tools, calls }
    }

    /// The verdict on a claim of a message that tells of `others` too.
    pub(crate) fn judge<'v>(
        &self,
        found: &Told<'v>,
        rule: &Rule,
        others: &[&Told<'v>],
    ) -> JudgedClaim {
        let doers = Doers::for_claim(self.tools, found);
        let tried = || {
            let called = doers.left.values().flat_map(|tool| tool.called());
            called.chain(doers.told.iter().copied())
        };
        let denied = |call: &Call<'_>| call.succeeded() && call.denies(&found.verbs);
        let failed = tried().filter(|(_, call)| call.ending == Ending::Failed || denied(call));
        let vain = failed.map(|(_, call)| call.index).max();
        let done = tried().filter(|(tool, call)| call.changed(tool.vague) && !denied(call));
        let done: Vec<(&Tool<'_>, &Call<'_>)> = done.collect();
        let compared = done.iter().take(MOST_COMPARED).map(|(_, call)| *call);
        let compared: Vec<&Call<'_>> = compared.collect();
        let other = self.other_identifier(found, &compared);
        let calls = doers.left.values().flat_map(|tool| &tool.calls);
        let other_value = only_failed(found.clause, calls, &compared);
        // What is absent says something only where all calls were looked at.
        let all = if compared.len() == done.len() {
            compared.as_slice()
        } else {
            &[]
        };
        let failed = tried().filter(|(_, call)| call.ending == Ending::Failed);
        let failed: Vec<&Call<'_>> = failed.map(|(_, call)| call).take(MOST_COMPARED).collect();
        let beside = Compared {
            found,
            done: all,
            vain: &failed,
            calls: &self.calls,
            others,
            anything: self.tools.changed().any(|tool| tool.said.is_silent()),
        };
        let differs = beside.differs();
        let few = beside.too_few();
        let without = WithoutCall {
            tools: self.tools,
            calls: &self.calls,
            found,
            doers: &doers,
            vain,
        };
        let mut verdict = match other {
            None if few.is_some() || partly(found, &doers) => ClaimVerdict::Unsupported,
            Some(claimed) if !self.calls.knows(claimed) => {
                let others = compared.iter().flat_map(|call| call.of_kind(claimed));
                let others: BTreeSet<&str> = others.collect();
                if beside.are_told_of(&others) {
                    ClaimVerdict::Unsupported
                } else {
                    let others = others.into_iter().take(LISTED);
                    ClaimVerdict::ArgMismatch {
                        claimed: claimed.to_owned(),
                        recorded: others.map(str::to_owned).collect(),
                    }
                }
            }
            None if !other_value && !done.is_empty() => match &differs {
                Some(Differs::Undone(_)) => ClaimVerdict::Unsupported,
                Some(Differs::Open(_)) => ClaimVerdict::Unclear(Unclear::Recipient),
                Some(Differs::Mismatch(detail, recorded)) => ClaimVerdict::ArgMismatch {
                    claimed: detail.text.clone(),
                    recorded: recorded.iter().take(LISTED).cloned().collect(),
                },
                None => with_calls(found, &doers, &done, self.tools),
            },
            None if !other_value && !self.denied(found) => without.verdict(),
            _ => ClaimVerdict::Unsupported,
        };
        if verdict == ClaimVerdict::Unsupported
            && !self.is_sure(found, rule, &doers, vain.is_some())
        {
            verdict = ClaimVerdict::Unclear(Unclear::Wording);
        }
        let doubtful = |(_, call): &(&Tool<'_>, &Call<'_>)| call.reported != Reported::Nothing;
        if verdict == ClaimVerdict::Supported && !done.is_empty() && done.iter().all(doubtful) {
            verdict = ClaimVerdict::Unclear(Unclear::Doubtful);
        }
        let supports = matches!(
            verdict,
            ClaimVerdict::Supported | ClaimVerdict::ArgMismatch { .. }
        );
        let supporting = done.iter().filter(|_| supports);
        // What the calls that succeeded lack of what the claim names.
        let lacks = match (few, differs) {
            _ if supports => None,
            (Some(few), _) => Some(format!("{few} of {}", found.quantity.unwrap_or_default())),
            (_, Some(Differs::Undone(detail) | Differs::Open(detail))) => {
                Some(format!("`{}`", detail.text))
            }
            _ => None,
        };
        let lacks = Lacks {
            identifier: other,
            value: other_value,
            detail: lacks,
        };
        JudgedClaim {
            considered: self.considered(found, &doers, &lacks),
            settle: self.settle(found, &doers, &verdict),
            supporting: supporting.map(|(_, call)| call.index).collect(),
            verdict,
        }
    }

    /// Whether the result of any call says that what is claimed was not done: `merged: false`.
    fn denied(&self, found: &Told<'_>) -> bool {
        let mut calls = self.tools.writes().flat_map(|tool| &tool.calls);
        calls.any(|call| call.succeeded() && call.denies(&found.verbs))
    }

    /// Whether a claim surely tells of what the agent did.
    fn is_sure(&self, found: &Told<'_>, rule: &Rule, doers: &Doers<'_>, failed: bool) -> bool {
        // What was tried to no effect is false, however it is worded.
        let told = rule.tried || !found.marks.has(Mark::Bare);
        // *The lamp is now on*: nothing told so.
        let blind = || !self.tools.calls().any(Call::succeeded);
        let now = found.marks.has(Mark::Now) && doers.all.values().any(|tool| found.shares(tool));
        let all_done = found.marks.contains(of![Generic HasBeen]);
        let vain = told && (failed || (now || all_done) && blind());
        // *I've shared the file*, but not *I've shared some thoughts*, *The server stopped*.
        let of_it = |tool: &Tool<'_>| !tool.said.has_object || found.shares(tool);
        let says = |tool: &Tool<'_>| tool.says(found.spoken) && of_it(tool);
        let named = !found.marks.has(Mark::AfterNoun) && doers.left.values().any(|tool| says(tool));
        let common = found.marks.has(Mark::NameOnly) && !failed;
        (rule.sure && !found.marks.has(Mark::Unsure) || vain) && (!common || named)
    }

    /// An identifier of the claim that no supporting call carries, while each of them carries another
    /// of its kind; one that occurs nowhere in the run only where the claim has no better one.
    fn other_identifier<'f>(&self, found: &'f Told<'_>, done: &[&Call<'_>]) -> Option<&'f str> {
        if done.is_empty() || found.identifiers.is_empty() {
            return None;
        }
        let carried = |id: &str| done.iter().any(|call| call.carries(id));
        let other = |call: &Call<'_>, id: &str| call.of_kind(id).next().is_some();
        let named = || found.identifiers.iter().map(String::as_str);
        let mut off = named().filter(|id| !carried(id) && done.iter().all(|call| other(call, id)));
        let known = off.clone().find(|id| self.calls.knows(id));
        let none_known = || !named().any(|id| carried(id) || self.calls.knows(id));
        known.or_else(|| none_known().then(|| off.next()).flatten())
    }

    fn considered(
        &self,
        found: &Told<'_>,
        doers: &Doers<'t>,
        lacks: &Lacks<'_>,
    ) -> Vec<Considered> {
        let other = lacks.identifier;
        let told = |of: &Call<'_>| doers.told.iter().any(|(_, call)| call.index == of.index);
        let finding = |tool: &Tool<'_>, call: &Call<'_>| match call.ending {
            _ if !doers.all.contains_key(tool.name) && !told(call) => CallFinding::OtherTool,
            _ if !doers.left.contains_key(tool.name) && !told(call) => CallFinding::OtherObject,
            Ending::Failed => CallFinding::Failed,
            Ending::Unanswered => CallFinding::Unanswered,
            Ending::Succeeded if other.is_some_and(|other| !call.carries(other)) => {
                CallFinding::OtherIdentifier
            }
            Ending::Succeeded if lacks.value && other.is_none() => CallFinding::OtherValue,
            Ending::Succeeded if call.denies(&found.verbs) => CallFinding::Failed,
            Ending::Succeeded if call.reported != Reported::Nothing => CallFinding::Doubtful,
            Ending::Succeeded if lacks.detail.is_some() => CallFinding::OtherDetail,
            Ending::Succeeded => CallFinding::Supports,
        };
        let others = self.tools.changed();
        let others = others.filter(|tool| !doers.all.contains_key(tool.name));
        let tools = doers.all.values().copied().chain(others);
        let calls = tools.flat_map(|tool| tool.called().take(MOST_CONSIDERED));
        let considered = calls.take(MOST_CONSIDERED).map(|(tool, call)| {
            let finding = finding(tool, call);
            Considered {
                call: call.index,
                tool: tool.name.to_owned(),
                finding,
                said: match &call.reported {
                    _ if finding == CallFinding::OtherDetail => lacks.detail.clone(),
                    Reported::Nothing => None,
                    Reported::Doubtful(by) | Reported::Failed(by) => Some(by.clone()),
                },
            }
        });
        let mut considered: Vec<Considered> = considered.collect();
        considered.sort_by_key(|considered| considered.call);
        considered
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
        let others = self.tools.changed().map(|tool| tool.name);
        let others = others.filter(|tool| open && !doers.left.contains_key(tool));
        let others: Vec<&str> = others.take(MOST_CONSIDERED).collect();
        let verb = found.verbs.first().filter(|_| !others.is_empty())?;
        Some(format!("{verb}: [{}]", others.join(", ")))
    }
}

/// Whether not all that a claim counts was done: of *I approved both*, one failed, and the other was no
/// batch.
fn partly(found: &Told<'_>, doers: &Doers<'_>) -> bool {
    found.quantity.is_some_and(|many| {
        // *Both updates are done* may be of two tools.
        let told = many < usize::MAX;
        let succeeded = |tool: &&&Tool<'_>| told || tool.ended(Ending::Succeeded);
        let succeeded = doers.own.values().filter(succeeded);
        let mut calls: Vec<&Call<'_>> = succeeded.flat_map(|tool| &tool.calls).collect();
        calls.sort_by_key(|call| call.index);
        calls.len() <= MOST_COMPARED && fewer(many, &calls)
    })
}

/// The verdict where calls succeeded. They may be beside the claim: the tool of the verb failed, and another
/// of its family did something else (*locked the door*, the lights were turned off); or a general verb has a
/// tool of its own, and what was called is none (*updated your address*, a note was added).
fn with_calls(
    found: &Told<'_>,
    doers: &Doers<'_>,
    done: &[(&Tool<'_>, &Call<'_>)],
    tools: &ToolBox<'_>,
) -> ClaimVerdict {
    let says = |tool: &Tool<'_>| tool.says(found.spoken);
    let called = |is: &dyn Fn(&Tool<'_>) -> bool| done.iter().any(|(tool, _)| is(tool));
    let mut left = doers.left.values();
    let in_vain = left.any(|tool| says(tool) && tool.in_vain()) && !called(&says);
    let beside = in_vain && !doers.left.values().any(|tool| found.shares(tool));
    let told = |of: &Call<'_>| doers.told.iter().any(|(_, call)| call.index == of.index);
    let meant = |(tool, call): &(&Tool<'_>, &Call<'_>)| {
        doers.own.contains_key(tool.name) || told(call) || found.shares(tool)
    };
    let general = found.marks.has(Mark::Generic)
        && !doers.listed
        && doers.own.values().any(|tool| says(tool))
        && !done.iter().any(meant);
    // *The booking has been processed*, where booking failed and something else was done to one.
    let act = found
        .verbs
        .first()
        .filter(|_| found.marks.has(Mark::Nominal));
    let carries = |tool: &Tool<'_>| {
        act.is_some_and(|act| tools.carrying(act).any(|other| other.name == tool.name))
    };
    let mut failed = doers.all.values().filter(|tool| tool.in_vain());
    let act_failed = failed.any(|tool| carries(tool)) && !called(&carries);
    match found.object.is_empty() {
        _ if act_failed && !doers.listed => ClaimVerdict::Unsupported,
        false if beside || general => ClaimVerdict::Unclear(Unclear::VagueTool),
        _ => ClaimVerdict::Supported,
    }
}
