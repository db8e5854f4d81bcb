//! Judging one case.

use mcptest_suite::gates::{GateOptions, Outcome};
use mcptest_suite::model::{Agent, GateBlock, GateKind};
use mcptest_suite::{Case, CaseKind, Diagnostic, Style, Subject};

use super::agent_runs::AgentRuns;
use super::alike::{alike, errors_unknown};
use super::caps::exceeded_caps;
use super::known_tools::unknown_tools;
use super::loaded::LoadedSuite;
use crate::gate::SnapshotStore as _;
use crate::gate::{
    About, Input, check_breaches, faults_that_never_fired, findings, implementation,
    injected_but_not_met, needs_model,
};
use crate::render::{Evidence, Failure, rerun_line};
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
    Holds,
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
                judge_gate(suite, subject, kind, recorded.runs()).map(|()| Judged::Holds)
            }
            Err(failure) => {
                return Err(format!(
                    "not judged: the recordings of this agent cannot be used; see `{}` ({})",
                    context.agent,
                    failure.in_one_line()
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
    let verdict = implementation(&block.options).judge(&Input {
        suite: &suite.suite,
        agent,
        checks: suite.checks(subject),
        block,
        runs,
        snapshots: &suite.snapshots(subject),
    });
    let verdict = match (unknown_tools(block, runs), verdict) {
        (None, verdict) => verdict,
        (Some(finding), Ok(())) => Err(finding.into()),
        (Some(finding), Err(mut failure)) => {
            failure.findings.insert(0, finding);
            Err(failure)
        }
    };
    verdict.map_err(|mut failure| {
        if RESTS_ON_ERRORS.contains(&kind) {
            failure
                .evidence
                .extend(errors_unknown(runs).map(Evidence::Text));
        }
        match kind.per_run() {
            Some(_) => failure,
            // What a gate over all runs says, it says of runs that differ.
            None => with_alike(failure, runs),
        }
    })
}

/// The gates whose verdict rests on which results are errors.
const RESTS_ON_ERRORS: [GateKind; 4] = [
    GateKind::Narrative,
    GateKind::Recovery,
    GateKind::Session,
    GateKind::Trajectory,
];

/// A failure that also says which runs behave alike.
fn with_alike(mut failure: Failure, runs: &[Run]) -> Failure {
    failure.evidence.extend(alike(runs).map(Evidence::Text));
    failure
}

/// The agent test itself: its recordings, its caps, its `expect:`.
fn judge_agent(
    suite: &LoadedSuite,
    subject: Subject,
    context: &Context,
) -> Result<Judged, Failure> {
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
    let (mut breaches, mut undecided) = (Vec::new(), None);
    for (index, run) in runs.iter().enumerate() {
        let snapshots = |name: &str, value: &_| store.value(index, name, value);
        let verdicts = check_breaches(checks, &run.envelope, &snapshots);
        let of_run = verdicts.breaches.into_iter();
        breaches.extend(of_run.map(|breach| (Some(index), breach)));
        undecided = undecided.or(verdicts.undecided.into_iter().next());
    }
    let about = |name, span| About {
        name,
        span,
        checks,
        runs,
    };
    if let Some(first) = agent.inject.first() {
        let unmet = runs.iter().enumerate().filter_map(|(index, run)| {
            Some((Some(index), injected_but_not_met(&suite.suite, agent, run)?))
        });
        let mut unmet: Vec<_> = unmet.collect();
        if unmet.is_empty() {
            let silent = faults_that_never_fired(&suite.suite, agent, runs);
            unmet.extend(silent.into_iter().map(|breach| (None, breach)));
        }
        found.extend(findings(&about("inject", first.span), unmet));
    }
    found.extend(findings(&about("expect", agent.name.span), breaches));
    if !found.is_empty() {
        let failure = Failure {
            findings: found,
            evidence: Vec::new(),
        };
        return Err(with_alike(failure, runs));
    }
    Ok(match (undecided, undemanding(agent, context)) {
        _ if counted => Judged::Elsewhere("`expect` judged by `reliability`".to_owned()),
        (Some((index, matcher)), _) => Judged::Undecided(format!(
            "`{}`: {}",
            checks[index].target.text,
            needs_model(matcher)
        )),
        (None, Some(reason)) => Judged::Undecided(reason),
        (None, None) => Judged::Holds,
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

fn counts_expect(reliability: &GateBlock) -> bool {
    let GateOptions::Reliability(options) = &reliability.options else {
        return false;
    };
    matches!(options.outcome, Outcome::Judged { expect: true, .. })
}
