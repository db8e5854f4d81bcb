//! From a claim to its verdict: which calls support it.

use std::collections::BTreeSet;

use super::calls::{Calls, Ending};
use super::marks::Mark;
use super::reading::Told;
use super::report::{CallFinding, ClaimVerdict, Considered, Unclear};
use super::tools::{Tool, ToolBox};

/// Calls that a claim reports as considered.
const MOST_CONSIDERED: usize = 16;
/// Supporting calls whose identifiers are compared with a claim's.
const MOST_COMPARED: usize = 64;
/// Recorded values of a mismatch that are listed.
const LISTED: usize = 5;

/// What claims are judged by.
pub(super) struct Judge<'t> {
    calls: &'t Calls<'t>,
    tools: &'t ToolBox<'t>,
    /// The successful writes of the run.
    writes: Vec<(&'t str, &'t Tool<'t>)>,
    /// The writes with a general name.
    vague: BTreeSet<&'t str>,
}

/// A verdict with its reasons.
pub(super) struct Judged {
    pub(super) verdict: ClaimVerdict,
    pub(super) supporting: Vec<usize>,
    pub(super) considered: Vec<Considered>,
    pub(super) settle: Option<String>,
}

/// The tools that do the verb of a claim.
struct Doers<'t> {
    all: BTreeSet<&'t str>,
    /// Those that the claim's object leaves.
    left: BTreeSet<&'t str>,
    /// Whether the suite names them, be it none.
    listed: bool,
}

impl<'t> Judge<'t> {
    pub(super) fn new(calls: &'t Calls<'t>, tools: &'t ToolBox<'t>) -> Self {
        let done = calls.successful_tools();
        let done = done.filter_map(|name| Some((name, tools.get(name)?)));
        let vague = tools.all_writes().filter(|(_, tool)| tool.vague);
        Self {
            calls,
            tools,
            writes: done.filter(|(_, tool)| tool.write).collect(),
            vague: vague.map(|(name, _)| name).collect(),
        }
    }

    pub(super) fn judge(&self, found: &Told<'_>, sure: bool) -> Judged {
        let doers = self.doers(found);
        let calls = doers
            .left
            .iter()
            .flat_map(|tool| self.calls.of_tool(tool))
            .copied();
        let done: Vec<usize> = calls.filter(|call| self.calls.succeeded(*call)).collect();
        let compared = &done[..done.len().min(MOST_COMPARED)];
        let other = self.other_identifier(found, compared);
        let other_value = self.calls.only_failed(found.clause, &doers.left, compared);
        let verdict = match other {
            Some(claimed) if !self.calls.knows(claimed) => ClaimVerdict::ArgMismatch {
                claimed: claimed.to_owned(),
                recorded: self.of_kind(claimed, compared).map(str::to_owned).collect(),
            },
            None if !other_value && !done.is_empty() => ClaimVerdict::Supported,
            None if !other_value => self.without_call(found, &doers),
            _ => ClaimVerdict::Unsupported,
        };
        let verdict = match verdict {
            ClaimVerdict::Unsupported
                if !(sure || self.failed(found, &doers)) || found.marks.has(Mark::LeadsIn) =>
            {
                ClaimVerdict::Unclear(Unclear::Wording)
            }
            verdict => verdict,
        };
        let supports = matches!(
            verdict,
            ClaimVerdict::Supported | ClaimVerdict::ArgMismatch { .. }
        );
        Judged {
            considered: self.considered(&doers, other, other_value),
            settle: self.settle(found, &doers, &verdict),
            supporting: if supports { done } else { Vec::new() },
            verdict,
        }
    }

    /// Whether the run tried what is told, to no effect.
    fn failed(&self, found: &Told<'_>, doers: &Doers<'_>) -> bool {
        let mut calls = doers.left.iter().flat_map(|tool| self.calls.of_tool(tool));
        !found.marks.has(Mark::Bare)
            && calls.any(|call| self.calls.endings.get(*call) == Some(&Ending::Failed))
    }

