//! What requests to the model say beside the talk, and what of it differs between two sides: the offered tools, and the
//! parameters.

use std::collections::{BTreeMap, BTreeSet};

use mcptest_suite::escape_line;
use mcptest_trace::evidence::compare::AgentChange;
use serde_json::Value;

use crate::render::changed_lines;
use crate::trace::{OfferedTool, RequestSettings, canonical_json};
use mcptest_trace::text::shorten;

/// How many tools are named of those that were added, removed or described otherwise.
const NAMED: usize = 5;

/// The longest name of a tool that is shown whole.
const NAME: usize = 80;

/// The parameters of a request, in canonical JSON, by their names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Parameters {
    values: BTreeMap<String, String>,
    /// Whether there were no others.
    are_all: bool,
}

impl Parameters {
    pub(super) fn canonical(settings: &RequestSettings) -> Self {
        let values = settings.parameters.iter();
        let canonical = |text: &String| match serde_json::from_str::<Value>(text) {
            Ok(value) => canonical_json(&value),
            Err(_) => text.clone(),
        };
        Self {
            values: values
                .map(|(name, value)| (name.clone(), canonical(value)))
                .collect(),
            are_all: settings.has_all_parameters,
        }
    }

    /// Whether a parameter that is not among them may have been there all the same.
    fn may_have(&self, name: &str) -> bool {
        !self.are_all && !self.values.contains_key(name)
    }
}

/// Which parameters another value have now.
pub(super) fn other_parameters(
    sides: &[BTreeSet<&Parameters>; 2],
    redact: &impl Fn(&str) -> String,
) -> Option<AgentChange> {
    let [before, now] = first_difference(sides)?;
    let names: BTreeSet<&String> = before.values.keys().chain(now.values.keys()).collect();
    let mut lines = Vec::new();
    for name in names {
        let values = [before.values.get(name), now.values.get(name)];
        if values[0] == values[1] || before.may_have(name) || now.may_have(name) {
            continue;
        }
        let texts = values.map(|value| {
            let line = |value: &String| redact(&format!("{name}: {value}"));
            value.map(line)
        });
        lines.extend(differing_lines(&texts));
    }
    (!lines.is_empty()).then(|| AgentChange::new("the parameters of the model changed", lines))
}

/// All that a list says of its tools, by their names: a text for each key.
type Tools = BTreeMap<String, BTreeMap<String, String>>;

/// Which tools are offered now and were not before, which not any more, and which are described otherwise.
pub(super) fn other_tools(
    sides: [BTreeSet<&str>; 2],
    redact: &impl Fn(&str) -> String,
) -> Option<AgentChange> {
    if sides[0] == sides[1] {
        return None;
    }
    let read = sides.map(|lists| {
        let lists = lists.into_iter();
        lists.filter_map(parse_tools).collect::<BTreeSet<Tools>>()
    });
    let sides = read.each_ref().map(|lists| lists.iter().collect());
    let [before, now] = first_difference(&sides)?;
    let lacks = |side: &Tools, other: &Tools| -> Vec<String> {
        let names = other.keys().filter(|name| !side.contains_key(*name));
        names.cloned().collect()
    };
    let (added, removed) = (lacks(before, now), lacks(now, before));
    let (mut otherwise, mut lines) = (Vec::new(), Vec::new());
    for (name, said) in before {
        let Some(now) = now.get(name).filter(|now| *now != said) else {
            continue;
        };
        otherwise.push(name.clone());
        let keys: BTreeSet<&String> = said.keys().chain(now.keys()).collect();
        for key in keys {
            let text = |said: &String| {
                let lines = said.lines().map(|line| format!("{name} {key}: {line}\n"));
                redact(&lines.collect::<String>())
            };
            lines.extend(differing_lines(
                &[said.get(key), now.get(key)].map(|it| it.map(text)),
            ));
        }
    }
    let kinds = [
        ("added", added),
        ("removed", removed),
        ("described otherwise", otherwise),
    ];
    let kinds = kinds.iter().filter(|(_, names)| !names.is_empty());
    let kinds = kinds.map(|(kind, names)| format!("{kind} {}", list_names(names)));
    let what = format!(
        "the offered tools changed ({})",
        kinds.collect::<Vec<_>>().join("; ")
    );
    Some(AgentChange::new(what, lines))
}

/// What only one side has, or, where each has something of its own, the first of these.
fn first_difference<'a, T: Ord>([before, now]: &[BTreeSet<&'a T>; 2]) -> Option<[&'a T; 2]> {
    if before == now {
        return None;
    }
    let own = |side: &BTreeSet<&'a T>, other: &BTreeSet<&'a T>| {
        let mut own = side.difference(other).copied();
        own.next().or_else(|| side.first().copied())
    };
    Some([own(before, now)?, own(now, before)?])
}

/// The lines that differ of texts, one of which may not be there.
fn differing_lines([before, now]: &[Option<String>; 2]) -> Vec<String> {
    let [before, now] = [before, now].map(|text| text.as_deref().unwrap_or_default());
    changed_lines(before, now)
}

