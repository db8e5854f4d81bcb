//! Where a message ends in what goes by. What is no JSON is no message, and goes by.

use serde_json::Value;

/// Messages over standard input and output: JSON, one a line.
#[derive(Debug, Default)]
pub(super) struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    /// Takes bytes, and gives every message that they end.
    pub(super) fn take(&mut self, bytes: &[u8], mut each: impl FnMut(Value)) {
        self.lines(bytes, |line| {
            if let Ok(message) = serde_json::from_slice(line) {
                each(message);
            }
        });
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
pub(super) struct EventStream {
    lines: Lines,
    data: Vec<u8>,
}

impl EventStream {
    /// Takes bytes, and gives every message whose event they end.
    pub(super) fn take(&mut self, bytes: &[u8], mut each: impl FnMut(Value)) {
        let data = &mut self.data;
        self.lines.lines(bytes, |line| {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                if let Ok(message) = serde_json::from_slice(data) {
                    each(message);
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
pub(super) struct WholeBody(Vec<u8>);

impl WholeBody {
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn end(self) -> Option<Value> {
        serde_json::from_slice(&self.0).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_a_message_however_it_is_cut_and_whatever_stands_beside_it() {
        let stream = ": ping\n\nid: 1\r\nevent: message\r\ndata: {\"a\":\r\ndata:1}\r\n\r\ndata: no JSON\n\ndata: {\"b\":2}\n\ndata: {\"c\"";
        for size in [1, 7, stream.len()] {
            let (mut events, mut seen) = (EventStream::default(), Vec::new());
            for part in stream.as_bytes().chunks(size) {
                events.take(part, |message| seen.push(message.to_string()));
            }
            assert_eq!(seen, [r#"{"a":1}"#, r#"{"b":2}"#], "{size}");
        }
    }
}
