//! The tables of keys and options, made from the schemas that editors read.

use std::collections::BTreeMap;
use std::fs;

use mcptest::suite::SUITE_SCHEMA;
use mcptest::suite::model::GateKind;
use serde_json::Value;

use super::{comment, pages};
use crate::support::workshop::workspace;

/// What the comment above a table begins with.
const KINDS: [&str; 3] = ["options", "keys", "matchers"];

/// A part of a schema, behind its reference.
fn behind<'s>(part: &'s Value, root: &'s Value) -> &'s Value {
    let pointer = part["$ref"].as_str().and_then(|to| to.strip_prefix('#'));
    pointer.map_or(part, |pointer| root.pointer(pointer).unwrap())
}

/// The ways in which a value may be written, without a variable in the place of one.
fn ways(part: &Value) -> Vec<&Value> {
    match part["anyOf"].as_array() {
        Some(ways) => {
            let others = ways.iter().filter(|way| way["pattern"] != "\\$\\{");
            others.collect()
        }
        None => vec![part],
    }
}

/// What a value may be, in words.
fn takes(part: &Value, root: &Value) -> String {
    if part["$ref"] == "#/$defs/matcher" {
        return "a matcher".to_owned();
    }
    let part = behind(part, root);
    let mut words = Vec::new();
    for way in ways(part) {
        let word = match way {
            way if way["anyOf"].is_array() => takes(way, root),
            way if way["enum"].is_array() => {
                let mut words = Vec::new();
                for word in way["enum"].as_array().into_iter().flatten() {
                    let word = word
                        .as_str()
                        .map_or_else(|| word.to_string(), str::to_owned);
                    let word = format!("`{word}`");
                    if !words.contains(&word) {
                        words.push(word);
                    }
                }
                words.join(", ")
            }
            way if way["const"].is_string() => format!("`{}`", way["const"].as_str().unwrap()),
            way => kind(way).to_owned() + &range(way),
        };
        if !words.contains(&word) && !word.is_empty() {
            words.push(word);
        }
    }
    words.join(" or ")
}

fn kind(part: &Value) -> &'static str {
    let types = match &part["type"] {
        Value::Array(types) => types.first().and_then(Value::as_str),
        one => one.as_str(),
    };
    match types {
        Some("string") => "text",
        Some("boolean") => "`true`, `false`",
        Some("integer") => "a whole number",
        Some("number") => "a number",
        Some("array") => "a list",
        Some("object") => "a mapping",
        _ => "",
    }
}

fn range(part: &Value) -> String {
    match (&part["minimum"], &part["maximum"]) {
        (Value::Number(least), Value::Number(most)) => format!(" from {least} to {most}"),
        (Value::Number(least), _) => format!(", {least} or more"),
        (_, most) => match (&part["exclusiveMinimum"], most) {
            (Value::Number(least), Value::Number(most)) => {
                format!(" above {least}, at most {most}")
            }
            (Value::Number(least), _) => format!(" above {least}"),
            _ => String::new(),
        },
    }
}

/// Text in a table, with its stars as they are.
fn escaped(text: &str) -> String {
    let mut code = true;
    let parts = text.split('`').map(|part| {
        code = !code;
        if code {
            part.to_owned()
        } else {
            part.replace('*', "\\*")
        }
    });
    parts.collect::<Vec<_>>().join("`")
}

/// A row for every property of an object of the schema, and those below it.
fn rows(prefix: &str, part: &Value, root: &Value, leave_out: &[&str], out: &mut Vec<String>) {
    for (name, property) in part["properties"].as_object().into_iter().flatten() {
        if leave_out.contains(&name.as_str()) {
            continue;
        }
        let path = format!("{prefix}{name}");
        let described = behind(property, root);
        let text = property["description"].as_str();
        let text = text.or_else(|| described["description"].as_str());
        let text = text.unwrap_or_default();
        let required = part["required"]
            .as_array()
            .is_some_and(|required| required.contains(&name.as_str().into()));
        let default = match &property["default"] {
            Value::Null if required => "must be there".to_owned(),
            Value::Null => String::new(),
            Value::String(word) => format!("`{word}`"),
            other => format!("`{other}`"),
        };
        let takes = takes(property, root);
        out.push(format!(
            "| `{path}` | {takes} | {default} | {} |",
            escaped(text)
        ));
        let objects = ways(property).into_iter();
        let choice = objects.filter(|way| way["properties"].is_object()).count() > 1;
        for way in ways(property) {
            // The inside of what stands elsewhere is described there.
            if property.get("$ref").is_some() {
                continue;
            }
            let mut way = way.clone();
            if choice && let Some(way) = way.as_object_mut() {
                // Needed only where this way is taken.
                way.remove("required");
            }
            rows(&format!("{path}."), &way, root, leave_out, out);
            for items in ways(&way["items"]) {
                rows(&format!("{path}[]."), items, root, leave_out, out);
            }
            if way["additionalProperties"].is_object() {
                let named = &way["additionalProperties"];
                rows(&format!("{path}.<name>."), named, root, leave_out, out);
            }
        }
    }
}

