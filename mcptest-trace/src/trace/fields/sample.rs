//! A run that has every field, made of the declarations.

use serde_json::{Map, Value, json};

use super::{Field, Fields, RUN, Takes};

/// A run with every declared field, also of the parts that the schema does not describe, and `text` in each text.
pub(crate) fn whole_run(text: &str) -> Value {
    object(&RUN, text, 0)
}

/// A part of a session may stand in itself; below this it ends.
const DEPTH: usize = 5;

fn ends(field: &Field, depth: usize) -> bool {
    depth >= DEPTH && field.takes.inner().is_some_and(|inner| inner.is_hidden)
}

fn object(fields: &Fields, text: &str, depth: usize) -> Value {
    let entries = fields.all.iter().filter(|field| !ends(field, depth));
    let mut map: Map<String, Value> = entries
        .map(|field| (field.key.to_owned(), value(field, text, depth)))
        .collect();
    for word in fields.words {
        map.insert((*word).to_owned(), text.into());
    }
    map.into()
}

fn value(field: &Field, text: &str, depth: usize) -> Value {
    match (field.key, field.takes) {
        ("schema_version", _) => "v1.1".into(),
        // There is one call and one step.
        ("call_index" | "step", _) => 0.into(),
        ("total", _) => 2.into(),
        (_, Takes::Text | Takes::TextLike(_)) => text.into(),
        (_, Takes::Count | Takes::Whole | Takes::Number | Takes::Share) => 1.into(),
        (_, Takes::Flag) => true.into(),
        (_, Takes::Any | Takes::Schema) => json!({ "text": text, "list": [text], (text): 1 }),
        (_, Takes::Range) => json!([0, 1]),
        (_, Takes::Object(inner)) => object(inner, text, depth + 1),
        (_, Takes::List(inner)) => json!([object(inner, text, depth + 1)]),
        (_, Takes::Lines(_, inner)) => json!([text, object(inner, text, depth + 1)]),
    }
}

/// Gives each declared field of a run that has all of them, with the JSON pointer of its place.
pub(crate) fn each_field(found: &mut impl FnMut(&str, &'static Field)) {
    each(&RUN, "", 0, found);
}

fn each(fields: &Fields, above: &str, depth: usize, found: &mut impl FnMut(&str, &'static Field)) {
    for field in fields.all {
        if ends(field, depth) {
            continue;
        }
        let place = format!("{above}/{}", field.key);
        found(&place, field);
        match field.takes {
            Takes::Object(inner) => each(inner, &place, depth + 1, found),
            Takes::List(inner) => each(inner, &format!("{place}/0"), depth + 1, found),
            Takes::Lines(_, inner) => each(inner, &format!("{place}/1"), depth + 1, found),
            _ => {}
        }
    }
}
