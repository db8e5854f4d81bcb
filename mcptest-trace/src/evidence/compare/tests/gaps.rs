//! Runs that do not say all: what is lost of a baseline's evidence is never a silent pass.

use super::*;

/// Six runs that passed and cost this much; of so many neither is recorded.
fn with_gaps(outcomes_missing: usize, costs_missing: usize, tokens: u64) -> Vec<RunSample> {
    let mut runs = side(6, tokens, "a");
    for run in runs.iter_mut().take(outcomes_missing) {
        // The gates say it in the recording's place.
        run.outcome_recorded = false;
    }
    for run in runs.iter_mut().rev().take(costs_missing) {
        run.cost = None;
    }
    runs
}

fn compare_one(baseline: Vec<RunSample>, candidate: Vec<RunSample>) -> Comparison {
    compare(
        &[compared_agent("a__m", baseline, candidate)],
        &CompareOptions::default(),
    )
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn outcomes_that_are_lost_against_the_baseline_are_told_and_never_hold() {
    for (missing, status) in [
        ([0, 1], 3),
        ([0, 6], 3),
        ([1, 2], 3),
        ([1, 1], 0),
        ([1, 0], 0),
    ] {
        let [before, now] = missing.map(|missing| with_gaps(missing, 0, 1000));
        let found = compare_one(before, now);
        assert_eq!(found.exit_status(), status, "{missing:?}");
        let text = flat(&found.text(ShownAgents::WithFinding));
        let told = format!(
            "`a`: {} of 6 runs before and {} of 6 now have no recorded outcome, so the gates decide for all runs of the agent whether they passed",
            missing[0], missing[1]
        );
        assert!(text.contains(&told), "{text}");
        assert!(!text.contains("without a finding"), "{text}");
        if status == 3 {
            assert!(
                text.contains("1 has fewer recorded outcomes than before (`a`)")
                    && text.contains("cannot tell: 1 agent has fewer recorded outcomes than in the baseline, so it may have got worse; record the outcomes, or let the gates judge both sides (`compare --outcome gates`)."),
                "{text}"
            );
        }
        let shown = require_not_worse(missing);
        assert_eq!(shown.exit_status() == 0, status == 0, "{missing:?}");
    }
    // Nobody ever recorded an outcome: the gates are asked, and nothing is missing.
    let found = compare_one(with_gaps(6, 0, 1000), with_gaps(6, 0, 1000));
    assert_eq!(
        (found.exit_status(), found.agents[0].without_outcome),
        (0, None)
    );
}

/// Three agents that are shown to be no worse, one of which misses outcomes.
fn require_not_worse(missing: [usize; 2]) -> Comparison {
    let [before, now] = missing.map(|missing| {
        let runs = (0..10).flat_map(|_| with_gaps(0, 0, 1000)).skip(6);
        with_gaps(missing, 0, 1000)
            .into_iter()
            .chain(runs)
            .collect()
    });
    let samples = [
        compared_agent("a__m", before, now),
        compared_agent("b__m", side(6, 1000, "a"), side(6, 1000, "a")),
        compared_agent("c__m", side(6, 1000, "a"), side(6, 1000, "a")),
    ];
    compare(
        &samples,
        &CompareOptions::default().with_require_not_worse(true),
    )
}

#[test]
fn what_is_worse_is_red_whatever_is_missing() {
    let mut now = side(0, 1000, "a");
    now[5].outcome_recorded = false;
    assert_eq!(compare_one(side(6, 1000, "a"), now).exit_status(), 1);
}

#[test]
fn a_cost_that_some_runs_do_not_say_is_told_and_its_loss_never_holds() {
    for (missing, tokens, status, told) in [
        (
            [0, 1],
            3000,
            3,
            "0 of 6 runs before and 1 of 6 now have no recorded cost",
        ),
        (
            [0, 6],
            3000,
            3,
            "0 of 6 runs before and 6 of 6 now have no recorded cost",
        ),
        (
            [2, 1],
            3000,
            0,
            "2 of 6 runs before and 1 of 6 now have no recorded cost",
        ),
        ([6, 6], 1000, 0, "no run has a recorded cost"),
    ] {
        let [before, now] = [(missing[0], 1000), (missing[1], tokens)]
            .map(|(missing, tokens)| with_gaps(0, missing, tokens));
        let found = compare_one(before.clone(), now.clone());
        assert_eq!(found.exit_status(), status, "{missing:?}");
        let text = flat(&found.text(ShownAgents::WithFinding));
        let fact = format!("tokens are not compared, because {told}: `a`");
        assert!(text.contains(&fact), "{text}");
        assert!(found.markdown().contains(&fact), "{}", found.markdown());
        assert!(found.notes().contains(&fact));
        assert_eq!(
            text.contains("1 has fewer runs with recorded tokens than before (`a`)"),
            status == 3
        );
        // Where the cost may not fail, it is told.
        let outcomes = CompareOptions::default().with_fail_on([Metric::Outcomes]);
        let found = compare(&[compared_agent("a__m", before, now)], &outcomes);
        assert_eq!(found.exit_status(), 0);
        assert!(flat(&found.render_agents()).contains(&fact));
    }
}

#[test]
fn estimates_are_not_compared_with_measured_costs() {
    let mut now = side(6, 3000, "a");
    for run in &mut now {
        run.cost = run.cost.map(|cost| Cost::estimated(cost.amount));
    }
    let found = compare_one(side(6, 1000, "a"), now);
    assert_eq!((found.exit_status(), found.agents[0].cost), (3, None));
    let told = "tokens are not compared, because 0 of 6 runs before and 6 of 6 now have an estimate, and the others are measured: `a`";
    assert!(
        flat(&found.render_agents()).contains(told),
        "{}",
        found.render_agents()
    );
}

/// Two runs are too few to show it; an agent that does not pass any more is no agent without a finding.
#[test]
fn an_agent_that_fell_to_none_is_shown_however_few_its_runs() {
    let few = |passed: usize| {
        side(passed, 1000, "a")
            .into_iter()
            .take(2)
            .collect::<Vec<_>>()
    };
    let mut samples = vec![
        compared_agent("fell__m", few(2), few(0)),
        compared_agent("half__m", few(2), few(1)),
    ];
    for agent in ["c__m", "d__m", "e__m"] {
        samples.push(compared_agent(
            agent,
            side(6, 1000, "a"),
            side(6, 1000, "a"),
        ));
    }
    samples.push(compared_agent("few__m", few(2), few(2)));
    let found = compare(&samples, &CompareOptions::default());
    assert_eq!(found.exit_status(), 0);
    let text = found.text(ShownAgents::WithFinding);
    for row in ["\nfell   2/2 → 0/2 ", "\nhalf   2/2 → 1/2 "] {
        assert!(text.contains(row), "{row} in\n{text}");
    }
    assert!(!text.contains("\nfew "), "{text}");
    let rows = text
        .lines()
        .filter(|line| line.ends_with("too few runs: 2 more each"));
    assert_eq!(rows.count(), 2, "{text}");
    let text = flat(&text);
    assert!(
        text.starts_with(
            "None of 6 agents is shown to be worse, 1 no longer passes in any run, but the runs are too few to show a loss (`fell`: 2 of 2 → 0 of 2): 2 more runs would do, \
             2 have too few runs to show a loss: 2 more runs each would do."
        ),
        "{text}"
    );
    assert!(
        text.ends_with("no difference beyond chance was found. Exit status 0."),
        "{text}"
    );
    let markdown = found.markdown();
    let (table, folded) = markdown.split_once("<details>").unwrap();
    assert!(table.contains("| 🔎 `fell` | 2/2 → 0/2 |"), "{markdown}");
    assert!(!folded.contains("fell"), "{markdown}");
}
