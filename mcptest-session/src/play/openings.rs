//! Which conversation of a recording begins as a request does.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::Arc;

use regex::Regex;

use super::conversation::{Conversation, Role};
use super::matching::blank_masked;
use super::similar::SimilarConversations;
use super::turn_key::TurnPrefixes;
use crate::exchange::ModelRequest;

/// Conversations with another opening are looked through for one that holds the opening of a request only where they
/// have no more openings than this: where a prompt has changed, each request of a run has such an opening.
const MOST_HOLDING: usize = 256;

/// The conversations of a recording by how they begin: by their opening, the system prompt of their first request, and
/// the tools that it offers.
#[derive(Debug, Clone, Default)]
pub(super) struct Openings {
    /// Texts are compared as these leave them.
    masks: Vec<Regex>,
    /// A number for each opening, each system prompt and each set of names of tools.
    texts: HashMap<String, usize>,
    systems: HashMap<Option<String>, usize>,
    tools: HashMap<BTreeSet<String>, usize>,
    /// The conversations by what they begin with. They stand under each part of it.
    by: HashMap<Key, OpeningGroup>,
}

/// What conversations begin with; each is left out where it does not matter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key {
    opening: Option<usize>,
    system: Option<usize>,
    tools: Option<usize>,
    /// The request offers tools. What a client asks on the side has none.
    offers: bool,
}

/// Conversations that begin alike in some respect: those of one [`Key`].
#[derive(Debug, Clone, Default)]
struct OpeningGroup {
    all: SimilarConversations,
    /// The conversations of each opening, while there are few openings.
    openings: HashMap<String, SimilarConversations>,
}

impl Openings {
    /// Indexes conversations and their turns, with what the masks match blanked.
    pub(super) fn from_conversations<'c>(
        conversations: impl Iterator<Item = (&'c Conversation, TurnPrefixes)>,
        masks: &[Regex],
    ) -> Self {
        let mut openings = Self {
            masks: masks.to_vec(),
            ..Self::default()
        };
        for (number, (own, turns)) in conversations.enumerate() {
            openings.add(number, own, &Arc::new(turns));
        }
        openings
    }

    fn add(&mut self, number: usize, own: &Conversation, turns: &Arc<TurnPrefixes>) {
        let opening = own.opening.as_deref().map(|text| self.blanked(text));
        let first = own.moves.first();
        let system = first.and_then(|first| first.system.clone());
        let tools = first.and_then(|first| first.tools.as_ref());
        let names = tools.and_then(|tools| {
            let names: BTreeSet<String> = tools.iter().map(|(_, name)| name.clone()).collect();
            // Tools of one name are of several servers.
            (!names.is_empty() && names.len() == tools.len()).then_some(names)
        });
        let known = Key {
            opening: opening.clone().map(|it| intern(&mut self.texts, it)),
            system: system.map(|it| intern(&mut self.systems, it)),
            tools: names.map(|it| intern(&mut self.tools, it)),
            offers: false,
        };
        for key in known.parts(own.role != Role::Side) {
            let kind = self.by.entry(key).or_default();
            kind.all.add(number, turns);
            // Where the opening is the same, nothing is looked for in it.
            if let (Some(opening), None) = (&opening, key.opening)
                && !opening.is_empty()
                && kind.openings.len() <= MOST_HOLDING
            {
                let same = kind.openings.entry(opening.clone()).or_default();
                same.add(number, turns);
            }
        }
    }

    /// A text as it is compared.
    fn blanked(&self, text: &str) -> String {
        blank_masked(text, &self.masks).trim().to_owned()
    }

