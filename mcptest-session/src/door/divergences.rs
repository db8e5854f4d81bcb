//! The divergences of own tools while a recording is played: calls that were not recorded, recorded calls that are
//! not made.

use mcptest_trace::eval::{Divergence, DivergenceKind, PlaybackOptions};
use mcptest_trace::trace::Trace;
use serde_json::Value;

use super::play::CallPlayer;
use super::recorded::{RecordedCalls, RecordedOwnCall};
use super::state::Door;
use super::ticks::Ticks;

/// Why none of the calls of a tool may have been seen, beside that there were none.
const UNSEEN: &str =
    ", or no session sees it: its decorator is gone, or it runs where `MCPTEST_TOOLS` is not set";

impl Door {
    /// A door behind which no tool runs: what a cassette has of own tools is given back.
    #[must_use]
    pub fn from_notes(notes: &[Value]) -> Self {
        let recorded = RecordedCalls::from_notes(notes, &Trace::default());
        Self::playing(
            CallPlayer::new(recorded, PlaybackOptions::suite_default(), Vec::new()),
            Ticks::default(),
        )
    }

    /// The divergences of own tools where no model calls are played. `answers`: how many answers of a model the
    /// recording has.
    #[must_use]
    pub fn divergences(&self, answers: usize) -> Vec<Divergence> {
        self.divergences_with(answers, &|_| answers, &|_| true)
    }

    /// The divergences of own tools, with the place of each among the model calls. `made`: how many model calls
    /// were made before a tick. `goes_on`: whether the code went on after a recorded call; a recorded call after
    /// which it did not is no divergence.
    pub(crate) fn divergences_with(
        &self,
        answers: usize,
        made: &dyn Fn(u64) -> usize,
        goes_on: &dyn Fn(&RecordedOwnCall) -> bool,
    ) -> Vec<Divergence> {
        let told = |name: &str, call: usize, message: String, values: [Option<Value>; 2]| {
            let path = format!("tools[{name}]");
            let [recorded, played] = values;
            Divergence::new(DivergenceKind::ToolCall, (call, answers), path, message)
                .with_values(recorded, played)
        };
        let found = self.with_playing(|playing| {
            let unknown = playing.unknown.iter().map(|one| {
                let values = [one.nearest.clone(), Some(one.args.clone())];
                told(&one.name, made(one.tick), one.words.clone(), values)
            });
            let unmade = playing
                .missing_calls()
                .filter(|one| goes_on(one))
                .map(|one| {
                    let name = &one.own.name;
                    let mut words =
                        format!("the code does not make the recorded call of the tool `{name}`");
                    if !playing.is_called(name) {
                        words += UNSEEN;
                    }
                    told(name, answers, words, [Some(one.own.args.clone()), None])
                });
            unknown.chain(unmade).collect()
        });
        found.unwrap_or_default()
    }
}
