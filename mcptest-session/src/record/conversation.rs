//! Which model calls belong to one conversation.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::history::{History, HistoryTree, is_answer};
use super::items::{ItemLists, Items};
use super::observed::{Observed, Outcome};
use super::stored_request::StoredRequest;
use crate::exchange::{Item, ModelResponse, Tool};
use crate::protocol::Protocol;

/// A model call whose answer the client went on with.
#[derive(Debug, Clone)]
pub(super) struct ModelCall {
    pub(super) protocol: &'static str,
    /// What was asked, with the whole talk so far.
    pub(super) asked: StoredRequest,
    pub(super) said: ModelResponse,
    /// Why the answer is not whole, where it is not.
    pub(super) broken: Option<String>,
    pub(super) asked_at: u64,
    pub(super) ended_at: u64,
    /// Its place among all that happened.
    pub(super) tick: u64,
    /// The talk of the request.
    pub(super) talk: History,
    /// How many items of it the provider holds, and how many things these are.
    pub(super) held: (usize, usize),
    /// How many items of the talk were known before.
    pub(super) known: usize,
    /// How the talk before was changed, where it was.
    pub(super) changed: Option<Changed>,
    /// The model answered. Of a request that came to nothing, what it asked is known all the same.
    pub(super) answered: bool,
    /// The question was answered more than once: which such question it is, and which of its answers.
    pub(super) equal: Option<(usize, usize)>,
    /// The conversation goes on with another answer to the question: this one begins a conversation of its own.
    pub(super) forks: bool,
    /// The client sends the answer back without the text beside its calls.
    pub(super) is_bare: bool,
}

impl ModelCall {
    /// What makes two requests the same question.
    pub(super) fn question(&self) -> (Option<Arc<str>>, History) {
        (self.asked.system.clone(), self.talk)
    }
}

/// What of a talk was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Changed {
    /// Something before the last answer, such as by a compaction.
    Past,
    /// The last answer alone: the client leaves it out, and asks for another.
    LastAnswer,
    /// Nothing: the request begins anew, and a message of the user tells the past.
    Anew,
}

/// Model calls that belong together, in order.
#[derive(Debug, Clone, Default)]
pub(super) struct Conversation {
    pub(super) calls: Vec<ModelCall>,
}

impl Conversation {
    /// The calls that the model answered.
    pub(super) fn answered_calls(&self) -> impl Iterator<Item = &ModelCall> {
        self.calls.iter().filter(|call| call.answered)
    }

    pub(super) fn opening(&self) -> Option<&str> {
        self.calls.first()?.asked.opening()
    }

    /// The tools that were offered, each once, in order.
    pub(super) fn tools(&self) -> Vec<Tool> {
        let mut names = HashSet::new();
        let tools = self.calls.iter().flat_map(|it| &*it.asked.tools);
        let tools = tools.filter(|tool| names.insert(tool.name.as_str()));
        tools.cloned().collect()
    }

    /// Whether a tool was offered, or called.
    pub(super) fn has_tools(&self) -> bool {
        let mut calls = self.calls.iter();
        calls.any(|call| !call.asked.tools.is_empty() || call.said.calls().next().is_some())
    }
}

/// What model calls were made.
#[derive(Debug, Clone, Default)]
pub(super) struct ModelCalls {
    pub(super) conversations: Vec<Conversation>,
    /// Requests that were asked again, as they had no answer, half of one, or nobody who waited for it.
    pub(super) retries: usize,
    /// Why requests came to nothing that were not asked again.
    pub(super) failed: Vec<String>,
    /// Answers that cannot be read: the run is not known.
    pub(super) unreadable: Vec<String>,
}

