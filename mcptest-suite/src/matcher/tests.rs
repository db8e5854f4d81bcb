//! Tests over the whole table of matchers: nothing here names one.

use std::collections::BTreeSet;

use super::{Asks, Matcher, MatcherForm, MatcherInfo, matchers, read};
use crate::load::problems::Problems;
use crate::model::Suite;
use crate::{Node, Source, parse};

/// Reads a matcher from its text.
fn read_text(text: &str) -> (Option<Matcher>, Problems) {
    let source = Source::new("a.yml", "a.yml", text);
    let node: Node = parse::read(&source, &mut Vec::new()).unwrap();
    let mut problems = Problems::default();
    (read(&node, &mut problems), problems)
}

/// The example of a matcher, which must be read without a problem.
fn example(info: &MatcherInfo) -> Matcher {
    let (matcher, problems) = read_text(&format!("{{ {}: {} }}", info.key, info.example));
    assert!(problems.0.is_empty(), "{}: {:?}", info.key, problems.0);
    matcher.unwrap()
}

/// What a suite says whose one assertion is a matcher of a target.
fn loaded(target: &str, matcher: &str) -> Result<(), String> {
    let text = format!(
        "agents: [{{ name: a, model: m, prompt: p, expect: [{{ target: {target}, matcher: {matcher} }}] }}]"
    );
    let suite = Suite::parse(Source::new("a.yml", "a.yml", text));
    suite.map(drop).map_err(|error| error.to_string())
}

#[test]
fn every_example_is_read_as_the_matcher_that_it_is_an_example_of() {
    for info in matchers() {
        assert_eq!(example(info).name(), info.key);
    }
}

#[test]
fn no_two_matchers_share_a_key_or_another_word() {
    let words = matchers().iter();
    let words = words.flat_map(|info| std::iter::once(&info.key).chain(info.other_words));
    let words: Vec<&str> = words.copied().collect();
    assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len());
}

#[test]
fn a_matcher_is_written_in_the_forms_that_it_declares_and_in_no_other() {
    for info in matchers() {
        let key = info.key;
        let is_read = |text: &str| {
            let (matcher, problems) = read_text(text);
            assert_eq!(matcher.is_some(), problems.0.is_empty(), "{text}");
            matcher.is_some_and(|matcher| matcher.name() == key)
        };
        let (alone, without_value) = (is_read(key), is_read(&format!("{{ {key}: }}")));
        let forms = match info.form {
            MatcherForm::Value | MatcherForm::ValueOrNull => (false, false),
            MatcherForm::Alone => (true, true),
            MatcherForm::Unread => (false, true),
        };
        assert_eq!((alone, without_value), forms, "{key}");
        let takes_null = info.form != MatcherForm::Value;
        assert_eq!(is_read(&format!("{{ {key}: null }}")), takes_null, "{key}");
    }
}

#[test]
fn a_matcher_that_reads_text_alone_is_refused_of_a_number_and_no_other_is_for_that() {
    let mut of_text = 0;
    for info in matchers() {
        let reads_text = matches!(example(info).asks(), Asks::Letters | Asks::Form);
        let written = format!("{{ {}: {} }}", info.key, info.example);
        let never_holds = format!("`{}` never holds", info.key);
        for matcher in [written.clone(), format!("{{ not: {written} }}")] {
            let refused = loaded("redundant_tool_calls", &matcher);
            let refused = refused.is_err_and(|error| error.contains(&never_holds));
            assert_eq!(refused, reads_text, "{matcher}");
        }
        of_text += usize::from(reads_text);
    }
    assert!(of_text > 0);
}
