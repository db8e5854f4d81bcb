//! The `contains` matcher: is everything that was expected in what was recorded?

use serde_json::Value;

use super::arg_diff::{ArgDiff, diff, key_path};
use super::boundaries::{contains_scalar, spells_scalar};
use crate::trace::json_eq;

/// Whether `recorded` contains `expected`.
///
/// Source: spec 2, "Matchers" and "Comparable or not".
/// - strings: substring of a string, at any depth of what was recorded;
/// - objects: every expected key, recursively; further recorded keys are fine;
/// - arrays: every expected element **equals** a recorded element of its own (a multiset);
/// - a scalar against an array: contained in at least one element; against an object: in the value of
///   at least one key;
/// - a number, a boolean or `null` against a text: it stands there as a whole word, a number in any
///   spelling (`7` in `"order 7"`, not in `"17"`, `"7.5"` or `"A-7"`), or as an element of an array it is
///   the whole;
/// - a text against one of those: it spells it;
/// - everything else: equal by value, `1` equals `1.0`.
///
/// ```
/// use mcptest_trace::eval::contains;
/// use serde_json::json;
///
/// let recorded = json!({ "city": "West Sacramento", "days": [1, 2, 3], "units": "C" });
/// assert!(contains(&json!({ "city": "Sacramento", "days": [3, 1] }), &recorded));
/// assert!(contains(&json!({ "days": 2 }), &recorded));
/// assert!(!contains(&json!({ "days": [1, 1] }), &recorded));
/// assert!(contains(&json!(404), &json!("order 404")));
/// assert!(!contains(&json!(404), &json!("order 4041")));
/// ```
#[must_use]
pub fn contains(expected: &Value, recorded: &Value) -> bool {
    match (expected, recorded) {
        (Value::String(wanted), Value::String(found)) => found.contains(wanted.as_str()),
        (Value::Object(wanted), Value::Object(found)) => wanted
            .iter()
            .all(|(key, value)| found.get(key).is_some_and(|other| contains(value, other))),
        (Value::Array(wanted), Value::Array(found)) => unmatched_elements(wanted, found).is_empty(),
        (Value::Object(_) | Value::Array(_), _) => false,
        (scalar, Value::Object(found)) => found.values().any(|value| contains(scalar, value)),
        (scalar, Value::Array(found)) => found.iter().any(|element| contains(scalar, element)),
        (Value::String(wanted), scalar) => spells_scalar(wanted, scalar),
        (scalar, Value::String(found)) => contains_scalar(found, scalar),
        _ => json_eq(expected, recorded),
    }
}

/// Every expected place that `recorded` does not contain; empty exactly when [`contains`] holds.
///
/// An array element without a partner is named by its place in the expected array.
///
/// ```
/// use mcptest_trace::eval::contains_diffs;
/// use serde_json::json;
///
/// let diffs = contains_diffs(&json!({ "tags": ["a", "b"] }), &json!({ "tags": ["b", "c"] }));
/// assert_eq!(diffs[0].to_string(), r#"`tags[0]`: expected "a", recorded nothing"#);
/// ```
#[must_use]
pub fn contains_diffs(expected: &Value, recorded: &Value) -> Vec<ArgDiff> {
    let mut diffs = Vec::new();
    collect("", expected, recorded, &mut diffs);
    diffs
}

fn collect(path: &str, expected: &Value, recorded: &Value, diffs: &mut Vec<ArgDiff>) {
    match (expected, recorded) {
        (Value::Object(wanted), Value::Object(found)) => {
            for (key, value) in wanted {
                let place = key_path(path, key);
                match found.get(key) {
                    Some(other) => collect(&place, value, other, diffs),
                    None => diffs.push(diff(place, Some(value), None)),
                }
            }
        }
        (Value::Array(wanted), Value::Array(found)) => {
            for index in unmatched_elements(wanted, found) {
                diffs.push(diff(format!("{path}[{index}]"), wanted.get(index), None));
            }
        }
        _ if contains(expected, recorded) => {}
        _ => diffs.push(diff(path.to_owned(), Some(expected), Some(recorded))),
    }
}

