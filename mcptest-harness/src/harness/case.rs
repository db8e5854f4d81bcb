//! Judging one case.

use mcptest_suite::gates::{GateOptions, Outcome};
use mcptest_suite::model::{Agent, GateBlock, GateKind};
use mcptest_suite::{Case, CaseKind, Diagnostic, Spanned, Style, Subject};

use super::agent_runs::AgentRuns;
use super::loaded::LoadedSuite;
use crate::gate::SnapshotStore as _;
use crate::gate::{
    About, Input, check_breaches, findings, implementation, injected_but_not_met, runs_note, scope,
};
use crate::render::{Failure, Finding, rerun_line, thousands};
use crate::trace::{Run, Trace};

/// What a case needs besides its suite.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// The case's full name.
    pub(crate) name: String,
    /// The full name of the agent's own case.
    pub(crate) agent: String,
    /// Whether the case is run only when ignored ones are asked for.
    pub(crate) ignored: bool,
    /// The package the case belongs to.
    pub(crate) package: String,
    pub(crate) style: Style,
}

impl Context {
    /// The command that runs this case alone.
    pub(crate) fn rerun(&self) -> String {
        let exact = rerun(&self.package, &self.name);
        if self.ignored {
            return exact.replacen("-- --exact", "-- --include-ignored --exact", 1);
        }
        exact
    }
}

/// The command that runs a case of a package alone.
pub(crate) fn rerun(package: &str, case: &str) -> String {
    format!("cargo test -p {package} -- --exact {case}")
}

/// Judges a case; an error is the whole failure text.
pub(crate) fn judge(suite: &LoadedSuite, case: &Case, context: &Context) -> Result<(), String> {
    let verdict = match case.kind {
        CaseKind::Agent(subject) => judge_agent(suite, subject),
        CaseKind::Gate(subject, kind) => match suite.recorded(subject) {
            Ok(recorded) => judge_gate(suite, subject, kind, recorded.runs()),
            Err(_) => {
                return Err(format!(
                    "not judged: the recordings of this agent cannot be used; see `{}`",
                    context.agent
                ));
            }
        },
        CaseKind::Unsupported => {
            return Err(format!(
                "not run: {}",
                case.ignored.as_deref().unwrap_or_default()
            ));
        }
    };
    verdict.map_err(|failure| failure.render(suite.source(), &context.rerun(), context.style))
}

/// A check written in Rust.
pub(crate) type Judge<'a> = dyn Fn(&AgentRuns) -> Result<(), String> + 'a;

/// Runs a check on an agent's recorded runs; an error is the whole failure text.
pub(crate) fn check(
    suite: &LoadedSuite,
    subject: Subject,
    check: &Judge<'_>,
    context: &Context,
) -> Result<(), String> {
    match suite.recorded(subject) {
        Ok(runs) => {
            check(runs).map_err(|text| format!("{text}\n\n{}", rerun_line(&context.rerun())))
        }
        Err(failure) => Err(failure.render(suite.source(), &context.rerun(), context.style)),
    }
}

fn judge_gate(
    suite: &LoadedSuite,
    subject: Subject,
    kind: GateKind,
    runs: &[Run],
) -> Result<(), Failure> {
    let agent = suite.agent(subject);
    let Some(block) = agent.gate(kind) else {
        return Err(Diagnostic::new(format!("this agent has no `{}`", kind.name())).into());
    };
    implementation(&block.options).judge(&Input {
        suite: &suite.suite,
        agent,
        checks: suite.checks(subject),
        block,
        runs,
        snapshots: &suite.snapshots(subject),
    })
}

