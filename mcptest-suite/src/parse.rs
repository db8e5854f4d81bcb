//! From YAML text to a tree of [`Node`]s.
//!
//! Plain documents are read from the parser's events; what is left, and what is wrong, serde-saphyr
//! reads here, within bounds of what a hostile file can cost.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use serde_saphyr::{DuplicateKeyPolicy, NonFiniteFloatPolicy, Spanned};

use crate::limits::{ALIAS_EVENTS, DEPTH, NODES};
use crate::mapping::Mapping;
use crate::number::number_or_text;
use crate::unreadable::unreadable;
use crate::{Diagnostic, Entry, Node, NodeValue, Source, Span, fast_parse};

/// The parser's frames are large in unoptimised builds (about 40 KiB a level), larger than a test
/// thread's stack has room for at that depth, so the parser gets a stack of its own.
const STACK_BYTES: usize = 32 << 20;

/// Reads a document. Problems of keys are added to `problems`; `None` with a problem added when
/// there is no tree at all.
pub(crate) fn read(source: &Source, problems: &mut Vec<Diagnostic>) -> Option<Node> {
    fast_parse::read(source.text(), problems).or_else(|| read_all(source, problems))
}

/// Reads any document.
pub(crate) fn read_all(source: &Source, problems: &mut Vec<Diagnostic>) -> Option<Node> {
    let parse = || {
        let options = serde_saphyr::options! {
            // Many agents may share one block: what they repeat in all is limited below.
            budget: serde_saphyr::budget! { max_nodes: NODES, max_depth: DEPTH, enforce_alias_anchor_ratio: false },
            duplicate_keys: DuplicateKeyPolicy::PassThrough,
            alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: ALIAS_EVENTS },
            strict_booleans: true,
            with_snippet: false,
            non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        };
        let raw = serde_saphyr::from_str_with_options::<Spanned<Raw>>(source.text(), options);
        raw.map_err(|error| Box::new(syntax_problem(source, &error)))
    };
    let parsed = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, parse);
        let died = || {
            Box::new(Diagnostic::new(
                "the YAML parser could not be run on this file",
            ))
        };
        thread
            .map_err(|_| died())
            .and_then(|thread| thread.join().unwrap_or_else(|_| Err(died())))
    });
    match parsed {
        Ok(raw) => Some(Converter { source, problems }.node(raw)),
        Err(problem) => {
            problems.push(*problem);
            None
        }
    }
}

fn syntax_problem(source: &Source, error: &serde_saphyr::Error) -> Diagnostic {
    let full = error.to_string();
    // The position is drawn, so it is cut from the words.
    let words = full.split(" at line ").next().unwrap_or(&full);
    let location = error.location().filter(|location| location.line() > 0);
    let Some(location) = location else {
        return Diagnostic::new(format!("not readable as YAML: {words}"));
    };
    let offset = location
        .span()
        .byte_offset()
        .and_then(|offset| usize::try_from(offset).ok())
        .unwrap_or_else(|| offset_of(source.text(), location.line(), location.column()));
    unreadable(source.text(), words, error, offset)
}

/// Byte offset of a line and a column of characters, both from 1.
fn offset_of(text: &str, line: u64, column: u64) -> usize {
    let line = usize::try_from(line)
        .unwrap_or(usize::MAX)
        .saturating_sub(1);
    let column = usize::try_from(column)
        .unwrap_or(usize::MAX)
        .saturating_sub(1);
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let rest = text[start..].split('\n').next().unwrap_or_default();
    start
        + rest
            .char_indices()
            .nth(column)
            .map_or(rest.len(), |(at, _)| at)
}

