//! JSON Schemas in suites: known keywords that hold what they must, references that lead somewhere
//! inside the schema, bounds that mean numbers.
//!
//! Compiling is left to the harness; what is refused here is what a validator would ignore, or
//! would only notice when the first run is judged.

mod keywords;
mod references;
mod vacuous;
mod values;

pub(super) use self::keywords::subschemas;
use self::keywords::{Draft, KEYWORDS, keyword};
pub(super) use self::references::Schemas;
pub use self::vacuous::asks_only;
use super::problems::Problems;
use super::values as kept;
use crate::model::JsonSchema;
use crate::{Diagnostic, Entry, Node, NodeValue, nearest};

/// Keywords that do nothing without another one.
const NEEDS: [(&str, &str); 4] = [
    ("then", "if"),
    ("else", "if"),
    ("minContains", "contains"),
    ("maxContains", "contains"),
];

/// Reads a schema; what only compiling can tell is left to where schemas are compiled.
pub fn read(node: &Node, problems: &mut Problems) -> Option<JsonSchema> {
    let before = problems.0.len();
    check(node, Draft::from_schema(node), problems);
    references::check(node, problems);
    if problems.0.len() == before {
        vacuous::check(node, problems);
    }
    let value = kept::read(node, problems);
    (problems.0.len() == before).then(|| JsonSchema {
        value,
        node: node.clone(),
    })
}

fn check(node: &Node, draft: Draft, problems: &mut Problems) {
    let entries = match &node.value {
        NodeValue::Map(entries) => entries,
        NodeValue::Bool(_) => return,
        _ => return problems.push(no_schema(node)),
    };
    for entry in entries {
        match keyword(&entry.key) {
            None => problems.push(unknown_keyword(entry)),
            Some(keyword) if !(keyword.since..=keyword.until).contains(&draft) => {
                problems.push(wrong_draft(entry, draft));
            }
            Some(keyword) => values::check(keyword, entry, draft, problems),
        }
        let need = NEEDS.iter().find(|(key, _)| *key == entry.key);
        if let Some((key, other)) = need
            && node.get(other).is_none()
        {
            let message = format!("`{key}` does nothing without `{other}`");
            problems.push(
                Diagnostic::at(entry.key_span, message)
                    .help(format!("add `{other}:` beside it, or remove it")),
            );
        }
    }
    values::check_pairs(node, problems);
    for (_, schema) in subschemas(node) {
        check(schema, draft, problems);
    }
}

fn no_schema(node: &Node) -> Diagnostic {
    let message = format!("expected a JSON Schema, found {}", node.describe());
    let problem = Diagnostic::at(node.span, message);
    match node.text().filter(|word| values::TYPES.contains(word)) {
        Some(word) => problem.help(format!("write `{{ type: {word} }}`")),
        None => problem.help("a schema is a mapping, e.g. `{ type: string }`, or a boolean"),
    }
}

fn unknown_keyword(entry: &Entry) -> Diagnostic {
    let message = format!("unknown JSON Schema keyword `{}`", entry.key);
    let problem = Diagnostic::at(entry.key_span, message).note(
        "JSON Schema ignores what it does not know, so this would pass without being checked",
    );
    match nearest(&entry.key, KEYWORDS.iter().map(|keyword| keyword.name)) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help("remove it, or put it under `$comment`"),
    }
}

fn wrong_draft(entry: &Entry, draft: Draft) -> Diagnostic {
    let message = format!(
        "`{}` means nothing in JSON Schema {}, so it would check nothing",
        entry.key,
        draft.title()
    );
    let problem = Diagnostic::at(entry.key_span, message);
    match entry.key.as_str() {
        "additionalItems" => {
            problem.help("use `prefixItems` for the first items and `items` for the others")
        }
        "id" => problem.help("write `$id`"),
        _ => problem.help("remove `$schema`, so that the newest draft is used"),
    }
}
