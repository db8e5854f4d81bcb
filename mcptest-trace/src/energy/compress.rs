//! History compression (§3.2): which messages of a conversation are worth sending again.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::options::{OptionsError, check_at_least, check_not_zero, check_number};
use crate::number::{share, to_f64};
use crate::setters::setters;

/// How much each aspect weighs; they add up to 1.
const RELEVANCE: f64 = 0.35;
const STRUCTURE: f64 = 0.25;
const NOVELTY: f64 = 0.25;
const POSITION: f64 = 0.15;

/// Structure of a tool call or result that is no error; an error has 1, plain talk 0.
const TOOL: f64 = 0.6;

/// A message of the history to compress.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message<'a> {
    /// Its text.
    pub text: &'a str,
    /// Whether it is a tool call or a tool's result.
    pub tool: bool,
    /// Whether it reports an error.
    pub error: bool,
}

impl<'a> Message<'a> {
    /// A message that is neither a tool's nor an error.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

setters! {
    impl ['a] Message<'a> {
        with_tool(tool: bool);
        with_error(error: bool);
    }
}

/// Options of a [`Decimator`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct DecimatorOptions {
    /// A message that scores less is dropped. 0 to 1; default 0.3.
    pub threshold: f64,
    /// At most so many messages are kept, the first and the last among them. 2 or more; default 50.
    pub most: usize,
    /// A message is compared with so many before it. 1 or more; default 5.
    pub recent: usize,
}

impl Default for DecimatorOptions {
    fn default() -> Self {
        Self {
            threshold: 0.3,
            most: 50,
            recent: 5,
        }
    }
}

/// Scores the messages of a history and keeps what matters, in order.
///
/// score = 0.35 · relevance + 0.25 · structure + 0.25 · novelty + 0.15 · position, each 0 to 1:
///
/// - relevance: Σ (1 + ln count) · ln((1 + N) / (1 + df)) over the message's terms, divided by √(number
///   of different terms) and by the largest such value of the history; N messages, df of them with
///   the term (TF-IDF);
/// - structure: 1 for an error, 0.6 for a tool call or result, else 0;
/// - novelty: 1 − the largest share of terms (Jaccard) in common with one of the messages just
///   before; 0 for a message without terms;
/// - position: from 0 for the oldest to 1 for the newest.
///
/// The first and the last message are kept; of the rest, the best-scoring ones with 0.3 or more, as
/// long as there is room. Of equal scores the newer wins.
///
/// ```
/// use mcptest_trace::energy::{Decimator, Message};
///
/// let texts = ["Cancel booking ABC123, please.", "One moment.", "One moment.", "It is cancelled."];
/// let messages = texts.map(Message::new);
/// let compressed = Decimator::default().decimate(&messages);
/// assert_eq!(compressed.kept, [true, true, false, true]);
/// let sent: Vec<_> = compressed.select(&texts).collect();
/// assert_eq!(sent.len(), 3);
/// assert!(compressed.saving() > 0.1);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Decimator {
    options: DecimatorOptions,
}

/// What a [`Decimator`] made of a history.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Compression {
    /// The score of each message, 0 to 1.
    pub scores: Vec<f64>,
    /// Whether each message is kept.
    pub kept: Vec<bool>,
    /// Tokens of all messages, estimated at 4 characters a token.
    pub tokens_before: u64,
    /// Tokens of the messages that are kept.
    pub tokens_after: u64,
}

impl Compression {
    /// Tokens saved as a share of all, 0 to 1; 0 without tokens.
    #[must_use]
    pub fn saving(&self) -> f64 {
        share(self.tokens_after, self.tokens_before).map_or(0.0, |kept| 1.0 - kept)
    }

    /// Those of `items`, one a message, whose message is kept.
    pub fn select<'a, T>(&'a self, items: &'a [T]) -> impl Iterator<Item = &'a T> {
        let pairs = items.iter().zip(&self.kept);
        pairs.filter(|(_, kept)| **kept).map(|(item, _)| item)
    }
}

impl Decimator {
    /// A decimator with these options.
    ///
    /// # Errors
    ///
    /// An option is out of its range.
    pub fn new(options: DecimatorOptions) -> Result<Self, OptionsError> {
        let threshold = options.threshold;
        let expected = (0.0..=1.0).contains(&threshold);
        check_number("threshold", threshold, expected, "a number from 0 to 1")?;
        check_at_least("most", options.most as u64, 2)?;
        check_not_zero("recent", options.recent as u64)?;
        Ok(Self { options })
    }

