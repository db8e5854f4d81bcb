//! One run beside one plan: which calls fit, which pair up, and what to say of the rest.

use std::collections::BTreeMap;
use std::ops::Range;

use super::super::arg_diff::ArgDiff;
use super::super::matching::{longest_in_order, maximum_matching};
use super::{ArgsCheck, ExpectedCall, ExpectedTrace, MatchMode, Mismatch};
use crate::trace::{ToolCall, Trace, canonical_json};

/// How many calls of the same name are looked at to find the one closest to an unmatched call.
const CLOSEST_OF: usize = 16;

/// Canonical arguments of a call, and whether its result is an error.
type Answered = (String, Option<bool>);

pub(super) struct Comparison<'a, S> {
    plan: &'a ExpectedTrace<S>,
    recorded: &'a [ToolCall],
    /// Whether the result of each recorded call is an error; `None` without a result.
    errors: Vec<Option<bool>>,
    /// Recorded calls that fit each expected call, ascending.
    fitting: Vec<Vec<usize>>,
}

impl<'a, S: ArgsCheck> Comparison<'a, S> {
    pub(super) fn new(trace: &'a Trace, plan: &'a ExpectedTrace<S>) -> Self {
        let results = trace.results_by_call().into_iter();
        let mut comparison = Self {
            plan,
            recorded: &trace.tool_calls,
            errors: results.map(|result| Some(result?.is_error)).collect(),
            fitting: Vec::new(),
        };
        comparison.fitting = comparison.fitting();
        comparison
    }

    fn fitting(&self) -> Vec<Vec<usize>> {
        // Calls that no expectation can tell apart, by name.
        let mut alike: BTreeMap<&str, BTreeMap<Answered, Vec<usize>>> = BTreeMap::new();
        for (index, call) in self.recorded.iter().enumerate() {
            let key = (canonical_json(&call.args), self.errors[index]);
            let groups = alike.entry(call.name.as_str()).or_default();
            groups.entry(key).or_default().push(index);
        }
        let fits = |expected: &ExpectedCall<S>| {
            let groups = alike.get(expected.name.as_str()).into_iter().flatten();
            let mut fitting: Vec<usize> = groups
                .filter(|((_, error), _)| {
                    expected
                        .is_error
                        .is_none_or(|wanted| *error == Some(wanted))
                })
                .filter_map(|(_, members)| Some((members.first()?, members)))
                .filter(|(first, _)| expected.args.accepts(&self.recorded[**first].args))
                .flat_map(|(_, members)| members.iter().copied())
                .collect();
            fitting.sort_unstable();
            fitting
        };
        self.plan.calls.iter().map(fits).collect()
    }

    /// The recorded call that each expected call is matched with.
    pub(super) fn partners(&self) -> Vec<Option<usize>> {
        match self.plan.mode {
            MatchMode::Strict | MatchMode::Subsequence => {
                longest_in_order(&self.fitting, &self.blocks())
            }
            MatchMode::Unordered | MatchMode::Superset | MatchMode::Subset => {
                maximum_matching(&self.fitting, self.recorded.len())
            }
        }
    }