/// The wanted elements that found no equal element of their own. Equality is an equivalence, so
/// taking the first free partner is already a maximum matching; what is left over on both sides may
/// be equal as JSON text, which takes nothing from an equal partner.
fn unmatched_elements(wanted: &[Value], found: &[Value]) -> Vec<usize> {
    let mut free = vec![true; found.len()];
    let mut claim = |value: &Value, alike: fn(&Value, &Value) -> bool| {
        let mut partners = found.iter().zip(&mut free);
        let partner = partners.find(|(other, free)| **free && alike(value, other));
        partner.map(|(_, free)| *free = false).is_some()
    };
    let mut left: Vec<usize> = (0..wanted.len()).collect();
    left.retain(|index| !claim(&wanted[*index], json_eq));
    left.retain(|index| !claim(&wanted[*index], alike_as_text));
    left
}

/// Whether one of two scalars is a text that is the other's JSON text.
fn alike_as_text(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::String(_), Value::String(_)) => false,
        (Value::String(text), other) | (other, Value::String(text)) => spells_scalar(text, other),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn strings_are_substrings_in_objects_at_any_depth() {
        let recorded = json!({ "a": { "b": "hello world" } });
        assert!(contains(&json!({ "a": { "b": "lo wo" } }), &recorded));
        assert!(!contains(&json!({ "a": { "b": "low" } }), &recorded));
    }

    #[test]
    fn array_elements_are_compared_whole() {
        assert!(!contains(&json!(["he"]), &json!(["hello"])));
        assert!(!contains(
            &json!([{ "a": 1 }]),
            &json!([{ "a": 1, "b": 2 }])
        ));
        assert!(contains(&json!([{ "a": 1 }]), &json!([0, { "a": 1.0 }])));
    }

    #[test]
    fn a_scalar_is_looked_for_in_the_elements_of_an_array() {
        assert!(contains(&json!("he"), &json!([1, ["hello"]])));
        assert!(contains(&json!(null), &json!([null])));
        assert!(!contains(&json!({}), &json!([{}])));
    }

    #[test]
    fn kinds_do_not_mix() {
        assert!(!contains(&json!([1]), &json!(1)));
        assert!(!contains(&json!([1]), &json!("[1]")));
        assert!(!contains(&json!({}), &json!("text")));
        assert!(!contains(&json!({}), &json!([])));
    }

    #[test]
    fn a_scalar_stands_in_a_text_as_a_whole_word() {
        let nested = json!({ "content": [{ "text": "order 404 is lost", "ok": false }] });
        assert!(contains(&json!(404), &json!("order 404")));
        for text in ["order 4041", "1404", "404.5", "A-404", "404px"] {
            assert!(!contains(&json!(404), &json!(text)), "{text}");
        }
        assert!(contains(&json!(5), &json!("$5.00")));
        assert!(contains(&json!(true), &json!("it is true")));
        assert!(!contains(&json!(true), &json!("untrue")));
        assert!(!contains(&json!(null), &json!("nullable")));
        assert!(contains(&json!(null), &json!(["null"])));
        assert!(contains(&json!(404), &nested));
        assert!(contains(&json!(false), &nested));
        assert!(contains(&json!({ "id": 7 }), &json!({ "id": "7" })));
    }

    #[test]
    fn a_text_finds_numbers_below_objects_and_lists() {
        assert!(contains(
            &json!("404"),
            &json!({ "error": { "code": 404 } })
        ));
        assert!(contains(&json!("404"), &json!([200, 404])));
        assert!(!contains(&json!("405"), &json!({ "code": 404 })));
        assert!(!contains(&json!("40"), &json!({ "code": 404 })));
        assert!(!contains(&json!("tru"), &json!({ "ok": true })));
    }

    #[test]
    fn elements_are_equal_as_json_text_too() {
        assert!(contains(&json!([404]), &json!(["404"])));
        assert!(contains(&json!(["404"]), &json!([404.0])));
        assert!(!contains(&json!([404]), &json!(["order 404"])));
        assert!(contains(&json!([1, "1"]), &json!(["1", 1])));
        assert!(!contains(&json!([1, "1"]), &json!(["1"])));
        assert!(!contains(&json!([[]]), &json!(["[]"])));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (0..3i32).prop_map(Value::from),
            "[ab]{0,2}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[xy]", inner, 0..3)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_value_contains_itself(value in value()) {
            prop_assert!(contains(&value, &value));
        }

        #[test]
        fn there_are_differences_exactly_when_it_does_not_hold(left in value(), right in value()) {
            prop_assert_eq!(contains(&left, &right), contains_diffs(&left, &right).is_empty());
        }
    }
}