    /// Scores a history, oldest first, and decides what to keep.
    #[must_use]
    pub fn decimate(&self, messages: &[Message<'_>]) -> Compression {
        let scores = self.scores(messages);
        let kept = self.keep(&scores);
        let tokens = messages
            .iter()
            .map(|message| (message.text.chars().count() as u64).div_ceil(4));
        let after = tokens.clone().zip(&kept).filter(|(_, kept)| **kept);
        Compression {
            tokens_before: tokens.sum(),
            tokens_after: after.map(|(tokens, _)| tokens).sum(),
            scores,
            kept,
        }
    }

    fn scores(&self, messages: &[Message<'_>]) -> Vec<f64> {
        let texts: Vec<String> = messages
            .iter()
            .map(|message| message.text.to_lowercase())
            .collect();
        let history = History::from_texts(&texts);
        let relevance = history.relevance();
        let novelty = history.novelty(self.options.recent);
        let last = to_f64(messages.len().saturating_sub(1).max(1));
        messages
            .iter()
            .zip(relevance.into_iter().zip(novelty))
            .enumerate()
            .map(|(index, (message, (relevance, novelty)))| {
                let structure = match (message.error, message.tool) {
                    (true, _) => 1.0,
                    (false, true) => TOOL,
                    (false, false) => 0.0,
                };
                let position = to_f64(index) / last;
                RELEVANCE * relevance
                    + STRUCTURE * structure
                    + NOVELTY * novelty
                    + POSITION * position
            })
            .collect()
    }

    fn keep(&self, scores: &[f64]) -> Vec<bool> {
        let mut kept = vec![false; scores.len()];
        let Some(last) = scores.len().checked_sub(1) else {
            return kept;
        };
        kept[0] = true;
        kept[last] = true;
        let mut rest: Vec<usize> = (1..last)
            .filter(|index| scores[*index] >= self.options.threshold)
            .collect();
        rest.sort_by(|left, right| {
            let by_score = scores[*right].total_cmp(&scores[*left]);
            by_score.then(right.cmp(left))
        });
        for index in rest.into_iter().take(self.options.most - 2) {
            kept[index] = true;
        }
        kept
    }
}

/// The terms of a history, numbered.
struct History {
    /// Each message's terms with their counts, sorted by term.
    messages: Vec<Vec<(usize, u32)>>,
    /// In how many messages each term occurs.
    frequency: Vec<u64>,
}

impl History {
    fn from_texts(texts: &[String]) -> Self {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut frequency = Vec::new();
        // Where the last message that has each term holds it, with that message, counted from 1.
        let mut held = Vec::new();
        let messages = (1..).zip(texts).map(|(message, text)| {
            let mut terms: Vec<(usize, u32)> = Vec::new();
            let words = text.split(|char: char| !char.is_alphanumeric());
            for word in words.filter(|word| !word.is_empty()) {
                let next = numbers.len();
                let term = *numbers.entry(word).or_insert(next);
                if term == next {
                    held.push((0, 0));
                    frequency.push(0);
                }
                match held[term] {
                    (last, place) if last == message => {
                        let (_, count): &mut (usize, u32) = &mut terms[place];
                        *count = count.saturating_add(1);
                    }
                    _ => {
                        held[term] = (message, terms.len());
                        frequency[term] += 1;
                        terms.push((term, 1));
                    }
                }
            }
            terms.sort_unstable();
            terms
        });
        Self {
            messages: messages.collect(),
            frequency,
        }
    }

    /// TF-IDF of each message relative to the largest.
    fn relevance(&self) -> Vec<f64> {
        let rarity: Vec<f64> = self
            .frequency
            .iter()
            .map(|frequency| (to_f64(self.messages.len() as u64 + 1) / to_f64(frequency + 1)).ln())
            .collect();
        let weight = |(term, count): &(usize, u32)| match count {
            1 => rarity[*term],
            count => (1.0 + f64::from(*count).ln()) * rarity[*term],
        };
        let mut relevance: Vec<f64> = self
            .messages
            .iter()
            .map(|terms| {
                let sum: f64 = terms.iter().map(weight).sum();
                sum / to_f64(terms.len().max(1)).sqrt()
            })
            .collect();
        let largest = relevance.iter().copied().fold(0.0, f64::max);
        if largest > 0.0 {
            for value in &mut relevance {
                *value /= largest;
            }
        }
        relevance
    }

    /// 1 − the largest Jaccard similarity of each message's terms with those of one of the `recent`
    /// messages before it; 0 of a message without terms.
    fn novelty(&self, recent: usize) -> Vec<f64> {
        // The last message that has each term, counted from 1.
        let mut last = vec![0; self.frequency.len()];
        let messages = self.messages.iter().enumerate();
        let novelty = messages.map(|(index, terms)| {
            if terms.is_empty() {
                return 0.0;
            }
            for (term, _) in terms {
                last[*term] = index + 1;
            }
            let before = &self.messages[index.saturating_sub(recent)..index];
            let in_common = before.iter().map(|other| {
                let both = other.iter().filter(|(term, _)| last[*term] == index + 1);
                let both = both.count();
                to_f64(both) / to_f64(terms.len() + other.len() - both)
            });
            1.0 - in_common.fold(0.0, f64::max)
        });
        novelty.collect()
    }
}

#[cfg(test)]
mod tests;
