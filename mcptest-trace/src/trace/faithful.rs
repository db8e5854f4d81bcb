//! Whether a [`Value`](serde_json::Value) of a JSON text would hold all of it, told from the bytes.

use memchr::memchr2;

use super::number;

/// From here on a text is looked at more closely: JSON is read to 128 levels from its root.
const DEEP: usize = 100;

/// Numbers of so few signs, no exponent among them, are kept as they are.
const SHORT: usize = 15;

/// What is seen of an object or list that a value keeps whole.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Faithful {
    /// What the object says of MCP's `isError`.
    pub(super) is_error: Option<bool>,
}

/// Looks through texts one after the other, in lists that it keeps.
#[derive(Default)]
pub(super) struct Scanner<'t> {
    /// The keys of all objects that are open.
    keys: Vec<&'t [u8]>,
    /// Where those of each begin.
    open: Vec<usize>,
}

impl<'t> Scanner<'t> {
    /// Looks through a text that was found to be JSON; nothing where a value might not hold all of it, or
    /// could not be made: a key that stands twice, a number that would be rounded, half a character, too
    /// many levels, and some texts that only look so.
    pub(super) fn scan(&mut self, text: &'t str) -> Option<Faithful> {
        let (keys, open) = (&mut self.keys, &mut self.open);
        keys.clear();
        open.clear();
        let bytes = text.as_bytes();
        let mut is_error = None;
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    let (string, escaped) = string(bytes, at + 1)?;
                    at += 2 + string.len();
                    let rest = bytes[at..].trim_ascii_start();
                    let Some(value) = rest.strip_prefix(b":") else {
                        continue;
                    };
                    // The parser has a meaning of its own for some keys.
                    if escaped || string.starts_with(b"$serde_json::private::") {
                        return None;
                    }
                    keys.push(string);
                    if open.len() == 1 && string == b"isError" {
                        let value = value.trim_ascii_start();
                        is_error = match value.first() {
                            Some(b't') => Some(true),
                            Some(b'f') => Some(false),
                            _ => None,
                        };
                    }
                    continue;
                }
                b'{' | b'[' if open.len() == DEEP => return None,
                b'{' | b'[' => open.push(keys.len()),
                b'}' | b']' => {
                    let own = &mut keys[open.pop()?..];
                    own.sort_unstable();
                    if own.windows(2).any(|pair| pair[0] == pair[1]) {
                        return None;
                    }
                    let own = own.len();
                    keys.truncate(keys.len() - own);
                }
                b'-' | b'0'..=b'9' => {
                    let of_number =
                        |byte: &u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
                    let rest = &text[at..];
                    let length = rest.bytes().take_while(of_number).count();
                    let number = &rest[..length];
                    let short = length <= SHORT && !number.contains(['e', 'E']);
                    if !short && !number::is_kept(number) {
                        return None;
                    }
                    at += length;
                    continue;
                }
                b' ' | b'\n' => {
                    at += bytes[at..].len() - bytes[at..].trim_ascii_start().len();
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        Some(Faithful { is_error })
    }
}

/// A string from after its first quote to before its last, and whether there are escapes in it;
/// nothing where one may be half a character.
fn string(bytes: &[u8], start: usize) -> Option<(&[u8], bool)> {
    let mut at = start;
    let mut escaped = false;
    loop {
        at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some((&bytes[start..at], escaped));
        }
        escaped = true;
        at += match half(bytes.get(at..)?) {
            None => 2,
            Some(Half::First) if half(bytes.get(at + 6..)?) == Some(Half::Second) => 12,
            Some(_) => return None,
        };
    }
}

/// A half of a character that is escaped in two.
#[derive(Debug, PartialEq, Eq)]
enum Half {
    First,
    Second,
}