    /// The conversation that begins as a request does: the one with the same opening and the same system prompt, else
    /// with the same opening, else with the same system prompt, else where the same tools are offered, else where one
    /// opening holds the other. Of several the one that shares most turns with the request, of these the first.
    ///
    /// `tools`: the names of the tools that the request offers. `read`: reads its turns.
    pub(super) fn find(
        &self,
        asked: &ModelRequest,
        tools: &BTreeSet<String>,
        read: impl Fn() -> TurnPrefixes,
    ) -> Option<usize> {
        let opening = asked.opening().map(|text| self.blanked(text));
        let own = Key {
            opening: opening.as_ref().and_then(|it| self.texts.get(it).copied()),
            system: self.systems.get(&asked.system).copied(),
            tools: self.tools.get(tools).copied(),
            offers: !tools.is_empty(),
        };
        let turns = OnceCell::new();
        let turns = || turns.get_or_init(&read);
        // The same opening is more than all else together.
        let mut same = own.kinds().filter(|key| key.opening.is_some());
        if let Some(kind) = same.find_map(|key| self.by.get(&key)) {
            return kind.all.nearest_if_several(&turns);
        }
        let others = Key {
            opening: None,
            ..own
        };
        for key in others.kinds() {
            let Some(kind) = self.by.get(&key) else {
                continue;
            };
            let holding = opening
                .as_ref()
                .and_then(|text| kind.find_overlapping(text, turns()));
            // That neither has a system prompt says nothing alone.
            let says = key.tools.is_some() || key.system.is_some() && asked.system.is_some();
            let found =
                holding.or_else(|| says.then(|| kind.all.nearest_if_several(&turns)).flatten());
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

impl Key {
    /// What conversations begin with that have all of this, the most first.
    fn kinds(self) -> impl Iterator<Item = Self> {
        let systems = [self.system, None].into_iter();
        systems.flat_map(move |system| {
            let tools = [self.tools, None].into_iter();
            tools.map(move |tools| Self {
                system,
                tools,
                ..self
            })
        })
    }

    /// Each part of what a conversation begins with, alone and with others, for requests that find it.
    fn parts(self, is_agent: bool) -> BTreeSet<Self> {
        let mut parts = BTreeSet::new();
        for opening in [self.opening, None] {
            for kind in (Self { opening, ..self }).kinds() {
                // A request without tools is asked for none.
                if kind.tools.is_none() {
                    parts.insert(kind);
                }
                if is_agent {
                    parts.insert(Self {
                        offers: true,
                        ..kind
                    });
                }
            }
        }
        parts
    }
}

impl OpeningGroup {
    /// The conversation whose opening holds a text or is held by it.
    fn find_overlapping(&self, text: &str, turns: &TurnPrefixes) -> Option<usize> {
        if text.is_empty() || self.openings.len() > MOST_HOLDING {
            return None;
        }
        let all = self.openings.iter();
        let holding = all.filter(|(own, _)| own.contains(text) || text.contains(own.as_str()));
        let nearest = holding.filter_map(|(_, all)| all.nearest(turns)).max()?;
        Some(nearest.1.0)
    }
}

fn intern<T: Eq + Hash>(numbers: &mut HashMap<T, usize>, of: T) -> usize {
    let next = numbers.len();
    *numbers.entry(of).or_insert(next)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::exchange::{Item, Part, Tool};
    use crate::play::conversation::Answer;
    use crate::play::model_turn::ModelTurn;
    use crate::play::position::find_conversation as found;
    use crate::play::recording::Recording;
    use crate::play::turns::{request_prefixes, turn_prefixes};

    /// Finds the conversation by a look at all of them: what the index has to agree with.
    fn plainly(recording: &Recording, asked: &ModelRequest) -> Option<usize> {
        let opening = asked.opening().map(str::trim);
        let live: BTreeSet<&str> = asked.tools.iter().map(|tool| tool.name.as_str()).collect();
        let turns = request_prefixes(recording, &asked.items);
        let all = recording.conversations.iter().enumerate();
        let fitting = all.filter(|(_, own)| own.role != Role::Side || live.is_empty());
        let likely = fitting.filter_map(|(number, own)| {
            let (first, own_opening) = (&own.moves[0], own.opening.as_deref().map(str::trim));
            let has_opening = own_opening.is_some() && own_opening == opening;
            let has_system = first.system.as_ref() == Some(&asked.system);
            let names = first.tools.iter().flatten().map(|(_, name)| name.as_str());
            let has_tools = !live.is_empty()
                && first
                    .tools
                    .as_ref()
                    .is_some_and(|tools| tools.len() == live.len())
                && names.collect::<BTreeSet<_>>() == live;
            let holds = own_opening.zip(opening).is_some_and(|(own, text)| {
                !own.is_empty() && !text.is_empty() && (own.contains(text) || text.contains(own))
            });
            let likeness = [has_opening, has_system, has_tools, holds];
            let only_silence = likeness == [false, true, false, false] && asked.system.is_none();
            let is_like = likeness.contains(&true) && !only_silence;
            let shared = turn_prefixes(own).shared_turns(&turns);
            is_like.then_some((likeness, shared, std::cmp::Reverse(number)))
        });
        likely.max().map(|(.., number)| number.0)
    }

    fn text() -> impl Strategy<Value = Option<String>> {
        let texts = vec![
            "",
            "Cancel 7.",
            " Cancel 7. ",
            "Please: Cancel 7.",
            "Find it.",
            "it",
        ];
        proptest::option::weighted(0.9, select(texts).prop_map(str::to_owned))
    }

    fn system() -> impl Strategy<Value = Option<String>> {
        proptest::option::of(select(vec!["Be kind.", "Be quick."]).prop_map(str::to_owned))
    }

    fn tools() -> impl Strategy<Value = BTreeSet<&'static str>> {
        proptest::collection::btree_set(select(vec!["find", "cancel"]), 0..3)
    }

    fn turns() -> impl Strategy<Value = Vec<&'static str>> {
        proptest::collection::vec(select(vec!["a", "b"]), 0..3)
    }

    fn text_parts(text: &str) -> Vec<Part> {
        vec![Part::Text(text.to_owned())]
    }

    fn conversation() -> impl Strategy<Value = Conversation> {
        let role = prop_oneof![3 => Just(Role::Agent), 1 => Just(Role::Side)];
        let known = proptest::option::weighted(0.8, system());
        let tools = proptest::option::weighted(0.8, tools());
        (role, text(), known, tools, turns()).prop_map(|(role, opening, system, tools, turns)| {
            let named = |name: &str| (Some("desk".to_owned()), name.to_owned());
            let first = Answer {
                system,
                tools: tools.map(|tools| tools.into_iter().map(named).collect()),
                spoken: ModelTurn::from_parts(&Recording::default().names, text_parts("first")),
                ..Answer::default()
            };
            let more = turns.into_iter().map(|text| Answer {
                spoken: ModelTurn::from_parts(&Recording::default().names, text_parts(text)),
                ..Answer::default()
            });
            Conversation {
                role,
                opening,
                moves: std::iter::once(first).chain(more).collect(),
                ..Conversation::default()
            }
        })
    }

    fn request() -> impl Strategy<Value = ModelRequest> {
        let first = proptest::bool::ANY;
        (text(), system(), tools(), first, turns()).prop_map(
            |(opening, system, tools, first, turns)| {
                let turns = first.then_some("first").into_iter().chain(turns);
                let turns = turns
                    .flat_map(|text| [Item::Answer(text_parts(text)), Item::User("on".to_owned())]);
                let tools = tools.into_iter().map(|name| Tool {
                    name: name.to_owned(),
                    ..Tool::default()
                });
                ModelRequest {
                    system,
                    tools: tools.collect(),
                    items: opening.map(Item::User).into_iter().chain(turns).collect(),
                    ..ModelRequest::default()
                }
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn the_conversation_is_the_one_that_a_look_at_all_finds(
            conversations in proptest::collection::vec(conversation(), 1..8), asked in request(),
        ) {
            let mut recording = Recording::default();
            recording.conversations = conversations;
            recording.group_openings(&[]);
            prop_assert_eq!(found(&recording, &asked), plainly(&recording, &asked));
        }
    }
}
