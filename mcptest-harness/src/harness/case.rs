//! Judging one case.

use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};
use std::time::Instant;

use mcptest_suite::model::{Agent, GateKind};
use mcptest_suite::{Case, CaseKind, Diagnostic, Subject};

use super::agent_runs::AgentRuns;
use super::case_result::{
    self, describe_case, is_counted, rerun_command, target_results, to_result,
};
use super::case_verdict::{CaseOutcome, CaseVerdict, Conclusion, Context, not_judged_text};
use super::loaded::LoadedSuite;
use super::playing::Driver;
use super::regression;
use super::remarks::{note_equal, note_recorded_failures};
use super::verdicts::panic_text;
use crate::gate::{
    Answers, Criterion, Declared, Expect, Inject, Input, Judgement, Player, Scores, WithinCaps,
    note_attempts, note_calls_in_text, note_other_arguments,
};
use crate::render::{Evidence, Failure, rerun_line};
use crate::result::{self, CaseResult, CaseStatus, FailureFacts, folder};

/// Judges a case; an error is the whole failure text. Its result is left where the environment asks
/// for it.
pub(crate) fn judge(
    suite: &LoadedSuite,
    case: &Case,
    context: &Context,
) -> Result<CaseOutcome, String> {
    let begun = Instant::now();
    let verdict = verdict(suite, case, context);
    folder::write_requested(|| {
        let mut result = to_result(&verdict, suite, case, context);
        result.duration_ms = Some(begun.elapsed().as_secs_f64() * 1e3);
        result
    });
    to_outcome(verdict, suite, case, context)
}

/// Judges a case.
pub(crate) fn verdict(suite: &LoadedSuite, case: &Case, context: &Context) -> CaseVerdict {
    let mut verdict = judge_case(suite, case, context);
    if let Conclusion::Fails(failure) = verdict.came {
        verdict.came = Conclusion::Fails(failure.with_words_told_apart());
    }
    verdict
}

fn judge_case(suite: &LoadedSuite, case: &Case, context: &Context) -> CaseVerdict {
    match case.kind {
        CaseKind::Agent(subject) => judge_agent(suite, subject, context),
        CaseKind::Gate(subject, kind) => match suite.runs(subject) {
            Ok(recorded) => judge_gate(suite, subject, kind, recorded),
            Err(failure) => Conclusion::NotJudged(not_judged_text(failure, context)).into(),
        },
        CaseKind::Regression(subject) => regression::judge_agent(suite, subject, context),
        CaseKind::SuiteRegression => regression::judge_suite(suite, context),
        // Unsupported, or of another version.
        _ => {
            let reason = case.ignored.as_deref().unwrap_or_default();
            Conclusion::NotJudged(format!("not run: {reason}")).into()
        }
    }
}

/// The result of a case that has no verdict, for a reason. What `reliability` counts has its numbers.
pub(crate) fn ignored_result(
    suite: &LoadedSuite,
    case: &Case,
    context: &Context,
    reason: &str,
) -> CaseResult {
    if is_counted(suite, case) {
        let mut verdict = verdict(suite, case, context);
        verdict.came = Conclusion::Elsewhere(reason.to_owned());
        return to_result(&verdict, suite, case, context);
    }
    case_result::ignored_result(suite, case, context, reason)
}

/// A verdict as a test says it; an error is the whole failure text.
fn to_outcome(
    verdict: CaseVerdict,
    suite: &LoadedSuite,
    case: &Case,
    context: &Context,
) -> Result<CaseOutcome, String> {
    let CaseVerdict { came, judgement } = verdict;
    match came {
        Conclusion::Holds if !context.told => Ok(CaseOutcome::Holds(None)),
        Conclusion::Holds => {
            let table = result::table(&target_results(&judgement, suite, case));
            let parts: Vec<String> = table.into_iter().chain(judgement.notes).collect();
            Ok(CaseOutcome::Holds(
                (!parts.is_empty()).then(|| parts.join("\n\n")),
            ))
        }
        Conclusion::Elsewhere(reason) => Ok(CaseOutcome::Elsewhere(reason)),
        Conclusion::Undecided(reason) => Ok(CaseOutcome::Undecided(reason)),
        Conclusion::Fails(failure) => Err(failure.render(
            suite.source(),
            &rerun_command(suite, case, context),
            context.style,
        )),
        Conclusion::NotJudged(text) => Err(text),
    }
}

/// A check written in Rust.
pub(crate) type Judge<'a> = dyn Fn(&AgentRuns) -> Result<(), String> + 'a;

/// Runs a check on an agent's recorded runs; an error is the whole failure text. Its result is left
/// where the environment asks for it.
pub(crate) fn judge_check(
    suite: &LoadedSuite,
    case: &Case,
    name: &str,
    check: &Judge<'_>,
    context: &Context,
) -> Result<(), String> {
    let CaseKind::Agent(subject) = case.kind else {
        return Err(format!("`{}` is no agent test", case.name));
    };
    let begun = Instant::now();
    // A check that panics fails, and says so in its result as well.
    let outcome = match suite.runs(subject) {
        Ok(runs) => panic::catch_unwind(AssertUnwindSafe(|| check(runs))).map(|outcome| {
            outcome.map_err(|text| format!("{text}\n\n{}", rerun_line(&context.rerun_command())))
        }),
        // Beside the agent's own case, that one says why.
        Err(failure) if context.name != context.agent => Ok(Err(not_judged_text(failure, context))),
        Err(failure) => Ok(Err(failure.render(
            suite.source(),
            &rerun_command(suite, case, context),
            context.style,
        ))),
    };
    folder::write_requested(|| {
        let mut result = describe_case(suite, case, context);
        (result.runs, result.prompts) = (Vec::new(), BTreeMap::new());
        result.gate = Some(name.to_owned());
        let text = match &outcome {
            Ok(Ok(())) => None,
            Ok(Err(text)) => Some(text.clone()),
            Err(why) => {
                let text = panic_text(&**why).unwrap_or("without a text");
                Some(format!("the check panicked: {text}"))
            }
        };
        if let Some(text) = text {
            result.status = CaseStatus::Failed;
            result.failure = Some(FailureFacts::from_text(&text));
        }
        result.duration_ms = Some(begun.elapsed().as_secs_f64() * 1e3);
        result
    });
    outcome.unwrap_or_else(|why| panic::resume_unwind(why))
}

