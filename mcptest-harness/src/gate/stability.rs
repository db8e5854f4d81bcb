//! The `stability` gate: how stable each run was, and how alike the runs are.

use std::collections::BTreeSet;

use mcptest_suite::{Diagnostic, Node, Span};
use serde_json::json;

use super::block::Block;
use super::form::{CustomForm, MappingForm, WordForm};
use super::key::{Key, Keyed, Range};
use super::table::GateEntry;
use super::{AllRuns, Breach, Cause, Input, NotJudged, Options, Threshold};
use crate::eval::{
    Dimensions, SUB_SCORES, StabilityAcross, StabilityFloors, StabilityOptions, SubScore, Turns,
    agent_stability_across_with,
};
use crate::render::{Evidence, Table};
use crate::trace::{Run, Trace, canonical_json};
use mcptest_trace::text::{shorten, with_thousands};

pub(super) const ENTRY: GateEntry = GateEntry::all_runs::<Stability>();

/// What is looked at, and what fails a run whatever all runs come to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stability {
    options: StabilityOptions,
    /// Whether a run with a sub-score strictly below its floor fails.
    fails_below: bool,
}

/// Which assistant turns are looked at.
const TURNS: [(&str, Turns); 2] = [("all", Turns::All), ("said", Turns::Said)];

impl Options for Stability {
    const SAYS: &'static str = "Each run is stable, and the runs are alike. The agent needs `runs:` of at least 2. Default: stability.weakest_score >= 0.5.";

    const EXAMPLE: &'static str = "runs: 2, stability: {}";

    const CALIBRATED_BY: Option<&'static str> = Some("stability.weakest_score");
}

const TURNS_KEY: Key<Stability> = Key::form(
    "turns",
    &WordForm {
        what: "turn kind",
        choices: &TURNS,
        at: |stability: &mut Stability| &mut stability.options.turns,
    },
)
.says(
    "Which assistant turns `response_consistency` compares. `said`: only turns that say something, not the `tool_use` turns that stand for a call.",
);

const FLOORS: Key<Stability> = Key::form(
    "floors",
    &MappingForm {
        called: "`floors`",
        at: |stability: &mut Stability| &mut stability.options.floors,
    },
)
.says("A run fails if one of its sub-scores is below its floor.");

impl Keyed for Stability {
    const KEYS: &'static [Key<Self>] = &[
        Key::form(
            "dimensions",
            &CustomForm {
                schema: || json!({ "type": "array", "minItems": 1, "items": { "enum": SUB_SCORES } }),
                read: read_dimensions,
            },
        )
        .says(
            "The sub-scores that count. Only these can be the weakest of a run or fall below a floor. Without this key: all four.",
        ),
        TURNS_KEY,
        Key::number(
            "tokens_per_useful_call",
            Range::Above0,
            |stability: &mut Self| &mut stability.options.tokens_per_useful_call,
        )
        .says("Above this many tokens per distinct call, `cost_per_progress` falls."),
        FLOORS,
    ];

    fn default_options() -> Self {
        Self {
            options: StabilityOptions::default(),
            fails_below: false,
        }
    }

    fn check(&mut self, block: &mut Block<'_, '_>, whole: bool) -> bool {
        if let Some(runs) = block.agent.runs.filter(|runs| runs.value < 2) {
            let mut problem = Diagnostic::new("`stability` needs at least 2 runs")
                .label(block.span, "compares runs with each other")
                .help("record more runs and write e.g. `runs: 5`, or remove the gate");
            if runs.span != Span::default() {
                problem = problem.secondary_label(runs.span, "one run has no variance");
            }
            block.problems.push(problem);
        }
        let dimensions = self.options.dimensions;
        if let Some(node) = block.get_key(&TURNS_KEY)
            && !dimensions.contains(SubScore::ResponseConsistency)
        {
            let message = "`turns` does nothing if `response_consistency` does not count";
            block.problems.push(
                Diagnostic::at(node.span, message)
                    .help("add `response_consistency` to `dimensions`, or remove `turns`"),
            );
        }
        if let Some(floors) = block.get_key(&FLOORS) {
            self.fails_below = true;
            let uncounted = SubScore::ALL.into_iter();
            for score in uncounted.filter(|score| !dimensions.contains(*score)) {
                note_unused_floor(block, floors, score.as_str());
            }
        }
        whole
    }
}

