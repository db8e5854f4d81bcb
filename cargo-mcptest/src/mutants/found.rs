//! What became of all mutants, as text and as data.

use std::collections::{BTreeMap, BTreeSet};

use mcptest::suite::gates::GateKind;
use mcptest_trace::evidence::mutants::{
    Count, MeanScore, Mutant, MutantVerdict, MutationScores, Operator, OperatorKind, Sites, score,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::judging::{Bench, Mutated};
use super::outline;
pub(super) use super::state::MutantState;
use crate::failure::Failure;
use crate::judging::OpenPackage;
use crate::output::counted_are;
use crate::table::{cell, table};
use mcptest_trace::text::pluralize;

/// The format of the outcomes, as JSON.
const FORMAT: &str = "mutants/1.0";

/// A mutant with what became of it.
pub(super) struct JudgedMutant<'a> {
    /// The agent's case.
    case: &'a str,
    /// Its place on the bench.
    agent: usize,
    pub(super) mutant: Mutant,
    judged: MutantVerdict,
    state: MutantState,
}

/// The survivors of an operator.
#[derive(Debug, Serialize)]
pub(super) struct Survivors {
    operator: Operator,
    /// What would kill them.
    suggestion: &'static str,
    count: usize,
    shown: Vec<Survivor>,
}

/// A survivor as a diff.
#[derive(Debug, Serialize)]
struct Survivor {
    case: String,
    line: String,
    origin: String,
    /// Whether a gate holds on its run.
    covered: bool,
    diff: String,
}

/// All mutants.
pub(super) struct MutantsFound<'a> {
    pub(super) mutants: Vec<JudgedMutant<'a>>,
    pub(super) scores: MutationScores,
    sites: BTreeMap<Operator, Sites>,
    runs: usize,
    /// What was red before.
    red: &'a [String],
    gates: BTreeSet<&'static str>,
}

impl<'a> MutantsFound<'a> {
    pub(super) fn new(bench: &'a Bench<'_>, mutated: Mutated) -> Result<Self, Failure> {
        if mutated.mutants.is_empty() {
            return Err(Failure::inconclusive("there is no run that can be broken")
                .with_help("the command does not break runs that failed; record runs that pass"));
        }
        let scores = score(
            mutated
                .mutants
                .iter()
                .map(|(_, mutant, judged)| (mutant, judged)),
        );
        let fate = |(agent, mutant, judged): (usize, Mutant, MutantVerdict)| JudgedMutant {
            case: bench.agents[agent].test.case(),
            agent,
            state: MutantState::from_verdict(&mutant, &judged),
            mutant,
            judged,
        };
        Ok(Self {
            mutants: mutated.mutants.into_iter().map(fate).collect(),
            scores,
            sites: mutated.sites,
            runs: mutated.runs,
            red: &bench.red,
            gates: bench.gates(),
        })
    }

    /// A line a mutant of which something became.
    pub(super) fn render_lines(&self, wanted: impl Fn(MutantState) -> bool) -> String {
        let wanted = self.mutants.iter().filter(|fate| wanted(fate.state));
        wanted.map(|fate| format!("{}\n", fate.line())).collect()
    }

    /// The operators that have mutants, in order.
    fn operators(&self) -> impl Iterator<Item = (Operator, &Sites)> {
        let sites = self.sites.iter().filter(|(_, sites)| sites.sites > 0);
        sites.map(|(operator, sites)| (*operator, sites))
    }

    fn killed(&self, operator: Operator) -> Count {
        self.scores
            .operators
            .get(&operator)
            .map(|found| found.counted)
            .unwrap_or_default()
    }

