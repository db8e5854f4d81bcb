//! The `reliability` gate: how often does the agent succeed, and how sure can one be?

mod scored;

use mcptest_suite::model::GateKind;
use mcptest_suite::read::{DeclaredAgent, Expects, Problems};
use mcptest_suite::{Diagnostic, Node, Span, nearest, quoted_list};
use serde_json::{Value, json};

use self::scored::{Scored, Thresholds};
use super::block::Block;
use super::expect::note_no_items;
use super::expectation::CheckVerdicts;
use super::form::CustomForm;
use super::key::{Key, Keyed, or_variable};
use super::table::{GateEntry, judging_each_run};
use super::{
    AllRuns, Breach, Cause, Expect, Input, NotJudged, Options, Threshold, name_runs, value_at,
};
use crate::eval::{
    Confidence, Measure, Metrics, ReliabilityOptions, ReliabilitySummary, recommend_runs,
    summarize_with,
};
use crate::render::{Evidence, Table};
use mcptest_trace::text::shorten;

pub(super) const ENTRY: GateEntry = GateEntry::all_runs::<Reliability>();

/// What may be an outcome.
const OUTCOMES: &str =
    "`expect`, `recorded`, `scores.NAME`, or a gate of this agent that judges one run at a time";

/// What makes a run a pass, and how surely the rate must be known.
#[derive(Debug, Clone)]
pub(crate) struct Reliability {
    pub(super) outcome: Successes,
    thresholds: Thresholds,
    confidence: Confidence,
    /// The half-width the pass rate must be known to, in percent.
    half_width: Option<f64>,
}

/// What makes a run a pass.
#[derive(Debug, Clone)]
pub(super) enum Successes {
    /// All of these hold: the agent's `expect:`, and gates that judge each run.
    Judged { expect: bool, gates: Vec<GateKind> },
    /// The cassette's `outcome.passed`.
    Recorded,
    /// The scores of this name.
    Scored(String),
}

/// What may stand at `outcome`, for editors.
fn outcomes_schema() -> Value {
    let words = ["expect", "recorded"].into_iter();
    let words = words.chain(judging_each_run().map(GateKind::name));
    let word = json!({ "enum": words.collect::<Vec<_>>() });
    let score = json!({ "type": "string", "pattern": "^scores[.\\[]" });
    json!({
        "default": "expect",
        "anyOf": [word, score, { "type": "array", "minItems": 1, "items": { "anyOf": [word, score] } }],
    })
}

impl Options for Reliability {
    const SAYS: &'static str =
        "How often runs pass, and how exact this number is. Default: reliability.passhat_k >= 100.";

    const EXAMPLE: &'static str = "reliability: { outcome: recorded }";

    // A share of passing runs is what calibrating is held against.
    const CALIBRATED_BY: Option<&'static str> = None;
}

const OUTCOME: Key<Reliability> = Key::form(
    "outcome",
    &CustomForm {
        schema: outcomes_schema,
        read: read_outcome,
    },
)
.says(
    "What decides whether a run passed: `expect`, `recorded`, `scores.NAME`, or a list of `expect` and gates that \
     judge run by run. Only `reliability` then judges what it counts. The agent's own case and the cases of these \
     gates are ignored with that reason.",
);

const MIN_SCORE: Key<Reliability> = Key::any_number("min_score", |gate: &mut Reliability| {
    &mut gate.thresholds.min_score
})
.says(
    "With `outcome: scores.NAME`: the lowest score that passes. It decides for a score that does not say itself whether the run passed.",
);

const MAX_SCORE: Key<Reliability> = Key::any_number("max_score", |gate: &mut Reliability| {
    &mut gate.thresholds.max_score
})
.says("With `outcome: scores.NAME`: the highest score that passes, if less is better. It decides for a score that does not say itself whether the run passed.");

