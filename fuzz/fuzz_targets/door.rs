//! The two requests of the door of own tools, in any bytes: what is read can be written and read again, and no call is lost or
//! ended twice. The first byte says which of the two each request is.
#![no_main]

use std::future::Future as _;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use libfuzzer_sys::fuzz_target;
use mcptest_session::door::{Door, Ending, Verdict, request};

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    let door = Door::recording();
    let mut begun = 0;
    for (place, part) in rest.split(|byte| *byte == b'\n').take(8).enumerate() {
        if first >> place & 1 == 0 {
            let Ok(call) = request::parse_call(part) else {
                continue;
            };
            // Nothing is waited for where there are no faults.
            let future = pin!(door.call(call));
            match { future }
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
            {
                Poll::Ready(Ok(Verdict::Run(run))) => {
                    assert_eq!(run, begun);
                    begun += 1;
                }
                Poll::Ready(Ok(other)) => panic!("{other:?}"),
                Poll::Ready(Err(_)) => {}
                Poll::Pending => panic!("it waits"),
            }
        } else {
            let Ok(done) = request::parse_done(part) else {
                continue;
            };
            let run = done.run;
            let is_open = door
                .calls()
                .get(run)
                .is_some_and(|call| call.ended.is_none());
            assert_eq!(door.done(done.clone()).is_ok(), is_open);
            assert!(door.done(done).is_err());
        }
        assert_eq!(door.calls().len(), begun);
    }
    // What was recorded is given back, and nothing runs.
    let written = door.notes();
    let plays = Door::from_notes(&written);
    for call in door.calls() {
        let mut asked = request::parse_call(br#"{"name":"x"}"#).expect("a request");
        asked.name.clone_from(&call.name);
        asked.args = call.args.as_object().cloned().unwrap_or_default();
        let future = pin!(plays.call(asked));
        let answer = { future }
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        let Poll::Ready(Ok(answer)) = answer else {
            panic!("{answer:?}")
        };
        assert!(!matches!(answer, Verdict::Run(_)));
        if let (Ending::Result(_), Verdict::Error(raised)) = (&call.ending, &answer) {
            panic!("{raised:?}");
        }
    }
    assert!(
        plays
            .divergences(0)
            .iter()
            .all(|one| one.message.contains("control flow"))
    );
});
