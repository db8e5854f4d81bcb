//! The message histories of requests as paths of a tree. Its nodes are events: histories that begin alike share
//! their beginning, and a history that goes on with another one adds only what is new.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use super::events::{self, HistoryEvent};
use crate::exchange::{Item, Part};
use crate::protocol::is_numbered;

/// The key of an event in a history. Equal events have equal keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct EventKey {
    /// The kind of the event and its words, whichever identifier it has.
    words: usize,
    id: Id,
    is_call: bool,
}

/// The identifier of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Id {
    /// The event is neither a call nor a result.
    NoCall,
    /// The call or the result has none.
    Missing,
    /// This program numbered the call: the provider gave it no identifier.
    Numbered(usize),
    Given(usize),
}

impl EventKey {
    /// The identifier that the provider gave.
    fn given_id(self) -> Option<usize> {
        match self.id {
            Id::Given(id) => Some(id),
            Id::NoCall | Id::Missing | Id::Numbered(_) => None,
        }
    }
}

/// A message history, by its last event in the tree. Equal histories are equal values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct History(usize);

impl History {
    /// The history without events.
    pub(super) const EMPTY: Self = Self(0);
}

/// What a history is found by in an index.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mark {
    /// A hash of the words: histories with the same words have the same hash.
    pub(super) words: u64,
    /// A hash of the identifiers of calls and results: histories with the same identifiers have the same hash.
    pub(super) ids: u64,
    /// Whether a call or a result has an identifier of the provider.
    pub(super) has_given: bool,
    /// Whether a call or a result has none.
    pub(super) has_missing: bool,
}

/// A node of the tree: the last event of a history.
#[derive(Debug)]
struct Node {
    thing: EventKey,
    /// The history before the event.
    before: History,
    length: usize,
    mark: Mark,
}

/// The histories of a session, as a tree.
#[derive(Debug, Default)]
pub(super) struct HistoryTree {
    words: HashMap<HistoryEvent, usize>,
    ids: HashMap<String, usize>,
    /// The events of items that stand alone, by the address of the item. The item is kept, so that its address
    /// stays its own.
    known: HashMap<*const Item, (Arc<Item>, Vec<EventKey>)>,
    /// The history at the index `i` has the number `i + 1`; 0 is the empty history.
    nodes: Vec<Node>,
    next: HashMap<(History, EventKey), History>,
}

impl HistoryTree {
    /// The history of these items.
    pub(super) fn insert(&mut self, items: &[Arc<Item>]) -> History {
        self.extend(History::EMPTY, items)
    }

    /// A history with further items. An item that requests share is read once. An answer that goes on with the
    /// last one needs both to be read together.
    pub(super) fn extend(&mut self, mut talk: History, items: &[Arc<Item>]) -> History {
        for piece in events::pieces(items) {
            let known = match piece {
                [item] => self.known.get(&Arc::as_ptr(item)),
                _ => None,
            };
            let things = match known {
                Some((_, things)) => things.clone(),
                None => self.intern_piece(piece),
            };
            for thing in &things {
                talk = self.append_event(talk, *thing);
            }
            if let [item] = piece {
                let kept = || (Arc::clone(item), things);
                self.known.entry(Arc::as_ptr(item)).or_insert_with(kept);
            }
        }
        talk
    }

    /// The history of these items and then of an answer. `talk`: the history of the items.
    pub(super) fn insert_answer(
        &mut self,
        talk: History,
        items: &[Arc<Item>],
        said: &[Part],
    ) -> History {
        let open = items.iter().rev().take_while(|item| is_answer(item));
        let (before, open) = items.split_at(items.len() - open.count());
        // The answer goes on with what stands last.
        let mut talk = if open.is_empty() {
            talk
        } else {
            self.insert(before)
        };
        let answer = Arc::new(Item::Answer(said.to_vec()));
        let piece: Vec<Arc<Item>> = open.iter().cloned().chain([answer]).collect();
        for thing in self.intern_piece(&piece) {
            talk = self.append_event(talk, thing);
        }
        talk
    }

    /// How many events a history has.
    pub(super) fn length(&self, talk: History) -> usize {
        self.node(talk).map_or(0, |node| node.length)
    }

    pub(super) fn mark(&self, talk: History) -> Mark {
        self.node(talk).map_or_else(Mark::default, |node| node.mark)
    }

