//! The `session` gate: how bad was the worst moment, and how smooth was the whole?

use mcptest_suite::{Diagnostic, escape_line};
use serde_json::Value;

use super::block::Block;
use super::form::MappingForm;
use super::key::{Key, Keyed, Range};
use super::table::GateEntry;
use super::{AllRuns, Breach, Cause, Counts, Input, NotJudged, Options, Threshold, to_u64};
use crate::eval::{
    NarrativeOptions, SessionReport, SessionScore, Weights, score_session, session_traces,
    signals_from_scores,
};
use crate::render::Evidence;
use crate::trace::{Run, Score, Signals, Trace, pretty_json};
use mcptest_trace::text::truncate_lines;

pub(super) const ENTRY: GateEntry = GateEntry::all_runs::<Session>();

/// How a session's signals are come by, and what they weigh.
#[derive(Debug, Clone, Copy)]
pub(super) struct Session {
    /// Whether missing signals are derived from the recorded evidence.
    derive: bool,
    weights: Weights,
}

impl Options for Session {
    const SAYS: &'static str = "The runs have no very bad moment, and are smooth on the whole. Default: each score that could be evaluated >= 0.5.";

    const EXAMPLE: &'static str = "session: {}";

    // Its default asks of two scores at once.
    const CALIBRATED_BY: Option<&'static str> = None;

    const RESTS_ON_ERRORS: bool = true;
}

impl Keyed for Session {
    const KEYS: &'static [Key<Self>] = &[
        Key::flag("derive", |session: &mut Self| &mut session.derive).says(
            "Whether missing signals are derived from what the run did. `confidence` is never derived.",
        ),
        Key::form(
            "weights",
            &MappingForm {
                called: "`weights`",
                at: |session: &mut Session| &mut session.weights,
            },
        )
        .says("The weights of the signals. At least one weight must be above 0."),
    ];

    fn default_options() -> Self {
        Self {
            derive: true,
            weights: Weights::default(),
        }
    }
}

impl Keyed for Weights {
    const KEYS: &'static [Key<Self>] = &[
        Key::number("confidence", Range::AtLeast0, |weights: &mut Self| {
            &mut weights.confidence
        })
        .says("The weight of `confidence`."),
        Key::number("loop_detection", Range::AtLeast0, |weights: &mut Self| {
            &mut weights.loop_detection
        })
        .says("The weight of `loop_detection`."),
        Key::number("tool_correctness", Range::AtLeast0, |weights: &mut Self| {
            &mut weights.tool_correctness
        })
        .says("The weight of `tool_correctness`."),
        Key::number("coherence", Range::AtLeast0, |weights: &mut Self| {
            &mut weights.coherence
        })
        .says("The weight of `coherence`."),
    ];

    fn default_options() -> Self {
        Self::default()
    }

    fn check(&mut self, block: &mut Block<'_, '_>, whole: bool) -> bool {
        let Self {
            confidence,
            loop_detection,
            tool_correctness,
            coherence,
            ..
        } = *self;
        let all = [confidence, loop_detection, tool_correctness, coherence];
        if all.iter().all(|weight| *weight <= 0.0) {
            block.problems.push(
                Diagnostic::at(
                    block.first_key_span(),
                    "with all weights 0 no signal counts",
                )
                .note("every run gets the same verdict here, so nothing is tested")
                .help("give at least one signal a weight above 0"),
            );
        }
        whole
    }
}

impl AllRuns for Session {
    type Report = SessionReport;

