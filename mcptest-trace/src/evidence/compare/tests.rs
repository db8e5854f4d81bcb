//! Comparisons: what must never be a silent pass, and what never changes a number.

mod example;
mod first_line;
mod gaps;
mod names;
mod rendering;

use super::*;
use proptest::prelude::*;

fn run(passed: bool, tokens: u64, tools: &[&str]) -> RunSample {
    let tools: Vec<String> = tools.iter().map(|tool| (*tool).to_owned()).collect();
    RunSample {
        passed: Some(passed),
        outcome_recorded: true,
        unjudged: false,
        cost: Some(Cost {
            amount: tokens,
            estimated: false,
        }),
        recorded_on: None,
        behaviour: Some(Behaviour {
            calls: tools.iter().map(|tool| format!("{tool} {{}}")).collect(),
            tools,
            ..Behaviour::default()
        }),
    }
}

fn side(passed: usize, tokens: u64, last: &str) -> Vec<RunSample> {
    let runs = 0..6_u64;
    runs.map(|i| {
        run(
            (i as usize) < passed,
            tokens + 10 * i,
            &["find", "read", last],
        )
    })
    .collect()
}

fn compared_agent(
    agent: &str,
    baseline: Vec<RunSample>,
    candidate: Vec<RunSample>,
) -> AgentSamples {
    let sides = Sides::Both {
        baseline,
        candidate,
    };
    AgentSamples::new(agent, sides)
}

fn outcomes_only(agents: &[(usize, usize, usize)]) -> Vec<AgentSamples> {
    let side = |passed: usize, runs: usize| -> Vec<RunSample> {
        (0..runs)
            .map(|run| RunSample::with_outcome(run < passed))
            .collect()
    };
    agents
        .iter()
        .enumerate()
        .map(|(index, (before, now, runs))| {
            compared_agent(
                &format!("agent_{index:03}"),
                side(*before, *runs),
                side(*now, *runs),
            )
        })
        .collect()
}

fn compare_outcomes(agents: &[(usize, usize, usize)]) -> Comparison {
    compare(&outcomes_only(agents), &CompareOptions::default())
}

/// The four agents of the example.
fn four() -> Vec<AgentSamples> {
    vec![
        compared_agent("d_cancel", side(6, 1200, "cancel"), side(4, 1205, "close")),
        compared_agent("a_refund", side(6, 1000, "refund"), side(1, 1005, "refund")),
        compared_agent("b_search", side(5, 2000, "search"), side(5, 2905, "search")),
        compared_agent("c_book", side(0, 1500, "book"), side(6, 1505, "book")),
    ]
}

fn near(found: f64, given: f64) {
    // Six digits are given.
    let close = (found - given).abs() <= 5e-6 * given.abs().max(1e-9);
    assert!(close, "{found} is not {given}");
}

#[test]
fn too_few_runs_are_no_pass() {
    let comparison = compare_outcomes(&[(2, 1, 2), (2, 2, 2)]);
    assert_eq!(comparison.exit_status(), 3);
    assert_eq!(
        comparison.text(ShownAgents::All),
        "\
It is not clear whether 2 agents got worse, 2 have too few runs to show a loss: 2 more runs each
would do.

for each agent, regressed means p ≤ 0.0125 and a loss of 10 points or more

agent      passed        tokens   behaviour  verdict
agent_000  2/2 → 1/2     unknown  unknown    too few runs: 2 more each
agent_001  2/2 → 2/2     unknown  unknown    too few runs: 2 more each
all 2      −25.0 points  unknown  unknown    too few runs
all 2: p cannot be below 0.0278, and 0.025 is needed
no 95% interval over agents: 2 agents are too few, 3 are needed
tokens are not compared, because no run has a recorded cost: `agent_000`, `agent_001`
cannot tell: 2 runs are too few: you need 4 on each side to show a fall to no passed run, and more
to show a smaller loss. Exit status 3.
"
    );
    let allowed = CompareOptions {
        inconclusive_passes: true,
        ..CompareOptions::default()
    };
    let comparison = compare(&outcomes_only(&[(2, 1, 2), (2, 2, 2)]), &allowed);
    assert_eq!(comparison.exit_status(), 0);
    let last = comparison.notes().pop().unwrap();
    assert_eq!(
        last,
        "cannot tell: 2 runs are too few: you need 4 on each side to show a fall to no passed run, and more to show a smaller loss (allowed by `inconclusive: pass`). Exit status 0."
    );
}

