//! What to say of the calls that are left over.

use super::super::arg_diff::ArgDiff;
use super::super::matching::maximum_matching;
use super::super::tool_pattern::{PatternMatch, call_server, same_server};
use super::compare::{JudgedCall, PlanComparison, inverse};
use super::{ArgsCheck, Mismatch, Over};
use crate::text::pluralize;

/// How many calls of the same name are looked at to find the one closest to an unmatched call.
const CLOSEST_OF: usize = 16;

impl<S: ArgsCheck> PlanComparison<'_, S> {
    pub(super) fn missing_in_order(&self, call: usize, partners: &[Option<usize>]) -> Mismatch {
        // Between the matched neighbours is where it should have been. With parallel calls the
        // neighbours may stand either way round within their step.
        let after = partners[..call].iter().flatten().max().copied();
        let before = partners[call + 1..].iter().flatten().min().copied();
        let from = after.map_or(0, |after| after + 1);
        let window = from..before.unwrap_or(self.recorded.len()).max(from);
        let taken = inverse(partners, self.recorded.len());
        let free = window.filter(|&recorded| taken[recorded].is_none());
        if let Some((_, closest)) = self.closest(call, free) {
            return closest;
        }
        let name = &self.plan.calls[call].name;
        let [after, before] = [after, before].map(|place| Some(self.index(place?)));
        let place = match (after, before) {
            (Some(after), Some(before)) => {
                format!(" between `tool_calls[{after}]` and `tool_calls[{before}]`")
            }
            (Some(after), None) => format!(" after `tool_calls[{after}]`"),
            (None, Some(before)) => format!(" before `tool_calls[{before}]`"),
            (None, None) => String::new(),
        };
        let elsewhere = self.fitting[call].first();
        let hint = elsewhere.map_or_else(String::new, |&recorded| {
            let why = match taken[recorded] {
                Some(other) => format!("already matches `calls[{other}]`"),
                None => "is out of order".to_owned(),
            };
            let index = self.index(recorded);
            format!("; `tool_calls[{index}]` fits, but {why}")
        });
        let elsewhere = elsewhere.map(|&recorded| self.index(recorded));
        let read = self.read_only_hint(name);
        let reason = format!("`calls[{call}]` `{name}`: not called{place}{hint}{read}");
        Mismatch::new(Some(call), elsewhere, reason)
    }

    /// What to do where the calls of a planned tool are left out as it is taken for one that only reads.
    pub(super) fn read_only_hint(&self, name: &str) -> String {
        if self.read.contains(name) {
            format!(
                "; calls of this tool are not compared, because the tool counts as one that only reads; if the tool changes something, write \
                 `mutating_tools: [{name}]`"
            )
        } else {
            String::new()
        }
    }

    /// An expected call of a tool that was called and counts as one that only reads.
    pub(super) fn missing_read_only(&self, call: usize) -> Option<Mismatch> {
        let name = &self.plan.calls[call].name;
        let read = self.read_only_hint(name);
        let why = read.strip_prefix("; ")?;
        let reason = format!("`calls[{call}]` `{name}`: {why}");
        Some(Mismatch::new(Some(call), None, reason))
    }

    pub(super) fn missing(&self, call: usize, partners: &[Option<usize>]) -> Mismatch {
        let name = &self.plan.calls[call].name;
        if let Some(&taken) = self.fitting[call].first() {
            let reason = format!(
                "`calls[{call}]` `{name}`: every call that fits it already matches another expected call"
            );
            return Mismatch::new(Some(call), Some(self.index(taken)), reason);
        }
        let taken = inverse(partners, self.recorded.len());
        let (free, used): (Vec<_>, Vec<_>) =
            (0..self.recorded.len()).partition(|&index| taken[index].is_none());
        let closest = self.closest(call, free.into_iter());
        let closest = closest.or_else(|| self.closest(call, used.into_iter()));
        let never = || {
            let read = self.read_only_hint(name);
            let never = read.strip_prefix("; ").unwrap_or("never called");
            format!("`calls[{call}]` `{name}`: {never}")
        };
        closest.map_or_else(
            || Mismatch::new(Some(call), None, never()),
            |(_, mismatch)| mismatch,
        )
    }

    pub(super) fn surplus(&self, recorded: usize, partners: &[Option<usize>]) -> Mismatch {
        let (name, index) = (&self.call(recorded).name, self.index(recorded));
        let opening = match (self.plan.calls.is_empty(), self.plan.over) {
            (false, _) => "the run may make only the expected calls, and also makes",
            (true, Over::Calls) => "the run may make no call, and makes",
            (true, Over::Writes) => "the run may change nothing, and makes",
        };
        let made = self.call(recorded);
        let namesakes = (0..self.plan.calls.len())
            .filter(|&call| self.names_tool(&self.plan.calls[call], made));
        let (unmatched, matched): (Vec<_>, Vec<_>) =
            namesakes.partition(|&call| partners[call].is_none());
        let closest = |calls: &[usize]| {
            let calls = calls.iter().take(CLOSEST_OF);
            calls
                .map(|&call| (call, self.difference(call, recorded)))
                .min_by_key(|(_, (arg_diffs, _))| arg_diffs.len())
        };
        let fits = |call: &&usize| self.fitting[**call].binary_search(&recorded).is_ok();
        let (expected_index, arg_diffs, why) = if let Some(&call) = matched.iter().find(fits) {
            let why = "made more often than expected".to_owned();
            (Some(call), Vec::new(), why)
        } else if let Some((call, (arg_diffs, difference))) =
            closest(&unmatched).or_else(|| closest(&matched))
        {
            let why = format!("closest is `calls[{call}]`, but {difference}");
            (Some(call), arg_diffs, why)
        } else {
            let why = match self.plan.over {
                Over::Calls => "no such call is expected",
                Over::Writes => {
                    "no such call is expected, and nothing says that the tool only reads"
                }
            };
            (None, Vec::new(), why.to_owned())
        };
        Mismatch {
            expected_index,
            recorded_index: Some(index),
            arg_diffs,
            reason: format!("{opening} `tool_calls[{index}]` `{name}`: {why}"),
        }
    }

    /// The calls that are left over and of no tool that may be called beside the plan. What failed of a
    /// planned tool is let be, and what succeeded then takes its place in the plan.
    pub(super) fn not_allowed(&self, partners: &[Option<usize>]) -> Vec<Mismatch> {
        let Some(allow) = &self.plan.allow else {
            return Vec::new();
        };
        let failed = |recorded: usize| self.recorded[recorded].error == Some(true);
        let others = |(call, partner): (usize, &Option<usize>)| {
            // Its partner first: where nothing failed, each keeps its own.
            let fitting = partner.iter().flat_map(|_| &self.fitting[call]);
            let fitting = partner.iter().chain(fitting).copied();
            fitting.filter(|&recorded| !failed(recorded)).collect()
        };
        let edges: Vec<Vec<usize>> = partners.iter().enumerate().map(others).collect();
        let succeeded = maximum_matching(&edges, self.recorded.len());
        let taken = inverse(partners, self.recorded.len());
        let taken_anew = inverse(&succeeded, self.recorded.len());
        let left = (0..taken.len()).filter(|&call| taken[call].is_none());
        let left = left.filter(|&call| taken_anew[call].is_none());
        let is_planned = |recorded: usize| {
            let mut planned = self.plan.calls.iter();
            planned.any(|expected| self.names_tool(expected, self.call(recorded)))
        };
        let left = left.filter(|&call| !(failed(call) && is_planned(call)));
        let is_allowed = |recorded: usize| {
            let call = self.call(recorded);
            let mut allow = allow.iter();
            allow.any(|pattern| pattern.match_call(call, &self.servers) == PatternMatch::Yes)
        };
        let others = left.filter(|&call| !is_allowed(call));
        let mismatch = |call| Mismatch {
            expected_index: None,
            recorded_index: Some(self.index(call)),
            arg_diffs: Vec::new(),
            reason: format!(
                "`tool_calls[{}]` `{}`: {}, and not under `allow`",
                self.index(call),
                self.call(call).name,
                if is_planned(call) {
                    "beyond the planned calls of this tool"
                } else {
                    "not in the plan"
                }
            ),
        };
        others.map(mismatch).collect()
    }

    /// The call among these that has the expected name and differs in the fewest places, and how.
    pub(super) fn closest(
        &self,
        call: usize,
        among: impl Iterator<Item = usize>,
    ) -> Option<(usize, Mismatch)> {
        let expected = &self.plan.calls[call];
        let (closest, (arg_diffs, difference)) = among
            .filter(|&recorded| self.names_tool(expected, self.call(recorded)))
            .take(CLOSEST_OF)
            .map(|recorded| (recorded, self.difference(call, recorded)))
            .min_by_key(|(_, (arg_diffs, _))| arg_diffs.len())?;
        let index = self.index(closest);
        let mismatch = Mismatch {
            expected_index: Some(call),
            recorded_index: Some(index),
            arg_diffs,
            reason: format!(
                "`calls[{call}]` `{}`: closest is `tool_calls[{index}]`, but {difference}",
                expected.name
            ),
        };
        Some((closest, mismatch))
    }

    /// Why a recorded call does not fit an expected one.
    pub(super) fn difference(&self, call: usize, recorded: usize) -> (Vec<ArgDiff>, String) {
        let expected = &self.plan.calls[call];
        let JudgedCall {
            call: recorded,
            error,
            ..
        } = &self.recorded[recorded];
        if !self.names_tool(expected, recorded) {
            let difference = format!("expected `{}`, recorded `{}`", expected.name, recorded.name);
            return (Vec::new(), difference);
        }
        if let Some(wanted) = &expected.server {
            let (name, server) = (&expected.name, call_server(recorded));
            if !server.is_some_and(|server| same_server(wanted, server)) {
                let found = server.map_or(
                    "the recording does not say which server".to_owned(),
                    |server| format!("it is of `{server}`"),
                );
                let difference = format!("`{name}` should be of server `{wanted}`, and {found}");
                return (Vec::new(), difference);
            }
        }
        let diffs = expected.args.diffs(&recorded.args);
        let arg_diffs: Vec<_> = diffs
            .into_iter()
            .map(|diff| diff.prefixed("args"))
            .collect();
        let difference = match (arg_diffs.as_slice(), expected.is_error) {
            ([], Some(wanted)) if *error != Some(wanted) => {
                let wanted = if wanted { "an error" } else { "a success" };
                let found = match error {
                    None => "there is no result",
                    Some(true) => "it is an error",
                    Some(false) => "it is a success",
                };
                format!(
                    "the result of `{}` should be {wanted}, but {found}",
                    expected.name
                )
            }
            ([], _) => format!(
                "`{}` has the right arguments, so its place or its number is wrong",
                expected.name
            ),
            ([only], _) => {
                format!(
                    "the arguments of `{}` differ at `{}`",
                    expected.name, only.path
                )
            }
            ([first, rest @ ..], _) => format!(
                "the arguments of `{}` differ at `{}` and {}",
                expected.name,
                first.path,
                pluralize(rest.len(), "more place")
            ),
        };
        (arg_diffs, difference)
    }
}
