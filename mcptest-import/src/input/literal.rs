//! JavaScript values as Node, Deno and Bun print them with `console.dir` and `console.log`.
//!
//! Source: nodejs/node v20 `lib/internal/util/inspect.js`. Keys are bare or quoted, texts stand in whichever
//! quotes need no escape and are broken at line ends with ` +`; what is too long or too deep is cut and says so.

use std::error::Error;
use std::fmt;

use serde_json::{Map, Value};

use mcptest_session::lossless::{Change, Parsed};

/// What a text that is no printed value should have at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LiteralError {
    expected: &'static str,
    /// The byte, counted from 0.
    at: usize,
}

impl fmt::Display for LiteralError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {} at byte {}", self.expected, self.at)
    }
}

impl Error for LiteralError {}

/// Reads a printed value.
///
/// # Errors
///
/// The part that is not understood, and at which byte it begins.
pub(super) fn parse(text: &str) -> Result<Parsed, LiteralError> {
    let mut reader = Reader::new(text, false);
    let value = reader.parse_value()?;
    reader.skip_space();
    if reader.at < text.len() {
        return Err(reader.expected("the end"));
    }
    Ok(Parsed {
        value: value.unwrap_or_default(),
        changes: Vec::from_iter(reader.is_cut.then_some(Change::Cut)),
    })
}

/// The value of the first argument of a call, as it stands in a script: an object or a text of literals alone.
pub(crate) fn prefix(text: &str) -> Option<Value> {
    let mut reader = Reader::new(text, true);
    let value = reader.parse_value().ok()??;
    reader.skip_space();
    let ends = text[reader.at..].starts_with([',', ')']);
    (ends && !reader.is_cut).then_some(value)
}

/// How deep values may lie in each other.
const DEEPEST: usize = 100;

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    is_cut: bool,
    /// It is a script: words are variables, and not values that were printed without quotes.
    is_script: bool,
}

/// A value; `undefined` is none.
type Printed = Result<Option<Value>, LiteralError>;

impl<'t> Reader<'t> {
    fn new(text: &'t str, is_script: bool) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
            is_cut: false,
            is_script,
        }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn expected(&self, expected: &'static str) -> LiteralError {
        let at = self.at;
        LiteralError { expected, at }
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn consume(&mut self, token: &str) -> bool {
        self.skip_space();
        let takes = self.rest().starts_with(token);
        self.at += if takes { token.len() } else { 0 };
        takes
    }

    /// The part of the rest whose characters are such.
    fn take_while(&mut self, is_of: impl Fn(char) -> bool) -> &'t str {
        let rest = &self.text[self.at..];
        let length = rest.find(|letter| !is_of(letter)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn parse_value(&mut self) -> Printed {
        self.skip_space();
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.expected("no more depth"));
        }
        let value = match self.rest().chars().next() {
            Some('{') => self.parse_object().map(Some),
            Some('[') => self.parse_bracket(),
            Some('\'' | '"' | '`') => self.text().map(|text| Some(text.into())),
            Some('<') => {
                // `<ref *1>` before what is referred to, or `<2 empty items>`.
                let whole = self.rest().find('>').ok_or_else(|| self.expected("`>`"))?;
                let is_ref = self.rest().starts_with("<ref");
                self.at += whole + 1;
                if is_ref {
                    self.parse_value()
                } else {
                    Ok(Some(Value::Null))
                }
            }
            Some(_) => self.parse_bare(),
            None => Err(self.expected("a value")),
        };
        self.depth -= 1;
        value
    }

    fn parse_object(&mut self) -> Result<Value, LiteralError> {
        self.at += 1;
        let mut map = Map::new();
        while !self.consume("}") {
            self.skip_cut_items();
            if self.consume("}") {
                break;
            }
            let key = self.parse_key()?;
            if !self.consume(":") {
                return Err(self.expected("`:`"));
            }
            if let Some(value) = self.parse_value()? {
                map.insert(key, value);
            }
            if !self.consume(",") && !self.rest().starts_with('}') {
                return Err(self.expected("`,` or `}`"));
            }
        }
        Ok(map.into())
    }

    fn parse_key(&mut self) -> Result<String, LiteralError> {
        self.skip_space();
        if self.rest().starts_with(['\'', '"', '`']) {
            return self.text();
        }
        // A symbol's key stands in brackets.
        let is_of = |letter: char| letter.is_alphanumeric() || "_$[]().@ ".contains(letter);
        let key = self.take_while(is_of).trim().to_owned();
        if key.is_empty() {
            return Err(self.expected("a key"));
        }
        Ok(key)
    }

    /// `... 20 more items`: what was cut from a list or an object.
    fn skip_cut_items(&mut self) {
        if self.consume("...") {
            self.is_cut = true;
            self.take_while(|letter| letter.is_alphanumeric() || letter == ' ');
            self.consume(",");
        }
    }

    /// A list, or `[Object]` in place of what lies too deep.
    fn parse_bracket(&mut self) -> Printed {
        if self.rest()[1..].starts_with(char::is_uppercase) {
            let whole = self.rest().find(']').ok_or_else(|| self.expected("`]`"))?;
            self.at += whole + 1;
            let next = self.rest().trim_start();
            if next.starts_with('{') {
                return self.parse_value();
            }
            self.is_cut = true;
            return Ok(Some(Value::Null));
        }
        self.at += 1;
        let mut items = Vec::new();
        while !self.consume("]") {
            self.skip_cut_items();
            if self.consume("]") {
                break;
            }
            items.push(self.parse_value()?.unwrap_or_default());
            if !self.consume(",") && !self.rest().starts_with(']') {
                return Err(self.expected("`,` or `]`"));
            }
        }
        Ok(Some(items.into()))
    }

