//! Caps that the suite states, against what the recorded runs took.

use mcptest_suite::model::Agent;
use mcptest_suite::{Diagnostic, Spanned};

use super::{Criterion, Input, Judgement, name_runs, run_places, scope};
use crate::render::Finding;
use crate::trace::{Run, Trace};
use mcptest_trace::text::with_thousands;

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
pub(crate) struct WithinCaps;

impl Criterion for WithinCaps {
    fn judge(&self, input: &Input<'_>) -> Judgement {
        let caps = caps(input.agent).into_iter();
        let findings = caps.flat_map(|cap| findings(&cap, input.runs));
        findings.collect::<Vec<Finding>>().into()
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
            taken: Trace::tokens_taken,
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

/// A cap that is exceeded, and one that runs cannot be held against.
fn findings(cap: &Cap<'_>, runs: &[Run]) -> Vec<Finding> {
    let Cap {
        key, unit, taken, ..
    } = cap;
    let Some(stated) = cap.stated else {
        return Vec::new();
    };
    let all = runs.len();
    let found = |message: String, note: String, help: &str| {
        let problem = Diagnostic::at(stated.span, message).note(note).help(help);
        Finding::new(problem)
    };
    let mut findings = Vec::new();
    let over = run_places(runs, |run| taken(&run.trace) > Some(stated.value));
    if let Some(most) = over.iter().filter_map(|run| taken(&runs[*run].trace)).max() {
        let (scope, most, cap) = (
            scope(over.len(), all),
            with_thousands(most),
            with_thousands(stated.value),
        );
        let message = format!("`{key}` is exceeded{scope}: up to {most} {unit}, the cap is {cap}");
        let help = "record the runs again under this cap, or raise it";
        findings.push(found(message, name_runs("broken by", runs, &over), help));
    }
    let unknown = run_places(runs, |run| taken(&run.trace).is_none());
    if !unknown.is_empty() {
        let scope = scope(unknown.len(), all);
        let message = format!("`{key}` cannot be judged{scope}: no {unit} are recorded");
        let help = format!(
            "record the runs with {}, or remove the cap",
            cap.recorded_in
        );
        findings.push(found(
            message,
            name_runs("not recorded in", runs, &unknown),
            &help,
        ));
    }
    findings
}

/// A count, where something was recorded to count.
fn recorded(count: u64) -> Option<u64> {
    Some(count).filter(|count| *count > 0)
}
