//! Reading matchers: one key each, and a demand that a recording can break.

use serde_json::Number;

use super::fields::Fields;
use super::problems::{Problems, did_you_mean};
use super::{schema, vacuous, values};
use crate::model::{Matcher, MatcherKind, compare_numbers};
use crate::{Diagnostic, Entry, Node, NodeValue, Spanned};

/// The keys of the matchers that are run here.
const NAMES: [&str; 20] = [
    "exact",
    "contains",
    "subset",
    "regex",
    "schema",
    "snapshot",
    "contains-all",
    "contains-any",
    "icontains",
    "starts-with",
    "is-json",
    "is-valid-tools-call",
    "levenshtein",
    "min",
    "max",
    "between",
    "not",
    "allOf",
    "anyOf",
    "oneOf",
];

/// The keys of the matchers that would need a model.
const NEED_A_MODEL: [&str; 7] = [
    "llm-judge",
    "llm-jury",
    "similar",
    "factuality",
    "answer-relevance",
    "context-faithfulness",
    "citation",
];

/// Matchers that may be written as one word, or without a value.
const WORDS: [&str; 3] = ["is-json", "is-valid-tools-call", "snapshot"];

pub(super) fn read(node: &Node, problems: &mut Problems) -> Option<Matcher> {
    let is_among =
        |names: &[&'static str], key: &str| names.iter().copied().find(|name| *name == key);
    if let NodeValue::Text(word) = &node.value
        && let Some(name) = is_among(&WORDS, word)
    {
        let empty = Node {
            value: NodeValue::Null,
            span: node.span,
            defined: None,
        };
        let kind = kind(name, &empty, problems)?;
        let span = node.span;
        return Some(Matcher { name, kind, span });
    }
    let Some(entries) = node.entries() else {
        let known = node.text().filter(|word| NAMES.contains(word));
        let name = known.unwrap_or("exact");
        problems.push(
            Diagnostic::at(
                node.span,
                format!("expected a matcher, found {}", node.found()),
            )
            .help(format!(
                "write it with what it asks for, e.g. `{{ {name}: … }}`"
            )),
        );
        return None;
    };
    let [entry] = entries else {
        problems.push(wrong_count(node, entries));
        return None;
    };
    let span = entry.key_span;
    if let Some(name) = is_among(&NEED_A_MODEL, &entry.key) {
        let kind = MatcherKind::NeedsModel(name);
        return Some(Matcher { name, kind, span });
    }
    let Some(name) = is_among(&NAMES, &entry.key) else {
        problems.push(unknown(entry));
        return None;
    };
    if !WORDS.contains(&name) && entry.value.is_left_out() {
        problems.push(left_out(entry));
        return None;
    }
    let kind = kind(name, &entry.value, problems)?;
    Some(Matcher { name, kind, span })
}

fn unknown(entry: &Entry) -> Diagnostic {
    let problem = Diagnostic::at(entry.key_span, format!("unknown matcher `{}`", entry.key));
    let known = NAMES.into_iter();
    // The keywords of JSON Schema, and words for the same.
    let meant = match entry.key.as_str() {
        "minimum" | "at-least" | "gte" => "min",
        "maximum" | "at-most" | "lte" => "max",
        "range" => "between",
        _ => "",
    };
    if !meant.is_empty() {
        return problem.help(format!("did you mean `{meant}`?"));
    }
    did_you_mean(problem, &entry.key, known, "matchers")
}

fn left_out(entry: &Entry) -> Diagnostic {
    let name = &entry.key;
    let message = format!("`{name}` is left without a value");
    Diagnostic::at(entry.key_span, message).help(match name.as_str() {
        "exact" => "write `exact: null` if nothing is what must be there".to_owned(),
        _ => format!("say what it asks for: `{{ {name}: … }}`"),
    })
}

fn wrong_count(node: &Node, entries: &[Entry]) -> Diagnostic {
    match entries {
        [] => Diagnostic::at(node.span, "expected a matcher, found an empty mapping")
            .help("write one, e.g. `{ exact: 1 }`"),
        [first, second, ..] => Diagnostic::new("a matcher has one key")
            .label(second.key_span, "a second key")
            .also(first.key_span, "the matcher")
            .help("join several matchers with `allOf: [{ … }, { … }]`"),
        [only] => Diagnostic::at(only.key_span, "a matcher has one key"),
    }
}

/// What a matcher of a known name asks; `None` with a problem noted when it is malformed.
fn kind(name: &str, node: &Node, problems: &mut Problems) -> Option<MatcherKind> {
    match name {
        "exact" => Some(MatcherKind::Exact(values::read(node, problems))),
        "contains" => needle(name, node, problems).map(MatcherKind::Contains),
        "subset" => needle(name, node, problems).map(MatcherKind::Subset),
        "regex" => problems
            .text(node)
            .map(|pattern| MatcherKind::Regex(Spanned::new(pattern, node.span))),
        "schema" => schema::read(node, problems).map(MatcherKind::Schema),
        "snapshot" => snapshot_name(node, problems).map(MatcherKind::Snapshot),
        "contains-all" => needles(name, node, problems).map(MatcherKind::ContainsAll),
        "contains-any" => needles(name, node, problems).map(MatcherKind::ContainsAny),
        "icontains" => needle_text(name, node, problems).map(MatcherKind::Icontains),
        "starts-with" => needle_text(name, node, problems).map(MatcherKind::StartsWith),
        "is-json" => schema::read_optional(node, "`is-json`", problems).map(MatcherKind::IsJson),
        "is-valid-tools-call" => schema::read_optional(node, "`is-valid-tools-call`", problems)
            .map(MatcherKind::IsValidToolsCall),
        "levenshtein" => levenshtein(node, problems),
        "min" => number(node, problems).map(MatcherKind::Min),
        "max" => number(node, problems).map(MatcherKind::Max),
        "between" => between(node, problems),
        "not" => read(node, problems).map(|inner| MatcherKind::Not(Box::new(inner))),
        "allOf" => list(name, node, problems).map(MatcherKind::AllOf),
        "anyOf" => list(name, node, problems).map(MatcherKind::AnyOf),
        "oneOf" => list(name, node, problems).map(MatcherKind::OneOf),
        _ => None,
    }
}

fn list(name: &str, node: &Node, problems: &mut Problems) -> Option<Vec<Matcher>> {
    let items = problems.items(node, "matchers")?;
    let read: Vec<_> = items.iter().map(|item| read(item, problems)).collect();
    let read: Vec<Matcher> = read.into_iter().collect::<Option<_>>()?;
    vacuous::contradiction(name, &read, problems);
    Some(read)
}

/// What a matcher looks for: something, and not everything.
fn needle(name: &str, node: &Node, problems: &mut Problems) -> Option<serde_json::Value> {
    if node.value == NodeValue::Null {
        problems.push(
            Diagnostic::at(
                node.span,
                format!("`{name}` looks for something, found nothing"),
            )
            .help("write `{ exact: null }` if nothing is what must be there"),
        );
        return None;
    }
    vacuous::needle(name, node, problems);
    Some(values::read(node, problems))
}

fn needles(name: &str, node: &Node, problems: &mut Problems) -> Option<Vec<serde_json::Value>> {
    let items = problems.items(node, "values")?;
    let read: Vec<_> = items
        .iter()
        .map(|item| needle(name, item, problems))
        .collect();
    read.into_iter().collect()
}

fn needle_text(name: &str, node: &Node, problems: &mut Problems) -> Option<String> {
    let text = problems.text(node)?;
    vacuous::needle(name, node, problems);
    Some(text)
}

fn snapshot_name(node: &Node, problems: &mut Problems) -> Option<Option<Spanned<String>>> {
    match &node.value {
        NodeValue::Null | NodeValue::Bool(true) => Some(None),
        NodeValue::Map(entries) if entries.is_empty() => Some(None),
        NodeValue::Text(_) => problems.words(node).map(Some),
        _ => {
            problems.expected("a name for the snapshot, or `{}`", node);
            None
        }
    }
}

fn levenshtein(node: &Node, problems: &mut Problems) -> Option<MatcherKind> {
    let mut fields = Fields::open(node, "`levenshtein`", problems)?;
    let value = fields
        .required("value", problems)
        .and_then(|node| problems.text(node));
    let max = fields
        .required("max", problems)
        .and_then(|node| problems.count(node, 0));
    fields.finish(problems);
    let (value, max) = (value?, max?);
    let length = value.chars().count();
    if max.value >= length as u64 {
        let message = format!("`max: {}` lets even the empty text pass", max.value);
        problems.push(
            Diagnostic::at(max.span, message)
                .note(format!("`value` has {length} characters"))
                .help("allow fewer edits than `value` has characters, or use `exact`"),
        );
    }
    Some(MatcherKind::Levenshtein {
        value,
        max: max.value,
    })
}

fn number(node: &Node, problems: &mut Problems) -> Option<Number> {
    values::check(node, problems);
    if let NodeValue::Number(number, _) = &node.value {
        return Some(number.clone());
    }
    problems.number_expected("a number", node);
    None
}

/// The least and the most, both included.
fn between(node: &Node, problems: &mut Problems) -> Option<MatcherKind> {
    let Some([least, most]) = node.items() else {
        let message = format!(
            "`between` has a least and a most number, found {}",
            node.found()
        );
        problems.push(Diagnostic::at(node.span, message).help("write e.g. `{ between: [1, 5] }`"));
        return None;
    };
    let [low, high] = [least, most].map(|node| number(node, problems));
    let (low, high) = (low?, high?);
    if compare_numbers(&low, &high).is_gt() {
        problems.push(
            Diagnostic::new("nothing is between these two: the first is above the second")
                .label(least.span, "at least this")
                .also(most.span, "and at most this")
                .help("swap the two, or mend one of them"),
        );
        return None;
    }
    Some(MatcherKind::Between(low, high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Source, parse};

    /// Something that a matcher may ask.
    fn example(name: &str) -> &'static str {
        match name {
            "schema" => "{ type: string }",
            "levenshtein" => "{ value: sunny, max: 1 }",
            "contains-all" | "contains-any" => "[a]",
            "not" => "{ exact: 1 }",
            "allOf" | "anyOf" | "oneOf" => "[{ exact: 1 }]",
            "is-json" | "is-valid-tools-call" => "~",
            "min" | "max" => "1",
            "between" => "[1, 1]",
            _ => "a",
        }
    }

    #[test]
    fn a_matcher_that_reads_text_is_refused_of_a_number() {
        // Of the matchers that read texts, all; the names stand here once more, so that none is lost.
        let of_text = [
            "regex",
            "icontains",
            "starts-with",
            "is-json",
            "is-valid-tools-call",
            "levenshtein",
        ];
        for name in NAMES {
            let value = example(name);
            let text = format!(
                "agents: [{{ name: a, model: m, prompt: p, expect: [{{ target: redundant_tool_calls, matcher: {{ {name}: {value} }} }}] }}]"
            );
            let loaded = crate::model::Suite::parse(Source::new("a.yml", "a.yml", text));
            let refused = loaded
                .is_err_and(|error| error.to_string().contains(&format!("`{name}` never holds")));
            assert_eq!(refused, of_text.contains(&name), "{name}");
        }
    }

    #[test]
    fn every_matcher_reads_as_itself() {
        for name in NAMES {
            let value = example(name);
            let source = Source::new("a.yml", "a.yml", format!("{{ {name}: {value} }}"));
            let node = parse::read(&source, &mut Vec::new()).unwrap();
            let mut problems = Problems::default();
            let matcher = read(&node, &mut problems);
            assert!(problems.0.is_empty(), "{name}: {:?}", problems.0);
            assert_eq!(matcher.unwrap().name, name);
        }
    }
}
