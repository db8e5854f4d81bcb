//! Which agents `MCPTEST_TAGS` selects: `smoke,orders` those with one of the tags, `!slow` those
//! without it.

use std::env::{self, VarError};
use std::error::Error;
use std::fmt;

use mcptest_suite::model::{Agent, Suite};
use mcptest_suite::{escape_line, nearest, quoted_list};

/// The variable that selects.
const VARIABLE: &str = "MCPTEST_TAGS";

/// Why the environment leaves an agent out; nothing where it selects it, or is no list of tags, which is told
/// where it is read first.
pub(super) fn why_left_out(agent: &Agent) -> Option<String> {
    Selection::from_environment()
        .ok()
        .flatten()?
        .why_left_out(agent)
}

/// Why `MCPTEST_TAGS` cannot select the agents that are judged.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SelectionError {
    /// The variable is not Unicode.
    NotUnicode,
    /// A `!` has no tag after it.
    NoTagAfterBang {
        /// The whole list.
        text: String,
    },
    /// No agent has a tag.
    UnknownTag {
        /// The tag.
        tag: String,
        /// The tags that agents have.
        known: Vec<String>,
    },
    /// No agent is selected.
    SelectsNone {
        /// The whole list.
        text: String,
    },
    /// Each agent that is selected is left out by `skip` or `only`.
    OnlyLeftOut {
        /// The whole list.
        text: String,
        /// The agents that are selected.
        agents: Vec<String>,
    },
}

impl fmt::Display for SelectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUnicode => write!(f, "`{VARIABLE}` is not Unicode"),
            Self::NoTagAfterBang { text } => write!(
                f,
                "`{VARIABLE}` is `{}`, and a `!` has no tag after it\n\nhelp: write e.g. `{VARIABLE}=smoke,!slow`",
                escape_line(text)
            ),
            Self::UnknownTag { tag, known } => {
                let known = || known.iter().map(String::as_str);
                let shown = escape_line(tag);
                let help = match nearest(tag, known()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if known().next().is_none() => {
                        format!("unset `{VARIABLE}`, or give agents `tags: [{shown}]`")
                    }
                    None => format!("known tags: {}", quoted_list(known())),
                };
                write!(
                    f,
                    "`{VARIABLE}` names `{shown}`, and no agent of these suites has this tag\n\nhelp: {help}"
                )
            }
            Self::SelectsNone { text } => write!(
                f,
                "`{VARIABLE}={}` selects no agent, so nothing would be judged\n\nhelp: ask for fewer tags",
                escape_line(text)
            ),
            Self::OnlyLeftOut { text, agents } => write!(
                f,
                "`{VARIABLE}={}` selects only agents that `skip` or `only` leaves out, so nothing would be judged: {}\n\n\
                 help: remove `skip` or `only`, or ask for other tags",
                escape_line(text),
                quoted_list(agents.iter().map(String::as_str))
            ),
        }
    }
}

impl Error for SelectionError {}

/// What was asked for; at least one tag.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Selection {
    text: String,
    wanted: Vec<String>,
    unwanted: Vec<String>,
}

impl Selection {
    /// What the environment asks for; `None` is every agent.
    ///
    /// # Errors
    ///
    /// The variable is no list of tags.
    pub(super) fn from_environment() -> Result<Option<Self>, SelectionError> {
        match env::var(VARIABLE) {
            Ok(text) => Self::read(&text),
            Err(VarError::NotPresent) => Ok(None),
            Err(VarError::NotUnicode(_)) => Err(SelectionError::NotUnicode),
        }
    }

    fn read(text: &str) -> Result<Option<Self>, SelectionError> {
        let mut selection = Self {
            text: text.to_owned(),
            ..Self::default()
        };
        let tags = text.split(',').map(str::trim);
        for tag in tags.filter(|tag| !tag.is_empty()) {
            let (tags, tag) = match tag.strip_prefix('!') {
                Some(tag) => (&mut selection.unwanted, tag.trim_start()),
                None => (&mut selection.wanted, tag),
            };
            if tag.is_empty() {
                let text = selection.text;
                return Err(SelectionError::NoTagAfterBang { text });
            }
            tags.push(tag.to_owned());
        }
        let asks = !selection.wanted.is_empty() || !selection.unwanted.is_empty();
        Ok(asks.then_some(selection))
    }

    /// Why an agent is not selected, if it is not.
    pub(super) fn why_left_out(&self, agent: &Agent) -> Option<String> {
        let tagged = |tag: &&String| agent.tags.contains(tag);
        if let Some(tag) = self.unwanted.iter().find(tagged) {
            return Some(format!("tagged `{tag}`, which `{VARIABLE}` leaves out"));
        }
        let selected = self.wanted.is_empty() || self.wanted.iter().any(|tag| tagged(&tag));
        let wanted = || quoted_list(self.wanted.iter().map(String::as_str));
        (!selected).then(|| format!("not tagged {}, and `{VARIABLE}` asks for it", wanted()))
    }

