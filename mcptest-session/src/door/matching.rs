//! When two names are of one tool, and when two values are one but for their type.

use mcptest_trace::trace::json_eq;
use serde_json::Value;

/// Whether two names are of one tool: one may have a prefix that ends with a sign, which a framework writes before it.
pub(crate) fn is_same_tool(one: &str, other: &str) -> bool {
    let (long, short) = if one.len() < other.len() {
        (other, one)
    } else {
        (one, other)
    };
    let Some(prefix) = long.strip_suffix(short) else {
        return false;
    };
    let ends = ["-", "__", ".", "/", ":"];
    prefix.is_empty() || (!short.is_empty() && ends.iter().any(|end| prefix.ends_with(end)))
}

/// Whether a value is another with another type: `"7"` and 7.
pub(crate) fn is_coerced(one: &Value, other: &Value) -> bool {
    let alike = |one: &Value, other: &Value| json_eq(one, other) || is_coerced(one, other);
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| alike(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let is_there = |(key, one)| other.get(key).is_some_and(|other| alike(one, other));
            one.len() == other.len() && one.iter().all(is_there)
        }
        _ => match (scalar_text(one), scalar_text(other)) {
            (Some(one), Some(other)) => {
                let both = parse_number(&one).zip(parse_number(&other));
                let is_equal = both.is_some_and(|(one, other)| json_eq(&one, &other));
                one.eq_ignore_ascii_case(&other) || is_equal
            }
            _ => false,
        },
    }
}

fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

fn parse_number(text: &str) -> Option<Value> {
    text.parse::<serde_json::Number>().ok().map(Value::from)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_prefix_that_ends_with_a_sign_makes_no_other_tool() {
        for name in [
            "shop-refund",
            "shop__refund",
            "shop.refund",
            "a/b/refund",
            "x:refund",
            "refund",
        ] {
            assert!(
                is_same_tool(name, "refund") && is_same_tool("refund", name),
                "{name}"
            );
        }
        for name in ["shop_refund", "prefund", "refund-shop", "efund", ""] {
            assert!(!is_same_tool(name, "refund"), "{name}");
        }
    }

    #[test]
    fn a_value_of_another_type_is_the_same_where_it_is_written_alike() {
        for (one, other) in [
            (json!("7"), json!(7)),
            (json!(7.0), json!("7")),
            (json!("true"), json!(true)),
            (json!("True"), json!(true)),
            (json!(["7", { "a": 1 }]), json!([7, { "a": "1" }])),
        ] {
            assert!(is_coerced(&one, &other), "{one} {other}");
        }
        for (one, other) in [
            (json!("8"), json!(7)),
            (json!("seven"), json!(7)),
            (json!(null), json!("null")),
            (json!(["7"]), json!("7")),
            (json!({ "a": 1 }), json!({ "a": "1", "b": 2 })),
        ] {
            assert!(!is_coerced(&one, &other), "{one} {other}");
        }
    }
}
