//! What the page of an agent shows: its cases, its runs side by side, what its closings claim.

use std::collections::HashMap;

use mcptest::judge::AgentTest;
use mcptest::result::{CaseResult, CaseStatus, TargetResult};
use mcptest_trace::eval::{SUB_SCORES, agent_stability, summarize};
use mcptest_trace::trace::{Run, canonical_json};
use serde::Serialize;

use super::closing::{ClaimView, ClosingPiece, closing};
use super::played::{self, PlayedView};
use super::value::{display_value, unwrap_result};
use crate::outcome::{self, Gates};

/// The page of an agent.
#[derive(Debug, Serialize)]
pub(super) struct AgentView {
    cases: Vec<CaseView>,
    pub(super) runs: Vec<RunView>,
    /// What several cases would say, with their gates.
    notes: Vec<(String, Vec<String>)>,
    /// Why the recordings cannot be used.
    unusable: Option<String>,
    /// The tools that are expected, in order.
    plan: Vec<String>,
    /// The names of the sub-scores of stability; nothing where the suite does not ask for stability.
    sub_scores: Option<[&'static str; 4]>,
    /// pass^k in percent, for k from 1: the chance that k runs of those that there are all passed.
    pass_hat: Vec<f64>,
    /// What asks: the lines of the suite.
    suite: Excerpt,
    /// The prompts, with the runs of each.
    prompts: Vec<(String, Vec<usize>)>,
}

/// Lines of a suite.
#[derive(Debug, Serialize)]
struct Excerpt {
    file: String,
    first: usize,
    lines: Vec<String>,
}

/// A case.
#[derive(Debug, Serialize)]
struct CaseView {
    case: String,
    gate: String,
    status: CaseStatus,
    reason: Option<String>,
    line: Option<usize>,
    targets: Vec<TargetResult>,
    judged: Vec<(String, u64)>,
    notes: Vec<String>,
    failure: Option<String>,
}

/// A run.
#[derive(Debug, Serialize)]
pub(super) struct RunView {
    origin: String,
    pub(super) passed: Option<bool>,
    /// Whether the outcome was recorded, and not what the gates say.
    recorded: bool,
    stop: Option<String>,
    pub(super) tokens: Option<u64>,
    pub(super) calls: Vec<CallView>,
    /// The closing, cut where claims begin and end; with the claim's place in `claims`.
    closing: Option<Vec<ClosingPiece>>,
    /// What the closing claims, then what earlier messages do.
    claims: Vec<ClaimView>,
    /// The sub-scores of stability, where the suite asks for stability.
    scores: Option<[f64; 4]>,
    energy: Option<EnergyView>,
    /// The tools that the plan expects and that were never called.
    missing: Vec<String>,
    /// The first call that is not that of all runs.
    apart: Option<usize>,
    /// What the agent's own code did with it, where that is not as recorded.
    played: Option<PlayedView>,
}

impl RunView {
    /// How many calls end in an error.
    pub(super) fn errors(&self) -> u64 {
        let errors = self.calls.iter().filter(|call| call.error);
        u64::try_from(errors.count()).unwrap_or(u64::MAX)
    }
}

/// A call.
#[derive(Debug, Serialize)]
pub(super) struct CallView {
    name: String,
    server: String,
    args: String,
    /// The result; nothing where there is none.
    result: Option<String>,
    error: bool,
    /// The fault that was injected.
    fault: Option<String>,
    /// Whether the plan expects it.
    planned: bool,
    /// The earlier call that this one repeats.
    repeats: Option<usize>,
    step: Option<u64>,
}

/// How the tokens of a run grow.
#[derive(Debug, Serialize)]
struct EnergyView {
    ratios: Vec<f64>,
    baseline: Option<f64>,
    threshold: f64,
    /// The step that tripped, from 1.
    trip: Option<usize>,
    estimated: bool,
}

/// The results of an agent's cases, its own first.
pub(super) fn agent_results<'r>(results: &'r [CaseResult], case: &str) -> Vec<&'r CaseResult> {
    let of_agent = |result: &&CaseResult| {
        let agent = result.agent.as_ref();
        agent.is_some_and(|agent| agent.case == case)
    };
    let mut results: Vec<_> = results.iter().filter(of_agent).collect();
    results.sort_by(|left, right| left.case.cmp(&right.case));
    results
}

