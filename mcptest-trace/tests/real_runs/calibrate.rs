//! Every row of the table of targets, and the cross-run targets.

use mcptest_trace::energy::{GuardOptions, RunSteps, analyse};
use mcptest_trace::eval::{
    ArgsShape, Better, ExpectedCall, ExpectedTrace, GoldenPath, MatchMode, Measure, NoSchema,
    SUB_SCORES, StabilityAcross, Unit, agent_stability, agent_stability_across, score_golden_path,
    validate_trace,
};
use mcptest_trace::evidence::calibrate::{
    AgentScored, Calibration, Discrimination, Quantity, Scored, calibrate, calibrate_across, joint,
    tally,
};
use mcptest_trace::stats::conformal::Share;
use mcptest_trace::trace::Run;
use serde_json::{Value, json};

use crate::runs::{Agent, agents, expected, same};

/// A target's value in a run.
type Measured = Box<dyn Fn(&Agent, &Run) -> Option<f64>>;

fn quantity(better: Better, unit: Unit) -> Quantity {
    let mut target = Measure::new("target", unit);
    target.better = better;
    Quantity::from_measure(&target).unwrap()
}

fn real(count: usize) -> f64 {
    count as f64
}

fn peak_ratio(run: &Run, warmup_turns: usize) -> Option<f64> {
    let options = GuardOptions::default().with_warmup_turns(warmup_turns);
    let steps = RunSteps::recorded(&run.trace).unwrap();
    analyse(&steps, options, None).unwrap().peak_ratio
}

fn plan(agent: &Agent) -> ExpectedTrace<NoSchema> {
    let calls = agent
        .calls
        .iter()
        .map(|name| ExpectedCall::new(name, ArgsShape::Any));
    ExpectedTrace::new(MatchMode::Superset, calls.collect())
}

/// The name in the expected numbers, the target, and its measure.
fn targets() -> Vec<(String, Quantity, Measured)> {
    use Better::{Higher, Lower};
    use Unit::{Count, Ratio};
    let mut targets: Vec<(String, Quantity, Measured)> = Vec::new();
    let mut add = |name: &str, better, unit, measure: Measured| {
        targets.push((name.to_owned(), quantity(better, unit), measure));
    };
    for (place, name) in SUB_SCORES.into_iter().enumerate() {
        let measure = move |_: &Agent, run: &Run| Some(agent_stability(&run.trace).scores()[place]);
        add(
            &format!("stability.{name}"),
            Higher,
            Ratio,
            Box::new(measure),
        );
    }
    let weakest = |_: &Agent, run: &Run| Some(agent_stability(&run.trace).weakest_score());
    add("stability.weakest", Higher, Ratio, Box::new(weakest));
    for warmup in 2..=5 {
        let name = format!("energy.peak_ratio(warmup {warmup})");
        let measure = move |_: &Agent, run: &Run| peak_ratio(run, warmup);
        add(&name, Lower, Ratio, Box::new(measure));
    }
    let golden = |agent: &Agent, run: &Run| {
        score_golden_path(&run.trace, &GoldenPath::new(agent.calls.iter().cloned()))
    };
    add(
        "golden_path.penalty",
        Higher,
        Ratio,
        Box::new(move |a, r| Some(golden(a, r).penalty)),
    );
    add(
        "golden_path.extra_steps",
        Lower,
        Count,
        Box::new(move |a, r| Some(real(golden(a, r).extra_steps))),
    );
    add(
        "golden_path.backtracks",
        Lower,
        Count,
        Box::new(move |a, r| Some(real(golden(a, r).backtracks))),
    );
    add(
        "golden_path.repeated_tools",
        Lower,
        Count,
        Box::new(move |a, r| Some(real(golden(a, r).repeated_tools))),
    );
    let mismatches = |agent: &Agent, run: &Run| {
        Some(real(
            validate_trace(&run.trace, &plan(agent))
                .unwrap()
                .mismatch_count,
        ))
    };
    add(
        "trajectory.mismatch_count",
        Lower,
        Count,
        Box::new(mismatches),
    );
    add(
        "calls",
        Lower,
        Count,
        Box::new(|_, run| Some(real(run.trace.tool_calls.len()))),
    );
    add(
        "tokens",
        Lower,
        Count,
        Box::new(|_, run| Some(run.trace.tokens_taken()? as f64)),
    );
    add(
        "model_calls",
        Lower,
        Count,
        Box::new(|_, run| Some(run.trace.model_calls() as f64)),
    );
    let errors = |_: &Agent, run: &Run| {
        Some(real(
            run.trace
                .tool_results
                .iter()
                .filter(|result| result.is_error)
                .count(),
        ))
    };
    add("error_results", Lower, Count, Box::new(errors));
    targets
}