impl Keyed for Reliability {
    const KEYS: &'static [Key<Self>] = &[
        OUTCOME,
        Key::form(
            "confidence",
            &CustomForm {
                schema: || json!({ "default": 95, "enum": [90, 95, 99, "90", "95", "99"] }),
                read: read_confidence,
            },
        )
        .says("The confidence of the intervals, in percent."),
        Key::form(
            "half_width",
            &CustomForm {
                schema: || {
                    or_variable(&json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 50 }))
                },
                read: read_half_width,
            },
        )
        .says("How exactly the pass rate must be known: `5` means 5 percentage points more or less. The gate fails if there are too few runs for that."),
        MIN_SCORE,
        MAX_SCORE,
    ];

    fn default_options() -> Self {
        Self {
            outcome: Successes::Judged {
                expect: true,
                gates: Vec::new(),
            },
            thresholds: Thresholds::default(),
            confidence: Confidence::default(),
            half_width: None,
        }
    }

    fn check(&mut self, block: &mut Block<'_, '_>, whole: bool) -> bool {
        self.refuse_thresholds(block);
        if block.has(&OUTCOME) || block.agent.expects == Expects::Something {
            return whole;
        }
        let problem = missing_expect(block.agent.expects, block.span);
        block.problems.push(problem);
        false
    }
}

fn read_confidence(block: &mut Block<'_, '_>, node: &Node, gate: &mut Reliability) -> bool {
    let levels = [
        ("90", Confidence::Ninety),
        ("95", Confidence::NinetyFive),
        ("99", Confidence::NinetyNine),
    ];
    let chosen = block.problems.choice(node, "confidence", &levels);
    gate.confidence = chosen.unwrap_or_default();
    chosen.is_some()
}

/// A half-width that an interval within 0 to 100 percent cannot exceed.
const WIDEST: f64 = 50.0;

fn read_half_width(block: &mut Block<'_, '_>, node: &Node, gate: &mut Reliability) -> bool {
    let Some(percent) = block.problems.number(node, 0.0, WIDEST) else {
        return false;
    };
    gate.half_width = Some(percent);
    let message = if percent >= WIDEST {
        "a half-width of 50 percent asks for nothing: one run is enough for it"
    } else if percent > 0.0 {
        return true;
    } else {
        "a half-width of 0 percent would need infinitely many runs"
    };
    block.problems.push(
        Diagnostic::at(node.span, message).help(
            "write how exactly the pass rate must be known, in percent, e.g. `half_width: 5`",
        ),
    );
    false
}

fn missing_expect(expects: Expects, span: Span) -> Diagnostic {
    let why = match expects {
        Expects::OnlyOfModels => "all assertions of this agent need a model",
        Expects::Nothing | Expects::Something => "this agent has no `expect:`",
    };
    Diagnostic::at(
        span,
        format!("`reliability` counts the runs whose `expect:` holds, and {why}"),
    )
    .help(
        "add `expect:`, or write `outcome: recorded`, or name gates that judge run by run: `outcome: [trajectory]`",
    )
}

fn read_outcome(block: &mut Block<'_, '_>, node: &Node, gate: &mut Reliability) -> bool {
    let outcome = read_successes(node, block.agent, block.problems);
    let is_read = outcome.is_some();
    if let Some(outcome) = outcome {
        gate.outcome = outcome;
    }
    is_read
}

