//! The attempts of code at the calls of its model: each is a call that faults decide on.

use std::ops::Range;

use super::{Effect, Fault, HitEvidence};
use crate::trace::{Attempt, Synthesized, ToolCall, ToolResult, Trace};

/// How a call, or an attempt at it, ended.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CallOutcome<'t> {
    /// The mark of the fault that answered.
    pub(super) mark: Option<&'t Synthesized>,
    is_error: bool,
    is_answered: bool,
}

impl<'t> CallOutcome<'t> {
    pub(super) fn from_result(result: Option<&'t ToolResult>) -> Self {
        Self {
            mark: result.and_then(|result| result.synthesized.as_ref()),
            is_error: result.is_some_and(|result| result.is_error),
            is_answered: result.is_some(),
        }
    }

    pub(super) fn from_attempt(attempt: &'t Attempt) -> Self {
        Self {
            mark: attempt.synthesized.as_ref(),
            is_error: attempt.error.is_some(),
            is_answered: attempt.error.is_some() || attempt.result.is_some(),
        }
    }

    pub(super) fn is_success(&self) -> bool {
        self.is_answered && !self.is_error
    }

    /// What shows that a fault did its work; nothing where a success contradicts it.
    pub(super) fn evidence(&self, effect: Effect, fault: &Fault) -> Option<HitEvidence> {
        let is_marked = self.mark.is_some_and(|mark| mark.fault == fault.name);
        match effect {
            Effect::Late(_) => Some(HitEvidence::AnsweredLate),
            Effect::Timeout if is_marked => Some(HitEvidence::Synthesized),
            Effect::Timeout if !self.is_answered => Some(HitEvidence::NoResult),
            Effect::Timeout => self.is_error.then_some(HitEvidence::Error),
        }
    }
}

/// The calls of a trace by the answer that asked for them.
pub(super) fn calls_by_step(trace: &Trace) -> Vec<Range<usize>> {
    let mut steps: Vec<Range<usize>> = Vec::new();
    for (index, call) in trace.tool_calls.iter().enumerate() {
        let goes_on = |last: &Range<usize>| {
            let before = &trace.tool_calls[last.start];
            call.step.is_some() && (before.step, &before.agent_id) == (call.step, &call.agent_id)
        };
        match steps.last_mut().filter(|last| goes_on(last)) {
            Some(last) => last.end = index + 1,
            None => steps.push(index..index + 1),
        }
    }
    steps
}

/// A tool, and its server.
type Of<'t> = (&'t str, &'t str);

/// Attempts at calls, each with the call.
type Attempts<'t> = Vec<(usize, CallOutcome<'t>)>;

/// Further attempts at the calls of an answer, by the tool.
#[derive(Debug, Default)]
pub(super) struct FurtherAttempts<'t>(Vec<(Of<'t>, Attempts<'t>)>);

impl<'t> FurtherAttempts<'t> {
    pub(super) fn add(
        &mut self,
        (call, server): (&'t ToolCall, &'t str),
        call_index: usize,
        attempts: &'t [Attempt],
    ) {
        let of = (call.name.as_str(), server);
        let all = attempts.iter().map(CallOutcome::from_attempt);
        let all = all.map(|came| (call_index, came));
        match self.0.iter_mut().find(|(known, _)| *known == of) {
            Some((_, known)) => known.extend(all),
            None => self.0.push((of, all.collect())),
        }
    }

    pub(super) fn into_tools(self) -> Vec<(Of<'t>, Attempts<'t>)> {
        self.0
    }
}
