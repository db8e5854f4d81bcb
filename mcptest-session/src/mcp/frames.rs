//! Where a message ends in what goes by, and what it says. What does not begin as JSON is no message, and
//! goes by; what begins so and is none as it is written is read as far as it can be.

use serde_json::Value;

use crate::lossless::{self, Change};

/// A byte order mark, which says nothing.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// What went by.
#[derive(Debug, PartialEq)]
pub enum Frame {
    /// A message, and what was read otherwise as it is no JSON as it is written.
    Message(Value, Vec<Change>),
    /// What says that it is a message of JSON-RPC and is no JSON.
    Unreadable(String),
}

impl Frame {
    /// What some bytes are; nothing where they do not begin as a message.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.trim_ascii();
        let bytes = bytes.strip_prefix(MARK).unwrap_or(bytes).trim_ascii_start();
        if !bytes.starts_with(b"{") && !bytes.starts_with(b"[") {
            return None;
        }
        let Ok(parsed) = lossless::parse(bytes) else {
            let is_rpc = contains(bytes, b"\"jsonrpc\"");
            return is_rpc.then(|| Self::Unreadable(String::from_utf8_lossy(bytes).into_owned()));
        };
        // A long number is JSON, and kept as it was.
        let is_json = parsed.changes.is_empty() || serde_json::from_slice::<Value>(bytes).is_ok();
        let mended = if is_json { Vec::new() } else { parsed.changes };
        Some(Self::Message(parsed.value, mended))
    }
}

/// Whether some bytes stand among others.
fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|part| part == wanted)
}

/// Messages over standard input and output: JSON, one a line.
#[derive(Debug, Default)]
pub struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    /// Takes bytes, and gives every message that they end.
    pub fn take(&mut self, bytes: &[u8], mut each: impl FnMut(Frame)) {
        self.lines(bytes, |line| {
            if let Some(frame) = Frame::parse(line) {
                each(frame);
            }
        });
    }

    /// What stands after the last line, when its side has ended.
    pub fn end(&mut self) -> Option<Frame> {
        Frame::parse(&std::mem::take(&mut self.begun))
    }

    fn lines(&mut self, bytes: &[u8], mut each: impl FnMut(&[u8])) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.begun.extend_from_slice(&rest[..end]);
            each(&self.begun);
            self.begun.clear();
            rest = &rest[end + 1..];
        }
        self.begun.extend_from_slice(rest);
    }
}

/// Messages in a stream of server-sent events: the lines `data:` of an event are one message.
#[derive(Debug, Default)]
pub struct EventStream {
    lines: Lines,
    data: Vec<u8>,
}

impl EventStream {
    /// Takes bytes, and gives every message whose event they end.
    pub fn take(&mut self, bytes: &[u8], mut each: impl FnMut(Frame)) {
        let data = &mut self.data;
        self.lines.lines(bytes, |line| {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let line = line.strip_prefix(MARK).unwrap_or(line);
            if line.is_empty() {
                if let Some(frame) = Frame::parse(data) {
                    each(frame);
                }
                data.clear();
            } else if let Some(more) = line.strip_prefix(b"data:") {
                if !data.is_empty() {
                    data.push(b'\n');
                }
                data.extend_from_slice(more.strip_prefix(b" ").unwrap_or(more));
            }
        });
    }
}

/// A message that is a body as a whole.
#[derive(Debug, Default)]
pub struct WholeBody(Vec<u8>);

impl WholeBody {
    /// Takes bytes.
    pub fn take(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The message, when all of it has come.
    #[must_use]
    pub fn end(self) -> Option<Frame> {
        Frame::parse(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_a_message_however_it_is_cut_and_whatever_stands_beside_it() {
        let stream = "\u{feff}: ping\n\nid: 1\r\nevent: message\r\ndata: {\"a\":\r\ndata:1}\r\n\r\ndata: no JSON\n\ndata: {\"b\":2}\n\ndata: {\"c\"";
        for size in [1, 7, stream.len()] {
            let (mut events, mut seen) = (EventStream::default(), Vec::new());
            for part in stream.as_bytes().chunks(size) {
                events.take(part, |frame| match frame {
                    Frame::Message(message, _) => seen.push(message.to_string()),
                    Frame::Unreadable(text) => seen.push(text),
                });
            }
            assert_eq!(seen, [r#"{"a":1}"#, r#"{"b":2}"#], "{size}");
        }
    }

    #[test]
    fn what_is_no_json_as_it_is_written_is_read_as_far_as_it_can_be() {
        let read = |text: &str| Frame::parse(text.as_bytes());
        let message = |text: &str| match read(text) {
            Some(Frame::Message(value, mended)) => (value.to_string(), mended),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(
            message(r#"{"a":"cut \ud83d"}"#),
            ("{\"a\":\"cut \u{fffd}\"}".to_owned(), vec![Change::Half])
        );
        assert_eq!(
            message(r#"{"a":NaN}"#),
            (r#"{"a":null}"#.to_owned(), vec![Change::Word])
        );
        assert_eq!(
            message(r#"{"a":1e400}"#),
            (r#"{"a":"1e400"}"#.to_owned(), vec![Change::Number])
        );
        let long = r#"{"a":1180591620717411303424}"#;
        assert_eq!(
            message(long),
            (r#"{"a":"1180591620717411303424"}"#.to_owned(), vec![])
        );
        let broken = r#"{"jsonrpc":"2.0","a":"#;
        assert_eq!(read(broken), Some(Frame::Unreadable(broken.to_owned())));
        let marked = message("\u{feff}{\"a\":1}\r");
        assert_eq!(marked, (r#"{"a":1}"#.to_owned(), vec![]));
        assert_eq!(read("{debug} starting"), None);
        assert_eq!(read("listening on stdio"), None);
        assert_eq!(read(""), None);
    }
}
