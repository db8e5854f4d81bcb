//! Requests that begin anew and go on with the one before them, whatever they tell of the past.

use std::collections::HashMap;

use super::conversation::Conversation;
use super::position::{Position, answer_count};
use super::recording::Recording;
use crate::exchange::{Item, ModelRequest};
use crate::record::{inserted_text, talk_digest};

/// The last message of the user in the last request of each conversation, and the answer that the request was given or
/// would have been given.
#[derive(Debug, Default)]
pub(super) struct Scratchpads(HashMap<usize, (usize, String)>);

impl Scratchpads {
    /// The place of a request. A text past that quotes an answer otherwise does not say after which answer it goes on. Where
    /// it has all that the request before it had, and more, it asks for the answer after that one.
    pub(super) fn next_position(
        &self,
        recording: &Recording,
        place: Position,
        asked: &ModelRequest,
    ) -> Position {
        let Position::At {
            conversation,
            answer,
            is_new: false,
        } = place
        else {
            return place;
        };
        let own = &recording.conversations[conversation];
        let (Some((last, before)), Some(text)) =
            (self.0.get(&conversation), scratchpad_message(own, asked))
        else {
            return place;
        };
        let past = own.moves.get(answer).and_then(|one| one.past.as_ref());
        let is_recorded = || past.is_some_and(|past| *past == talk_digest(&asked.items));
        if answer > *last || !own.has_changed() || is_recorded() {
            return place;
        }
        let has_more = || {
            let text = without_numbers(text);
            let more = inserted_text(&without_numbers(before), &text);
            more.is_some_and(|(more, _)| !more.trim().is_empty())
        };
        let answer = match text == before {
            true => *last,
            false if has_more() => last + 1,
            false => answer,
        };
        Position::At {
            conversation,
            answer,
            is_new: false,
        }
    }

    /// Keeps a request at its place.
    pub(super) fn keep(
        &mut self,
        recording: &Recording,
        (conversation, answer): (usize, usize),
        asked: &ModelRequest,
    ) {
        match scratchpad_message(&recording.conversations[conversation], asked) {
            Some(text) => self.0.insert(conversation, (answer, text.to_owned())),
            None => self.0.remove(&conversation),
        };
    }
}

/// The message of the user with which a request ends that holds no answer of the model.
fn scratchpad_message<'a>(own: &Conversation, asked: &'a ModelRequest) -> Option<&'a str> {
    match asked.items.last() {
        Some(Item::User(text)) if answer_count(&asked.items) <= own.examples => Some(text),
        _ => None,
    }
}

/// A text with one sign in the place of each number: agents count their steps, and that is no difference.
fn without_numbers(text: &str) -> String {
    let mut counted = String::with_capacity(text.len());
    for sign in text.chars() {
        if !sign.is_ascii_digit() {
            counted.push(sign);
        } else if !counted.ends_with('0') {
            counted.push('0');
        }
    }
    counted
}
