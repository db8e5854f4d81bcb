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
pub(super) struct Inside<F> {
    run: String,
    inner: Pin<Box<F>>,
}

impl<F> Inside<F> {
    pub(super) fn new(run: String, inner: F) -> Self {
        Self {
            run,
            inner: Box::pin(inner),
        }
    }
}

/// Puts back what was there, also where the code panics.
struct Before(Option<String>);

impl Drop for Before {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

impl<F: Future> Future for Inside<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let before = CURRENT.replace(Some(self.run.clone()));
        let _before = Before(before);
        self.inner.as_mut().poll(context)
    }
}