/// The agent test itself: its recordings, its caps, its `expect:`.
fn judge_agent(suite: &LoadedSuite, subject: Subject) -> Result<(), Failure> {
    let agent = suite.agent(subject);
    let runs = suite
        .recorded(subject)
        .as_ref()
        .map_err(Clone::clone)?
        .runs();
    let mut found = exceeded_caps(agent, runs);
    // Where `reliability` counts the runs that hold, a run that does not is no failure of its own.
    let counted = agent.gate(GateKind::Reliability).is_some_and(counts_expect);
    let checks = if counted {
        &[]
    } else {
        &suite.checks(subject).expect[..]
    };
    let store = suite.snapshots(subject);
    let breaches = runs.iter().enumerate().flat_map(|(index, run)| {
        let snapshots = |name: &str, value: &_| store.value(index, name, value);
        let breaches = check_breaches(checks, &run.envelope, &snapshots);
        breaches
            .into_iter()
            .map(move |breach| (Some(index), breach))
    });
    let about = |name, span| About {
        name,
        span,
        checks,
        runs,
    };
    let unmet = runs.iter().enumerate().filter_map(|(index, run)| {
        Some((Some(index), injected_but_not_met(&suite.suite, agent, run)?))
    });
    if let Some(first) = agent.inject.first() {
        found.extend(findings(&about("inject", first.span), unmet.collect()));
    }
    found.extend(findings(
        &about("expect", agent.name.span),
        breaches.collect(),
    ));
    if found.is_empty() {
        Ok(())
    } else {
        Err(Failure {
            findings: found,
            evidence: Vec::new(),
        })
    }
}

fn counts_expect(reliability: &GateBlock) -> bool {
    let GateOptions::Reliability(options) = &reliability.options else {
        return false;
    };
    matches!(options.outcome, Outcome::Judged { expect: true, .. })
}

/// A cap: its key, its unit, what the suite states, and what a run spent.
type Cap<'a> = (
    &'a str,
    &'a str,
    Option<&'a Spanned<u64>>,
    fn(&Trace) -> u64,
);

/// Caps that the suite states and a recorded run exceeds. Reaching a cap is not exceeding it.
fn exceeded_caps(agent: &Agent, runs: &[Run]) -> Vec<Finding> {
    let caps: [Cap<'_>; 3] = [
        (
            "max_turns",
            "model calls",
            agent.caps.max_turns.as_ref(),
            model_calls,
        ),
        (
            "token_budget",
            "tokens",
            agent.caps.token_budget.as_ref(),
            |trace| trace.conversation.tokens.total,
        ),
        (
            "max_tool_calls",
            "tool calls",
            agent.caps.max_tool_calls.as_ref(),
            |trace| trace.tool_calls.len() as u64,
        ),
    ];
    let exceeded = caps.into_iter().filter_map(|(key, unit, cap, spent)| {
        let cap = cap?;
        let over: Vec<usize> = (0..runs.len())
            .filter(|run| spent(&runs[*run].trace) > cap.value)
            .collect();
        let most = over.iter().map(|run| spent(&runs[*run].trace)).max()?;
        let message = format!(
            "`{key}` is exceeded{}: up to {} {unit}, the cap is {}",
            scope(over.len(), runs.len()),
            thousands(most),
            thousands(cap.value)
        );
        let problem = Diagnostic::at(cap.span, message)
            .note(runs_note(runs, &over))
            .help("record the runs again under this cap, or raise it");
        Some(Finding::new(problem))
    });
    exceeded.collect()
}

/// Model calls of a run: its steps; where they were not recorded its assistant turns, with a run of
/// tool-use turns as one.
fn model_calls(trace: &Trace) -> u64 {
    let conversation = &trace.conversation;
    if !conversation.steps.is_empty() {
        return conversation.steps.len() as u64;
    }
    let mut calls = 0;
    let mut in_tool_use = false;
    for turn in &conversation.turns {
        let tool_use = turn.is_tool_use();
        calls += u64::from(turn.is_assistant() && !(tool_use && in_tool_use));
        in_tool_use = tool_use;
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_run_of_tool_use_turns_is_one_model_call() {
        let turn = |role: &str, content: &str| json!({ "role": role, "content": content });
        let trace = Trace::from_envelope(&json!({ "conversation": { "turns": [
            turn("user", "hi"),
            turn("assistant", "tool_use a::b with {}"),
            turn("assistant", "tool_use a::c with {}"),
            turn("assistant", "done"),
            turn("user", "and?"),
            turn("assistant", "tool_use a::d with {}"),
            turn("assistant", "bye"),
        ] } }));
        assert_eq!(model_calls(&trace), 4);
    }
}
