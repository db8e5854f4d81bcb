//! The `stability` gate: how stable each run was, and how alike the runs are.

use mcptest_suite::gates::Stability;

use super::{Breach, Cause, Gate, Input, Threshold, expected, findings};
use crate::eval::{
    SUB_SCORES, StabilityAcross, StabilityFloors, StabilityReport, TOKENS_PER_USEFUL_CALL,
    agent_stability_across, drift_flags,
};
use crate::render::{Evidence, Failure, Table, cut, thousands};
use crate::trace::{Run, Trace, canonical_json};

const DEFAULT: [Threshold; 1] = [Threshold::at_least("stability.weakest_score", 0.5)];

impl Gate for Stability {
    fn judge(&self, input: &Input<'_>) -> Result<(), Failure> {
        let traces: Vec<&Trace> = input.runs.iter().map(|run| &run.trace).collect();
        // Runs are never empty here.
        let Some(across) = agent_stability_across(&traces) else {
            return Ok(());
        };
        let vacuous = vacuous(input.runs);
        if !vacuous.is_empty() {
            return Err(Failure {
                findings: findings(&input.about(), vacuous),
                evidence: Vec::new(),
            });
        }
        let floors = floors(self);
        let metrics = across.metrics(&floors);
        let mut breaches: Vec<_> = expected(input, &metrics, &DEFAULT)
            .into_iter()
            .map(|breach| (None, breach))
            .collect();
        if self.floors.is_some() {
            for (index, report) in across.runs.iter().enumerate() {
                breaches.extend(below_floors(report, &floors).map(|breach| (Some(index), breach)));
            }
        }
        if breaches.is_empty() {
            return Ok(());
        }
        let findings = findings(&input.about(), breaches);
        Err(Failure {
            findings,
            evidence: evidence(&across, input.runs),
        })
    }
}

/// The runs of which nothing can be said.
fn vacuous(runs: &[Run]) -> Vec<(Option<usize>, Breach)> {
    let empty = runs.iter().enumerate();
    let empty = empty.filter(|(_, run)| nothing_happened(&run.trace));
    let breaches = empty.map(|(index, _)| {
        let asks = "stability needs a call, a turn or a token in every run".to_owned();
        let found = "none, so nothing was judged";
        (Some(index), Breach::new(Cause::Option(asks), found))
    });
    breaches.collect()
}

/// Whether a run has nothing of what the scores are made of.
fn nothing_happened(trace: &Trace) -> bool {
    let conversation = &trace.conversation;
    trace.tool_calls.is_empty()
        && conversation.turns.is_empty()
        && conversation.tokens.total == 0
        && conversation.steps.iter().all(|step| step.total() == 0)
}

fn floors(options: &Stability) -> StabilityFloors {
    let (given, usual) = (
        options.floors.unwrap_or_default(),
        StabilityFloors::default(),
    );
    StabilityFloors {
        tool_usage_stability: given
            .tool_usage_stability
            .unwrap_or(usual.tool_usage_stability),
        response_consistency: given
            .response_consistency
            .unwrap_or(usual.response_consistency),
        redundancy: given.redundancy.unwrap_or(usual.redundancy),
        cost_per_progress: given.cost_per_progress.unwrap_or(usual.cost_per_progress),
    }
}

fn below_floors<'a>(
    report: &'a StabilityReport,
    floors: &'a StabilityFloors,
) -> impl Iterator<Item = Breach> + 'a {
    drift_flags(report, floors)
        .into_iter()
        .filter_map(move |flag| {
            let place = SUB_SCORES.iter().position(|name| *name == flag)?;
            let asks = format!("its floor asks for `{flag}` >= {}", floors.floors()[place]);
            Some(Breach::new(
                Cause::Option(asks),
                &format!("{:.4}", report.scores()[place]),
            ))
        })
}

/// The runs × sub-scores, and what made the weakest one low.
fn evidence(across: &StabilityAcross, runs: &[Run]) -> Vec<Evidence> {
    let mut table = Table::new(["run"].into_iter().chain(SUB_SCORES).chain(["file"]));
    let lowest = across.weakest_score;
    for (index, (report, run)) in across.runs.iter().zip(runs).enumerate() {
        let score = |score: f64| format!("{}{score:.2}", if score <= lowest { "*" } else { "" });
        let cells = report.scores().map(score);
        table.row(
            [(index + 1).to_string()]
                .into_iter()
                .chain(cells)
                .chain([run.origin.to_string()]),
        );
    }
    let weakest = across
        .runs
        .iter()
        .position(|run| run.weakest_score() <= lowest)
        .unwrap_or_default();
    let report = &across.runs[weakest];
    let reason = reason(report.weakest(), &runs[weakest].trace);
    let legend = format!(
        "* the weakest: `{}` of run {} is {:.4}, because {reason}",
        report.weakest(),
        weakest + 1,
        report.weakest_score(),
    );
    let alike = format!(
        "between the runs: tool_sequence_similarity {:.2}, argument_consistency {:.2}, early_divergence {}",
        across.tool_sequence_similarity, across.argument_consistency, across.early_divergence
    );
    vec![
        Evidence::Table(table),
        Evidence::Text(format!("{legend}\n{alike}")),
    ]
}

/// What made a sub-score low.
fn reason(sub_score: &str, trace: &Trace) -> String {
    let calls = trace.tool_calls.len();
    match sub_score {
        "tool_usage_stability" => {
            let mut tools: Vec<&str> = trace
                .tool_calls
                .iter()
                .map(|call| call.name.as_str())
                .collect();
            tools.sort_unstable();
            tools.dedup();
            format!(
                "{} different tools share {calls} calls: {}",
                tools.len(),
                cut(&tools.join(", "), 100)
            )
        }
        "response_consistency" => {
            let assistant = trace
                .conversation
                .turns
                .iter()
                .filter(|turn| turn.is_assistant());
            let lengths: Vec<usize> = assistant.map(|turn| turn.content.chars().count()).collect();
            let (least, most) = (lengths.iter().min(), lengths.iter().max());
            format!(
                "the {} assistant turns swing from {} to {} characters",
                lengths.len(),
                least.copied().unwrap_or_default(),
                most.copied().unwrap_or_default()
            )
        }
        "redundancy" => {
            let mut counts = std::collections::BTreeMap::new();
            for call in &trace.tool_calls {
                *counts.entry(call.key()).or_insert(0_usize) += 1;
            }
            let most = counts.values().copied().max().unwrap_or_default();
            // The first made of the most repeated calls.
            let repeated = trace
                .tool_calls
                .iter()
                .find(|call| counts[&call.key()] == most);
            let shown =
                repeated.map(|call| format!("{} {}", call.name, canonical_json(&call.args)));
            let repeats = trace.redundant_tool_calls();
            format!(
                "{repeats} of {calls} calls repeat an earlier one; {most} times: {}",
                cut(&shown.unwrap_or_default(), 120)
            )
        }
        _ => {
            let (tokens, distinct) = (
                trace.conversation.tokens.total,
                trace.distinct_tool_calls() as u64,
            );
            let spent = format!(
                "{} tokens were spent on {distinct} different calls",
                thousands(tokens)
            );
            match distinct {
                0 => spent,
                distinct => format!(
                    "{spent}, {} each ({TOKENS_PER_USEFUL_CALL} is par)",
                    thousands(tokens / distinct)
                ),
            }
        }
    }
}
