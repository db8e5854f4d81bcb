//! What people read: it fits a terminal, it says first what counts, it leaves out what nobody asked for.

use super::*;
use crate::text::{COLUMNS, width};

fn options() -> CompareOptions {
    CompareOptions::default()
}

fn widest(text: &str) -> usize {
    text.lines().map(width).max().unwrap_or_default()
}

#[test]
fn no_line_is_wider_than_a_terminal() {
    let long = format!("refund_{}_end", "very-".repeat(16));
    let wide = "🛒".repeat(45);
    let samples = vec![
        compared_agent(
            &format!("{long}__gpt-5"),
            side(6, 1000, "a"),
            side(1, 900_000, "b"),
        ),
        compared_agent(&wide, side(6, 3, "a"), side(0, 9_000_000, "b")),
        compared_agent("c", side(6, 1000, "a"), side(6, 1000, "a")),
        compared_agent("d", side(2, 1000, "a")[..2].to_vec(), side(2, 1000, "a")),
    ];
    let found = compare(&samples, &options());
    for shown in [ShownAgents::WithFinding, ShownAgents::All] {
        let text = found.body(shown);
        assert!(widest(&text) <= COLUMNS, "{text}");
    }
    // What tells two long names apart may be at their ends.
    let text = found.body(ShownAgents::All);
    let row = text
        .lines()
        .find(|line| line.starts_with("refund_"))
        .unwrap();
    assert!(row.contains('…') && row.contains("_end  "), "{text}");
    assert!(
        row.ends_with("regressed p 0.0032; costlier p 0.0011"),
        "{text}"
    );
    let emoji = text.lines().find(|line| line.starts_with('🛒')).unwrap();
    assert_eq!(
        width(row.split("6/6").next().unwrap()),
        width(emoji.split("6/6").next().unwrap()),
        "{text}"
    );
}

#[test]
fn agents_without_a_finding_are_a_line_together() {
    let mut samples = outcomes_only(&[(6, 0, 6), (6, 6, 6), (6, 6, 6), (0, 0, 6)]);
    samples.push(compared_agent(
        "few",
        side(6, 9, "a")[..1].to_vec(),
        side(6, 9, "a")[..1].to_vec(),
    ));
    let found = compare(&samples, &options());
    let text = found.body(ShownAgents::WithFinding);
    assert!(
        text.contains("\n4 agents without a finding (`--all` shows them): 2 no evidence, 1 nothing to lose, 1 too few runs\n"),
        "{text}"
    );
    for (agent, rows) in [("agent_000", 1), ("agent_001", 0), ("few", 0)] {
        let count = text.lines().filter(|line| line.starts_with(agent)).count();
        assert_eq!(count, rows, "{agent} in\n{text}");
    }
    assert!(!found.body(ShownAgents::All).contains("--all"));
    let headline = found.headline();
    assert_eq!(
        headline,
        "1 of 5 agents got worse (`agent_000`: 6 of 6 → 0 of 6), all 5 agents together got worse (−20.0 points), \
         1 has too few runs to show a loss: 3 more runs would do, \
         1 had nothing to lose: no run of the baseline passed."
    );
}

#[test]
fn the_headline_of_what_is_not_compared() {
    let agent = |name: &str, sides| AgentSamples::new(name, sides);
    for (samples, headline) in [
        (vec![], "Nothing could be compared."),
        (
            vec![agent("a", Sides::New), agent("b", Sides::New)],
            "There is nothing to compare with yet, 2 new, not compared.",
        ),
        (
            vec![agent("a", Sides::Gone)],
            "Nothing could be compared, 1 gone (`a`), not compared.",
        ),
        (
            vec![agent("a", Sides::Unchanged), agent("b", Sides::Unchanged)],
            "Nothing changed: the recordings of 2 agents are the same on both sides.",
        ),
    ] {
        assert_eq!(compare(&samples, &options()).headline(), headline);
    }
    let one = compare(&outcomes_only(&[(6, 6, 6)]), &options());
    assert_eq!(
        one.headline(),
        "The compared agent is not shown to be worse."
    );
}

/// Agents that got worse together though none did alone are no good news.
#[test]
fn what_all_agents_come_to_together_is_in_the_headline() {
    let found = compare(&outcomes_only(&[(4, 3, 4); 6]), &options());
    assert_eq!(found.exit_status(), 1);
    assert_eq!(
        found.headline(),
        "None of 6 agents is shown to be worse, all 6 agents together got worse (−25.0 points)."
    );
}

