//! From a document to its claims: its sentences in turn, with what their blocks say of them.

use std::borrow::Cow;
use std::ops::Range;

use super::context;
use super::scope::{self, Scopes};
use super::sentence::{FoundClaim, SentenceReader};
use super::tokenizer;
use super::vocabulary::Vocabulary;
use crate::eval::narrative::calls::tools::ToolBox;
use crate::eval::narrative::details::detail::Detail;
use crate::eval::narrative::details::texts;
use crate::eval::narrative::document::text::{Block, BlockKind, Document};
use crate::eval::narrative::words::list::{self};
use crate::eval::narrative::words::marks::{Mark, Marks, of};
use crate::eval::narrative::words::token::{Token, TokenQueries};

/// Reads the claims of a closing.
pub(crate) fn claims<'v>(
    document: &'v Document,
    vocabulary: &'v Vocabulary<'_>,
    tools: &ToolBox<'_>,
) -> Vec<FoundClaim<'v>> {
    let text = &document.text;
    let tokens = |range: Range<usize>| (tokenizer::tokens(text, &range, vocabulary), range);
    let sentences = |block: &Block| {
        tokenizer::sentences(text, &block.range)
            .into_iter()
            .map(tokens)
    };
    let blocks = document.blocks.iter();
    let blocks: Vec<(&Block, Vec<_>)> = blocks
        .map(|block| (block, sentences(block).collect()))
        .collect();
    let told = blocks
        .iter()
        .filter(|(block, _)| block.kind != BlockKind::TableHead);
    let mut told = told.flat_map(|(_, sentences)| sentences);
    let asks = told.any(|(words, _)| context::asks_to_go_ahead(words));
    let mut scopes = Scopes::default();
    let mut found: Vec<FoundClaim<'_>> = Vec::new();
    let mut status_table = false;
    let heads = blocks.iter().map(|(block, sentences)| {
        let first = sentences.first().map(|(words, _)| &**words);
        (*block, first.unwrap_or_default())
    });
    let deeds = scope::deeds(text, &heads.collect::<Vec<_>>());
    for (at, ((block, sentences), done)) in blocks.iter().zip(deeds).enumerate() {
        let over_list = blocks.get(at + 1).is_some_and(|(next, _)| next.listed());
        if block.kind == BlockKind::TableHead {
            let labels = |(words, _): &(Vec<Token<'_>>, _)| words.have(of![Label]);
            status_table = sentences.iter().any(labels);
            continue;
        }
        if let Some(key) = &block.key {
            scopes.begin(&tokenizer::tokens(text, key, vocabulary));
        }
        let mut place = scopes.enter_block(block);
        place.add_if(asks, Mark::AsksToGoAhead);
        place.add_if(status_table && block.kind == BlockKind::Row, Mark::Status);
        place.add_if(done, Mark::ToldDone);
        place.add_if(block.kind == BlockKind::Item && !block.bold, Mark::Item);
        let titled = block.kind == BlockKind::Heading || block.bold;
        place.add_if(over_list && titled, Mark::Title);
        place.add_if(block.unsure, Mark::Unsure);
        for (all, sentence) in sentences {
            let words = &all[..];
            let first = found.len();
            let asides = list::asides(words);
            let mut kept = vec![true; words.len()];
            for aside in &asides {
                kept[aside.clone()].fill(false);
            }
            let rest = words.iter().zip(&kept).filter(|(_, kept)| **kept);
            let rest = rest.map(|(word, _)| word.clone());
            let rest: Cow<'_, [Token<'_>]> = if asides.is_empty() {
                Cow::Borrowed(words)
            } else {
                Cow::Owned(rest.collect())
            };
            // Most brackets tell of nothing: *JFK*, *2 bags*.
            let pieces = asides.iter().map(|aside| &words[aside.clone()]);
            let tells = of![Verb DoneWord Past AllSetWord];
            let pieces = pieces.filter(|piece| piece.have(tells));
            for words in [&*rest].into_iter().chain(pieces) {
                SentenceReader {
                    document,
                    words,
                    all,
                    tools,
                    place,
                    sentence,
                }
                .read(&mut found);
            }
            found[first..].sort_by_key(|claim| claim.span.start);
        }
        // *I have cancelled: - Order 7 - Order 8*
        let opens = sentences.last().and_then(|(words, _)| words.last());
        if over_list && opens.is_some_and(|last| last.text == ":") {
            let entries = blocks[at + 1..].iter();
            let entries =
                entries.take_while(|(next, _)| next.listed() && next.kind == BlockKind::Item);
            if let Some(claim) = found
                .last_mut()
                .filter(|claim| block.range.contains(&claim.span.start))
            {
                let noun = claim.told.object.last().cloned();
                let named = entries.filter_map(|(_, sentences)| {
                    let (words, _) = sentences.first()?;
                    let tells = words.have(of![Participle Past Finite]);
                    texts::of_entry(words, text, noun.as_ref()).filter(|_| !tells)
                });
                let named: Vec<Detail> = named.collect();
                if named.len() > 1 {
                    claim.told.details.extend(named);
                }
            }
        }
        if let Some((last, _)) = sentences.last() {
            scopes.read(block, last);
        }
    }
    found
}