/// What was too bad to become worse could become better, and did: that is told.
#[test]
fn what_improved_was_told() {
    for agents in [&[(1, 8, 8)][..], &[(0, 8, 8)], &[(1, 8, 8), (0, 1, 8)]] {
        let comparison = compare_outcomes(agents);
        assert_eq!(comparison.decision, Decision::Holds, "{agents:?}");
        assert_eq!(comparison.exit_status(), 0);
        let text = comparison.text(ShownAgents::All);
        assert!(text.contains("1 got better. Exit status 0."), "{text}");
        assert!(text.ends_with(". Exit status 0.\n"), "{text}");
    }
    // All of them together, where none is alone.
    let together = compare_outcomes(&[(0, 3, 4), (0, 3, 4), (0, 3, 4), (0, 3, 4)]);
    let suite = together.suite.outcomes.unwrap();
    assert_eq!(suite.finding, MetricFinding::Improved);
    let text = together.text(ShownAgents::All);
    assert_eq!(together.exit_status(), 0, "{text}");
    assert!(
        text.contains("\nall 4 agents together got better (+75.0 points). Exit status 0.\n"),
        "{text}"
    );
}

/// More runs than the table asks for may still see nothing, where hardly one of them passed before.
#[test]
fn enough_runs_of_which_too_few_passed_are_not_called_too_few() {
    let comparison = compare_outcomes(&[(1, 1, 8)]);
    assert_eq!(comparison.exit_status(), 3);
    let text = comparison.text(ShownAgents::All);
    assert!(
        text.contains("1 has too few runs to show a loss: about 38 more runs\nwould do."),
        "{text}"
    );
    let last = comparison.notes().pop().unwrap();
    assert_eq!(
        last,
        "cannot tell: 1 of 8 runs of the baseline passed, too few for a loss to show; about 46 on each side would show a fall to no passed run. Exit status 3."
    );
}

#[test]
fn what_cannot_be_judged_is_said() {
    let nothing = compare_outcomes(&[(0, 0, 4), (0, 1, 4)]);
    assert_eq!(nothing.exit_status(), 3);
    assert!(
        nothing
            .text(ShownAgents::All)
            .contains("cannot tell: no run of the baseline passed: there is nothing to lose.")
    );
    let empty = compare_outcomes(&[]);
    assert_eq!(
        empty.text(ShownAgents::All),
        "Nothing could be compared.\n\ncannot tell: no agent has comparable runs on both sides. Exit status 3.\n"
    );
    let unknown = vec![compared_agent(
        "a",
        vec![RunSample::default()],
        vec![RunSample::default()],
    )];
    let unknown = compare(&unknown, &CompareOptions::default());
    assert_eq!(unknown.exit_status(), 3);
    assert!(
        unknown
            .text(ShownAgents::All)
            .contains("no agent's outcomes are known on both sides")
    );
}

