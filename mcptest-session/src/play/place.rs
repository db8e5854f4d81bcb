//! Which answer a request asks for: its conversation by its opening, its place by the answers that it holds.

use std::collections::{BTreeSet, HashMap};

use super::alike::Alike;
use super::conversation::Role;
use super::recording::Recording;
use super::turns::asked_turns;
use crate::exchange::{Asked, Item, Part};
use crate::record::{held_talk, talk_digest};

/// Where a request stands in a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// It asks for this answer of this conversation.
    At {
        conversation: usize,
        answer: usize,
        /// The request holds only what is new since the answer before.
        is_new: bool,
    },
    /// No conversation of the recording begins as it does.
    Unknown,
}

/// Finds the place of a request.
///
/// `is_first`: nothing was asked before it, so that a recording of one conversation can only be meant.
pub(super) fn of(
    recording: &Recording,
    asked: &Asked,
    is_first: bool,
    is_given: &dyn Fn(usize, usize) -> bool,
) -> Place {
    let before = asked
        .previous
        .as_deref()
        .and_then(|id| recording.answer_of(id));
    if let Some((conversation, answer)) = before {
        let held = last_known(recording, conversation, asked);
        return Place::At {
            conversation,
            answer: held.unwrap_or(answer + 1),
            is_new: true,
        };
    }
    if held_talk(&asked.parameters).is_some()
        && let Some((conversation, answer)) = after_new(recording, asked, is_given)
    {
        return Place::At {
            conversation,
            answer,
            is_new: true,
        };
    }
    let by_calls = || {
        let mut items = asked.items.iter();
        let place = items.find_map(|item| {
            let mut ids = ids(item);
            ids.find_map(|id| recording.call_ids.get(id)?.first())
        })?;
        Some(place.conversation)
    };
    let only = (is_first && recording.conversations.len() == 1).then_some(0);
    let Some(conversation) = conversation(recording, asked).or_else(by_calls).or(only) else {
        return Place::Unknown;
    };
    let examples = recording.conversations[conversation].examples;
    let moves = &recording.conversations[conversation].moves;
    let changed = moves.iter().any(|one| one.past.is_some());
    let digest = changed.then(|| talk_digest(&asked.items));
    let by_past = moves
        .iter()
        .position(|one| one.past.is_some() && one.past == digest);
    let answer = by_past
        .or_else(|| last_known(recording, conversation, asked))
        .unwrap_or_else(|| groups(&asked.items).saturating_sub(examples));
    Place::At {
        conversation,
        answer,
        is_new: false,
    }
}

/// Of the answers to a question that was answered several times, the one that is next: the first that was not given,
/// before others one that was asked with the same model and parameters. `begun`: how many answers to each question are
/// known to be given, from the first one on.
pub(super) fn of_equal(
    recording: &Recording,
    place: (usize, usize),
    asked: &Asked,
    begun: &mut HashMap<usize, usize>,
    is_given: &dyn Fn(usize, usize) -> bool,
) -> (usize, usize) {
    let at = |(conversation, answer): (usize, usize)| {
        recording.conversations[conversation].moves.get(answer)
    };
    let question = at(place).and_then(|one| one.equal);
    let equal =
        question.and_then(|(question, _)| Some((question, recording.equal.get(&question)?)));
    let Some((question, all)) = equal else {
        return place;
    };
    // Those before were given.
    let begun = begun.entry(question).or_default();
    let given = all[*begun..].iter();
    *begun += given
        .take_while(|(own, answer)| is_given(*own, *answer))
        .count();
    let left = || {
        let rest = all[*begun..].iter();
        rest.filter(|(own, answer)| !is_given(*own, *answer))
    };
    let is_same = |place: &&(usize, usize)| {
        at(**place).is_some_and(|one| {
            one.asked_model == asked.model && one.parameters.as_ref() == Some(&asked.parameters)
        })
    };
    let next = left().find(is_same).or_else(|| left().next());
    next.or(all.last()).copied().unwrap_or(place)
}

/// The identifiers of the calls of an answer.
fn ids(item: &Item) -> impl Iterator<Item = &str> {
    let parts = match item {
        Item::Answer(parts) => parts.as_slice(),
        _ => &[],
    };
    parts.iter().filter_map(|part| match part {
        Part::Call(call) => call.id.as_deref(),
        _ => None,
    })
}

/// The place after the last answer of a talk that has a call which is known, and after the answers that follow it.
fn last_known(recording: &Recording, conversation: usize, asked: &Asked) -> Option<usize> {
    let by_id = |at: usize, id: &str| {
        let calls = recording.calls_of(id, conversation);
        let mut answers: Vec<usize> = calls.map(|place| place.answer).collect();
        answers.reverse();
        answers.dedup();
        let (last, others) = answers.split_last()?;
        if others.is_empty() {
            return Some(*last);
        }
        // Some servers give an identifier again: the answer is the one that made the call as often.
        let before = asked.items[..at].iter();
        let before = before.filter(|item| ids(item).any(|own| own == id));
        Some(*answers.get(before.count()).unwrap_or(last))
    };
    let answer_of = |at: usize, item: &Item| match item {
        Item::Answer(_) => ids(item).find_map(|id| by_id(at, id)),
        Item::Reference(id) => {
            let known = recording.answer_of(id);
            let known = known.filter(|(own, _)| *own == conversation);
            known.map(|(_, answer)| answer)
        }
        _ => None,
    };
    let mut items = asked.items.iter().enumerate().rev();
    let (at, answer) = items.find_map(|(at, item)| Some((at, answer_of(at, item)?)))?;
    // What stands right after it is of the same answer.
    let rest = &asked.items[at + 1..];
    let same = rest.iter().take_while(|item| is_answer(item)).count();
    Some(answer + 1 + groups(&rest[same..]))
}

