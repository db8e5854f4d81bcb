//! The ways in which a closing claims that something was done: the rows of `rules.txt`.
//!
//! To add a pattern, add a row with its examples there; a test runs every example and
//! counter-example.

use std::sync::LazyLock;

use crate::eval::narrative::words::marks::Marks;

/// A row of the table.
#[derive(Debug, Default)]
pub(crate) struct Rule {
    /// What failures and `ignore:` call it.
    pub(crate) id: &'static str,
    /// Whether such a sentence surely claims; else the claim is unclear.
    pub(crate) sure: bool,
    /// Whether it claims only where a call for it failed.
    pub(crate) tried: bool,
    /// What has to be there, all of it.
    needs: Marks,
    /// What has to be there, one of it; nothing when empty.
    one_of: Marks,
    /// What must not be there.
    unless: Marks,
}

impl Rule {
    fn fits(&self, marks: Marks) -> bool {
        marks.contains(self.needs)
            && (self.one_of.is_empty() || marks.meets(self.one_of))
            && !marks.meets(self.unless)
    }
}

/// The rows of the ways to claim, first match first.
pub(crate) static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| parse(include_str!("rules.txt")));

/// The first row that reads a claim from these marks.
pub(crate) fn first(marks: Marks) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.fits(marks))
}

fn parse(text: &'static str) -> Vec<Rule> {
    let mut never = Marks::default();
    let mut told = Marks::default();
    let mut rules: Vec<Rule> = Vec::new();
    for line in text.lines() {
        let (key, rest) = line.trim().split_once(' ').unwrap_or_default();
        let marks = Marks::named(rest.split(' '));
        match (key, rules.last_mut()) {
            ("never", _) => never = marks,
            ("told", _) => told = marks,
            ("sure" | "unclear" | "tried", _) => rules.push(Rule {
                id: rest,
                sure: key == "sure",
                tried: key == "tried",
                unless: never,
                ..Rule::default()
            }),
            ("needs", Some(rule)) => rule.needs = marks,
            ("one-of", Some(rule)) => rule.one_of = marks,
            ("unless", Some(rule)) => {
                let all = rest.split(' ').any(|word| word == "told");
                let told = if all { told } else { Marks::default() };
                rule.unless = rule.unless.with(marks).with(told);
            }
            _ => {}
        }
    }
    rules
}

#[cfg(test)]
mod tests;
