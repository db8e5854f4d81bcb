//! The log of a session, and what never gets into it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::observed::{Observed, Outcome};
use super::question::{Pool, Question};
use crate::exchange::{Asked, Call, Said};

/// How often it is looked whether an answer has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// What went by in a session, in the order in which it was asked.
#[derive(Debug, Clone, Default)]
pub struct Log {
    all: Arc<Mutex<Vec<Observed>>>,
    pool: Arc<Mutex<Pool>>,
}

impl Log {
    /// A request as it is kept, with what earlier ones held shared.
    pub(crate) fn question(&self, asked: Asked) -> Question {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        pool.shared(asked)
    }

    /// Notes a request; its place is returned.
    pub(crate) fn begin(&self, observed: Observed) -> usize {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(observed);
        all.len() - 1
    }

    /// Notes what came of a request.
    pub(crate) fn end(&self, place: usize, ended_at: u64, gone: bool, outcome: Outcome) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(observed) = all.get_mut(place) {
            observed.ended_at = Some(ended_at);
            observed.gone = gone;
            observed.outcome = outcome;
        }
    }

    fn has_open(&self) -> bool {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// The calls of answers that came since, in the order in which the answers came. `known` are the answers whose
    /// calls were given before.
    pub(crate) fn new_calls(&self, known: &mut BTreeSet<usize>) -> Vec<Call> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let mut new: Vec<(Option<u64>, usize, &Said)> = Vec::new();
        for (place, one) in all.iter().enumerate() {
            if let Outcome::Said { said, broken: None } = &one.outcome
                && known.insert(place)
            {
                new.push((one.ended_at, place, said));
            }
        }
        new.sort_by_key(|(ended_at, place, _)| (*ended_at, *place));
        let calls = new.into_iter().flat_map(|(_, _, said)| said.calls());
        calls.cloned().collect()
    }

    /// How many calls of tools the model asked for.
    pub(super) fn tool_calls(&self) -> u64 {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let said = all.iter().filter_map(|one| match &one.outcome {
            Outcome::Said { said, broken: None } => Some(said.calls().count() as u64),
            _ => None,
        });
        said.sum()
    }

    /// The tokens that all answers took, and those of the last one; what no answer tells is not counted.
    pub(super) fn tokens(&self) -> (u64, u64) {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = all.iter().filter_map(|one| match &one.outcome {
            Outcome::Said { said, .. } => {
                let tokens = said.tokens?;
                Some(tokens.prompt.saturating_add(tokens.completion))
            }
            _ => None,
        });
        taken.fold((0, 0), |(sum, _), taken| {
            (u64::saturating_add(sum, taken), taken)
        })
    }

    /// What went by till now.
    #[must_use]
    pub fn observed(&self) -> Vec<Observed> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.clone()
    }
}
