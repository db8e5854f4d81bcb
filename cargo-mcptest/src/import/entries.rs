//! The entries of a suite that groups of runs may belong to.

use std::collections::{HashMap, HashSet, VecDeque};

use mcptest_suite::model::Agent;

use super::plan::Group;
use mcptest_import::Digest;

/// The entries that no group has yet, by what groups ask of them.
pub(super) struct OpenEntries<'e> {
    entries: &'e [Agent],
    /// The command names the agent.
    is_given: bool,
    asking: HashMap<Digest, Vec<usize>>,
    /// Entries in their order; those that a group has stand among them until they are the first.
    open: HashMap<Query, VecDeque<usize>>,
    /// Entries with the models for which a group has them.
    claimed: HashSet<(usize, Digest)>,
}

/// What a group asks of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Query {
    /// A name, with a model.
    Named(Digest),
    /// A name with or without a number, with a model: a name that was taken got a number.
    Numbered(Digest),
    /// The prompts, and a name with or without a number.
    AskingNumbered(Digest, Digest),
    /// The prompts, and how the name of the agent begins, if it matters.
    Asking(Digest, Option<Digest>),
}

impl<'e> OpenEntries<'e> {
    pub(super) fn new(entries: &'e [Agent], is_given: bool) -> Self {
        let asking = index_by_prompts(entries);
        let mut open: HashMap<Query, VecDeque<usize>> = HashMap::new();
        for (index, entry) in entries.iter().enumerate() {
            let name = entry.name.value.as_str();
            for model in &entry.models {
                let with_model = |name: &str| Digest::from_parts(&[name, &model.value.id]);
                let named = Query::Named(with_model(name));
                let numbered = base_names(name).map(|name| Query::Numbered(with_model(name)));
                for query in numbered.chain([named]) {
                    let queue = open.entry(query).or_default();
                    // Two models of an entry may be one.
                    if queue.back() != Some(&index) {
                        queue.push_back(index);
                    }
                }
            }
        }
        for (asked, indexes) in &asking {
            for index in indexes {
                for name in base_names(&entries[*index].name.value) {
                    let query = Query::AskingNumbered(*asked, Digest::from_parts(&[name]));
                    open.entry(query).or_default().push_back(*index);
                }
            }
        }
        Self {
            entries,
            is_given,
            asking,
            open,
            claimed: HashSet::new(),
        }
    }

    /// An entry is a group's.
    pub(super) fn claim(&mut self, entry: usize, model: &str) {
        self.claimed.insert((entry, Digest::from_parts(&[model])));
    }

    /// Whether an entry has a name and a model.
    pub(super) fn has(&self, name: &str, model: &str) -> bool {
        let query = Query::Named(Digest::from_parts(&[name, model]));
        self.open.contains_key(&query)
    }

    /// The entry with this name, or the one that asks the same. Runs that were asked something else make an
    /// entry stale, so they are its runs only in the place of those that it has.
    pub(super) fn find(&mut self, group: &Group, wanted: &str, replaces: bool) -> Option<usize> {
        let with_model = Digest::from_parts(&[wanted, &group.model]);
        let mut queries = vec![Query::AskingNumbered(
            group.asked,
            Digest::from_parts(&[wanted]),
        )];
        if group.by_task || replaces {
            queries.push(Query::Named(with_model));
        }
        if group.by_task {
            queries.push(Query::Numbered(with_model));
        }
        queries.push(self.query_for(group));
        let model = Digest::from_parts(&[&group.model]);
        queries.iter().find_map(|query| self.first(query, model))
    }

    /// The entries with the prompts of a group, of those that may have it.
    fn query_for(&mut self, group: &Group) -> Query {
        let agent = self.is_given.then(|| Digest::from_parts(&[&group.agent]));
        let query = Query::Asking(group.asked, agent);
        if !self.open.contains_key(&query) {
            let asking = self.asking.get(&group.asked).into_iter().flatten().copied();
            let may_be = |index: &usize| may_own(&self.entries[*index], group, self.is_given);
            let queue = asking.filter(may_be).collect();
            self.open.insert(query.clone(), queue);
        }
        query
    }

    /// The first entry that no group has.
    fn first(&mut self, query: &Query, model: Digest) -> Option<usize> {
        let queue = self.open.get_mut(query)?;
        while queue
            .pop_front_if(|entry| self.claimed.contains(&(*entry, model)))
            .is_some()
        {}
        queue.front().copied()
    }
}

/// The entries with the same prompts and a model, by what recordings of them are compared with.
pub(super) fn index_by_prompts(entries: &[Agent]) -> HashMap<Digest, Vec<usize>> {
    let mut asking: HashMap<Digest, Vec<usize>> = HashMap::new();
    for (index, entry) in entries.iter().enumerate() {
        for model in &entry.models {
            let asked = prompt_digest(entry, &model.value.id);
            asking.entry(asked).or_default().push(index);
        }
    }
    asking
}

