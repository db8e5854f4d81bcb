//! Successful calls that changed something and that the closing never mentions.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::BTreeSet;

use super::calls::Calls;
use super::lexicon::{Lexicon, lower, stem};
use super::report::UnclaimedCall;
use super::tools::ToolBox;

/// Letters that a word of a tool's name has at least to be looked for.
const SALIENT: usize = 3;

/// The writes without a mention. A call is mentioned when it supports a claim, or when every salient
/// word of its name occurs in the closing, inflected or not.
pub(super) fn calls(
    calls: &Calls<'_>,
    tools: &ToolBox,
    closing: &str,
    claimed: &BTreeSet<usize>,
) -> Vec<UnclaimedCall> {
    // Read only when a write asks for it.
    let spoken: LazyCell<BTreeSet<Cow<'_, str>>, _> = LazyCell::new(|| {
        let words = closing.split(|c: char| !c.is_alphanumeric());
        words.filter(|word| !word.is_empty()).map(fold).collect()
    });
    let mentioned = |tool: &str| {
        let words = tools.words(tool).iter();
        let mut salient = words
            .filter(|word| word.chars().count() >= SALIENT)
            .peekable();
        salient.peek().is_some() && salient.all(|word| spoken.contains(&fold(word)))
    };
    let silent = calls.recorded().iter().enumerate().filter(|(index, call)| {
        calls.succeeded(*index)
            && tools.writes(&call.name)
            && !claimed.contains(index)
            && !mentioned(&call.name)
    });
    silent
        .map(|(call, recorded)| UnclaimedCall {
            call,
            tool: recorded.name.clone(),
        })
        .collect()
}

/// A verb's base form, else the singular.
fn fold(word: &str) -> Cow<'_, str> {
    let verb = Lexicon::get().word(&lower(word)).and_then(|word| word.verb);
    verb.map_or_else(|| stem(word), Cow::Borrowed)
}
