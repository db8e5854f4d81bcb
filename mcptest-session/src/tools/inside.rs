//! The run that code is inside of, wherever its task goes on.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

thread_local! {
    static CURRENT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The run that the code is inside of.
pub(super) fn current() -> Option<String> {
    CURRENT.with_borrow(Clone::clone)
}

/// A future that is inside of a run while it goes on.
pub(super) struct InsideRun<F> {
    run: String,
    inner: Pin<Box<F>>,
}

impl<F> InsideRun<F> {
    pub(super) fn new(run: String, inner: F) -> Self {
        Self {
            run,
            inner: Box::pin(inner),
        }
    }
}

/// Puts back what was there, also where the code panics.
struct RestoreOnDrop(Option<String>);

impl Drop for RestoreOnDrop {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

impl<F: Future> Future for InsideRun<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let before = CURRENT.replace(Some(self.run.clone()));
        let _before = RestoreOnDrop(before);
        self.inner.as_mut().poll(context)
    }
}
