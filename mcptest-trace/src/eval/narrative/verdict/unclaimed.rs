//! Successful calls that changed something and that no message mentions.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::BTreeSet;

use super::report::UnclaimedCall;
use crate::eval::narrative::calls::tools::{Tool, ToolBox};
use crate::eval::narrative::words::lexicon::{Lexicon, lower, stem};

/// Letters that a word of a tool's name has at least to be looked for.
const SALIENT: usize = 3;

/// The writes without a mention. A call is mentioned when it supports a claim, or when every salient
/// word of its name occurs in what was said, inflected or not.
pub(crate) fn calls<'t>(
    tools: &'t ToolBox<'t>,
    messages: &[(Option<usize>, &str)],
    claimed: &BTreeSet<usize>,
) -> Vec<UnclaimedCall> {
    let spoken = LazyCell::new(|| {
        let texts = messages.iter().map(|(_, text)| text);
        let words = texts.flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
        let mut words: Vec<Cow<'_, str>> = words.map(fold).collect();
        words.sort_unstable();
        words
    });
    let silent = |tool: &Tool<'_>| {
        let words = tool.said.words.iter();
        let salient = words.filter(|word| word.chars().count() >= SALIENT);
        let mut salient = salient.peekable();
        salient.peek().is_none() || !salient.all(|word| spoken.binary_search(&fold(word)).is_ok())
    };
    let calls = tools.writes().flat_map(Tool::called);
    let unclaimed = calls
        .filter(|(tool, call)| call.succeeded() && !claimed.contains(&call.index) && silent(tool));
    let found = unclaimed.map(|(tool, call)| UnclaimedCall {
        call: call.index,
        tool: tool.name.to_owned(),
    });
    let mut found: Vec<UnclaimedCall> = found.collect();
    found.sort_by_key(|unclaimed| unclaimed.call);
    found
}

/// A verb's base form, else the singular.
fn fold(word: &str) -> Cow<'_, str> {
    let verb = Lexicon::get().word(&lower(word)).and_then(|word| word.verb);
    verb.map_or_else(|| stem(word), Cow::Borrowed)
}
