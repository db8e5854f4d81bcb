//! Puts model calls, one after the other, into the conversations that they go on with. A call looks at the conversations
//! that say the same as its request, and not at all others.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::conversation::{Changed, Conversation, ModelCall, ModelCalls, read_model_calls};
use super::events;
use super::fragments::{Fragments, LONG};
use super::history::{EventKey, History, HistoryTree, is_answer};
use super::observed::Observed;
use super::prefix_index::PrefixIndex;
use super::repeated;
use super::scratchpad;
use super::stored_request::StoredRequest;
use crate::exchange::{Item, Part};

/// The system prompt of a request.
type System = Option<Arc<str>>;

/// So many conversations of a system prompt are looked at for one that begins anew with each request: the last ones.
const MOST_RECENT: usize = 64;

/// Sorts what went by. `prompts`: what the user is known to ask.
pub(super) fn group_into_conversations(observed: &[Observed], prompts: &[String]) -> ModelCalls {
    let mut talks = HistoryTree::default();
    let (mut calls, mut made) = read_model_calls(observed, &mut talks);
    repeated::mark_answers(&mut made, &mut talks);
    let mut placing = Placing::new(prompts);
    for call in made {
        placing.place(call, &mut talks);
    }
    calls.conversations = placing.conversations();
    calls
}

/// The conversations so far, and what finds them.
#[derive(Debug, Default)]
pub(super) struct Placing {
    /// What the user is known to ask.
    prompts: Vec<String>,
    conversations: Vec<Conversation>,
    open: Vec<OpenConversation>,
    /// The talk of each conversation after its last answer.
    after: PrefixIndex,
    /// The talk of each conversation after its last answer, without the text beside the calls of that answer: some
    /// clients leave it out.
    bare: PrefixIndex,
    /// The conversations whose talk holds a call, and how often it does.
    by_call: HashMap<EventKey, BTreeMap<usize, usize>>,
    /// The last conversation with a system prompt and an opening.
    by_opening: HashMap<System, HashMap<String, usize>>,
    /// Long texts that the model said, each with the conversations in which it did.
    said: Fragments,
    /// The conversations with a system prompt, the last one that was asked first.
    recent: HashMap<System, VecDeque<usize>>,
}

/// What is known of a conversation besides its calls.
#[derive(Debug, Default)]
struct OpenConversation {
    /// The talk of its last request.
    asked: History,
    /// The system prompts of its requests.
    systems: HashSet<System>,
}

impl Placing {
    pub(super) fn new(prompts: &[String]) -> Self {
        Self {
            prompts: prompts.to_vec(),
            ..Self::default()
        }
    }

    /// Puts a call into the conversation that it goes on with, or begins one.
    pub(super) fn place(&mut self, mut call: ModelCall, talks: &mut HistoryTree) {
        let place = if call.forks {
            None
        } else if let Some((index, length)) = self.longest(&call, talks) {
            call.known = item_count(&call, length);
            Some(index)
        } else if let Some(index) = self.find_restarted(&call) {
            call.changed = Some(Changed::Anew);
            call.known = call.asked.items.len();
            Some(index)
        } else {
            let changed = self.find_changed(&call, talks);
            if let Some(index) = changed {
                call.changed = Some(if talks.continues(call.talk, self.open[index].asked) {
                    Changed::LastAnswer
                } else {
                    Changed::Past
                });
                let last = call.asked.items.iter().rposition(is_answer);
                call.known = last.map_or(call.asked.items.len(), |last| last + 1);
            }
            changed
        };
        let index = place.unwrap_or_else(|| {
            self.conversations.push(Conversation::default());
            self.open.push(OpenConversation::default());
            self.open.len() - 1
        });
        self.push(index, call, talks);
    }

    /// The conversations, in the order in which they began.
    pub(super) fn conversations(self) -> Vec<Conversation> {
        self.conversations
    }

    fn push(&mut self, index: usize, call: ModelCall, talks: &mut HistoryTree) {
        let said = call.answered.then_some(call.said.parts.as_slice());
        let after = match said {
            Some(said) => talks.insert_answer(call.talk, &call.asked.items, said),
            None => call.talk,
        };
        self.index_calls(index, after, talks);
        self.after.set(index, after, talks);
        match said.and_then(without_text) {
            Some(said) => {
                let bare = talks.insert_answer(call.talk, &call.asked.items, &said);
                self.bare.set(index, bare, talks);
            }
            None => self.bare.remove(index),
        }
        self.open[index].asked = call.talk;
        for part in said.unwrap_or_default() {
            // A shorter text is in many texts by chance.
            if let Part::Text(text) = part
                && text.trim().len() >= LONG
            {
                self.said.add(text.trim(), index);
            }
        }
        let system = call.asked.system.clone();
        let recent = self.recent.entry(system.clone()).or_default();
        recent.retain(|other| *other != index);
        recent.push_front(index);
        recent.truncate(MOST_RECENT);
        self.conversations[index].calls.push(call);
        if self.open[index].systems.insert(system.clone())
            && let Some(opening) = self.conversations[index].opening()
        {
            let last = self.by_opening.entry(system).or_default();
            let last = last.entry(opening.to_owned()).or_insert(index);
            *last = index.max(*last);
        }
    }

