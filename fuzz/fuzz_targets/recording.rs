//! Any bytes are a recorded run, which is the same when it is read again, or are refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcptest_trace::trace::{Origin, Trace, parse_run};

fuzz_target!(|bytes: &[u8]| {
    match parse_run(bytes, &Origin::file("run.json")) {
        Ok(run) => {
            let mut again = Trace::from_envelope(run.envelope());
            // That stands beside the envelope.
            again.flags_are_partial = run.trace.flags_are_partial;
            assert_eq!(again, run.trace);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
