//! Excerpts of suites, and which suites have none.

use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::{Source, parse};

const TWO: &str = "variables: { a: b }\nagents: # two\n  # the first\n  - name: First one # so\n    prompt: |\n      - name: no item\n\n  -   model: m\n      name: second\n\nregression: {}\n";

/// The whole of a text that is right.
fn parse_whole(text: &str) -> Option<Node> {
    let mut problems = Vec::new();
    parse::read(&Source::new("a.yml", "a.yml", text), &mut problems).filter(|_| problems.is_empty())
}

fn agents(document: &Node) -> &[Node] {
    document
        .get("agents")
        .and_then(Node::items)
        .unwrap_or_default()
}

fn case_name(agent: &Node) -> Option<String> {
    segment(agent.get("name")?.text()?)
}

/// What an excerpt has is as the whole has it, every agent that is wanted is in it, and nothing
/// else is left out. How many agents it has.
fn agrees(text: &str, wanted: &str) -> Option<usize> {
    let excerpt = read(text, &|name| name == wanted)?;
    // What is left out may be wrong.
    let Some(whole) = parse_whole(text) else {
        return Some(agents(&excerpt).len());
    };
    let is_wanted = |agent: &&Node| case_name(agent).as_deref() == Some(wanted);
    for agent in agents(&excerpt) {
        assert!(agents(&whole).contains(agent), "{text}");
    }
    let says_only = |agent: &&Node| agent.get("only").is_some();
    for agent in agents(&whole)
        .iter()
        .filter(|agent| is_wanted(agent) || says_only(agent))
    {
        assert!(agents(&excerpt).contains(agent), "{text}");
    }
    let others = |document: &Node| {
        let entries = document.entries().unwrap_or_default().iter();
        let others = entries.filter(|entry| entry.key != "agents");
        others.cloned().collect::<Vec<_>>()
    };
    assert_eq!(others(&excerpt), others(&whole), "{text}");
    Some(agents(&excerpt).len())
}

#[test]
fn the_agent_that_is_wanted_is_read_alone_at_its_own_place() {
    assert_eq!(agrees(TWO, "first_one"), Some(1));
    assert_eq!(agrees(TWO, "second"), Some(1));
    assert_eq!(agrees(&TWO.replace('\n', "\r\n"), "second"), Some(1));
    assert_eq!(agrees("agents:\n- name: a\n- name: ü 🚀", "a"), Some(1));
    assert_eq!(agrees("agents:\n- name: a\n- name: ü 🚀", "ü"), Some(1));
}

#[test]
fn what_is_wrong_with_another_agent_is_not_looked_at() {
    let text = TWO.replace("model: m", "model: [");
    assert!(parse_whole(&text).is_none());
    assert_eq!(agrees(&text, "first_one"), Some(1));
    assert_eq!(agrees(&text, "second"), None);
}

#[test]
fn an_agent_whose_name_takes_more_than_a_line_to_tell_is_kept() {
    for name in [
        "a\n      b",
        "'a\n      b'",
        "|\n      a",
        "${a}",
        "*a",
        "a: b",
        "a\n    name: b",
        "",
        "? a",
    ] {
        let text = format!("agents:\n  - name: {name}\n    model: m\n");
        let stays = items(&text).is_none_or(|items| items[0].name.is_none());
        assert!(stays, "{name}");
    }
}

#[test]
fn a_name_is_what_the_parser_reads_on_its_line() {
    for (written, case) in [
        ("'it''s' # a", "it_s"),
        ("\"\\x61\"", "a"),
        ("1.50", "_1_50"),
        ("--- a", "a"),
    ] {
        let text = format!("agents:\n  - name: {written}\n  - name: other\n");
        let found = items(&text).unwrap().remove(0).name.unwrap();
        assert_eq!(found.case, case);
        assert_eq!(agrees(&text, case), Some(1));
    }
}

