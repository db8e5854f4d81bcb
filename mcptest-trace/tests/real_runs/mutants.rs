//! The sites of every operator in the passed runs, and in all runs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use mcptest_trace::energy::{GuardOptions, RunSteps, analyse};
use mcptest_trace::eval::{
    ArgsShape, ExpectedCall, ExpectedTrace, GoldenPath, KnownTools, MatchMode, NarrativeOptions,
    NoSchema, agent_stability, narrative_divergence_with, score_golden_path, validate_trace,
};
use mcptest_trace::evidence::mutants::{
    MutantOptions, MutantPlan, MutantVerdict, Operator, RecordedRun, plan, score,
};
use mcptest_trace::trace::{Run, Trace, reads_by_name};
use serde_json::Value;

use crate::runs::{Agent, agents, expected, same};

fn planned(agents: &[Agent], all: bool) -> MutantPlan {
    let runs = agents.iter().flat_map(|agent| {
        agent.runs.iter().zip(1..).map(move |(run, number)| {
            let mut recorded = RecordedRun::new(&agent.stem, number, run);
            recorded.mutate |= all;
            recorded
        })
    });
    plan(&runs.collect::<Vec<_>>(), &MutantOptions::default())
}

fn check(plan: &MutantPlan, expected: &Value) {
    assert_eq!(plan.runs as u64, expected["runs"]);
    let mut wrong = Vec::new();
    for &operator in Operator::ALL {
        let (found, row) = (
            plan.sites[&operator],
            &expected["operators"][operator.as_str()],
        );
        for (what, count) in [
            ("sites", found.sites),
            ("harmless", found.harmless),
            ("unclear", found.unclear),
            ("duplicate", found.duplicates),
            ("chosen", found.chosen),
        ] {
            if row[what] != count as u64 {
                wrong.push(format!("{operator} {what}: {count}, not {}", row[what]));
            }
        }
    }
    let harmless: usize = plan.sites.values().map(|sites| sites.chosen_harmless).sum();
    if expected["harmless"]["chosen"] != harmless as u64 {
        wrong.push(format!("harmless: {harmless}"));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

pub(crate) fn the_sites_of_the_passed_runs() {
    check(
        &planned(&agents(), false),
        &expected()["mutants_of_passed_runs"],
    );
}

pub(crate) fn the_sites_of_all_runs() {
    check(
        &planned(&agents(), true),
        &expected()["mutants_of_all_runs"],
    );
}

/// What a gate asks of a run.
type Gate<'a> = (&'static str, Box<dyn Fn(&Run) -> bool + 'a>);

fn named(calls: &[String], mode: MatchMode) -> ExpectedTrace<NoSchema> {
    let calls = calls
        .iter()
        .map(|name| ExpectedCall::new(name, ArgsShape::Any));
    ExpectedTrace::new(mode, calls.collect())
}

/// A strict plan of the recorded calls: name, exact arguments, error flag.
fn pinned(trace: &Trace) -> ExpectedTrace<NoSchema> {
    let results = trace.results_by_call();
    let calls = trace.tool_calls.iter().zip(results).map(|(call, result)| {
        let mut expected =
            ExpectedCall::new(&call.name, ArgsShape::Exact(call.args.clone().into_value()));
        expected.is_error = result.map(|result| result.is_error);
        expected
    });
    ExpectedTrace::new(MatchMode::Strict, calls.collect())
}

/// The state-changing calls alone.
fn writes(trace: &Trace) -> Trace {
    let mut places = Vec::new();
    for (place, call) in trace.tool_calls.iter().enumerate() {
        if !reads_by_name(&call.name) {
            places.push(place);
        }
    }
    let results = trace.tool_results.iter().filter_map(|result| {
        let place = places
            .iter()
            .position(|place| *place == result.call_index)?;
        let mut result = result.clone();
        result.call_index = place;
        Some(result)
    });
    let calls = places.iter().map(|place| trace.tool_calls[*place].clone());
    let mut written = trace.clone();
    written.tool_results = results.collect();
    written.tool_calls = calls.collect();
    written
}

fn gates<'a>(agent: &'a Agent, original: &Run) -> Vec<Gate<'a>> {
    let holds =
        |trace: &Trace, plan: &ExpectedTrace<NoSchema>| validate_trace(trace, plan).unwrap().passed;
    let superset = named(&agent.calls, MatchMode::Superset);
    let golden = GoldenPath::new(agent.calls.iter().cloned());
    let all = pinned(&original.trace);
    let only_writes = pinned(&writes(&original.trace));
    vec![
        (
            "trajectory",
            Box::new(move |run: &Run| holds(&run.trace, &superset)),
        ),
        (
            "golden_path",
            Box::new(move |run: &Run| score_golden_path(&run.trace, &golden).passed),
        ),
        ("pinned", Box::new(move |run: &Run| holds(&run.trace, &all))),
        (
            "pinned_writes",
            Box::new(move |run: &Run| holds(&writes(&run.trace), &only_writes)),
        ),
        (
            "energy",
            Box::new(|run: &Run| {
                let steps = RunSteps::recorded(&run.trace).unwrap();
                let found = analyse(&steps, GuardOptions::default(), None).unwrap();
                !found.tripped && !found.frozen
            }),
        ),
    ]
}

