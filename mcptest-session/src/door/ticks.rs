//! What came before what, among all that goes by in a session.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many numbers [`Ticks::leave_out`] leaves out.
#[cfg(feature = "play")]
const LEFT_OUT: u64 = 1 << 24;

/// Numbers that rise, one for each thing that happens.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ticks(Arc<AtomicU64>);

impl Ticks {
    /// The next number. The first is 1.
    pub(crate) fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Leaves numbers out, for what is put in later.
    #[cfg(feature = "play")]
    pub(crate) fn leave_out(&self) {
        self.0.fetch_add(LEFT_OUT, Ordering::SeqCst);
    }
}
