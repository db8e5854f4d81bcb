//! Requests, whole answers and streams of each wire format: nothing breaks, a stream reads the same however it is cut, and
//! what was read of an answer is read again when it is written, whole and streamed. The first byte says the format, the
//! second how long the pieces of the stream are.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcptest_session::exchange::ModelResponse;
use mcptest_session::protocol::sse::{self, Blocks};
use mcptest_session::protocol::{self, Framing, Route};
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    let [format, step, rest @ ..] = bytes else {
        return;
    };
    let protocol = protocol::ALL[usize::from(*format) % protocol::ALL.len()];
    let mut blocks = Blocks::default();
    let pieces = rest.chunks(usize::from(*step) + 1);
    let mut cut: Vec<_> = pieces.flat_map(|piece| blocks.push(piece)).collect();
    cut.extend(blocks.push(b"\n\n"));
    cut.push(blocks.rest());
    assert_eq!(cut.concat(), [rest, b"\n\n"].concat());
    let cut: Vec<_> = cut.iter().filter_map(sse::event).collect();
    assert_eq!(cut, sse::events(rest, true));
    for whole in [false, true] {
        _ = protocol::assembled(protocol, Some(Framing::Events), rest, whole);
    }
    let streamed = protocol.assembled(&cut);
    let answered = protocol::assembled(protocol, None, rest, true);
    if let Ok(body) = serde_json::from_slice::<Value>(rest) {
        let asked = protocol.parse_request(&Route::default(), &body);
        assert_eq!(asked, protocol.parse_request(&Route::default(), &body));
        if let Value::Array(items) = &body {
            protocol.items(items);
        }
    }
    for body in [answered.body, streamed.body].into_iter().flatten() {
        let Some(said) = protocol.parse_response(&body) else {
            continue;
        };
        // What was written by us is read as it was written.
        let written = protocol.parse_response(&protocol.answer(&said));
        let written = written.expect("our own answer is one");
        let again = protocol.parse_response(&protocol.answer(&written));
        assert_eq!(again.as_ref().map(calls), Some(calls(&written)));
        let assembled = protocol.assembled(&protocol.events(&written));
        // An answer that says no reason why it stops may go on.
        assert!(assembled.ended || written.stop.is_none(), "{assembled:?}");
        assert!(assembled.error.is_none(), "{assembled:?}");
        let streamed = assembled
            .body
            .as_ref()
            .and_then(|body| protocol.parse_response(body));
        assert_eq!(streamed.as_ref().map(calls), Some(calls(&written)));
        for other in protocol::ALL {
            let read = other.parse_response(&other.answer(&said));
            assert!(read.is_some(), "{}", other.name());
        }
    }
});

/// The calls that an answer asks for: the tool, and its arguments.
fn calls(said: &ModelResponse) -> Vec<(String, Value)> {
    let calls = said.calls();
    calls
        .map(|call| (call.name.clone(), call.args.clone()))
        .collect()
}