fn read_successes(
    node: &Node,
    agent: &DeclaredAgent<'_>,
    problems: &mut Problems,
) -> Option<Successes> {
    let alone = match node.items() {
        Some([only]) => only,
        _ => node,
    };
    if alone.text() == Some("recorded") {
        return Some(Successes::Recorded);
    }
    if let Some(score) = scored::read(alone, problems) {
        return score.map(Successes::Scored);
    }
    let single = std::slice::from_ref(node);
    let items = if node.text().is_some() {
        single
    } else {
        problems.items(node, "outcomes")?
    };
    let (mut expect, mut gates) = (false, Vec::new());
    for item in items {
        let Some(word) = problems.non_blank_text(item) else {
            continue;
        };
        let kind = judging_each_run().find(|kind| kind.name() == word.value);
        match (word.value.as_str(), kind) {
            ("expect", _) if agent.expects == Expects::Something => expect = true,
            ("expect", _) => problems.push(missing_expect(agent.expects, word.span)),
            ("recorded", _) => problems.push(
                Diagnostic::at(
                    word.span,
                    "`recorded` cannot be combined: it replaces every other outcome",
                )
                .help("write `outcome: recorded`, or leave it out here"),
            ),
            (name, None) if name.starts_with("scores.") => problems.push(
                Diagnostic::at(
                    word.span,
                    format!("`{name}` cannot be combined: it replaces every other outcome"),
                )
                .help(format!("write `outcome: {name}`, or leave it out here")),
            ),
            (_, Some(kind)) if agent.gates.contains(&kind) => gates.push(kind),
            (name, Some(_)) => problems.push(
                Diagnostic::at(
                    word.span,
                    format!("this agent has no `{name}` gate to take the outcome from"),
                )
                .help(format!("add `{name}:` to the agent, or leave it out here")),
            ),
            (name, None) => {
                let gates = judging_each_run().map(GateKind::name);
                let near = nearest(name, ["expect", "recorded"].into_iter().chain(gates));
                let problem =
                    Diagnostic::at(word.span, format!("`{name}` is no outcome of a single run"));
                let across = GateKind::ALL.iter().any(|kind| kind.name() == name);
                problems.push(match near {
                    _ if across => problem
                        .note("it looks at all runs together")
                        .help(format!("name what judges each run: {OUTCOMES}")),
                    Some(near) => problem.help(format!("did you mean `{near}`?")),
                    None => problem.help(format!("known outcomes: {OUTCOMES}")),
                });
            }
        }
    }
    gates.sort_unstable();
    gates.dedup();
    (expect || !gates.is_empty()).then_some(Successes::Judged { expect, gates })
}

/// The outcomes of the runs, and what they come to.
pub(crate) struct Outcomes {
    verdicts: Vec<CountedRun>,
    /// Of the runs of which something was judged.
    summary: ReliabilitySummary,
    /// What `expect:` was judged on nothing for, in every run.
    of_none: Vec<String>,
}

impl Metrics for Outcomes {
    const TARGETS: &'static [Measure] = <ReliabilitySummary as Metrics>::TARGETS;

    fn metrics(&self) -> Value {
        self.summary.metrics()
    }
}

impl AllRuns for Reliability {
    type Report = Outcomes;

    fn report(&self, input: &Input<'_>) -> Result<Outcomes, NotJudged> {
        let runs = (0..input.runs.len()).filter(|_| self.counts_expect());
        let expected: Vec<_> = runs.map(|run| Expect::verdicts(input, run)).collect();
        let of_none = match expected.as_slice() {
            [] => Vec::new(),
            expected => note_no_items(&input.gates.expect, expected),
        };
        let mut expected = expected.into_iter();
        let runs = 0..input.runs.len();
        let verdicts = runs.map(|run| count_run(self, input, run, expected.next()));
        let verdicts: Vec<CountedRun> = verdicts.collect();
        let breaches = verdicts.iter().enumerate().filter_map(|(index, verdict)| {
            let CountedRun::Unknown { asks, found } = verdict else {
                return None;
            };
            let breach = Breach::new(Cause::Gate(asks.clone()), found);
            Some(breach.in_run(index))
        });
        let mut breaches: Vec<_> = breaches.collect();
        if verdicts
            .iter()
            .all(|verdict| *verdict == CountedRun::OfNone)
        {
            let [_, must] = self.judged_on_nothing();
            let asks = format!("{must} in some run");
            let found = "none, so nothing was judged";
            breaches.push(Breach::new(Cause::Gate(asks), found));
        }
        if !breaches.is_empty() {
            return Err(NotJudged {
                breaches,
                evidence: Vec::new(),
            });
        }
        let judged = verdicts
            .iter()
            .filter(|verdict| **verdict != CountedRun::OfNone);
        let outcomes: Vec<bool> = judged.map(|verdict| *verdict == CountedRun::Pass).collect();
        let summary = summarize_with(&outcomes, &self.options());
        Ok(Outcomes {
            verdicts,
            summary,
            of_none,
        })
    }

    fn defaults(&self, _outcomes: &Outcomes) -> Vec<Threshold> {
        let all = Threshold::at_least("reliability.passhat_k", 100.0, "not every run passes");
        vec![all.numbered(count_failing_runs)]
    }

    fn breaches(&self, outcomes: &Outcomes) -> Vec<Breach> {
        let too_few = self.too_few_runs(outcomes.summary.runs);
        too_few.into_iter().collect()
    }

