//! The log of a session, and what never gets into it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::observed::{Observed, Outcome};
use super::stored_request::{Pool, StoredRequest};
use crate::door::Ticks;
use crate::exchange::{Call, Item, ModelRequest};
use crate::lossless::Change;

/// How often it is looked whether an answer has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// What went by in a session, in the order in which it was asked.
#[derive(Debug, Clone, Default)]
pub struct Log {
    all: Arc<Mutex<LogState>>,
    pool: Arc<Mutex<Pool>>,
    ticks: Ticks,
}

/// The requests, and what is asked of them before each model call and each call at a server.
#[derive(Debug, Clone, Default)]
struct LogState {
    requests: Vec<Observed>,
    /// How many have no outcome.
    open: usize,
    /// The whole answers, in the order in which they came.
    whole: Vec<usize>,
    /// How many calls of tools the whole answers ask for.
    tool_calls: u64,
    /// The tokens that all answers took, as far as they tell it.
    tokens: u64,
    /// The last request whose answer tells its tokens, and the tokens.
    last: (usize, u64),
}

impl Log {
    /// A request as it is kept, with what earlier ones held shared.
    pub(crate) fn store_request(&self, asked: ModelRequest) -> StoredRequest {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        pool.share(asked)
    }

    /// Notes a request that waits for its answer; its place is returned.
    pub(crate) fn begin(&self, mut observed: Observed) -> usize {
        let mut all = self.state();
        observed.tick = self.ticks.next();
        all.requests.push(observed);
        all.open += 1;
        all.requests.len() - 1
    }

    /// Notes what came of a request, once.
    pub(crate) fn end(
        &self,
        place: usize,
        ended_at: u64,
        gone: bool,
        (outcome, changes): (Outcome, Vec<Change>),
    ) {
        let mut all = self.state();
        let all = &mut *all;
        let Some(observed) = all.requests.get_mut(place) else {
            return;
        };
        all.open = all.open.saturating_sub(1);
        if let Outcome::Answered { said, broken } = &outcome {
            if broken.is_none() {
                all.whole.push(place);
                all.tool_calls += said.calls().count() as u64;
            }
            if let Some(tokens) = said.tokens {
                let taken = tokens.prompt.saturating_add(tokens.completion);
                all.tokens = all.tokens.saturating_add(taken);
                if place >= all.last.0 {
                    all.last = (place, taken);
                }
            }
        }
        observed.ended_at = Some(ended_at);
        observed.gone = gone;
        observed.outcome = outcome;
        observed.changes.extend(changes);
    }

    /// What numbers all that happens in the session.
    pub(crate) fn ticks(&self) -> &Ticks {
        &self.ticks
    }

    fn has_open(&self) -> bool {
        self.state().open > 0
    }

    /// Waits until no request is open, at most so long.
    pub(crate) async fn wait_until_idle(&self, most: Duration) {
        let settles = async {
            while self.has_open() {
                tokio::time::sleep(PAUSE).await;
            }
        };
        // What is open then came to nothing.
        let _ = tokio::time::timeout(most, settles).await;
    }

    /// The calls of whole answers that came since, in the order in which the answers came. `known`: how many answers
    /// had come before.
    pub(crate) fn new_calls(&self, known: &mut usize) -> Vec<Call> {
        let all = self.state();
        let came = all.whole.get(*known..).unwrap_or_default();
        *known = all.whole.len();
        let mut new = came.to_vec();
        new.sort_by_key(|place| (all.requests[*place].ended_at, *place));
        let calls = new
            .into_iter()
            .flat_map(|place| match &all.requests[place].outcome {
                Outcome::Answered { said, .. } => said.calls().cloned().collect(),
                _ => Vec::new(),
            });
        calls.collect()
    }

    /// Whether no tool was offered till now, and the model said something.
    pub(crate) fn acts_in_text(&self) -> bool {
        let all = self.state();
        let mut asked = all.requests.iter().filter_map(|one| one.asked.as_ref());
        !all.whole.is_empty() && asked.all(|asked| asked.tools.is_empty())
    }

    /// Whether a request told the model the result of a call with this identifier.
    pub(crate) fn has_result_for(&self, id: &str) -> bool {
        let all = self.state();
        let mut asked = all.requests.iter().filter_map(|one| one.asked.as_ref());
        asked.any(|asked| {
            let mut items = asked.items.iter();
            items.any(
                |item| matches!(&**item, Item::Result(result) if result.id.as_deref() == Some(id)),
            )
        })
    }

    /// How many calls of tools the model asked for.
    pub(super) fn tool_calls(&self) -> u64 {
        self.state().tool_calls
    }

    /// The tokens that all answers took, and those of the last one; what no answer tells is not counted.
    pub(super) fn tokens(&self) -> (u64, u64) {
        let all = self.state();
        (all.tokens, all.last.1)
    }

    /// What went by till now.
    #[must_use]
    pub fn observed(&self) -> Vec<Observed> {
        self.state().requests.clone()
    }

    fn state(&self) -> MutexGuard<'_, LogState> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
