//! Runs and agents in another order: what names none of them stays as it is, in the last digit too.

use mcptest_trace::energy::{GuardOptions, Step, SweepRun, ablation, sweep};
use mcptest_trace::eval::{
    Measure, Metrics, SessionReport, SessionTrace, StabilityAcross, Unit, Weights,
    agent_stability_across, score_session, summarize,
};
use mcptest_trace::evidence::calibrate::{
    AgentScored, Quantity, Scored, calibrate, calibrate_across, joint,
};
use mcptest_trace::evidence::compare::{
    AgentSamples, Behaviour, CompareOptions, Comparison, Cost, CostKind, Metric, RunSample,
    ShownAgents, Sides, compare, compare_agent,
};
use mcptest_trace::evidence::mutants::{
    Mutant, MutantOptions, MutantVerdict, RecordedRun, plan, score,
};
use mcptest_trace::stats::conformal::Share;
use mcptest_trace::stats::{Summary, bootstrap_difference, bootstrap_mean};
use mcptest_trace::trace::{Origin, Run, Signals, parse_run};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::scores::envelope;

const AGENTS: [&str; 4] = ["book", "find", "pay", "send"];

/// Things, and the same in another order.
fn permuted<T: Clone + std::fmt::Debug>(
    things: impl Strategy<Value = Vec<T>>,
) -> impl Strategy<Value = (Vec<T>, Vec<T>)> {
    things.prop_flat_map(|things| (Just(things.clone()), Just(things).prop_shuffle()))
}

/// A share of one that binary fractions do not have: sums of such shares are rounded.
fn third() -> impl Strategy<Value = f64> {
    (0..10_u32).prop_map(|part| f64::from(part) / 9.0)
}

fn sample() -> impl Strategy<Value = RunSample> {
    let tools = prop::collection::vec(select(vec!["find", "read", "close", "cancel"]), 0..5);
    let passed = prop::option::weighted(0.95, any::<bool>());
    (passed, 1..5_000_000_u64, tools).prop_map(|(passed, amount, tools)| {
        let tools: Vec<String> = tools.into_iter().map(str::to_owned).collect();
        let calls = tools.iter().zip(amount..);
        let calls = calls.map(|(tool, order)| format!("{tool} {{\"order\":{}}}", order % 3));
        let arguments = tools.iter().map(|tool| {
            (
                format!("{tool}.order"),
                [amount % 2].map(|it| it.to_string()).into(),
            )
        });
        let behaviour =
            Behaviour::new(tools.clone(), calls.collect()).with_arguments(arguments.collect());
        RunSample::default()
            .with_passed(passed)
            .with_cost(Some(Cost::measured(amount)))
            .with_behaviour(Some(behaviour))
    })
}

/// The runs of an agent on both sides, and the same in another order; seldom so many that labels are drawn.
fn sides() -> impl Strategy<Value = [(Vec<RunSample>, Vec<RunSample>); 2]> {
    let runs = prop_oneof![6 => 1..6_usize, 1 => Just(11)];
    runs.prop_flat_map(|runs| {
        let side = || permuted(prop::collection::vec(sample(), runs));
        [side(), side()]
    })
}

fn agent(name: &str, baseline: &[RunSample], candidate: &[RunSample]) -> AgentSamples {
    let (baseline, candidate) = (baseline.to_vec(), candidate.to_vec());
    AgentSamples::new(
        name,
        Sides::Both {
            baseline,
            candidate,
        },
    )
}

/// All that a comparison says.
fn full_report(comparison: &Comparison) -> Value {
    let rows: Vec<_> = comparison
        .rows()
        .into_iter()
        .map(|row| (row.cells, row.described))
        .collect();
    json!([
        comparison,
        rows,
        comparison.text(ShownAgents::All),
        comparison.notes()
    ])
}

/// A number of tokens, and a share, of which each agent has some runs.
fn scored() -> impl Strategy<Value = (usize, Option<f64>, f64, Option<bool>)> {
    let passed = prop::option::weighted(0.95, any::<bool>());
    (
        0..AGENTS.len(),
        prop::option::weighted(0.95, third()),
        0.0..9e3,
        passed,
    )
}

fn recorded((trace, passed): (Value, Option<bool>), number: usize) -> Run {
    let mut run = json!({ "schema_version": "v1", "model": "m", "user_prompt": format!("order {number}"), "trace": trace });
    if let Some(passed) = passed {
        run["outcome"] = json!({ "passed": passed });
    }
    // Totals that agree with the steps are another test's.
    run["trace"]["conversation"]
        .as_object_mut()
        .unwrap()
        .remove("steps");
    for part in ["tool_calls", "tool_results"] {
        for item in run["trace"][part].as_array_mut().unwrap() {
            item.as_object_mut()
                .unwrap()
                .retain(|key, _| !matches!(key.as_str(), "step" | "duration_ms"));
        }
    }
    parse_run(run.to_string().as_bytes(), &Origin::file("run.json")).unwrap()
}