    fn explain(&self, input: &Input<'_>, outcomes: &Outcomes) -> Vec<Evidence> {
        let Outcomes {
            verdicts, summary, ..
        } = outcomes;
        let mut table = Table::new(["run", "outcome", "file", "why"]);
        for (index, (run, verdict)) in input.runs.iter().zip(verdicts).enumerate() {
            let (outcome, why) = match verdict {
                CountedRun::Pass => ("pass", String::new()),
                CountedRun::OfNone => ("left out", "nothing was judged".to_owned()),
                CountedRun::Fail(why) => ("FAIL", shorten(why, 140)),
                CountedRun::Unknown { found, .. } => ("?", found.clone()),
            };
            table.row([
                (index + 1).to_string(),
                outcome.to_owned(),
                run.origin.to_string(),
                why,
            ]);
        }
        let text = format!(
            "{} of {} runs pass ({:.1} %; Wilson interval {:.1} to {:.1} %); decay curve {}",
            summary.passes,
            summary.runs,
            summary.pass_rate,
            summary.ci_low,
            summary.ci_high,
            shorten(&format!("{:?}", summary.decay_curve), 400)
        );
        vec![Evidence::Table(table), Evidence::Text(text)]
    }

    fn notes(&self, input: &Input<'_>, outcomes: &Outcomes) -> Vec<String> {
        let notes = outcomes.of_none.iter().cloned();
        notes.chain(note_left_out(self, input, outcomes)).collect()
    }
}

impl Reliability {
    /// Whether the agent's own `expect:` is counted here.
    pub(crate) fn counts_expect(&self) -> bool {
        matches!(self.outcome, Successes::Judged { expect: true, .. })
    }

    /// Which of what is counted has nothing to judge, and what must be there.
    fn judged_on_nothing(&self) -> [String; 2] {
        if self.gates().is_empty() {
            return [
                "`expect:` leads to no item",
                "`expect:` must lead to an item",
            ]
            .map(str::to_owned);
        }
        let expect = self.counts_expect().then_some("expect:");
        let counted = expect
            .into_iter()
            .chain(self.gates().iter().map(|kind| kind.name()));
        let counted = quoted_list(counted);
        [
            format!("{counted} judged nothing"),
            format!("{counted} must have something to judge"),
        ]
    }

    /// The gates whose verdicts on runs are counted here.
    pub(super) fn gates(&self) -> &[GateKind] {
        match &self.outcome {
            Successes::Judged { gates, .. } => gates,
            Successes::Recorded | Successes::Scored(_) => &[],
        }
    }

    /// Notes thresholds of scores where no score is asked, and those that no score is within.
    fn refuse_thresholds(&self, block: &mut Block<'_, '_>) {
        let stated = [&MIN_SCORE, &MAX_SCORE].map(|key| block.get_key(key));
        if let (Some(least), Some(most)) = (self.thresholds.min_score, self.thresholds.max_score)
            && least > most
            && let [Some(node), _] = stated
        {
            let message = format!("no score is at least {least} and at most {most}");
            let problem = Diagnostic::at(node.span, message);
            block
                .problems
                .push(problem.help("make `min_score` the smaller one"));
        }
        if matches!(self.outcome, Successes::Scored(_)) {
            return;
        }
        if let Some(node) = stated.into_iter().flatten().next() {
            let message = "`min_score` and `max_score` do nothing if `outcome` is no score";
            let help = "add `outcome: scores.NAME`, or remove the threshold";
            block
                .problems
                .push(Diagnostic::at(node.span, message).help(help));
        }
    }

    /// How surely the pass rate must be known.
    fn options(&self) -> ReliabilityOptions {
        let mut options = ReliabilityOptions::default().with_confidence(self.confidence);
        if let Some(percent) = self.half_width {
            options.half_width = percent / 100.0;
        }
        options
    }

    /// Fewer runs than the wanted half-width needs.
    fn too_few_runs(&self, runs: usize) -> Option<Breach> {
        let stated = self.half_width?;
        let needed = recommend_runs(self.options().half_width, self.confidence)?;
        let asks = format!("`half_width: {stated}` needs {needed} runs");
        (u64::try_from(runs).is_ok_and(|runs| runs < needed))
            .then(|| Breach::new(Cause::Gate(asks), &runs.to_string()))
    }
}

