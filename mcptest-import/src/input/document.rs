//! Large JSON documents, walked element by element.
//!
//! Only brackets, strings and keys of the outermost object are looked at. A list is its elements,
//! unless they are the messages of one run; an object with one of the known lists is that list's
//! elements and what stands around it; anything else is one record.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use serde_json::Value;

use super::lines::Extent;
use super::{MAX_RECORD, each_byte, parse};

/// The lists that are walked when they stand in the outermost object.
const WALKED: [&str; 7] = [
    "batches",
    // VCR's, of Python and of Ruby.
    "http_interactions",
    "interactions",
    "resourceLogs",
    "resourceSpans",
    "samples",
    "simulations",
];

/// The longest key that is looked at.
const LONGEST_KEY: usize = 32;

/// Where the records of a document lie.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub spans: Vec<Extent>,
    /// The key of the list that was walked.
    pub under: Option<&'static str>,
    /// Where JSON begins that has no end.
    pub cut: Option<u64>,
    /// The outermost object, and in it the list that was walked.
    whole: Option<(u64, u64)>,
    walked: Option<(u64, u64)>,
}

/// What the walk is in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Outermost {
    #[default]
    Nothing,
    List,
    Object,
    Scalar,
}

#[derive(Default)]
struct Walk {
    document: Document,
    outermost: Outermost,
    /// Where the outermost value began.
    began: u64,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The last string of the outermost object that may be a key.
    key: Vec<u8>,
    reads_key: bool,
    /// After the colon of a key that is walked.
    expects: Option<&'static str>,
    /// The depth of the elements that are walked now.
    elements: Option<usize>,
    element: Option<u64>,
    /// The last byte that is no white space.
    last: u64,
}

pub(super) fn find_records(file: &mut File, begin: u64) -> io::Result<Document> {
    let mut walk = Walk {
        began: begin,
        last: begin,
        ..Walk::default()
    };
    let end = each_byte(file, begin, |byte, offset| walk.byte(byte, offset))?;
    let mut document = walk.end(end);
    document.join_messages(file)?;
    Ok(document)
}

