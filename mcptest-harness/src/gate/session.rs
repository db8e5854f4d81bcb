//! The `session` gate: how bad was the worst moment, and how smooth was the whole?

use mcptest_suite::gates::Session;
use mcptest_suite::model::{GateKind, GateOptions};
use serde_json::Value;

use super::{Breach, Cause, Gate, Input, Threshold, expected, findings};
use crate::eval::narrative::NarrativeOptions;
use crate::eval::{SessionReport, SessionScore, score_session, session_traces};
use crate::render::{Evidence, Failure, shorten};
use crate::trace::pretty_json;

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
        let runs = input.runs.iter().map(|run| (&run.trace, run.signals));
        let traces = session_traces(runs, self.derive.then_some(&narrative));
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

fn evidence(report: &SessionReport) -> Vec<Evidence> {
    let scores = [
        ("agent_reliability", &report.agent_reliability),
        ("agent_consistency", &report.agent_consistency),
    ];
    let shown = |(name, score): (&str, &SessionScore)| {
        let flagged = match score.flagged.as_slice() {
            [] => String::new(),
            flagged => format!(
                "; flagged: {}",
                crate::render::cut(&flagged.join(", "), 400)
            ),
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
