//! What a keyword of a JSON Schema holds must be what the keyword wants.
//!
//! A validator would only say so when the schema is compiled, without a place in the suite, and a
//! few mistakes (a format that does not exist, a keyword of another draft) it would never mention.

use super::keywords::{Draft, Holds, Keyword};
use crate::load::problems::{Problems, did_you_mean};
use crate::{Diagnostic, Entry, Node, NodeValue};

/// What a value can be.
pub(super) const TYPES: [&str; 7] = [
    "string", "number", "integer", "boolean", "object", "array", "null",
];

/// The formats that the validator knows how to check.
const FORMATS: &str = "date date-time duration email hostname ipv4 ipv6 iri iri-reference json-pointer regex \
    relative-json-pointer time uri uri-reference uri-template uuid";

/// Notes what is wrong with a keyword's value; schemas below it are looked at by the caller.
pub(super) fn check(keyword: &Keyword, entry: &Entry, draft: Draft, problems: &mut Problems) {
    let (name, node) = (keyword.name, &entry.value);
    let mut wrong = |what: &str| problems.push(mismatch(name, what, node));
    match keyword.holds {
        // What is no schema is noted when the schema is read.
        Holds::Schema | Holds::Anything => {}
        Holds::Items => {
            if node.items().is_some() && draft >= Draft::Twenty {
                problems.push(
                    Diagnostic::at(node.span, "`items` is one schema, found a list")
                        .help("a schema for each place goes under `prefixItems`"),
                );
            }
        }
        Holds::Schemas => {
            if node.items().is_none_or(<[Node]>::is_empty) {
                wrong("a list of schemas");
            }
        }
        Holds::NamedSchemas | Holds::Dependencies | Holds::NamedTexts => {
            let Some(entries) = node.entries() else {
                return wrong("a mapping of names");
            };
            for entry in entries {
                if keyword.holds == Holds::NamedTexts || entry.value.items().is_some() {
                    texts(name, &entry.value, problems);
                }
            }
        }
        Holds::Types => types(node, problems),
        Holds::Values => {
            if node.items().is_none_or(<[Node]>::is_empty) {
                wrong("a list of values");
            }
        }
        Holds::Number => {
            if node.number().is_none() {
                wrong("a number");
            }
        }
        Holds::Exclusive => exclusive(name, node, draft, problems),
        Holds::Positive => {
            if !node.number().is_some_and(|number| number > 0.0) {
                wrong("a number above 0");
            }
        }
        Holds::Count => {
            let whole = |number: f64| number >= 0.0 && number.fract() == 0.0;
            if !node.number().is_some_and(whole) {
                wrong("a whole number, 0 or more");
            }
        }
        Holds::Flag => {
            if !matches!(node.value, NodeValue::Bool(_)) {
                wrong("`true` or `false`");
            }
        }
        Holds::Text => {
            if !matches!(node.value, NodeValue::Text(_)) {
                wrong("text");
            }
        }
        Holds::Format => format(node, problems),
        Holds::Dialect => dialect(node, problems),
        Holds::Texts => texts(name, node, problems),
    }
}

/// Notes least and most values that leave nothing between them.
pub(super) fn check_pairs(schema: &Node, problems: &mut Problems) {
    const PAIRS: [(&str, &str); 5] = [
        ("minimum", "maximum"),
        ("minLength", "maxLength"),
        ("minItems", "maxItems"),
        ("minContains", "maxContains"),
        ("minProperties", "maxProperties"),
    ];
    for (least, most) in PAIRS {
        let (Some(low), Some(high)) = (schema.get(least), schema.get(most)) else {
            continue;
        };
        if low
            .number()
            .zip(high.number())
            .is_some_and(|(low, high)| low > high)
        {
            let message = format!("`{least}` is above `{most}`, so no value is valid");
            problems.push(
                Diagnostic::new(message)
                    .label(low.span, "at least this")
                    .secondary_label(high.span, "and at most this")
                    .help("swap the two, or correct one of them"),
            );
        }
    }
}

