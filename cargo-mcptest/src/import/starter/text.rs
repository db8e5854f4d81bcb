//! Texts in a suite, and the calls that runs share.

use std::collections::BTreeMap;

use serde_json::Value;

/// The longest list of calls that is compared.
const MOST_CALLS: usize = 2_000;

/// The longest list that is in both, in the order of both.
pub(super) fn longest_common(left: &[String], right: &[String]) -> Vec<String> {
    let (left, right) = (
        &left[..left.len().min(MOST_CALLS)],
        &right[..right.len().min(MOST_CALLS)],
    );
    let width = right.len() + 1;
    let mut lengths = vec![0_u16; (left.len() + 1) * width];
    for (row, one) in left.iter().enumerate().rev() {
        for (column, other) in right.iter().enumerate().rev() {
            lengths[row * width + column] = if one == other {
                lengths[(row + 1) * width + column + 1] + 1
            } else {
                lengths[(row + 1) * width + column].max(lengths[row * width + column + 1])
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    let mut shared = Vec::new();
    while row < left.len() && column < right.len() {
        if left[row] == right[column] {
            shared.push(left[row].clone());
            (row, column) = (row + 1, column + 1);
        } else if lengths[(row + 1) * width + column] >= lengths[row * width + column + 1] {
            row += 1;
        } else {
            column += 1;
        }
    }
    shared
}

/// Texts as a list on one line.
pub(super) fn yaml_list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quote(text)).collect();
    format!("[{}]", texts.join(", "))
}

/// A text in double quotes, with nothing in it that means something to YAML or to suites.
pub(super) fn quote(text: &str) -> String {
    quote_key(&text.replace("${", "$${"))
}

/// A key in double quotes. Suites know no variables in keys, so `$` stays as it is.
fn quote_key(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            other if mcptest_trace::text::is_hostile(other) => {
                let code = u32::from(other);
                if code > 0xffff {
                    out.push_str(&format!("\\U{code:08X}"));
                } else {
                    out.push_str(&format!("\\u{code:04X}"));
                }
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// A name in a comment, where nothing needs quotes but all stays on one line.
pub(super) fn comment_text(name: &str) -> String {
    mcptest_trace::text::escape_line(name).into_owned()
}

/// A value as YAML on one line, in which nothing is a variable. Keys go in order, whatever order
/// `serde_json` was built to keep.
pub(super) fn yaml_flow(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text),
        Value::Array(items) => format!(
            "[{}]",
            items.iter().map(yaml_flow).collect::<Vec<_>>().join(", ")
        ),
        Value::Object(entries) => {
            let entries: BTreeMap<_, _> = entries.iter().collect();
            let entries = entries.into_iter();
            let entries =
                entries.map(|(key, value)| format!("{}: {}", quote_key(key), yaml_flow(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        value => value.to_string(),
    }
}
