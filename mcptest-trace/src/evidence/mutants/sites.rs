//! Where a run can be broken, in order.

use std::collections::BTreeSet;

use crate::trace::leaves::{keys, leaves, path_text, pointer};
use crate::trace::{Run, StopReason, ToolCall};
use serde::Serialize;
use serde_json::json;

use super::Tools;
use super::change::{ArgsEdit, Change, arguments_object};
use super::knowledge::{CallFacts, Needed};
use super::leaves::{changed_scalar, scalar_text};
use super::operator::Operator;
use super::words::claim;

/// Whether a change makes a run worse.
///
/// A closed set: whoever matches on it need not expect another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MutantLabel {
    /// It does: a suite should notice.
    Counted,
    /// It does not: a suite should not mind.
    Harmless,
    /// Nobody can say: not judged.
    Unclear,
}

/// A place where a run can be broken in one way.
#[derive(Debug, Clone)]
pub(super) struct Site {
    pub(super) operator: Operator,
    pub(super) label: MutantLabel,
    /// The call, from 0.
    pub(super) call: Option<usize>,
    /// What is changed, in words.
    pub(super) what: String,
    pub(super) change: Change,
}

/// All sites of a run: operators in order, calls in order, paths in order.
pub(super) fn find_sites(run: &Run, tools: &Tools<'_>) -> Vec<Site> {
    let mut sites = SiteFinder {
        run,
        calls: &run.trace.tool_calls,
        known: CallFacts::for_run(run, tools),
        tools,
        found: Vec::new(),
    };
    sites.add_order_sites();
    sites.add_other_tool_sites();
    sites.add_argument_sites();
    sites.add_result_sites();
    sites.add_closing_sites();
    sites.add_run_sites();
    sites.found
}

struct SiteFinder<'a> {
    run: &'a Run,
    calls: &'a [ToolCall],
    known: Vec<CallFacts>,
    tools: &'a Tools<'a>,
    found: Vec<Site>,
}