impl Walk {
    fn byte(&mut self, byte: u8, at: u64) {
        if self.in_string {
            self.string(byte);
            self.last = at;
            return;
        }
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {
                if self.outermost == Outermost::Scalar {
                    self.close_outermost(at);
                }
                return;
            }
            b'"' => {
                self.open_value(at, Outermost::Scalar);
                self.in_string = true;
                self.reads_key = self.depth == 1 && self.outermost == Outermost::Object;
                self.key.clear();
            }
            b'{' | b'[' => self.open(byte, at),
            b'}' | b']' => self.close(at),
            b',' => {
                if self.elements == Some(self.depth) {
                    self.end_element();
                }
                self.expects = None;
            }
            b':' => {
                if self.depth == 1 && self.outermost == Outermost::Object {
                    let key = std::str::from_utf8(&self.key).unwrap_or_default();
                    let known = WALKED.iter().copied().find(|walked| *walked == key);
                    self.expects = known.filter(|_| self.document.walked.is_none());
                }
            }
            _ => self.open_value(at, Outermost::Scalar),
        }
        self.last = at;
    }

    fn string(&mut self, byte: u8) {
        if byte == b'"' && !self.escaped {
            self.in_string = false;
        } else if self.reads_key && self.key.len() < LONGEST_KEY {
            self.key.push(byte);
        }
        self.escaped = byte == b'\\' && !self.escaped;
    }

    /// A value begins here, if none is open.
    fn open_value(&mut self, at: u64, kind: Outermost) {
        if self.outermost == Outermost::Nothing {
            self.outermost = kind;
            self.began = at;
        } else if self.elements == Some(self.depth) && self.element.is_none() {
            self.element = Some(at);
        }
    }

    fn open(&mut self, byte: u8, at: u64) {
        let is_list = byte == b'[';
        let kind = if is_list {
            Outermost::List
        } else {
            Outermost::Object
        };
        let outermost = self.outermost == Outermost::Nothing;
        self.open_value(at, kind);
        self.depth += 1;
        if outermost && is_list {
            self.elements = Some(1);
        } else if let Some(key) = self.expects.take()
            && is_list
            && self.depth == 2
        {
            self.document.under = Some(key);
            self.document.walked = Some((at + 1, at + 1));
            self.elements = Some(2);
        }
    }

    fn close(&mut self, at: u64) {
        if self.elements == Some(self.depth) {
            self.end_element();
            self.elements = None;
            if self.is_walked()
                && let Some(walked) = &mut self.document.walked
            {
                walked.1 = at;
            }
        }
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            self.last = at;
            self.close_outermost(at + 1);
        }
    }

    fn end_element(&mut self) {
        if let Some(begin) = self.element.take() {
            let end = self.last + 1;
            self.push(begin, end);
        }
    }

    fn push(&mut self, begin: u64, end: u64) {
        let number = u32::try_from(self.document.spans.len() + 1).unwrap_or(u32::MAX);
        self.document.spans.push((number, begin, end - begin));
    }

    /// Whether the list that is walked is that of this document, and not of one before.
    fn is_walked(&self) -> bool {
        let walked = self.document.walked;
        walked.is_some_and(|(from, _)| from > self.began)
    }

    fn close_outermost(&mut self, end: u64) {
        match self.outermost {
            Outermost::List | Outermost::Nothing => {}
            Outermost::Object if self.is_walked() => {
                self.document.whole = Some((self.began, end));
            }
            Outermost::Object | Outermost::Scalar => self.push(self.began, end),
        }
        if self.outermost == Outermost::List && self.document.whole.is_none() {
            self.document.whole = Some((self.began, end));
        }
        self.outermost = Outermost::Nothing;
    }

    fn end(mut self, end: u64) -> Document {
        if self.outermost == Outermost::Scalar && !self.in_string {
            self.close_outermost(end);
        }
        if self.outermost != Outermost::Nothing {
            self.document.cut = Some(self.element.unwrap_or(self.began));
            if self.is_walked() {
                self.document.whole = Some((self.began, end));
                if let Some(walked) = &mut self.document.walked {
                    walked.1 = walked.1.max(end);
                }
            }
        }
        self.document
    }
}

impl Document {
    /// What has no list around its records.
    pub(super) fn from_extents(spans: Vec<Extent>) -> Self {
        Self {
            spans,
            ..Self::default()
        }
    }

    /// The outermost object without the elements of its list.
    pub(super) fn header(&self, file: &mut File) -> Option<Value> {
        let ((begin, end), (from, to)) = (self.whole?, self.walked?);
        if (from - begin) + (end - to) > MAX_RECORD {
            return None;
        }
        let mut text = read(file, begin, from).ok()?;
        text.push(b']');
        if to < end {
            text.extend(read(file, to + 1, end).ok()?);
        } else {
            // The document is cut in the list.
            text.push(b'}');
        }
        Some(parse(&text).ok()?.value)
    }

    /// A list of messages is one record.
    fn join_messages(&mut self, file: &mut File) -> io::Result<()> {
        let (Some((begin, end)), None, Some((_, start, length))) =
            (self.whole, self.under, self.spans.first())
        else {
            return Ok(());
        };
        if *length > MAX_RECORD {
            return Ok(());
        }
        let first = read(file, *start, start + length)?;
        let first = parse(&first).map_or(Value::Null, |first| first.value);
        if is_message(&first) {
            self.spans = vec![(1, begin, end - begin)];
        }
        Ok(())
    }
}

/// Whether a value is a message of a run, and not a run.
fn is_message(value: &Value) -> bool {
    const MESSAGES: [&str; 14] = [
        "AIMessage",
        "AIMessageChunk",
        "HumanMessage",
        "SystemMessage",
        "ToolMessage",
        "ai",
        "constructor",
        "function_call",
        "function_call_output",
        "human",
        "message",
        "reasoning",
        "system",
        "tool",
    ];
    let kind = value.get("type").and_then(Value::as_str);
    let is_run = [
        "messages", "traj", "run_type", "uuid", "payload", "output", "choices",
    ];
    let runs = is_run.iter().any(|key| value.get(key).is_some());
    let outputs = kind == Some("function_call_output");
    (!runs || outputs)
        && (value.get("role").is_some_and(Value::is_string)
            || kind.is_some_and(|kind| MESSAGES.contains(&kind)))
}

