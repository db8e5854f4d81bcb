//! What recordings alone do not test: the code of an agent whose suite does not play them to it.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use mcptest_suite::escape_line;
use mcptest_trace::text::pluralize;

use crate::command::command_line;
use crate::record::shell_words;

/// How many agents are named.
const NAMED: usize = 3;

/// The agents whose programs this process recorded, and whose suites have no `playback` for them.
#[derive(Debug, Default)]
pub(super) struct UnplayedAgents(Mutex<BTreeSet<String>>);

impl UnplayedAgents {
    /// Keeps the name of such an agent.
    pub(super) fn add(&self, agent: &str) {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.insert(agent.to_owned());
    }

    /// The line that says what is not tested; nothing if there is no such agent. `program`: what runs every agent, if a
    /// person named it beside the suites.
    pub(super) fn line(&self, program: &[String]) -> Option<String> {
        let names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first = names.iter().take(NAMED);
        let mut shown: Vec<String> = first
            .map(|name| format!("`{}`", escape_line(name)))
            .collect();
        if let more @ 1.. = names.len().saturating_sub(NAMED) {
            shown.push(pluralize(more, "more agent"));
        }
        let last = shown.pop()?;
        let agents = match shown.as_slice() {
            [] => last,
            first => format!("{} and {last}", first.join(", ")),
        };
        let remedy = match program {
            [] => "With `playback: {}` in the suite, they turn red".to_owned(),
            program => {
                let play = command_line(&format!("play -- {}", shell_words(program)));
                format!("`{play}` tests the code")
            }
        };
        Some(format!(
            "not tested: the code of {agents}. If a prompt, a loop or a tool changes, the tests stay green. {remedy}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(agents: &[&str], program: &[&str]) -> Option<String> {
        let unplayed = UnplayedAgents::default();
        for agent in agents {
            unplayed.add(agent);
        }
        let program: Vec<String> = program.iter().map(|&word| word.to_owned()).collect();
        unplayed.line(&program)
    }

    #[test]
    fn one_line_says_what_is_not_tested() {
        assert_eq!(line(&[], &[]), None);
        assert_eq!(line(&[], &["python3"]), None);
        assert_eq!(
            line(&["Refund agent"], &[]).unwrap(),
            "not tested: the code of `Refund agent`. If a prompt, a loop or a tool changes, the tests stay green. With `playback: {}` \
             in the suite, they turn red"
        );
        // An agent with several models is one agent.
        assert_eq!(
            line(&["B 🚀", "A\nA", "B 🚀"], &["python3", "my agent.py"]).unwrap(),
            "not tested: the code of `A\\nA` and `B 🚀`. If a prompt, a loop or a tool changes, the tests stay green. \
             `cargo mcptest play -- python3 'my agent.py'` tests the code"
        );
        let many: Vec<String> = (1..=5).map(|number| format!("Agent {number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let told = "not tested: the code of `Agent 1`, `Agent 2`, `Agent 3` and 2 more agents. ";
        assert!(line(&many, &[]).unwrap().starts_with(told));
        let told = "not tested: the code of `Agent 1`, `Agent 2`, `Agent 3` and 1 more agent. ";
        assert!(line(&many[..4], &[]).unwrap().starts_with(told));
    }
}