/// Another agent that is asked the same is another agent, if the command names this one.
pub(super) fn may_own(entry: &Agent, group: &Group, is_given: bool) -> bool {
    !is_given || entry.name.value.starts_with(&*group.agent)
}

/// Whether an entry has the prompts of a group.
pub(super) fn has_prompts(entry: &Agent, group: &Group) -> bool {
    prompt_digest(entry, &group.model) == group.asked
}

/// What recordings of an entry with a model are compared with.
fn prompt_digest(entry: &Agent, model: &str) -> Digest {
    let system = entry.system_prompt.as_ref();
    let system = system.map_or("", |it| it.value.as_str());
    Digest::from_parts(&[model, system, &entry.prompt.first().value])
}

/// A name, and without its number if it has one.
fn base_names(name: &str) -> impl Iterator<Item = &str> {
    let numbered = name.rsplit_once(' ');
    let plain = numbered.filter(|(_, number)| number.parse::<u32>().is_ok());
    std::iter::once(name).chain(plain.map(|(plain, _)| plain))
}

#[cfg(test)]
mod tests {
    use mcptest_suite::Source;
    use proptest::prelude::*;

    use super::*;

    /// A plain second implementation of `OpenEntries::find`, which looks at all entries each time.
    fn find_naive(
        entries: &[Agent],
        claimed: &HashSet<(usize, String)>,
        group: &Group,
        wanted: &str,
        (is_given, replaces): (bool, bool),
    ) -> Option<usize> {
        let has_model = |entry: &Agent| entry.models.iter().any(|it| it.value.id == *group.model);
        let named = |entry: &Agent| {
            let rest = entry.name.value.strip_prefix(wanted);
            rest.is_some_and(|rest| {
                let number = rest.strip_prefix(' ');
                rest.is_empty() || number.is_some_and(|number| number.parse::<u32>().is_ok())
            })
        };
        let of = |is_it: &dyn Fn(&Agent) -> bool| {
            let is_free = |index: &usize| !claimed.contains(&(*index, group.model.to_string()));
            let mut all = (0..entries.len()).filter(is_free);
            all.find(|index| has_model(&entries[*index]) && is_it(&entries[*index]))
        };
        of(&|entry| has_prompts(entry, group) && named(entry))
            .or_else(|| of(&|entry| (group.by_task || replaces) && entry.name.value == wanted))
            .or_else(|| of(&|entry| group.by_task && named(entry)))
            .or_else(|| of(&|entry| has_prompts(entry, group) && may_own(entry, group, is_given)))
    }

    const NAMES: [&str; 6] = ["a", "a 2", "a 2 3", "ab", "b", "b x"];
    const MODELS: [&str; 2] = ["m", "n"];

    fn entries(asked: &[(usize, usize)]) -> Vec<Agent> {
        let entry = |(index, (model, prompt)): (usize, &(usize, usize))| {
            let models = match MODELS.get(*model) {
                Some(model) => format!("model: {model}"),
                None => "models: [m, n]".to_owned(),
            };
            format!(
                "- {{ name: {}, {models}, prompt: p{prompt}, calls: {{ max: 1 }} }}\n",
                NAMES[index]
            )
        };
        let entries: String = asked.iter().enumerate().map(entry).collect();
        let source = Source::new("s.yml", "s.yml", format!("agents:\n{entries}"));
        mcptest::parse_suite(source).unwrap().agents
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn groups_find_the_entry_that_a_look_at_all_entries_finds(
            asked in proptest::collection::vec((0_usize..3, 0_usize..2), 1..6),
            groups in proptest::collection::vec((0_usize..2, 0_usize..2, any::<bool>(), 0_usize..6), 0..12),
            is_given in any::<bool>(),
            replaces in any::<bool>(),
        ) {
            let entries = entries(&asked);
            let mut open = OpenEntries::new(&entries, is_given);
            let mut claimed = HashSet::new();
            for (model, prompt, by_task, name) in groups {
                let (model, prompt) = (MODELS[model], format!("p{prompt}"));
                let group = Group {
                    agent: NAMES[name][..1].into(),
                    model: model.into(),
                    label: String::new(),
                    subject: Digest::from_parts(&[]),
                    asked: Digest::from_parts(&[model, "", &prompt]),
                    by_task,
                    of_file: false,
                    any_failed: false,
                    runs: Vec::new(),
                };
                let wanted = NAMES[name];
                let found = open.find(&group, wanted, replaces);
                prop_assert_eq!(found, find_naive(&entries, &claimed, &group, wanted, (is_given, replaces)));
                let mut all = entries.iter();
                let has = all.any(|it| it.name.value == wanted && it.models.iter().any(|it| it.value.id == model));
                prop_assert_eq!(open.has(wanted, model), has);
                if let Some(entry) = found {
                    open.claim(entry, model);
                    claimed.insert((entry, model.to_owned()));
                }
            }
        }
    }
}