/// `what` was wanted below a keyword, and `node` is there.
fn mismatch(name: &str, what: &str, node: &Node) -> Diagnostic {
    let found = node.describe();
    let problem = Diagnostic::at(
        node.span,
        format!("`{name}` of a JSON Schema must be {what}, found {found}"),
    );
    match &node.value {
        NodeValue::Text(text) if text.parse::<f64>().is_ok() => {
            problem.help("take the quotes away")
        }
        NodeValue::Number(..) | NodeValue::Bool(_) if what == "text" => {
            problem.help("put it in quotes")
        }
        _ => problem,
    }
}

fn exclusive(name: &str, node: &Node, draft: Draft, problems: &mut Problems) {
    let is_flag = matches!(node.value, NodeValue::Bool(_));
    if draft == Draft::Four && !is_flag {
        problems.push(mismatch(name, "`true` or `false` in draft 4", node));
    } else if draft > Draft::Four && node.number().is_none() {
        let problem = mismatch(name, "a number", node);
        problems.push(if is_flag {
            problem.help(format!(
                "since draft 6, the value is the bound itself: `{name}: 0`"
            ))
        } else {
            problem
        });
    }
}

fn texts(name: &str, node: &Node, problems: &mut Problems) {
    let Some(items) = node.items() else {
        let problem = mismatch(name, "a list of names", node);
        return problems.push(match &node.value {
            NodeValue::Text(word) if !["yes", "no"].contains(&word.as_str()) => {
                problem.help(format!("write `{name}: [{word}]`"))
            }
            _ if name == "required" => {
                problem.help("write `required` beside `properties`, with the names of the required properties: `required: [city]`")
            }
            _ => problem,
        });
    };
    for item in items {
        if !matches!(item.value, NodeValue::Text(_)) {
            problems.push(mismatch(name, "a list of texts", item).help("put the name in quotes"));
        }
    }
}

fn types(node: &Node, problems: &mut Problems) {
    let single = std::slice::from_ref(node);
    let items = match node.items() {
        Some([]) => {
            return problems.push(mismatch("type", "a type or a list of types", node));
        }
        Some(items) => items,
        None => single,
    };
    for item in items {
        match &item.value {
            NodeValue::Text(name) if TYPES.contains(&name.as_str()) => {}
            NodeValue::Text(name) => {
                let message = format!("unknown JSON Schema type `{name}`");
                let problem = Diagnostic::at(item.span, message);
                problems.push(did_you_mean(problem, name, TYPES.into_iter(), "types"));
            }
            NodeValue::Null => problems.push(
                Diagnostic::at(
                    item.span,
                    "`type` of a JSON Schema must be text, found nothing",
                )
                .note("YAML reads a bare `null` as no value at all")
                .help("put the type in quotes: `'null'`"),
            ),
            _ => problems.push(mismatch("type", "a type or a list of types", item)),
        }
    }
}

fn format(node: &Node, problems: &mut Problems) {
    let NodeValue::Text(name) = &node.value else {
        return problems.push(mismatch("format", "text", node));
    };
    let known = FORMATS.split(' ');
    if known.clone().all(|known| known != name) {
        let problem = Diagnostic::at(node.span, format!("unknown JSON Schema format `{name}`"))
            .note("a format that is not known would pass without being checked");
        problems.push(did_you_mean(problem, name, known, "formats"));
    }
}

fn dialect(node: &Node, problems: &mut Problems) {
    let known = Draft::ALL.into_iter().map(|(uri, _)| uri);
    match node.text() {
        Some(uri) if Draft::from_uri(uri).is_some() => {}
        Some(uri) => {
            let problem = Diagnostic::at(node.span, format!("unknown JSON Schema draft `{uri}`"));
            problems.push(did_you_mean(problem, uri, known, "drafts"));
        }
        None => problems.push(mismatch("$schema", "text", node)),
    }
}
