//! Why a run ended, in the words of recordings.

use mcptest_trace::spans::{Ended, ended};

use crate::event::Stop;

pub(super) fn reason(stop: Option<&Stop>) -> Ended {
    match stop {
        None => Ended::default(),
        Some(Stop::Known(reason)) => Ended::by(reason),
        Some(Stop::Spelt(word)) => ended(word),
    }
}