/// The number of runs that is said to decide does.
#[test]
fn with_as_many_runs_as_it_says_a_fall_to_none_shows() {
    for (agents, runs) in [(1, 1), (1, 2), (3, 2), (10, 3), (30, 2)] {
        let few = compare(
            &outcomes_only(&vec![(runs, runs, runs); agents]),
            &options(),
        );
        let undecided = few.undecided();
        assert_eq!(undecided.len(), agents);
        let needed = usize::try_from(undecided[0].needed).unwrap();
        assert_eq!(undecided[0].most(), (needed - runs) as u64);
        let enough = |needed| {
            let mut samples = vec![(needed, needed, needed); agents];
            samples[0].1 = 0;
            compare(&outcomes_only(&samples), &options())
        };
        let found = enough(needed);
        assert_eq!(found.undecided(), [], "{agents} {runs}");
        assert_eq!(
            found.agents[0].finding(Metric::Outcomes),
            Some(MetricFinding::Regressed)
        );
        assert!(!enough(needed - 1).undecided().is_empty());
    }
}

#[test]
fn models_are_named_where_an_agent_has_several() {
    let samples = vec![
        compared_agent("refund__gpt-5", side(6, 9, "a"), side(0, 9, "a")),
        compared_agent("refund__opus", side(6, 9, "a"), side(0, 9, "a")),
        compared_agent("search__opus", side(6, 9, "a"), side(0, 9, "a")),
    ];
    let found = compare(&samples, &options());
    assert!(
        found.headline().starts_with("3 of 3 agents got worse (`refund__gpt-5`: 6 of 6 → 0 of 6, `refund__opus`: 6 of 6 → 0 of 6, `search`: "),
        "{}",
        found.headline()
    );
}

#[test]
fn a_part_of_the_agents_has_its_own_rows_and_headline() {
    let found = compare(&four(), &options());
    let part = found.filter_agents(|agent| agent == "c_book");
    assert_eq!(
        part.headline(),
        "The compared agent is not shown to be worse, 1 got better (`c_book`: 0 of 6 → 6 of 6); the failures are in other suites."
    );
    assert_eq!(part.exit_status(), found.exit_status());
    assert!(!part.markdown().contains("a_refund"));
}

proptest! {
    #[test]
    fn any_name_and_number_fits(
        names in prop::collection::vec("\\PC{1,90}", 1..4),
        tokens in 1..9_000_000_u64,
        passes in 0..7_usize,
    ) {
        let samples: Vec<AgentSamples> = names
            .iter()
            .enumerate()
            .map(|(place, name)| compared_agent(&format!("{place}{name}"), side(6, 10, "a"), side(passes, tokens, name)))
            .collect();
        let text = compare(&samples, &options()).body(ShownAgents::WithFinding);
        let table = text.split("\n\n").nth(1).unwrap_or_default();
        let rows: Vec<&str> = table.lines().take(samples.len() + 1).collect();
        prop_assert!(rows.iter().all(|row| width(row) <= COLUMNS), "{}", text);
    }
}

/// Six runs that took so long, on a machine.
fn timed(ms: u64, machine: Option<&str>) -> Vec<RunSample> {
    let machine = machine.map(str::to_owned);
    let run = |run: u64| {
        RunSample::with_outcome(true)
            .with_cost(Some(Cost::measured(ms + run)))
            .with_recorded_on(machine.clone())
    };
    (0..6).map(run).collect()
}

