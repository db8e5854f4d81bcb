//! The changelog names what users can write since the last release: gates, options, targets, matchers, other keys of
//! suites, and fields of recordings. `released.txt` has what the last release had; `RELEASING.md` says when it is written.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// The properties that a schema describes, each with what it stands below.
fn properties(path: &str, schema: &Value, found: &mut BTreeSet<String>) {
    for (key, value) in schema.as_object().into_iter().flatten() {
        match (key.as_str(), value) {
            ("properties", Value::Object(properties_here)) => {
                for (name, below) in properties_here {
                    let path = format!("{path} {name}");
                    properties(&path, below, found);
                    found.insert(path);
                }
            }
            ("$defs", Value::Object(parts)) => {
                for (name, part) in parts {
                    properties(name, part, found);
                }
            }
            ("examples" | "default" | "enum" | "const", _) => {}
            (_, below @ Value::Object(_)) => properties(path, below, found),
            (_, Value::Array(all)) => all.iter().for_each(|one| properties(path, one, found)),
            _ => {}
        }
    }
}

/// All that can be written, a line each; the last word of a line is what the changelog must name.
fn names() -> BTreeSet<String> {
    let schema = |text| serde_json::from_str::<Value>(text).unwrap();
    let mut found = BTreeSet::new();
    properties("suite", &schema(mcptest::suite::SUITE_SCHEMA), &mut found);
    let cassettes = schema(mcptest::trace::CASSETTE_SCHEMA);
    properties("recording", &cassettes, &mut found);
    for gate in mcptest::gates() {
        let targets = gate.targets.iter();
        found.extend(targets.map(|target| format!("target {}", target.name)));
    }
    found
}

/// Whether a text has this word: what stands around it is no part of a name.
fn has_word(text: &str, word: &str) -> bool {
    let of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        !before.ends_with(of_name) && !after.starts_with(of_name)
    })
}

/// What is new and not named, of the names that a release had.
fn not_named<'n>(names: &'n BTreeSet<String>, released: &str, changelog: &str) -> Vec<&'n str> {
    let released: BTreeSet<&str> = released.lines().collect();
    let (_, unreleased) = changelog.split_once("\n## [Unreleased]").unwrap();
    let unreleased = unreleased.split("\n## [").next().unwrap();
    let new = names
        .iter()
        .filter(|name| !released.contains(name.as_str()));
    let word = |name: &str| name.rsplit(' ').next().unwrap_or_default().to_owned();
    let silent = new.filter(|name| !has_word(unreleased, &word(name)));
    silent.map(String::as_str).collect()
}

#[test]
fn the_changelog_names_each_key_gate_matcher_target_and_field_that_is_new() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let kept = project.join("tests/surface/released.txt");
    let names = names();
    if std::env::var_os("MCPTEST_WRITE_RELEASED").is_some() {
        let lines: String = names.iter().map(|name| format!("{name}\n")).collect();
        return fs::write(kept, lines).unwrap();
    }
    let released = fs::read_to_string(kept).unwrap();
    let changelog = fs::read_to_string(project.join("CHANGELOG.md")).unwrap();
    let silent = not_named(&names, &released, &changelog);
    assert!(
        silent.is_empty(),
        "CHANGELOG.md does not name, below `## [Unreleased]`: {}. Write a line for users: what they can do with it now",
        silent.join(", ")
    );
}

#[test]
fn a_new_name_is_asked_for_until_the_unreleased_part_names_it_as_a_word() {
    let names = [
        "calls max",
        "calls max_ms",
        "matcher ends-with",
        "target calls.ms",
    ];
    let names = names.map(str::to_owned).into();
    let silent = |unreleased: &str| {
        let changelog =
            format!("# Changelog\n\n## [Unreleased]\n{unreleased}\n## [0.1.0]\n`max_ms`\n");
        not_named(&names, "calls max\n", &changelog).join(", ")
    };
    assert_eq!(
        silent("`max_msg`, `not-ends-with`"),
        "calls max_ms, matcher ends-with, target calls.ms"
    );
    assert_eq!(silent("- `max_ms` limits `calls.ms`."), "matcher ends-with");
    assert_eq!(silent("- `max_ms`, `calls.ms`, `ends-with`: …"), "");
}
