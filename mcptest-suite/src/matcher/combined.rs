//! `not`, `allOf`, `anyOf` and `oneOf`: matchers made of matchers.

use serde_json::{Value, json};

use super::asks::Asks;
use super::declared::{Declared, MatcherForm};
use super::stage::{Prepare, Ready, Stage};
use super::{Matcher, MatcherVerdict, Snapshots, read, takes};
use crate::load::problems::Problems;
use crate::{Diagnostic, Node};

pub(super) enum Not {}

impl Declared for Not {
    type Value<S: Stage> = Box<Matcher<S>>;

    const KEY: &'static str = "not";
    const OTHER_WORDS: &'static [&'static str] = &[];
    const FORM: MatcherForm = MatcherForm::Value;
    const DESCRIPTION: &'static str =
        "The matcher below `not` does not hold. A path that leads nowhere fails here too.";
    const EXAMPLE: &'static str = "{ exact: 1 }";
    const JUDGED: Option<[&'static str; 2]> = Some(["2", "1"]);

    fn takes() -> Value {
        json!({ "allOf": [takes::matcher()] })
    }

    fn read(node: &Node, problems: &mut Problems) -> Option<Box<Matcher>> {
        read(node, problems).map(Box::new)
    }

    fn asks<S: Stage>(inner: &Box<Matcher<S>>) -> Asks<'_, S> {
        Asks::Not(inner)
    }

    fn prepare<R: Ready>(
        inner: &Box<Matcher>,
        with: &mut dyn Prepare<R>,
    ) -> Option<Box<Matcher<R>>> {
        inner.prepare(with).map(Box::new)
    }

    fn judge<R: Ready>(
        inner: &Box<Matcher<R>>,
        found: &Value,
        snapshots: &Snapshots<'_>,
    ) -> MatcherVerdict {
        match inner.judge(found, snapshots) {
            MatcherVerdict::Holds => MatcherVerdict::Fails(Vec::new()),
            MatcherVerdict::Fails(_) => MatcherVerdict::Holds,
            other => other,
        }
    }

    fn phrase<R: Ready>(inner: &Box<Matcher<R>>) -> String {
        format!("not {}", inner.phrase())
    }
}

pub(super) enum AllOf {}

impl Declared for AllOf {
    type Value<S: Stage> = Vec<Matcher<S>>;

    const KEY: &'static str = "allOf";
    const OTHER_WORDS: &'static [&'static str] = &[];
    const FORM: MatcherForm = MatcherForm::Value;
    const DESCRIPTION: &'static str = "All of these matchers hold.";
    const EXAMPLE: &'static str = "[{ contains: warm }, { contains: sunny }]";
    const JUDGED: Option<[&'static str; 2]> = Some([r#""warm and sunny""#, r#""warm""#]);

    fn takes() -> Value {
        takes::list_of(&takes::matcher())
    }

    fn read(node: &Node, problems: &mut Problems) -> Option<Vec<Matcher>> {
        list(Self::KEY, ["for nothing", "the two"], node, problems)
    }

    fn asks<S: Stage>(all: &Vec<Matcher<S>>) -> Asks<'_, S> {
        Asks::All(all)
    }

    fn prepare<R: Ready>(all: &Vec<Matcher>, with: &mut dyn Prepare<R>) -> Option<Vec<Matcher<R>>> {
        prepared(all, with)
    }

    fn judge<R: Ready>(
        all: &Vec<Matcher<R>>,
        found: &Value,
        snapshots: &Snapshots<'_>,
    ) -> MatcherVerdict {
        MatcherVerdict::all(all.iter().map(|matcher| {
            let words = format!("expected it {}", matcher.phrase());
            (words, matcher.judge(found, snapshots))
        }))
    }

    fn phrase<R: Ready>(all: &Vec<Matcher<R>>) -> String {
        format!("to hold all of: {}", phrases(all))
    }
}

pub(super) enum AnyOf {}

impl Declared for AnyOf {
    type Value<S: Stage> = Vec<Matcher<S>>;

    const KEY: &'static str = "anyOf";
    const OTHER_WORDS: &'static [&'static str] = &[];
    const FORM: MatcherForm = MatcherForm::Value;
    const DESCRIPTION: &'static str = "At least one of these matchers holds.";
    const EXAMPLE: &'static str = "[{ contains: warm }, { contains: sunny }]";
    const JUDGED: Option<[&'static str; 2]> = Some([r#""warm""#, r#""cold""#]);

    fn takes() -> Value {
        takes::list_of(&takes::matcher())
    }

    fn read(node: &Node, problems: &mut Problems) -> Option<Vec<Matcher>> {
        list(Self::KEY, ONE_HOLDS, node, problems)
    }

    fn asks<S: Stage>(any: &Vec<Matcher<S>>) -> Asks<'_, S> {
        Asks::Any(any)
    }

    fn prepare<R: Ready>(any: &Vec<Matcher>, with: &mut dyn Prepare<R>) -> Option<Vec<Matcher<R>>> {
        prepared(any, with)
    }

    fn judge<R: Ready>(
        any: &Vec<Matcher<R>>,
        found: &Value,
        snapshots: &Snapshots<'_>,
    ) -> MatcherVerdict {
        MatcherVerdict::any(
            any.iter()
                .map(|matcher| match matcher.judge(found, snapshots) {
                    MatcherVerdict::Fails(details) => {
                        MatcherVerdict::Fails(vec![branch(matcher, &details)])
                    }
                    MatcherVerdict::NotApplicable(details) => {
                        MatcherVerdict::NotApplicable(vec![branch(matcher, &details)])
                    }
                    other => other,
                }),
        )
    }

    fn phrase<R: Ready>(any: &Vec<Matcher<R>>) -> String {
        format!("to hold any of: {}", phrases(any))
    }
}