fn read(file: &mut File, begin: u64, end: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(begin))?;
    let mut bytes = Vec::new();
    file.take(end - begin).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn split(text: &str) -> (Vec<String>, Document, File) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        let document = find_records(&mut file, 0).unwrap();
        let texts = document.spans.iter();
        let texts = texts
            .map(|(_, start, length)| {
                let from = usize::try_from(*start).unwrap();
                text[from..from + usize::try_from(*length).unwrap()].to_owned()
            })
            .collect();
        (texts, document, file)
    }

    #[test]
    fn a_document_behind_one_whose_list_is_walked_is_a_record_of_its_own() {
        let text = r#"{"v":1,"samples":[{"a":1},{"b":2}]} {"samples":[3]} {"c":4}"#;
        let (texts, document, mut file) = split(text);
        let expected = ["{\"a\":1}", "{\"b\":2}", "{\"samples\":[3]}", "{\"c\":4}"];
        assert_eq!(texts, expected);
        let header = document.header(&mut file);
        assert_eq!(header, Some(serde_json::json!({ "v": 1, "samples": [] })));
        let (texts, document, mut file) = split(r#"{"v":1,"samples":[]} [2,3]"#);
        assert_eq!(texts, ["2", "3"]);
        let header = document.header(&mut file);
        assert_eq!(header, Some(serde_json::json!({ "v": 1, "samples": [] })));
        // The last one is cut.
        let (texts, document, mut file) = split(r#"[1] {"v":2,"samples":[{"a":1},"#);
        assert_eq!(texts, ["1", "{\"a\":1}"]);
        let header = document.header(&mut file);
        assert_eq!(header, Some(serde_json::json!({ "v": 2, "samples": [] })));
    }

    #[test]
    fn a_list_is_its_elements() {
        for (text, expected) in [
            ("[]", vec![]),
            (
                r#" [ {"a":[1,"]"]} , {"b":"\"}"} , 7,"x" ] "#,
                vec![r#"{"a":[1,"]"]}"#, r#"{"b":"\"}"}"#, "7", "\"x\""],
            ),
            ("[[1],[2]]", vec!["[1]", "[2]"]),
        ] {
            assert_eq!(split(text).0, expected, "{text}");
        }
    }

    #[test]
    fn an_object_is_one_record_unless_it_has_a_known_list() {
        assert_eq!(split(r#"{"a":[1,2]}"#).0, [r#"{"a":[1,2]}"#]);
        let text = r#"{"info":{"samples":[0]},"samples":[{"id":1},{"id":2}],"z":1}"#;
        let (records, document, mut file) = split(text);
        assert_eq!(records, [r#"{"id":1}"#, r#"{"id":2}"#]);
        let header = document.header(&mut file).unwrap();
        assert_eq!(
            header.to_string(),
            r#"{"info":{"samples":[0]},"samples":[],"z":1}"#
        );
    }

    #[test]
    fn values_one_after_another_are_records() {
        assert_eq!(
            split("{\n\"a\":1\n}\n{\n\"b\":2}").0,
            ["{\n\"a\":1\n}", "{\n\"b\":2}"]
        );
    }

    #[test]
    fn messages_are_one_record() {
        let text = r#"[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]"#;
        assert_eq!(split(text).0, [text]);
    }

    #[test]
    fn of_a_document_that_is_cut_the_whole_elements_are_kept() {
        let (records, document, mut file) = split(r#"{"info":1,"samples":[{"id":1},{"id":"#);
        assert_eq!(records, [r#"{"id":1}"#]);
        assert_eq!(document.cut, Some(30));
        assert_eq!(document.header(&mut file).unwrap()["info"], 1);
        let (records, document, _) = split(r#"[{"id":1},{"id":2"#);
        assert_eq!(records, [r#"{"id":1}"#]);
        assert!(document.cut.is_some());
    }
}