/// A slower machine is no slower agent.
#[test]
fn time_is_compared_on_one_machine_alone() {
    let options = options().with_cost(CostKind::Ms);
    let one = compared_agent("a__m", timed(1000, Some("ci")), timed(2000, Some("ci")));
    let found = compare(&[one], &options);
    assert_eq!(found.exit_status(), 1);
    assert!(
        found.headline().contains("1 takes 100% more time (`a`)"),
        "{}",
        found.headline()
    );
    for (before, now, told) in [
        (
            Some("ci"),
            Some("laptop"),
            "recorded on `ci` before and on `laptop` now: `a`",
        ),
        (
            Some("ci"),
            None,
            "recorded on `ci` before and on an unknown machine now: `a`",
        ),
        (
            None,
            None,
            "recorded on an unknown machine before and on an unknown machine now: `a`",
        ),
    ] {
        let other = compared_agent("a__m", timed(1000, before), timed(2000, now));
        let found = compare(std::slice::from_ref(&other), &options);
        assert_eq!(found.exit_status(), 0, "{told}");
        assert_eq!(found.agents[0].cost, None);
        let text = found.render_agents().replace("\n  ", " ");
        assert!(
            text.contains(&format!("time is not compared, because they were {told}\n")),
            "{text}"
        );
        // Where nothing but the cost may fail, nothing holds.
        let alone = options.clone().with_fail_on([Metric::Cost]);
        assert_eq!(compare(&[other], &alone).exit_status(), 3, "{told}");
    }
    // One run of another machine among them is enough.
    let mut mixed = timed(2000, Some("ci"));
    mixed[3].recorded_on = Some("laptop".to_owned());
    let found = compare(
        &[compared_agent("a__m", timed(1000, Some("ci")), mixed)],
        &options,
    );
    assert_eq!(found.agents[0].cost, None);
    // Tokens are the same everywhere.
    let tokens = compared_agent("a__m", timed(1000, Some("ci")), timed(2000, None));
    assert_eq!(
        compare(&[tokens], &CompareOptions::default()).exit_status(),
        1
    );
}

#[test]
fn money_is_a_cost_by_its_target() {
    let options = options().with_cost(CostKind::Usd);
    let side = |usd: f64| -> Vec<RunSample> {
        let run = |run: u32| {
            let usd = usd + f64::from(run) * 1e-7;
            let cost =
                CostKind::Usd.cost_from_targets(&serde_json::json!({ "calls": { "usd": usd } }));
            RunSample::with_outcome(true).with_cost(cost)
        };
        (0..6).map(run).collect()
    };
    let found = compare(&[compared_agent("a", side(0.0012), side(0.0018))], &options);
    let cost = found.agents[0].cost.unwrap();
    near(cost.baseline, 0.001_200_25);
    near(cost.ratio.unwrap(), 1.499_9);
    assert_eq!(
        found.headline(),
        "The compared agent is not shown to be worse, 1 costs 50% more (`a`)."
    );
    assert!(
        found
            .rule_line()
            .unwrap()
            .ends_with("20% or more money than before")
    );
    // Nothing is lost of the least amounts, and no amount is below none.
    let of =
        |usd: f64| CostKind::Usd.cost_from_targets(&serde_json::json!({ "calls": { "usd": usd } }));
    assert_eq!(of(2e-9), Some(Cost::measured(2)));
    assert_eq!(of(3.0), Some(Cost::measured(3_000_000_000)));
    assert_eq!(of(-1.0), None);
}

/// A drop that would be a finding if its agent were alone stands in the first line, with what would decide.
#[test]
fn a_drop_that_other_agents_hide_is_never_folded_away() {
    for (fell, said, status) in [
        ((6, 3, 6), "6 of 6 → 3 of 6", 3),
        ((3, 0, 3), "3 of 3 → 0 of 3", 3),
        // All agents together got worse.
        ((4, 0, 4), "4 of 4 → 0 of 4", 1),
    ] {
        let others = vec![(fell.2, fell.2, fell.2); 9];
        let found = compare(&outcomes_only(&[vec![fell], others].concat()), &options());
        let text = found.text(ShownAgents::WithFinding);
        assert_eq!(found.exit_status(), status, "{text}");
        assert_eq!(
            found.agents[0].finding(Metric::Outcomes),
            Some(MetricFinding::CannotBeToldYet)
        );
        let first = found.headline();
        let begins = format!(
            "It cannot be told yet whether 1 of 10 agents got worse (`agent_000`: {said}): about "
        );
        assert!(
            first.starts_with(&begins) && first.contains(" would decide"),
            "{first}"
        );
        let undecided = found.undecided();
        let fallen: Vec<_> = undecided.iter().filter(|agent| agent.fell).collect();
        assert_eq!(fallen.len(), 1, "{text}");
        // As many runs as it says do show the drop.
        let needed = usize::try_from(fallen[0].needed).unwrap();
        let now = needed * fell.1 / fell.2;
        let more = [
            vec![(needed, now, needed)],
            vec![(needed, needed, needed); 9],
        ]
        .concat();
        assert_eq!(compare(&outcomes_only(&more), &options()).exit_status(), 1);
        let passes = options().with_inconclusive_passes(true);
        let samples = [vec![fell], vec![(fell.2, fell.2, fell.2); 9]].concat();
        assert_eq!(
            compare(&outcomes_only(&samples), &passes).exit_status() == 0,
            status == 3
        );
        let behaviour = options().with_fail_on([Metric::Behaviour]);
        let found = compare(&outcomes_only(&samples), &behaviour);
        assert!(
            !found
                .text(ShownAgents::All)
                .contains("less often than before")
        );
    }
    // p is 0.099: about half of the pull requests would have such a drop by chance.
    let found = compare(
        &outcomes_only(&[vec![(6, 4, 6)], vec![(6, 6, 6); 9]].concat()),
        &options(),
    );
    assert_eq!(found.exit_status(), 0, "{}", found.text(ShownAgents::All));
}