/// The place of a request that adds to a talk which the provider holds: after the calls whose results it has, else
/// where the user said the same.
///
/// `is_given`: which answers were given. Where an identifier is given again, the answer after the call is the first
/// that was not.
fn after_new(
    recording: &Recording,
    asked: &Asked,
    is_given: &dyn Fn(usize, usize) -> bool,
) -> Option<(usize, usize)> {
    let answered = asked.items.iter().find_map(|item| match item {
        Item::Result(result) => recording.call_ids.get(result.id.as_deref()?),
        _ => None,
    });
    if let Some(places) = answered {
        let mut after = places
            .iter()
            .map(|place| (place.conversation, place.answer + 1));
        let next = after.clone().find(|(own, answer)| !is_given(*own, *answer));
        return next.or(after.next_back());
    }
    let heard = asked.heard();
    let mut all = recording.conversations.iter().enumerate();
    all.find_map(|(conversation, own)| {
        let answer = own.moves.iter().position(|one| {
            let known = one
                .heard
                .iter()
                .map(|(role, text)| (role.as_str(), text.as_str()));
            !heard.is_empty() && known.eq(heard.iter().copied())
        })?;
        Some((conversation, answer))
    })
}

fn is_answer(item: &Item) -> bool {
    matches!(item, Item::Answer(_) | Item::Reference(_))
}

/// How many answers a talk holds. Some clients send one back as several messages.
fn groups(items: &[Item]) -> usize {
    let starts = items.iter().enumerate();
    starts
        .filter(|(at, item)| is_answer(item) && (*at == 0 || !is_answer(&items[at - 1])))
        .count()
}

/// The conversation that begins as a request does: the one with the same opening and the same system prompt, else with
/// the same opening, else with the same system prompt, else the main one where the same tools are offered.
fn conversation(recording: &Recording, asked: &Asked) -> Option<usize> {
    let opening = asked.opening().map(str::trim);
    let live = asked.tools.iter();
    let live: BTreeSet<String> = live.map(|tool| recording.tool_name(&tool.name).1).collect();
    let likeness = |number: usize| {
        let known = &recording.conversations[number];
        let own = known.opening.as_deref().map(str::trim);
        let has_opening = own.is_some() && own == opening;
        let first = known.moves.first();
        let system = first.and_then(|first| first.system.as_ref());
        let has_system = system.is_some_and(|system| *system == asked.system);
        let has_words = system.is_none_or(|system| system.is_some() || asked.system.is_none());
        let has_tools = offers_the_same(recording, number, &live);
        let holds = own.zip(opening).is_some_and(|(own, opening)| {
            !own.is_empty()
                && (opening.contains(own) || own.contains(opening) && !opening.is_empty())
        });
        let likeness = u8::from(has_opening) * 8
            + u8::from(has_system && has_words) * 4
            + u8::from(has_tools) * 2
            + u8::from(holds);
        // That neither has a system prompt says nothing alone.
        let only_silence = likeness == 4 && asked.system.is_none();
        (likeness > 0 && !only_silence).then_some(likeness)
    };
    // A side call has no tools; one with tools is none.
    let fits = |number: usize| {
        recording.conversations[number].role != Role::Side || asked.tools.is_empty()
    };
    let likely = |alike: &Alike| {
        let first = alike.first().filter(|first| fits(*first))?;
        likeness(first)
    };
    // The same opening is more than all else together.
    let same = opening.and_then(|opening| recording.openings.get(opening));
    let same = same
        .into_iter()
        .flatten()
        .map(|place| &recording.alike[*place]);
    let mut all: Vec<(u8, &Alike)> = same
        .filter_map(|alike| Some((likely(alike)?, alike)))
        .collect();
    if all.is_empty() {
        let others = recording.alike.iter();
        all.extend(others.filter_map(|alike| Some((likely(alike)?, alike))));
    }
    let most = all.iter().map(|(likeness, _)| *likeness).max()?;
    all.retain(|(likeness, _)| *likeness == most);
    if let [(_, alike)] = all.as_slice()
        && alike.is_one()
    {
        return alike.first();
    }
    let turns = asked_turns(recording, &asked.items);
    let nearest = all.iter().filter_map(|(_, alike)| alike.nearest(&turns));
    nearest.max().map(|(_, number)| number.0)
}

/// Whether the tools of a request, under the names that they mean, are those of a conversation.
fn offers_the_same(recording: &Recording, number: usize, live: &BTreeSet<String>) -> bool {
    let first = recording.conversations[number].moves.first();
    let tools = first.and_then(|first| first.tools.as_ref());
    let has = |tools: &BTreeSet<super::offered::ToolName>| {
        !live.is_empty()
            && tools.iter().all(|(_, name)| live.contains(name))
            && tools.len() == live.len()
    };
    tools.is_some_and(has)
}
