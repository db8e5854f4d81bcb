//! Reads plain documents, which nearly all suites are, in one pass over the parser's events.
//!
//! Plain is what has no anchor, alias, merge, tag, second document or key that is not a word, what
//! is far from every limit, and what is right. Of anything else there is no tree here: serde-saphyr
//! reads it, and says what is wrong with it.

use serde_json::Number;
use serde_saphyr::granit_parser::{self, Event, Options, Parser, ScalarStyle};

use crate::limits::{DEPTH, NODES};
use crate::mapping::Mapping;
use crate::number::number_or_text;
use crate::{Diagnostic, Node, NodeValue, Span};

/// A plain document can have as many nodes as half of what is allowed, so that no limit that counts
/// something else is near, and as many bytes.
const PLAIN_NODES: usize = NODES / 2;
const PLAIN_BYTES: usize = 16 << 20;

/// A collection that is not closed yet.
enum Open {
    List(Span, Vec<Node>),
    /// With the key whose value is read next.
    Map(Span, Mapping, Option<Node>),
}

/// Reads a document if it is plain. Problems of keys are added to `problems`.
pub(crate) fn read(text: &str, problems: &mut Vec<Diagnostic>) -> Option<Node> {
    if text.len() > PLAIN_BYTES || text.starts_with('\u{feff}') {
        return None;
    }
    let mut options = Options::default();
    options.set_emit_comments(false);
    let mut builder = Builder::default();
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.ok()?;
        builder.take(event, span_of(&span)?)?;
    }
    let root = builder.root?;
    problems.append(&mut builder.problems);
    Some(root)
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    nodes: usize,
    root: Option<Node>,
    problems: Vec<Diagnostic>,
}

impl Builder {
    /// `None` when the document is not plain.
    fn take(&mut self, event: Event<'_>, span: Span) -> Option<()> {
        match event {
            Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Some(()),
            Event::DocumentStart(_, None) => self.root.is_none().then_some(()),
            Event::Scalar(text, style, 0, None) => {
                self.count()?;
                if self.awaits_key() && text == "<<" {
                    return None;
                }
                let value = match style {
                    ScalarStyle::Plain => resolve(&text),
                    _ => NodeValue::Text(text.into_owned()),
                };
                self.insert(value, span)
            }
            Event::SequenceStart(_, 0, None) => self.begin(Open::List(span, Vec::new())),
            Event::MappingStart(_, 0, None) => {
                self.begin(Open::Map(span, Mapping::default(), None))
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop()? {
                Open::List(span, items) => self.insert(NodeValue::List(items), span),
                Open::Map(span, entries, _) => {
                    self.insert(NodeValue::Map(entries.into_entries()), span)
                }
            },
            _ => None,
        }
    }

    fn count(&mut self) -> Option<()> {
        self.nodes += 1;
        (self.nodes < PLAIN_NODES).then_some(())
    }

    fn awaits_key(&self) -> bool {
        matches!(self.open.last(), Some(Open::Map(_, _, None)))
    }

    fn begin(&mut self, collection: Open) -> Option<()> {
        self.count()?;
        if self.awaits_key() || self.open.len() + 1 >= DEPTH {
            return None;
        }
        self.open.push(collection);
        Some(())
    }

    /// Puts a node into the collection that is open, or makes it the document.
    fn insert(&mut self, value: NodeValue, span: Span) -> Option<()> {
        let node = Node {
            value,
            span,
            defined: None,
        };
        match self.open.last_mut() {
            Some(Open::List(_, items)) => items.push(node),
            Some(Open::Map(_, entries, key)) => match key.take() {
                Some(key) => entries.add(key, node, &mut self.problems),
                None => *key = Some(node),
            },
            None if self.root.is_some() => return None,
            None => self.root = Some(node),
        }
        Some(())
    }
}

/// What a scalar without quotes is.
fn resolve(text: &str) -> NodeValue {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return NodeValue::Null,
        "true" | "True" | "TRUE" => return NodeValue::Bool(true),
        "false" | "False" | "FALSE" => return NodeValue::Bool(false),
        _ => {}
    }
    // Nothing but a number has a digit or a point here; `inf` and `nan` are words.
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return NodeValue::Text(text.to_owned());
    }
    let float = || Number::from_f64(text.parse().ok()?);
    let number = integer(digits, text.starts_with('-')).or_else(float);
    number_or_text(number, text.to_owned())
}

fn integer(digits: &str, negative: bool) -> Option<Number> {
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0o" | "0O") => (8, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        _ => (10, digits),
    };
    if !digits.starts_with(|first: char| first.is_digit(radix)) {
        return None;
    }
    let size = u64::from_str_radix(digits, radix).ok()?;
    if negative {
        0_i64.checked_sub_unsigned(size).map(Number::from)
    } else {
        Some(size.into())
    }
}