impl AgentView {
    pub(super) fn new(test: &AgentTest<'_>, results: &[&CaseResult]) -> Self {
        let (runs, unusable) = match test.runs() {
            Ok(runs) => (runs, None),
            Err(error) => (&[][..], Some(error.to_string())),
        };
        let plan: Vec<String> = test.plan().into_iter().map(str::to_owned).collect();
        let apart = first_difference(runs);
        let asks_for_stability = results
            .iter()
            .any(|result| result.gate.as_deref() == Some("stability"));
        let mut views: Vec<RunView> = runs
            .iter()
            .map(|run| run_view(test, run, asks_for_stability))
            .collect();
        for view in &mut views {
            view.apart = apart.filter(|at| *at <= view.calls.len());
            view.missing = mark_plan(&plan, &mut view.calls);
        }
        for (number, (view, run)) in views.iter_mut().zip(runs).enumerate() {
            view.played = played::played_view(results, number, run);
        }
        let outcomes: Option<Vec<bool>> = views.iter().map(|run| run.passed).collect();
        let outcomes = outcomes.filter(|outcomes| !outcomes.is_empty());
        let pass_hat = outcomes.map_or_else(Vec::new, |outcomes| summarize(&outcomes).pass_hat);
        let mut cases: Vec<CaseView> = results.iter().map(|result| case_view(result)).collect();
        Self {
            notes: take_shared_notes(&mut cases),
            cases,
            unusable,
            plan,
            sub_scores: asks_for_stability.then_some(SUB_SCORES),
            pass_hat: pass_hat.iter().map(|share| 100.0 * share).collect(),
            suite: excerpt(test),
            prompts: prompts(runs),
            runs: views,
        }
    }
}

fn case_view(result: &CaseResult) -> CaseView {
    let judged = result.judged.iter();
    CaseView {
        case: result.case.clone(),
        gate: result.gate.clone().unwrap_or_default(),
        status: result.status,
        reason: result.reason.clone(),
        line: result.asked.map(|place| place.line),
        targets: result.targets.clone(),
        judged: judged.map(|(what, count)| (what.clone(), *count)).collect(),
        notes: result.notes.clone(),
        failure: result
            .failure
            .as_ref()
            .map(|failure| without_notes(&failure.text, &result.notes)),
    }
}

/// The text of a failure without the notes that stand beside it.
fn without_notes(text: &str, notes: &[String]) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        if !notes.iter().any(|note| note == line.trim()) {
            lines.push(line);
        } else if lines.last().is_some_and(|before| before.is_empty()) {
            lines.pop();
        }
    }
    lines.join("\n")
}

/// Takes what several cases say out of them: it is of the runs, and is said once.
fn take_shared_notes(cases: &mut [CaseView]) -> Vec<(String, Vec<String>)> {
    let mut said: Vec<(String, Vec<String>)> = Vec::new();
    for case in cases.iter() {
        let gate = match case.gate.as_str() {
            "" => "expect".to_owned(),
            gate => gate.to_owned(),
        };
        for note in &case.notes {
            match said.iter_mut().find(|(known, _)| known == note) {
                Some((_, gates)) => gates.push(gate.clone()),
                None => said.push((note.clone(), vec![gate.clone()])),
            }
        }
    }
    said.retain(|(_, gates)| gates.len() > 1);
    for case in cases {
        case.notes
            .retain(|note| said.iter().all(|(shared, _)| shared != note));
    }
    said
}

/// The lines of the suite from the agent's name to the next agent.
fn excerpt(test: &AgentTest<'_>) -> Excerpt {
    let suite = test.suite();
    let source = &suite.source;
    let begin = test.agent().name.span.start;
    let (first, _) = source.line_column(begin);
    let later = suite.agents.iter().map(|agent| agent.name.span.start);
    let next = later.filter(|start| *start > begin).min();
    let end = next.map_or(usize::MAX, |start| source.line_column(start).0);
    let lines = source.text().lines().skip(first - 1);
    let mut lines: Vec<String> = lines.take(end - first).map(str::to_owned).collect();
    while lines.last().is_some_and(|line| line.trim().is_empty()) {
        lines.pop();
    }
    Excerpt {
        file: source.display_path().to_owned(),
        first,
        lines,
    }
}

fn prompts(runs: &[Run]) -> Vec<(String, Vec<usize>)> {
    let mut prompts: Vec<(String, Vec<usize>)> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        match prompts
            .iter_mut()
            .find(|(text, _)| *text == run.user_prompt)
        {
            Some((_, runs)) => runs.push(index),
            None => prompts.push((run.user_prompt.clone(), vec![index])),
        }
    }
    prompts
}

