//! While a recording is played nothing leaves the machine, and the agent sees no key.

use std::process::Command;

use serde_json::Value;

use super::super::desk::{self, KEY};
use super::{client, recorded};
use crate::need::namespace;
use crate::support::process;

/// A command in a network namespace, in which loopback is all there is.
fn alone(command: &Command) -> Command {
    let (program, arguments) = namespace().split_first().unwrap();
    let mut inside = Command::new(program);
    inside.args(arguments).arg(command.get_program());
    inside.args(command.get_args()).env_clear();
    if let Some(folder) = command.get_current_dir() {
        inside.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            inside.env(name, value);
        }
    }
    inside
}

pub(crate) fn nothing_leaves_the_machine_and_no_key_is_seen() {
    for program in ["openai_chat.py", "anthropic_messages.py", "google_genai.py"] {
        let (folder, provider) = recorded(client(program));
        let asked = provider.requests().len();
        // The provider is there, and the variables lead to it with a key that it takes.
        let mut play = desk::command(&folder, Some(&provider), &["test", "::playback"]);
        play.env("AGENT_CHANGE", "the environment written down");
        let green = process::run(&mut alone(&play)).exits(0);
        assert!(green.stdout.contains("2 passed; 0 failed"), "{green}");
        assert_eq!(provider.requests().len(), asked, "{program}");
        let seen = std::fs::read_to_string(folder.at("suites/environment.json")).unwrap();
        let seen: Value = serde_json::from_str(&seen).unwrap();
        // A run that asked no model of AWS or Vertex leaves the logins there to the agent's tools.
        let logins = ["AWS_SECRET_ACCESS_KEY", "DESK_TOKEN"];
        let others = seen.as_object().unwrap().iter();
        let mut others = others.filter(|(name, _)| !logins.contains(&name.as_str()));
        assert!(
            !others.any(|(_, value)| value.to_string().contains(KEY)),
            "{program}: {seen}"
        );
        for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"] {
            assert_eq!(seen[name], "mcptest-plays", "{program}");
        }
        // Recording needs the network that is not there: so it really is not.
        std::fs::remove_dir_all(folder.at("suites/cassettes")).unwrap();
        let record = desk::command(&folder, Some(&provider), &["record"]);
        process::run(&mut alone(&record)).exits(1);
        assert_eq!(provider.requests().len(), asked, "{program}");
    }
}