/// Reads a list of tools; nothing where it is none.
fn parse_tools(list: &str) -> Option<Tools> {
    let Value::Array(entries) = serde_json::from_str(list).ok()? else {
        return None;
    };
    let mut tools = Tools::new();
    for entry in entries {
        let (mut name, said) = match entry {
            Value::String(line) => {
                let tool = OfferedTool::from_line(&line);
                let name = qualified(tool.server.as_deref(), &tool.name);
                (name, [("line".to_owned(), line)].into())
            }
            Value::Object(map) => {
                let text = |key: &str| map.get(key).and_then(Value::as_str);
                let name = qualified(text("server"), text("name").unwrap_or_default());
                let rest = map
                    .iter()
                    .filter(|(key, value)| *key != "name" && !value.is_null());
                let said = rest.map(|(key, value)| {
                    let text = match value {
                        Value::String(text) => text.clone(),
                        other => canonical_json(other),
                    };
                    (key.clone(), text)
                });
                (name, said.collect::<BTreeMap<_, _>>())
            }
            _ => continue,
        };
        // Two tools of one name are two.
        while tools.contains_key(&name) {
            name.push('′');
        }
        tools.insert(name, said);
    }
    Some(tools)
}

fn qualified(server: Option<&str>, name: &str) -> String {
    match server {
        Some(server) if !server.is_empty() => format!("{server}::{name}"),
        _ => name.to_owned(),
    }
}

/// The first of some names, as code.
fn list_names(names: &[String]) -> String {
    let first = names.iter().take(NAMED);
    let mut listed: Vec<String> = first
        .map(|name| {
            let name = shorten(&escape_line(name), NAME).replace('`', "ʼ");
            format!("`{name}`")
        })
        .collect();
    if names.len() > NAMED {
        listed.push(format!("{} more", names.len() - NAMED));
    }
    listed.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn change(before: &[&Value], now: &[&Value]) -> Option<AgentChange> {
        let texts = [before, now].map(|side| side.iter().map(ToString::to_string).collect());
        let [before, now]: &[Vec<String>; 2] = &texts;
        let sides = [before, now].map(|side| side.iter().map(String::as_str).collect());
        other_tools(sides, &|text: &str| text.to_owned())
    }

    #[test]
    fn tools_are_added_removed_and_described_otherwise() {
        let schema =
            |kind: &str| json!({ "type": "object", "properties": { "order": { "type": kind } } });
        let before = json!([
            { "name": "find", "description": "Finds.\nQuickly.", "input_schema": schema("string") },
            "desk::close(order)",
            "close",
        ]);
        let now = json!([
            "close",
            { "name": "find", "description": "Finds.\nSlowly.", "input_schema": schema("number"), "read_only": true },
            { "name": "open`s", "server": "desk" },
        ]);
        let found = change(&[&before], &[&now]).unwrap();
        assert_eq!(
            found.what,
            "the offered tools changed (added `desk::openʼs`; removed `desk::close`; described otherwise `find`)"
        );
        assert_eq!(
            found.diff,
            [
                "-find description: Quickly.",
                "+find description: Slowly.",
                r#"-find input_schema: {"properties":{"order":{"type":"string"}},"type":"object"}"#,
                r#"+find input_schema: {"properties":{"order":{"type":"number"}},"type":"object"}"#,
                "+find read_only: true",
            ]
        );
    }

    #[test]
    fn the_order_of_tools_and_of_runs_is_no_change() {
        let (one, other) = (json!(["a", "b"]), json!(["b", "a"]));
        assert_eq!(change(&[&one], &[&other]), None);
        let more = json!(["a", "b", "c"]);
        assert_eq!(change(&[&one, &more], &[&more, &other]), None);
        let what = change(&[&one], &[&one, &more]).unwrap().what;
        assert_eq!(what, "the offered tools changed (added `c`)");
        let twice = json!(["a", "a", "b"]);
        assert!(change(&[&one], &[&twice]).is_some());
        let many: Vec<String> = (0..7).map(|number| format!("t{number}")).collect();
        let what = change(&[&json!(many)], &[&json!([])]).unwrap().what;
        assert!(
            what.ends_with("(removed `t0`, `t1`, `t2`, `t3`, `t4`, 2 more)"),
            "{what}"
        );
    }

    #[test]
    fn a_parameter_that_one_side_does_not_say_is_no_change_unless_it_says_all() {
        let parameters = |values: &[(&str, &str)], are_all| Parameters {
            values: values
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            are_all,
        };
        let change = |before: &Parameters, now: &Parameters| {
            let sides = [BTreeSet::from([before]), BTreeSet::from([now])];
            let found = other_parameters(&sides, &|text: &str| text.to_owned());
            found.map(|change| change.diff).unwrap_or_default()
        };
        let half = [("temperature", "0.5")];
        let both = [("max_tokens", "9"), ("temperature", "1")];
        let of_session = change(&parameters(&half, true), &parameters(&both, true));
        assert_eq!(
            of_session,
            ["+max_tokens: 9", "-temperature: 0.5", "+temperature: 1"]
        );
        let unknown = change(&parameters(&half, false), &parameters(&both, true));
        assert_eq!(unknown, ["-temperature: 0.5", "+temperature: 1"]);
        let gone = change(&parameters(&both, true), &parameters(&[], true));
        assert_eq!(gone, ["-max_tokens: 9", "-temperature: 1"]);
        assert!(change(&parameters(&both, false), &parameters(&[], false)).is_empty());
    }
}
