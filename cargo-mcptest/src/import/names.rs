//! The names of agents and the stems of their files.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use mcptest_suite::model::{Agent, Suite};
use mcptest_suite::{cassette_slug, is_reserved, segment};

use super::entries::OpenEntries;
use super::neighbours::Neighbours;
use super::plan::Group;
use super::report::Reports;
use mcptest_import::Digest;

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
pub(super) fn assign_names(
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
        reports.add_note(
            "runs of one task are in several files, and each file becomes its own agent: `--agent NAME` makes one agent of all",
        );
    }
    let entries = suite.map_or(&[][..], |suite| &suite.agents);
    let mut taken = TakenNames::default();
    let segments = entries
        .iter()
        .map(|entry| Digest::from_parts(&[&entry.segment]));
    taken.names.extend(segments);
    let mut open = OpenEntries::new(entries, is_given);
    let replaces = neighbours.options.replace;
    let mut by_subject: HashMap<_, Rc<str>> = HashMap::new();
    let mut names = Vec::with_capacity(groups.len());
    // Two groups never share the runs of an entry, however alike they are: each would write over the
    // other's.
    let claims = groups.iter().zip(owned);
    let claims = claims.filter_map(|(group, entry)| Some(((*entry)?, &*group.model)));
    claims.for_each(|(entry, model)| open.claim(entry, model));
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
                stem: recording_stem(agent, &group.model, neighbours),
                entry: Some(entry),
            }
        };
        if let Some(entry) = owned.or_else(|| open.find(group, &wanted, replaces)) {
            open.claim(entry, &group.model);
            names.push(of_entry(entry));
            continue;
        }
        if open.has(&wanted, &group.model) {
            reports.add_note(&format!(
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
                alike.find_map(|group| {
                    neighbours.conflicting_owner(&make_stem(name, &group.model), group)
                })
            };
            taken.free_name(&wanted, &keeps).into()
        });
        let agent = agent.clone();
        names.push(Name {
            stem: make_stem(&agent, &group.model),
            agent,
            entry: None,
        });
    }
    taken.report(reports);
    names
}

/// The stem of an entry's recordings of a model.
pub(super) fn recording_stem(agent: &Agent, model: &str, neighbours: &Neighbours<'_>) -> String {
    let named = agent.models.iter().find(|named| named.value.id == model);
    named.map_or_else(
        || make_stem(&agent.name.value, model),
        |model| neighbours.own_stem(agent.cassette_stems(&model.value)),
    )
}

fn make_stem(agent: &str, model: &str) -> String {
    format!("{}__{}", cassette_slug(agent), cassette_slug(model))
}

/// The names that are taken, as cases and as files.
#[derive(Default)]
struct TakenNames {
    names: HashSet<Digest>,
    /// How many of the first numbers of a name are taken.
    numbers: HashMap<Digest, u32>,
    /// Names that were passed over, with who has their recordings.
    passed: BTreeMap<String, String>,
}

impl TakenNames {
    /// A name that no other agent has, neither as a case nor as a file; `kept` says who has its recordings.
    fn free_name(&mut self, wanted: &str, kept: &dyn Fn(&str) -> Option<String>) -> String {
        let plain = match segment(wanted) {
            Some(segment) if !is_reserved(&segment) => wanted.to_owned(),
            _ => format!("agent {wanted}"),
        };
        let taken = self
            .numbers
            .entry(Digest::from_parts(&[&plain]))
            .or_default();
        let mut number = *taken;
        loop {
            number += 1;
            let name = match number {
                1 => plain.clone(),
                number => format!("{plain} {number}"),
            };
            let [segment, file] = name_digests(&name);
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
    fn report(self, reports: &mut Reports) {
        let passed = self.passed.into_iter();
        for (name, by) in passed.filter(|(name, _)| !self.names.contains(&name_digests(name)[0])) {
            reports.add_note(&format!(
                "`{name}` has recordings in this folder already, {by}: the new agent gets another name"
            ));
        }
    }
}

/// What a name is as a case, and as a file.
fn name_digests(name: &str) -> [Digest; 2] {
    let segment = segment(name).unwrap_or_default();
    let file = cassette_slug(name).to_ascii_lowercase();
    [
        Digest::from_parts(&[&segment]),
        Digest::from_parts(&["file", &file]),
    ]
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
        let mut taken = TakenNames::default();
        let names = ["a b", "a_b", "A b", "narrative", "!!!", "!!!"];
        let mut free = |name| taken.free_name(name, &|_| None);
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