fn span_of(span: &granit_parser::Span) -> Option<Span> {
    let start = span.start.byte_offset()?;
    Some(Span::new(start, span.end.byte_offset()?.max(start)))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::{Source, parse};

    /// Whether a text is plain. If it is, serde-saphyr reads the same tree and the same problems.
    fn agrees(text: &str) -> bool {
        let mut problems = Vec::new();
        let Some(node) = read(text, &mut problems) else {
            assert!(problems.is_empty(), "{problems:?}");
            return false;
        };
        let mut other_problems = Vec::new();
        let other = parse::read_all(&Source::new("a.yml", "a.yml", text), &mut other_problems);
        assert_eq!(Some(node), other, "{text}");
        assert_eq!(problems, other_problems, "{text}");
        true
    }

    #[test]
    fn every_scalar_reads_alike() {
        let first = ["", "-", "+", "--", "."];
        let rest = "0 1 7 10 012 00 0.5 00.5 1. .5 . .. 1e5 1E-5 1e 1e999 1_000 _1 0x1F 0xZ 0x+1 \
             0X1f 0o17 0O17 0o8 0b101 0B2 0x_1 0x1_0 inf .inf .Inf .INF .iNf nan .nan .NaN Infinity \
             infinity null Null NULL nUll ~ ~~ true True TRUE tRue false False FALSE yes No on off y n \
             18446744073709551615 18446744073709551616 9223372036854775807 9223372036854775808 \
             9223372036854775809 340282366920938463463374607431768211456 0x8000000000000000 \
             0xFFFFFFFFFFFFFFFF 0x10000000000000000 2024-01-01 1.2.3 12:30 1a ü1 ½ ١ = <<";
        for first in first {
            for rest in rest.split_whitespace() {
                for text in [
                    format!("{first}{rest}"),
                    format!("a: {first}{rest}"),
                    format!("- {first}{rest} # why\n- '{first}{rest}'"),
                    format!("? {first}{rest}\n: b"),
                    format!("{first}{rest}: |\n  {first}{rest}\n"),
                    format!("[{first}{rest}, \"{first}{rest}\"]"),
                    format!("a: {first}{rest}\n  {first}{rest}\n"),
                ] {
                    agrees(&text);
                }
            }
        }
    }

    #[test]
    fn every_suite_of_the_repository_reads_alike_and_nearly_all_are_plain() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        // A package is tested without the repository around it.
        let around = root
            .parent()
            .filter(|parent| parent.join("suites").is_dir());
        let (mut plain, mut all) = (0, 0);
        each_suite(around.unwrap_or(root), &mut |text| {
            all += 1;
            plain += usize::from(agrees(text));
        });
        assert!(all > 10 && plain * 2 > all, "{plain} of {all}");
    }

    pub(crate) fn each_suite(folder: &Path, see: &mut impl FnMut(&str)) {
        for entry in folder.read_dir().unwrap().map(Result::unwrap) {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                if !path.ends_with("target") {
                    each_suite(&path, see);
                }
            } else if path.extension().is_some_and(|ending| ending == "yml") {
                see(&std::fs::read_to_string(&path).unwrap_or_default());
            }
        }
    }

    #[test]
    fn what_is_not_plain_is_left_to_serde_saphyr() {
        let deep = "[".repeat(DEPTH) + &"]".repeat(DEPTH);
        let many = "[".to_owned() + &"1,".repeat(PLAIN_NODES) + "]";
        for text in [
            "a: &x 1\nb: *x\n",
            "&x a: 1\n",
            "<<: {a: 1}\n",
            "'<<': 1\n",
            "a: !!str 1\n",
            "!t [1]\n",
            "%YAML 1.1\n---\na: 1\n",
            "a: 1\n---\nb: 2\n",
            "[a, b]: 1\n",
            "\u{feff}a: 1\n",
            "",
            "a: [\n",
            &deep,
            &many,
        ] {
            assert!(!agrees(text), "{text:.100}");
        }
    }

    #[test]
    fn a_mapping_of_many_keys_finds_each_that_is_twice() {
        let keys = (0..40).chain([3, 15, 16, 39]);
        let text: String = keys.map(|key| format!("k{key}: 1\n")).collect();
        let mut problems = Vec::new();
        let node = read(&text, &mut problems).unwrap();
        assert_eq!((node.entries().unwrap().len(), problems.len()), (40, 4));
        assert!(agrees(&text));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4000) })]

        #[test]
        fn any_text_reads_alike(pieces in prop::collection::vec(piece(), 0..24)) {
            agrees(&pieces.concat());
        }

        #[test]
        fn any_block_mapping_reads_alike(lines in prop::collection::vec((0..4_usize, piece(), piece()), 0..10)) {
            let text: String = lines.iter()
                .map(|(indent, key, value)| format!("{}{key}: {value}\n", "  ".repeat(*indent)))
                .collect();
            agrees(&text);
        }
    }

    fn piece() -> impl Strategy<Value = String> {
        const PIECES: [&str; 48] = [
            "a",
            "b",
            "a: ",
            "b: 1\n",
            "- ",
            "\n",
            "\n  ",
            "\n    ",
            "  ",
            " ",
            ": ",
            "? ",
            ":",
            ",",
            "{",
            "}",
            "[",
            "]",
            "{a: ",
            "[1, ",
            "'",
            "\"",
            "'x'",
            "\"y\\n\"",
            "| \n",
            ">-\n ",
            "#",
            " # c\n",
            "---\n",
            "...\n",
            "&x ",
            "*x",
            "!!str ",
            "<<: ",
            "<<",
            "~",
            "null",
            "true",
            "-1",
            "0x1F",
            "012",
            "1.50",
            "ü",
            "🚀",
            "\r\n",
            "\t",
            "%",
            "- a: 1\n  b: 2\n",
        ];
        prop_oneof![
            9 => prop::sample::select(&PIECES[..]).prop_map(str::to_owned),
            1 => "[-+.0-9a-fxo_eE]{1,6}",
        ]
    }
}
