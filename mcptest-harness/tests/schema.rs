//! The JSON Schema that editors read, held against the loader: what the loader accepts is valid,
//! and both know the same keys everywhere.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use jsonschema::Validator;
use mcptest::parse_suite;
use mcptest::suite::matcher::{MatcherForm, matchers};
use mcptest::suite::{SUITE_SCHEMA, Source};
use serde_json::{Value, json};

fn schema() -> Value {
    serde_json::from_str(SUITE_SCHEMA).unwrap()
}

fn validator() -> Validator {
    jsonschema::options().offline().build(&schema()).unwrap()
}

/// The suites of a folder of test files that are text and one document.
fn suites(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let read = files.filter_map(|path| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        Some((name, fs::read_to_string(path).ok()?))
    });
    read.collect()
}

/// The schema with each matcher and each gate as it declares itself.
fn declared_schema() -> Value {
    let mut schema = schema();
    let (mut alone, mut with_key) = (Vec::new(), Vec::new());
    for matcher in matchers() {
        if matcher.form == MatcherForm::Alone {
            alone.push(matcher.key);
        }
        with_key.push(json!({
            "type": "object",
            "additionalProperties": false,
            "properties": { matcher.key: matcher.schema() },
            "required": [matcher.key]
        }));
    }
    with_key.insert(0, json!({ "enum": alone }));
    schema["$defs"]["matcher"]["anyOf"] = with_key.into();
    for gate in mcptest::gates() {
        let name = gate.kind.name();
        schema["$defs"][name] = gate.schema;
        schema["$defs"]["agent"]["properties"][name] = json!({ "$ref": format!("#/$defs/{name}") });
    }
    schema
}

#[test]
fn the_schema_says_what_matchers_and_gates_declare() {
    let right = declared_schema();
    if schema() == right {
        return;
    }
    // `INSTA_UPDATE=always` writes it, as it writes snapshots.
    let update = std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = if update {
        folder.join("../mcptest-suite/schemas/suite.schema.json")
    } else {
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("suite.schema.json")
    };
    fs::write(&file, serde_json::to_string_pretty(&right).unwrap() + "\n").unwrap();
    assert!(
        update,
        "mcptest-suite/schemas/suite.schema.json is not what gates and matchers declare; `bash .ci/generate` writes it. \
         The right one: {}",
        file.display()
    );
}

#[test]
fn every_suite_the_loader_accepts_is_valid() {
    let validator = validator();
    let mut suites = suites("../mcptest-suite/tests/accepted");
    suites.extend(suites_of_the_repository());
    for (name, text) in suites {
        let Ok(value) = serde_saphyr::from_str::<Value>(&text) else {
            continue;
        };
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|error| format!("{} at {}", error, error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    }
}

/// The project's own suites, where this crate lies in the project.
fn suites_of_the_repository() -> Vec<(String, String)> {
    let there = |folder: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).is_dir();
    let folders = ["../suites", "../suites/shop", "../examples"];
    folders
        .into_iter()
        .filter(|folder| there(folder))
        .flat_map(suites)
        .filter(|(name, _)| Path::new(name).extension().is_some_and(|end| end == "yml"))
        .collect()
}

#[test]
fn every_unknown_key_the_loader_refuses_is_invalid() {
    let validator = validator();
    let mut seen = 0;
    for (name, text) in suites("tests/rejected") {
        let Err(error) = parse_suite(Source::new(&name, &name, &text)) else {
            continue;
        };
        let unknown = error
            .problems()
            .iter()
            .any(|problem| problem.message.starts_with("unknown key"));
        if let (true, Ok(value)) = (unknown, serde_saphyr::from_str::<Value>(&text)) {
            assert!(!validator.is_valid(&value), "{name}");
            seen += 1;
        }
    }
    assert!(
        seen > 15,
        "only {seen} suites with unknown keys were looked at"
    );
}

#[test]
fn editors_take_the_example_of_every_matcher_and_know_which_may_stand_alone() {
    let mut schema = declared_schema();
    schema["$ref"] = "#/$defs/matcher".into();
    for key in ["type", "properties", "required", "additionalProperties"] {
        schema.as_object_mut().unwrap().remove(key);
    }
    let validator = jsonschema::options().offline().build(&schema).unwrap();
    for matcher in matchers() {
        let key = matcher.key;
        let example = format!("{{ {key}: {} }}", matcher.example);
        let example: Value = serde_saphyr::from_str(&example).unwrap();
        assert!(validator.is_valid(&example), "{example}");
        let alone = matcher.form == MatcherForm::Alone;
        assert_eq!(validator.is_valid(&key.into()), alone, "{key}");
        assert!(!validator.is_valid(&json!({ key: 1, "also": 1 })), "{key}");
    }
}

/// The keys the loader says it knows where `zzzzzzzz` stands in a suite.
fn keys_of_the_loader(suite: &str) -> BTreeSet<String> {
    let error = parse_suite(Source::new("a.yml", "a.yml", suite)).unwrap_err();
    let mut problems = error.problems().iter();
    let unknown = problems.find(|problem| problem.message.contains("zzzzzzzz"));
    let unknown = unknown.unwrap_or_else(|| panic!("{suite}\n{error}"));
    unknown.known_keys.iter().cloned().collect()
}

/// The keys of the schema at a pointer that are run here.
fn keys_of_the_schema(schema: &Value, pointer: &str) -> BTreeSet<String> {
    let properties = schema
        .pointer(&format!("{pointer}/properties"))
        .and_then(Value::as_object);
    let properties = properties.unwrap_or_else(|| panic!("no properties at {pointer}"));
    let run_here = |property: &Value| property["$comment"] != "not run here";
    properties
        .iter()
        .filter(|(_, property)| run_here(property))
        .map(|(key, _)| key.clone())
        .collect()
}