fn judge_gate(
    suite: &LoadedSuite,
    subject: Subject,
    kind: GateKind,
    recorded: &AgentRuns,
) -> CaseVerdict {
    let Some(gate) = suite.gates(subject).get(kind) else {
        let problem = Diagnostic::new(format!("this agent has no `{}`", kind.name()));
        return Conclusion::Fails(problem.into()).into();
    };
    let snapshots = suite.snapshots(subject);
    let driver = Driver::for_agent(suite, subject, Some(recorded));
    let idle =
        (kind == GateKind::Playback).then(|| driver.why_idle(suite.agent(subject), gate.span));
    match idle.flatten() {
        Some(Err(problem)) => return Conclusion::Fails(problem.into()).into(),
        Some(Ok(reason)) => return Conclusion::Undecided(reason).into(),
        None => {}
    }
    let player = driver.player(suite, subject, recorded);
    let mut judgement = gate.judge(&Input {
        player: player.as_ref().map(|player| player as &dyn Player),
        ..suite.input(subject, recorded, &snapshots)
    });
    let Some(mut failure) = judgement.failure.take() else {
        return CaseVerdict {
            came: Conclusion::Holds,
            judgement,
        };
    };
    let notes = judgement.notes.iter().cloned();
    failure.evidence.extend(notes.map(Evidence::Text));
    // What a gate over all runs says, it says of runs that differ.
    let failure = match judgement.scores {
        Scores::EachRun(_) => failure,
        Scores::Together(_) | Scores::None => with_alike_note(failure, recorded),
    };
    CaseVerdict {
        came: Conclusion::Fails(failure),
        judgement,
    }
}

/// A failure that also says which runs behave alike.
fn with_alike_note(mut failure: Failure, runs: &AgentRuns) -> Failure {
    let alike = runs.alike_note().cloned();
    failure.evidence.extend(alike.map(Evidence::Text));
    failure
}

/// The agent test itself: its recordings, its caps, its faults, its `expect:`.
fn judge_agent(suite: &LoadedSuite, subject: Subject, context: &Context) -> CaseVerdict {
    let (agent, gates) = (suite.agent(subject), suite.gates(subject));
    let recorded = match suite.runs(subject) {
        Ok(recorded) => recorded,
        Err(failure) => return Conclusion::Fails(failure.clone()).into(),
    };
    let snapshots = suite.snapshots(subject);
    let input = suite.input(subject, recorded, &snapshots);
    let counted = gates.reliability_counts_expect();
    let injected = agent
        .inject
        .first()
        .map_or(agent.name.span, |first| first.span);
    let asked = |name, span| Declared {
        name,
        span,
        expect: &gates.expect[..],
    };
    let own: [(&dyn Criterion, Declared<'_>); 4] = [
        (&WithinCaps, asked("caps", agent.name.span)),
        (&Inject, asked("inject", injected)),
        (&Answers, asked("answers", agent.name.span)),
        (&Expect, asked("expect", agent.name.span)),
    ];
    let (mut findings, mut undecided) = (Vec::new(), None);
    let mut whole = Judgement::default();
    for (criterion, declared) in own {
        let judgement = criterion.judge(&Input { declared, ..input });
        // Where `reliability` counts the runs that hold, a run that does not is no failure of its own.
        let failure = judgement
            .failure
            .filter(|_| !counted || declared.name != "expect");
        findings.extend(failure.into_iter().flat_map(|failure| failure.findings));
        undecided = undecided.or(judgement.undecided);
        whole.notes.extend(judgement.notes);
        (whole.run_verdicts, whole.broken) = (judgement.run_verdicts, judgement.broken);
    }
    whole.notes.extend(note_recorded_failures(input.runs));
    whole.notes.extend(note_equal(input.runs));
    whole.notes.extend(note_calls_in_text(input.runs));
    // An `expect:` can ask for arguments, and for how many calls there are.
    if !gates.expect.is_empty() {
        whole.notes.extend(note_attempts(input.runs));
        whole.notes.extend(note_other_arguments(input.runs));
    }
    let came = if findings.is_empty() {
        match undecided.or_else(|| note_undemanding(agent, context)) {
            _ if counted => Conclusion::Elsewhere("`expect` judged by `reliability`".to_owned()),
            Some(reason) => Conclusion::Undecided(reason),
            None => Conclusion::Holds,
        }
    } else {
        let evidence = whole.notes.iter().cloned().map(Evidence::Text).collect();
        Conclusion::Fails(with_alike_note(Failure { findings, evidence }, recorded))
    };
    CaseVerdict {
        came,
        judgement: whole,
    }
}

/// Why nothing that the suite asks of an agent is judged here, where that is so.
fn note_undemanding(agent: &Agent, context: &Context) -> Option<String> {
    if let Some(reason) = agent.unsupported_reason() {
        return (!context.checked).then_some(reason);
    }
    let asks = agent.has_expectations();
    let check = agent.checks.first().filter(|_| !asks && !context.checked)?;
    Some(format!(
        "this agent asks only for the check `{}`, and no check of this name is registered here",
        check.name.value
    ))
}
