//! The event stream of AWS: messages with headers and checksums, which the library of AWS reads and writes. A message is an
//! event of the name that its headers have.

use aws_smithy_eventstream::frame::{DecodedFrame, MessageFrameDecoder, write_message_to};
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use bytes::{Buf as _, Bytes};
use serde_json::json;

use super::super::sse::{Event, Stream};
use super::{EXCEPTION, is_exception};

/// The media type of such a stream.
pub(in crate::protocol) const MEDIA_TYPE: &str = "application/vnd.amazon.eventstream";

/// The events of a stream.
pub(in crate::protocol) fn read(stream: &[u8], whole: bool) -> Stream {
    let mut rest = Bytes::copy_from_slice(stream);
    let mut decoder = MessageFrameDecoder::new();
    let mut read = Stream::default();
    loop {
        let is_at_end = !rest.has_remaining();
        match decoder.decode_frame(&mut rest) {
            Ok(DecodedFrame::Complete(message)) => {
                read.is_lossy |= std::str::from_utf8(message.payload()).is_err();
                read.events.push(event(&message));
            }
            Ok(DecodedFrame::Incomplete) => {
                let is_cut = whole && !is_at_end;
                read.unread = is_cut.then(|| "the stream ends inside of a message".to_owned());
                return read;
            }
            Err(error) => {
                let number = read.events.len() + 1;
                let unread = format!("message {number} of the stream cannot be read: {error}");
                read.unread = Some(unread);
                return read;
            }
        }
    }
}

fn event(message: &Message) -> Event {
    let header = |name: &str| {
        let mut headers = message.headers().iter();
        let found = headers.find(|header| header.name().as_str() == name)?;
        let text = found.value().as_string().ok()?;
        Some(text.as_str().to_owned())
    };
    let data = String::from_utf8_lossy(message.payload()).into_owned();
    // A name that does not end so is no event either.
    let exception = |name: String| {
        if name.ends_with(EXCEPTION) {
            name
        } else {
            name + EXCEPTION
        }
    };
    match header(":message-type").as_deref() {
        Some("exception") => {
            let name = header(":exception-type").unwrap_or_default();
            Event::named(&exception(name), data)
        }
        Some("error") => {
            let name = header(":error-code").unwrap_or_default();
            let message = header(":error-message").unwrap_or_default();
            Event::named(&exception(name), json!({ "message": message }).to_string())
        }
        _ => Event {
            name: header(":event-type"),
            data,
        },
    }
}

