//! The argument shape `subset`: is every expected part there, by its value?

use serde_json::Value;

use super::arg_diff::{ArgDiff, diff, key_path};
use super::boundaries::spells_scalar;
use super::matching::maximum_matching;
use crate::trace::json_eq;

/// Whether every part of `expected` is in `recorded`, by its value.
///
/// Source: spec 3, `trajectory`.
/// - objects: every expected key, recursively; further recorded keys are fine;
/// - arrays: every expected element on a recorded element of its own, by this same rule;
/// - a text: the same text, whole;
/// - a number: the same number (`1` is `1.0`), or a text that spells it (`"7"`, `"7.0"`);
/// - a boolean, `null`: the same.
///
/// [`contains`](super::contains) looks for parts of texts instead.
///
/// ```
/// use mcptest_trace::eval::subset;
/// use serde_json::json;
///
/// let recorded = json!({ "order": "7", "tags": ["new", "gift"], "note": "by mail" });
/// assert!(subset(&json!({ "order": 7, "tags": ["gift"] }), &recorded));
/// assert!(!subset(&json!({ "note": "mail" }), &recorded));
/// assert!(!subset(&json!({ "order": 7 }), &json!({ "order": "17" })));
/// ```
#[must_use]
pub fn subset(expected: &Value, recorded: &Value) -> bool {
    match (expected, recorded) {
        (Value::Object(wanted), Value::Object(found)) => wanted
            .iter()
            .all(|(key, value)| found.get(key).is_some_and(|other| subset(value, other))),
        (Value::Array(wanted), Value::Array(found)) => {
            wanted.len() <= found.len() && unmatched_elements(wanted, found).is_empty()
        }
        (Value::Number(_), Value::String(found)) => spells_scalar(found, expected),
        (Value::Array(_) | Value::Object(_), _) => false,
        _ => json_eq(expected, recorded),
    }
}

/// Every expected place that is not in `recorded`; empty exactly when [`subset`] holds.
///
/// An array element without a partner is named by its place in the expected array.
pub(crate) fn subset_diffs(expected: &Value, recorded: &Value) -> Vec<ArgDiff> {
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
        _ if subset(expected, recorded) => {}
        _ => diffs.push(diff(path.to_owned(), Some(expected), Some(recorded))),
    }
}

/// The wanted elements without a partner of their own, where as many as possible have one.
/// Time: `O(wanted · found · √wanted)` comparisons at the most.
fn unmatched_elements(wanted: &[Value], found: &[Value]) -> Vec<usize> {
    let fitting = |value: &Value| {
        let places = found.iter().enumerate();
        let fits = places.filter(|(_, other)| subset(value, other));
        fits.map(|(place, _)| place).collect()
    };
    let edges: Vec<Vec<usize>> = wanted.iter().map(fitting).collect();
    let partners = maximum_matching(&edges, found.len())
        .into_iter()
        .enumerate();
    let without = partners.filter(|(_, partner)| partner.is_none());
    without.map(|(index, _)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::contains;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_scalar_is_compared_whole() {
        for (expected, recorded) in [
            (json!("A-1"), json!("A-10")),
            (json!(7), json!("17")),
            (json!(7), json!("7 pieces")),
            (json!(5), json!("50.00")),
            (json!(true), json!("untrue")),
            (json!(true), json!("true")),
            (json!(null), json!("nullable")),
            (json!("7"), json!(7)),
            (json!("ann@x.org"), json!("joann@x.org")),
            (json!(7), json!({ "id": 3, "qty": 7 })),
            (json!(7), json!([7])),
            (json!("a"), json!(["a"])),
            (json!(1), json!(true)),
        ] {
            assert!(!subset(&expected, &recorded), "{expected} in {recorded}");
        }
        assert!(subset(&json!(7), &json!(7.0)) && subset(&json!(7.0), &json!("7")));
        assert!(subset(&json!(null), &json!(null)) && subset(&json!(""), &json!("")));
    }

    #[test]
    fn the_elements_of_a_list_get_partners_of_their_own() {
        let recorded = json!([{ "id": 1, "n": 2 }, { "id": 1 }]);
        assert!(subset(
            &json!([{ "id": 1 }, { "id": 1, "n": 2 }]),
            &recorded
        ));
        assert!(!subset(&json!([{ "n": 2 }, { "n": 2 }]), &recorded));
        assert!(!subset(&json!([1, 1]), &json!([1])));
        assert!(subset(&json!([]), &json!([1])) && !subset(&json!([]), &json!({})));
    }

    fn scalar() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (0..3i32).prop_map(Value::from),
            "[ab1]{0,2}".prop_map(Value::from),
        ]
    }

    fn value() -> impl Strategy<Value = Value> {
        scalar().prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[xy]", inner, 0..3)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    /// Arrays by trying every partner for every element.
    fn by_trying(expected: &Value, recorded: &Value) -> bool {
        fn arrays(wanted: &[Value], found: &[&Value]) -> bool {
            let Some((first, rest)) = wanted.split_first() else {
                return true;
            };
            (0..found.len()).any(|place| {
                let mut others = found.to_vec();
                by_trying(first, others.remove(place)) && arrays(rest, &others)
            })
        }
        match (expected, recorded) {
            (Value::Array(wanted), Value::Array(found)) => {
                arrays(wanted, &found.iter().collect::<Vec<_>>())
            }
            (Value::Object(wanted), Value::Object(found)) => wanted
                .iter()
                .all(|(key, value)| found.get(key).is_some_and(|other| by_trying(value, other))),
            _ => subset(expected, recorded),
        }
    }

    #[test]
    fn a_difference_names_its_place() {
        let diffs = subset_diffs(&json!({ "order": 7 }), &json!({ "order": "17" }));
        assert_eq!(
            diffs[0].to_string(),
            r#"`order`: expected 7, recorded "17""#
        );
    }

    proptest! {
        #[test]
        fn every_value_is_a_subset_of_itself(value in value()) {
            prop_assert!(subset(&value, &value));
        }

        #[test]
        fn there_are_differences_exactly_when_it_does_not_hold(left in value(), right in value()) {
            prop_assert_eq!(subset(&left, &right), subset_diffs(&left, &right).is_empty());
        }

        #[test]
        fn it_holds_as_trying_every_partner_says(left in value(), right in value()) {
            prop_assert_eq!(subset(&left, &right), by_trying(&left, &right));
        }

        #[test]
        fn a_scalar_that_is_a_subset_is_contained(left in scalar(), right in value()) {
            prop_assert!(!subset(&left, &right) || contains(&left, &right));
        }
    }
}
