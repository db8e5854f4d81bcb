//! What follows from the declarations, held against all of them.

use serde_json::{Value, json};

use super::sample::{each_field, whole_run};
use super::{Field, Presence, Reading, Takes};
use crate::trace::{CASSETTE_SCHEMA, Origin, Run, parse_run};

fn parse(run: &Value) -> Result<Run, String> {
    let origin = Origin::file("run.json");
    parse_run(run.to_string().as_bytes(), &origin).map_err(|error| error.problems[0].to_string())
}

/// What the reader took of a run.
fn read(run: &Value) -> Option<String> {
    let Run {
        origin: _,
        agent_name,
        model,
        user_prompt,
        system_prompt,
        tools,
        recorded_on,
        chosen,
        trace,
        signals,
        outcome,
        by_session,
        own_tools,
        ..
    } = parse(run).ok()?;
    let texts = (agent_name, model, user_prompt, system_prompt, recorded_on);
    let rest = (
        tools, chosen, trace, signals, outcome, by_session, own_tools,
    );
    Some(format!("{texts:?} {rest:?}"))
}

/// A value that the field does not take; none for one that takes any.
fn wrong(takes: Takes) -> Option<Value> {
    Some(match takes {
        Takes::Text | Takes::TextLike(_) | Takes::Schema => json!(7),
        Takes::Count => json!(-1),
        Takes::Share => json!(1.5),
        Takes::Whole | Takes::Number | Takes::Flag | Takes::Range => json!("x"),
        Takes::Object(_) => json!([]),
        Takes::List(_) | Takes::Lines(..) => json!({}),
        Takes::Any => return None,
    })
}

fn with(run: &Value, place: &str, value: Option<Value>) -> Value {
    let mut run = run.clone();
    let (object, key) = place.rsplit_once('/').unwrap();
    let object = run.pointer_mut(object).and_then(Value::as_object_mut);
    let object = object.unwrap_or_else(|| panic!("{place} is in no object"));
    match value {
        Some(value) => object.insert(key.to_owned(), value),
        None => object.remove(key),
    };
    run
}

