//! When two values are the same: by value, with what was taken out of the recording standing for anything, and with
//! what the masks match blanked on both sides.

use mcptest_trace::trace::json_eq;
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use super::frames::without_frames;
use crate::lossless::parse_exact;
use crate::protocol::blob;
use crate::record::payload::to_mcp_payload;

/// What stands in a recording in place of a secret.
pub(super) const MARKER: &str = "[redacted";

/// The most bytes that the pattern of a long text may take.
const MOST_BYTES: usize = 256 << 20;

/// How much is compared, for a test that counts it.
#[cfg(test)]
pub(super) mod work {
    use std::cell::Cell;

    thread_local! {
        static DONE: Cell<usize> = const { Cell::new(0) };
    }

    /// Counts one more thing that is looked at.
    pub(in crate::play) fn one() {
        DONE.set(DONE.get() + 1);
    }

    /// How many things were looked at till now.
    pub(in crate::play) fn done() -> usize {
        DONE.get()
    }
}

/// Whether a value now is the recorded one.
pub(crate) fn values_match(recorded: &Value, played: &Value, masks: &[Regex]) -> bool {
    #[cfg(test)]
    work::one();
    match (recorded, played) {
        (Value::String(recorded), Value::String(played)) => texts_match(recorded, played, masks),
        // A whole value that was taken out may have been of any type.
        (Value::String(recorded), _) if is_only_marker(recorded) => true,
        (Value::Array(recorded), Value::Array(played)) => {
            let mut pairs = recorded.iter().zip(played);
            recorded.len() == played.len() && pairs.all(|(old, new)| values_match(old, new, masks))
        }
        (Value::Object(recorded), Value::Object(played)) => members_match(recorded, played, masks),
        _ => json_eq(recorded, played) || numbers_match_masked(recorded, played, masks),
    }
}

/// Whether two numbers are the same once the masks have blanked them.
fn numbers_match_masked(recorded: &Value, played: &Value, masks: &[Regex]) -> bool {
    recorded.is_number()
        && played.is_number()
        && !masks.is_empty()
        && blank_masked(&recorded.to_string(), masks) == blank_masked(&played.to_string(), masks)
}

fn members_match(
    recorded: &Map<String, Value>,
    played: &Map<String, Value>,
    masks: &[Regex],
) -> bool {
    recorded.len() == played.len()
        && recorded.iter().all(|(key, old)| match played.get(key) {
            Some(new) => values_match(old, new, masks),
            None => key.contains(MARKER),
        })
}

/// Whether a text now is the recorded one.
pub(super) fn texts_match(recorded: &str, played: &str, masks: &[Regex]) -> bool {
    #[cfg(test)]
    work::one();
    if recorded == played {
        return true;
    }
    let recorded = blank_masked(&without_frames(recorded), masks);
    let played = blank_masked(&without_frames(played), masks);
    recorded == played || matches_redacted(&recorded, &played)
}

/// A text without what the masks match.
pub(super) fn blank_masked(text: &str, masks: &[Regex]) -> String {
    let mut text = text.to_owned();
    for mask in masks {
        // A mark that no text has by itself, so that a blank is no match of another text.
        text = mask.replace_all(&text, "\u{0}").into_owned();
    }
    text
}

fn is_only_marker(text: &str) -> bool {
    text.starts_with(MARKER) && text.find(']') == Some(text.len() - 1)
}

/// What stands before everything that was taken out of a recorded text, and what stands after it; nothing of a text that
/// is whole.
pub(super) fn outside_gaps(recorded: &str) -> Option<(&str, &str)> {
    let first = recorded.find(MARKER)?;
    let mut rest = recorded;
    while let Some(at) = rest.find(MARKER) {
        let Some(length) = rest[at..].find(']') else {
            break;
        };
        rest = &rest[at + length + 1..];
    }
    // What was begun and not ended is no gap.
    (rest.len() < recorded.len()).then_some((&recorded[..first], rest))
}