    /// Runs of recorded calls that count as simultaneous.
    fn blocks(&self) -> Vec<Range<usize>> {
        let together = |left: &ToolCall, right: &ToolCall| {
            self.plan.parallel_unordered && left.step.is_some() && left.step == right.step
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
        for (index, partner) in matched.into_iter().enumerate() {
            if let Some(expected) = partner {
                while let Some(earlier) = missing.next_if(|&earlier| earlier < expected) {
                    alignment.push((Some(earlier), None));
                }
                alignment.append(&mut surplus);
                alignment.push((partner, Some(index)));
            } else {
                surplus.push((None, Some(index)));
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
                    mismatch.reason = format!(
                        "the run must make at least the expected calls, and lacks {}",
                        mismatch.reason
                    );
                    mismatch
                })
                .collect(),
            MatchMode::Subset => {
                let matched = inverse(partners, self.recorded.len());
                let surplus = (0..matched.len()).filter(|&call| matched[call].is_none());
                surplus.map(|call| self.surplus(call, partners)).collect()
            }
        }
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
                    recorded_index: Some(index),
                    arg_diffs,
                    reason: format!("position {call}: {difference}"),
                });
            }
            surplus.extend(free);
        }
        for call in self.recorded.len()..planned {
            mismatches.push(Mismatch {
                expected_index: Some(call),
                recorded_index: None,
                arg_diffs: Vec::new(),
                reason: format!(
                    "position {call}: expected `{}`, but the run ended after {}",
                    self.plan.calls[call].name,
                    count(self.recorded.len(), "call")
                ),
            });
        }
        if let Some(&first) = surplus.first() {
            mismatches.push(Mismatch {
                expected_index: None,
                recorded_index: Some(first),
                arg_diffs: Vec::new(),
                reason: format!(
                    "{} beyond the {planned} expected, the first is `{}`",
                    count(surplus.len(), "call"),
                    self.recorded[first].name
                ),
            });
        }
        mismatches
    }

    fn missing_in_order(&self, call: usize, partners: &[Option<usize>]) -> Mismatch {
        // Between the matched neighbours is where it should have been. With parallel calls the
        // neighbours may stand either way round within their step.
        let after = partners[..call].iter().flatten().max().copied();
        let before = partners[call + 1..].iter().flatten().min().copied();
        let from = after.map_or(0, |after| after + 1);
        let window = from..before.unwrap_or(self.recorded.len()).max(from);
        let taken = inverse(partners, self.recorded.len());
        if let Some(closest) = self.closest(call, window.filter(|&index| taken[index].is_none())) {
            return closest;
        }
        let name = &self.plan.calls[call].name;
        let place = match (after, before) {
            (Some(after), Some(before)) => {
                format!(" between `tool_calls[{after}]` and `tool_calls[{before}]`")
            }
            (Some(after), None) => format!(" after `tool_calls[{after}]`"),
            (None, Some(before)) => format!(" before `tool_calls[{before}]`"),
            (None, None) => String::new(),
        };
        let elsewhere = self.fitting[call].first();
        let hint = match elsewhere {
            Some(&index) => match taken[index] {
                Some(other) => {
                    format!("; `tool_calls[{index}]` fits, but already matches `calls[{other}]`")
                }
                None => format!("; `tool_calls[{index}]` fits, but is out of order"),
            },
            None => String::new(),
        };
        Mismatch {
            expected_index: Some(call),
            recorded_index: elsewhere.copied(),
            arg_diffs: Vec::new(),
            reason: format!("`calls[{call}]` `{name}`: not called{place}{hint}"),
        }
    }

    fn missing(&self, call: usize, partners: &[Option<usize>]) -> Mismatch {
        let name = &self.plan.calls[call].name;
        if let Some(&taken) = self.fitting[call].first() {
            return Mismatch {
                expected_index: Some(call),
                recorded_index: Some(taken),
                arg_diffs: Vec::new(),
                reason: format!(
                    "`calls[{call}]` `{name}`: every call that fits it already matches another expected call"
                ),
            };
        }
        let taken = inverse(partners, self.recorded.len());
        let (free, used): (Vec<_>, Vec<_>) =
            (0..self.recorded.len()).partition(|&index| taken[index].is_none());
        self.closest(call, free.into_iter())
            .or_else(|| self.closest(call, used.into_iter()))
            .unwrap_or_else(|| Mismatch {
                expected_index: Some(call),
                recorded_index: None,
                arg_diffs: Vec::new(),
                reason: format!("`calls[{call}]` `{name}`: never called"),
            })
    }

    fn surplus(&self, index: usize, partners: &[Option<usize>]) -> Mismatch {
        let name = &self.recorded[index].name;
        let opening = format!(
            "the run may make only the expected calls, and goes beyond them with `tool_calls[{index}]` `{name}`"
        );
        let namesakes =
            (0..self.plan.calls.len()).filter(|&call| self.plan.calls[call].name == *name);
        let (unmatched, matched): (Vec<_>, Vec<_>) =
            namesakes.partition(|&call| partners[call].is_none());
        let closest = |calls: &[usize]| {
            let calls = calls.iter().take(CLOSEST_OF);
            calls
                .map(|&call| (call, self.difference(call, index)))
                .min_by_key(|(_, (arg_diffs, _))| arg_diffs.len())
        };
        let fits = |call: &&usize| self.fitting[**call].binary_search(&index).is_ok();
        let (expected_index, arg_diffs, why) = if let Some(&call) = matched.iter().find(fits) {
            let why = "made more often than expected".to_owned();
            (Some(call), Vec::new(), why)
        } else if let Some((call, (arg_diffs, difference))) =
            closest(&unmatched).or_else(|| closest(&matched))
        {
            let why = format!("closest is `calls[{call}]`, but {difference}");
            (Some(call), arg_diffs, why)
        } else {
            (None, Vec::new(), "no such call is expected".to_owned())
        };
        Mismatch {
            expected_index,
            recorded_index: Some(index),
            arg_diffs,
            reason: format!("{opening}: {why}"),
        }
    }

    /// Describes the call among `indices` that has the expected name and differs in the fewest
    /// places.
    fn closest(&self, call: usize, indices: impl Iterator<Item = usize>) -> Option<Mismatch> {
        let expected = &self.plan.calls[call];
        let (index, (arg_diffs, difference)) = indices
            .filter(|&index| self.recorded[index].name == expected.name)
            .take(CLOSEST_OF)
            .map(|index| (index, self.difference(call, index)))
            .min_by_key(|(_, (arg_diffs, _))| arg_diffs.len())?;
        Some(Mismatch {
            expected_index: Some(call),
            recorded_index: Some(index),
            arg_diffs,
            reason: format!(
                "`calls[{call}]` `{}`: closest is `tool_calls[{index}]`, but {difference}",
                expected.name
            ),
        })
    }

    /// Why a recorded call does not fit an expected one.
    fn difference(&self, call: usize, index: usize) -> (Vec<ArgDiff>, String) {
        let (expected, recorded) = (&self.plan.calls[call], &self.recorded[index]);
        if expected.name != recorded.name {
            let difference = format!("expected `{}`, recorded `{}`", expected.name, recorded.name);
            return (Vec::new(), difference);
        }
        let diffs = expected.args.diffs(&recorded.args);
        let arg_diffs: Vec<_> = diffs.into_iter().map(|diff| diff.below("args")).collect();
        let difference = match (arg_diffs.as_slice(), expected.is_error) {
            ([], Some(wanted)) if self.errors[index] != Some(wanted) => {
                let wanted = if wanted { "an error" } else { "a success" };
                let found = match self.errors[index] {
                    None => "it has none",
                    Some(true) => "it is an error",
                    Some(false) => "it is a success",
                };
                format!(
                    "the result of `{}` should be {wanted} and {found}",
                    expected.name
                )
            }
            ([], _) => format!("`{}` itself fits", expected.name),
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
                count(rest.len(), "more place")
            ),
        };
        (arg_diffs, difference)
    }
}

fn inverse(partners: &[Option<usize>], len: usize) -> Vec<Option<usize>> {
    let mut inverse = vec![None; len];
    for (item, partner) in partners.iter().enumerate() {
        if let Some(partner) = partner {
            inverse[*partner] = Some(item);
        }
    }
    inverse
}

fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}
