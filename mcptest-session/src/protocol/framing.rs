//! How the bytes of a stream hold its events.

use bytes::Bytes;

use super::bedrock::frames;
use super::sse::{self, Event, Stream};
use crate::lossless::parse;

/// How the bytes of a stream hold its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Framing {
    /// Server-sent events.
    Events,
    /// One JSON list of what the events would hold.
    List,
    /// JSON, one value a line.
    Lines,
    /// Messages of AWS, with headers and checksums.
    Messages,
}

impl Framing {
    /// The framing that a media type names; `None` where that is no stream.
    pub(crate) fn from_media_type(media_type: &str) -> Option<Self> {
        match media_type {
            "text/event-stream" => Some(Self::Events),
            "application/x-ndjson" | "application/ndjson" | "application/jsonl" => {
                Some(Self::Lines)
            }
            frames::MEDIA_TYPE => Some(Self::Messages),
            _ => None,
        }
    }

    /// The media type of a stream that is framed so.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Events => "text/event-stream",
            Self::List => "application/json",
            Self::Lines => "application/x-ndjson",
            Self::Messages => frames::MEDIA_TYPE,
        }
    }

    /// A whole stream, piece by piece: one for each event, and what ends it.
    #[must_use]
    pub fn pieces(self, events: &[Event]) -> Vec<Bytes> {
        let mut pieces = self.begun(events);
        if self == Self::List {
            pieces.push(if events.is_empty() { "[]" } else { "]" }.into());
        }
        pieces
    }

    /// The events of a stream that is not whole, a piece each.
    #[must_use]
    pub fn begun(self, events: &[Event]) -> Vec<Bytes> {
        let events = events.iter().enumerate();
        let piece = |(index, event): (usize, &Event)| match self {
            Self::Events => event.bytes(),
            Self::Lines => format!("{}\n", event.data).into(),
            Self::Messages => frames::bytes(event),
            Self::List if index == 0 => format!("[{}", event.data).into(),
            Self::List => format!(",\n{}", event.data).into(),
        };
        events.map(piece).collect()
    }

    /// The events of a stream. `whole` says that the stream ended well. A list is read where it is known to be one.
    pub(super) fn read(self, stream: &[u8], whole: bool) -> Stream {
        let (events, is_lossy) = match self {
            Self::Events | Self::List => sse::read(stream, whole),
            Self::Lines => lines(stream, whole),
            Self::Messages => return frames::read(stream, whole),
        };
        Stream {
            events,
            is_lossy,
            unread: None,
        }
    }
}

/// The values of a stream of lines. One value may also stand in several lines, as an answer that is no stream does.
fn lines(stream: &[u8], whole: bool) -> (Vec<Event>, bool) {
    let text = String::from_utf8_lossy(stream);
    let is_lossy = std::str::from_utf8(stream).is_err();
    if parse(text.trim().as_bytes()).is_ok() {
        return (vec![Event::data(text.trim())], is_lossy);
    }
    let mut lines: Vec<&str> = text.split('\n').collect();
    // A line without an end may be cut off.
    if let Some(last) = lines.last()
        && !whole
        && parse(last.as_bytes()).is_err()
    {
        lines.pop();
    }
    let lines = lines.into_iter().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty());
    (lines.map(Event::data).collect(), is_lossy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn data(stream: &str, whole: bool) -> Vec<String> {
        let read = Framing::Lines.read(stream.as_bytes(), whole);
        read.events.into_iter().map(|event| event.data).collect()
    }

    #[test]
    fn a_media_type_names_a_framing_or_none() {
        let named = Framing::from_media_type;
        assert_eq!(named("text/event-stream"), Some(Framing::Events));
        assert_eq!(named("application/json"), None);
    }

    #[test]
    fn a_line_is_an_event_and_one_that_is_cut_off_was_not_sent() {
        assert_eq!(
            data("{\"a\":1}\r\n\n{\"b\":2}\n", true),
            ["{\"a\":1}", "{\"b\":2}"]
        );
        assert_eq!(data("{\"a\":1}\n{\"b\":", false), ["{\"a\":1}"]);
        // The end of the connection stands for the end of the line.
        assert_eq!(data("{\"a\":1}\n{\"b\":2}", false).len(), 2);
        assert_eq!(data("{\"a\":1}\n{\"b\":", true).len(), 2);
        assert_eq!(data("{\n  \"a\": 1\n}\n", true), ["{\n  \"a\": 1\n}"]);
        assert!(data("", true).is_empty());
    }

    #[test]
    fn a_stream_that_holds_nothing_is_one() {
        assert_eq!(Framing::List.pieces(&[]), ["[]"]);
        assert!(Framing::Lines.pieces(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn events_are_read_as_they_were_written(values in prop::collection::vec("[a-z \u{e9}\"\n]{0,12}", 0..5)) {
            let events: Vec<Event> = values
                .iter()
                .map(|value| Event::data(serde_json::json!({ "v": value }).to_string()))
                .collect();
            for framing in [Framing::Events, Framing::Lines] {
                let bytes = framing.pieces(&events).concat();
                prop_assert_eq!(framing.read(&bytes, true).events, events.clone());
                prop_assert_eq!(framing.read(&bytes, false).events, events.clone());
            }
            let list = Framing::List.pieces(&events).concat();
            let list: Vec<serde_json::Value> = serde_json::from_slice(&list).unwrap();
            prop_assert_eq!(list.len(), events.len());
        }
    }
}