/// Whether a text is a recorded one with a secret where one was taken out of that. A secret may be any part of a line: a
/// passphrase has several words.
fn matches_redacted(recorded: &str, played: &str) -> bool {
    // A pattern costs much more than a look at a text.
    let around = outside_gaps(recorded);
    if around.is_none_or(|(head, tail)| !played.starts_with(head) || !played.ends_with(tail)) {
        return false;
    }
    #[cfg(test)]
    work::one();
    let mut pattern = String::from("\\A");
    let mut rest = recorded;
    let mut found = false;
    while let Some(at) = rest.find(MARKER) {
        let Some(length) = rest[at..].find(']') else {
            break;
        };
        pattern += &regex::escape(&rest[..at]);
        pattern += r"[^\n]*";
        rest = &rest[at + length + 1..];
        found = true;
    }
    pattern += &regex::escape(rest);
    pattern += "\\z";
    let pattern = RegexBuilder::new(&pattern).size_limit(MOST_BYTES).build();
    found && pattern.is_ok_and(|pattern| pattern.is_match(played))
}

/// What a result says, as it is compared.
#[derive(Debug, Clone, Default)]
pub(super) struct Forms {
    /// The JSON of its text, its text, or its blocks. Gemini's clients wrap a result, as that format takes objects alone:
    /// `{"output": …}`, `{"result": …}`, and genai's for Rust `{"name": …, "content": …}`; then what is inside, too.
    pub(super) plain: Vec<Value>,
    /// Its structured content, where it has that.
    structured: Option<Value>,
    /// Whether it is an error, where the result is as MCP has results: one without a flag is none.
    pub(super) is_error: Option<bool>,
    /// The result says itself whether it is an error.
    pub(super) has_flag: bool,
}

impl Forms {
    pub(super) fn new(result: &Value, wrapped: bool) -> Self {
        let (mut result, _) = to_mcp_payload(result.clone());
        blob::condense(&mut result);
        let blocks = result.get("content").and_then(Value::as_array);
        let mut plain = vec![match blocks {
            Some(blocks) => match join_texts(blocks) {
                Some(text) => parse_exact(&text).unwrap_or(Value::String(text)),
                None => Value::Array(blocks.clone()),
            },
            None => match &result {
                Value::String(text) => parse_exact(text).unwrap_or_else(|| result.clone()),
                _ => result.clone(),
            },
        }];
        if wrapped {
            let inner: Vec<Value> = plain.iter().filter_map(unwrap_form).collect();
            plain.extend(inner);
        }
        let flag = result.get("isError").and_then(Value::as_bool);
        Self {
            is_error: blocks.map(|_| flag.unwrap_or(false)),
            has_flag: flag.is_some(),
            structured: result.get("structuredContent").cloned(),
            plain,
        }
    }

    /// Applies a function to each form: it takes out what the suite ignores.
    pub(super) fn map(self, without: impl Fn(&Value) -> Value) -> Self {
        Self {
            plain: self.plain.iter().map(&without).collect(),
            structured: self.structured.as_ref().map(&without),
            is_error: self.is_error,
            has_flag: self.has_flag,
        }
    }

    /// Whether a result now says the same. A client may tell the model the text alone, or the structured content alone;
    /// where it tells both, both are the recorded ones.
    pub(super) fn is_same(&self, played: &Self, masks: &[Regex]) -> bool {
        let any = |old: &[Value], new: &[Value]| {
            old.iter()
                .any(|old| new.iter().any(|new| values_match(old, new, masks)))
        };
        let is_plain = any(&self.plain, &played.plain);
        match (&self.structured, &played.structured) {
            (Some(old), Some(new)) => is_plain && values_match(old, new, masks),
            (Some(old), None) => is_plain || any(std::slice::from_ref(old), &played.plain),
            (None, _) => is_plain,
        }
    }
}

