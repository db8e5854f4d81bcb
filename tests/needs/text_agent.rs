//! The example of an agent that calls its tools from the model's text: its recordings hold, its tools do not run while it is
//! played, and what its code does otherwise is red.

use std::fs;

use crate::sessions::mcptest_command;
use crate::support::folder::{Folder, collect};
use crate::support::process::{self, Finished};
use crate::support::workshop::workspace;

/// The example in a folder of its own, as a change leaves it.
struct Example(Folder);

impl Example {
    fn changed(from: &str, to: &str) -> Self {
        let folder = Folder::new();
        let example = workspace().join("python/examples/react-agent");
        for (path, bytes) in collect(&example) {
            folder.write(&path, bytes);
        }
        let agent = fs::read_to_string(folder.at("agent.py")).unwrap();
        assert!(agent.contains(from), "the agent has no `{from}`");
        folder.write("agent.py", agent.replace(from, to));
        Self(folder)
    }

    fn test(&self) -> Finished {
        let library = workspace().join("python/src");
        let mut command = mcptest_command(&self.0, &["test"]);
        let played = command
            .env("PYTHONPATH", library)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("LEDGER", self.0.at("ledger"));
        process::run(played)
    }

    /// No money moved.
    fn assert_unpaid(&self) {
        assert!(!self.0.at("ledger").exists());
    }
}

pub(crate) fn the_example_plays_and_no_tool_runs() {
    let example = Example::changed("", "");
    let said = example.test().exits(0);
    assert_eq!(said.outcomes().len(), 8, "{said}");
    example.assert_unpaid();
}

pub(crate) fn what_its_code_does_otherwise_is_red() {
    let changes = [
        (
            "(**json.loads(given[1]))",
            "(order=json.loads(given[1])[\"order\"] + 1)",
            "model call 1 of 3: the recording has no call of `find_order` with these arguments; the nearest recorded call has {\"order\":7}: \
             `order` is 8 and was 7",
        ),
        (
            "json.dumps(TOOLS[name[1]](**json.loads(given[1])))",
            "\"{}\"",
            "the code does not make the recorded call of the tool `refund`",
        ),
        (
            "return f\"Error: {error}\"",
            "return \"Done.\"",
            "+Observation: Done.",
        ),
    ];
    for (from, to, told) in changes {
        let example = Example::changed(from, to);
        let said = example.test();
        assert_ne!(said.code, Some(0), "{said}");
        assert!(said.stdout.contains(told), "{told}: {said}");
        example.assert_unpaid();
    }
}
