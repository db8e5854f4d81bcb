//! A case and its verdict as data.

use mcptest_suite::{Case, CaseKind, REGRESSION, Style, Subject};

use super::case_verdict::{CaseVerdict, Conclusion, Context};
use super::loaded::LoadedSuite;
use crate::gate::{Judgement, gate_targets};
use crate::record;
use crate::result::{
    self, AgentFacts, Asker, CaseResult, CaseStatus, FailureFacts, SuiteFacts, TargetResult,
};

/// A verdict as data.
pub(crate) fn to_result(
    verdict: &CaseVerdict,
    suite: &LoadedSuite,
    case: &Case,
    context: &Context,
) -> CaseResult {
    let CaseVerdict { came, judgement } = verdict;
    let (status, reason, failure) = match came {
        Conclusion::Holds => (CaseStatus::Passed, None, None),
        Conclusion::Elsewhere(reason) | Conclusion::Undecided(reason) => {
            (CaseStatus::Ignored, Some(reason.clone()), None)
        }
        Conclusion::Fails(failure) => {
            let rerun = rerun_command(suite, case, context);
            let text = failure.render(suite.source(), &rerun, Style::Plain);
            let facts = FailureFacts {
                command: Some(rerun),
                ..result::failure_facts(failure, text, suite.source())
            };
            (CaseStatus::Failed, None, Some(facts))
        }
        Conclusion::NotJudged(text) => (
            CaseStatus::Failed,
            None,
            Some(FailureFacts::from_text(text)),
        ),
    };
    let mut result = describe_case(suite, case, context);
    result.status = status;
    result.reason = reason;
    result.failure = failure;
    result.targets = match case.kind {
        CaseKind::Agent(subject) => expect_results(judgement, suite, subject),
        _ => target_results(judgement, suite, case),
    };
    result.run_verdicts.clone_from(&judgement.run_verdicts);
    result.notes.clone_from(&judgement.notes);
    result.played.clone_from(&judgement.played);
    let counts = judgement.counts.iter();
    result.judged = counts
        .map(|(what, count)| ((*what).to_owned(), *count))
        .collect();
    result
}

/// The command that runs a case alone. Where its runs could not be recorded, it records them.
pub(super) fn rerun_command(suite: &LoadedSuite, case: &Case, context: &Context) -> String {
    let subject = case.kind.subject();
    let unrecorded = subject.filter(|subject| suite.is_unrecorded(*subject));
    let asked = record::read_record_request().ok().flatten();
    if let Some((subject, asked)) = unrecorded.zip(asked) {
        return suite.record_line(subject).in_mode(asked.mode);
    }
    let play = suite.play_line(&context.name);
    play.unwrap_or_else(|| context.rerun_command())
}

/// Whether a case is that of a gate which the agent's `reliability` judges.
pub(super) fn is_counted(suite: &LoadedSuite, case: &Case) -> bool {
    let CaseKind::Gate(subject, kind) = case.kind else {
        return false;
    };
    let agent = suite.agent(subject);
    let only = || suite.suite.agents.iter().any(|agent| agent.only.is_some());
    let left_out = agent.skip.is_some() || (agent.only.is_none() && only());
    let mut gates = agent.gates.iter();
    !left_out && gates.any(|gate| gate.kind == kind && gate.counted)
}

/// The result of a case that is not judged, for a reason.
pub(super) fn ignored_result(
    suite: &LoadedSuite,
    case: &Case,
    context: &Context,
    reason: &str,
) -> CaseResult {
    let mut result = describe_case(suite, case, context);
    result.status = CaseStatus::Ignored;
    result.reason = Some(reason.to_owned());
    result
}

/// What is known of a case before it is judged, and of its runs.
pub(super) fn describe_case(suite: &LoadedSuite, case: &Case, context: &Context) -> CaseResult {
    let source = suite.source();
    let digest = result::digest(source.text());
    let mut result = CaseResult::new(&context.package, &context.name);
    result.suite = SuiteFacts::new(&context.suite, source.display_path(), digest);
    let (subject, kind) = match case.kind {
        CaseKind::Agent(subject) | CaseKind::Regression(subject) => (subject, None),
        CaseKind::Gate(subject, kind) => (subject, Some(kind)),
        CaseKind::SuiteRegression => {
            result.gate = Some(REGRESSION.to_owned());
            return result;
        }
        _ => return result,
    };
    let agent = suite.agent(subject);
    result.agent = Some(AgentFacts {
        name: agent.name.value.clone(),
        model: agent.models[subject.model].value.id.clone(),
        case: context.agent.clone(),
        stem: suite.stem(subject),
    });
    let gate = kind.and_then(|kind| suite.gates(subject).get(kind));
    let span = gate.map_or(agent.name.span, |gate| gate.span);
    result.asked = Some(result::to_position(source, span));
    result.gate = match case.kind {
        CaseKind::Regression(_) => Some(REGRESSION.to_owned()),
        _ => kind.map(|kind| kind.name().to_owned()),
    };
    // What is not judged needs no recordings.
    let judged = case.ignored.is_none() || is_counted(suite, case);
    if let (true, Ok(recorded)) = (judged, suite.runs(subject)) {
        result.recordings = recorded.recordings(suite.crate_dir()).to_vec();
        if matches!(case.kind, CaseKind::Agent(_)) {
            let runs = recorded.runs();
            let prices = &suite.suite.prices;
            let facts = runs.iter().map(|run| result::run_facts(run, prices));
            result.runs = facts.collect();
            result.prompts = result::prompts(runs);
        }
    }
    result
}

/// What was computed, and what was asked of it.
pub(super) fn target_results(
    judgement: &Judgement,
    suite: &LoadedSuite,
    case: &Case,
) -> Vec<TargetResult> {
    let CaseKind::Gate(subject, kind) = case.kind else {
        return Vec::new();
    };
    let gate = suite.gates(subject).get(kind);
    let asker = Asker {
        source: suite.source(),
        checks: gate.map_or(&[][..], |gate| &gate.expect),
        judgement,
    };
    asker.targets(gate_targets(kind))
}

/// What an agent's own assertions look at.
fn expect_results(
    judgement: &Judgement,
    suite: &LoadedSuite,
    subject: Subject,
) -> Vec<TargetResult> {
    let Ok(recorded) = suite.runs(subject) else {
        return Vec::new();
    };
    let asker = Asker {
        source: suite.source(),
        checks: &suite.gates(subject).expect,
        judgement,
    };
    asker.expect_results(recorded.runs())
}