fn unwrap_form(form: &Value) -> Option<Value> {
    let form = form.as_object()?;
    let inner = match form.len() {
        1 => form.get("output").or_else(|| form.get("result")),
        2 => form.get("content").filter(|_| form.contains_key("name")),
        _ => None,
    }?;
    Some(match inner {
        Value::String(text) => parse_exact(text).unwrap_or_else(|| inner.clone()),
        other => other.clone(),
    })
}

fn join_texts(blocks: &[Value]) -> Option<String> {
    let text = |block: &Value| {
        let is_text = block["type"] == "text"
            || block["type"] == "input_text"
            || block["type"] == "output_text";
        block["text"]
            .as_str()
            .filter(|_| is_text)
            .map(str::to_owned)
    };
    let texts: Option<Vec<String>> = blocks.iter().map(text).collect();
    texts.map(|texts| texts.join("\n"))
}

#[cfg(test)]
mod tests {
    use regex::Regex;
    use serde_json::json;

    use super::{Forms, texts_match, values_match, work};

    #[test]
    fn texts_in_which_no_secret_stood_need_no_pattern() {
        let before = work::done();
        assert!(!texts_match("Cancel order 7.", "Cancel order 8.", &[]));
        assert_eq!(work::done() - before, 1);
        assert!(texts_match(
            "The key is [redacted KEY].",
            "The key is x.",
            &[]
        ));
        assert_eq!(work::done() - before, 3);
    }

    #[test]
    fn a_mask_blanks_numbers_too() {
        let digits = [Regex::new(r"\d{10}").unwrap()];
        let at = |time: u64| json!({ "at": time, "order": 7 });
        assert!(values_match(
            &at(1_700_000_000),
            &at(1_800_000_000),
            &digits
        ));
        assert!(!values_match(&at(1_700_000_000), &at(1_800_000_000), &[]));
        assert!(!values_match(&json!(7), &json!(8), &digits));
    }

    #[test]
    fn a_text_and_structured_content_that_are_both_told_are_both_compared() {
        let result = |text: &str, order: u32| json!({ "content": [{ "type": "text", "text": text }], "structuredContent": { "order": order } });
        let is_same = |old: &serde_json::Value, new: &serde_json::Value| {
            Forms::new(old, false).is_same(&Forms::new(new, false), &[])
        };
        let recorded = result("sent", 7);
        assert!(is_same(&recorded, &recorded));
        assert!(is_same(&recorded, &json!("sent")));
        assert!(is_same(&recorded, &json!("{\"order\":7}")));
        for other in [result("all fine", 7), result("sent", 8), json!("all fine")] {
            assert!(!is_same(&recorded, &other), "{other}");
        }
        // Text that was recorded alone is compared, whatever stands beside it now.
        assert!(!is_same(&json!("{\"order\":7}"), &result("all fine", 7)));
    }

    #[test]
    fn a_secret_that_was_taken_out_stands_for_a_part_of_a_line() {
        let recorded = "Use the key [redacted OPENAI_API_KEY].";
        assert!(texts_match(recorded, "Use the key sk-abc.d_1.", &[]));
        assert!(texts_match(recorded, "Use the key .", &[]));
        assert!(texts_match(recorded, "Use the key order 7: 18 EUR.", &[]));
        for other in [
            "Use the key sk-abc.\nBe quick.",
            "Use a key sk-abc.",
            "Use the key sk-abc",
        ] {
            assert!(!texts_match(recorded, other, &[]), "{other}");
        }
        let two = "[redacted A] and [redacted B]";
        assert!(texts_match(two, "x and y", &[]));
        assert!(!texts_match(two, "x or y", &[]));
    }

    #[test]
    fn what_a_pattern_took_out_is_a_part_of_a_line() {
        let recorded = "The customer is [redacted].\nBe kind.";
        assert!(texts_match(
            recorded,
            "The customer is Ann Lee.\nBe kind.",
            &[]
        ));
        assert!(!texts_match(
            recorded,
            "The customer is Ann.\nBe quick.\nBe kind.",
            &[]
        ));
    }
}
