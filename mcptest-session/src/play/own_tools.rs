//! Own tools, played: what the recording has of them, and what the code does otherwise.

use mcptest_trace::eval::Divergence;

use super::options::PlayOptions;
use super::player::Player;
use super::recording::Recording;
use crate::door::{Door, Playing, Ticks};

impl Recording {
    /// The door behind which its tools are played.
    pub(super) fn door(&self, options: &PlayOptions, ticks: Ticks) -> Door {
        let mut recorded = self.own_tools.clone();
        for (id, places) in &self.call_ids {
            let calls = places.iter().map(|place| place.call);
            recorded.ids.insert(id.clone(), calls.collect());
        }
        let playing = Playing::new(recorded, options.compared.clone(), options.masks.clone());
        Door::plays(playing, ticks)
    }
}

impl Player {
    /// The door of the session.
    pub(crate) fn door(&self) -> &Door {
        &self.0.door
    }

    /// What the code does otherwise with its own tools.
    pub(super) fn own_tools(&self) -> Vec<Divergence> {
        self.door().divergences(self.0.recording.answers())
    }
}