impl Keyed for StabilityFloors {
    const KEYS: &'static [Key<Self>] = &[
        Key::number(
            "tool_usage_stability",
            Range::UpTo(1.0),
            |floors: &mut Self| &mut floors.tool_usage_stability,
        )
        .says("The floor of `tool_usage_stability`.")
        .limits_target("stability.tool_usage_stability"),
        Key::number(
            "response_consistency",
            Range::UpTo(1.0),
            |floors: &mut Self| &mut floors.response_consistency,
        )
        .says("The floor of `response_consistency`.")
        .limits_target("stability.response_consistency"),
        Key::number("redundancy", Range::UpTo(1.0), |floors: &mut Self| {
            &mut floors.redundancy
        })
        .says("The floor of `redundancy`.")
        .limits_target("stability.redundancy"),
        Key::number(
            "cost_per_progress",
            Range::UpTo(1.0),
            |floors: &mut Self| &mut floors.cost_per_progress,
        )
        .says("The floor of `cost_per_progress`.")
        .limits_target("stability.cost_per_progress"),
    ];

    fn default_options() -> Self {
        Self::default()
    }
}

/// Which sub-scores count.
fn read_dimensions(block: &mut Block<'_, '_>, node: &Node, stability: &mut Stability) -> bool {
    let known = SubScore::ALL.map(|score| (score.as_str(), score));
    let scores = block.problems.choices(node, "sub-score", &known);
    let dimensions = Dimensions::from_scores(scores);
    stability.options.dimensions = dimensions.unwrap_or_default();
    dimensions.is_some()
}

/// Notes a floor of a sub-score that does not count.
fn note_unused_floor(block: &mut Block<'_, '_>, floors: &Node, name: &str) {
    if let Some(node) = floors.get(name) {
        let message =
            format!("`{name}` is not among `dimensions`, so no run falls below its floor");
        block.problems.push(
            Diagnostic::at(node.span, message)
                .help(format!("add `{name}` to `dimensions`, or remove its floor")),
        );
    }
}

impl AllRuns for Stability {
    type Report = StabilityAcross;

    fn report(&self, input: &Input<'_>) -> Result<StabilityAcross, NotJudged> {
        let traces: Vec<&Trace> = input.runs.iter().map(|run| &run.trace).collect();
        let breaches = vacuous_runs(input.runs, self.options);
        let across =
            agent_stability_across_with(&traces, self.options).filter(|_| breaches.is_empty());
        across.ok_or(NotJudged {
            breaches,
            evidence: Vec::new(),
        })
    }

    fn defaults(&self, _across: &StabilityAcross) -> Vec<Threshold> {
        vec![Threshold::at_least(
            "stability.weakest_score",
            0.5,
            "at least one run is not stable enough",
        )]
    }

    fn breaches(&self, across: &StabilityAcross) -> Vec<Breach> {
        let runs = 0..across.runs.len();
        let below = runs
            .filter(|_| self.fails_below)
            .flat_map(|index| below_floors(across, index).map(move |breach| breach.in_run(index)));
        below.collect()
    }

    fn explain(&self, input: &Input<'_>, across: &StabilityAcross) -> Vec<Evidence> {
        evidence(across, input.runs, self.options)
    }

    fn notes(&self, input: &Input<'_>, _across: &StabilityAcross) -> Vec<String> {
        let counted = self.options.dimensions.iter();
        let of_nothing =
            counted.filter_map(|score| note_vacuous_score(score, input.runs, self.options.turns));
        let of_nothing: Vec<String> = of_nothing.collect();
        if of_nothing.is_empty() {
            return Vec::new();
        }
        vec![format!(
            "no data, so the score is 1: {}",
            of_nothing.join(", ")
        )]
    }
}

/// Says of a sub-score in how many runs it is 1 for want of what it is made of.
fn note_vacuous_score(score: SubScore, runs: &[Run], turns: Turns) -> Option<String> {
    let without = runs
        .iter()
        .filter(|run| !has_parts(score, &run.trace, turns));
    let without = without.count();
    let (name, needs) = (score.as_str(), required_parts(score));
    let say = || {
        format!(
            "`{name}` in {without} of {} runs (it needs {needs})",
            runs.len()
        )
    };
    (without > 0).then(say)
}

/// The runs of which nothing can be said.
fn vacuous_runs(runs: &[Run], options: StabilityOptions) -> Vec<Breach> {
    let empty = runs.iter().enumerate();
    let empty = empty.filter(|(_, run)| nothing_happened(&run.trace, options));
    let needs = if options.dimensions == Dimensions::ALL && options.turns == Turns::All {
        "stability needs a call, a turn or a token in every run".to_owned()
    } else {
        let needs: BTreeSet<&str> = options.dimensions.iter().map(required_parts).collect();
        let needs: Vec<&str> = needs.into_iter().collect();
        format!(
            "the sub-scores that count need {} in every run",
            needs.join(" or ")
        )
    };
    let breaches = empty.map(|(index, _)| {
        let found = "none, so nothing was judged";
        Breach::new(Cause::Gate(needs.clone()), found).in_run(index)
    });
    breaches.collect()
}

