//! Judging one case.

use mcptest_suite::model::{Agent, GateKind};
use mcptest_suite::{Case, CaseKind, Diagnostic, Style, Subject};

use super::agent_runs::AgentRuns;
use super::alike::{alike, errors_unknown};
use super::loaded::LoadedSuite;
use crate::gate::{
    Caps, Expect, Gate, Inject, Input, Judgement, Scores, Subject as Asks, targets_of,
    unknown_tools,
};
use crate::render::{Evidence, Failure, Finding, rerun_line};
use crate::trace::Run;

/// What a case needs besides its suite.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// The case's full name.
    pub(crate) name: String,
    /// The full name of the agent's own case.
    pub(crate) agent: String,
    /// Whether the case is run only when ignored ones are asked for.
    pub(crate) ignored: bool,
    /// Whether checks in Rust run on the agent too.
    pub(crate) checked: bool,
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

/// What became of a case that does not fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Judged {
    /// With what was computed, as a table.
    Holds(Option<String>),
    /// Another case judges it; this one says so.
    Elsewhere(String),
    /// Nothing here can tell whether it holds, for a reason.
    Undecided(String),
}

/// Judges a case; an error is the whole failure text.
pub(crate) fn judge(suite: &LoadedSuite, case: &Case, context: &Context) -> Result<Judged, String> {
    let verdict = match case.kind {
        CaseKind::Agent(subject) => judge_agent(suite, subject, context),
        CaseKind::Gate(subject, kind) => match suite.recorded(subject) {
            Ok(recorded) => {
                let scores = judge_gate(suite, subject, kind, recorded);
                scores.map(|(scores, notes)| Judged::Holds(computed(&scores, kind, notes)))
            }
            Err(failure) => return Err(not_judged(failure, context)),
        },
        // Unsupported, or of another version.
        _ => {
            return Err(format!(
                "not run: {}",
                case.ignored.as_deref().unwrap_or_default()
            ));
        }
    };
    verdict.map_err(|failure| failure.render(suite.source(), &context.rerun(), context.style))
}

/// What is said of a case whose agent's recordings cannot be used: the agent's own case says why.
pub(crate) fn not_judged(failure: &Failure, context: &Context) -> String {
    format!(
        "not judged: the recordings of this agent cannot be used; see `{}` ({})",
        context.agent,
        failure.in_one_line()
    )
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
    recorded: &AgentRuns,
) -> Result<(Scores, Vec<String>), Failure> {
    let Some(gate) = suite.gates(subject).get(kind) else {
        return Err(Diagnostic::new(format!("this agent has no `{}`", kind.name())).into());
    };
    let (runs, snapshots) = (recorded.runs(), suite.snapshots(subject));
    let input = suite.input(subject, recorded, &snapshots).of(gate);
    let Judgement {
        scores,
        mut notes,
        failure,
        ..
    } = gate.gate.judge(&input);
    if gate.gate.rests_on_errors() {
        notes.extend(errors_unknown(runs));
    }
    let Some(mut failure) = with_unknown_tools(failure, unknown_tools(gate, runs)) else {
        return Ok((scores, notes));
    };
    failure
        .evidence
        .extend(notes.into_iter().map(Evidence::Text));
    // What a gate over all runs says, it says of runs that differ.
    Err(match scores {
        Scores::EachRun(_) => failure,
        Scores::Together(_) | Scores::None => with_alike(failure, runs),
    })
}

/// What was computed, as people read it.
fn computed(scores: &Scores, kind: GateKind, notes: Vec<String>) -> Option<String> {
    let table = scores.table(targets_of(kind)).map(|table| table.render());
    let parts: Vec<String> = table.into_iter().chain(notes).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// A failure that begins with the tools that nobody knows.
fn with_unknown_tools(failure: Option<Failure>, unknown: Option<Finding>) -> Option<Failure> {
    let Some(unknown) = unknown else {
        return failure;
    };
    let Some(mut failure) = failure else {
        return Some(unknown.into());
    };
    failure.findings.insert(0, unknown);
    Some(failure)
}

/// A failure that also says which runs behave alike.
fn with_alike(mut failure: Failure, runs: &[Run]) -> Failure {
    failure.evidence.extend(alike(runs).map(Evidence::Text));
    failure
}

/// The agent test itself: its recordings, its caps, its faults, its `expect:`.
fn judge_agent(
    suite: &LoadedSuite,
    subject: Subject,
    context: &Context,
) -> Result<Judged, Failure> {
    let (agent, gates) = (suite.agent(subject), suite.gates(subject));
    let recorded = suite.recorded(subject).as_ref().map_err(Clone::clone)?;
    let (runs, snapshots) = (recorded.runs(), suite.snapshots(subject));
    let input = suite.input(subject, recorded, &snapshots);
    // Where `reliability` counts the runs that hold, a run that does not is no failure of its own.
    let counted = gates.reliability_counts_expect();
    let injected = agent
        .inject
        .first()
        .map_or(agent.name.span, |first| first.span);
    let asks = |name, span| Asks {
        name,
        span,
        expect: if counted { &[] } else { &gates.expect[..] },
    };
    let own: [(&dyn Gate, Asks<'_>); 3] = [
        (&Caps, asks("caps", agent.name.span)),
        (&Inject, asks("inject", injected)),
        (&Expect, asks("expect", agent.name.span)),
    ];
    let (mut findings, mut undecided) = (Vec::new(), None);
    for (gate, subject) in own {
        let judgement = gate.judge(&Input { subject, ..input });
        findings.extend(
            judgement
                .failure
                .into_iter()
                .flat_map(|failure| failure.findings),
        );
        undecided = undecided.or(judgement.undecided);
    }
    if !findings.is_empty() {
        let evidence = Vec::new();
        return Err(with_alike(Failure { findings, evidence }, runs));
    }
    Ok(match undecided.or_else(|| undemanding(agent, context)) {
        _ if counted => Judged::Elsewhere("`expect` judged by `reliability`".to_owned()),
        Some(reason) => Judged::Undecided(reason),
        None => Judged::Holds(None),
    })
}

/// Why nothing that the suite asks of an agent is judged here, where that is so.
fn undemanding(agent: &Agent, context: &Context) -> Option<String> {
    if let Some(reason) = agent.only_unsupported() {
        return (!context.checked).then_some(reason);
    }
    let asks = agent.asks_something();
    let check = agent.checks.first().filter(|_| !asks && !context.checked)?;
    Some(format!(
        "all that is asked is the check `{}`, and none is registered here",
        check.name.value
    ))
}