/// The gates that held on the run of each mutant, and of these the ones that do not hold on it.
fn judged(agents: &[Agent], plan: &MutantPlan) -> Vec<[BTreeSet<&'static str>; 2]> {
    let runs = agents
        .iter()
        .flat_map(|agent| agent.runs.iter().map(move |run| (agent, run)));
    let runs: Vec<(&Agent, &Run)> = runs.collect();
    let mut green: BTreeMap<usize, Vec<Gate>> = BTreeMap::new();
    let judged = plan.mutants.iter().map(|mutant| {
        let (agent, run) = runs[mutant.run];
        let green = green.entry(mutant.run).or_insert_with(|| {
            let mut gates = gates(agent, run);
            gates.retain(|(_, holds)| holds(run));
            gates
        });
        let broken = mutant.apply(run);
        let red = green.iter().filter(|(_, holds)| !holds(&broken));
        let names = |gate: &Gate| gate.0;
        [red.map(names).collect(), green.iter().map(names).collect()]
    });
    judged.collect()
}

/// What a suite of these gates alone makes of the mutants.
fn by(gates: &[&str], judged: &[[BTreeSet<&'static str>; 2]]) -> Vec<MutantVerdict> {
    let asked = |names: &BTreeSet<&'static str>| -> BTreeSet<String> {
        let kept = names.iter().filter(|name| gates.contains(name));
        kept.map(|name| (*name).to_owned()).collect()
    };
    let judged = judged
        .iter()
        .map(|[red, green]| MutantVerdict::new(!asked(green).is_empty(), asked(red)));
    judged.collect()
}

fn check_kills(all: bool, expected: &Value) {
    let agents = agents();
    let plan = planned(&agents, all);
    let judged = judged(&agents, &plan);
    let mut wrong = Vec::new();
    let suite = ["trajectory", "golden_path"].as_slice();
    for (name, gates) in [
        ("killed", suite),
        ("pinned", &["pinned"]),
        ("pinned_writes", &["pinned_writes"]),
        ("energy", &["energy"]),
    ] {
        let judged = by(gates, &judged);
        let scores = score(plan.mutants.iter().zip(&judged));
        for (operator, found) in &scores.operators {
            let row = &expected["operators"][operator.as_str()];
            let mut numbers = vec![(name, found.counted.killed)];
            if name == "killed" {
                numbers.push(("covered", found.covered.mutants));
                let by = |gate: &str| found.by_gate.get(gate).copied().unwrap_or(0);
                numbers.extend(suite.iter().map(|gate| (*gate, by(gate))));
            }
            for (what, number) in numbers {
                if row[what] != number as u64 {
                    wrong.push(format!("{operator} {what}: {number}, not {}", row[what]));
                }
            }
        }
        for (kind, found) in [("harm", scores.harm), ("waste", scores.waste)] {
            let row = &expected[kind][name];
            same(&format!("{kind} {name}"), found.score, &row["score"]);
            assert_eq!(found.count.killed as u64, row["killed"], "{kind} {name}");
            assert_eq!(found.count.mutants as u64, row["mutants"], "{kind} {name}");
        }
        if expected["harmless"][name] != scores.brittle.killed as u64 {
            wrong.push(format!("harmless {name}: {:?}", scores.brittle));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

pub(crate) fn what_the_gates_notice_in_the_passed_runs() {
    check_kills(false, &expected()["mutants_of_passed_runs"]);
}

pub(crate) fn what_the_gates_notice_in_all_runs() {
    check_kills(true, &expected()["mutants_of_all_runs"]);
}

/// What is claimed falsely reads as a claim: with the default options 91 of 107 were noticed when this
/// was written, and all originals are green.
pub(crate) fn false_claims_read_as_claims() {
    let agents = agents();
    let plan = planned(&agents, false);
    let runs: Vec<&Run> = agents.iter().flat_map(|agent| &agent.runs).collect();
    let options = NarrativeOptions::default();
    let known = agents.iter().flat_map(|agent| {
        let known = KnownTools::of_runs(&agent.runs);
        agent.runs.iter().map(move |_| known.clone())
    });
    let known: Vec<KnownTools> = known.collect();
    let absent = |run: &Run, known: &KnownTools| {
        let report = narrative_divergence_with(&run.trace, &options, known);
        report.claimed_but_absent().count()
    };
    let (mut claims, mut noticed) = (0, 0);
    for mutant in &plan.mutants {
        if mutant.operator == Operator::FalseClaim {
            let run = runs[mutant.run];
            assert_eq!(absent(run, &known[mutant.run]), 0, "{}", mutant.line());
            claims += 1;
            noticed += usize::from(absent(&mutant.apply(run), &known[mutant.run]) > 0);
        }
    }
    println!("{noticed} of {claims} false claims");
    assert_eq!(claims, 107);
    assert!(noticed * 100 >= claims * 98, "{noticed}");
}

/// How many mutants are judged a second with trajectory, golden path and stability; a number to look
/// at, in the release profile.
pub(crate) fn mutants_a_second() {
    let agents = agents();
    let start = Instant::now();
    let plan = planned(&agents, true);
    let planned = start.elapsed();
    let runs = agents
        .iter()
        .flat_map(|agent| agent.runs.iter().map(move |run| (agent, run)));
    let runs: Vec<(&Agent, &Run)> = runs.collect();
    let gates: Vec<_> = agents
        .iter()
        .map(|agent| {
            let golden = GoldenPath::new(agent.calls.iter().cloned());
            (named(&agent.calls, MatchMode::Superset), golden)
        })
        .collect();
    let start = Instant::now();
    let mut red = 0;
    for mutant in &plan.mutants {
        let (_, run) = runs[mutant.run];
        let (names, golden) = &gates[mutant.run / 4];
        let trace = mutant.trace(&run.trace);
        red += usize::from(!validate_trace(&trace, names).unwrap().passed);
        red += usize::from(!score_golden_path(&trace, golden).passed);
        red += usize::from(agent_stability(&trace).weakest_score() < 0.5);
    }
    let judged = start.elapsed();
    let count = plan.mutants.len();
    let rate = count as f64 / judged.as_secs_f64();
    println!(
        "{count} mutants: planned in {planned:?}, judged in {judged:?}, {rate:.0}/s, {red} red"
    );
    assert!(red > 0);
}
