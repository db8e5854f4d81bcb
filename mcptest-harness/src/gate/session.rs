//! The `session` gate: how bad was the worst moment, and how smooth was the whole?

use mcptest_suite::gates::Session;
use mcptest_suite::model::{GateKind, GateOptions};
use serde_json::Value;

use super::{Breach, Cause, Gate, Input, Threshold, expected, findings};
use crate::eval::narrative::{NarrativeOptions, narrative_divergence};
use crate::eval::{
    DerivedSignals, SessionReport, SessionScore, SessionTrace, agent_stability, derive_signals,
    score_session,
};
use crate::render::{Evidence, Failure, shorten};
use crate::trace::{PerTurn, Run, Signals, Trace, pretty_json};

impl Gate for Session {
    fn judge(&self, input: &Input<'_>) -> Result<(), Failure> {
        // What counts as a supported claim is what the agent's own `narrative` says.
        let narrative = match input
            .agent
            .gate(GateKind::Narrative)
            .map(|gate| &gate.options)
        {
            Some(GateOptions::Narrative(gate)) => super::narrative::options(gate),
            _ => NarrativeOptions::default(),
        };
        let traces = session_traces(self, input.runs, &narrative);
        let report = score_session(&traces, &self.weights);
        let metrics = report.metrics();
        let mut breaches = Vec::new();
        if report.agent_reliability.evaluated == 0 && report.agent_consistency.evaluated == 0 {
            let asks = "a session needs recorded signals (or `derive: true`) in at least one run"
                .to_owned();
            breaches.push(Breach::new(
                Cause::Option(asks),
                "none, so nothing was judged",
            ));
        } else if input.expect().is_empty() {
            let scored = [
                (
                    &report.agent_reliability,
                    Threshold::at_least("session.agent_reliability", 0.5),
                ),
                (
                    &report.agent_consistency,
                    Threshold::at_least("session.agent_consistency", 0.5),
                ),
            ];
            let evaluated = scored.iter().filter(|(score, _)| score.evaluated > 0);
            let thresholds: Vec<Threshold> = evaluated.map(|(_, threshold)| *threshold).collect();
            breaches.extend(expected(input, &metrics, &thresholds));
        } else {
            breaches.extend(expected(input, &metrics, &[]));
        }
        if breaches.is_empty() {
            return Ok(());
        }
        let breaches = breaches.into_iter().map(|breach| (None, breach)).collect();
        Err(Failure {
            findings: findings(&input.about(), breaches),
            evidence: evidence(&report),
        })
    }
}

/// The user turns of each run where they are recorded, else the runs.
fn session_traces(gate: &Session, runs: &[Run], narrative: &NarrativeOptions) -> Vec<SessionTrace> {
    let mut traces = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let id = format!("run-{}", index + 1);
        let turns = &run.trace.conversation.per_turn;
        // Turns of which nothing is known but that they were say less than the run does.
        let known = |turn: &PerTurn| turn.signals.is_some() || turn.calls.is_some();
        if !turns.iter().any(known) {
            let signals = signals(gate, run.signals, || derived(&run.trace, narrative));
            traces.push(SessionTrace { id, signals });
            continue;
        }
        for (turn, recorded) in turns.iter().enumerate() {
            let signals = signals(gate, recorded.signals, || {
                derived_of_turn(&run.trace, recorded, narrative)
            });
            traces.push(SessionTrace {
                id: format!("{id}/turn-{}", turn + 1),
                signals,
            });
        }
    }
    traces
}

fn signals(
    gate: &Session,
    recorded: Option<Signals>,
    derived: impl Fn() -> DerivedSignals,
) -> Signals {
    let recorded = recorded.unwrap_or_default();
    if gate.derive {
        derive_signals(recorded, derived())
    } else {
        recorded
    }
}

/// What the evidence of a trace says of the signals that were not recorded.
fn derived(trace: &Trace, narrative: &NarrativeOptions) -> DerivedSignals {
    let results: Vec<bool> = trace
        .tool_results
        .iter()
        .map(|result| !result.is_error)
        .collect();
    let right = results.iter().filter(|right| **right).count();
    let narrative = narrative_divergence(trace, narrative);
    let flagged = narrative.claimed_but_absent().count() + narrative.arg_mismatch().count();
    DerivedSignals {
        loop_detection: Some(agent_stability(trace).redundancy),
        tool_correctness: share(right, results.len()),
        coherence: Some(
            share(flagged, narrative.claims.len()).map_or(1.0, |share| (1.0 - share).max(0.0)),
        ),
    }
}

/// A turn says only what its own calls and response show.
fn derived_of_turn(trace: &Trace, turn: &PerTurn, narrative: &NarrativeOptions) -> DerivedSignals {
    let Some((from, to)) = turn.calls else {
        return DerivedSignals::default();
    };
    let results = trace
        .tool_results
        .iter()
        .filter(|result| (from..to).contains(&result.call_index));
    let of_turn = Trace {
        tool_calls: trace.tool_calls[from..to].to_vec(),
        tool_results: results
            .map(|result| {
                let mut result = result.clone();
                result.call_index -= from;
                result
            })
            .collect(),
        final_response: turn.response.clone(),
        ..Trace::default()
    };
    derived(&of_turn, narrative)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of recorded things stay far below 2^52"
)]
fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn evidence(report: &SessionReport) -> Vec<Evidence> {
    let scores = [
        ("agent_reliability", &report.agent_reliability),
        ("agent_consistency", &report.agent_consistency),
    ];
    let shown = |(name, score): (&str, &SessionScore)| {
        let flagged = match score.flagged.as_slice() {
            [] => String::new(),
            flagged => format!("; flagged: {}", flagged.join(", ")),
        };
        let head = score.reason.map_or_else(
            || {
                let SessionScore {
                    score,
                    band,
                    evaluated,
                    ..
                } = score;
                format!("{name}: {score:.4}, {band}; {evaluated} traces evaluated{flagged}")
            },
            |reason| format!("{name}: not evaluated ({reason})"),
        );
        let metadata = match &score.metadata {
            Value::Null => String::new(),
            metadata => format!("\n{}", pretty_json(metadata)),
        };
        let lines: Vec<String> = format!("{head}{metadata}")
            .lines()
            .map(ToOwned::to_owned)
            .collect();
        Evidence::Text(shorten(&lines))
    };
    scores.into_iter().map(shown).collect()
}