    /// Nothing is left to chance: every tag is one that an agent has, and an agent is selected. An agent is judged, if it
    /// matters which agents `skip` and `only` leave out.
    ///
    /// # Errors
    ///
    /// What is wrong, and what there is.
    pub(super) fn check<'a>(
        &self,
        suites: impl Iterator<Item = &'a Suite> + Clone,
        judges: bool,
    ) -> Result<(), SelectionError> {
        let agents = suites.clone().flat_map(|suite| &suite.agents);
        let mut known: Vec<&str> = agents
            .clone()
            .flat_map(|agent| agent.tags.iter().map(String::as_str))
            .collect();
        known.sort_unstable();
        known.dedup();
        let asked = self.wanted.iter().chain(&self.unwanted);
        if let Some(tag) = asked.map(String::as_str).find(|tag| !known.contains(tag)) {
            let tag = tag.to_owned();
            let known = known.into_iter().map(str::to_owned).collect();
            return Err(SelectionError::UnknownTag { tag, known });
        }
        let text = || self.text.clone();
        let selects = |agent: &&Agent| self.why_left_out(agent).is_none();
        let selected: Vec<&Agent> = agents.filter(selects).collect();
        let mut left = suites.flat_map(judged_agents);
        if !selected.is_empty() && (!judges || left.any(|agent| selects(&agent))) {
            return Ok(());
        }
        if !selected.is_empty() {
            let agents = selected.iter().map(|agent| agent.name.value.clone());
            return Err(SelectionError::OnlyLeftOut {
                text: text(),
                agents: agents.collect(),
            });
        }
        Err(SelectionError::SelectsNone { text: text() })
    }
}

/// The agents of a suite that neither their own `skip` nor the `only` of another agent leaves out.
fn judged_agents(suite: &Suite) -> impl Iterator<Item = &Agent> {
    let has_only = suite.agents.iter().any(|agent| agent.only.is_some());
    let agents = suite.agents.iter();
    agents.filter(move |agent| agent.skip.is_none() && (agent.only.is_some() || !has_only))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcptest_suite::Source;

    fn suite(tags: &[&str]) -> Suite {
        let agents = tags.iter().enumerate().map(|(index, tags)| {
            let (tags, more) = tags.split_once(';').unwrap_or((tags, ""));
            format!("- {{ name: agent {index}, model: m, prompt: p, tags: [{tags}], stability: {{}}, runs: 2{more} }}\n")
        });
        let text = format!("agents:\n{}", agents.collect::<String>());
        Suite::parse(Source::new("a.yml", "a.yml", text)).unwrap()
    }

    fn read(text: &str) -> Selection {
        Selection::read(text).unwrap().unwrap()
    }

    #[test]
    fn one_of_the_wanted_and_none_of_the_unwanted() {
        let agents = suite(&["smoke", "smoke, slow", "orders", ""]).agents;
        let selected = |text: &str| {
            let selection = read(text);
            let selected = agents
                .iter()
                .map(|agent| selection.why_left_out(agent).is_none());
            selected.collect::<Vec<_>>()
        };
        assert_eq!(selected("smoke"), [true, true, false, false]);
        assert_eq!(selected(" smoke , orders,"), [true, true, true, false]);
        assert_eq!(selected("!slow"), [true, false, true, true]);
        assert_eq!(selected("smoke,! slow"), [true, false, false, false]);
        assert_eq!(
            read("smoke,orders,!slow")
                .why_left_out(&agents[3])
                .as_deref(),
            Some("not tagged `smoke`, `orders`, and `MCPTEST_TAGS` asks for it")
        );
        assert_eq!(
            read("smoke,!slow").why_left_out(&agents[1]).as_deref(),
            Some("tagged `slow`, which `MCPTEST_TAGS` leaves out")
        );
    }

    #[test]
    fn nothing_asked_is_every_agent() {
        assert_eq!(Selection::read(""), Ok(None));
        assert_eq!(Selection::read(" , "), Ok(None));
    }

    #[test]
    fn what_selects_nothing_or_names_no_tag_is_refused() {
        let suite = suite(&["smoke, slow", "orders"]);
        let check = |text: &str| read(text).check([&suite].into_iter(), true);
        let refused = |text: &str| check(text).unwrap_err().to_string();
        assert_eq!(
            refused("smok"),
            "`MCPTEST_TAGS` names `smok`, and no agent of these suites has this tag\n\nhelp: did you mean `smoke`?"
        );
        assert_eq!(
            refused("!nightly"),
            "`MCPTEST_TAGS` names `nightly`, and no agent of these suites has this tag\n\nhelp: known tags: `orders`, `slow`, `smoke`"
        );
        assert_eq!(
            refused("smoke,!slow"),
            "`MCPTEST_TAGS=smoke,!slow` selects no agent, so nothing would be judged\n\nhelp: ask for fewer tags"
        );
        assert_eq!(check("orders,!slow"), Ok(()));
        assert!(
            Selection::read("a,!")
                .unwrap_err()
                .to_string()
                .contains("a `!` has no tag after it")
        );
    }

    #[test]
    fn agents_that_are_left_out_are_not_judged() {
        let skipped = suite(&["smoke;, skip: because", "orders"]);
        let only = suite(&["smoke", "slow;, only: true"]);
        for suite in [skipped, only] {
            let check = |text: &str, judges| read(text).check([&suite].into_iter(), judges);
            assert_eq!(
                check("smoke", true).unwrap_err().to_string(),
                "`MCPTEST_TAGS=smoke` selects only agents that `skip` or `only` leaves out, so nothing would be judged: \
                     `agent 0`\n\nhelp: remove `skip` or `only`, or ask for other tags"
            );
            assert_eq!(check("smoke", false), Ok(()));
            assert_eq!(check("!smoke", true), Ok(()));
            // Another suite has an agent that is judged.
            let other = self::suite(&["smoke"]);
            assert_eq!(
                read("smoke").check([&suite, &other].into_iter(), true),
                Ok(())
            );
        }
    }
}