/// How many of the counted runs fail, in words.
fn count_failing_runs(metrics: &Value) -> Option<String> {
    let runs = value_at(metrics, "reliability.runs")?;
    let pass_rate = value_at(metrics, "reliability.pass_rate")?.as_f64()?;
    let failing = (1.0 - pass_rate / 100.0) * runs.as_f64()?;
    Some(match (format!("{failing:.0}").as_str(), runs.as_u64()?) {
        ("1", 1) => "the one run fails".to_owned(),
        ("1", runs) => format!("1 of {runs} runs fails"),
        (failing, runs) => format!("{failing} of {runs} runs fail"),
    })
}

/// Says which runs are not counted, where some are not.
fn note_left_out(gate: &Reliability, input: &Input<'_>, outcomes: &Outcomes) -> Option<String> {
    let verdicts = outcomes.verdicts.iter().enumerate();
    let of_none = verdicts.filter(|(_, verdict)| **verdict == CountedRun::OfNone);
    let places: Vec<usize> = of_none.map(|(place, _)| place).collect();
    let (count, all) = (places.len(), input.runs.len());
    let [nothing, _] = gate.judged_on_nothing();
    let said =
        format!("left out {count} of {all} runs, in which {nothing}, so nothing was judged:");
    (count > 0).then(|| name_runs(&said, input.runs, &places))
}

/// What became of a run.
#[derive(Debug, PartialEq, Eq)]
enum CountedRun {
    Pass,
    /// Nothing was judged, so it counts neither way.
    OfNone,
    /// With the first thing it breaks.
    Fail(String),
    /// The recording does not say: what is asked of it, and what it has.
    Unknown {
        asks: String,
        found: String,
    },
}

/// What becomes of a run; `expected` where `expect:` is counted.
fn count_run(
    gate: &Reliability,
    input: &Input<'_>,
    run: usize,
    expected: Option<CheckVerdicts>,
) -> CountedRun {
    let gates = match &gate.outcome {
        Successes::Recorded => {
            return match input.runs[run].outcome.and_then(|outcome| outcome.passed) {
                Some(true) => CountedRun::Pass,
                Some(false) => CountedRun::Fail("recorded as failed".to_owned()),
                None => CountedRun::Unknown {
                    asks: "`outcome: recorded` needs `outcome.passed` in every recording"
                        .to_owned(),
                    found: "none".to_owned(),
                },
            };
        }
        Successes::Scored(name) => {
            return match gate.thresholds.judge(name, &input.runs[run]) {
                Scored::Pass => CountedRun::Pass,
                Scored::Fail(why) => CountedRun::Fail(why),
                Scored::Unknown { asks, found } => CountedRun::Unknown { asks, found },
            };
        }
        Successes::Judged { gates, .. } => gates,
    };
    let counted = || gates.iter().filter_map(|kind| input.gates.get(*kind));
    // A gate that names a sub-agent judges nothing of a run without a call of it.
    let mut of_none = counted().all(|gate| gate.is_idle(&input.runs[run]));
    if let Some(verdicts) = expected {
        let checks = &input.gates.expect;
        of_none &= verdicts.of_none.len() == checks.len();
        // What nobody here can tell is no pass.
        if let Some(breach) = verdicts.into_breaches().first() {
            let Cause::Check(check) = breach.cause else {
                return CountedRun::Fail(breach.found.clone());
            };
            return CountedRun::Fail(format!("`{}`: {}", checks[check].target.text, breach.found));
        }
    }
    for gate in counted() {
        let name = gate.kind.name();
        let Some(breaches) = gate.broken_by(input, run) else {
            return CountedRun::Fail(format!("`{name}` judges all runs together"));
        };
        if let Some(breach) = breaches.first() {
            let line = breach.to_line(&gate.expect);
            return CountedRun::Fail(format!("`{name}`: {line}"));
        }
    }
    if of_none {
        return CountedRun::OfNone;
    }
    CountedRun::Pass
}
