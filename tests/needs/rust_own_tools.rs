//! Tools of an agent's own code in Rust, over rig and in a plain loop: `examples/rust-agents/agents/examples/pays.rs`. The
//! tool leaves a line in a file each time that it runs.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use scripted_provider::{Provider, Script};
use serde_json::{Value, json};

use crate::rust_agents::of_agents;
use crate::sessions::mcptest_command;
use crate::support::folder::Folder;
use crate::support::process::{self, Finished};
use crate::support::workshop::example_program;

const CASSETTE: &str = "suites/cassettes/Desk__gpt-5-mini.json";

/// A folder with the suite of an agent.
struct Desk(Folder);

impl Desk {
    fn new(library: &str, keys: &str) -> Self {
        let program = of_agents()["pays"].display();
        let suite = format!(
            "agents:\n  - name: Desk\n    model: gpt-5-mini\n    prompt: Please refund orders 7 and 8.\n    runs: 1\n    \
             command: ['{program}', {library}]\n    calls: {{ max: 2, max_errors: 1 }}\n    playback: {{}}\n{keys}"
        );
        Self(Folder::new().with_file("suites/desk.yml", suite))
    }

    fn record(&self) -> Finished {
        let model = model();
        let mut command = mcptest_command(&self.0, &["record"]);
        command
            .env("OPENAI_BASE_URL", format!("{}/v1", model.url()))
            .env("OPENAI_API_KEY", "scripted")
            .env("NO_PROXY", "127.0.0.1");
        process::run(command.env("EFFECTS", self.0.at("effects.txt")))
    }

    fn play(&self, change: &str) -> Finished {
        let mut command = mcptest_command(&self.0, &["test", "playback"]);
        command.env("AGENT_CHANGE", change);
        process::run(command.env("EFFECTS", self.0.at("effects.txt")))
    }

    /// What the tool did.
    fn effects(&self) -> Vec<String> {
        let text = fs::read_to_string(self.0.at("effects.txt")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The calls of the recording: the order, and whether the tool failed.
    fn calls(&self) -> Value {
        let run = fs::read(self.0.at(CASSETTE)).unwrap();
        let run: Value = serde_json::from_slice(&run).unwrap();
        let calls = run["trace"]["tool_calls"].as_array().unwrap().iter();
        let results = run["trace"]["tool_results"].as_array().unwrap();
        calls
            .zip(results)
            .map(|(call, result)| json!([call["args"]["order"], result["is_error"]]))
            .collect()
    }

    /// Records, plays, and plays to code that was changed.
    fn is_proved(&self) {
        let said = self.record().exits(0);
        assert!(said.stdout.contains(" passed; 0 failed"), "{said}");
        // Recorded, and played once by the gate.
        let effects = ["refund 7", "refund 8"];
        assert_eq!(self.effects(), effects);
        assert_eq!(self.calls(), json!([[7, false], [8, true]]));
        self.play("").exits(0);
        let changes = [
            (
                "an argument changed",
                "the recording has no call of `refund` with these arguments; the nearest recorded call has {\"order\":7}: \
                 `order` is 9 and was 7",
            ),
            (
                "no call",
                "the code does not make the recorded call of the tool `refund`",
            ),
        ];
        for (change, red) in changes {
            let said = self.play(change).exits(101);
            let (_, text) = said.only_failure();
            assert!(text.contains(red), "{change}: {text}");
        }
        assert_eq!(self.effects(), effects);
    }
}

/// A model that asks for a refund, then for another.
fn model() -> Provider {
    let call = |order: u64| json!({ "calls": [{ "name": "refund", "args": { "order": order } }] });
    let script = json!({ "key": "scripted", "conversations": [{
        "user": "Please refund orders 7 and 8.",
        "runs": [[call(7), call(8), { "text": "Order 7 is refunded, order 8 is not." }]],
    }] });
    Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap()
}

pub(crate) fn rig_is_recorded_played_and_changed() {
    Desk::new("rig", "").is_proved();
}

pub(crate) fn a_plain_loop_is_recorded_played_and_changed() {
    Desk::new("loop", "").is_proved();
}

pub(crate) fn what_the_suite_answers_does_nothing() {
    let answers = "    answers:\n      - { tool: refund, when: { order: 7 }, result: Order 7 is paid back. }\n      \
                   - { tool: refund, error: { type: NotPaid, text: order 8 is refunded } }\n";
    for library in ["rig", "loop"] {
        let desk = Desk::new(library, answers);
        let said = desk.record().exits(0);
        assert!(said.stdout.contains(" passed; 0 failed"), "{said}");
        assert_eq!(desk.calls(), json!([[7, false], [8, true]]));
        assert_eq!(desk.effects(), [""; 0], "{library}");
    }
}

/// The session ends after the first call: the second one does not run.
pub(crate) fn nothing_runs_when_the_door_is_gone() {
    for library in ["rig", "loop"] {
        let (folder, model) = (Folder::new(), model());
        let mut door = Command::new(example_program("door"))
            .args(["record".as_ref(), folder.at("tools.json").as_os_str()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        let mut said = BufReader::new(door.stdout.take().unwrap());
        said.read_line(&mut address).unwrap();
        let mut agent = process::command(&of_agents()["pays"], folder.path());
        let mut agent = agent
            .arg(library)
            .env("OPENAI_BASE_URL", format!("{}/v1", model.url()))
            .env("OPENAI_API_KEY", "scripted")
            .env("NO_PROXY", "127.0.0.1")
            .env("MCPTEST_TOOLS", address.trim())
            .env("EFFECTS", folder.at("effects.txt"))
            .env("AGENT_CHANGE", "waits")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(agent.stdout.take().unwrap());
        let mut paid = String::new();
        said.read_line(&mut paid).unwrap();
        assert_eq!(paid, "paid\n");
        drop(door.stdin.take());
        door.wait().unwrap();
        agent.stdin.take().unwrap().write_all(b"\n").unwrap();
        assert!(agent.wait().unwrap().success());
        let effects = fs::read_to_string(folder.at("effects.txt")).unwrap();
        assert_eq!(effects, "refund 7\n", "{library}");
    }
}
