//! What a sentence asks.

use crate::eval::narrative::words::list::JOINT;
use crate::eval::narrative::words::marks::{Mark, Marks, of};
use crate::eval::narrative::words::token::{Token, TokenQueries};

/// Where the last question of a sentence begins; nothing when it asks none.
pub(crate) fn question(words: &[Token<'_>]) -> Option<usize> {
    let ends = |token: &&Token<'_>| !token.is(Mark::Sign) || token.is(Mark::SentenceEnd);
    let last = words.iter().rfind(ends)?;
    // *I sent a mail titled "Soon?"*
    if last.text != "?" || last.is(Mark::Quoted) {
        return None;
    }
    let parted = |at: usize| at == 0 || words.marks(at - 1).meets(JOINT.with(of![Parts]));
    let begins = |at: &usize| words.is(*at, Mark::Asks) && parted(*at);
    Some((0..words.len()).rev().find(begins).unwrap_or(0))
}

/// Whether a sentence asks to go ahead with what the closing tells.
pub(crate) fn asks_to_go_ahead(words: &[Token<'_>]) -> bool {
    (question(words).is_some() || words.have(of![Requests])) && words.have(of![GoAhead])
}
