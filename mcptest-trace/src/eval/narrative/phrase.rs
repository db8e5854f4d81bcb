//! Noun phrases: what an action was done to, which identifiers are named, and what stands in the
//! prepositional phrases around it.

use std::ops::Range;

use super::clause;
use super::reading::{Reading, View, Voice};
use super::token::{Kind, Token};
use super::verb::looks_past;
use super::words;

/// A noun phrase.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Phrase {
    /// The words of the noun, singular and in order; the last one is its head.
    pub nouns: Vec<String>,
    /// Identifiers, code and quotations, as they stand in the closing.
    pub names: Vec<usize>,
    /// Whether the head is a plural.
    pub plural: bool,
    /// Whether the head is a proper name.
    pub proper: bool,
    /// Index of the token after the phrase.
    pub end: usize,
}

/// What an action was done to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Object {
    /// The object itself.
    pub phrase: Phrase,
    /// Singular nouns of the prepositional phrases that go with it.
    pub around: Vec<String>,
    /// Names in those phrases.
    pub names_around: Vec<usize>,
    /// Amounts of money named.
    pub amounts: Vec<usize>,
    /// The stretch of tokens that were read.
    pub range: Range<usize>,
}

/// Words for an identifier, which are no object of their own: *reservation ID ABC123*.
fn names_an_identifier(word: &str) -> bool {
    words::listed(
        "id ids number numbers code no reference ref called named titled numbered name \
                entitled",
        word,
    )
}

/// Reads the noun phrase that starts at `from` and does not reach `to`.
pub(super) fn noun_phrase(tokens: &[Token], from: usize, to: usize) -> Phrase {
    let mut phrase = Phrase {
        end: from,
        ..Phrase::default()
    };
    let mut at = from;
    // *2️⃣ One checked bag*
    let counted = |at: usize| {
        tokens[at].kind == Kind::Number
            && tokens
                .get(at + 1)
                .is_some_and(|next| words::is_determiner(&next.text))
    };
    if at < to && counted(at) {
        at += 1;
    }
    while at < to
        && tokens[at].is_word()
        && (words::is_determiner(&tokens[at].text) || words::is_adverb(&tokens[at].text))
    {
        at += 1;
    }
    while at < to {
        let token = &tokens[at];
        let word = token.text.as_str();
        match token.kind {
            Kind::Word if word == "'s" => {
                // What came before owns the noun that follows.
                phrase.nouns.clear();
            }
            Kind::Word if ends_phrase(tokens, at) => break,
            // *the address stored in your profile*: the participle describes the noun before it.
            Kind::Word
                if !phrase.nouns.is_empty()
                    && looks_past(word)
                    && tokens
                        .get(at + 1)
                        .is_some_and(|next| words::is_preposition(&next.text)) =>
            {
                break;
            }
            Kind::Word => {
                let next = tokens.get(at + 1);
                let labels = matches!(word, "id" | "ids")
                    || next.is_some_and(|next| {
                        next.is_name()
                            || next.is(":")
                            || (next.kind == Kind::Number && !phrase.nouns.is_empty())
                    });
                if !(names_an_identifier(word) && labels) {
                    let folded = words::singular(word);
                    phrase.plural = folded != *word;
                    phrase.proper = token.capital && at > 0;
                    phrase.nouns.push(folded);
                }
            }
            Kind::Number => {}
            _ if token.is_name() => phrase.names.push(at),
            _ => break,
        }
        at += 1;
    }
    at = further_names(tokens, at, to, &mut phrase);
    phrase.end = at.max(from);
    phrase
}

/// Whether a word cannot be part of a noun phrase.
fn ends_phrase(tokens: &[Token], at: usize) -> bool {
    let word = tokens[at].text.as_str();
    words::is_preposition(word)
        || words::is_conjunction(word)
        || words::is_pronoun(word)
        || words::is_finite_auxiliary(word)
        || words::is_be(word)
        || words::is_hypothetical(word)
        || words::is_temporal(word)
        || words::is_causal(word)
        || (words::is_adverb(word) && word.ends_with("ly"))
        || words::listed("now already also too free so once not n't", word)
}

