//! Questions that were answered more than once, such as those of a vote.

use std::collections::{HashMap, HashSet};

use super::conversation::ModelCall;
use super::history::HistoryTree;
use super::prefix_index::PrefixIndex;

/// Marks complete answers to one question: each is a model call. The conversation goes on with the answer that the
/// client went on with, else with the last one.
pub(super) fn mark_answers(made: &mut [ModelCall], talks: &mut HistoryTree) {
    let mut by_question: HashMap<_, Vec<usize>> = HashMap::new();
    for (place, call) in made.iter().enumerate().filter(|(_, call)| call.answered) {
        let same = by_question.entry(call.question()).or_default();
        same.push(place);
    }
    let groups = by_question.into_values().filter(|all| all.len() > 1);
    let mut groups: Vec<Vec<usize>> = groups.collect();
    groups.sort_unstable();
    let answers: HashSet<usize> = groups.iter().flatten().copied().collect();
    let used = continued_answers(made, &answers, talks);
    for (group, places) in groups.iter().enumerate() {
        let kept = places.iter().find(|place| used.contains(*place));
        let kept = kept.or(places.last()).copied();
        for (number, place) in places.iter().enumerate() {
            made[*place].equal = Some((group, number));
            made[*place].forks = Some(*place) != kept;
        }
    }
}

/// Which of some answers a later request goes on with.
fn continued_answers(
    made: &[ModelCall],
    answers: &HashSet<usize>,
    talks: &mut HistoryTree,
) -> HashSet<usize> {
    let mut waiting = PrefixIndex::default();
    let mut used = HashSet::new();
    for (place, call) in made.iter().enumerate() {
        used.extend(waiting.take_continued(call.talk, talks));
        if answers.contains(&place) {
            let after = talks.insert_answer(call.talk, &call.asked.items, &call.said.parts);
            waiting.set(place, after, talks);
        }
    }
    used
}
