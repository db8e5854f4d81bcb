//! Where programs are not forked for their runs: they are started anew.

use std::time::Duration;

use super::servers::Seat;
use super::{AgentCommand, Ended, StartError, run};

/// There is none.
#[derive(Debug)]
pub(super) enum Server {}

impl Server {
    pub(super) fn fits(&self, _: &AgentCommand) -> bool {
        match *self {}
    }

    pub(super) async fn run(&mut self, _: &AgentCommand, _: Option<Duration>) -> Option<Ended> {
        match *self {}
    }
}

/// Whether programs can be forked here.
pub(super) const IS_HERE: bool = false;

/// Starts the program, as nothing else is possible.
pub(super) async fn start_to_serve(
    agent: &AgentCommand,
    _: &mut Seat<'_>,
) -> Result<Ended, StartError> {
    run(agent).await
}