    /// The conversation that a request goes on with, and how long its talk is. Notes that the client leaves a text out.
    fn longest(&mut self, call: &ModelCall, talks: &HistoryTree) -> Option<(usize, usize)> {
        let whole = self.after.longest_continued(call.talk, talks);
        let bare = self.bare.longest_continued(call.talk, talks);
        let length = |found: Option<(usize, usize)>| found.map(|(_, length)| length);
        if length(bare) <= length(whole) {
            return whole;
        }
        let (index, _) = bare?;
        if let Some(last) = self.conversations[index].calls.last_mut() {
            last.is_bare = true;
        }
        bare
    }

    /// Notes which calls the talk of a conversation holds now.
    fn index_calls(&mut self, index: usize, after: History, talks: &HistoryTree) {
        let before = self.after.history(index);
        let shared = talks.common_prefix(before, after);
        for call in talks.calls_since(before, shared) {
            if let Some(holders) = self.by_call.get_mut(&call)
                && let Some(times) = holders.get_mut(&index)
            {
                *times -= 1;
                if *times == 0 {
                    holders.remove(&index);
                }
            }
        }
        for call in talks.calls_since(after, shared) {
            let holders = self.by_call.entry(call).or_default();
            *holders.entry(index).or_default() += 1;
        }
    }

    /// The conversation with which a call goes on although its request begins anew: the same but for the last message, which
    /// tells the past.
    fn find_restarted(&self, call: &ModelCall) -> Option<usize> {
        let (own, before) = last_message(&call.asked)?;
        let recent = self.recent.get(&call.asked.system)?.iter().copied();
        let mut fitting = recent.filter(|index| {
            let Some(last) = self.conversations[*index].calls.last() else {
                return false;
            };
            let is_same = last.asked.system == call.asked.system
                && last.asked.tools == call.asked.tools
                && last.asked.model == call.asked.model;
            is_same
                && last_message(&last.asked).is_some_and(|(text, others)| {
                    others == before
                        && scratchpad::continues_message(text, own, &last.said.parts, &self.prompts)
                })
        });
        fitting.next()
    }

    /// The last conversation with which a call goes on and whose past was changed.
    fn find_changed(&self, call: &ModelCall, talks: &HistoryTree) -> Option<usize> {
        let asked = &call.asked;
        let same_system = |index: &usize| self.open[*index].systems.contains(&asked.system);
        let opening = asked.opening();
        let same_opening = opening
            .filter(|_| asked.answer_count() > 0)
            .and_then(|opening| {
                let last = self.by_opening.get(&asked.system)?.get(opening)?;
                Some(*last)
            });
        let calls = talks.calls_since(call.talk, History::EMPTY);
        let shares_calls = calls.filter_map(|call| {
            let mut holders = self.by_call.get(&call)?.keys().rev();
            holders.find(|index| same_system(index)).copied()
        });
        // A summary of what was said before is what a client begins again with.
        let said = opening.map(|text| self.said.found_in(text));
        let has_summary = said.into_iter().flatten().filter_map(|conversations| {
            let mut conversations = conversations.iter().rev().copied();
            conversations.find(same_system)
        });
        let all = shares_calls.chain(same_opening).chain(has_summary);
        all.max()
    }
}

/// The calls of an answer that has a text beside them.
fn without_text(said: &[Part]) -> Option<Vec<Part>> {
    let is_text = |part: &Part| matches!(part, Part::Text(_) | Part::Refusal(_));
    let calls: Vec<Part> = said.iter().filter(|part| !is_text(part)).cloned().collect();
    let has_call = calls.iter().any(|part| matches!(part, Part::Call(_)));
    (has_call && calls.len() < said.len()).then_some(calls)
}

/// The last message of a request, if it is the user's, and what stands before it.
fn last_message(asked: &StoredRequest) -> Option<(&str, &[Arc<Item>])> {
    let (last, before) = asked.items.split_last()?;
    match &**last {
        Item::User(text) => Some((text, before)),
        _ => None,
    }
}

/// How many items the first things of the talk of a call are.
fn item_count(call: &ModelCall, length: usize) -> usize {
    // What the provider holds is not gone through again.
    let (held, things) = call.held;
    let (held, length) = match length.checked_sub(things) {
        Some(length) => (held, length),
        None => (0, length),
    };
    let items = &call.asked.items[held..];
    let lengths = events::event_counts(items);
    let mut count = lengths.partition_point(|known| *known < length);
    // An answer may be several messages.
    while items.get(count).is_some_and(is_answer) && lengths.get(count + 1) == Some(&length) {
        count += 1;
    }
    held + count
}
