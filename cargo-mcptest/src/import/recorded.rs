//! Which entries of a suite have runs of an import already.
//!
//! Sessions may begin with the same words and go on differently, also between two imports: what is recorded of a run
//! tells which agent's it is.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use mcptest_suite::model::Suite;

use super::entries::{index_by_prompts, may_own};
use super::names::recording_stem;
use super::neighbours::Neighbours;
use super::plan::{Group, ImportPlan};
use mcptest_import::Digest;

/// The entries that have the recording of a run, by the run's identifier.
type EntriesByRun = HashMap<Digest, Vec<usize>>;

fn index_by_run(entries: &[usize], ids: impl Fn(usize) -> HashSet<Digest>) -> EntriesByRun {
    let mut recorded = EntriesByRun::new();
    for entry in entries {
        for id in ids(*entry) {
            recorded.entry(id).or_default().push(*entry);
        }
    }
    recorded
}

/// The entry that has runs of each group, where several entries or groups are asked the same. Groups that went apart
/// since are one again, unless they are to take the place of what is recorded.
pub(super) fn match_entries(
    plan: &mut ImportPlan,
    suite: Option<&Suite>,
    is_given: bool,
    neighbours: &Neighbours<'_>,
) -> Vec<Option<usize>> {
    let agents = suite.map_or(&[][..], |suite| &suite.agents);
    let asking = index_by_prompts(agents);
    let mut alike: HashMap<Digest, usize> = HashMap::new();
    for group in &plan.groups {
        *alike.entry(group.asked).or_default() += 1;
    }
    let mut recorded: HashMap<Digest, EntriesByRun> = HashMap::new();
    let mut firsts: HashMap<(usize, Rc<str>), usize> = HashMap::new();
    let mut owned: Vec<Option<usize>> = Vec::new();
    let mut groups: Vec<Group> = Vec::new();
    for mut group in std::mem::take(&mut plan.groups) {
        let entries = asking.get(&group.asked).map_or(&[][..], Vec::as_slice);
        let is_open = !group.by_task && entries.len() + alike[&group.asked] > 2;
        let entry = is_open.then(|| {
            // Groups that are asked the same have the same model.
            let recorded = recorded.entry(group.asked);
            let recorded = recorded.or_insert_with(|| {
                let stem = |entry: usize| recording_stem(&agents[entry], &group.model, neighbours);
                index_by_run(entries, |entry| neighbours.run_ids(&stem(entry)))
            });
            let own = group.runs.iter().map(|run| plan.found[*run as usize].id);
            let having = own.filter_map(|id| recorded.get(&id)).flatten();
            let may_be = |entry: &&usize| may_own(&agents[**entry], &group, is_given);
            having.filter(may_be).min().copied()
        });
        let entry = entry.flatten();
        let key = entry.map(|entry| (entry, Rc::clone(&group.model)));
        match key.as_ref().and_then(|key| firsts.get(key)) {
            Some(first) if !neighbours.options.replace => {
                groups[*first].runs.append(&mut group.runs);
                continue;
            }
            Some(_) => owned.push(None),
            None => owned.push(entry),
        }
        firsts.extend(key.map(|key| (key, groups.len())));
        groups.push(group);
    }
    plan.groups = groups;
    owned
}
