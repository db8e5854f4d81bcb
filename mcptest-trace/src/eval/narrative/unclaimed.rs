//! Successful calls that changed something and that no message mentions.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::BTreeSet;

use super::calls::Calls;
use super::lexicon::{Lexicon, lower, stem};
use super::report::UnclaimedCall;
use super::tools::{Tool, ToolBox};

/// Letters that a word of a tool's name has at least to be looked for.
const SALIENT: usize = 3;

/// The writes without a mention. A call is mentioned when it supports a claim, or when every salient
/// word of its name occurs in what was said, inflected or not.
pub(super) fn calls(
    calls: &Calls<'_>,
    tools: &ToolBox,
    messages: &[(Option<usize>, &str)],
    claimed: &BTreeSet<usize>,
) -> Vec<UnclaimedCall> {
    let spoken = LazyCell::new(|| {
        let texts = messages.iter().map(|(_, text)| text);
        let words = texts.flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
        words.map(fold).collect::<BTreeSet<_>>()
    });
    let silent = |tool: &Tool<'_>| {
        let words = tool.said.words.iter();
        let mut salient = words
            .filter(|word| word.chars().count() >= SALIENT)
            .peekable();
        tool.write
            && !(salient.peek().is_some() && salient.all(|word| spoken.contains(&fold(word))))
    };
    let silent = calls.all.iter().enumerate().filter(|(index, call)| {
        let silent = || tools.get(&call.recorded.name).is_some_and(silent);
        call.succeeded() && !claimed.contains(index) && silent()
    });
    let unclaimed = silent.map(|(call, of)| UnclaimedCall {
        call,
        tool: of.recorded.name.clone(),
    });
    unclaimed.collect()
}

/// A verb's base form, else the singular.
fn fold(word: &str) -> Cow<'_, str> {
    let verb = Lexicon::get().word(&lower(word)).and_then(|word| word.verb);
    verb.map_or_else(|| stem(word), Cow::Borrowed)
}