#[test]
fn an_agent_that_may_say_more_than_its_words_do_is_kept() {
    for line in [
        "only: true",
        "only : true",
        "\"\\x6fnly\": true",
        "? only # c\n    : true",
        "*o : true",
        "? \"on\\\n      ly\"\n    : true",
        "<<: { only: true }",
        "!!str only: true",
    ] {
        let text = format!("agents:\n  - {line}\n    name: a\n  - name: b\n    {line}\n");
        let stays = |items: Vec<Item>| items.iter().all(|item| item.name.is_none());
        assert!(items(&text).is_none_or(stays), "{line}");
    }
}

#[test]
fn agents_whose_recordings_would_have_one_name_are_kept_together() {
    let text = "agents:\n  - name: café\n  - name: cafè\n  - name: a!\n  - name: a_\n  - name: c\n";
    assert_eq!(agrees(text, "café"), Some(2));
    assert_eq!(agrees(text, "a"), Some(2));
    assert_eq!(agrees(text, "c"), Some(1));
}

#[test]
fn what_is_not_told_apart_by_lines_is_not_cut() {
    for text in [
        "agents: [{ name: a }]\n",
        "agents:\n  - name: a\n   - name: b\n",
        "agents:\n  - name: a\n - name: b\n",
        "agents:\n\t- name: a\n",
        "agents:\n  - name: a\n    x: &x 1\n  - name: b\n    x: *x\n",
        "agents:\n  - name: a\nagents:\n  - name: b\n",
        "agents:\n  a: {}\n",
        "agents:\n  - name: b #\r  - name: b\r\n",
        "agents:\n",
        "",
    ] {
        assert_eq!(agrees(text, "b"), None, "{text}");
    }
}

#[test]
fn every_suite_of_the_repository_reads_alike_agent_by_agent() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // A package is tested without the repository around it.
    let around = root
        .parent()
        .filter(|parent| parent.join("suites").is_dir());
    let (mut cut, mut all) = (0, 0);
    fast_parse::tests::each_suite(around.unwrap_or(root), &mut |text| {
        let Some(whole) = parse_whole(text) else {
            return;
        };
        for name in agents(&whole).iter().filter_map(case_name) {
            all += 1;
            cut += usize::from(agrees(text, &name).is_some());
        }
    });
    assert!(all > 20 && cut * 4 > all * 3, "{cut} of {all}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4000) })]

    #[test]
    fn any_lines_read_alike(lines in prop::collection::vec(line(), 0..14)) {
        let text = format!("agents:\n{}", lines.concat());
        agrees(&text, "a");
    }

    #[test]
    fn any_lines_around_read_alike(before in prop::collection::vec(line(), 0..4), lines in prop::collection::vec(line(), 0..6)) {
        let text = format!("{}agents:\n  - name: a\n{}", before.concat(), lines.concat());
        agrees(&text, "a");
    }
}

fn line() -> impl Strategy<Value = String> {
    let content = prop::sample::select(
        &[
            "- name: a",
            "- name: b",
            "name: a",
            "name: b",
            "name: 'a'",
            "name: \"b",
            "only: true",
            "- ",
            "-",
            "x: 1",
            "x: |",
            "x: >-",
            "text",
            "'",
            "\"",
            "x: '",
            "x: \"",
            "y\"",
            "[",
            "]",
            "x: [",
            "{",
            "}",
            "# c",
            "",
            "agents:",
            "servers: {}",
            "? x",
            ": 1",
            "- - a",
            "&x a: 1",
            "x: *x",
            "---",
            "...",
            "\ta",
        ][..],
    );
    (0..4_usize, content, prop::bool::weighted(0.05)).prop_map(|(indent, content, crlf)| {
        let end = if crlf { "\r\n" } else { "\n" };
        format!("{}{content}{end}", "  ".repeat(indent))
    })
}

#[test]
fn an_agent_without_text_is_no_agent_that_is_wanted() {
    let document = read("agents:\n  - name: a\n  - 1\n", &|name| name == "a").unwrap();
    let values: Vec<_> = agents(&document).iter().map(|agent| &agent.value).collect();
    assert!(matches!(
        values[..],
        [NodeValue::Map(_), NodeValue::Number(..)]
    ));
}
