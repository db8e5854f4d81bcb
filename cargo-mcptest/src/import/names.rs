//! The names of agents and the stems of their files.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use mcptest_suite::model::{Agent, Suite};
use mcptest_suite::{cassette_slug, is_reserved, segment};

use super::digest::Digest;
use super::neighbours::Neighbours;
use super::plan::Group;
use super::report::Reports;

/// The most characters of an agent's own name, and of what tells it from others: with the model's
/// name they make the name of a file.
const LONGEST: (usize, usize) = (80, 100);

/// What a group of runs is called, and where its runs lie.
#[derive(Debug, Clone)]
pub(super) struct Name {
    pub(super) agent: Rc<str>,
    pub(super) stem: String,
    /// The entry of the suite that it belongs to.
    pub(super) entry: Option<usize>,
}

/// Names every group. `owned`: the entry that has runs of it already; `is_given`: the command names the agent.
pub(super) fn of(
    groups: &[Group],
    owned: &[Option<usize>],
    suite: Option<&Suite>,
    is_given: bool,
    neighbours: &Neighbours<'_>,
    reports: &mut Reports,
) -> Vec<Name> {
    let mut subjects: HashMap<&str, HashSet<Digest>> = HashMap::new();
    let mut of_subject: HashMap<Digest, Vec<&Group>> = HashMap::new();
    for group in groups {
        let of_agent = subjects.entry(&group.agent).or_default();
        of_agent.insert(group.subject);
        of_subject.entry(group.subject).or_default().push(group);
    }
    let mut files: HashMap<(&str, &str), &str> = HashMap::new();
    let of_file = groups.iter().filter(|group| group.by_task && group.of_file);
    let mut of_file = of_file.map(|group| {
        let first = files.entry((&group.label, &group.model));
        **first.or_insert(&group.agent) != *group.agent
    });
    if of_file.any(|is_another| is_another) {
        reports.note(
            "runs of one task are in several files, and each file becomes its own agent: `--agent NAME` makes one agent of all",
        );
    }
    let entries = suite.map_or(&[][..], |suite| &suite.agents);
    let mut taken = Taken::default();
    let segments = entries.iter().map(|entry| Digest::of(&[&entry.segment]));
    taken.names.extend(segments);
    let asking = asking(entries);
    let replaces = neighbours.options.replace;
    let mut by_subject: HashMap<_, Rc<str>> = HashMap::new();
    let mut names = Vec::with_capacity(groups.len());
    // Two groups never share the runs of an entry, however alike they are: each would write over the
    // other's.
    let claims = groups.iter().zip(owned);
    let claims = claims.filter_map(|(group, entry)| Some(((*entry)?, &*group.model)));
    let mut claimed: HashSet<(usize, &str)> = claims.collect();
    for (group, owned) in groups.iter().zip(owned) {
        let single = subjects.get(&*group.agent).is_none_or(|it| it.len() == 1);
        let label = truncate(&one_line(&group.label), LONGEST.1);
        let agent = truncate(&one_line(&group.agent), LONGEST.0);
        let wanted = match (single, label.is_empty()) {
            (true, _) | (_, true) => agent,
            _ => format!("{agent}: {label}"),
        };
        let of_entry = |entry: usize| {
            let agent = &entries[entry];
            Name {
                agent: agent.name.value.as_str().into(),
                stem: stem_of(agent, &group.model, neighbours),
                entry: Some(entry),
            }
        };
        let asking = asking.get(&group.asked).map_or(&[][..], Vec::as_slice);
        let free = |entry: usize| !claimed.contains(&(entry, &*group.model));
        let found = || entry_of(group, &wanted, is_given, replaces, entries, asking, &free);
        if let Some(entry) = owned.or_else(found) {
            claimed.insert((entry, &group.model));
            names.push(of_entry(entry));
            continue;
        }
        let is_alike = |entry: &Agent| {
            let has_model = || entry.models.iter().any(|it| it.value.id == *group.model);
            entry.name.value == wanted && has_model()
        };
        if entries.iter().any(is_alike) {
            reports.note(&format!(
                "`{wanted}` has another prompt in the suite, so these runs get their own agent: `--replace` replaces the \
                 recordings of `{wanted}` with them instead"
            ));
        }
        // Models of one agent that have as many runs share an entry, but for those with runs that failed: what
        // all models share would let these pass.
        let alone = group.any_failed.then_some(&*group.model);
        let shared = (group.subject, group.runs.len(), alone);
        let agent = by_subject.entry(shared).or_insert_with(|| {
            let alike = of_subject.get(&group.subject).into_iter().flatten();
            let keeps = |name: &str| {
                let mut alike = alike.clone();
                alike.find_map(|group| neighbours.keeps(&stem(name, &group.model), group))
            };
            taken.free(&wanted, &keeps).into()
        });
        let agent = agent.clone();
        names.push(Name {
            stem: stem(&agent, &group.model),
            agent,
            entry: None,
        });
    }
    taken.tell(reports);
    names
}