    /// The gates that kill nothing.
    fn idle(&self) -> Vec<&'static str> {
        let kills = |gate: &&&str| {
            self.scores
                .operators
                .values()
                .any(|found| found.by_gate.contains_key(**gate))
        };
        self.gates
            .iter()
            .filter(|gate| !kills(gate))
            .copied()
            .collect()
    }

    /// Kills that only one gate makes, by gate.
    fn only_by(&self) -> BTreeMap<&str, usize> {
        let mut only: BTreeMap<&str, usize> = BTreeMap::new();
        for (gate, count) in self
            .scores
            .operators
            .values()
            .flat_map(|found| &found.only_by)
        {
            *only.entry(gate).or_default() += count;
        }
        only
    }

    /// The score of each agent, in the order of the bench.
    fn by_agent(&self) -> Vec<(&'a str, MutationScores)> {
        let mut agents: BTreeMap<usize, Vec<&JudgedMutant<'a>>> = BTreeMap::new();
        for fate in &self.mutants {
            agents.entry(fate.agent).or_default().push(fate);
        }
        let scored = agents.into_values().filter_map(|fates| {
            let judged = fates.iter().map(|fate| (&fate.mutant, &fate.judged));
            Some((fates.first()?.case, score(judged)))
        });
        scored.collect()
    }

    pub(super) fn text(&self, bench: &Bench<'_>, diffs: usize) -> String {
        let harmful = self.scores.harm.count.mutants + self.scores.waste.count.mutants;
        let harmless = self.scores.brittle.mutants;
        let mut text = format!(
            "{} broken: {} that a suite should notice, {harmless} that it should ignore\n",
            pluralize(self.runs, "run"),
            pluralize(harmful, "mutant"),
        );
        if !self.red.is_empty() {
            text.push_str(&format!(
                "{} red before, and a red gate notices nothing\n",
                counted_are(self.red.len(), "gate")
            ));
        }
        text.push_str(&format!("\n{}\n", table(&self.matrix())));
        let scores = &self.scores;
        text.push_str(&format!(
            "harm:    {}\n",
            describe_scores(scores.harm, scores.harm_covered)
        ));
        text.push_str(&format!(
            "waste:   {}\n",
            describe_scores(scores.waste, scores.waste_covered)
        ));
        let share = scores
            .brittle
            .share()
            .map_or_else(|| "no number".to_owned(), |share| format!("{share:.4}"));
        text.push_str(&format!(
            "brittle: {share}, {} of {harmless} harmless changes turn a gate red\n",
            scores.brittle.killed
        ));
        let only: Vec<String> = self
            .only_by()
            .iter()
            .map(|(gate, count)| format!("{gate} {count}"))
            .collect();
        if !only.is_empty() {
            text.push_str(&format!("noticed by only one gate: {}\n", only.join(", ")));
        }
        let idle = self.idle();
        if !idle.is_empty() {
            text.push_str(&format!("gates that notice nothing: {}\n", idle.join(", ")));
        }
        let mut rows = vec![
            ["agent test", "harm score", "killed", "brittle"]
                .map(str::to_owned)
                .to_vec(),
        ];
        rows.extend(self.by_agent().into_iter().map(|(case, scores)| {
            let harm = scores.harm;
            vec![
                case.to_owned(),
                cell(harm.score.map(|score| format!("{score:.4}"))),
                format!("{} of {}", harm.count.killed, harm.count.mutants),
                format!("{} of {}", scores.brittle.killed, scores.brittle.mutants),
            ]
        }));
        text.push_str(&format!("\n{}", table(&rows)));
        text.push_str(&self.render_survivors(bench, diffs));
        text
    }

    /// How many of each operator each gate kills.
    pub(super) fn matrix(&self) -> Vec<Vec<String>> {
        let mut head = [
            "operator",
            "sites",
            "harmless",
            "unclear",
            "duplicates",
            "judged",
            "killed",
        ]
        .map(str::to_owned)
        .to_vec();
        head.extend(self.gates.iter().map(|gate| (*gate).to_owned()));
        let mut rows = vec![head];
        for (operator, sites) in self.operators() {
            let killed = self.killed(operator);
            let waste = if operator.kind() == OperatorKind::Waste {
                " (waste)"
            } else {
                ""
            };
            let mut row = vec![format!("{operator}{waste}")];
            row.extend(
                [
                    sites.sites,
                    sites.harmless,
                    sites.unclear,
                    sites.duplicates,
                    killed.mutants,
                    killed.killed,
                ]
                .map(|count| count.to_string()),
            );
            let by_gate = self
                .scores
                .operators
                .get(&operator)
                .map(|found| &found.by_gate);
            row.extend(self.gates.iter().map(|gate| {
                let kills = by_gate.and_then(|by_gate| by_gate.get(*gate));
                kills.copied().unwrap_or_default().to_string()
            }));
            rows.push(row);
        }
        rows
    }

    /// Survivors as diffs, those of operators that nobody kills first.
    fn render_survivors(&self, bench: &Bench<'_>, diffs: usize) -> String {
        let survivors = self.mutants.iter().filter(|fate| fate.state.is_survivor());
        let all = survivors.count();
        if all == 0 {
            return "\nno mutant survived\n".to_owned();
        }
        let mut text = format!("\n{} survived\n", pluralize(all, "mutant"));
        for survivors in self.survivors(bench, diffs) {
            for shown in &survivors.shown {
                let uncovered = if shown.covered {
                    ""
                } else {
                    "\nno gate holds on this run"
                };
                text.push_str(&format!(
                    "\n{}\nin {}\nwould be killed by {}{uncovered}\n{}",
                    shown.line, shown.origin, survivors.suggestion, shown.diff
                ));
            }
            let more = survivors.count - survivors.shown.len();
            if more > 0 && diffs > 0 {
                let operator = survivors.operator;
                text.push_str(&format!("and {more} more survivors of {operator}\n"));
            }
        }
        text
    }

    /// The survivors of each operator that has some, so many of them as diffs; those of operators that
    /// nobody kills first.
    pub(super) fn survivors(&self, bench: &Bench<'_>, diffs: usize) -> Vec<Survivors> {
        let mut operators: Vec<Operator> = self.operators().map(|(operator, _)| operator).collect();
        operators.sort_by_key(|operator| self.killed(*operator).killed > 0);
        let survivors = operators.into_iter().map(|operator| {
            let own = || {
                let survivors = self.mutants.iter().filter(|fate| fate.state.is_survivor());
                survivors.filter(|fate| fate.mutant.operator == operator)
            };
            let shown = own().take(diffs).map(|fate| {
                let run = &bench.agents[fate.agent].runs[fate.mutant.number - 1];
                Survivor {
                    case: fate.case.to_owned(),
                    line: fate.line(),
                    origin: run.origin.to_string(),
                    covered: fate.state != MutantState::NotCovered,
                    diff: outline::diff(run, &fate.mutant.apply(run)),
                }
            });
            Survivors {
                operator,
                suggestion: match operator {
                    // A narrative that is there leaves open what it does not know.
                    Operator::FalseClaim
                        if own().any(|it| bench.agents[it.agent].has_gate(GateKind::Narrative)) =>
                    {
                        "`tools:` with all tools of the agent, or `evidence:` in `narrative`"
                    }
                    _ => operator.suggestion(),
                },
                count: own().count(),
                shown: shown.collect(),
            }
        });
        survivors.filter(|survivors| survivors.count > 0).collect()
    }

    pub(super) fn json(&self, opened: &OpenPackage) -> Value {
        let mutants = self.mutants.iter().map(|fate| {
            json!({
                "agent": fate.case,
                "run": fate.mutant.number,
                "operator": fate.mutant.operator,
                "call": fate.mutant.call.as_ref().map(|(call, tool)| json!({ "number": call + 1, "tool": tool })),
                "what": fate.mutant.what,
                "state": fate.state,
                "killed_by": fate.judged.killed_by,
                "line": fate.line(),
            })
        });
        let agents = self.by_agent().into_iter().map(|(case, scores)| {
            json!({ "agent": case, "harm": scores.harm, "waste": scores.waste, "brittle": scores.brittle })
        });
        json!({
            "format": FORMAT,
            "package": opened.package.name,
            "harness": opened.package.versions.json(),
            "runs": self.runs,
            "red_before": self.red,
            "sites": self.sites,
            "scores": self.scores,
            "brittleness": self.scores.brittle.share(),
            "only_by": self.only_by(),
            "idle_gates": self.idle(),
            "agents": agents.collect::<Vec<_>>(),
            "mutants": mutants.collect::<Vec<_>>(),
        })
    }
}

impl JudgedMutant<'_> {
    fn line(&self) -> String {
        format!("{} {}", self.case, self.mutant.describe())
    }
}

/// A score in words, and that of the mutants that some gate could notice.
fn describe_scores(score: MeanScore, covered: MeanScore) -> String {
    let number = |score: MeanScore| {
        score
            .score
            .map_or_else(|| "no number".to_owned(), |score| format!("{score:.4}"))
    };
    let [all, able] = [score, covered].map(|score| score.count);
    format!(
        "{}, {} of {} killed; on runs with a green gate {}, {} of {}",
        number(score),
        all.killed,
        all.mutants,
        number(covered),
        able.killed,
        able.mutants
    )
}
