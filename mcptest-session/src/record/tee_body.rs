//! The body of an answer as it goes by: every byte goes on at once, and a copy is kept to be read.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::Bytes;
use tokio_stream::Stream;

use crate::protocol::Protocol;
use crate::protocol::sse::{self, Blocks};

/// The most bytes of an answer that are read.
pub(super) const MOST: usize = 64 << 20;

/// How a body ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ending {
    /// The whole body came.
    Whole,
    /// The connection broke.
    Broken(String),
    /// The client went away.
    Gone,
    /// More came than is read.
    TooLong,
}

type Upstream = Pin<Box<dyn Stream<Item = reqwest::Result<Bytes>> + Send>>;

/// Called once, with the copy.
type AtEnd = Box<dyn FnOnce(Vec<u8>, Ending) + Send>;

pub(super) struct TeeBody {
    upstream: Upstream,
    /// Takes out the event that the client did not ask for.
    without_tokens: Option<(&'static dyn Protocol, Blocks)>,
    /// What goes on next.
    next: VecDeque<Bytes>,
    copy: Vec<u8>,
    too_long: bool,
    /// How many bytes are still to come, where the answer says how many it has. Nobody asks for more then.
    to_come: Option<u64>,
    at_end: Option<AtEnd>,
    ended: bool,
}

impl TeeBody {
    pub(super) fn new(
        upstream: Upstream,
        length: Option<u64>,
        without_tokens: Option<&'static dyn Protocol>,
        at_end: AtEnd,
    ) -> Self {
        Self {
            upstream,
            without_tokens: without_tokens.map(|protocol| (protocol, Blocks::default())),
            next: VecDeque::new(),
            copy: Vec::new(),
            too_long: false,
            to_come: length,
            at_end: Some(at_end),
            ended: false,
        }
    }

    fn take(&mut self, bytes: Bytes) {
        let length = bytes.len() as u64;
        if self.copy.len() + bytes.len() > MOST {
            self.too_long = true;
        }
        if !self.too_long {
            self.copy.extend_from_slice(&bytes);
        }
        match &mut self.without_tokens {
            None => self.next.push_back(bytes),
            Some((protocol, blocks)) => {
                let whole = blocks.push(&bytes).into_iter();
                let is_tokens = |block: &Bytes| {
                    let event = sse::event(block);
                    event.is_some_and(|event| protocol.is_tokens_alone(&event))
                };
                self.next.extend(whole.filter(|block| !is_tokens(block)));
            }
        }
        if let Some(to_come) = &mut self.to_come {
            *to_come = to_come.saturating_sub(length);
            if *to_come == 0 {
                self.end(Ending::Whole);
            }
        }
    }

    fn end(&mut self, ending: Ending) {
        self.ended = true;
        if let Some((_, blocks)) = &mut self.without_tokens {
            let rest = blocks.rest();
            if !rest.is_empty() {
                self.next.push_back(rest);
            }
        }
        let ending = if self.too_long {
            Ending::TooLong
        } else {
            ending
        };
        if let Some(at_end) = self.at_end.take() {
            at_end(std::mem::take(&mut self.copy), ending);
        }
    }
}

impl Stream for TeeBody {
    type Item = reqwest::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(bytes) = self.next.pop_front() {
                return Poll::Ready(Some(Ok(bytes)));
            }
            if self.ended {
                return Poll::Ready(None);
            }
            match ready!(self.upstream.as_mut().poll_next(context)) {
                Some(Ok(bytes)) => self.take(bytes),
                Some(Err(error)) => {
                    let words = error.to_string();
                    self.end(Ending::Broken(words));
                    return Poll::Ready(Some(Err(error)));
                }
                None => self.end(Ending::Whole),
            }
        }
    }
}

impl Drop for TeeBody {
    fn drop(&mut self) {
        // Of an answer without a body nobody asks for one.
        let ending = if self.to_come == Some(0) {
            Ending::Whole
        } else {
            Ending::Gone
        };
        self.end(ending);
    }
}