fn table(part: &Value, root: &Value, leave_out: &[&str]) -> String {
    let mut out = Vec::new();
    rows("", part, root, leave_out, &mut out);
    // In an order that does not depend on how JSON is read.
    out.sort_by_key(|row| row.split('`').nth(1).map(str::to_owned));
    let head = "| key | takes | default | what it says |\n|---|---|---|---|\n";
    head.to_owned() + &out.join("\n") + "\n"
}

/// The matchers, each with the words of its one key.
fn matchers(root: &Value) -> String {
    let mut out = "| matcher | takes | what it says |\n|---|---|---|\n".to_owned();
    for way in ways(&root["$defs"]["matcher"]) {
        for (name, property) in way["properties"].as_object().into_iter().flatten() {
            let text = property["description"].as_str().unwrap_or_default();
            if !text.starts_with("Needs a model") {
                out += &format!(
                    "| `{name}` | {} | {} |\n",
                    takes(property, root),
                    escaped(text)
                );
            }
        }
    }
    out
}

/// Every table that the guide must have, by the comment above it.
fn tables() -> BTreeMap<String, String> {
    let suite: Value = serde_json::from_str(SUITE_SCHEMA).unwrap();
    let cassette: Value = serde_json::from_str(mcptest::trace::CASSETTE_SCHEMA).unwrap();
    let gates: Vec<&str> = GateKind::ALL.iter().map(|kind| kind.name()).collect();
    let mut tables = BTreeMap::new();
    for gate in &gates {
        let part = &suite["$defs"][gate];
        tables.insert(format!("options: {gate}"), table(part, &suite, &["expect"]));
    }
    let mut others = gates.clone();
    for (name, property) in suite["$defs"]["agent"]["properties"].as_object().unwrap() {
        let text = property["description"].as_str().unwrap_or_default();
        if text.starts_with("A gate of the wider grammar") {
            others.push(name);
        }
    }
    let agent = table(&suite["$defs"]["agent"], &suite, &others);
    tables.insert("keys: agent".to_owned(), agent);
    let mut others = vec!["agents"];
    for (name, property) in suite["properties"].as_object().unwrap() {
        let text = property["description"].as_str().unwrap_or_default();
        if text.starts_with("Another kind of test") {
            others.push(name);
        }
    }
    tables.insert("keys: suite".to_owned(), table(&suite, &suite, &others));
    tables.insert(
        "keys: cassette".to_owned(),
        table(&cassette, &cassette, &[]),
    );
    tables.insert(
        "keys: assertion".to_owned(),
        table(&suite["$defs"]["assertion"], &suite, &[]),
    );
    tables.insert("matchers: all".to_owned(), matchers(&suite));
    tables
}

/// A page with the right tables, and the names of its tables.
fn with_right_tables(text: &str, tables: &BTreeMap<String, String>) -> (String, Vec<String>) {
    let (mut right, mut names) = (String::new(), Vec::new());
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        right += line;
        right += "\n";
        let marked = comment(line).filter(|(kind, _)| KINDS.contains(kind));
        let Some((kind, about)) = marked else {
            continue;
        };
        let name = format!("{kind}: {about}");
        if let Some(table) = tables.get(&name) {
            while lines.next_if(|next| next.starts_with('|')).is_some() {}
            right += table;
        }
        names.push(name);
    }
    (right, names)
}

#[test]
fn every_table_of_keys_is_what_the_schemas_say() {
    let tables = tables();
    let mut shown = Vec::new();
    for page in pages() {
        let (right, names) = with_right_tables(&page.text, &tables);
        shown.extend(names);
        if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
            fs::write(workspace().join(&page.path), &right).unwrap();
            continue;
        }
        assert!(
            right == page.text,
            "a table of {} is not what the schemas say; `bash .ci/generate` writes it",
            page.path
        );
    }
    shown.sort();
    let known: Vec<String> = tables.into_keys().collect();
    let lines = |names: &[String], others: &[String]| {
        let alone = names.iter().filter(|name| !others.contains(name));
        let lines: Vec<String> = alone.map(|name| format!("<!-- {name} -->")).collect();
        lines.join(", ")
    };
    assert!(
        shown == known,
        "each table stands once in `docs/` or the README, below a line that names it. A gate has its table in its section \
         of docs/gates.md. Lines that are missing: {}. Lines of which no table is known: {}. All lines: {}",
        lines(&known, &shown),
        lines(&shown, &known),
        shown.join(", ")
    );
}
