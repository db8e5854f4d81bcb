//! `reliability:`

use mcptest_trace::eval::Confidence;

use super::target::{Better, GateTarget, all_or_nothing, count, fraction, percent};
use super::{AgentFacts, Block, Expects, GateKind, PerRunKind};
use crate::load::fields::{Fields, Problems, did_you_mean};
use crate::{Diagnostic, Node, Span, quoted_list};

pub(super) const TARGETS: &[GateTarget] = &[
    count(
        "reliability.runs",
        Better::Neither,
        "how many runs there are",
    )
    .at_least(1.0),
    all_or_nothing("reliability.pass_at_k", "100 when at least one run passes"),
    all_or_nothing("reliability.passhat_k", "100 when every run passes"),
    percent(
        "reliability.variance_amplification",
        Better::Lower,
        "0 when all runs end alike, 100 when half pass and half fail",
    ),
    percent(
        "reliability.graceful_degradation",
        Better::Higher,
        "100 when all runs pass, the lower the later failures come",
    ),
    percent(
        "reliability.pass_rate",
        Better::Higher,
        "the share of runs that pass",
    ),
    percent(
        "reliability.decay_curve",
        Better::Higher,
        "empirical pass^k over the first k runs; index 0 is k = 1",
    )
    .list(),
    percent(
        "reliability.ci_low",
        Better::Higher,
        "lower end of the interval of the pass rate",
    ),
    percent(
        "reliability.ci_high",
        Better::Higher,
        "upper end of the interval of the pass rate",
    ),
    percent(
        "reliability.half_width",
        Better::Lower,
        "how far the pass rate may be off, at worst",
    ),
    count(
        "reliability.recommended_runs",
        Better::Neither,
        "how many runs the wanted half-width needs",
    )
    .at_least(1.0),
    fraction(
        "reliability.pass_at",
        Better::Higher,
        "chance that one of k runs passes; index 0 is k = 1",
    )
    .list(),
    fraction(
        "reliability.pass_hat",
        Better::Higher,
        "chance that all of k runs pass; index 0 is k = 1",
    )
    .list(),
];

/// Options of the reliability gate.
#[derive(Debug, Clone, PartialEq)]
pub struct Reliability {
    /// What makes a run a pass.
    pub outcome: Outcome,
    /// Confidence of the intervals.
    pub confidence: Confidence,
    /// The half-width the pass rate must be known to, in percent.
    pub half_width: Option<f64>,
}

/// What makes a run a pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// All of these hold.
    Judged {
        /// The agent's `expect:`.
        expect: bool,
        /// Gates that judge each run.
        gates: Vec<PerRunKind>,
    },
    /// The cassette's `outcome.passed`.
    Recorded,
}

impl Block for Reliability {
    fn read(
        fields: &mut Fields<'_>,
        agent: &AgentFacts<'_>,
        span: Span,
        problems: &mut Problems,
    ) -> Option<Self> {
        let outcome = match fields.get("outcome") {
            Some(node) => outcome(node, agent, problems),
            None if agent.expects == Expects::Something => Some(Outcome::Judged {
                expect: true,
                gates: Vec::new(),
            }),
            None => {
                problems.push(no_expect(agent.expects, span));
                None
            }
        };
        let confidence = fields.get("confidence").and_then(|node| {
            let levels = [
                ("90", Confidence::Ninety),
                ("95", Confidence::NinetyFive),
                ("99", Confidence::NinetyNine),
            ];
            problems.choice(node, "confidence", &levels)
        });
        let half_width = fields.get("half_width").and_then(|node| {
            let percent = problems.number(node, 0.0, 100.0)?;
            if percent == 0.0 {
                problems.push(
                    Diagnostic::at(
                        node.span,
                        "a half-width of 0 percent would need infinitely many runs",
                    )
                    .help(
                        "say how exactly the pass rate must be known, in percent: `half_width: 5`",
                    ),
                );
                return None;
            }
            Some(percent)
        });
        Some(Self {
            outcome: outcome?,
            confidence: confidence.unwrap_or_default(),
            half_width,
        })
    }
}

fn no_expect(expects: Expects, span: Span) -> Diagnostic {
    let why = match expects {
        Expects::OnlyOfModels => "all assertions of this agent need a model",
        Expects::Nothing | Expects::Something => "this agent has no `expect:`",
    };
    Diagnostic::at(
        span,
        format!("`reliability` counts the runs whose `expect:` holds, and {why}"),
    )
    .help(
        "add `expect:`, or say `outcome: recorded`, or name per-run gates: `outcome: [trajectory]`",
    )
}

fn outcome(node: &Node, agent: &AgentFacts<'_>, problems: &mut Problems) -> Option<Outcome> {
    let alone = match node.items() {
        Some([only]) => only,
        _ => node,
    };
    if alone.text() == Some("recorded") {
        return Some(Outcome::Recorded);
    }
    let single = std::slice::from_ref(node);
    let items = if node.text().is_some() {
        single
    } else {
        problems.items(node, "outcomes")?
    };
    let (mut expect, mut gates) = (false, Vec::new());
    for item in items {
        let Some(word) = problems.words(item) else {
            continue;
        };
        let kind = PerRunKind::all().find(|gate| gate.kind().name() == word.value);
        match (word.value.as_str(), kind) {
            ("expect", _) if agent.expects == Expects::Something => expect = true,
            ("expect", _) => problems.push(no_expect(agent.expects, word.span)),
            ("recorded", _) => problems.push(
                Diagnostic::at(
                    word.span,
                    "`recorded` stands alone: it replaces every judgement",
                )
                .help("write `outcome: recorded`, or leave it out here"),
            ),
            (_, Some(gate)) if agent.gates.contains(&gate.kind()) => gates.push(gate),
            (name, Some(_)) => problems.push(
                Diagnostic::at(
                    word.span,
                    format!("this agent has no `{name}` gate to take the outcome from"),
                )
                .help(format!("add `{name}:` to the agent, or leave it out here")),
            ),
            (name, None) => {
                let known = ["expect", "recorded"]
                    .into_iter()
                    .chain(PerRunKind::all().map(|gate| gate.kind().name()));
                let problem =
                    Diagnostic::at(word.span, format!("`{name}` is no outcome of a single run"));
                let across = GateKind::ALL.iter().any(|kind| kind.name() == name);
                problems.push(if across {
                    problem
                        .note("it looks at all runs together")
                        .help(format!("name what judges each run: {}", quoted_list(known)))
                } else {
                    did_you_mean(problem, name, known, "outcomes")
                });
            }
        }
    }
    gates.sort_unstable();
    gates.dedup();
    (expect || !gates.is_empty()).then_some(Outcome::Judged { expect, gates })
}