/// The entry with this name, or the one that asks the same. Runs that were asked something else make an
/// entry stale, so they are its runs only in the place of those that it has. `asking` are those that have the prompts of
/// the group, `free` those that no other group has.
fn entry_of(
    group: &Group,
    wanted: &str,
    is_given: bool,
    replaces: bool,
    entries: &[Agent],
    asking: &[usize],
    free: &dyn Fn(usize) -> bool,
) -> Option<usize> {
    let has_model = |entry: &Agent| entry.models.iter().any(|it| it.value.id == *group.model);
    // A name that was taken got a number.
    let named = |entry: &Agent| {
        let rest = entry.name.value.strip_prefix(wanted);
        rest.is_some_and(|rest| {
            let number = rest.strip_prefix(' ');
            rest.is_empty() || number.is_some_and(|number| number.parse::<u32>().is_ok())
        })
    };
    let may_be = |entry: &Agent| may_have(entry, group, is_given);
    let of_asking = |is_it: &dyn Fn(&Agent) -> bool| {
        let mut asking = asking.iter().copied().filter(|index| free(*index));
        asking.find(|index| is_it(&entries[*index]))
    };
    let of_all = |is_it: &dyn Fn(&Agent) -> bool| {
        let mut all = (0..entries.len()).filter(|index| free(*index));
        all.find(|index| has_model(&entries[*index]) && is_it(&entries[*index]))
    };
    of_asking(&named)
        .or_else(|| of_all(&|entry| (group.by_task || replaces) && entry.name.value == wanted))
        .or_else(|| of_all(&|entry| group.by_task && named(entry)))
        .or_else(|| of_asking(&may_be))
}

/// The entries with the same prompts and a model, by what recordings of them are compared with.
pub(super) fn asking(entries: &[Agent]) -> HashMap<Digest, Vec<usize>> {
    let mut asking: HashMap<Digest, Vec<usize>> = HashMap::new();
    for (index, entry) in entries.iter().enumerate() {
        for model in &entry.models {
            let asked = asked(entry, &model.value.id);
            asking.entry(asked).or_default().push(index);
        }
    }
    asking
}

/// Another agent that is asked the same is another agent, if the command names this one.
pub(super) fn may_have(entry: &Agent, group: &Group, is_given: bool) -> bool {
    !is_given || entry.name.value.starts_with(&*group.agent)
}

/// The stem of an entry's recordings of a model.
pub(super) fn stem_of(agent: &Agent, model: &str, neighbours: &Neighbours<'_>) -> String {
    let named = agent.models.iter().find(|named| named.value.id == model);
    named.map_or_else(
        || stem(&agent.name.value, model),
        |model| neighbours.own(agent.cassette_stems(&model.value)),
    )
}

/// Whether an entry has the prompts of a group.
pub(super) fn asks(entry: &Agent, group: &Group) -> bool {
    asked(entry, &group.model) == group.asked
}

