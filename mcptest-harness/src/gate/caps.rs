//! Caps that the suite states, against what the recorded runs took.

use mcptest_suite::model::Agent;
use mcptest_suite::{Diagnostic, Spanned};

use super::{Criterion, Input, Judgement, runs_note, scope};
use crate::render::{Finding, thousands};
use crate::trace::{Run, Trace};

/// A cap: its key, its unit, what the suite states, what a run took (nothing where that was not
/// recorded), and where it would be recorded.
struct Cap<'a> {
    key: &'a str,
    unit: &'a str,
    stated: Option<&'a Spanned<u64>>,
    taken: fn(&Trace) -> Option<u64>,
    recorded_in: &'a str,
}

/// The caps of an agent: none is exceeded by a recorded run, and what was recorded can be held
/// against each. Reaching a cap is not exceeding it.
#[derive(Debug)]
pub(crate) struct Caps;

impl Criterion for Caps {
    fn judge(&self, input: &Input<'_>) -> Judgement {
        let findings = caps(input.agent).into_iter().flat_map(|cap| {
            let exceeded = exceeded(&cap, input.runs);
            [exceeded, unknown(&cap, input.runs)]
        });
        findings.flatten().collect::<Vec<Finding>>().into()
    }
}

fn caps(agent: &Agent) -> [Cap<'_>; 3] {
    [
        Cap {
            key: "max_turns",
            unit: "model calls",
            stated: agent.caps.max_turns.as_ref(),
            taken: |trace| recorded(trace.model_calls()),
            recorded_in: "`conversation.steps`, `step` of the calls or `conversation.turns`",
        },
        Cap {
            key: "token_budget",
            unit: "tokens",
            stated: agent.caps.token_budget.as_ref(),
            taken: |trace| recorded(trace.conversation.tokens.total),
            recorded_in: "`conversation.tokens` or `conversation.steps`",
        },
        Cap {
            key: "max_tool_calls",
            unit: "tool calls",
            stated: agent.caps.max_tool_calls.as_ref(),
            taken: |trace| Some(trace.tool_calls.len() as u64),
            recorded_in: "`tool_calls`",
        },
    ]
}

fn exceeded(cap: &Cap<'_>, runs: &[Run]) -> Option<Finding> {
    let Cap {
        key, unit, taken, ..
    } = cap;
    let stated = cap.stated?;
    let over = |run: &usize| taken(&runs[*run].trace).is_some_and(|taken| taken > stated.value);
    let over: Vec<usize> = (0..runs.len()).filter(over).collect();
    let most = over
        .iter()
        .filter_map(|run| taken(&runs[*run].trace))
        .max()?;
    let message = format!(
        "`{key}` is exceeded{}: up to {} {unit}, the cap is {}",
        scope(over.len(), runs.len()),
        thousands(most),
        thousands(stated.value)
    );
    let problem = Diagnostic::at(stated.span, message)
        .note(runs_note(runs, &over))
        .help("record the runs again under this cap, or raise it");
    Some(Finding::new(problem))
}

fn unknown(cap: &Cap<'_>, runs: &[Run]) -> Option<Finding> {
    let Cap {
        key, unit, taken, ..
    } = cap;
    let stated = cap.stated?;
    let unknown = |run: &usize| taken(&runs[*run].trace).is_none();
    let unknown: Vec<usize> = (0..runs.len()).filter(unknown).collect();
    if unknown.is_empty() {
        return None;
    }
    let message = format!(
        "`{key}` cannot be judged{}: no {unit} are recorded",
        scope(unknown.len(), runs.len())
    );
    let problem = Diagnostic::at(stated.span, message)
        .note(runs_note(runs, &unknown).replacen("broken by", "not recorded in", 1))
        .help(format!(
            "record the runs with {}, or take the cap away",
            cap.recorded_in
        ));
    Some(Finding::new(problem))
}

/// A count, where something was recorded to count.
fn recorded(count: u64) -> Option<u64> {
    Some(count).filter(|count| *count > 0)
}
