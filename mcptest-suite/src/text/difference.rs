//! A difference between what is asked and what is recorded, in words.

use mcptest_trace::eval::ArgDiff;
use mcptest_trace::text::escape_line;
use serde_json::Value;

use super::{short_json, unseen_in};

/// One difference in words.
#[must_use]
pub fn difference(diff: &ArgDiff) -> String {
    let shown = |value: &Option<Value>| value.as_ref().map_or("nothing".to_owned(), short_json);
    let (expected, recorded) = (shown(&diff.expected), shown(&diff.recorded));
    let values = diff.expected.as_ref().zip(diff.recorded.as_ref());
    let unseen = values.and_then(|(one, other)| unseen_in(["expected", "recorded"], [one, other]));
    let unseen = unseen.map_or_else(String::new, |unseen| format!("; {unseen}"));
    match diff.path.as_str() {
        "" => format!("expected {expected}, recorded {recorded}{unseen}"),
        path => format!(
            "`{}`: expected {expected}, recorded {recorded}{unseen}",
            escape_line(path)
        ),
    }
}
