//! Successful calls that changed something and that the closing never mentions.

use std::collections::BTreeSet;

use super::NarrativeOptions;
use super::evidence::{Ending, Evidence, name_words};
use super::report::UnclaimedCall;
use super::verb::Lexicon;
use super::words;
use crate::trace::Trace;

/// Mutating calls without a mention. A call is mentioned when a claim is supported by it, or when
/// every word of at least three letters of its name occurs in the closing, inflected or not.
pub(super) fn calls(
    trace: &Trace,
    closing: &str,
    claimed: &BTreeSet<usize>,
    evidence: &[Evidence],
    lexicon: &Lexicon,
    options: &NarrativeOptions,
) -> Vec<UnclaimedCall> {
    let spoken = folded(closing, lexicon);
    let silent = trace.tool_calls.iter().enumerate().filter(|(index, call)| {
        let succeeded = evidence
            .get(*index)
            .is_some_and(|evidence| evidence.ending == Ending::Succeeded);
        succeeded
            && mutates(&call.name, lexicon, options)
            && !claimed.contains(index)
            && !mentioned(&call.name, &spoken, lexicon)
    });
    silent
        .map(|(call, recorded)| UnclaimedCall {
            call,
            tool: recorded.name.clone(),
        })
        .collect()
}

/// Whether a tool changes something: the never set, then the always set, then a verb in its name.
fn mutates(tool: &str, lexicon: &Lexicon, options: &NarrativeOptions) -> bool {
    let named = |list: &[String]| list.iter().any(|name| name == tool);
    let evident = options.evidence.values().any(|tools| named(tools));
    let verb = || {
        name_words(tool)
            .iter()
            .any(|word| lexicon.form(word).is_some())
    };
    !named(&options.readonly_tools) && (named(&options.mutating_tools) || evident || verb())
}

fn mentioned(tool: &str, spoken: &BTreeSet<String>, lexicon: &Lexicon) -> bool {
    let mut salient = name_words(tool)
        .into_iter()
        .filter(|word| word.chars().count() >= 3)
        .peekable();
    salient.peek().is_some() && salient.all(|word| spoken.contains(&fold(&word, lexicon)))
}

fn folded(text: &str, lexicon: &Lexicon) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| fold(word, lexicon))
        .collect()
}

/// The base form of a verb that is looked for, else the singular.
fn fold(word: &str, lexicon: &Lexicon) -> String {
    lexicon
        .lemma(word)
        .map_or_else(|| words::singular(word), str::to_owned)
}