/// A run of which nothing was judged is no pass: it is left out, and an agent that has no other any more
/// did not get better.
#[test]
fn what_is_not_judged_is_left_out_and_told() {
    let runs = |passed: usize, unjudged: usize| {
        let judged = vec![RunSample::with_outcome(true); passed];
        let mut others = RunSample::default().with_unjudged(true);
        others.outcome_recorded = true;
        let others = vec![others; unjudged];
        [judged, others].concat()
    };
    let some = compared_agent("a", runs(6, 0), runs(5, 1));
    let found = compare(std::slice::from_ref(&some), &CompareOptions::default());
    assert_eq!(found.exit_status(), 0);
    let row = &found.rows()[1].cells;
    assert_eq!(row[1], "6/6 → 5/5");
    let left_out = "left out, because nothing was judged: 0 of 6 runs before, 1 of 6 now";
    assert_eq!(found.rows()[1].described.as_deref(), Some(left_out));
    let verdict = found.agents[0].verdict(&CompareOptions::default());
    assert!(verdict.ends_with(left_out), "{verdict}");

    let none = compared_agent("b", runs(6, 0), runs(0, 6));
    let found = compare(&[some, none.clone()], &CompareOptions::default());
    assert_eq!(found.exit_status(), 3);
    assert_eq!(
        found.notes().pop().unwrap(),
        "cannot tell: 1 agent has no run that is judged any more, so it may have got worse. Exit status 3."
    );
    let text = found.text(ShownAgents::WithFinding);
    for line in [
        "`a`: left out, because nothing was judged: 0 of 6 runs before, 1 of 6 now\n",
        "`b`: left out, because nothing was judged: 0 of 6 runs before, 6 of 6 now\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let burden = CompareOptions::default().with_require_not_worse(true);
    assert_eq!(compare(&[none], &burden).exit_status(), 1);

    let never = compared_agent("c", runs(0, 6), runs(0, 6));
    let found = compare(&[never], &CompareOptions::default());
    assert_eq!(found.exit_status(), 3);
    assert!(
        found
            .text(ShownAgents::All)
            .contains("known on both sides; in too many runs nothing was judged.")
    );
}

/// Zeros alone leave open whether anything else is another.
#[test]
fn that_nothing_differs_is_said_where_nothing_does() {
    for (now, said) in [
        (side(6, 1000, "close"), "\nno difference was found."),
        (
            side(5, 1000, "close"),
            "\nno difference beyond chance was found.",
        ),
        (side(6, 1000, "cancel"), "\n1 calls other tools."),
        (side(6, 1500, "close"), "\n1 costs 49% more tokens."),
    ] {
        let samples = vec![compared_agent("a", side(6, 1000, "close"), now)];
        let found = compare(&samples, &CompareOptions::default());
        let text = found.render_agents();
        assert!(text.ends_with(said), "{text}");
    }
}

#[test]
fn agents_on_one_side_and_of_other_prompts_are_listed_and_never_judged() {
    let sides = |agent: &str, sides: Sides| AgentSamples::new(agent, sides);
    let listed = vec![
        sides("z", Sides::New),
        sides("y", Sides::Dropped),
        sides("x", Sides::Unchanged),
        sides(
            "w\u{1b}[31m",
            Sides::NotComparable {
                differences: vec!["model: gpt-4o → gpt-5".to_owned()],
            },
        ),
    ];
    let comparison = compare(&listed, &CompareOptions::default());
    assert_eq!(
        comparison.text(ShownAgents::All),
        "1 gone (`y`), 1 new, not compared, 1 is not comparable (`w\\u{1b}[31m`), the recordings of 1 agent\n\
         are the same on both sides.\n\n\
         unchanged: `x`\nnew, not compared: `z`\ngone, because no suite asks for it any more: `y`\n\
         not comparable: `w\\u{1b}[31m`\n  model: gpt-4o → gpt-5\n\
         cannot tell: 1 agent of the baseline is gone: no suite asks for it. Exit status 3.\n"
    );
}

/// Nothing to compare is no proof that an agent did not get worse.
#[test]
fn an_agent_without_runs_is_never_a_silent_pass() {
    let gone = |agent: &str| AgentSamples::new(agent, Sides::Gone);
    let told = "cannot tell: 1 agent has no runs now, so it may have got worse. Exit status 3.\n";
    let unchanged = AgentSamples::new("x", Sides::Unchanged);
    let comparison = compare(&[unchanged, gone("y")], &CompareOptions::default());
    assert_eq!(
        comparison.body(ShownAgents::All),
        format!("unchanged: `x`\ngone, because there is no recording of it now: `y`\n{told}")
    );
    let mut held = outcomes_only(&[(6, 6, 6)]);
    assert_eq!(compare(&held, &CompareOptions::default()).exit_status(), 0);
    held.push(gone("y"));
    assert!(
        compare(&held, &CompareOptions::default())
            .text(ShownAgents::All)
            .ends_with(told)
    );
    held.push(gone("z"));
    let options = CompareOptions::default();
    let shown = options.clone().with_require_not_worse(true);
    assert_eq!(compare(&held, &shown).decision, Decision::NotShown);
    let passes = compare(&held, &options.with_inconclusive_passes(true));
    let told = "cannot tell: 2 agents have no runs now, so they may have got worse";
    assert!(passes.notes().pop().unwrap().contains(told) && passes.exit_status() == 0);
    let mut worse = outcomes_only(&[(6, 0, 6)]);
    worse.push(gone("y"));
    assert_eq!(compare(&worse, &CompareOptions::default()).exit_status(), 1);
}

#[test]
fn one_agent_has_all_of_alpha_and_the_suite_no_test() {
    let comparison = compare_outcomes(&[(4, 1, 4)]);
    let agent = comparison.agents[0].outcomes.unwrap();
    assert_eq!(
        (agent.share, agent.finding),
        (0.05, MetricFinding::Regressed)
    );
    assert_eq!(comparison.suite.outcomes.unwrap().share, None);
    assert_eq!(comparison.exit_status(), 1);
    // An agent of ten, judged alone, has the share that it has among them.
    let options = CompareOptions {
        hypotheses: Some(10),
        ..CompareOptions::default()
    };
    let alone = compare(&outcomes_only(&[(4, 1, 4)]), &options);
    assert_eq!(alone.agents[0].outcomes.unwrap().share, 0.0025);
    let among = compare_outcomes(&[
        (4, 1, 4),
        (4, 4, 4),
        (4, 4, 4),
        (4, 4, 4),
        (4, 4, 4),
        (4, 4, 4),
        (4, 4, 4),
        (4, 4, 4),
        (4, 4, 4),
        (4, 4, 4),
    ]);
    assert_eq!(alone.agents[0].outcomes, among.agents[0].outcomes);
    let samples = outcomes_only(&[(4, 1, 4)]);
    let Sides::Both {
        baseline,
        candidate,
    } = &samples[0].sides
    else {
        panic!("both sides");
    };
    let by_itself = compare_agent("agent_000", baseline, candidate, &options);
    assert_eq!(by_itself, alone.agents[0]);
}

#[test]
fn a_drop_below_the_margin_is_no_regression() {
    let wide = CompareOptions {
        agent_margins: [("agent_000".to_owned(), 80.0)].into(),
        ..CompareOptions::default()
    };
    let comparison = compare(&outcomes_only(&[(4, 1, 4)]), &wide);
    assert_eq!(
        comparison.agents[0].outcomes.unwrap().finding,
        MetricFinding::NoEvidence
    );
    assert_eq!(comparison.exit_status(), 0);
}

#[test]
fn not_worse_must_be_shown_where_it_is_required() {
    let required = CompareOptions {
        require_not_worse: true,
        ..CompareOptions::default()
    };
    let same = vec![(4, 4, 4); 5];
    assert_eq!(compare(&outcomes_only(&same), &required).exit_status(), 0);
    let mixed = vec![(4, 3, 4), (3, 4, 4), (4, 3, 4), (4, 4, 4)];
    assert_eq!(compare_outcomes(&mixed).exit_status(), 0);
    let shown = compare(&outcomes_only(&mixed), &required);
    assert_eq!(
        (shown.exit_status(), &shown.decision),
        (1, &Decision::NotShown)
    );
}

#[test]
fn behaviour_fails_only_where_it_is_asked_to() {
    let samples = vec![
        compared_agent("a", side(6, 1000, "cancel"), side(6, 1000, "close")),
        compared_agent("b", side(6, 1000, "cancel"), side(6, 1000, "cancel")),
    ];
    assert_eq!(
        compare(&samples, &CompareOptions::default()).exit_status(),
        0
    );
    let asked = CompareOptions {
        fail_on: [Metric::Behaviour].into(),
        ..CompareOptions::default()
    };
    let comparison = compare(&samples, &asked);
    assert_eq!(comparison.exit_status(), 1);
    assert!(
        comparison
            .text(ShownAgents::All)
            .contains("  other tools p 0.0022\n")
    );
}

#[test]
fn costs_of_too_few_runs_are_no_pass_either() {
    let short = |tokens| side(6, tokens, "a")[..1].to_vec();
    let asked = CompareOptions {
        fail_on: [Metric::Cost].into(),
        ..CompareOptions::default()
    };
    let few = vec![
        compared_agent("a", short(1000), short(1001)),
        compared_agent("b", short(1000), short(1001)),
    ];
    assert_eq!(compare(&few, &asked).exit_status(), 3);
    let enough = vec![compared_agent("a", side(6, 1000, "a"), side(6, 1001, "a"))];
    assert_eq!(compare(&enough, &asked).exit_status(), 0);
    let behaviour = CompareOptions {
        fail_on: [Metric::Behaviour].into(),
        ..CompareOptions::default()
    };
    assert_eq!(compare(&few[..1], &behaviour).exit_status(), 3);
}

#[test]
fn estimates_on_one_side_only_are_not_compared() {
    let mut estimated = side(6, 1000, "a");
    for run in &mut estimated {
        run.cost.as_mut().unwrap().estimated = true;
    }
    let samples = vec![compared_agent("a", side(6, 1000, "a"), estimated)];
    let comparison = compare(&samples, &CompareOptions::default());
    assert_eq!(comparison.agents[0].cost, None);
}

#[test]
fn arguments_that_changed_are_described() {
    let with = |values: &[(&str, &str)]| {
        let mut run = run(true, 10, &["find"]);
        let arguments = &mut run.behaviour.as_mut().unwrap().arguments;
        for (key, value) in values {
            arguments.insert((*key).to_owned(), [(*value).to_owned()].into());
        }
        run
    };
    let before = vec![
        with(&[("find.limit", "5"), ("find.old", "1")]),
        with(&[("find.limit", "5")]),
    ];
    let now = vec![
        with(&[("find.limit", "9"), ("find.q", "\"a\"")]),
        with(&[("find.limit", "9")]),
    ];
    let comparison = compare(
        &[compared_agent("a", before, now)],
        &CompareOptions::default(),
    );
    let line =
        "new argument `find.q` in 1 of 2, lost argument `find.old`, `find.limit` was `5`, is `9`";
    assert_eq!(comparison.rows()[1].described.as_deref(), Some(line));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn another_agent_changes_no_number_of_this_one_but_its_share(
        before in 0..5_usize, now in 0..5_usize, other in 0..5_usize,
    ) {
        let alone = compare_outcomes(&[(before, now, 4)]).agents[0].outcomes.unwrap();
        let beside = compare_outcomes(&[(before, now, 4), (other, other, 4)]).agents[0].outcomes.unwrap();
        prop_assert_eq!(alone.p_worse, beside.p_worse);
        prop_assert_eq!(alone.p_better, beside.p_better);
        prop_assert_eq!(alone.share, 4.0 * beside.share);
    }

    #[test]
    fn no_comparison_is_red_without_a_drop(
        agents in prop::collection::vec((0..5_usize, 0..3_usize), 1..6),
    ) {
        let agents: Vec<_> = agents.iter().map(|(before, more)| (*before, (before + more).min(4), 4)).collect();
        let comparison = compare_outcomes(&agents);
        prop_assert_ne!(comparison.exit_status(), 1);
        let rows = comparison.agents.iter().filter(|agent| {
            let text = comparison.body(ShownAgents::All);
            text.lines().filter(|line| line.starts_with(&agent.agent)).count() == 1
        });
        prop_assert_eq!(rows.count(), agents.len());
    }
}
