//! Questions that were answered more than once, such as those of a vote.

use std::collections::{HashMap, HashSet};

use super::conversation::ModelCall;
use super::history::Talks;
use super::prefix_index::Beginnings;

/// Marks complete answers to one question: each is a model call. The conversation goes on with the answer that the
/// client went on with, else with the last one.
pub(super) fn mark(made: &mut [ModelCall], talks: &mut Talks) {
    let mut by_question: HashMap<_, Vec<usize>> = HashMap::new();
    for (place, call) in made.iter().enumerate().filter(|(_, call)| call.answered) {
        let same = by_question.entry(call.question()).or_default();
        same.push(place);
    }
    let groups = by_question.into_values().filter(|all| all.len() > 1);
    let mut groups: Vec<Vec<usize>> = groups.collect();
    groups.sort_unstable();
    let answers: HashSet<usize> = groups.iter().flatten().copied().collect();
    let used = gone_on_with(made, &answers, talks);
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
fn gone_on_with(made: &[ModelCall], answers: &HashSet<usize>, talks: &mut Talks) -> HashSet<usize> {
    let mut waiting = Beginnings::default();
    let mut used = HashSet::new();
    for (place, call) in made.iter().enumerate() {
        used.extend(waiting.take_all(call.talk, talks));
        if answers.contains(&place) {
            let after = talks.after(call.talk, &call.asked.items, &call.said.parts);
            waiting.put(place, after, talks);
        }
    }
    used
}