    /// A text: all its parts, and whether it was cut.
    fn text(&mut self) -> Result<String, LiteralError> {
        let mut text = String::new();
        loop {
            self.parse_quoted(&mut text)?;
            let after = self.at;
            if self.consume("...") && self.rest().contains("more character") {
                self.is_cut = true;
                self.take_while(|letter| letter.is_alphanumeric() || letter == ' ');
                return Ok(text);
            }
            self.at = after;
            if !self.consume("+") {
                self.at = after;
                return Ok(text);
            }
            self.skip_space();
        }
    }

    fn parse_quoted(&mut self, into: &mut String) -> Result<(), LiteralError> {
        let mut letters = self.rest().char_indices();
        let Some((_, quote @ ('\'' | '"' | '`'))) = letters.next() else {
            return Err(self.expected("a text"));
        };
        let mut text = String::new();
        let mut ends = None;
        while let Some((at, letter)) = letters.next() {
            if letter == quote {
                ends = Some(at + 1);
                break;
            }
            if letter != '\\' {
                text.push(letter);
                continue;
            }
            let Some((_, escaped)) = letters.next() else {
                break;
            };
            let mut hex = |length: usize| {
                let digits: String = letters
                    .by_ref()
                    .take(length)
                    .map(|(_, digit)| digit)
                    .collect();
                u32::from_str_radix(&digits, 16).unwrap_or(0xfffd)
            };
            text.push(match escaped {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'v' => '\u{b}',
                '0' => '\0',
                'x' => char::from_u32(hex(2)).unwrap_or('\u{fffd}'),
                // Node writes whole characters as they are, and half ones so.
                'u' => char::from_u32(hex(4)).unwrap_or('\u{fffd}'),
                other => other,
            });
        }
        let ends = ends.ok_or_else(|| self.expected("the end of a text"))?;
        if self.is_script && quote == '`' && text.contains("${") {
            return Err(self.expected("a text without variables"));
        }
        self.at += ends;
        into.push_str(&text);
        Ok(())
    }

    /// A number, a word, a moment, or the class of what follows.
    fn parse_bare(&mut self) -> Printed {
        let begin = self.at;
        let word =
            self.take_while(|letter| !letter.is_whitespace() && !",{}[]'\"`".contains(letter));
        let value = match word {
            "" => return Err(self.expected("a value")),
            "undefined" => None,
            "null" | "NaN" | "Infinity" | "-Infinity" => Some(Value::Null),
            "true" => Some(true.into()),
            "false" => Some(false.into()),
            word => {
                let digits = word.strip_suffix('n').unwrap_or(word);
                let number = digits.parse::<i64>().ok().map(Value::from);
                let number = number.or_else(|| digits.parse::<f64>().ok().map(Value::from));
                if self.is_script && number.is_none() {
                    return Err(self.expected("a literal"));
                }
                Some(number.unwrap_or_else(|| word.into()))
            }
        };
        let is_name = self.text[begin..self.at].starts_with(|letter: char| letter.is_uppercase());
        let after = self.at;
        self.skip_space();
        if is_name && self.rest().starts_with(['{', '[']) {
            return self.parse_value();
        }
        self.at = after;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_node_prints_is_read() {
        for (text, value) in [
            ("{}", json!({})),
            (
                "{ a: 1, 'b.c': -0.5, \"it's\": 2n, d: undefined }",
                json!({ "a": 1, "b.c": -0.5, "it's": 2 }),
            ),
            (
                "[ 'x', `it's \"y\"`, null, true, NaN ]",
                json!(["x", "it's \"y\"", null, true, null]),
            ),
            (
                "{\n  a: 'one\\n' +\n    'it\\'s two',\n  b: [\n    1, 2\n  ],\n}",
                json!({ "a": "one\nit's two", "b": [1, 2] }),
            ),
            (
                "Resource { attributes: [Object: null prototype] { x: 1 } }",
                json!({ "attributes": { "x": 1 } }),
            ),
            (
                "<ref *1> { at: 2026-01-01T00:00:00.000Z }",
                json!({ "at": "2026-01-01T00:00:00.000Z" }),
            ),
            ("'\\x1B[0m \\\\ {'", json!("\u{1b}[0m \\ {")),
        ] {
            let parsed = parse(text).unwrap();
            assert_eq!((parsed.value, parsed.changes), (value, vec![]), "{text}");
        }
    }

    #[test]
    fn what_is_cut_says_so() {
        for (text, value) in [
            (
                "{ a: [Object], b: [Array] }",
                json!({ "a": null, "b": null }),
            ),
            ("[\n  1, 2,\n  ... 20 more items\n]", json!([1, 2])),
            ("{ a: 'xx'... 50 more characters }", json!({ "a": "xx" })),
        ] {
            let parsed = parse(text).unwrap();
            assert_eq!(
                (parsed.value, parsed.changes),
                (value, vec![Change::Cut]),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_none_is_refused() {
        for text in ["", "{", "{ a }", "{ a: 'x }", "[ 1 2 ]", "{ a: 1 } }"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&"[ ".repeat(1000)).is_err());
    }

    #[test]
    fn the_argument_of_a_call_is_a_literal_or_nothing() {
        assert_eq!(
            prefix("{cmd: \"ls\", n: 2}); r"),
            Some(json!({ "cmd": "ls", "n": 2 }))
        );
        assert_eq!(prefix("'*** Begin Patch')"), Some(json!("*** Begin Patch")));
        for text in ["{cmd: x.y})", "{cmd: `a ${b}`})", "cmd)", "{cmd: f(1)})"] {
            assert_eq!(prefix(text), None, "{text}");
        }
    }
}
