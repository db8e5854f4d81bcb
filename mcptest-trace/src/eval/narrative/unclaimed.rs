//! Successful calls that changed something and that no message mentions.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::calls::Calls;
use super::lexicon::{Lexicon, lower, stem};
use super::report::UnclaimedCall;
use super::tools::ToolBox;

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
    let closing_words = OnceCell::new();
    let spoken = |word: &String| {
        let words = closing_words.get_or_init(|| {
            let texts = messages.iter().map(|(_, text)| text);
            let words = texts.flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
            let words = words.filter(|word| !word.is_empty()).map(fold);
            words.collect::<BTreeSet<_>>()
        });
        words.contains(&fold(word))
    };
    let mentioned = |tool: &str| {
        let words = tools.words(tool).iter();
        let salient = words.filter(|word| word.chars().count() >= SALIENT);
        let mut salient = salient.peekable();
        salient.peek().is_some() && salient.all(spoken)
    };
    let silent = calls.all.iter().enumerate().filter(|(index, call)| {
        let tool = &call.recorded.name;
        call.succeeded() && tools.writes(tool) && !claimed.contains(index) && !mentioned(tool)
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
