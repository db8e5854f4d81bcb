//! The log of a session, and what never gets into it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::observed::{Observed, Outcome};

/// How often it is looked whether an answer has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// What went by in a session, in the order in which it was asked.
#[derive(Debug, Clone, Default)]
pub struct Log(Arc<Mutex<Vec<Observed>>>);

impl Log {
    /// Notes a request; its place is returned.
    pub(crate) fn begin(&self, observed: Observed) -> usize {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(observed);
        all.len() - 1
    }

    /// Notes what came of a request.
    pub(crate) fn end(&self, place: usize, ended_at: u64, gone: bool, outcome: Outcome) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(observed) = all.get_mut(place) {
            observed.ended_at = Some(ended_at);
            observed.gone = gone;
            observed.outcome = outcome;
        }
    }

    fn has_open(&self) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().any(|one| one.outcome == Outcome::Open)
    }

    /// Waits until no request is open, at most so long.
    pub(crate) async fn settled(&self, most: Duration) {
        let settles = async {
            while self.has_open() {
                tokio::time::sleep(PAUSE).await;
            }
        };
        // What is open then came to nothing.
        let _ = tokio::time::timeout(most, settles).await;
    }

    /// What went by till now.
    #[must_use]
    pub fn observed(&self) -> Vec<Observed> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.clone()
    }
}