/// What a sub-score is made of.
const fn required_parts(score: SubScore) -> &'static str {
    match score {
        SubScore::ToolUsageStability | SubScore::Redundancy => "a call",
        SubScore::ResponseConsistency => "an assistant turn",
        SubScore::CostPerProgress => "a token",
    }
}

/// Whether a run has nothing of what the scores that count are made of.
fn nothing_happened(trace: &Trace, options: StabilityOptions) -> bool {
    let mut counted = options.dimensions.iter();
    !counted.any(|score| has_parts(score, trace, options.turns))
}

/// Whether a run has what a score is made of.
fn has_parts(score: SubScore, trace: &Trace, counted: Turns) -> bool {
    let conversation = &trace.conversation;
    match score {
        SubScore::ToolUsageStability | SubScore::Redundancy => !trace.tool_calls.is_empty(),
        SubScore::ResponseConsistency => {
            conversation.turns.iter().any(|turn| counted.includes(turn))
        }
        SubScore::CostPerProgress => {
            let mut steps = conversation.steps.iter();
            trace.tokens_taken() > Some(0) || steps.any(|step| step.total() > Some(0))
        }
    }
}

/// What a run, by its place, breaks of the floors.
fn below_floors(across: &StabilityAcross, run: usize) -> impl Iterator<Item = Breach> {
    let (floors, scores) = (across.options.floors.floors(), across.runs[run].scores());
    across
        .run_drift_flags(run)
        .into_iter()
        .filter_map(move |flag| {
            let place = SUB_SCORES.iter().position(|name| *name == flag)?;
            let asks = format!("the floor asks for `{flag}` >= {}", floors[place]);
            Some(Breach::new(
                Cause::Gate(asks),
                &format!("{:.4}", scores[place]),
            ))
        })
}

/// The runs × sub-scores, and what made the weakest one low.
fn evidence(across: &StabilityAcross, runs: &[Run], options: StabilityOptions) -> Vec<Evidence> {
    let mut table = Table::new(["run"].into_iter().chain(SUB_SCORES).chain(["file"]));
    let lowest = across.weakest_score;
    for (index, (report, run)) in across.runs.iter().zip(runs).enumerate() {
        let cell = |of: SubScore| {
            let score = report.score(of);
            match options.dimensions.contains(of) {
                true if score <= lowest => format!("*{score:.2}"),
                true => format!("{score:.2}"),
                false => format!("({score:.2})"),
            }
        };
        let cells = SubScore::ALL.map(cell);
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
        .position(|run| run.score(run.weakest_among(options.dimensions)) <= lowest)
        .unwrap_or_default();
    let report = &across.runs[weakest];
    let sub_score = report.weakest_among(options.dimensions);
    let reason = reason(sub_score, &runs[weakest].trace, &options);
    let mut legend = format!(
        "* the weakest: `{}` of run {} is {:.4}, because {reason}",
        sub_score.as_str(),
        weakest + 1,
        report.score(sub_score),
    );
    if options.dimensions != Dimensions::ALL {
        legend += "\nscores in () do not count, because `dimensions` does not name them";
    }
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
fn reason(sub_score: SubScore, trace: &Trace, options: &StabilityOptions) -> String {
    let counted = options.turns;
    let calls = trace.tool_calls.len();
    match sub_score {
        SubScore::ToolUsageStability => {
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
                shorten(&tools.join(", "), 100)
            )
        }
        SubScore::ResponseConsistency => {
            let turns = trace.conversation.turns.iter();
            let assistant = turns.filter(|turn| counted.includes(turn));
            let lengths: Vec<usize> = assistant.map(|turn| turn.content.chars().count()).collect();
            let (least, most) = (lengths.iter().min(), lengths.iter().max());
            format!(
                "the lengths of the {} assistant turns vary from {} to {} characters",
                lengths.len(),
                least.copied().unwrap_or_default(),
                most.copied().unwrap_or_default()
            )
        }
        SubScore::Redundancy => {
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
            let repeats = trace.repeated_tool_calls();
            format!(
                "{repeats} of {calls} calls repeat an earlier one; {most} times: {}",
                shorten(&shown.unwrap_or_default(), 120)
            )
        }
        SubScore::CostPerProgress => {
            let (tokens, distinct) = (
                trace.tokens_taken().unwrap_or_default(),
                trace.distinct_tool_calls() as u64,
            );
            let spent = format!(
                "{} tokens were spent on {distinct} different calls",
                with_thousands(tokens)
            );
            match distinct {
                0 => spent,
                distinct => format!(
                    "{spent}, {} each ({} is normal)",
                    with_thousands(tokens / distinct),
                    options.tokens_per_useful_call
                ),
            }
        }
    }
}