pub(super) enum OneOf {}

impl Declared for OneOf {
    type Value<S: Stage> = Vec<Matcher<S>>;

    const KEY: &'static str = "oneOf";
    const OTHER_WORDS: &'static [&'static str] = &[];
    const FORM: MatcherForm = MatcherForm::Value;
    const DESCRIPTION: &'static str = "Exactly one of these matchers holds.";
    const EXAMPLE: &'static str = "[{ contains: warm }, { contains: sunny }]";
    const JUDGED: Option<[&'static str; 2]> = Some([r#""warm""#, r#""warm and sunny""#]);

    fn takes() -> Value {
        takes::list_of(&takes::matcher())
    }

    fn read(node: &Node, problems: &mut Problems) -> Option<Vec<Matcher>> {
        list(Self::KEY, ONE_HOLDS, node, problems)
    }

    fn asks<S: Stage>(one: &Vec<Matcher<S>>) -> Asks<'_, S> {
        Asks::One(one)
    }

    fn prepare<R: Ready>(one: &Vec<Matcher>, with: &mut dyn Prepare<R>) -> Option<Vec<Matcher<R>>> {
        prepared(one, with)
    }

    fn judge<R: Ready>(
        one: &Vec<Matcher<R>>,
        found: &Value,
        snapshots: &Snapshots<'_>,
    ) -> MatcherVerdict {
        let mut holding = Vec::new();
        let (mut unread, mut undecided) = (Vec::new(), None);
        let mut applicable = true;
        for matcher in one {
            match matcher.judge(found, snapshots) {
                MatcherVerdict::Holds => holding.push(matcher),
                MatcherVerdict::Undecided(name) => undecided = undecided.or(Some(name)),
                MatcherVerdict::Fails(_) => {}
                MatcherVerdict::NotApplicable(details) => {
                    applicable = false;
                    unread.extend(details);
                }
            }
        }
        match (holding.len(), undecided, applicable) {
            (0 | 1, Some(name), _) => MatcherVerdict::Undecided(name),
            (1, None, _) => MatcherVerdict::Holds,
            (0, None, true) => MatcherVerdict::Fails(vec!["none of them holds".to_owned()]),
            (0, None, false) => MatcherVerdict::NotApplicable(unread),
            _ => {
                let phrases = holding.iter().map(|matcher| matcher.phrase());
                let lines = phrases.map(|phrase| format!("this one holds: {phrase}"));
                MatcherVerdict::Fails(lines.collect())
            }
        }
    }

    fn phrase<R: Ready>(one: &Vec<Matcher<R>>) -> String {
        format!("to hold exactly one of: {}", phrases(one))
    }
}

/// What is said of a matcher beside its own `not` where one of the two is enough.
const ONE_HOLDS: [&str; 2] = ["for every value", "one of the two"];

/// Reads the matchers of a list. `contradiction`: for what a matcher and its own `not` hold there, and
/// which of them to remove.
fn list(
    key: &str,
    contradiction: [&str; 2],
    node: &Node,
    problems: &mut Problems,
) -> Option<Vec<Matcher>> {
    let items = problems.items(node, "matchers")?;
    let matchers: Vec<_> = items.iter().map(|item| read(item, problems)).collect();
    let matchers: Vec<Matcher> = matchers.into_iter().collect::<Option<_>>()?;
    if let Some(matcher) = matchers.iter().find(|one| is_negated(one, &matchers)) {
        let [holds, which] = contradiction;
        let message = format!("`{key}` of a matcher and its `not` holds {holds}");
        problems.push(
            Diagnostic::at(matcher.span, message)
                .note("every run gets the same verdict here, so nothing is tested")
                .help(format!("remove {which}")),
        );
    }
    Some(matchers)
}

/// Whether its own `not` is among some matchers.
fn is_negated(matcher: &Matcher, among: &[Matcher]) -> bool {
    among.iter().any(|other| match other.asks() {
        Asks::Not(inner) => inner.kind == matcher.kind,
        _ => false,
    })
}

fn prepared<R: Ready>(matchers: &[Matcher], with: &mut dyn Prepare<R>) -> Option<Vec<Matcher<R>>> {
    // The problems of all are noted.
    let prepared: Vec<_> = matchers
        .iter()
        .map(|matcher| matcher.prepare(with))
        .collect();
    prepared.into_iter().collect()
}

fn branch<R: Ready>(matcher: &Matcher<R>, details: &[String]) -> String {
    match details {
        [] => format!("expected it {}", matcher.phrase()),
        details => format!("expected it {} ({})", matcher.phrase(), details.join("; ")),
    }
}

fn phrases<R: Ready>(matchers: &[Matcher<R>]) -> String {
    let phrases: Vec<String> = matchers.iter().map(Matcher::phrase).collect();
    phrases.join("; ")
}