fn run_view(test: &AgentTest<'_>, run: &Run, asks_for_stability: bool) -> RunView {
    let trace = &run.trace;
    let recorded = outcome::recorded_outcome(run);
    let stop = trace.conversation.stop_reason.as_ref();
    let energy = test.energy(run).map(|analysis| EnergyView {
        baseline: analysis.baseline,
        threshold: analysis.report.threshold,
        trip: analysis.trip_step,
        estimated: analysis.estimated,
        ratios: analysis.ratios,
    });
    let (closing, claims) = closing(test, run);
    RunView {
        origin: run.origin.to_string(),
        passed: recorded.or_else(|| Gates::for_agent(test).hold_without(run, None)),
        recorded: recorded.is_some(),
        stop: stop.map(|reason| reason.as_str().to_owned()),
        tokens: trace.tokens_taken(),
        calls: calls(run),
        closing,
        claims,
        scores: asks_for_stability.then(|| agent_stability(trace).scores()),
        energy,
        missing: Vec::new(),
        apart: None,
        played: None,
    }
}

fn calls(run: &Run) -> Vec<CallView> {
    let trace = &run.trace;
    let mut seen: HashMap<(String, String), usize> = HashMap::new();
    let calls = trace.tool_calls.iter().zip(trace.results_by_call());
    let calls = calls.enumerate().map(|(index, (call, result))| {
        let args = display_value(&call.args);
        let first = *seen
            .entry((call.name.clone(), canonical_json(&call.args)))
            .or_insert(index);
        let fault = result.and_then(|result| result.synthesized.as_ref());
        CallView {
            name: call.name.clone(),
            server: call.server.clone(),
            args,
            result: result.map(|result| display_value(&unwrap_result(&result.result))),
            error: result.is_some_and(|result| result.is_error),
            fault: fault.map(|fault| format!("{} ({})", fault.fault, fault.kind)),
            planned: false,
            repeats: (first < index).then_some(first),
            step: call.step,
        }
    });
    calls.collect()
}

/// The first call in which the runs differ; nothing where all make the same calls, or there is one.
fn first_difference(runs: &[Run]) -> Option<usize> {
    let (first, others) = runs.split_first()?;
    let tool = |run: &Run, at: usize| run.trace.tool_calls.get(at).map(|call| call.name.clone());
    let longest = runs.iter().map(|run| run.trace.tool_calls.len()).max()?;
    (0..longest).find(|at| {
        let wanted = tool(first, *at);
        others.iter().any(|run| tool(run, *at) != wanted)
    })
}

/// Marks the calls that a plan expects, and gives the tools of the plan that were never called. Order
/// is not looked at: which order holds is for the gate to say.
fn mark_plan(plan: &[String], calls: &mut [CallView]) -> Vec<String> {
    let missing = plan.iter().filter(|tool| {
        let wanted = |call: &&mut CallView| !call.planned && call.name == **tool;
        match calls.iter_mut().find(wanted) {
            Some(call) => {
                call.planned = true;
                false
            }
            None => true,
        }
    });
    missing.cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(gate: &str, notes: &[&str]) -> CaseView {
        CaseView {
            case: format!("s::a::{gate}"),
            gate: gate.to_owned(),
            status: CaseStatus::Passed,
            reason: None,
            line: None,
            targets: Vec::new(),
            judged: Vec::new(),
            notes: notes.iter().map(|note| (*note).to_owned()).collect(),
            failure: None,
        }
    }

    #[test]
    fn a_note_beside_a_failure_is_not_told_in_it_again() {
        let notes = ["errors unknown in 4 results".to_owned()];
        let text =
            "error: no\n\n  calls: a\n\n  errors unknown in 4 results\n\nrun this case alone: x";
        let left = "error: no\n\n  calls: a\n\nrun this case alone: x";
        assert_eq!(without_notes(text, &notes), left);
        assert_eq!(without_notes(text, &[]), text);
    }

    #[test]
    fn what_several_cases_say_is_said_once_with_whose_it_is() {
        let unknown = "errors unknown in 4 results";
        let mut cases = [
            case("", &[]),
            case("calls", &[unknown, "its own"]),
            case("narrative", &[unknown]),
            case("recovery", &[unknown]),
        ];
        let shared = take_shared_notes(&mut cases);
        let gates = ["calls", "narrative", "recovery"].map(str::to_owned);
        assert_eq!(shared, [(unknown.to_owned(), gates.to_vec())]);
        let left: Vec<&String> = cases.iter().flat_map(|case| &case.notes).collect();
        assert_eq!(left, ["its own"]);
    }
}