impl SiteFinder<'_> {
    fn add(
        &mut self,
        operator: Operator,
        label: MutantLabel,
        call: impl Into<Option<usize>>,
        what: impl Into<String>,
        change: Change,
    ) {
        self.found.push(Site {
            operator,
            label,
            call: call.into(),
            what: what.into(),
            change,
        });
    }

    /// Adds a change of the whole run, which makes it worse.
    fn add_for_run(&mut self, operator: Operator, what: impl Into<String>, change: Change) {
        self.add(operator, MutantLabel::Counted, None, what, change);
    }

    fn reads(&self, call: usize) -> bool {
        self.known[call].reads
    }

    /// The label of a change of a call that no rule calls harmless.
    fn label(&self, call: usize) -> MutantLabel {
        let known = &self.known[call];
        if known.reads && known.needed == Needed::Nowhere {
            MutantLabel::Unclear
        } else {
            MutantLabel::Counted
        }
    }

    fn add_order_sites(&mut self) {
        let calls = self.calls.len();
        for call in 0..calls {
            let order = vec![0..call, call + 1..calls];
            let twin = self.reads(call) && self.known[call].has_twin;
            let label = if twin {
                MutantLabel::Harmless
            } else {
                self.label(call)
            };
            self.add(Operator::DropCall, label, call, "", Change::Order(order));
        }
        for call in 0..calls {
            let operator = if self.reads(call) {
                Operator::RepeatRead
            } else {
                Operator::RepeatWrite
            };
            let order = vec![0..call + 1, call..calls];
            self.add(
                operator,
                MutantLabel::Counted,
                call,
                "",
                Change::Order(order),
            );
        }
        for call in 1..calls {
            let order = vec![0..call - 1, call..call + 1, call - 1..call, call + 1..calls];
            let label = self.swap_label(call - 1);
            let what = format!("with {}", self.calls[call].name);
            let change = Change::Order(order);
            self.add(Operator::SwapCalls, label, call - 1, what, change);
        }
        let first = (0..calls).find(|call| !self.reads(*call));
        if let Some(first) = first.filter(|first| *first > 0) {
            let order = vec![first..first + 1, 0..first, first + 1..calls];
            self.add(
                Operator::ActFirst,
                MutantLabel::Counted,
                first,
                "",
                Change::Order(order),
            );
        }
    }

    fn swap_label(&self, first: usize) -> MutantLabel {
        let together = self.calls[first].step.is_some()
            && self.calls[first].step == self.calls[first + 1].step;
        let reads = self.reads(first) && self.reads(first + 1);
        if together || (reads && self.known[first].needed != Needed::ByTheNextCall) {
            MutantLabel::Harmless
        } else {
            MutantLabel::Counted
        }
    }

    fn add_other_tool_sites(&mut self) {
        let of_run: BTreeSet<&str> = self.calls.iter().map(|call| call.name.as_str()).collect();
        for (call, recorded) in self.calls.iter().enumerate() {
            let names = if of_run.len() > 1 {
                &of_run
            } else {
                &self.tools.names
            };
            let name = recorded.name.as_str();
            let later = names
                .range::<str, _>((std::ops::Bound::Excluded(name), std::ops::Bound::Unbounded));
            let other = later.chain(names.iter()).find(|other| **other != name);
            if let Some(other) = other {
                let name = (*other).to_owned();
                let change = Change::Tool { call, name };
                let what = format!("→ {other}");
                self.add(Operator::ReplaceTool, self.label(call), call, what, change);
            }
        }
    }

    fn add_argument_sites(&mut self) {
        for (call, recorded) in self.calls.iter().enumerate() {
            let args = arguments_object(recorded);
            for (path, leaf) in leaves(&args) {
                let Some((operator, changed)) = changed_scalar(leaf) else {
                    continue;
                };
                let reworded = operator == Operator::ChangeText
                    && self.reads(call)
                    && leaf
                        .as_str()
                        .is_some_and(|text| text.split_whitespace().count() >= 3);
                let label = if reworded {
                    MutantLabel::Harmless
                } else {
                    self.label(call)
                };
                let what = format!(
                    "args{} {} → {}",
                    path_text(&path),
                    scalar_text(leaf),
                    scalar_text(&changed)
                );
                let edit = ArgsEdit::At(pointer(&path), changed);
                self.add(operator, label, call, what, Change::Args { call, edit });
            }
        }
        for (call, recorded) in self.calls.iter().enumerate() {
            let args = arguments_object(recorded);
            for key in keys(&args) {
                let edit = ArgsEdit::Without(key.to_owned());
                let change = Change::Args { call, edit };
                let (label, what) = (self.label(call), format!("args.{key}"));
                self.add(Operator::DropArgument, label, call, what, change);
            }
        }
        for (call, recorded) in self.calls.iter().enumerate() {
            if arguments_object(recorded).is_object() {
                let edit = ArgsEdit::With("mcptest_extra", json!(true));
                let change = Change::Args { call, edit };
                let (label, what) = (self.label(call), "args.mcptest_extra");
                self.add(Operator::ExtraArgument, label, call, what, change);
            }
        }
    }

    fn add_result_sites(&mut self) {
        for call in 0..self.calls.len() {
            if self.known[call].succeeded {
                let label = self.label(call);
                for (operator, change) in [
                    (Operator::FailResult, Change::FailResult(call)),
                    (Operator::DropResult, Change::DropResult(call)),
                ] {
                    self.add(operator, label, call, "", change);
                }
            }
        }
    }

    fn add_closing_sites(&mut self) {
        if self.run.trace.closing().is_none() {
            return;
        }
        let succeeded = self.calls.iter().zip(&self.known);
        let done: BTreeSet<&str> = succeeded
            .filter(|(_, known)| known.succeeded)
            .map(|(call, _)| call.name.as_str())
            .collect();
        for tool in self.tools.names.iter().filter(|tool| !done.contains(*tool)) {
            if let Some(claim) = claim(tool) {
                let what = format!("{tool}:{claim}");
                self.add_for_run(Operator::FalseClaim, what, Change::Claim(claim));
            }
        }
        if !self.ends_in_a_call() {
            self.add_for_run(Operator::DropClosing, "", Change::DropClosing);
        }
    }

    /// Whether the last thing that the agent did was a call: what it said before closes nothing.
    fn ends_in_a_call(&self) -> bool {
        let trace = &self.run.trace;
        let answered = trace.final_response.as_deref();
        let mut turns = trace.conversation.turns.iter().rev();
        let last = turns.find(|turn| turn.is_assistant());
        answered.is_none_or(|text| text.trim().is_empty())
            && last.is_some_and(crate::trace::Turn::is_tool_use)
    }

    fn add_run_sites(&mut self) {
        let calls = self.calls.len();
        if calls >= 2 {
            let what = format!("after {} of {calls} calls", calls / 2);
            self.add_for_run(Operator::Truncate, what, Change::Truncate(calls / 2));
        }
        if let Some(read) = (0..calls).find(|call| self.reads(*call)) {
            let last = calls - 1;
            let again = || read..read + 1;
            let order = vec![0..last, again(), again(), again(), last..calls];
            self.add(
                Operator::AddReads,
                MutantLabel::Counted,
                read,
                "",
                Change::Order(order),
            );
        }
        let steps = self.run.trace.conversation.steps.len();
        if steps >= 4 {
            let what = format!("from step {} of {steps}", steps / 2 + 1);
            self.add_for_run(Operator::GrowTokens, what, Change::GrowTokens(steps / 2));
        }
        if self.run.trace.conversation.stop_reason == Some(StopReason::Completed) {
            let what = "completed → turn_budget";
            self.add_for_run(Operator::StopReason, what, Change::StopReason);
        }
    }
}
