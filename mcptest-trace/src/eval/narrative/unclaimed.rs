//! Successful calls that changed something and that the closing never mentions.

use std::borrow::Cow;
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
    let salient = |tool: &str| {
        let words = tools.words(tool).iter();
        let salient = words.filter(|word| word.chars().count() >= SALIENT);
        salient.map(|word| fold(word)).collect::<Vec<_>>()
    };
    let silent = calls.recorded().iter().enumerate().filter(|(index, call)| {
        calls.succeeded(*index) && tools.writes(&call.name) && !claimed.contains(index)
    });
    let silent: Vec<_> = silent
        .map(|(index, call)| (index, call, salient(&call.name)))
        .collect();
    let mut wanted: BTreeSet<&str> = silent
        .iter()
        .flat_map(|(_, _, words)| words.iter().map(AsRef::as_ref))
        .collect();
    for word in closing.split(|c: char| !c.is_alphanumeric()) {
        if wanted.is_empty() {
            break;
        }
        wanted.remove(fold(word).as_ref());
    }
    let unspoken = silent.iter().filter(|(_, _, words)| {
        words.is_empty() || words.iter().any(|word| wanted.contains(word.as_ref()))
    });
    unspoken
        .map(|(call, recorded, _)| UnclaimedCall {
            call: *call,
            tool: recorded.name.clone(),
        })
        .collect()
}

/// A verb's base form, else the singular.
fn fold(word: &str) -> Cow<'_, str> {
    let verb = Lexicon::get().word(&lower(word)).and_then(|word| word.verb);
    verb.map_or_else(|| stem(word), Cow::Borrowed)
}