fn scored<'a>(agents: &'a [Agent], measure: &Measured) -> Vec<Scored<'a>> {
    let runs = agents
        .iter()
        .flat_map(|agent| agent.runs.iter().map(move |run| (agent, run)));
    runs.map(|(agent, run)| {
        let passed = run.outcome.and_then(|outcome| outcome.passed);
        Scored::new(&agent.stem, measure(agent, run), passed)
    })
    .collect()
}

fn share() -> Share {
    Share::percent(95).unwrap()
}

pub(crate) fn every_target_has_its_power_its_limit_and_its_price() {
    let agents = agents();
    let expected = &expected()["calibrate"];
    let targets = targets();
    assert_eq!(
        targets.len(),
        expected["per_run"].as_object().unwrap().len()
    );
    for (name, target, measure) in &targets {
        let runs = scored(&agents, measure);
        let found = calibrate(target, &runs, share());
        check(name, &found, &expected["per_run"][name]);
        let default = &expected["per_run"][name]["default"];
        if let Some(limit) = default.as_f64() {
            let seen = tally(target, &runs, limit);
            let row = &expected["per_run"][name];
            assert_eq!(
                seen.false_alarms as u64, row["default_false_alarms"],
                "{name}"
            );
            assert_eq!(seen.catches as u64, row["default_catches"], "{name}");
        }
    }
}

fn check(name: &str, found: &Calibration, row: &Value) {
    let whole = |what: &str, number: usize| {
        assert_eq!(number as u64, row[what], "{name}: {what}");
    };
    whole("runs", found.runs - found.without_value);
    whole("without_value", found.without_value);
    whole("passed", found.passed);
    whole("failed", found.failed);
    let over = found.power.over.unwrap();
    same(name, Some(over.area), &row["auc"]);
    same(name, over.interval.map(|ends| ends.0), &row["auc_ci"][0]);
    same(name, over.interval.map(|ends| ends.1), &row["auc_ci"][1]);
    let within = found.power.within.unwrap();
    same(name, Some(within.area), &row["within_auc"]);
    same(name, Some(within.p), &row["within_p"]);
    whole("within_agents", within.agents);
    assert_eq!(found.power.verdict.as_str(), row["verdict"], "{name}");
    let limit = found.limit.unwrap();
    whole("agents_with_a_passed_run", limit.agents);
    same(name, Some(limit.value), &row["threshold"]);
    whole("k", limit.k);
    same(name, Some(limit.promised), &row["promised_share"]);
    same(
        name,
        Some(limit.confident),
        &row["share_with_95_confidence"],
    );
    same(name, limit.new_agents, &row["threshold_for_new_agents"]);
    whole("false_alarms", limit.seen.false_alarms);
    whole("catches", limit.seen.catches);
    let check = found.check.as_ref().unwrap();
    whole("loo_false_alarms", check.tally.false_alarms);
    whole("loo_catches", check.tally.catches);
    for (interval, key) in [
        (check.false_alarms, "loo_false_alarm_ci"),
        (check.catches, "loo_catch_ci"),
    ] {
        same(name, interval.map(|ends| ends.low), &row[key][0]);
        same(name, interval.map(|ends| ends.high), &row[key][1]);
    }
    for (point, expected) in found.curve.iter().zip(row["curve"].as_array().unwrap()) {
        let what = format!("{name} at {}", point.share);
        same(
            &what,
            Some(f64::from(point.share) / 100.0),
            &expected["share"],
        );
        same(&what, Some(point.limit), &expected["threshold"]);
        assert_eq!(
            point.seen.false_alarms as u64, expected["false_alarms"],
            "{what}"
        );
        assert_eq!(point.seen.catches as u64, expected["catches"], "{what}");
    }
    assert_eq!(found.curve.len(), 4);
}

