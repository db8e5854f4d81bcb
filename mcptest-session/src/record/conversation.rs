//! Which model calls belong to one conversation.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::essence::{self, Essence};
use super::observed::{Observed, Outcome};
use super::question::Question;
use crate::exchange::{Item, Part, Said, Tool};
use crate::protocol::{Protocol, is_numbered};

/// A text that is shorter is in many texts by chance.
const TELLING: usize = 40;

/// A model call whose answer the client went on with.
#[derive(Debug, Clone)]
pub(super) struct ModelCall {
    pub(super) protocol: &'static str,
    /// What was asked, with the whole talk so far.
    pub(super) asked: Question,
    pub(super) said: Said,
    /// Why the answer is not whole, where it is not.
    pub(super) broken: Option<String>,
    pub(super) asked_at: u64,
    pub(super) ended_at: u64,
    /// How many items of the talk were known before.
    pub(super) known: usize,
    /// How the talk before was changed, where it was.
    pub(super) changed: Option<Changed>,
    /// The model answered. Of a request that came to nothing, what it asked is known all the same.
    pub(super) answered: bool,
    /// The question was answered more than once: which such question it is, and which of its answers.
    pub(super) equal: Option<(usize, usize)>,
    /// The conversation goes on with another answer to the question: this one begins a conversation of its own.
    forks: bool,
}

/// What of a talk was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Changed {
    /// Something before the last answer, such as by a compaction.
    Past,
    /// The last answer alone: the client leaves it out, and asks for another.
    LastAnswer,
}

impl ModelCall {
    /// The talk after the answer.
    fn talk(&self) -> Vec<Arc<Item>> {
        let answer = self
            .answered
            .then(|| Arc::new(Item::Answer(self.said.parts.clone())));
        self.asked.items.iter().cloned().chain(answer).collect()
    }
}

/// Model calls that belong together, in order.
#[derive(Debug, Clone, Default)]
pub(super) struct Conversation {
    pub(super) calls: Vec<ModelCall>,
    /// The talk after the last of them.
    after: Vec<Essence>,
}

impl Conversation {
    /// The calls that the model answered.
    pub(super) fn answered(&self) -> impl Iterator<Item = &ModelCall> {
        self.calls.iter().filter(|call| call.answered)
    }

    pub(super) fn opening(&self) -> Option<&str> {
        self.calls.first()?.asked.opening()
    }

    /// The tools that were offered, each once, in order.
    pub(super) fn tools(&self) -> Vec<Tool> {
        let mut tools: Vec<Tool> = Vec::new();
        for tool in self.calls.iter().flat_map(|it| &*it.asked.tools) {
            if !tools.iter().any(|known| known.name == tool.name) {
                tools.push(tool.clone());
            }
        }
        tools
    }

    /// Whether a tool was offered, or called.
    pub(super) fn has_tools(&self) -> bool {
        let mut calls = self.calls.iter();
        calls.any(|call| !call.asked.tools.is_empty() || call.said.calls().next().is_some())
    }
}

/// What model calls were made.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls {
    pub(super) conversations: Vec<Conversation>,
    /// Requests that were asked again, as they had no answer, half of one, or nobody who waited for it.
    pub(super) retries: usize,
    /// Why requests came to nothing that were not asked again.
    pub(super) failed: Vec<String>,
    /// Answers that cannot be read: the run is not known.
    pub(super) unreadable: Vec<String>,
}

/// Sorts what went by.
pub(super) fn sorted(observed: &[Observed]) -> Calls {
    let mut calls = Calls::default();
    let mut made: Vec<ModelCall> = Vec::new();
    let whole = whole_talks(observed);
    let keys: Vec<Option<u64>> = whole.iter().map(|it| it.as_ref().map(key)).collect();
    // Where each question is asked last.
    let last: HashMap<Option<u64>, usize> = keys.iter().copied().zip(0..).collect();
    for (place, one) in observed.iter().enumerate() {
        let Some(protocol) = one.protocol else {
            continue;
        };
        let Some(asked) = &whole[place] else {
            calls
                .unreadable
                .push(format!("the request to `{}` is no JSON object", one.path));
            continue;
        };
        let is_asked_again = last.get(&keys[place]).is_some_and(|last| *last > place);
        let mut call = ModelCall {
            protocol: protocol.name(),
            asked: asked.clone(),
            said: Said::default(),
            broken: None,
            asked_at: one.asked_at,
            ended_at: one.ended_at.unwrap_or(one.asked_at),
            known: 0,
            changed: None,
            answered: false,
            equal: None,
            forks: false,
        };
        match &one.outcome {
            Outcome::Said { broken, .. } if is_asked_again && (broken.is_some() || one.gone) => {
                calls.retries += 1;
            }
            Outcome::Said { said, broken } => {
                call.said = said.clone();
                // What a stream has counted before its end is not what the answer took.
                if broken.is_some() && said.stop.is_none() {
                    call.said.tokens = None;
                }
                call.broken.clone_from(broken);
                call.answered = true;
                made.push(call);
            }
            Outcome::Failed { .. } | Outcome::Lost(_) | Outcome::Open if is_asked_again => {
                calls.retries += 1;
            }
            Outcome::Failed { .. } | Outcome::Lost(_) | Outcome::Open => {
                let words = match &one.outcome {
                    Outcome::Failed { status, message } => {
                        format!("the provider answered {status}: {message}")
                    }
                    Outcome::Lost(words) => words.clone(),
                    _ => "there was no answer".to_owned(),
                };
                calls.failed.push(words.clone());
                call.broken = Some(words);
                made.push(call);
            }
            Outcome::Unreadable(words) => calls.unreadable.push(words.clone()),
            Outcome::Other { .. } => {}
        }
    }
    mark_equal(&mut made);
    for call in made {
        place(call, &mut calls.conversations);
    }
    calls
}

