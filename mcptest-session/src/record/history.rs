//! The message histories of requests as paths of a tree. Its nodes are events: histories that begin alike share
//! their beginning, and a history that goes on with another one adds only what is new.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use super::events::{self, Essence};
use crate::exchange::{Item, Part};
use crate::protocol::is_numbered;

/// The key of an event in a history. Equal events have equal keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Thing {
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

impl Thing {
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
pub(super) struct Talk(usize);

impl Talk {
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
    thing: Thing,
    /// The history before the event.
    before: Talk,
    length: usize,
    mark: Mark,
}

/// The histories of a session, as a tree.
#[derive(Debug, Default)]
pub(super) struct Talks {
    words: HashMap<Essence, usize>,
    ids: HashMap<String, usize>,
    /// The events of items that stand alone, by the address of the item. The item is kept, so that its address
    /// stays its own.
    known: HashMap<*const Item, (Arc<Item>, Vec<Thing>)>,
    /// The history at the index `i` has the number `i + 1`; 0 is the empty history.
    nodes: Vec<Node>,
    next: HashMap<(Talk, Thing), Talk>,
}

impl Talks {
    /// The history of these items.
    pub(super) fn insert(&mut self, items: &[Arc<Item>]) -> Talk {
        self.extended(Talk::EMPTY, items)
    }

    /// A history with further items. An item that requests share is read once. An answer that goes on with the
    /// last one needs both to be read together.
    pub(super) fn extended(&mut self, mut talk: Talk, items: &[Arc<Item>]) -> Talk {
        for piece in events::pieces(items) {
            let known = match piece {
                [item] => self.known.get(&Arc::as_ptr(item)),
                _ => None,
            };
            let things = match known {
                Some((_, things)) => things.clone(),
                None => self.read(piece),
            };
            for thing in &things {
                talk = self.then(talk, *thing);
            }
            if let [item] = piece {
                let kept = || (Arc::clone(item), things);
                self.known.entry(Arc::as_ptr(item)).or_insert_with(kept);
            }
        }
        talk
    }

    /// The history of these items and then of an answer. `talk`: the history of the items.
    pub(super) fn after(&mut self, talk: Talk, items: &[Arc<Item>], said: &[Part]) -> Talk {
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
        for thing in self.read(&piece) {
            talk = self.then(talk, thing);
        }
        talk
    }

    /// How many events a history has.
    pub(super) fn length(&self, talk: Talk) -> usize {
        self.node(talk).map_or(0, |node| node.length)
    }

    pub(super) fn mark(&self, talk: Talk) -> Mark {
        self.node(talk).map_or_else(Mark::default, |node| node.mark)
    }

    /// The beginnings of a history: the whole history first, the empty one last.
    pub(super) fn beginnings(&self, talk: Talk) -> impl Iterator<Item = Talk> {
        std::iter::successors(Some(talk), |talk| Some(self.node(*talk)?.before))
    }

    /// The calls of a history after one that it begins with, the last call first.
    pub(super) fn calls_since(&self, talk: Talk, before: Talk) -> impl Iterator<Item = Thing> {
        let new = self
            .beginnings(talk)
            .take_while(move |talk| *talk != before);
        let things = new.filter_map(|talk| Some(self.node(talk)?.thing));
        things.filter(|thing| thing.is_call)
    }

    /// The longest history with which both histories begin.
    pub(super) fn shared(&self, one: Talk, other: Talk) -> Talk {
        let (mut one, mut other) = (one, other);
        while one != other {
            let (left, right) = (self.length(one), self.length(other));
            if left >= right {
                one = self.before(one);
            }
            if right >= left {
                other = self.before(other);
            }
        }
        one
    }

    /// Whether a history begins with another one. Some providers give calls no identifiers, and some clients send
    /// calls back without them: an identifier tells two calls apart if both have one.
    pub(super) fn goes_on(&self, talk: Talk, before: Talk) -> bool {
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

    fn node(&self, talk: Talk) -> Option<&Node> {
        self.nodes.get(talk.0.checked_sub(1)?)
    }

    fn before(&self, talk: Talk) -> Talk {
        self.node(talk).map_or(Talk::EMPTY, |node| node.before)
    }

    /// The history with one event more.
    fn then(&mut self, before: Talk, thing: Thing) -> Talk {
        if let Some(known) = self.next.get(&(before, thing)) {
            return *known;
        }
        let mut mark = self.mark(before);
        mark.words = chained(mark.words, thing.words);
        match thing.id {
            Id::NoCall => {}
            Id::Missing | Id::Numbered(_) => {
                mark.ids = chained(mark.ids, 0);
                mark.has_missing = true;
            }
            Id::Given(id) => {
                mark.ids = chained(mark.ids, id + 1);
                mark.has_given = true;
            }
        }
        self.nodes.push(Node {
            thing,
            before,
            length: self.length(before) + 1,
            mark,
        });
        let talk = Talk(self.nodes.len());
        self.next.insert((before, thing), talk);
        talk
    }

    fn read(&mut self, piece: &[Arc<Item>]) -> Vec<Thing> {
        let mut read = Vec::new();
        events::add_piece(piece, &mut read);
        read.into_iter().map(|one| self.thing(one)).collect()
    }

    fn thing(&mut self, mut essence: Essence) -> Thing {
        let is_call = matches!(essence, Essence::Call { .. });
        let id = match &mut essence {
            Essence::Call { id, .. } | Essence::Result { id, .. } => match id.take() {
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
            Essence::User(_) | Essence::Said(_) | Essence::Turn(..) => Id::NoCall,
        };
        let next = self.words.len();
        let words = *self.words.entry(essence).or_insert(next);
        Thing { words, id, is_call }
    }
}

/// The hash of a sequence, from the hash of all but its last number and that number.
fn chained(hash: u64, next: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    (hash, next).hash(&mut hasher);
    hasher.finish()
}

pub(super) fn is_answer(item: &Arc<Item>) -> bool {
    matches!(**item, Item::Answer(_))
}
