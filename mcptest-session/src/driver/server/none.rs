//! Where programs are not forked for their runs: they are started anew.

use std::time::Duration;

use super::{AgentCommand, CommandOutcome};

/// There is none.
#[derive(Debug)]
pub(super) enum Server {}

impl Server {
    pub(super) fn is_gone(&self) -> bool {
        match *self {}
    }

    pub(super) fn fits(&self, _: &AgentCommand) -> bool {
        match *self {}
    }

    pub(super) async fn run(
        &mut self,
        _: &AgentCommand,
        _: Option<Duration>,
    ) -> Option<CommandOutcome> {
        match *self {}
    }
}

/// Whether programs can be forked here.
pub(super) const IS_HERE: bool = false;