/// The talk that the provider holds, and to which a request adds: a conversation of Responses.
pub(crate) fn held_talk(parameters: &Map<String, Value>) -> Option<&str> {
    let talk = parameters.get("conversation")?;
    talk.as_str().or_else(|| talk.get("id")?.as_str())
}

/// What each request asked, with the talk that it stands for: what an answer before it held, and items that
/// stand there by their identifiers alone.
fn whole_talks(observed: &[Observed]) -> Vec<Option<Question>> {
    let mut whole: Vec<Option<Question>> = Vec::new();
    let mut answers: HashMap<&str, usize> = HashMap::new();
    let mut held: HashMap<String, usize> = HashMap::new();
    let mut items: HashMap<&str, Arc<Item>> = HashMap::new();
    let mut said: HashMap<usize, Arc<Item>> = HashMap::new();
    for (place, one) in observed.iter().enumerate() {
        let Some(mut asked) = one.asked.clone() else {
            whole.push(None);
            continue;
        };
        let parts_of = |place: &usize| match &observed[*place].outcome {
            Outcome::Said { said, .. } => said.parts.clone(),
            _ => Vec::new(),
        };
        let mut talk: Vec<Arc<Item>> = Vec::new();
        let before = asked.previous.as_deref().and_then(|id| answers.get(id));
        let before = before.or_else(|| held.get(held_talk(&asked.parameters)?));
        if let Some(before) = before
            && let Some(Some(earlier)) = whole.get(*before)
        {
            talk.clone_from(&earlier.items);
            let answer = said.entry(*before);
            let answer = answer.or_insert_with(|| Arc::new(Item::Answer(parts_of(before))));
            talk.push(Arc::clone(answer));
            if one.protocol.is_some_and(Protocol::keeps_request) {
                asked.system = asked.system.or_else(|| earlier.system.clone());
                if asked.tools.is_empty() {
                    asked.tools = Arc::clone(&earlier.tools);
                }
            }
        }
        for item in asked.items {
            let referred = match &*item {
                Item::Reference(id) => items.get(id.as_str()),
                _ => None,
            };
            let referred = referred.cloned();
            talk.push(referred.unwrap_or(item));
        }
        asked.items = talk;
        whole.push(Some(asked));
        if let Outcome::Said { said, .. } = &one.outcome {
            answers.extend(said.id.as_deref().map(|id| (id, place)));
            let talk = whole[place]
                .as_ref()
                .and_then(|asked| held_talk(&asked.parameters));
            held.extend(talk.map(|id| (id.to_owned(), place)));
            let mut rest = said.parts.as_slice();
            for item in &said.items {
                let (own, after) = rest.split_at(item.parts.min(rest.len()));
                items.insert(&item.id, Arc::new(Item::Answer(own.to_vec())));
                rest = after;
            }
        }
    }
    whole
}

/// What makes two requests the same question.
fn key(asked: &Question) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&asked.system, essence::of(&asked.items)).hash(&mut hasher);
    hasher.finish()
}

/// Marks complete answers to one question, such as those of a vote: each is a model call. The conversation goes on with
/// the one that the client went on with, else with the last.
fn mark_equal(made: &mut [ModelCall]) {
    let mut by_key: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (place, call) in made.iter().enumerate().filter(|(_, call)| call.answered) {
        by_key.entry(key(&call.asked)).or_default().push(place);
    }
    let mut groups: Vec<Vec<usize>> = by_key.into_values().filter(|all| all.len() > 1).collect();
    groups.sort_unstable();
    for (group, places) in groups.iter().enumerate() {
        let is_used = |place: &&usize| {
            let after = essence::of(&made[**place].talk());
            let mut later = made.iter().skip(**place + 1);
            later.any(|later| goes_on(&essence::of(&later.asked.items), &after))
        };
        let kept = places.iter().find(is_used).or(places.last()).copied();
        for (number, place) in places.iter().enumerate() {
            made[*place].equal = Some((group, number));
            made[*place].forks = Some(*place) != kept;
        }
    }
}

