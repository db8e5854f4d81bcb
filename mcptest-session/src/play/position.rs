//! Which answer a request asks for: its conversation by its opening, its place by the answers that it holds.

use std::collections::HashMap;

use serde_json::Value;

use super::conversation::Conversation;
use super::recording::Recording;
use super::turns::request_prefixes;
use crate::exchange::{Item, ModelRequest, Part};
use crate::record::{
    provider_conversation, read_messages, scratchpad_goes_on, talk_digest, text_since,
};

/// The position of a request in a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
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

/// Finds the position of a request.
///
/// `is_first`: nothing was asked before it, so that a recording of one conversation can only be meant.
pub(super) fn find(
    recording: &Recording,
    asked: &ModelRequest,
    is_first: bool,
    is_given: &dyn Fn(usize, usize) -> bool,
) -> Position {
    let before = asked
        .previous
        .as_deref()
        .and_then(|id| recording.find_answer(id));
    if let Some((conversation, answer)) = before {
        let held = last_known(recording, conversation, asked);
        return Position::At {
            conversation,
            answer: held.unwrap_or(answer + 1),
            is_new: true,
        };
    }
    if provider_conversation(&asked.parameters).is_some()
        && let Some((conversation, answer)) = after_new_items(recording, asked, is_given)
    {
        return Position::At {
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
    let begun = find_scratchpad(recording, asked).or_else(|| find_conversation(recording, asked));
    let Some(conversation) = begun.or_else(by_calls).or(only) else {
        return Position::Unknown;
    };
    let own = &recording.conversations[conversation];
    let changed = own.has_changed();
    let digest = changed.then(|| talk_digest(&asked.items));
    let by_past = own
        .moves
        .iter()
        .position(|one| one.past.is_some() && one.past == digest);
    // A past that the code wrote itself has fewer answers than the model gave.
    let by_words = || {
        Some(
            own.last_answer_told_in(&words_after_opening(own, &asked.items))
                .filter(|_| changed)?
                + 1,
        )
    };
    let by_count = answer_count(&asked.items).saturating_sub(own.examples);
    let answer = by_past
        .or_else(|| last_known(recording, conversation, asked))
        .unwrap_or_else(|| by_words().map_or(by_count, |answer| answer.max(by_count)));
    Position::At {
        conversation,
        answer,
        is_new: false,
    }
}

/// The conversation whose past a message of the user tells, although the request begins otherwise: that of which it
/// tells most.
fn find_scratchpad(recording: &Recording, asked: &ModelRequest) -> Option<usize> {
    let Some(Item::User(text)) = asked.items.last() else {
        return None;
    };
    let told = recording.changed.iter().filter_map(|number| {
        let own = &recording.conversations[*number];
        let first = own.moves.first()?;
        let is_same = first.system.as_ref() == Some(&asked.system);
        let opening = own.opening.as_deref().filter(|_| is_same)?;
        let prompts = [recording.prompt.clone()];
        let is_next = scratchpad_goes_on(opening, text, &first.said.parts, &prompts);
        let told = own
            .last_answer_told_in(text_since(opening, text))
            .filter(|_| is_next)?;
        Some((told, std::cmp::Reverse(*number)))
    });
    told.max().map(|(_, number)| number.0)
}

/// The words of a talk after the opening of its conversation.
fn words_after_opening(own: &Conversation, items: &[Item]) -> String {
    let opening = own.opening.as_deref().unwrap_or_default();
    let told = read_messages(items).into_iter();
    let texts = told.map(|one| match one.value {
        Value::String(text) if one.role == "user" => text_since(opening, &text).to_owned(),
        Value::String(text) => text,
        other => other.to_string(),
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The conversation that begins as a request does.
pub(super) fn find_conversation(recording: &Recording, asked: &ModelRequest) -> Option<usize> {
    let tools = asked.tools.iter();
    let tools = tools
        .map(|tool| recording.tool_name(&tool.name).1)
        .collect();
    let read = || request_prefixes(recording, &asked.items);
    recording.openings.find(asked, &tools, read)
}

/// The next answer to a question that was answered several times: the first one that was not given and was asked
/// with the same model and parameters, else the first one that was not given, else the last one. `begun`: how many
/// answers to each question are known to be given, from the first one on.
pub(super) fn next_repeated(
    recording: &Recording,
    place: (usize, usize),
    asked: &ModelRequest,
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
fn last_known(recording: &Recording, conversation: usize, asked: &ModelRequest) -> Option<usize> {
    let by_id = |at: usize, id: &str| {
        let calls = recording.calls_with_id(id, conversation);
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
            let known = recording.find_answer(id);
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
    Some(answer + 1 + answer_count(&rest[same..]))
}

/// The place of a request that adds to a talk which the provider holds: after the calls whose results it has, else
/// where the user said the same.
///
/// `is_given`: which answers were given. Where an identifier is given again, the answer after the call is the first
/// that was not.
fn after_new_items(
    recording: &Recording,
    asked: &ModelRequest,
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
    let heard = asked.other_messages().into_iter();
    let heard: Vec<(String, String)> = heard
        .map(|(role, text)| (role.to_owned(), text.to_owned()))
        .collect();
    recording.heard.get(&heard).copied()
}

fn is_answer(item: &Item) -> bool {
    matches!(item, Item::Answer(_) | Item::Reference(_))
}

/// How many answers a message history holds. Some clients send one answer back as several messages.
pub(super) fn answer_count(items: &[Item]) -> usize {
    let starts = items.iter().enumerate();
    starts
        .filter(|(at, item)| is_answer(item) && (*at == 0 || !is_answer(&items[at - 1])))
        .count()
}
