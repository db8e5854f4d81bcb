//! One run beside one plan: which calls fit, which pair up, and which are left over.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::super::matching::{longest_in_order, maximum_matching};
use super::super::narrative::failed;
use super::super::tool_pattern::{call_server, same_server};
use super::{ArgsCheck, ExpectedCall, ExpectedTrace, MatchMode, Mismatch, Over};
use crate::text::pluralize;
use crate::trace::{ReadOnlyTools, ToolCall, Trace, canonical_json, own_names};

/// What expectations can tell calls of one name apart by: canonical arguments, whether the result is an
/// error, the server, and whether the name is the recorded one or stands behind its server.
type Answered<'a> = (String, Option<bool>, Option<&'a str>, bool);

pub(super) struct PlanComparison<'a, S> {
    pub(super) plan: &'a ExpectedTrace<S>,
    /// The servers of the run, which may stand before a tool's own name.
    pub(super) servers: Vec<&'a str>,
    /// Names of called tools that are left out as they only read.
    pub(super) read: BTreeSet<&'a str>,
    /// The judged calls; elsewhere here a call is its place in this list.
    pub(super) recorded: Vec<JudgedCall<'a>>,
    /// Recorded calls that fit each expected call, ascending.
    pub(super) fitting: Vec<Vec<usize>>,
}

/// A judged call.
pub(super) struct JudgedCall<'a> {
    /// Its place among all calls of the run.
    pub(super) index: usize,
    pub(super) call: &'a ToolCall,
    /// Whether its result is an error; `None` without a result.
    pub(super) error: Option<bool>,
}