/// Puts a call into the conversation that it goes on with, or begins one.
fn place(mut call: ModelCall, conversations: &mut Vec<Conversation>) {
    let talk = essence::of(&call.asked.items);
    let mut best: Option<(usize, usize)> = None;
    let open = if call.forks {
        &[][..]
    } else {
        &conversations[..]
    };
    for (index, conversation) in open.iter().enumerate() {
        let before = &conversation.after;
        let is_longer = best.is_none_or(|(_, length)| before.len() > length);
        if is_longer && goes_on(&talk, before) {
            best = Some((index, before.len()));
        }
    }
    let changed = || {
        let mut open = open.iter();
        open.rposition(|conversation| has_changed(conversation, &call, &talk))
    };
    let place = match best {
        Some((index, length)) => {
            call.known = items_of(&call.asked.items, length);
            Some(index)
        }
        None => changed().inspect(|index| {
            let last = conversations[*index].calls.last();
            let goes_back =
                last.is_some_and(|last| goes_on(&talk, &essence::of(&last.asked.items)));
            call.changed = Some(if goes_back {
                Changed::LastAnswer
            } else {
                Changed::Past
            });
            let is_answer = |item: &Arc<Item>| matches!(**item, Item::Answer(_));
            let last = call.asked.items.iter().rposition(is_answer);
            call.known = last.map_or(call.asked.items.len(), |last| last + 1);
        }),
    };
    let after = after(talk, &call);
    match place {
        Some(index) => {
            conversations[index].calls.push(call);
            conversations[index].after = after;
        }
        None => conversations.push(Conversation {
            calls: vec![call],
            after,
        }),
    }
}

/// The talk after a call.
fn after(mut talk: Vec<Essence>, call: &ModelCall) -> Vec<Essence> {
    let last = call.asked.items.last();
    if matches!(last.map(|item| &**item), Some(Item::Answer(_))) {
        // The answer goes on with what stands there.
        return essence::of(&call.talk());
    }
    if call.answered {
        let answer = Arc::new(Item::Answer(call.said.parts.clone()));
        talk.extend(essence::of(&[answer]));
    }
    talk
}

/// Whether a talk begins with what was said before. Some providers give calls no identifiers, and some clients send
/// calls back without them: an identifier tells two calls apart where both have one.
fn goes_on(talk: &[Essence], before: &[Essence]) -> bool {
    let is_same = |(now, then): (&Essence, &Essence)| {
        let ids = [now, then].map(|one| one.id().filter(|id| !is_numbered(id)));
        match ids {
            [Some(id), Some(known)] if id != known => false,
            _ => now.without_id() == then.without_id(),
        }
    };
    talk.len() >= before.len() && talk.iter().zip(before).all(is_same)
}

/// How many items the first things of a talk are.
fn items_of(items: &[Arc<Item>], length: usize) -> usize {
    // Each item adds to a talk, so where enough is said is found by halves.
    let (mut least, mut most) = (0, items.len());
    while least < most {
        let middle = usize::midpoint(least, most);
        if essence::of(&items[..middle]).len() >= length {
            most = middle;
        } else {
            least = middle + 1;
        }
    }
    let mut count = least;
    // An answer may be several messages.
    while matches!(items.get(count).map(|item| &**item), Some(Item::Answer(_)))
        && essence::of(&items[..=count]).len() == length
    {
        count += 1;
    }
    count
}

/// Whether a call goes on with a conversation whose past was changed.
fn has_changed(conversation: &Conversation, call: &ModelCall, talk: &[Essence]) -> bool {
    let same_system = conversation
        .calls
        .iter()
        .any(|earlier| earlier.asked.system == call.asked.system);
    if !same_system {
        return false;
    }
    let is_call = |it: &&Essence| matches!(it, Essence::Call { .. });
    let shares_calls = || {
        let before: HashSet<&Essence> = conversation.after.iter().filter(is_call).collect();
        talk.iter().any(|call| before.contains(call))
    };
    let same_opening =
        || call.asked.opening().is_some() && call.asked.opening() == conversation.opening();
    let goes_on = || call.asked.answers() > 0;
    // A summary of what was said before is what a client begins again with.
    let has_summary = || {
        call.asked.opening().is_some_and(|opening| {
            conversation.calls.iter().any(|earlier| {
                earlier.said.parts.iter().any(|part| match part {
                    Part::Text(text) => text.len() >= TELLING && opening.contains(text.trim()),
                    _ => false,
                })
            })
        })
    };
    same_opening() && goes_on() || shares_calls() || has_summary()
}
