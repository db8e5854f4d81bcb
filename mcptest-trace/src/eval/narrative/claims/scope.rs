//! What headings, labels and lead-ins say of what stands after them.

use super::context::question;
use crate::eval::narrative::document::text::{Block, BlockKind};
use crate::eval::narrative::words::lexicon::Lexicon;
use crate::eval::narrative::words::marks::{Mark, Marks, of};
use crate::eval::narrative::words::pattern;
use crate::eval::narrative::words::token::{Token, TokenQueries};

/// Bytes of the end of a block that leads in.
const LEAD: usize = 400;
/// Words that a heading or a label has at most.
const LABEL: usize = 8;

/// What is said of the blocks that follow.
#[derive(Default)]
pub(crate) struct Scopes {
    key: Marks,
    heading: Marks,
    lead: Marks,
}

impl Scopes {
    /// What is said of a block.
    pub(crate) fn enter_block(&mut self, block: &Block) -> Marks {
        if block.kind == BlockKind::Heading {
            self.heading = Marks::default();
        }
        if !block.listed() {
            self.lead = Marks::default();
        }
        self.key.with(self.heading).with(self.lead)
    }

    /// Begins a text under a key: *next steps*.
    pub(crate) fn begin(&mut self, key: &[Token<'_>]) {
        *self = Self::default();
        let ahead = key
            .iter()
            .any(|word| Lexicon::get().lists("ahead", &word.text));
        self.key.add_if(ahead, Mark::Undone);
    }

    /// Reads what the last sentence of a block says of those after it.
    pub(crate) fn read(&mut self, block: &Block, sentence: &[Token<'_>]) {
        let lead = sentence.partition_point(|token| token.range.start + LEAD < block.range.end);
        let words = &sentence[lead..];
        let ends_open = words.last().is_some_and(|last| last.text == ":");
        let full = words.iter().any(|word| matches!(&*word.text, "." | "!"));
        let short = words.len() <= LABEL && !full && !block.listed();
        let titled = block.kind == BlockKind::Heading || block.bold && short;
        let mut found = match says(words) {
            said if said.has(Mark::Undone) && !(ends_open || titled || short) => Marks::default(),
            said if said.has(Mark::ToldDone) && !(ends_open || titled) => Marks::default(),
            said => said,
        };
        if titled {
            self.heading = found;
        } else if !block.listed() || ends_open {
            found.add_if(question(words).is_some(), Mark::Question);
            self.lead = found;
        }
    }
}

/// What a heading or a lead-in says of what follows.
fn says(words: &[Token<'_>]) -> Marks {
    pattern::of_words("heading", words).among(of![Undone ToldDone])
}

/// The sign after a label at the head of a sentence that says that what follows is not done: *Next
/// steps: …*
pub(crate) fn undone_label(words: &[Token<'_>]) -> Option<usize> {
    let colon = (0..LABEL).find(|at| words.text(*at) == ":")?;
    says(&words[..colon]).has(Mark::Undone).then_some(colon)
}

/// Of each block, by how its first sentence begins, whether that or its list tells what was done:
/// *✅ Rotated keys*, or *Deleted stale branches* beside *Emailed the team*.
pub(crate) fn deeds(text: &str, blocks: &[(&Block, &[Token<'_>])]) -> Vec<bool> {
    let item = |block: &Block| block.kind == BlockKind::Item;
    let lists = blocks.chunk_by(|before, after| item(before.0) && item(after.0));
    let listed = lists.flat_map(|list| {
        let heads = || list.iter().filter_map(|(_, words)| after_past(words));
        let definite = |next: &Token<'_>| next.marks.meets(of![Determiner Your Identifier]);
        let named = |next: &Token<'_>| text[next.range.clone()].starts_with(char::is_uppercase);
        let noun = |next: &Token<'_>| next.is(Mark::Content) && !named(next);
        let deeds = heads().any(definite) || heads().any(named) && heads().any(noun);
        list.iter().map(move |_| deeds && item(list[0].0))
    });
    let ticked = |at: usize| {
        // *✅ Approved invoices* over a list of them is its title.
        let title = |next: &(&Block, &[Token<'_>])| item(next.0) && !next.1.is(0, Mark::Sign);
        let (block, words) = blocks[at];
        let ticks = words.is(0, Mark::Tick);
        block.kind != BlockKind::Heading && ticks && !blocks.get(at + 1).is_some_and(title)
    };
    let all = listed.enumerate().map(|(at, listed)| listed || ticked(at));
    all.collect()
}

/// The word after the verb in the past that a sentence begins with.
fn after_past<'a, 'v>(words: &'a [Token<'v>]) -> Option<&'a Token<'v>> {
    let first = words
        .iter()
        .position(|word| !word.marks.meets(of![Sign Adverb]))?;
    words.get(first + 1).filter(|_| words.is(first, Mark::Past))
}