#[test]
fn loader_and_schema_know_the_same_keys() {
    let schema = schema();
    let agent = "agents:\n- name: a\n  model: m\n  prompt: p\n  runs: 2\n";
    let below = |block: &str| format!("{agent}{block}");
    let top = |block: &str| format!("{block}{agent}  golden_path: {{ calls: [a] }}\n");
    let mut table = vec![
        (String::new(), top("zzzzzzzz: 1\n")),
        (
            "/$defs/agent".to_owned(),
            below("  golden_path: { calls: [a] }\n  zzzzzzzz: 1\n"),
        ),
        (
            "/$defs/assertion".to_owned(),
            below("  expect: [{ target: a, matcher: is-json, zzzzzzzz: 1 }]\n"),
        ),
        (
            "/properties/faults/items".to_owned(),
            top("faults: [{ name: f, target: { tool: t }, kind: hang, zzzzzzzz: 1 }]\n"),
        ),
        (
            "/properties/faults/items/properties/target".to_owned(),
            top("faults: [{ name: f, target: { tool: t, zzzzzzzz: 1 }, kind: hang }]\n"),
        ),
        (
            "/$defs/agent/properties/answers/items".to_owned(),
            below("  narrative: {}\n  answers: [{ tool: t, result: 1, zzzzzzzz: 1 }]\n"),
        ),
        (
            "/$defs/agent/properties/answers/items/properties/error".to_owned(),
            below(
                "  narrative: {}\n  answers: [{ tool: t, error: { type: E, text: t, zzzzzzzz: 1 } }]\n",
            ),
        ),
        (
            "/properties/servers/additionalProperties".to_owned(),
            top("servers: { s: { command: [x], zzzzzzzz: 1 } }\n"),
        ),
        (
            "/properties/servers/additionalProperties/properties/auth".to_owned(),
            top("servers: { s: { url: u, auth: { bearer_token_env: X, zzzzzzzz: 1 } } }\n"),
        ),
        (
            "/properties/providers/additionalProperties".to_owned(),
            top("providers: { p: { base_url: u, zzzzzzzz: 1 } }\n"),
        ),
        (
            "/properties/budget".to_owned(),
            top("budget: { per_suite_usd_cents: 1, zzzzzzzz: 1 }\n"),
        ),
        (
            "/$defs/stability/properties/floors".to_owned(),
            below("  stability: { floors: { zzzzzzzz: 1 } }\n"),
        ),
        (
            "/$defs/session/properties/weights".to_owned(),
            below("  session: { weights: { zzzzzzzz: 1 } }\n"),
        ),
        (
            "/$defs/energy/properties/drift".to_owned(),
            below("  energy: { drift: { threshold: 1, zzzzzzzz: 1 } }\n"),
        ),
        (
            "/$defs/trajectory/properties/calls/items".to_owned(),
            below("  trajectory: { mode: strict, calls: [{ name: a, zzzzzzzz: 1 }] }\n"),
        ),
        (
            "/$defs/trajectory_axes/properties/dependencies/items".to_owned(),
            below(
                "  trajectory_axes: { dependencies: [{ producer: a, consumer: b, zzzzzzzz: 1 }] }\n",
            ),
        ),
        (
            "/$defs/trajectory_axes/properties/order/items".to_owned(),
            below("  trajectory_axes: { order: [{ first: a, second: b, zzzzzzzz: 1 }] }\n"),
        ),
    ];
    for gate in mcptest::gates() {
        let name = gate.kind.name();
        let misspelt = gate
            .example
            .replace(&format!("{name}: {{"), &format!("{name}: {{ zzzzzzzz: 1,"));
        let faults = "faults: [{ name: hung, target: { tool: search }, kind: hang }]";
        table.push((
            format!("/$defs/{name}"),
            format!("{faults}\nagents: [{{ name: a, model: m, prompt: p, {misspelt} }}]"),
        ));
    }
    for (pointer, suite) in table {
        let mut loader = keys_of_the_loader(&suite);
        if pointer == "/$defs/assertion" {
            // Known to the loader, which refuses them with a message of their own.
            loader.retain(|key| key != "weight" && key != "threshold");
        }
        let described = keys_of_the_schema(&schema, &pointer);
        let alone: Vec<&String> = loader.difference(&described).collect();
        let gone: Vec<&String> = described.difference(&loader).collect();
        assert!(
            loader == described,
            "suite.schema.json describes other keys at {pointer} than the loader reads. Only the loader has {alone:?}, only \
             the schema {gone:?}. `bash .ci/generate` writes the keys of gates and matchers; the others stand there by hand"
        );
    }
}

#[test]
fn every_key_is_described() {
    fn walk(value: &Value, path: &str, missing: &mut Vec<String>) {
        if let Some(properties) = value.get("properties").and_then(Value::as_object) {
            for (key, property) in properties {
                let described =
                    property.get("description").is_some() || property.get("$ref").is_some();
                // The examples of targets are no keys of their own.
                if !described && !path.ends_with("/expect/items") {
                    missing.push(format!("{path}/{key}"));
                }
            }
        }
        match value {
            Value::Object(map) => map
                .iter()
                .for_each(|(key, value)| walk(value, &format!("{path}/{key}"), missing)),
            Value::Array(items) => items.iter().for_each(|item| walk(item, path, missing)),
            _ => {}
        }
    }
    let mut missing = Vec::new();
    walk(&schema(), "", &mut missing);
    assert!(missing.is_empty(), "{missing:#?}");
}