/// An event as it stands in a stream.
pub(in crate::protocol) fn bytes(event: &Event) -> Bytes {
    let name = event.name.clone().unwrap_or_default();
    let (kind, key) = if is_exception(event) {
        ("exception", ":exception-type")
    } else {
        ("event", ":event-type")
    };
    let header =
        |name: &'static str, value: String| Header::new(name, HeaderValue::String(value.into()));
    let message = Message::new(event.data.clone())
        .add_header(header(key, name))
        .add_header(header(":content-type", "application/json".to_owned()))
        .add_header(header(":message-type", kind.to_owned()));
    let mut bytes = Vec::new();
    // It fails only for names and answers that no stream can hold, and a message without its end is one that broke off.
    match write_message_to(&message, &mut bytes) {
        Ok(()) => bytes.into(),
        Err(_) => Bytes::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The events of a stream, and why the rest cannot be read.
    fn read(stream: &[u8], whole: bool) -> (Vec<Event>, Option<String>) {
        let Stream { events, unread, .. } = super::read(stream, whole);
        (events, unread)
    }

    /// A message as AWS publishes it as an example of its format: `{'foo':'bar'}` with a header of its content type.
    const PUBLISHED: &str = "0000003d0000002007fd83960c636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e\
                             7b27666f6f273a27626172277d8d9c08b1";

    fn from_hex(text: &str) -> Vec<u8> {
        let digits: Vec<char> = text.chars().filter(char::is_ascii_hexdigit).collect();
        let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16);
        digits.chunks(2).map(|pair| byte(pair).unwrap()).collect()
    }

    #[test]
    fn a_message_that_aws_published_is_read() {
        let bytes = from_hex(PUBLISHED);
        let data = "{'foo':'bar'}";
        assert_eq!(read(&bytes, true), (vec![Event::data(data)], None));
        let twice = [&bytes[..], &bytes[..]].concat();
        assert_eq!(read(&twice, true).0.len(), 2);
    }

    #[test]
    fn a_message_that_was_changed_or_cut_is_told_and_those_before_it_are_kept() {
        let first = bytes(&Event::named("messageStart", "{}"));
        let whole = [
            first.clone(),
            bytes(&Event::named("messageStop", "{\"a\":1}")),
        ]
        .concat();
        for place in first.len()..whole.len() {
            let mut changed = whole.clone();
            changed[place] ^= 1;
            let (events, unread) = read(&changed, true);
            assert_eq!(events, [Event::named("messageStart", "{}")], "{place}");
            assert!(unread.is_some(), "{place}");
            let (events, unread) = read(&whole[..place], true);
            assert_eq!(events.len(), 1, "{place}");
            assert_eq!(unread.is_some(), place > first.len(), "{place}");
            // A connection that broke off tells that itself.
            assert_eq!(read(&whole[..place], false).1, None, "{place}");
        }
    }

    #[test]
    fn exceptions_and_errors_are_events_of_their_name() {
        let exception = Event::named("throttlingException", "{\"message\":\"slow down\"}");
        let written = bytes(&exception);
        assert_eq!(read(&written, true), (vec![exception], None));
        let text = |value: &'static str| HeaderValue::String(value.into());
        let error = Message::new("")
            .add_header(Header::new(":message-type", text("error")))
            .add_header(Header::new(":error-code", text("InternalError")))
            .add_header(Header::new(":error-message", text("it broke")));
        let mut stream = Vec::new();
        write_message_to(&error, &mut stream).unwrap();
        let told = Event::named("InternalErrorException", "{\"message\":\"it broke\"}");
        assert_eq!(read(&stream, true), (vec![told], None));
    }

    fn events() -> impl Strategy<Value = Vec<Event>> {
        let event = ("[a-zA-Z]{1,20}", "[a-z \u{e9}\u{1f642}\"\n]{0,40}");
        let event = event.prop_map(|(name, data)| Event::named(&name, data));
        prop::collection::vec(event, 0..5)
    }

    fn stream(events: &[Event]) -> Vec<u8> {
        events
            .iter()
            .flat_map(|event| bytes(event).to_vec())
            .collect()
    }

    proptest! {
        #[test]
        fn events_are_read_as_they_were_written(events in events()) {
            prop_assert_eq!(read(&stream(&events), true), (events, None));
        }

        #[test]
        fn whatever_bytes_come_nothing_breaks(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            read(&bytes, true);
            read(&bytes, false);
        }

        /// Lengths that lie, headers that are none, and checksums that are right all the same.
        #[test]
        fn messages_with_odd_lengths_and_right_checksums_break_nothing(
            total in prop_oneof![0..80_u32, any::<u32>()],
            headers in prop_oneof![0..60_u32, any::<u32>()],
            rest in prop::collection::vec(any::<u8>(), 0..80),
        ) {
            let mut bytes = [total.to_be_bytes(), headers.to_be_bytes()].concat();
            bytes.extend(crc(&bytes).to_be_bytes());
            bytes.extend(rest);
            let end = usize::try_from(total).unwrap_or(usize::MAX).saturating_sub(4);
            if (12..bytes.len()).contains(&end) {
                bytes.truncate(end);
                bytes.extend(crc(&bytes).to_be_bytes());
            }
            let (events, _) = read(&bytes, true);
            prop_assert!(events.len() <= 2);
        }

        #[test]
        fn a_changed_byte_makes_no_other_event(events in events(), place in any::<prop::sample::Index>(), bit in 0..8_u8) {
            let mut bytes = stream(&events);
            prop_assume!(!bytes.is_empty());
            let place = place.index(bytes.len());
            bytes[place] ^= 1 << bit;
            let (found, unread) = read(&bytes, true);
            prop_assert!(unread.is_some());
            prop_assert!(found.len() < events.len());
            prop_assert_eq!(&found[..], &events[..found.len()]);
        }
    }

    /// The checksum of the format, bit by bit.
    fn crc(bytes: &[u8]) -> u32 {
        let step = |crc: u32| (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg());
        let byte = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc));
        !bytes.iter().fold(!0, byte)
    }
}
