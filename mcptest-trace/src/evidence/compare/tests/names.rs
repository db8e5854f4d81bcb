//! Agents are called what people call them, and the last line says what the first one does.

use super::*;

fn named(stem: &str, name: &str, model: &str, passed: usize) -> AgentSamples {
    compared_agent(stem, side(6, 1000, "a"), side(passed, 1000, "a"))
        .with_name(AgentName::new(name, model).with_suite("shop"))
}

#[test]
fn names_are_those_of_the_suite_everywhere() {
    let samples = [
        named("_____m", "🛒 cart", "m", 0),
        named("a_b__m", "a/b", "m", 0),
        named(
            "Refund_agent__openai_gpt_5",
            "Refund agent",
            "openai/gpt 5",
            0,
        ),
        named("Refund_agent__m", "Refund agent", "m", 0),
        named("other/x__m", "x", "m", 6),
        AgentSamples::new("Old__m", Sides::Gone).with_name(AgentName::new("Old `one`", "m")),
        AgentSamples::new("plain__m", Sides::New),
        AgentSamples::new(
            "c__m",
            Sides::NotComparable {
                differences: vec!["d".to_owned()],
            },
        )
        .with_name(AgentName::new("see saw", "m")),
    ];
    let found = compare(&samples, &CompareOptions::default());
    let all = [
        found.text(ShownAgents::All),
        found.markdown(),
        found.notes().join("\n"),
        found.render_agents(),
    ];
    for text in &all {
        for stem in [
            "_____m",
            "a_b__",
            "Refund_agent",
            "Old__m",
            "plain__m",
            "c__m",
        ] {
            assert!(!text.contains(stem), "{stem} in\n{text}");
        }
        for told in [
            "gone, because there is no recording of it now: `Old ʼoneʼ`",
            "new, not compared: `plain`",
            "not comparable: `see saw`",
        ] {
            assert!(text.contains(told), "{told} in\n{text}");
        }
    }
    for row in [
        "| ❌ `🛒 cart` |",
        "| ❌ `a/b` |",
        "| ❌ `Refund agent (openai/gpt 5)` |",
        "| ❌ `Refund agent (m)` |",
    ] {
        assert!(all[1].contains(row), "{row} in\n{}", all[1]);
    }
    let rows = found.rows();
    let cells: Vec<&str> = rows.iter().map(|row| row.cells[0].as_str()).collect();
    assert_eq!(
        cells,
        [
            "agent",
            "Refund agent (m)",
            "Refund agent (openai/gpt 5)",
            "🛒 cart",
            "a/b",
            "x",
            "all 5"
        ]
    );
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(
        json["names"]["a_b__m"],
        serde_json::json!({ "agent": "a/b", "model": "m", "suite": "shop" })
    );
}

/// What no form of a name tells apart is called by its stem.
#[test]
fn no_two_agents_are_called_alike() {
    let samples = [
        named("a__m", "a", "m", 6),
        named("b__m", "a", "m", 6),
        named("c__m", "a (m)", "x", 6),
        named("d__m", "a", "n", 6),
        named("e__m", "a (n)", "n", 6),
    ];
    let names = AgentNames::from_comparison(&compare(&samples, &CompareOptions::default()));
    let called = ["a__m", "b__m", "c__m", "d__m", "e__m"].map(|stem| names.escaped(stem));
    assert_eq!(called, ["a__m", "b__m", "a (m)", "d__m", "e__m"]);
}

/// The first sentence and the last line are made of the same findings.
#[test]
fn the_last_line_says_what_the_first_one_does() {
    let dear = || compared_agent("dear__m", side(6, 1000, "a"), side(6, 3000, "a"));
    let steady = || compared_agent("steady__m", side(6, 1000, "a"), side(6, 1000, "a"));
    let worse = || compared_agent("worse__m", side(6, 1000, "a"), side(0, 1000, "a"));
    for (samples, first, last) in [
        (
            vec![dear(), steady()],
            "None of 2 agents is shown to be worse, all 2 agents together cost 72% more tokens, 1 costs 195% more tokens (`dear`).",
            "all 2 agents together cost 72% more tokens, 1 costs 195% more tokens. Exit status 1.",
        ),
        (
            vec![worse(), steady()],
            "1 of 2 agents got worse (`worse`: 6 of 6 → 0 of 6), all 2 agents together got worse (−50.0 points).",
            "1 got worse, all 2 agents together got worse (−50.0 points). Exit status 1.",
        ),
        (
            vec![steady()],
            "The compared agent is not shown to be worse.",
            "no difference was found. Exit status 0.",
        ),
    ] {
        let found = compare(&samples, &CompareOptions::default());
        assert_eq!(found.headline(), first);
        assert_eq!(found.notes().pop().unwrap(), last);
    }
    // A comment of one suite says whose the status is.
    let options = CompareOptions {
        alpha: 0.02,
        ..CompareOptions::default()
    };
    let found = compare(&[worse(), steady()], &options);
    let part = found.filter_agents(|agent| agent == "steady__m");
    let (first, last) = (part.headline(), part.notes().pop().unwrap());
    assert!(
        last.ends_with("Exit status 1 of all suites together."),
        "{last}"
    );
    assert!(first.contains("all 2 agents together got worse"), "{first}");
    let alone = compare(
        &[worse(), steady()],
        &CompareOptions::default().with_suite_margin(90.0),
    );
    let part = alone.filter_agents(|agent| agent == "steady__m");
    assert_eq!(
        part.headline(),
        "The compared agent is not shown to be worse; the failures are in other suites."
    );
    assert_eq!(
        part.notes().pop().unwrap(),
        "no difference was found; the failures are in other suites. Exit status 1 of all suites together."
    );
}

#[test]
fn what_had_to_be_shown_and_was_not_stands_in_both() {
    let options = CompareOptions::default().with_require_not_worse(true);
    let found = compare(&outcomes_only(&[(2, 2, 2), (2, 2, 2)]), &options);
    assert_eq!(found.exit_status(), 1);
    let told = "the comparison does not show that the agents are no worse";
    let last = found.notes().pop().unwrap();
    assert!(
        found.headline().contains(told) && last.contains(told),
        "{last}"
    );
}

/// The page has what the text has: short verdicts, as their rule is said once.
#[test]
fn rows_do_not_repeat_the_rule() {
    let found = compare(&four(), &CompareOptions::default());
    let rows = found.rows();
    let verdicts: Vec<&str> = rows.iter().map(|row| row.cells[4].as_str()).collect();
    assert_eq!(
        verdicts,
        [
            "verdict",
            "regressed p 0.0032",
            "costlier p 0.0011",
            "improved p 0.0002",
            "no evidence (87 points would show)",
            "no evidence p 0.50",
        ]
    );
}