/// The model calls that were made, in their order; and what came to nothing.
pub(super) fn read_model_calls(
    observed: &[Observed],
    talks: &mut HistoryTree,
) -> (ModelCalls, Vec<ModelCall>) {
    let mut calls = ModelCalls::default();
    let mut made: Vec<ModelCall> = Vec::new();
    let whole = full_requests(observed, talks);
    // Where each question is asked last.
    let mut last: HashMap<(Option<&str>, History), usize> = HashMap::new();
    for (place, whole) in whole.iter().enumerate() {
        let question = whole.as_ref().map(FullRequest::question);
        last.extend(question.map(|question| (question, place)));
    }
    for (place, one) in observed.iter().enumerate() {
        let Some(protocol) = one.protocol else {
            if let Outcome::Unreadable(words) = &one.outcome {
                calls.unreadable.push(words.clone());
            }
            continue;
        };
        let Some(own) = &whole[place] else {
            calls
                .unreadable
                .push(format!("the request to `{}` is no JSON object", one.path));
            continue;
        };
        let is_asked_again = last.get(&own.question()).is_some_and(|last| *last > place);
        let mut call = ModelCall {
            protocol: protocol.name(),
            asked: own.asked.clone(),
            talk: own.talk,
            held: own.held,
            said: ModelResponse::default(),
            broken: None,
            asked_at: one.asked_at,
            ended_at: one.ended_at.unwrap_or(one.asked_at),
            tick: one.tick,
            known: 0,
            changed: None,
            answered: false,
            equal: None,
            forks: false,
            is_bare: false,
        };
        match &one.outcome {
            Outcome::Answered { broken, .. }
                if is_asked_again && (broken.is_some() || one.gone) =>
            {
                calls.retries += 1;
            }
            Outcome::Answered { said, broken } => {
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
            Outcome::Other { .. } | Outcome::Refused(_) => {}
        }
    }
    (calls, made)
}

/// The talk that the provider holds, and to which a request adds: a conversation of Responses.
pub(crate) fn provider_conversation(parameters: &Map<String, Value>) -> Option<&str> {
    let talk = parameters.get("conversation")?;
    talk.as_str().or_else(|| talk.get("id")?.as_str())
}

/// A request with the talk that it stands for.
struct FullRequest {
    asked: StoredRequest,
    talk: History,
    /// How many items of it the provider holds, and how many things these are.
    held: (usize, usize),
}

impl FullRequest {
    /// What makes two requests the same question.
    fn question(&self) -> (Option<&str>, History) {
        (self.asked.system.as_deref(), self.talk)
    }
}

/// What each request asked, with the talk that it stands for: what an answer before it held, and items that
/// stand there by their identifiers alone. A talk that the provider holds is as long here as if the client had sent it:
/// the requests share its items.
fn full_requests(observed: &[Observed], talks: &mut HistoryTree) -> Vec<Option<FullRequest>> {
    let mut whole: Vec<Option<FullRequest>> = Vec::new();
    let mut shelf = ItemLists::default();
    let mut answers: HashMap<&str, usize> = HashMap::new();
    let mut held: HashMap<String, usize> = HashMap::new();
    let mut items: HashMap<&str, Arc<Item>> = HashMap::new();
    let mut said: HashMap<usize, Arc<Item>> = HashMap::new();
    for (place, one) in observed.iter().enumerate() {
        let Some(mut asked) = one.asked.clone() else {
            whole.push(None);
            shelf.append(None, Vec::new());
            continue;
        };
        let parts_of = |place: usize| match &observed[place].outcome {
            Outcome::Answered { said, .. } => said.parts.clone(),
            _ => Vec::new(),
        };
        let mut own: Vec<Arc<Item>> = Vec::new();
        let mut before_own = History::EMPTY;
        let before = asked.previous.as_deref().and_then(|id| answers.get(id));
        let before = before.or_else(|| held.get(provider_conversation(&asked.parameters)?));
        let before = before.copied().filter(|before| whole[*before].is_some());
        if let Some(before) = before
            && let Some(earlier) = &whole[before]
        {
            let parts = parts_of(before);
            before_own = talks.insert_answer(earlier.talk, shelf.items(before), &parts);
            let answer = said.entry(before);
            let answer = answer.or_insert_with(|| Arc::new(Item::Answer(parts)));
            own.push(Arc::clone(answer));
            let earlier = &earlier.asked;
            if one.protocol.is_some_and(Protocol::keeps_request) {
                asked.system = asked.system.or_else(|| earlier.system.clone());
                if asked.tools.is_empty() {
                    asked.tools = Arc::clone(&earlier.tools);
                }
            }
        }
        let known = before.map_or(0, |before| shelf.items(before).len()) + own.len();
        for item in asked.items.iter() {
            let referred = match &**item {
                Item::Reference(id) => items.get(id.as_str()),
                _ => None,
            };
            own.push(Arc::clone(referred.unwrap_or(item)));
        }
        shelf.append(before, own);
        let all = shelf.items(place);
        // An answer right after that which the provider holds is a part of it.
        let (known, before_own) = match all.get(known) {
            Some(item) if is_answer(item) => (0, History::EMPTY),
            _ => (known, before_own),
        };
        asked.items = Items::default();
        whole.push(Some(FullRequest {
            talk: talks.extend(before_own, &all[known..]),
            held: (known, talks.length(before_own)),
            asked,
        }));
        if let Outcome::Answered { said, .. } = &one.outcome {
            answers.extend(said.id.as_deref().map(|id| (id, place)));
            let talk = whole[place]
                .as_ref()
                .and_then(|whole| provider_conversation(&whole.asked.parameters));
            held.extend(talk.map(|id| (id.to_owned(), place)));
            let mut rest = said.parts.as_slice();
            for item in &said.items {
                let (own, after) = rest.split_at(item.parts.min(rest.len()));
                items.insert(&item.id, Arc::new(Item::Answer(own.to_vec())));
                rest = after;
            }
        }
    }
    for (one, items) in whole.iter_mut().zip(shelf.into_items()) {
        if let Some(one) = one {
            one.asked.items = items;
        }
    }
    whole
}
