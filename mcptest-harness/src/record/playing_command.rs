//! What the runs of one agent share that are played by its `command:`.

use std::path::Path;
use std::sync::OnceLock;

use mcptest_session::driver::Servers;
use mcptest_suite::model::AgentCommand;

/// Plays the runs of one agent by its `command:`.
#[derive(Debug, Default)]
pub(super) struct PlayingCommand {
    servers: OnceLock<Servers>,
}

impl PlayingCommand {
    /// The processes of the program that fork for its runs.
    pub(super) fn servers(&self, command: &AgentCommand, folder: &Path) -> &Servers {
        self.servers.get_or_init(|| match command.before {
            // What the program has opened may be of the state before it was set back.
            Some(_) => Servers::off(),
            None => Servers::new(&command.command, folder),
        })
    }

    /// What stands in the way of a program that would fork.
    pub(super) fn hindrance(&self) -> Option<String> {
        self.servers.get()?.hindrance()
    }
}
