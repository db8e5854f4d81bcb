//! Why a run ended, in the words of recordings.

use mcptest_trace::spans::{RunEnd, parse_end};

use crate::event::Stop;

pub(super) fn reason(stop: Option<&Stop>) -> RunEnd {
    match stop {
        None => RunEnd::default(),
        Some(Stop::Known(reason)) => RunEnd::with_reason(reason),
        Some(Stop::Spelt(word)) => parse_end(word),
    }
}