/// More passes than before ask for no more runs.
#[test]
fn what_passes_more_often_is_not_called_too_few() {
    let found = compare(
        &outcomes_only(&[(2, 6, 6), (6, 6, 6), (6, 6, 6)]),
        &options(),
    );
    assert_eq!(found.undecided(), []);
    assert!(
        !found.headline().contains("too few"),
        "{}",
        found.headline()
    );
}

/// What vanished is counted first, and is no pass unless somebody says that it is on purpose.
#[test]
fn an_agent_that_is_gone_is_no_pass_and_a_new_one_is() {
    let agent = |name: &str, sides| AgentSamples::new(name, sides);
    let same = || agent("same", Sides::Unchanged);
    let renamed = [
        same(),
        agent("old", Sides::Dropped),
        agent("new", Sides::New),
    ];
    let found = compare(&renamed, &options());
    assert_eq!(found.exit_status(), 3);
    assert!(
        found
            .headline()
            .starts_with("1 gone (`old`), 1 new, not compared, "),
        "{}",
        found.headline()
    );
    let allowed = options().with_allow_gone(true);
    assert_eq!(compare(&renamed, &allowed).exit_status(), 0);
    let shown = options().with_require_not_worse(true);
    assert_eq!(compare(&renamed, &shown).exit_status(), 1);
    // A suite still asks for this one: it was not removed on purpose.
    let unrecorded = [same(), agent("a", Sides::Gone)];
    assert_eq!(compare(&unrecorded, &allowed).exit_status(), 3);
    for new in [
        &[agent("a", Sides::New)][..],
        &[same(), agent("a", Sides::New)],
    ] {
        for options in [options(), options().with_require_not_worse(true)] {
            assert_eq!(compare(new, &options).exit_status(), 0);
        }
    }
}

/// Two agents have no interval, and a proof needs one.
#[test]
fn two_agents_prove_nothing_and_an_interval_is_possible() {
    let shown = options().with_require_not_worse(true);
    let two = compare(&outcomes_only(&[(20, 20, 20), (20, 20, 20)]), &shown);
    assert_eq!(two.exit_status(), 3);
    let text = two.text(ShownAgents::All).replace('\n', " ");
    assert!(
        text.contains("2 compared agents are too few for one: it needs 3 or more"),
        "{text}"
    );
    assert!(
        text.contains("no 95% interval over agents: 2 agents are too few"),
        "{text}"
    );
    let three = compare(&outcomes_only(&[(20, 20, 20); 3]), &shown);
    assert_eq!(three.exit_status(), 0);
    let wild = compare(
        &outcomes_only(&[(6, 0, 6), (0, 6, 6), (0, 0, 6)]),
        &options(),
    );
    assert_eq!(wild.suite.outcomes.unwrap().interval, Some((-100.0, 100.0)));
}

/// A change is told once, with whose it is, and its lines are cut where not all are asked for.
#[test]
fn a_change_is_told_once_with_whose_it_is() {
    let diff: Vec<String> = (0..12).map(|line| format!("-line {line} ```")).collect();
    let change = AgentChange::new("the system prompt changed", diff);
    let runs = || (0..6).map(|_| RunSample::with_outcome(true)).collect();
    let samples = ["a", "b"].map(|agent| {
        let sides = Sides::Both {
            baseline: runs(),
            candidate: runs(),
        };
        AgentSamples::new(agent, sides).with_changes(vec![change.clone()])
    });
    let found = compare(&samples, &options());
    let text = found.text(ShownAgents::WithFinding);
    assert!(
        text.contains("\nthe system prompt changed: `a`, `b`\n"),
        "{text}"
    );
    assert!(
        text.contains("line 7") && !text.contains("line 8"),
        "{text}"
    );
    assert!(
        text.contains("and 4 more lines of this diff (`--all` shows them)"),
        "{text}"
    );
    let all = found.text(ShownAgents::All);
    assert!(all.contains("line 11") && !all.contains("--all"), "{all}");
    let markdown = found.markdown();
    assert!(markdown.contains("\n````diff\n-line 0 ```\n"), "{markdown}");
    assert!(
        markdown.contains("<summary>4 more lines of this diff</summary>"),
        "{markdown}"
    );
    assert_eq!(
        markdown.matches("the system prompt changed").count(),
        1,
        "{markdown}"
    );
    assert!(found.filter_agents(|agent| agent == "c").changes.is_empty());
    // What changed stands before what came of it.
    let order = |text: &str, parts: [&str; 2]| parts.map(|part| text.find(part).unwrap());
    let [change, table] = order(&text, ["the system prompt", "agent  passed"]);
    assert!(change < table, "{text}");
    let [change, table] = order(&markdown, ["the system prompt", "| agent |"]);
    assert!(change < table, "{markdown}");
}

