//! The names of sub-agents.

use std::collections::{HashMap, HashSet};

use super::conversation::Conversation;
use super::fragments::Fragments;
use crate::exchange::Call;

/// Names for the sub-agents of a conversation, each given once.
#[derive(Debug)]
pub(super) struct AgentNames<'c> {
    /// The calls of the main conversation.
    calls: Vec<&'c Call>,
    /// The texts among their arguments, each with the calls that have it.
    texts: Fragments,
    given: HashSet<String>,
    /// The next number to try for a name that was given.
    next: HashMap<String, usize>,
}

impl<'c> AgentNames<'c> {
    pub(super) fn new(main: &'c Conversation) -> Self {
        let calls = main.calls.iter().flat_map(|call| call.said.calls());
        let calls: Vec<&Call> = calls.collect();
        let mut texts = Fragments::default();
        for (number, call) in calls.iter().enumerate() {
            let args = call.args.as_object().into_iter().flatten();
            let own = args.filter_map(|(_, value)| value.as_str());
            for text in own.map(str::trim).filter(|text| !text.is_empty()) {
                texts.add(text, number);
            }
        }
        Self {
            calls,
            texts,
            given: HashSet::new(),
            next: HashMap::new(),
        }
    }

    /// The name of a sub-agent: what the call that began it says, else a number.
    pub(super) fn name(&mut self, conversation: &Conversation) -> String {
        const KEYS: [&str; 5] = ["subagent_type", "agent_type", "agent_name", "agent", "name"];
        let opening = conversation.opening().unwrap_or_default().trim();
        let asks = self.texts.found_in(opening).into_iter();
        let first = asks.filter_map(|calls| calls.first()).min();
        let first = first.map(|call| self.calls[*call]).map(|call| {
            let said = KEYS.iter().find_map(|key| call.args.get(*key)?.as_str());
            let said = said.map(str::trim).filter(|name| !name.is_empty());
            said.unwrap_or(&call.name)
        });
        self.unique(first.unwrap_or("sub-agent"))
    }

    /// The name, with a number if it was given before.
    fn unique(&mut self, base: &str) -> String {
        let mut name = base.to_owned();
        let next = self.next.entry(base.to_owned()).or_insert(2);
        while !self.given.insert(name.clone()) {
            name = format!("{base} {next}");
            *next += 1;
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_given_again_has_the_first_number_that_is_free() {
        let main = Conversation::default();
        let mut names = AgentNames::new(&main);
        let asked = ["find", "find 2", "find", "find", "find 2", "find 3"];
        let given = asked.map(|base| names.unique(base));
        let expected = ["find", "find 2", "find 3", "find 4", "find 2 2", "find 3 2"];
        assert_eq!(given, expected);
    }
}