    /// The beginnings of a history: the whole history first, the empty one last.
    pub(super) fn beginnings(&self, talk: History) -> impl Iterator<Item = History> {
        std::iter::successors(Some(talk), |talk| Some(self.node(*talk)?.before))
    }

    /// The calls of a history after one that it begins with, the last call first.
    pub(super) fn calls_since(
        &self,
        talk: History,
        before: History,
    ) -> impl Iterator<Item = EventKey> {
        let new = self
            .beginnings(talk)
            .take_while(move |talk| *talk != before);
        let things = new.filter_map(|talk| Some(self.node(talk)?.thing));
        things.filter(|thing| thing.is_call)
    }

    /// The longest history with which both histories begin.
    pub(super) fn common_prefix(&self, one: History, other: History) -> History {
        let (mut one, mut other) = (one, other);
        while one != other {
            let (left, right) = (self.length(one), self.length(other));
            if left >= right {
                one = self.parent(one);
            }
            if right >= left {
                other = self.parent(other);
            }
        }
        one
    }

    /// Whether a history begins with another one. Some providers give calls no identifiers, and some clients send
    /// calls back without them: an identifier tells two calls apart if both have one.
    pub(super) fn continues(&self, talk: History, before: History) -> bool {
        let length = self.length(before);
        let mut beginnings = self.beginnings(talk);
        let same = beginnings.find(|talk| self.length(*talk) <= length);
        let (mut now, mut then) = (same.unwrap_or_default(), before);
        while now != then {
            let (Some(one), Some(other)) = (self.node(now), self.node(then)) else {
                return false;
            };
            let ids = one.thing.given_id().zip(other.thing.given_id());
            let is_same = one.thing.words == other.thing.words
                && one.mark.words == other.mark.words
                && ids.is_none_or(|(now, then)| now == then);
            if !is_same {
                return false;
            }
            (now, then) = (one.before, other.before);
        }
        true
    }

    fn node(&self, talk: History) -> Option<&Node> {
        self.nodes.get(talk.0.checked_sub(1)?)
    }

    fn parent(&self, talk: History) -> History {
        self.node(talk).map_or(History::EMPTY, |node| node.before)
    }

    /// The history with one event more.
    fn append_event(&mut self, before: History, thing: EventKey) -> History {
        if let Some(known) = self.next.get(&(before, thing)) {
            return *known;
        }
        let mut mark = self.mark(before);
        mark.words = chain_hash(mark.words, thing.words);
        match thing.id {
            Id::NoCall => {}
            Id::Missing | Id::Numbered(_) => {
                mark.ids = chain_hash(mark.ids, 0);
                mark.has_missing = true;
            }
            Id::Given(id) => {
                mark.ids = chain_hash(mark.ids, id + 1);
                mark.has_given = true;
            }
        }
        self.nodes.push(Node {
            thing,
            before,
            length: self.length(before) + 1,
            mark,
        });
        let talk = History(self.nodes.len());
        self.next.insert((before, thing), talk);
        talk
    }

    fn intern_piece(&mut self, piece: &[Arc<Item>]) -> Vec<EventKey> {
        let mut read = Vec::new();
        events::add_piece(piece, &mut read);
        read.into_iter().map(|one| self.intern(one)).collect()
    }

    fn intern(&mut self, mut essence: HistoryEvent) -> EventKey {
        let is_call = matches!(essence, HistoryEvent::Call { .. });
        let id = match &mut essence {
            HistoryEvent::Call { id, .. } | HistoryEvent::Result { id, .. } => match id.take() {
                Some(id) => {
                    let is_numbered = is_numbered(&id);
                    let next = self.ids.len();
                    let number = *self.ids.entry(id).or_insert(next);
                    if is_numbered {
                        Id::Numbered(number)
                    } else {
                        Id::Given(number)
                    }
                }
                None => Id::Missing,
            },
            HistoryEvent::User(_) | HistoryEvent::Assistant(_) | HistoryEvent::Turn(..) => {
                Id::NoCall
            }
        };
        let next = self.words.len();
        let words = *self.words.entry(essence).or_insert(next);
        EventKey { words, id, is_call }
    }
}

/// The hash of a sequence, from the hash of all but its last number and that number.
fn chain_hash(hash: u64, next: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    (hash, next).hash(&mut hasher);
    hasher.finish()
}

pub(super) fn is_answer(item: &Arc<Item>) -> bool {
    matches!(**item, Item::Answer(_))
}
