//! A body that comes in pieces, and may break off.

use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    task::{Context, Poll},
};

use hyper::body::{Body, Bytes, Frame};

/// The pieces of a body, then an error where it breaks off.
#[derive(Debug)]
pub(crate) struct Pieces {
    left: VecDeque<Bytes>,
    cut: bool,
    /// What was given so far is sent before the next piece.
    waits: bool,
}

impl Pieces {
    pub(crate) fn new(pieces: impl IntoIterator<Item = Bytes>, cut: bool) -> Self {
        Self {
            left: pieces.into_iter().collect(),
            cut,
            waits: false,
        }
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.cut
    }

    /// All pieces as one.
    pub(crate) fn into_bytes(self) -> Bytes {
        let pieces: Vec<Bytes> = self.left.into();
        pieces.concat().into()
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.waits {
            self.waits = false;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let Some(piece) = self.left.pop_front() {
            self.waits = true;
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        if self.cut {
            let error = io::Error::other("the script cuts the answer");
            return Poll::Ready(Some(Err(error)));
        }
        Poll::Ready(None)
    }
}
