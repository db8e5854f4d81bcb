//! A model call of a session, on however many lines.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use serde_json::Value;

use super::chain::SessionLine;
use crate::event::CallTokens;
use crate::formats::openai::tokens;
use crate::json::{list, text};

/// A model call, on however many lines.
#[derive(Debug, Default)]
pub(super) struct ModelCall<'v> {
    pub(super) blocks: Vec<&'v Value>,
    pub(super) tokens: Option<CallTokens>,
    pub(super) at: Option<i64>,
    /// The places of blocks: by their identifiers, of those without one by what they are, and by their texts.
    by_id: HashMap<&'v str, usize>,
    nameless: HashMap<&'v Value, usize>,
    by_text: BTreeMap<&'v str, BTreeSet<usize>>,
}

impl<'v> ModelCall<'v> {
    /// The union of the blocks: calls by their identifiers, equal text once. Usage is repeated whole, or
    /// grows: the largest holds, never a sum.
    pub(super) fn add(&mut self, line: &SessionLine<'v>) {
        let message = &line.value["message"];
        self.at = self.at.max(line.timestamp());
        for block in list(message, "content") {
            let same = match text(block, "id") {
                Some(id) => self.by_id.get(id),
                None => self.nameless.get(block),
            };
            let grown = || self.find_prefix_block(text(block, "text")?);
            if let Some(place) = same.copied().or_else(grown) {
                self.replace(place, block);
            } else {
                self.index_block(self.blocks.len(), block);
                self.blocks.push(block);
            }
        }
        let tokens = tokens(message.get("usage"));
        let completion = |tokens: Option<CallTokens>| tokens.map(|taken| taken.completion);
        if completion(tokens) >= completion(self.tokens) {
            self.tokens = tokens;
        }
    }

    /// The first block whose text a text begins with: a growing text replaces what it was.
    fn find_prefix_block(&self, grown: &str) -> Option<usize> {
        let mut first = None;
        let mut bound = Bound::Included(grown);
        loop {
            let mut up_to = self.by_text.range::<str, _>((Bound::Unbounded, bound));
            let Some((known, places)) = up_to.next_back() else {
                return first;
            };
            if grown.starts_with(known) {
                first = first.into_iter().chain(places.first().copied()).min();
                bound = Bound::Excluded(known);
            } else {
                // Whatever it begins with is no longer than what both begin with.
                let both = grown.chars().zip(known.chars());
                let shared = both.take_while(|(one, other)| one == other);
                let shared = shared.map(|(letter, _)| letter.len_utf8()).sum();
                bound = Bound::Included(&grown[..shared]);
            }
        }
    }

    fn replace(&mut self, place: usize, block: &'v Value) {
        let known = std::mem::replace(&mut self.blocks[place], block);
        match text(known, "id") {
            Some(id) => self.by_id.remove(id),
            None => self.nameless.remove(known),
        };
        let text = text(known, "text").unwrap_or_default();
        if let Some(places) = self.by_text.get_mut(text) {
            places.remove(&place);
            if places.is_empty() {
                self.by_text.remove(text);
            }
        }
        self.index_block(place, block);
    }

    fn index_block(&mut self, place: usize, block: &'v Value) {
        match text(block, "id") {
            Some(id) => self.by_id.insert(id, place),
            None => self.nameless.insert(block, place),
        };
        if let Some(text) = text(block, "text").filter(|text| !text.is_empty()) {
            self.by_text.entry(text).or_default().insert(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::formats::claude_code::chain;

    /// A plain second implementation of `ModelCall::add`, which looks at all blocks.
    fn blocks_naive(blocks: &[Value]) -> Vec<&Value> {
        let mut all: Vec<&Value> = Vec::new();
        for block in blocks {
            let same = |known: &Value| match (text(known, "id"), text(block, "id")) {
                (Some(known), Some(new)) => known == new,
                _ => known == block,
            };
            let grown = all.iter().position(|known| {
                let texts = text(known, "text").zip(text(block, "text"));
                texts.is_some_and(|(known, new)| !known.is_empty() && new.starts_with(known))
            });
            match (all.iter().position(|known| same(known)), grown) {
                (Some(at), _) | (None, Some(at)) => all[at] = block,
                (None, None) => all.push(block),
            }
        }
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn blocks_are_put_together_as_a_look_at_all_blocks_puts_them(
            blocks in proptest::collection::vec((proptest::option::weighted(0.3, "[xy]"), proptest::option::weighted(0.9, "[aä]{0,4}"), 0..2), 0..12),
        ) {
            let block = |(id, text, more): (Option<String>, Option<String>, i32)| {
                let mut block = json!({ "more": more });
                for (key, value) in [("id", id), ("text", text)] {
                    if let Some(value) = value {
                        block[key] = value.into();
                    }
                }
                block
            };
            let blocks: Vec<Value> = blocks.into_iter().map(block).collect();
            let lines: Vec<Value> = blocks.iter().map(|block| json!({ "type": "assistant", "message": { "content": [block] } })).collect();
            let mut call = ModelCall::default();
            for line in &lines {
                call.add(&chain::SessionLine::new(line));
            }
            prop_assert_eq!(call.blocks, blocks_naive(&blocks));
        }
    }
}