/// Names after the noun: *reservations A, B and C*, *the order (ID: W12)*, *the order with ID W12*.
fn further_names(tokens: &[Token], from: usize, to: usize, phrase: &mut Phrase) -> usize {
    let mut at = from;
    loop {
        let mut next = at;
        let mut bracketed = false;
        while next < to && next < at + 5 {
            let token = &tokens[next];
            let link = matches!(token.text.as_str(), "with" | "the" | "its" | ":")
                || names_an_identifier(&token.text);
            let list = token.is(",") || token.is("and") || token.is("—") || token.is(")");
            let opens = token.is("(");
            bracketed |= opens;
            if !(link || list || opens) {
                break;
            }
            next += 1;
        }
        let named = next < to && next > at && tokens[next].is_name();
        let after = tokens.get(next + 1).map_or("", |token| token.text.as_str());
        // A name that opens a clause of its own is no further name of this one.
        if !named
            || (words::is_finite_auxiliary(after) && !phrase.names.is_empty() && !bracketed)
                && next + 1 < to
        {
            return at;
        }
        phrase.names.push(next);
        at = next + 1;
    }
}

/// The object of a verb that was read as a completed action.
pub(super) fn object(view: &View<'_>, verb: usize, reading: &Reading) -> Object {
    let tokens = view.tokens;
    let after = clause::after(tokens, verb);
    match reading.voice {
        Voice::Active => {
            let start = shared_object(view, verb, after.end);
            let phrase = noun_phrase(tokens, start, after.end);
            let mut object = Object {
                range: verb..phrase.end,
                phrase,
                ..Object::default()
            };
            object.surround(tokens, object.phrase.end, after.end);
            // ***INC-42**: Added a comment*: the label says where.
            let label = reading.subject.clone();
            object
                .names_around
                .extend(label.filter(|at| tokens[*at].is_name()));
            object
        }
        Voice::Passive => {
            let subject = reading.subject.clone();
            let phrase = noun_phrase(tokens, subject.start, subject.end);
            let mut object = Object {
                range: subject.start.min(verb)..verb + 1,
                phrase,
                ..Object::default()
            };
            object.surround(tokens, object.phrase.end, subject.end);
            object.surround(tokens, verb + 1, after.end);
            object
        }
    }
}

/// *cancelled and refunded the order*: the object stands after the last of the joined verbs.
fn shared_object(view: &View<'_>, verb: usize, end: usize) -> usize {
    let mut at = verb + 1 + usize::from(view.tokens.get(verb + 1).is_some_and(|t| t.is(":")));
    while at + 1 < end
        && (view.tokens[at].is("and") || view.tokens[at].is(",") || view.tokens[at].is("/"))
        && looks_past(&view.tokens[at + 1].text)
    {
        at += 2;
    }
    while at < end && view.tokens[at].is_word() && words::is_adverb(&view.tokens[at].text) {
        at += 1;
    }
    at
}

/// Whether what follows a comma or conjunction is a clause of its own, with or without a finite
/// verb: *and I sent it*, *, seat 5A added*.
fn opens_clause(tokens: &[Token], from: usize, to: usize) -> bool {
    let rest = tokens.get(from..to).unwrap_or_default();
    let verbal = rest.first().is_some_and(|next| {
        looks_past(&next.text) || words::is_adverb(&next.text) || words::is_conjunction(&next.text)
    });
    let finite =
        |token: &Token| token.is_word() && (token.finite || words::is_first_person(&token.text));
    let near = rest
        .iter()
        .take(5)
        .take_while(|token| !token.is(",") && !words::is_preposition(&token.text));
    verbal || rest.iter().any(finite) || near.into_iter().any(|token| token.past)
}

impl Object {
    /// Collects the prepositional phrases between two tokens.
    fn surround(&mut self, tokens: &[Token], from: usize, to: usize) {
        let mut at = from;
        while at < to {
            let token = &tokens[at];
            if token.kind == Kind::Number && token.text.starts_with(['$', '€', '£']) {
                self.amounts.push(at);
            }
            if token.is_name() {
                self.names_around.push(at);
            }
            let joins = token.is(",") || (token.is_word() && words::is_conjunction(&token.text));
            if joins && opens_clause(tokens, at + 1, to) {
                break;
            }
            if token.is_word() && words::is_preposition(&token.text) {
                let phrase = noun_phrase(tokens, at + 1, to);
                self.around.extend(phrase.nouns);
                self.names_around.extend(phrase.names);
                at = phrase.end.max(at + 1);
                continue;
            }
            at += 1;
        }
        self.range.end = self.range.end.max(at.min(to));
        self.amounts
            .extend((self.range.start..from.min(tokens.len())).filter(|at| {
                tokens[*at].kind == Kind::Number && tokens[*at].text.starts_with(['$', '€', '£'])
            }));
        self.amounts.sort_unstable();
        self.amounts.dedup();
        self.names_around.sort_unstable();
        self.names_around.dedup();
    }
}