    /// The successful writes of the run.
    fn writes(&self) -> impl Iterator<Item = &'t str> {
        self.writes.iter().map(|(name, _)| *name)
    }

    fn doers(&self, found: &Told<'_>) -> Doers<'t> {
        let (tools, verbs) = (self.tools, &found.verbs);
        let named = verbs.iter().filter_map(|verb| tools.named(verb));
        let listed = named.clone().next().is_some();
        let mut all: BTreeSet<&str> = named.flatten().copied().collect();
        if !listed {
            all.extend(verbs.iter().flat_map(|verb| tools.carrying(verb)));
        }
        // A general verb may be meant of any write, unless its object picks one of its own tools.
        let own = tools.narrowed(&all, &found.object, verbs);
        let picked = own.len() == 1 && all.len() > 1;
        let none = listed && all.is_empty();
        let left = if found.marks.has(Mark::Generic) && !none && !picked {
            all.extend(self.writes());
            tools.narrowed(&all, &found.object, verbs)
        } else {
            own
        };
        Doers { all, left, listed }
    }

    /// Other identifiers of the kind that these calls carry.
    fn of_kind<'c>(
        &'c self,
        identifier: &'c str,
        calls: &[usize],
    ) -> impl Iterator<Item = &'c str> {
        let others: BTreeSet<&str> = calls
            .iter()
            .flat_map(|call| self.calls.of_kind(*call, identifier))
            .collect();
        others.into_iter().take(LISTED)
    }

    /// An identifier of the claim that no supporting call carries, while each of them carries another
    /// of its kind; one that occurs nowhere in the run only where the claim has no better one.
    fn other_identifier<'f>(&self, found: &'f Told<'_>, done: &[usize]) -> Option<&'f str> {
        if done.is_empty() || found.identifiers.is_empty() {
            return None;
        }
        let carried = |id: &str| done.iter().any(|call| self.calls.carries(*call, id));
        let other = |call: &usize, id: &str| self.calls.of_kind(*call, id).next().is_some();
        let named = || found.identifiers.iter().map(String::as_str);
        let mut off = named().filter(|id| !carried(id) && done.iter().all(|call| other(call, id)));
        let known = off.clone().find(|id| self.calls.knows(id));
        let none_known = || !named().any(|id| carried(id) || self.calls.knows(id));
        known.or_else(|| none_known().then(|| off.next()).flatten())
    }

    /// The verdict where no call of the verb succeeded.
    fn without_call(&self, found: &Told<'_>, doers: &Doers<'_>) -> ClaimVerdict {
        let is = |mark| found.marks.has(mark);
        if !is(Mark::Ours) && self.calls.was_read(found.spoken, &found.identifiers) {
            return ClaimVerdict::Read;
        }
        let mut done = self.writes.iter().map(|(_, tool)| tool);
        if done.clone().any(|tool| tool.said.delegates) {
            return ClaimVerdict::Unclear(Unclear::Delegated);
        }
        let reader = self.tools.complete && self.tools.all_writes().next().is_none();
        if reader && !is(Mark::Ours) {
            return ClaimVerdict::Unclear(Unclear::Wording);
        }
        if self.writes.is_empty() {
            return ClaimVerdict::Unsupported;
        }
        let did = |verb| {
            self.tools
                .carrying(verb)
                .any(|tool| self.writes().any(|done| done == tool))
        };
        let remade = is(Mark::Remade) && did("delete") && did("create");
        let lands = is(Mark::Money) && is(Mark::Lands);
        let follows = is(Mark::Consequence) && !(is(Mark::Ours) && is(Mark::Creating));
        if remade || is(Mark::Field) || lands || follows && doers.all.is_empty() && !doers.listed {
            return ClaimVerdict::Unclear(Unclear::Consequence);
        }
        // A tool with a general name may do any verb, unless the object names another such tool.
        let narrowed = || {
            self.tools
                .narrowed(&self.vague, &found.object, &found.verbs)
        };
        let meant = if self.vague.is_empty() {
            BTreeSet::new()
        } else {
            narrowed()
        };
        let vague = self.writes().any(|tool| meant.contains(tool));
        let nothing = done.any(|tool| tool.vague && tool.said.verbs.is_empty());
        let exact = |verb: &&str| {
            let mut writes = self.tools.all_writes();
            writes.any(|(_, tool)| tool.said.verbs.contains(verb))
        };
        if doers.listed || found.verbs.iter().any(exact) {
            // A state told in the present may be what the other change led to.
            return if is(Mark::IsDone) && vague {
                ClaimVerdict::Unclear(Unclear::VagueTool)
            } else {
                ClaimVerdict::Unsupported
            };
        }
        if nothing || vague && !is(Mark::Creating) {
            ClaimVerdict::Unclear(Unclear::VagueTool)
        } else if doers.all.is_empty() && !self.tools.complete {
            ClaimVerdict::Unclear(Unclear::ToolsUnknown)
        } else {
            ClaimVerdict::Unsupported
        }
    }

    fn considered(
        &self,
        doers: &Doers<'t>,
        other: Option<&str>,
        other_value: bool,
    ) -> Vec<Considered> {
        let finding = |call: usize, tool: &str| match self.calls.endings.get(call) {
            _ if !doers.all.contains(tool) => CallFinding::OtherTool,
            _ if !doers.left.contains(tool) => CallFinding::OtherObject,
            Some(Ending::Failed) => CallFinding::Failed,
            Some(Ending::Unanswered) | None => CallFinding::Unanswered,
            Some(Ending::Succeeded) => match other {
                Some(identifier) if !self.calls.carries(call, identifier) => {
                    CallFinding::OtherIdentifier
                }
                None if other_value => CallFinding::OtherValue,
                _ => CallFinding::Supports,
            },
        };
        let others = self.writes().filter(|tool| !doers.all.contains(tool));
        let tools = doers.all.iter().copied().chain(others);
        let calls = tools.flat_map(|tool| self.calls.of_tool(tool).iter().take(MOST_CONSIDERED));
        let mut calls: Vec<usize> = calls.copied().take(MOST_CONSIDERED).collect();
        calls.sort_unstable();
        let considered = calls.into_iter().filter_map(|call| {
            let tool = &self.calls.recorded().get(call)?.name;
            Some(Considered {
                call,
                tool: tool.clone(),
                finding: finding(call, tool),
            })
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
        let others = self
            .writes()
            .filter(|tool| open && !doers.left.contains(tool));
        let others: Vec<&str> = others.take(MOST_CONSIDERED).collect();
        let verb = found.verbs.first().filter(|_| !others.is_empty())?;
        Some(format!("{verb}: [{}]", others.join(", ")))
    }
}