/// The half that a text begins with.
fn half(text: &[u8]) -> Option<Half> {
    let [b'\\', b'u', b'd' | b'D', digit, ..] = text else {
        return None;
    };
    match digit {
        b'8' | b'9' | b'a' | b'b' | b'A' | b'B' => Some(Half::First),
        b'c'..=b'f' | b'C'..=b'F' => Some(Half::Second),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::location::losses;
    use crate::trace::parse::parse;
    use crate::trace::{Origin, Trace, parse_run};
    use proptest::prelude::*;
    use serde_json::Value;
    use serde_json::value::RawValue;

    fn scan(text: &str) -> Option<Faithful> {
        Scanner::default().scan(text)
    }

    #[test]
    fn what_a_value_might_not_hold_is_told() {
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"[{"b":[{"a":1,"c":{"a":2},"a":1}]}]"#,
            r#"{"a":1,"\u0061":1}"#,
            r#"{"a" : 1, "a"
                : 1}"#,
            "[18446744073709551616]",
            r#"{"n":0.12345678901234567890}"#,
            "[1e400]",
            r#"["\ud83d"]"#,
            r#"["\ud83d\ud83d"]"#,
            r#"["\ude00"]"#,
            r#"{"$serde_json::private::Number":"seven"}"#,
            &format!("{}{}", "[".repeat(101), "]".repeat(101)),
        ] {
            assert_eq!(scan(text), None, "{text}");
        }
    }

    #[test]
    fn ordinary_texts_are_faithful_and_say_whether_they_are_an_error() {
        for (text, is_error) in [
            ("{}", None),
            (r#"[{"a":1},{"a":1}]"#, None),
            (r#"{"a":{"a":"a"},"b":"\"a\\"}"#, None),
            (r#"{"isError": true, "content": []}"#, Some(true)),
            (
                r#"{"content": ["isError"], "isError" : false}"#,
                Some(false),
            ),
            (r#"{"content": {"isError": true}}"#, None),
            (r#"[{"isError": true}]"#, None),
            (r#"{"isError": "true"}"#, None),
            (
                r#"{"n":[18446744073709551615,-1.5e3,0.25,123456789012345]}"#,
                None,
            ),
            (r#"{"text":"{\"a\":1,\"a\":1}"}"#, None),
            (r#"["\ud83d\ude00\uD83D\uDE00"]"#, None),
        ] {
            assert_eq!(scan(text), Some(Faithful { is_error }), "{text}");
        }
    }

    /// JSON as programs write it, and as no program does.
    fn text() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
            "\"([ab{}\\[\\]:,]|\\\\[\"\\\\nu]|\\\\u00[0-9a-f]{2}|\\\\ud[89ab][0-9]{2}|\\\\ude00)*\"",
            Just("true".to_owned()),
            Just("null".to_owned()),
        ];
        let space = "[ \n]{0,1}";
        leaf.prop_recursive(4, 32, 4, move |inner| {
            let entry = ("\"(a|b|isError|\\\\u0061|\\\\\")\"", space, inner.clone());
            let entry =
                entry.prop_map(|(key, space, value)| format!("{key}{space}:{space}{value}"));
            prop_oneof![
                (prop::collection::vec(inner, 0..4), space)
                    .prop_map(|(items, space)| format!("[{}]", items.join(&format!(",{space}")))),
                (prop::collection::vec(entry, 0..4), space)
                    .prop_map(|(items, space)| format!("{{{space}{}}}", items.join(","))),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_run_whose_values_stay_text_is_the_run(args in text(), result in text()) {
            let text = format!(
                r#"{{"schema_version":"v1","model":"m","user_prompt":"p","trace":{{
                    "tool_calls":[{{"name":"a","args":{args}}}],
                    "tool_results":[{{"call_index":0,"is_error":false,"result":{result}}}]}}}}"#
            );
            let run = parse_run(text.as_bytes(), &Origin::file("a.json"));
            let value = parse(text.as_bytes()).map(|parsed| parsed.value.into_value());
            match (run, value) {
                (Ok(run), Ok(value)) => {
                    prop_assert_eq!(&run.trace, &Trace::from_envelope(&value["trace"]));
                    prop_assert!(losses(text.as_bytes()).is_empty());
                }
                (Ok(_), Err(error)) => return Err(TestCaseError::fail(error.to_string())),
                (Err(error), Ok(value)) => {
                    let (_, problems) = Trace::check_envelope(&value["trace"]);
                    let lost = losses(text.as_bytes());
                    prop_assert_eq!(error.problems.len(), problems.len() + lost.len(), "{}", error);
                }
                (Err(_), Err(_)) => {}
            }
        }

        #[test]
        fn a_faithful_text_loses_nothing(text in text()) {
            prop_assume!(serde_json::from_str::<&RawValue>(&text).is_ok());
            if let Some(seen) = scan(&text) {
                let parsed = parse(text.as_bytes());
                let parsed = parsed.map_err(|error| TestCaseError::fail(error.to_string()))?;
                let value = parsed.value.into_value();
                prop_assert!(losses(text.as_bytes()).is_empty());
                prop_assert_eq!(seen.is_error, value.get("isError").and_then(Value::as_bool));
            }
        }
    }
}
