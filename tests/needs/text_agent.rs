//! The example of an agent that calls its tools from the model's text: its recordings hold, its tools do not run while it is
//! played, and what its code does otherwise is red.

use std::fs;

use scripted_provider::{Provider, Script};
use serde_json::json;

use crate::sessions::{mcptest_command, mcptest_recording};
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

/// `init`, `record`, `test`: its first suite, from a file whose name no case can have.
pub(crate) fn its_first_suite_is_recorded_and_green() {
    let file = "refund desk 🚀.py";
    let agent = workspace().join("python/examples/react-agent/agent.py");
    let folder = Folder::new().with_file(file, fs::read(agent).unwrap());
    let python = |command: &mut std::process::Command| {
        let library = workspace().join("python/src");
        let command = command
            .env("PYTHONPATH", library)
            .env("PYTHONDONTWRITEBYTECODE", "1");
        process::run(command)
    };
    let prompt = ["--prompt", "Is order 7 paid?"];
    let arguments = [&["init"], &prompt[..], &["--", "python3", file]].concat();
    let said = python(&mut mcptest_command(&folder, &arguments)).exits(0);
    assert!(
        said.stdout
            .contains("`refund desk 🚀` asks the model `gpt-5`. next: cargo mcptest record"),
        "{said}"
    );
    let says = |text: &str| json!({ "text": text, "usage": { "prompt": 90, "completion": 9 } });
    let run = || {
        let action = "Thought: I look.\nAction: find_order\nAction Input: {\"order\": 7}";
        let end = "Thought: I am done.\nFinal Answer: Yes, order 7 is paid.";
        json!([says(action), says(end)])
    };
    let script = json!({ "conversations": [
        { "user": prompt[1], "model": "gpt-5", "runs": [run(), run()] },
    ] });
    let provider = Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap();
    let recorded = python(&mut mcptest_recording(&folder, &provider, &["record"])).exits(0);
    assert!(recorded.stdout.contains("2 passed"), "{recorded}");
    drop(provider);
    let tested = python(&mut mcptest_command(&folder, &["test"])).exits(0);
    assert!(
        tested
            .stdout
            .contains("test refund_desk::refund_desk::playback ... ok"),
        "{tested}"
    );
}