    fn report(&self, input: &Input<'_>) -> Result<SessionReport, NotJudged> {
        // What counts as a supported claim is what the agent's own `narrative` says.
        let usual = NarrativeOptions::default();
        let narrative = input.gates.options::<NarrativeOptions>();
        let narrative = narrative.unwrap_or(&usual);
        let (mut runs, mut breaches) = (Vec::new(), Vec::new());
        for (place, run) in input.runs.iter().enumerate() {
            match signals_from_scores(&run.trace, run.signals) {
                Ok(signals) => runs.push((&run.trace, signals)),
                Err(score) => breaches.push(off_scale_breach(&score).in_run(place)),
            }
        }
        if breaches.is_empty() {
            breaches.extend(self.without_a_score(&runs));
        }
        if !breaches.is_empty() {
            return Err(NotJudged {
                breaches,
                evidence: Vec::new(),
            });
        }
        let derive = self.derive.then(|| (narrative, input.known_tools()));
        let traces = session_traces(runs, derive);
        let report = score_session(&traces, &self.weights);
        if report.agent_reliability.evaluated == 0 && report.agent_consistency.evaluated == 0 {
            let asks = "a session needs recorded signals (or `derive: true`) in at least one run";
            let asks = Cause::Gate(asks.to_owned());
            let breach = Breach::new(asks, "none, so nothing was judged");
            return Err(NotJudged {
                breaches: vec![breach],
                evidence: evidence(&report),
            });
        }
        Ok(report)
    }

    fn defaults(&self, report: &SessionReport) -> Vec<Threshold> {
        let scored = [
            (
                &report.agent_reliability,
                Threshold::at_least(
                    "session.agent_reliability",
                    0.5,
                    "the worst turns or runs are too bad",
                ),
            ),
            (
                &report.agent_consistency,
                Threshold::at_least(
                    "session.agent_consistency",
                    0.5,
                    "the quality of the turns or runs is too uneven",
                ),
            ),
        ];
        let evaluated = scored.iter().filter(|(score, _)| score.evaluated > 0);
        evaluated.map(|(_, threshold)| *threshold).collect()
    }

    fn counts(&self, _runs: &[Run], report: &SessionReport) -> Counts {
        let (reliability, consistency) = (&report.agent_reliability, &report.agent_consistency);
        Counts::from([
            ("reliability_signals", to_u64(reliability.evaluated)),
            ("consistency_signals", to_u64(consistency.evaluated)),
        ])
    }

    fn explain(&self, _input: &Input<'_>, report: &SessionReport) -> Vec<Evidence> {
        evidence(report)
    }
}

impl Session {
    /// The runs that lack a score which another run has, where nothing takes its place: what was not scored is no pass.
    fn without_a_score(&self, runs: &[(&Trace, Option<Signals>)]) -> Vec<Breach> {
        let mut breaches = Vec::new();
        for (name, signal) in SIGNALS {
            let scored = runs
                .iter()
                .any(|(trace, _)| trace.scores_named(name).next().is_some());
            let derived = self.derive && name != "confidence";
            if !scored || derived {
                continue;
            }
            let has = |(trace, signals): &(&Trace, Option<Signals>)| {
                let turns = trace.conversation.per_turn.iter();
                let mut all = turns.map(|turn| turn.signals).chain([*signals]).flatten();
                all.any(|signals| signal(&signals).is_some())
            };
            for (place, _) in runs.iter().enumerate().filter(|(_, run)| !has(run)) {
                let asks =
                    format!("a score `{name}` is in another run, so each run needs this score");
                breaches.push(Breach::new(Cause::Gate(asks), "none").in_run(place));
            }
        }
        breaches
    }
}

/// The signals by the names of their scores.
type Signal = (&'static str, fn(&Signals) -> Option<f64>);
const SIGNALS: [Signal; 4] = [
    ("confidence", |signals| signals.confidence),
    ("loop_detection", |signals| signals.loop_detection),
    ("tool_correctness", |signals| signals.tool_correctness),
    ("coherence", |signals| signals.coherence),
];

/// A score that is named like a signal and is none.
fn off_scale_breach(score: &Score) -> Breach {
    let asks = format!(
        "a score named `{}` is a signal, and must be from 0 to 1",
        score.name
    );
    let found = format!("{} by `{}`", score.value, escape_line(&score.by));
    Breach::new(Cause::Gate(asks), &found)
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
                mcptest_trace::text::shorten(&flagged.join(", "), 400)
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
        Evidence::Text(truncate_lines(&lines))
    };
    scores.into_iter().map(shown).collect()
}
