//! Conversations of older recordings that are one: recorders of that time took an agent that begins anew with each request,
//! and tells the past in a message of the user, for several conversations.

use std::sync::Arc;

use serde_json::Value;

use super::conversation::Conversation;
use crate::exchange::Item;
use crate::record::{Message, scratchpad_goes_on, talk_digest};

/// Joins the agent's own conversation, which is the first, with those that it goes on with.
pub(super) fn join_restarted(conversations: &mut Vec<Conversation>, prompt: &str) {
    let prompts = [prompt.to_owned()];
    let found = |all: &[Conversation]| {
        let (own, others) = all.split_first()?;
        let before = others
            .iter()
            .position(|before| continues(before, own, &prompts))?;
        Some(before + 1)
    };
    while let Some(before) = found(conversations) {
        let first = conversations.remove(before);
        let own = &mut conversations[0];
        let text = own.opening.take().unwrap_or_default();
        if let Some(next) = own.moves.first_mut() {
            next.heard.clear();
            next.past = Some(talk_digest(&[Item::User(text.clone())]));
            next.told = Some(vec![Arc::new(Message {
                role: "user".to_owned(),
                value: Value::String(text),
                of: None,
            })]);
        }
        own.opening = first.opening;
        own.moves.splice(0..0, first.moves);
    }
}

/// Whether the first request of a conversation tells the last answer of another one that has one request.
fn continues(before: &Conversation, later: &Conversation, prompts: &[String]) -> bool {
    let ([first], Some(next)) = (before.moves.as_slice(), later.moves.first()) else {
        return false;
    };
    let (Some(text), Some(after)) = (&before.opening, &later.opening) else {
        return false;
    };
    let alone = before.examples == 0 && later.examples == 0 && next.heard.len() == 1;
    alone
        && first.system == next.system
        && first.asked_model == next.asked_model
        && first.past.is_none()
        && scratchpad_goes_on(text, after, &first.said.parts, prompts)
}
