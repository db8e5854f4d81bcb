//! The results that the values of an argument may come from.

use std::collections::HashMap;

use serde_json::Value;

use super::super::narrative::failed;
use super::words::Source;
use crate::trace::{ToolCall, Trace};

/// When a search looked at more results than this, their words are listed.
const FAR: usize = 32;

/// The results that values may come from, in the order of their calls.
pub(super) struct Sources<'a> {
    results: Vec<(usize, &'a ToolCall, Source<'a>)>,
    /// Where each scalar of the argument was found last. Data flows in a pattern (the page after, the
    /// same list again), so the next one is looked for from there outwards.
    last: Vec<usize>,
    /// The first result that has each word, once a search went far.
    words: Option<HashMap<&'a str, usize>>,
}

impl<'a> Sources<'a> {
    pub(super) fn new(
        trace: &'a Trace,
        producers: impl Iterator<Item = (usize, &'a ToolCall)>,
    ) -> Self {
        let by_call = trace.results_by_call();
        let source = |(producer, call): (usize, &'a ToolCall)| {
            let result = (*by_call.get(producer)?)?;
            let given = result.synthesized.is_none() && !failed(call, result);
            given.then(|| (producer, call, Source::new(&result.result)))
        };
        Self {
            results: producers.filter_map(source).collect(),
            last: Vec::new(),
            words: None,
        }
    }

    /// Whether a scalar, one of several of the consumer's argument, is in a result that the model had
    /// seen when it made this call.
    pub(super) fn contain(
        &mut self,
        scalar: &Value,
        which: usize,
        index: usize,
        consumer: &ToolCall,
    ) -> bool {
        let earlier = self
            .results
            .partition_point(|(producer, ..)| *producer < index);
        let holds = |place: &usize| {
            let (_, call, source) = &self.results[*place];
            let same_step = call.step.is_some() && call.step == consumer.step;
            !same_step && source.contains(scalar)
        };
        self.last.resize(self.last.len().max(which + 1), 0);
        let middle = self.last[which].min(earlier);
        let mut after = middle..earlier;
        let mut before = (0..middle).rev();
        let pairs = std::iter::from_fn(|| {
            let pair = [after.next(), before.next()];
            (pair != [None, None]).then_some(pair)
        });
        let mut outwards = pairs.flatten().flatten();
        let found = outwards
            .by_ref()
            .take(FAR)
            .find(&holds)
            .or_else(|| {
                let words = self.words.get_or_insert_with(|| words(&self.results));
                let place = words.get(scalar.as_str()?).copied();
                place.filter(|place| *place < earlier && holds(place))
            })
            .or_else(|| outwards.find(&holds));
        self.last[which] = found.unwrap_or(middle);
        found.is_some()
    }
}

/// The first place of each word of the results.
fn words<'a>(sources: &[(usize, &'a ToolCall, Source<'a>)]) -> HashMap<&'a str, usize> {
    let mut words = HashMap::new();
    for (place, (.., source)) in sources.iter().enumerate() {
        source.for_each_text(&mut |text| {
            for word in text.split_whitespace() {
                words.entry(word).or_insert(place);
            }
        });
    }
    words
}