pub(crate) fn the_limits_that_tell_agents_apart_together() {
    let agents = agents();
    let targets = targets();
    let found = targets
        .iter()
        .map(|(_, target, measure)| calibrate(target, &scored(&agents, measure), share()));
    let found: Vec<Calibration> = found
        .filter(|found| found.power.verdict == Discrimination::TellsAgentsApartOnly)
        .collect();
    assert_eq!(found.len(), 7);
    let runs = agents.iter().flat_map(|agent| &agent.runs);
    let outcomes: Vec<_> = runs
        .map(|run| run.outcome.and_then(|outcome| outcome.passed))
        .collect();
    let tally = joint(&outcomes, &found.iter().collect::<Vec<_>>());
    assert_eq!((tally.false_alarms, tally.passed), (3, 36));
    assert_eq!((tally.catches, tally.failed), (25, 84));
}

pub(crate) fn the_comment_above_a_limit() {
    let agents = agents();
    let targets = targets();
    let (_, target, measure) = targets
        .iter()
        .find(|(name, ..)| name.contains("warmup 3"))
        .unwrap();
    let found = calibrate(target, &scored(&agents, measure), share());
    assert_eq!(
        found.comment(),
        [
            "calibrated on 36 passed runs of 18 agents: 97.3% of passing runs promised (92.0% with 95% confidence);",
            "leave-one-agent-out 1 of 36 false alarms, 17 of 84 failed runs caught; tells agents apart only (A_in 0.48, p 0.91)",
        ]
    );
    assert_eq!(found.limit.unwrap().rounded.to_string(), "2.7198");
}

pub(crate) fn the_default_guard_stops_too_many_runs() {
    let agents = agents();
    let target = quantity(Better::Lower, Unit::Flag);
    let stopped: Measured = Box::new(|_, run| {
        let steps = RunSteps::recorded(&run.trace).unwrap();
        let found = analyse(&steps, GuardOptions::default(), None).unwrap();
        Some(f64::from(u8::from(found.tripped || found.frozen)))
    });
    let seen = tally(&target, &scored(&agents, &stopped), 0.0);
    let row = &expected()["calibrate"]["default_gates"]["energy.tripped"];
    assert_eq!(seen.false_alarms as u64, row["red_passed"]);
    assert_eq!(seen.catches as u64, row["red_failed"]);
}

/// A target's value over all runs of an agent.
type AcrossMeasure = fn(&StabilityAcross) -> f64;

pub(crate) fn cross_run_targets_have_no_power() {
    use Better::{Higher, Lower};
    let targets: [(&str, Better, AcrossMeasure); 6] = [
        ("stability.score", Higher, |found| found.score),
        ("stability.weakest_score", Higher, |found| {
            found.weakest_score
        }),
        ("stability.variance", Lower, |found| found.variance),
        ("stability.tool_sequence_similarity", Higher, |found| {
            found.tool_sequence_similarity
        }),
        ("stability.argument_consistency", Higher, |found| {
            found.argument_consistency
        }),
        ("stability.early_divergence", Lower, |found| {
            f64::from(found.early_divergence)
        }),
    ];
    let agents = agents();
    let expected = &expected()["calibrate"]["across_runs"];
    for (name, better, measure) in targets {
        let scored: Vec<AgentScored> = agents
            .iter()
            .map(|agent| {
                let traces: Vec<_> = agent.runs.iter().map(|run| &run.trace).collect();
                let passed = agent
                    .runs
                    .iter()
                    .filter(|run| run.outcome.unwrap().passed.unwrap());
                let value = agent_stability_across(&traces).as_ref().map(measure);
                AgentScored::new(value, passed.count(), agent.runs.len())
            })
            .collect();
        // The expected numbers have a limit of the flag too.
        let found = calibrate_across(&quantity(better, Unit::Ratio), &scored, share());
        let row = &expected[name];
        let power = found.power.unwrap();
        assert_eq!(found.agents as u64, row["agents"]);
        same(name, Some(power.concordance), &row["concordance"]);
        // In the expected numbers the means of this target differ in their last bits where they are
        // equal, which breaks ties; these ends are those of exact fractions.
        let exact = json!([0.327_685_684, 0.675_429_581]);
        let ends = match name {
            "stability.argument_consistency" => &exact,
            _ => &row["ci"],
        };
        same(name, power.interval.map(|found| found.0), &ends[0]);
        same(name, power.interval.map(|found| found.1), &ends[1]);
        assert_eq!(found.verdict.as_str(), row["verdict"], "{name}");
        let limit = found.limit.unwrap();
        assert_eq!(limit.agents as u64, row["agents_all_passed"]);
        assert_eq!(limit.enough, row["enough_for_share"] == true);
        same(name, Some(limit.value), &row["threshold"]);
        same(name, Some(limit.promised), &row["promised_share"]);
    }
}