/// What recordings of an entry with a model are compared with.
fn asked(entry: &Agent, model: &str) -> Digest {
    let system = entry.system_prompt.as_ref();
    let system = system.map_or("", |it| it.value.as_str());
    Digest::of(&[model, system, &entry.prompt.first().value])
}

fn stem(agent: &str, model: &str) -> String {
    format!("{}__{}", cassette_slug(agent), cassette_slug(model))
}

/// The names that are taken, as cases and as files.
#[derive(Default)]
struct Taken {
    names: HashSet<Digest>,
    /// How many of the first numbers of a name are taken.
    numbers: HashMap<Digest, u32>,
    /// Names that were passed over, with who has their recordings.
    passed: BTreeMap<String, String>,
}

impl Taken {
    /// A name that no other agent has, neither as a case nor as a file; `kept` says who has its recordings.
    fn free(&mut self, wanted: &str, kept: &dyn Fn(&str) -> Option<String>) -> String {
        let plain = match segment(wanted) {
            Some(segment) if !is_reserved(&segment) => wanted.to_owned(),
            _ => format!("agent {wanted}"),
        };
        let taken = self.numbers.entry(Digest::of(&[&plain])).or_default();
        let mut number = *taken;
        loop {
            number += 1;
            let name = match number {
                1 => plain.clone(),
                number => format!("{plain} {number}"),
            };
            let [segment, file] = digests(&name);
            let is_free = !self.names.contains(&segment) && !self.names.contains(&file);
            // What one group passes over may be another's.
            if is_free && let Some(by) = kept(&name) {
                self.passed.insert(name, by);
                continue;
            }
            if *taken + 1 == number {
                *taken = number;
            }
            if is_free {
                self.names.extend([segment, file]);
                return name;
            }
        }
    }

    /// Tells which names were passed over and given to nobody.
    fn tell(self, reports: &mut Reports) {
        let passed = self.passed.into_iter();
        for (name, by) in passed.filter(|(name, _)| !self.names.contains(&digests(name)[0])) {
            reports.note(&format!(
                "`{name}` has recordings in this folder already, {by}: the new agent gets another name"
            ));
        }
    }
}

/// What a name is as a case, and as a file.
fn digests(name: &str) -> [Digest; 2] {
    let segment = segment(name).unwrap_or_default();
    let file = cassette_slug(name).to_ascii_lowercase();
    [Digest::of(&[&segment]), Digest::of(&["file", &file])]
}

fn truncate(text: &str, characters: usize) -> String {
    let text: String = text.chars().take(characters).collect();
    text.trim_end().to_owned()
}

/// A text without line breaks, control characters and white space at its ends.
pub(super) fn one_line(text: &str) -> String {
    let shown = |character: char| {
        if mcptest_trace::text::is_hostile(character) || character.is_whitespace() {
            ' '
        } else {
            character
        }
    };
    let text: String = text.chars().map(shown).collect();
    let words = text.split(' ').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// The groups of each agent, in the order in which agents come.
pub(super) fn by_agent(names: &[Name]) -> Vec<Vec<usize>> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut agents: Vec<Vec<usize>> = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let place = *places.entry(&name.agent).or_insert(agents.len());
        if place == agents.len() {
            agents.push(Vec::new());
        }
        agents[place].push(index);
    }
    agents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_clash_are_numbered() {
        let mut taken = Taken::default();
        let names = ["a b", "a_b", "A b", "narrative", "!!!", "!!!"];
        let mut free = |name| taken.free(name, &|_| None);
        let names = names.map(&mut free);
        assert_eq!(
            names,
            [
                "a b",
                "a_b 2",
                "A b 3",
                "agent narrative",
                "agent !!!",
                "agent !!! 2"
            ]
        );
    }

    #[test]
    fn a_name_is_one_line() {
        assert_eq!(one_line(" a\nb\u{1b}[31m\t c "), "a b [31m c");
    }
}