/// The fields that the schema describes.
fn described(found: &mut impl FnMut(&str, &'static Field)) {
    let mut hidden: Vec<String> = Vec::new();
    each_field(&mut |place, field| {
        if !field.is_described || hidden.iter().any(|above| place.starts_with(above)) {
            hidden.push(format!("{place}/"));
            return;
        }
        if field.takes.inner().is_some_and(|inner| inner.is_hidden) {
            hidden.push(format!("{place}/"));
        }
        found(place, field);
    });
}

#[test]
fn the_reader_and_the_schema_take_what_is_declared_and_nothing_else() {
    let schema: Value = serde_json::from_str(CASSETTE_SCHEMA).unwrap();
    let validator = jsonschema::options().offline().build(&schema).unwrap();
    let whole = whole_run("a text");
    parse(&whole).unwrap_or_else(|problem| panic!("{problem}"));
    assert!(
        validator.is_valid(&whole),
        "{:?}",
        validator.iter_errors(&whole).next()
    );
    let before = read(&whole);
    described(&mut |place, field| {
        let key = field.key;
        let strict = field.reading == Reading::Strict;
        if let Some(wrong) = wrong(field.takes) {
            let spoilt = with(&whole, place, Some(wrong));
            assert!(
                !validator.is_valid(&spoilt),
                "the schema takes {} at {place}. If it does not know `{key}` yet, `bash .ci/generate` writes it",
                spoilt.pointer(place).unwrap()
            );
            assert_eq!(
                parse(&spoilt).is_err(),
                strict,
                "{place}: the reader must refuse what the field does not take. Read `{key}` where its object is read; if \
                 no reader needs it, declare it `.ignored()`"
            );
        } else if strict {
            let without = with(&whole, place, None);
            assert_ne!(
                read(&without),
                before,
                "{place}: nobody reads `{key}`; read it, or declare it `.ignored()`"
            );
        }
        if field.reading == Reading::Ignored {
            let without = with(&whole, place, None);
            assert_eq!(
                read(&without),
                before,
                "{place}: `{key}` is read, but declared `.ignored()`"
            );
        }
        let required = field.presence == Presence::Required;
        // A result that a fault answered must say that it is an error.
        let whole = if place == "/trace/tool_results/0/is_error" {
            with(&whole, "/trace/tool_results/0/synthesized", None)
        } else {
            whole.clone()
        };
        let without = with(&whole, place, None);
        assert_eq!(
            validator.is_valid(&without),
            !required,
            "{place} is left out"
        );
        assert_eq!(parse(&without).is_err(), required, "{place} is left out");
        let null = with(&whole, place, Some(Value::Null));
        let nullable = field.presence == Presence::Nullable;
        assert_eq!(validator.is_valid(&null), nullable, "{place} is null");
        assert_eq!(parse(&null).is_err(), required, "{place} is null");
    });
}

/// No text is written with a secret in it but those that are listed here.
#[cfg(feature = "store")]
#[test]
fn a_secret_stays_only_in_fields_that_say_kept() {
    use super::Secrets;
    use crate::record::redact::Redactor;
    use std::collections::BTreeSet;

    let secret = "hush-hush-0123456789";
    let mut run = whole_run(secret);
    // What nobody declared.
    for place in [
        "",
        "/trace",
        "/trace/tool_calls/0",
        "/trace/tool_results/0",
        "/trace/scores/0",
        "/trace/conversation",
        "/trace/conversation/turns/0",
        "/trace/conversation/per_turn/0",
        "/trace/conversation/steps/0",
        "/outcome",
        "/tools/1",
        "/session",
        "/session/conversations/0",
        "/captured",
        "/imported",
    ] {
        let object = run
            .pointer_mut(place)
            .and_then(Value::as_object_mut)
            .unwrap();
        object.insert("later".to_owned(), json!({ "deep": [secret], (secret): 1 }));
    }
    let redactor = Redactor::new([("KEY".to_owned(), secret.to_owned())], Vec::new()).unwrap();
    redactor.redact_run(&mut run);
    let mut kept = BTreeSet::new();
    each_field(&mut |place, field| {
        let value = run.pointer(place).unwrap();
        let holds = match value {
            // What is in it is looked at on its own.
            value if field.takes.inner().is_some() => value
                .as_array()
                .is_some_and(|items| items.contains(&json!(secret))),
            value => value.to_string().contains(secret),
        };
        let lines = matches!(field.takes, Takes::Lines(..));
        assert_eq!(
            holds,
            field.secrets == Secrets::Kept && value.to_string().contains(secret) || lines,
            "{place}"
        );
        if holds && !place.starts_with("/session") {
            kept.insert(place.replace("/0", "").replace("/1", ""));
        }
        if let Some(later) = value.get("later") {
            assert!(!later.to_string().contains(secret), "{place}: {later}");
        }
    });
    // Names, digests, words. A field that tells what somebody said does not belong here.
    let right = [
        "/agent_name",
        "/model",
        "/recorded_at",
        "/recorded_on",
        "/request_fingerprint",
        "/tools",
        "/tools/line",
        "/tools/name",
        "/tools/server",
        "/tools_fingerprint",
        "/trace/conversation/steps/model",
        "/trace/conversation/stop_reason",
        "/trace/conversation/turns/role",
        "/trace/scores/name",
        "/trace/tool_calls/agent_id",
        "/trace/tool_calls/inputs_digest",
        "/trace/tool_calls/name",
        "/trace/tool_calls/own/attempts/synthesized/fault",
        "/trace/tool_calls/own/attempts/synthesized/kind",
        "/trace/tool_calls/own/by",
        "/trace/tool_calls/server",
        "/trace/tool_results/server",
        "/trace/tool_results/synthesized/fault",
        "/trace/tool_results/synthesized/kind",
    ];
    let right: BTreeSet<String> = right.iter().map(|place| (*place).to_owned()).collect();
    let new: Vec<&String> = kept.difference(&right).collect();
    assert!(
        new.is_empty(),
        "a secret stays in {new:?}. A text that somebody said loses its secrets: leave `.kept()` out. If the field has only \
         names, digests or words of the format, list it in this test"
    );
    let gone: Vec<&String> = right.difference(&kept).collect();
    assert!(
        gone.is_empty(),
        "no secret stays in {gone:?}: take it out of the list of this test"
    );
}

mod schema {
    //! The schema, made of the declarations.

    use std::fs;
    use std::path::Path;

    use serde::{Serialize, Serializer};
    use serde_json::{Value, json};

    use super::super::{Field, Fields, Presence, RUN, Takes};
    use crate::trace::CASSETTE_SCHEMA;

    /// JSON whose keys stay in order, whatever features `serde_json` has.
    enum Part {
        Value(Value),
        Object(Vec<(&'static str, Part)>),
        List(Vec<Part>),
    }

    impl Serialize for Part {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self {
                Self::Value(value) => value.serialize(serializer),
                Self::Object(entries) => {
                    serializer.collect_map(entries.iter().map(|(key, part)| (key, part)))
                }
                Self::List(parts) => serializer.collect_seq(parts),
            }
        }
    }

    impl<T: Into<Value>> From<T> for Part {
        fn from(value: T) -> Self {
            Self::Value(value.into())
        }
    }

    fn kind(kind: &'static str, presence: Presence) -> (&'static str, Part) {
        let kind = match presence {
            Presence::Nullable => json!([kind, "null"]),
            _ => kind.into(),
        };
        ("type", kind.into())
    }

    fn object(fields: &Fields, presence: Presence) -> Vec<(&'static str, Part)> {
        let mut parts = vec![kind("object", presence)];
        if fields.is_hidden {
            return parts;
        }
        let required = fields
            .all
            .iter()
            .filter(|field| field.presence == Presence::Required);
        let required: Vec<Value> = required.map(|field| field.key.into()).collect();
        if !required.is_empty() {
            parts.push(("required", required.into()));
        }
        if fields.is_closed {
            parts.push(("additionalProperties", false.into()));
        }
        let described = fields.all.iter().filter(|field| field.is_described);
        let properties = described.map(|field| (field.key, property(field)));
        parts.push(("properties", Part::Object(properties.collect())));
        parts
    }

    fn item(fields: &Fields) -> Part {
        let says = (!fields.says.is_empty()).then(|| ("description", fields.says.into()));
        Part::Object(
            says.into_iter()
                .chain(object(fields, Presence::Required))
                .collect(),
        )
    }

    fn property(field: &Field) -> Part {
        let typed = |name| kind(name, field.presence);
        let mut parts: Vec<(&'static str, Part)> = vec![("description", field.says.into())];
        match field.takes {
            Takes::Text => parts.push(typed("string")),
            Takes::TextLike(pattern) => {
                parts.extend([typed("string"), ("pattern", pattern.into())]);
            }
            Takes::Count => parts.extend([typed("integer"), ("minimum", 0.into())]),
            Takes::Whole => parts.push(typed("integer")),
            Takes::Number => parts.push(typed("number")),
            Takes::Share => parts.extend([
                typed("number"),
                ("minimum", 0.into()),
                ("maximum", 1.into()),
            ]),
            Takes::Flag => parts.push(typed("boolean")),
            Takes::Any => {}
            Takes::Schema => parts.push(("type", json!(["object", "boolean", "null"]).into())),
            Takes::Range => parts.extend([
                typed("array"),
                ("minItems", 2.into()),
                ("maxItems", 2.into()),
                ("items", json!({ "type": "integer", "minimum": 0 }).into()),
            ]),
            Takes::Object(inner) => parts.extend(object(inner, field.presence)),
            Takes::List(inner) => parts.extend([typed("array"), ("items", item(inner))]),
            Takes::Lines(line, inner) => {
                let line = Part::Object(vec![
                    ("description", line.into()),
                    kind("string", Presence::Required),
                ]);
                let any = Part::List(vec![line, item(inner)]);
                parts.extend([
                    typed("array"),
                    ("items", Part::Object(vec![("anyOf", any)])),
                ]);
            }
        }
        Part::Object(parts)
    }

    /// `INSTA_UPDATE=always` writes it.
    #[test]
    fn the_schema_of_cassettes_is_what_the_fields_declare() {
        let head: [(&str, Part); 3] = [
            ("$schema", "https://json-schema.org/draft/2020-12/schema".into()),
            ("title", "mcptest cassette".into()),
            (
                "description",
                "A cassette: one recorded run of an agent. Unknown keys are kept and ignored. A key that is nearly a known key of the stated version is an error.".into(),
            ),
        ];
        let whole = Part::Object(
            head.into_iter()
                .chain(object(&RUN, Presence::Required))
                .collect(),
        );
        let right = serde_json::to_string_pretty(&whole).unwrap() + "\n";
        if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/cassette.schema.json");
            return fs::write(file, right).unwrap();
        }
        assert!(
            right == CASSETTE_SCHEMA,
            "schemas/cassette.schema.json is not what `trace/fields/` declares; `bash .ci/generate` writes it"
        );
    }
}