/// The parser's tree, before keys are looked at.
enum Raw {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<Raw>, Spanned<Raw>)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Raw, E> {
        Ok(Raw::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Raw, E> {
        Ok(Raw::Signed(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Raw, E> {
        Ok(Raw::Unsigned(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Raw, E> {
        Ok(Raw::Float(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Raw, E> {
        Ok(Raw::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Raw, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Raw::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Raw, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(Raw::Map(entries))
    }
}

/// Turns the parser's tree into ours.
struct Converter<'a> {
    source: &'a Source,
    problems: &'a mut Vec<Diagnostic>,
}

impl Converter<'_> {
    fn node(&mut self, raw: Spanned<Raw>) -> Node {
        let span = span_of(raw.referenced);
        let defined = Some(span_of(raw.defined)).filter(|defined| *defined != span);
        let written = self.source.slice(defined.unwrap_or(span)).to_owned();
        let value = match raw.value {
            Raw::Null => NodeValue::Null,
            Raw::Bool(flag) => NodeValue::Bool(flag),
            Raw::Unsigned(number) => number_or_text(Some(number.into()), written),
            Raw::Signed(number) => number_or_text(Some(number.into()), written),
            Raw::Float(number) => number_or_text(Number::from_f64(number), written),
            Raw::Text(text) => NodeValue::Text(text),
            Raw::List(items) => {
                NodeValue::List(items.into_iter().map(|item| self.node(item)).collect())
            }
            Raw::Map(entries) => NodeValue::Map(self.entries(entries)),
        };
        Node {
            value,
            span,
            defined,
        }
    }

    fn entries(&mut self, raw: Vec<(Spanned<Raw>, Spanned<Raw>)>) -> Vec<Entry> {
        let mut entries = Mapping::default();
        for (key, value) in raw {
            let key = self.node(key);
            let value = self.node(value);
            entries.add(key, value, self.problems);
        }
        entries.into_entries()
    }
}

fn span_of(location: serde_saphyr::Location) -> Span {
    let span = location.span();
    let place = |offset: Option<u64>| offset.and_then(|offset| usize::try_from(offset).ok());
    let start = place(span.byte_offset()).unwrap_or_default();
    Span::new(start, start + place(span.byte_len()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn parse(text: &str) -> (Option<Node>, Vec<Diagnostic>) {
        let mut problems = Vec::new();
        let node = read(&Source::new("a.yml", "a.yml", text), &mut problems);
        (node, problems)
    }

    fn json_of(text: &str) -> Value {
        let (node, problems) = parse(text);
        assert!(problems.is_empty(), "{problems:?}");
        node.unwrap().to_json()
    }

    #[test]
    fn scalars_read_as_yaml_1_2_says() {
        assert_eq!(
            json_of("[1, 1.0, -2, true, yes, ~, 012, 1_000, 0x1F, .inf, '7', 2024-01-01]"),
            json!([
                1,
                1.0,
                -2,
                true,
                "yes",
                null,
                "012",
                "1_000",
                31,
                ".inf",
                "7",
                "2024-01-01"
            ])
        );
    }

    #[test]
    fn a_number_where_text_is_wanted_is_what_was_written() {
        let (node, _) = parse("a: 1.10");
        assert_eq!(node.unwrap().get("a").unwrap().text(), Some("1.10"));
    }

    #[test]
    fn an_alias_knows_both_places() {
        let (node, _) = parse("a: &x {p: 1}\nb: *x\n");
        let node = node.unwrap();
        let alias = node.get("b").unwrap();
        assert_eq!(
            (alias.span, alias.defined.map(|span| span.start)),
            (Span::new(16, 18), Some(6))
        );
    }

    #[test]
    fn a_merge_gives_way_to_what_is_written() {
        assert_eq!(
            json_of("d: &d {p: 1, q: 2}\ne:\n  <<: *d\n  q: 3\n")["e"],
            json!({"p": 1, "q": 3})
        );
    }

    #[test]
    fn every_duplicate_key_is_reported_with_both_places() {
        let (_, problems) = parse("a: 1\nb: 2\na: 3\nb: 4\n");
        assert_eq!(problems.len(), 2);
        assert_eq!(problems[0].message, "duplicate key `a`");
        assert_eq!(problems[0].secondary[0].span, Span::new(0, 1));
    }

    #[test]
    fn a_thousand_agents_may_share_a_block() {
        let tools = "t, ".repeat(60);
        let agents = "  - { tools: *tools }\n".repeat(1_000);
        let (node, problems) = parse(&format!("x: &tools [{tools}]\nagents:\n{agents}"));
        assert!(problems.is_empty(), "{problems:?}");
        let agents = node.unwrap();
        let agents = agents.get("agents").unwrap().items().unwrap();
        let last = agents.last().unwrap().get("tools").unwrap();
        assert_eq!((agents.len(), last.items().unwrap().len()), (1_000, 60));
    }

    #[test]
    fn an_alias_bomb_is_refused_with_a_place() {
        let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        for level in 1..9 {
            let uses = vec![format!("*a{}", level - 1); 9].join(",");
            bomb += &format!("a{level}: &a{level} [{uses}]\n");
        }
        let (node, problems) = parse(&bomb);
        assert!(node.is_none());
        assert!(problems[0].message.contains("refused"), "{problems:?}");
        assert!(problems[0].primary.is_some());
    }

    #[test]
    fn deep_nesting_is_refused_and_does_not_overflow_the_stack() {
        let block: String = (0..3000)
            .map(|depth| format!("{}a:\n", " ".repeat(depth)))
            .collect();
        for text in ["[".repeat(100_000), block, "{a: ".repeat(5000)] {
            let (node, problems) = parse(&text);
            assert!(node.is_none());
            assert_eq!(problems.len(), 1);
        }
    }

    #[test]
    fn a_syntax_error_points_at_its_place() {
        let (_, problems) = parse("a: 1\nb: [\n");
        assert_eq!(problems[0].primary.as_ref().unwrap().span.start, 8);
    }
}