/// A mutant without the number of its run.
fn unnumbered(mutant: &Mutant) -> String {
    mutant
        .line()
        .replace(&format!("run-{} ", mutant.number), "")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_order_of_runs_changes_no_comparison(
        agents in prop::collection::vec(sides(), 1..4), cost in select(vec![CostKind::Tokens, CostKind::Usd]),
    ) {
        let mut options = CompareOptions::default();
        options.cost = cost;
        let of = |permuted: bool| -> Comparison {
            let samples = AGENTS.iter().zip(&agents).map(|(name, sides)| {
                let [before, now] = sides.each_ref().map(|(one, other)| if permuted { other } else { one });
                agent(name, before, now)
            });
            compare(&samples.collect::<Vec<_>>(), &options)
        };
        let (mut one, mut other) = (of(false), of(true));
        // The labels of a whole suite are drawn in the order of the runs: another order is another draw.
        let [drawn, again] = [&mut one, &mut other].map(|it| it.suite.behaviour.take().unwrap().tools);
        prop_assert_eq!(drawn.energy, again.energy);
        prop_assert!((drawn.p - again.p).abs() < 0.04, "{drawn:?} {again:?}");
        prop_assert_eq!(full_report(&one), full_report(&other));
        let [(before, shuffled), (now, turned)] = &agents[0];
        options.fail_on = [Metric::Outcomes, Metric::Cost, Metric::Behaviour].into();
        let alone = compare_agent("book", before, now, &options);
        prop_assert_eq!(alone, compare_agent("book", shuffled, turned, &options));
    }

    #[test]
    fn the_order_of_agents_changes_no_comparison(
        (agents, shuffled) in permuted(prop::collection::vec(sides(), 1..4).prop_map(|agents| {
            let named = AGENTS.iter().zip(agents);
            named.map(|(name, [(before, _), (now, _)])| agent(name, &before, &now)).collect()
        })),
    ) {
        let of = |agents: &[AgentSamples]| full_report(&compare(agents, &CompareOptions::default()));
        prop_assert_eq!(of(&agents), of(&shuffled));
    }

    #[test]
    fn the_order_of_runs_changes_no_mutant(
        (runs, shuffled) in permuted(prop::collection::vec((envelope(), prop::option::of(any::<bool>())), 1..5).prop_map(|runs| {
            runs.into_iter().zip(1..).map(|(run, number)| recorded(run, number)).collect()
        })),
    ) {
        let of = |runs: &[Run], most: Option<usize>| {
            let runs = runs.iter().zip(1..).map(|(run, number)| RecordedRun::new("desk", number, run));
            plan(&runs.collect::<Vec<_>>(), &MutantOptions::default().with_per_operator(most))
        };
        let (all, again) = (of(&runs, None), of(&shuffled, None));
        prop_assert_eq!(&all.sites, &again.sites);
        let lines = |mutants: &[Mutant]| {
            let mut lines: Vec<String> = mutants.iter().map(unnumbered).collect();
            lines.sort();
            lines
        };
        prop_assert_eq!(lines(&all.mutants), lines(&again.mutants));
        let scores = |mutants: &[Mutant]| {
            let verdict = |mutant: &Mutant| {
                let killed = unnumbered(mutant).len().is_multiple_of(3);
                MutantVerdict::new(true, killed.then_some("calls"))
            };
            let verdicts: Vec<MutantVerdict> = mutants.iter().map(verdict).collect();
            score(mutants.iter().zip(&verdicts))
        };
        prop_assert_eq!(scores(&all.mutants), scores(&again.mutants));
        // Which mutants are chosen of many is drawn by the number of the run; how many are chosen is not.
        prop_assert_eq!(of(&runs, Some(2)).sites, of(&shuffled, Some(2)).sites);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_of_runs_and_of_agents_changes_no_calibration(
        (runs, shuffled) in permuted(prop::collection::vec(scored(), 0..40)), unit in select(vec![Unit::Fraction, Unit::Tokens, Unit::Flag]),
    ) {
        let share = Share::percent(90).unwrap();
        let target = |measure: Measure| Quantity::from_measure(&measure).unwrap();
        let fraction = target(Measure::new("share", unit).higher_is_better(""));
        let tokens = target(Measure::new("tokens", Unit::Ratio).lower_is_better(""));
        let of = |runs: &[(usize, Option<f64>, f64, Option<bool>)]| {
            let one = runs.iter().map(|(agent, value, _, passed)| Scored::new(AGENTS[*agent], *value, *passed));
            let other = runs.iter().map(|(agent, _, value, passed)| Scored::new(AGENTS[*agent], Some(*value), *passed));
            let outcomes: Vec<Option<bool>> = runs.iter().map(|(_, _, _, passed)| *passed).collect();
            let one = calibrate(&fraction, &one.collect::<Vec<_>>(), share);
            let other = calibrate(&tokens, &other.collect::<Vec<_>>(), share);
            let both = joint(&outcomes, &[&one, &other]);
            let agents = runs.iter().map(|(agent, value, tokens, _)| {
                AgentScored::new(value.map(|value| value + tokens / 7e3), *agent, AGENTS.len() - 1)
            });
            let across = calibrate_across(&fraction, &agents.collect::<Vec<_>>(), share);
            json!([one, one.text(), one.comment(), other, other.text(), both, across, across.text()])
        };
        prop_assert_eq!(of(&runs), of(&shuffled));
    }

    #[test]
    fn the_order_of_runs_changes_no_score_of_all_of_them(
        (traces, shuffled) in permuted(prop::collection::vec(prop::collection::vec(prop::option::of(third()), 4), 1..7).prop_map(|all| {
            let traces = all.into_iter().zip(1..).map(|(signals, number)| {
                let mut known = Signals::default();
                [known.confidence, known.loop_detection, known.tool_correctness, known.coherence] = signals.try_into().unwrap();
                SessionTrace::new(format!("run-{number}"), known)
            });
            traces.collect()
        })),
        (runs, turned) in permuted(prop::collection::vec(envelope(), 1..6)),
        (outcomes, others) in permuted(prop::collection::vec(any::<bool>(), 1..9)),
    ) {
        let sessions = |traces: &[SessionTrace]| {
            let SessionReport { agent_reliability, agent_consistency, .. } = score_session(traces, &Weights::default());
            [agent_reliability, agent_consistency].map(|mut score| {
                // Which traces are flagged is told in the order of the session.
                score.flagged.sort();
                score.metadata["flagged_traces"] = Value::Null;
                json!(score)
            })
        };
        prop_assert_eq!(sessions(&traces), sessions(&shuffled));

        let stability = |runs: &[Value]| agent_stability_across(runs).map(|across: StabilityAcross| across.metrics());
        prop_assert_eq!(stability(&runs), stability(&turned));

        let reliability = |outcomes: &[bool]| {
            let mut metrics = summarize(outcomes).metrics();
            // Both say of the runs which came first.
            for of_the_order in ["decay_curve", "graceful_degradation"] {
                metrics["reliability"].as_object_mut().unwrap().remove(of_the_order).unwrap();
            }
            metrics
        };
        prop_assert_eq!(reliability(&outcomes), reliability(&others));
    }

    #[test]
    fn the_order_of_runs_changes_no_sweep_and_no_statistic_of_the_guard(
        (runs, shuffled) in permuted(prop::collection::vec((prop::collection::vec(0..9_000_u64, 0..9), prop::option::of(any::<bool>())), 1..7)),
        (values, turned) in permuted(prop::collection::vec(third(), 1..7)),
    ) {
        let swept = |runs: &[(Vec<u64>, Option<bool>)]| {
            let runs = runs.iter().map(|(steps, passed)| (steps.iter().map(|tokens| Step::new(*tokens)).collect(), *passed));
            let runs: Vec<(Vec<Step>, Option<bool>)> = runs.collect();
            let runs: Vec<_> = runs.iter().map(|(steps, passed)| SweepRun::new(steps, *passed)).collect();
            let options = GuardOptions::default();
            let sweep = sweep(&runs, &[1.5, 2.0], &[1, 3], options).unwrap();
            (sweep, ablation(&runs, options).unwrap())
        };
        prop_assert_eq!(swept(&runs), swept(&shuffled));
        prop_assert_eq!(Summary::from_values(&values), Summary::from_values(&turned));
        prop_assert_eq!(bootstrap_mean(&values, 50, 0.9, 1), bootstrap_mean(&turned, 50, 0.9, 1));
        let other = [0.3, 0.7];
        prop_assert_eq!(bootstrap_difference(&values, &other, 50, 0.9, 1), bootstrap_difference(&turned, &other, 50, 0.9, 1));
    }
}