impl<'a, S: ArgsCheck> PlanComparison<'a, S> {
    pub(super) fn new(
        trace: &'a Trace,
        plan: &'a ExpectedTrace<S>,
        tools: &'a ReadOnlyTools,
    ) -> Self {
        let calls = trace.tool_calls.iter().zip(trace.results_by_call());
        let recorded = calls.enumerate().map(|(index, (call, result))| JudgedCall {
            index,
            call,
            error: result.map(|result| failed(call, result)),
        });
        let of_calls = trace.tool_calls.iter().map(|call| call.server.as_str());
        let servers = of_calls
            .chain(tools.servers())
            .filter(|server| !server.is_empty());
        let servers: BTreeSet<&str> = servers.collect();
        let judged = |recorded: &JudgedCall<'_>| {
            plan.over == Over::Calls || !tools.is_read_only_call(recorded.call)
        };
        let (recorded, read): (Vec<_>, Vec<_>) = recorded.partition(judged);
        let mut comparison = Self {
            plan,
            servers: servers.into_iter().collect(),
            read: read.iter().map(|read| read.call.name.as_str()).collect(),
            recorded,
            fitting: Vec::new(),
        };
        comparison.fitting = comparison.fitting();
        comparison
    }

    fn fitting(&self) -> Vec<Vec<usize>> {
        // Calls that no expectation can tell apart, by name.
        let names = self.plan.calls.iter();
        let names = names.map(|expected| (expected.name.as_str(), BTreeMap::new()));
        let mut alike: BTreeMap<&str, BTreeMap<Answered<'_>, Vec<usize>>> = names.collect();
        for (index, JudgedCall { call, error, .. }) in self.recorded.iter().enumerate() {
            let mut add = |name: &str, recorded: bool| {
                // What no expectation names fits none.
                if let Some(groups) = alike.get_mut(name) {
                    let key = (
                        canonical_json(&call.args),
                        *error,
                        call_server(call),
                        recorded,
                    );
                    let group = groups.entry(key).or_default();
                    if group.last() != Some(&index) {
                        group.push(index);
                    }
                }
            };
            add(&call.name, true);
            // The wire prefix of a server is no part of a name.
            if let Some((_, own)) = call.name.rsplit_once("__") {
                add(own, true);
            }
            if !call.server.is_empty() {
                add(&format!("{}__{}", call.server, call.name), true);
            }
            if self.names_servers() {
                let own = own_names(&call.name, &self.servers);
                let own = own.iter().filter(|own| **own != *call.name);
                own.for_each(|own| add(own, false));
            }
        }
        let fits = |expected: &ExpectedCall<S>| {
            let groups = alike.get(expected.name.as_str()).into_iter().flatten();
            let mut fitting: Vec<usize> = groups
                .filter(|((_, error, server, recorded), _)| {
                    expected
                        .is_error
                        .is_none_or(|wanted| *error == Some(wanted))
                        && match &expected.server {
                            None => *recorded,
                            Some(wanted) => {
                                server.is_some_and(|server| same_server(wanted, server))
                            }
                        }
                })
                .filter_map(|(_, members)| Some((members.first()?, members)))
                .filter(|(first, _)| expected.args.accepts(&self.call(**first).args))
                .flat_map(|(_, members)| members.iter().copied())
                .collect();
            fitting.sort_unstable();
            fitting.dedup();
            fitting
        };
        self.plan.calls.iter().map(fits).collect()
    }

    /// Whether an expected call says of which server its tool is.
    fn names_servers(&self) -> bool {
        self.plan.calls.iter().any(|call| call.server.is_some())
    }

    /// Whether a recorded call is of the tool of an expected one, of whichever server.
    pub(super) fn names_tool(&self, expected: &ExpectedCall<S>, call: &ToolCall) -> bool {
        let behind = || {
            let own = own_names(&call.name, &self.servers);
            own.contains(&expected.name)
        };
        call.name == expected.name || expected.server.is_some() && behind()
    }

    /// A number of judged calls in words.
    fn describe_count(&self, calls: usize) -> String {
        match self.plan.over {
            Over::Calls => pluralize(calls, "call"),
            Over::Writes => pluralize(calls, "state-changing call"),
        }
    }

    pub(super) fn call(&self, recorded: usize) -> &'a ToolCall {
        self.recorded[recorded].call
    }

    /// The place of a judged call among all calls of the run.
    pub(super) fn index(&self, recorded: usize) -> usize {
        self.recorded[recorded].index
    }

    /// The recorded call that each expected call is matched with.
    pub(super) fn partners(&self) -> Vec<Option<usize>> {
        match self.plan.mode {
            MatchMode::Strict | MatchMode::Subsequence => {
                longest_in_order(&self.fitting, &self.blocks())
            }
            MatchMode::Unordered
            | MatchMode::Superset
            | MatchMode::Subset
            | MatchMode::ExactUnordered => maximum_matching(&self.fitting, self.recorded.len()),
        }
    }

    /// Runs of recorded calls that count as simultaneous.
    fn blocks(&self) -> Vec<Range<usize>> {
        let together = |left: &JudgedCall<'_>, right: &JudgedCall<'_>| {
            let (left, right) = (left.call.step, right.call.step);
            self.plan.parallel_unordered && left.is_some() && left == right
        };
        let mut blocks = Vec::new();
        let mut start = 0;
        for block in self.recorded.chunk_by(together) {
            blocks.push(start..start + block.len());
            start += block.len();
        }
        blocks
    }

    pub(super) fn alignment(
        &self,
        partners: &[Option<usize>],
    ) -> Vec<(Option<usize>, Option<usize>)> {
        let matched = inverse(partners, self.recorded.len());
        let mut missing = (0..partners.len())
            .filter(|&call| partners[call].is_none())
            .peekable();
        let mut alignment = Vec::with_capacity(partners.len() + matched.len());
        let mut surplus = Vec::new();
        for (recorded, partner) in matched.into_iter().enumerate() {
            let index = Some(self.index(recorded));
            if let Some(expected) = partner {
                while let Some(earlier) = missing.next_if(|&earlier| earlier < expected) {
                    alignment.push((Some(earlier), None));
                }
                alignment.append(&mut surplus);
                alignment.push((partner, index));
            } else {
                surplus.push((None, index));
            }
        }
        alignment.extend(missing.map(|call| (Some(call), None)));
        alignment.append(&mut surplus);
        alignment
    }

    pub(super) fn mismatches(&self, partners: &[Option<usize>]) -> Vec<Mismatch> {
        let missing = (0..partners.len()).filter(|&call| partners[call].is_none());
        match self.plan.mode {
            MatchMode::Strict if self.plan.calls.is_empty() => Vec::new(),
            MatchMode::Strict => self.strict(),
            MatchMode::Subsequence => missing
                .map(|call| self.missing_in_order(call, partners))
                .collect(),
            MatchMode::Unordered => missing.map(|call| self.missing(call, partners)).collect(),
            MatchMode::Superset => missing
                .map(|call| {
                    let mut mismatch = self.missing(call, partners);
                    mismatch.reason = format!("an expected call is missing: {}", mismatch.reason);
                    mismatch
                })
                .collect(),
            MatchMode::Subset => {
                let matched = inverse(partners, self.recorded.len());
                let surplus = (0..matched.len()).filter(|&call| matched[call].is_none());
                let surplus = surplus.map(|call| self.surplus(call, partners));
                // Here no call has to be made, so that nothing else would say that they are left out.
                let read =
                    (0..self.plan.calls.len()).filter_map(|call| self.missing_read_only(call));
                surplus.chain(read).collect()
            }
            MatchMode::ExactUnordered => self.exact_unordered(partners),
        }
    }

    /// Each expected call left over beside the closest call of its tool that is left over, then what
    /// is left of the run.
    fn exact_unordered(&self, partners: &[Option<usize>]) -> Vec<Mismatch> {
        let mut taken: Vec<bool> = inverse(partners, self.recorded.len())
            .into_iter()
            .map(|partner| partner.is_some())
            .collect();
        let mut mismatches = Vec::new();
        let missing = (0..partners.len()).filter(|&call| partners[call].is_none());
        for call in missing {
            let free = (0..taken.len()).filter(|&recorded| !taken[recorded]);
            let closest = self.closest(call, free);
            if let Some((recorded, _)) = &closest {
                taken[*recorded] = true;
            }
            let mismatch = closest.map(|(_, mismatch)| mismatch);
            mismatches.push(mismatch.unwrap_or_else(|| self.missing(call, partners)));
        }
        let surplus = (0..taken.len()).filter(|&recorded| !taken[recorded]);
        mismatches.extend(surplus.map(|recorded| self.surplus(recorded, partners)));
        mismatches
    }

    fn strict(&self) -> Vec<Mismatch> {
        let planned = self.plan.calls.len();
        let mut mismatches = Vec::new();
        let mut surplus = Vec::new();
        for block in self.blocks() {
            let expected = block.start.min(planned)..block.end.min(planned);
            let local = |call: usize| {
                let here = self.fitting[call]
                    .iter()
                    .filter(|recorded| block.contains(recorded));
                here.map(|recorded| recorded - block.start).collect()
            };
            let edges: Vec<Vec<usize>> = expected.clone().map(local).collect();
            let partners = maximum_matching(&edges, block.len());
            let taken = inverse(&partners, block.len());
            let mut free = block
                .clone()
                .filter(|index| taken[index - block.start].is_none());
            let unmatched = expected
                .zip(&partners)
                .filter(|(_, partner)| partner.is_none());
            for ((call, _), index) in unmatched.zip(&mut free) {
                let (arg_diffs, difference) = self.difference(call, index);
                mismatches.push(Mismatch {
                    expected_index: Some(call),
                    recorded_index: Some(self.index(index)),
                    arg_diffs,
                    reason: format!("position {call}: {difference}"),
                });
            }
            surplus.extend(free);
        }
        for call in self.recorded.len()..planned {
            let (name, made) = (
                &self.plan.calls[call].name,
                self.describe_count(self.recorded.len()),
            );
            let reason = format!(
                "position {call}: expected `{name}`, but the run ended after {made}{}",
                self.read_only_hint(name)
            );
            mismatches.push(Mismatch::new(Some(call), None, reason));
        }
        if let Some(&first) = surplus.first() {
            let (more, name) = (self.describe_count(surplus.len()), &self.call(first).name);
            let reason = format!("{more} beyond the {planned} expected, the first is `{name}`");
            mismatches.push(Mismatch::new(None, Some(self.index(first)), reason));
        }
        mismatches
    }
}

pub(super) fn inverse(partners: &[Option<usize>], len: usize) -> Vec<Option<usize>> {
    let mut inverse = vec![None; len];
    for (item, partner) in partners.iter().enumerate() {
        if let Some(partner) = partner {
            inverse[*partner] = Some(item);
        }
    }
    inverse
}