/// Of many changes the first are shown, those of agents that fail before the others.
#[test]
fn many_changes_are_folded_and_those_of_red_agents_stand_first() {
    let runs = |passed: usize| {
        (0..8)
            .map(|run| RunSample::with_outcome(run < passed))
            .collect()
    };
    let samples: Vec<AgentSamples> = (0..9)
        .map(|number| {
            let sides = Sides::Both {
                baseline: runs(8),
                candidate: runs(if number == 7 { 0 } else { 8 }),
            };
            let change = AgentChange::new(
                "the system prompt changed",
                vec![format!("+{number} `@team` </details>")],
            );
            AgentSamples::new(format!("agent_{number}"), sides).with_changes(vec![change])
        })
        .collect();
    let found = compare(&samples, &options());
    let text = found.text(ShownAgents::WithFinding);
    let told: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("the system"))
        .collect();
    let expected =
        [7, 0, 1, 2].map(|number| format!("the system prompt changed: `agent_{number}`"));
    assert_eq!(told, expected);
    assert!(
        text.contains("\nand 5 more changes of agents (`--all` shows them)\n"),
        "{text}"
    );
    let all = found.text(ShownAgents::All);
    assert_eq!(all.matches("the system prompt changed").count(), 9, "{all}");
    let markdown = found.markdown();
    let (shown, folded) = markdown
        .split_once("<summary>5 more changes of agents</summary>")
        .unwrap();
    assert_eq!(
        shown.matches("the system prompt changed").count(),
        4,
        "{markdown}"
    );
    assert_eq!(
        folded.matches("the system prompt changed").count(),
        5,
        "{markdown}"
    );
}

/// From 6 of 6 to 4 of 6 is nothing that an agent alone would be told of.
#[test]
fn a_drop_that_would_be_no_finding_alone_is_none_among_others() {
    for (now, told) in [(3, true), (4, false)] {
        let samples = outcomes_only(&[vec![(6, now, 6)], vec![(6, 6, 6); 3]].concat());
        let found = compare(&samples, &options());
        assert_eq!(found.agents[0].needs_more_runs(), told);
        assert_eq!(found.exit_status(), if told { 3 } else { 0 });
        let p = found.agents[0].outcomes.unwrap().p_worse;
        assert_eq!(format!("{p:.3}"), if told { "0.034" } else { "0.099" });
    }
}

/// The first line says what to do.
#[test]
fn the_first_line_names_the_command_that_records_what_would_decide() {
    let ten = |now: usize| {
        outcomes_only(&[[(6, 6, 6); 10].as_slice(), &[(6, 3, 6)].repeat(now)].concat())
    };
    let told = |samples: &[AgentSamples], suites: usize| {
        let commands = samples.iter().enumerate().map(|(number, agent)| {
            let suite = format!("record suite_{}::", number % suites);
            (
                agent.agent.clone(),
                RecordCommands::new(format!("{suite}{}", agent.agent), suite),
            )
        });
        compare(samples, &options())
            .with_record_commands(commands.collect())
            .headline()
    };
    let one = told(&ten(1), 1);
    assert!(
        one.ends_with(" more runs would decide (`record suite_0::agent_010`)."),
        "{one}"
    );
    let of_one_suite = told(&ten(3), 1);
    assert!(
        of_one_suite.contains(" more runs each would decide (`record suite_0::`), "),
        "{of_one_suite}"
    );
    let of_two = told(&ten(3), 2);
    assert!(
        of_two.contains(" would decide (`record suite_0::`, `record suite_1::`), "),
        "{of_two}"
    );
}
