//! Messages of MCP in bytes that come in pieces: what is read does not depend on where the pieces end. The first byte says
//! how long they are.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcptest_session::mcp::frames::{EventStream, Frame, Lines};
use mcptest_session::mcp::messages::{Answer, Listener, Messages, Speaker};
use serde_json::Value;

/// Hears of calls, and counts them.
#[derive(Default)]
struct Counted {
    called: usize,
    ended: usize,
}

impl Listener for Counted {
    type Call = usize;

    fn on_call(&mut self, _: &str, _: Value) -> usize {
        self.called += 1;
        self.called - 1
    }

    fn on_return(&mut self, call: usize, _: Answer) {
        assert!(call < self.called);
        self.ended += 1;
    }

    fn on_give_up(&mut self, call: usize) {
        assert!(call < self.called);
        self.ended += 1;
    }

    fn on_answer(&mut self, _: &str, _: Value, _: Answer) {}
}

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    let step = usize::from(*first) + 1;
    let lines = |step: usize| {
        let (mut lines, mut frames) = (Lines::default(), Vec::new());
        for piece in rest.chunks(step) {
            lines.take(piece, |frame| frames.push(frame));
        }
        frames.extend(lines.end());
        frames
    };
    let whole = lines(usize::MAX);
    assert_eq!(lines(step), whole);
    let events = |step: usize| {
        let (mut events, mut frames) = (EventStream::default(), Vec::new());
        for piece in rest.chunks(step) {
            events.take(piece, |frame| frames.push(frame));
        }
        frames
    };
    assert_eq!(events(step), events(usize::MAX));
    let (mut messages, mut counted) = (Messages::default(), Counted::default());
    for (place, frame) in whole.into_iter().enumerate() {
        let side = if place % 2 == 0 {
            Speaker::Client
        } else {
            Speaker::Server
        };
        let (Frame::Message(..) | Frame::Unreadable(_)) = &frame;
        messages.take(side, frame, &mut counted);
    }
    assert!(counted.ended <= counted.called);
});
