//! Server-sent events: the parser is `sse-stream`'s. What is here says where an event ends in the bytes, so
//! that a stream can be passed on byte for byte while it is read.

use std::borrow::Cow;
use std::convert::Infallible;

use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use sse_stream::{Sse, SseStream};

/// One event of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// Its name, where it has one.
    pub name: Option<String>,
    /// Its data.
    pub data: String,
}

/// A stream, read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Stream {
    pub(super) events: Vec<Event>,
    /// An event holds bytes that are no UTF-8.
    pub(super) is_lossy: bool,
    /// Why the rest cannot be read.
    pub(super) unread: Option<String>,
}

impl Event {
    /// An event without a name.
    pub fn data(data: impl Into<String>) -> Self {
        Self {
            name: None,
            data: data.into(),
        }
    }

    /// An event with a name.
    pub fn named(name: &str, data: impl Into<String>) -> Self {
        Self {
            name: Some(name.to_owned()),
            data: data.into(),
        }
    }

    /// The event as it stands in a stream.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        let event = Sse {
            event: self.name.clone(),
            data: Some(self.data.clone()),
            ..Sse::default()
        };
        event.into()
    }
}

/// Cuts a stream after each event, and keeps every byte.
///
/// ```
/// use mcptest_session::protocol::sse::Blocks;
///
/// let mut blocks = Blocks::default();
/// assert!(blocks.push(b"data: 1\n").is_empty());
/// assert_eq!(blocks.push(b"\ndata: 2\r\n\r\nda"), ["data: 1\n\n", "data: 2\r\n\r\n"]);
/// assert_eq!(blocks.rest(), "da");
/// ```
#[derive(Debug, Default)]
pub struct Blocks {
    held: Vec<u8>,
    /// How many bytes of `held` were looked at.
    seen: usize,
    /// The line that is being looked at has bytes.
    in_line: bool,
    /// The last byte was a carriage return, so a line feed after it ends no other line.
    after_return: bool,
}

impl Blocks {
    /// Takes bytes of the stream, and gives the events that are whole now.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Bytes> {
        self.held.extend_from_slice(bytes);
        let mut whole = Vec::new();
        let mut from = 0;
        for at in self.seen..self.held.len() {
            let byte = self.held[at];
            let goes_on = byte == b'\n' && self.after_return;
            self.after_return = byte == b'\r';
            if goes_on {
                // It belongs to the line end before it; after an event it stands alone.
                continue;
            }
            if !matches!(byte, b'\n' | b'\r') {
                self.in_line = true;
                continue;
            }
            if !self.in_line {
                // A line feed that belongs to the blank line goes with it where it is here already.
                let with_feed = byte == b'\r' && self.held.get(at + 1) == Some(&b'\n');
                let end = at + 1 + usize::from(with_feed);
                whole.push(Bytes::copy_from_slice(&self.held[from..end]));
                from = end;
            }
            self.in_line = false;
        }
        self.held.drain(..from);
        self.seen = self.held.len();
        whole
    }

    /// What is left at the end of the stream: an event that is not whole, or nothing.
    #[must_use]
    pub fn rest(&mut self) -> Bytes {
        self.seen = 0;
        std::mem::take(&mut self.held).into()
    }
}

/// The event that a block is; nothing where it has no data. What is no UTF-8 in it is U+FFFD.
#[must_use]
pub fn event(block: &Bytes) -> Option<Event> {
    let block = match String::from_utf8_lossy(block) {
        Cow::Borrowed(_) => block.clone(),
        Cow::Owned(text) => text.into(),
    };
    let bytes = stream::iter([Ok::<Bytes, Infallible>(block)]);
    let mut events = std::pin::pin!(SseStream::from_bytes_stream(bytes));
    // Nothing is waited for: all bytes are there.
    let event = events.next().now_or_never()??.ok()?;
    Some(Event {
        name: event.event,
        data: event.data?,
    })
}

/// All events of a stream that has ended. An event that the end cuts off was not sent; `whole` says that the
/// stream ended well, so that its last event is one even where the blank line after it is missing.
#[must_use]
pub fn events(stream: &[u8], whole: bool) -> Vec<Event> {
    read(stream, whole).0
}

/// The same, and whether an event holds bytes that are no UTF-8.
pub(super) fn read(stream: &[u8], whole: bool) -> (Vec<Event>, bool) {
    let mut blocks = Blocks::default();
    let mut found = blocks.push(stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream));
    if whole {
        found.extend(blocks.push(b"\n\n"));
    }
    let (mut events, mut is_lossy) = (Vec::new(), false);
    for block in &found {
        if let Some(event) = event(block) {
            is_lossy |= std::str::from_utf8(block).is_err();
            events.push(event);
        }
    }
    (events, is_lossy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_kind_of_line_end_ends_an_event() {
        for stream in [
            "data: 1\n\ndata: 2\n\n",
            "data: 1\r\n\r\ndata: 2\r\n\r\n",
            "data: 1\r\rdata: 2\r\r",
            ": note\n\ndata: 1\n\n\n\ndata: 2\n\n",
        ] {
            let found = events(stream.as_bytes(), false);
            assert_eq!(found, [Event::data("1"), Event::data("2")], "{stream:?}");
        }
    }

    #[test]
    fn an_event_that_is_cut_off_was_not_sent() {
        let cut = b"event: a\ndata: 1\n\ndata: 2";
        assert_eq!(events(cut, false), [Event::named("a", "1")]);
        assert_eq!(events(cut, true).len(), 2);
    }

    #[test]
    fn bytes_that_are_no_text_lose_no_event() {
        let found = events(b"what is this\n\ndata: a\xffb\n\ndata: 1\n\n", false);
        assert_eq!(found, [Event::data("a\u{fffd}b"), Event::data("1")]);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_event() {
        let (found, is_lossy) = read("\u{feff}data: 1\n\n".as_bytes(), false);
        assert_eq!((found, is_lossy), (vec![Event::data("1")], false));
    }

    proptest! {
        #[test]
        fn no_byte_is_lost_wherever_a_stream_is_cut(
            stream in "([a-z: ]{0,4}(\n|\r\n|\r)){0,12}[a-z]{0,3}", cut in 0_usize..60,
        ) {
            let (one, other) = stream.as_bytes().split_at(cut.min(stream.len()));
            let mut blocks = Blocks::default();
            let mut all = blocks.push(one);
            all.extend(blocks.push(other));
            all.push(blocks.rest());
            prop_assert_eq!(all.concat(), stream.as_bytes());
        }

        #[test]
        fn an_event_is_read_as_it_was_written(name in proptest::option::of("[a-z_.]{1,12}"), data in "[^\r\n\0]{0,40}") {
            let event = Event { name, data };
            prop_assert_eq!(events(&event.bytes(), false), [event]);
        }
    }
}
