//! Reading a matcher: one key of the table, and a demand that a recording can break.

use super::{Matcher, MatcherForm, MatcherInfo, matchers};
use crate::load::problems::{Problems, did_you_mean};
use crate::{Diagnostic, Entry, Node, NodeValue};

/// Reads a matcher; what is malformed, or what no run can break, is noted.
pub(crate) fn read(node: &Node, problems: &mut Problems) -> Option<Matcher> {
    if let NodeValue::Text(word) = &node.value
        && let Some(info) = known(word).filter(|info| info.form == MatcherForm::Alone)
    {
        let empty = Node {
            value: NodeValue::Null,
            span: node.span,
            defined: None,
        };
        let (kind, span) = ((info.read)(&empty, problems)?, node.span);
        return Some(Matcher { kind, span });
    }
    let Some(entries) = node.entries() else {
        let known = without_model().find(|info| node.text() == Some(info.key));
        let key = known.map_or("exact", |info| info.key);
        problems.push(
            Diagnostic::at(
                node.span,
                format!("expected a matcher, found {}", node.describe()),
            )
            .help(format!(
                "write the matcher with a value, e.g. `{{ {key}: … }}`"
            )),
        );
        return None;
    };
    let [entry] = entries else {
        problems.push(wrong_count(node, entries));
        return None;
    };
    let Some(info) = known(&entry.key) else {
        problems.push(unknown(entry));
        return None;
    };
    if let Some(help) = missing_value_help(info)
        && entry.value.is_left_out()
    {
        let message = format!("`{}` is left without a value", info.key);
        problems.push(Diagnostic::at(entry.key_span, message).help(help));
        return None;
    }
    let (kind, span) = ((info.read)(&entry.value, problems)?, entry.key_span);
    Some(Matcher { kind, span })
}

fn known(key: &str) -> Option<&'static MatcherInfo> {
    matchers().iter().find(|info| info.key == key)
}

/// The matchers that need no model.
fn without_model() -> impl Iterator<Item = &'static MatcherInfo> + Clone {
    let matchers = matchers().iter();
    matchers.filter(|info| info.form != MatcherForm::Unread)
}

/// What to do where a matcher is left without the value that it must have; nothing where it may be.
fn missing_value_help(info: &MatcherInfo) -> Option<String> {
    let key = info.key;
    match info.form {
        MatcherForm::Value => Some(format!("give the matcher a value: `{{ {key}: … }}`")),
        MatcherForm::ValueOrNull => {
            Some(format!("write `{key}: null` if the value must be `null`"))
        }
        MatcherForm::Alone | MatcherForm::Unread => None,
    }
}

fn unknown(entry: &Entry) -> Diagnostic {
    let key = entry.key.as_str();
    let problem = Diagnostic::at(entry.key_span, format!("unknown matcher `{key}`"));
    match without_model().find(|info| info.other_words.contains(&key)) {
        Some(meant) => problem.help(format!("did you mean `{}`?", meant.key)),
        None => did_you_mean(
            problem,
            key,
            without_model().map(|info| info.key),
            "matchers",
        ),
    }
}

fn wrong_count(node: &Node, entries: &[Entry]) -> Diagnostic {
    match entries {
        [] => Diagnostic::at(node.span, "expected a matcher, found an empty mapping")
            .help("write one, e.g. `{ exact: 1 }`"),
        [first, second, ..] => Diagnostic::new("a matcher has one key")
            .label(second.key_span, "a second key")
            .secondary_label(first.key_span, "the matcher")
            .help("join several matchers with `allOf: [{ … }, { … }]`"),
        [only] => Diagnostic::at(only.key_span, "a matcher has one key"),
    }
}
