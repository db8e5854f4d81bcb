//! What stands around a verb: its auxiliaries, the clause it is in, the questions and conditions
//! that keep it from being asserted.

use std::ops::Range;

use super::token::{Kind, Token};
use super::words;

/// The auxiliaries and adverbs directly before a verb.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chain<'t> {
    /// Auxiliaries, negations and `to`, in order.
    pub auxiliaries: Vec<&'t str>,
    /// Adverbs in between.
    pub adverbs: Vec<&'t str>,
    /// Index of the first token of the chain; the verb's own where there is none.
    pub start: usize,
}

impl Chain<'_> {
    pub(super) fn has(&self, test: impl Fn(&str) -> bool) -> bool {
        self.auxiliaries.iter().any(|word| test(word))
    }

    pub(super) fn last(&self) -> Option<&str> {
        self.auxiliaries.last().copied()
    }

    /// Whether a modal, a negation or an infinitive marker takes the assertion back. *Not only* asserts.
    pub(super) fn unasserted(&self) -> bool {
        let not_only = self.adverbs.contains(&"only");
        self.has(|word| words::is_modal(word) || word == "to" || matches!(word, "being" | "be"))
            || (!not_only && self.has(words::is_negation))
    }
}

/// A mark at which a clause ends for good.
pub(super) fn is_boundary(token: &Token) -> bool {
    token.kind == Kind::Check
        || (token.kind == Kind::Mark && !matches!(token.text.as_str(), "," | "/"))
}

/// The chain before the verb at `verb`.
pub(super) fn chain(tokens: &[Token], verb: usize) -> Chain<'_> {
    let mut auxiliaries = Vec::new();
    let mut adverbs = Vec::new();
    let mut start = verb;
    for at in (0..verb).rev() {
        let token = &tokens[at];
        let word = token.text.as_str();
        let negation = matches!(word, "not" | "n't" | "never");
        let auxiliary = negation
            || words::is_modal(word)
            || words::is_be(word)
            || words::is_have(word)
            || matches!(word, "to" | "'s");
        if !token.is_word() || !(auxiliary || (words::is_adverb(word) && word != "then")) {
            break;
        }
        if auxiliary {
            auxiliaries.push(word);
        } else {
            adverbs.push(word);
        }
        start = at;
    }
    auxiliaries.reverse();
    adverbs.reverse();
    Chain {
        auxiliaries,
        adverbs,
        start,
    }
}

/// Tokens that are looked back over at most; longer stretches are no sentences of a closing.
const LONGEST_STRETCH: usize = 40;

/// Start of the stretch before `at` that no hard boundary cuts; what stands in brackets is skipped.
pub(super) fn stretch_start(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0_usize;
    for index in (0..at).rev().take(LONGEST_STRETCH) {
        let token = &tokens[index];
        if token.kind == Kind::Mark && token.text == ")" {
            depth += 1;
        } else if token.kind == Kind::Mark && token.text == "(" {
            if depth == 0 {
                return index + 1;
            }
            depth -= 1;
        } else if depth == 0 && is_boundary(token) {
            return index + 1;
        }
    }
    at.saturating_sub(LONGEST_STRETCH)
}

/// Index of the first token that belongs to a question; the sentence's length when none does.
pub(super) fn question_start(tokens: &[Token]) -> usize {
    if !tokens.iter().rev().take(3).any(|token| token.is("?")) {
        return tokens.len();
    }
    let asks = |at: usize| {
        let token = &tokens[at];
        let word = token.text.as_str();
        let inverted = words::is_finite_auxiliary(word)
            && tokens.get(at + 1).is_some_and(|next| {
                words::is_pronoun(&next.text) || words::is_determiner(&next.text) || next.is("n't")
            });
        token.is_word()
            && (inverted || words::listed("what which who when where why how anything any", word))
    };
    let opens = |at: usize| {
        at == 0 || tokens[at - 1].kind == Kind::Mark || words::is_conjunction(&tokens[at - 1].text)
    };
    (0..tokens.len())
        .find(|at| opens(*at) && asks(*at))
        .unwrap_or(0)
}

/// How far a clause-opening word before the verb still governs it.
#[expect(
    clippy::struct_excessive_bools,
    reason = "a clause can stand under several of them at once"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Subordination {
    /// *if*, *unless*, *whether*, …
    pub hypothetical: bool,
    /// *when*, *once*, *after*, …
    pub temporal: bool,
    /// *since*, *because*, *although*, …
    pub causal: bool,
    /// Under a verb of reporting, seeming or wishing.
    pub reported: bool,
}

/// Reads what governs the clause whose verb group starts at `group`.
pub(super) fn subordination(tokens: &[Token], group: usize) -> Subordination {
    let start = stretch_start(tokens, group);
    let mut found = Subordination::default();
    let ended = last_end(tokens, start, group);
    let clause_ended = |opener: usize| ended.is_some_and(|comma| comma > opener);
    for at in start..group {
        let token = &tokens[at];
        // *According to the log, …* reports the main clause.
        found.reported |= token.is("according");
        // *One says that …, one that …*
        let elliptic = token.is("that")
            && at > 0
            && matches!(tokens[at - 1].text.as_str(), "one" | "another" | "others");
        found.reported |= elliptic && !clause_ended(at);
        if !token.governs || !token.is_word() {
            continue;
        }
        let word = token.text.as_str();
        let in_case = word == "case" && at > 0 && tokens[at - 1].is("in");
        let opens = words::is_hypothetical(word)
            || in_case
            || words::is_temporal(word)
            || words::is_causal(word);
        let governs = opens || words::is_reporting(word) || word.starts_with("confirm");
        if !governs || clause_ended(at) {
            continue;
        }
        found.hypothetical |= words::is_hypothetical(word) || in_case;
        found.temporal |= words::is_temporal(word) && at + 1 < group;
        found.causal |= words::is_causal(word) && at + 1 < group;
        found.reported |= reports(tokens, at, start, group);
    }
    found
}

/// The last comma between `start` and the verb group that closes the clause before it: one behind
/// which the verb group has a subject of its own.
fn last_end(tokens: &[Token], start: usize, group: usize) -> Option<usize> {
    let mut own = false;
    for at in (start..group).rev() {
        if tokens[at].is(",") && own && !continues_list(tokens, at) {
            return Some(at);
        }
        let text = &tokens[at].text;
        own = own || !(words::is_conjunction(text) || words::is_adverb(text));
    }
    None
}

/// Whether the comma only separates names: `reservations A, B, and C`.
fn continues_list(tokens: &[Token], comma: usize) -> bool {
    let mut rest = tokens[comma + 1..]
        .iter()
        .skip_while(|token| words::is_conjunction(&token.text));
    rest.next()
        .is_some_and(|token| token.is_name() || token.kind == Kind::Number)
}

/// Whether the word at `at` reports the clause that the verb group belongs to.
fn reports(tokens: &[Token], at: usize, start: usize, group: usize) -> bool {
    let word = tokens[at].text.as_str();
    let before = &tokens[start..at];
    let confirming = word.starts_with("confirm");
    let by_agent = before
        .iter()
        .any(|token| words::is_first_person(&token.text));
    if !(words::is_reporting(word) || (confirming && !by_agent)) {
        return false;
    }
    let noun = at > 0
        && ((words::is_determiner(&tokens[at - 1].text) && !tokens[at - 1].is("one"))
            || tokens[at - 1].is("'s")
            || tokens[at - 1].kind == Kind::Number);
    let describes = at == start && word.ends_with("ed");
    let Some(next) = tokens.get(at + 1).filter(|_| at + 1 < group) else {
        return false;
    };
    let complement = matches!(
        next.text.as_str(),
        "that" | "like" | "as" | "how" | "to" | ":"
    );
    let between = &tokens[at + 1..group];
    let new_clause = between
        .iter()
        .any(|token| token.is(",") || words::is_conjunction(&token.text));
    // *the issue you reported has been closed*: the report belongs to the subject.
    let phrase = !words::is_preposition(&next.text)
        && !words::is_conjunction(&next.text)
        && !words::is_adverb(&next.text)
        && next.kind != Kind::Mark;
    !noun && (complement || (phrase && !new_clause && !describes))
}

/// The tokens after the verb up to the end of its clause, at most 24 of them.
pub(super) fn after(tokens: &[Token], verb: usize) -> Range<usize> {
    // *Cancelled: reservation W12*
    let labels = tokens.get(verb + 1).is_some_and(|token| token.is(":"));
    let from = verb + 1 + usize::from(labels);
    let end = (from..tokens.len()).find(|at| {
        let token = &tokens[*at];
        (is_boundary(token) && !matches!(token.text.as_str(), "(" | ")"))
            || (token.is_word()
                && (words::is_hypothetical(&token.text)
                    || matches!(token.text.as_str(), "which" | "because" | "who")))
    });
    from..end.unwrap_or(tokens.len()).min(from + 24)
}

/// Whether someone else than the agent is named as the one who did it: *by the airline*.
pub(super) fn done_by_other(tokens: &[Token], verb: usize) -> bool {
    let range = after(tokens, verb);
    let next_verb = range
        .clone()
        .find(|at| tokens[*at].past)
        .unwrap_or(range.end);
    (range.start..next_verb).take(8).any(|at| {
        let own = |token: &Token| {
            matches!(token.text.as_str(), "me" | "us" | "myself")
                || token.kind == Kind::Number
                || words::is_month_or_day(&token.text)
                || (token.text.ends_with("ing") && token.is_word())
                || token.is_name()
                || words::listed("default one two three up a an email mistake", &token.text)
        };
        tokens[at].is("by") && tokens.get(at + 1).is_some_and(|next| !own(next))
    })
}

/// Whether a time before the run is named: *on 2024-05-06*, *last week*, *two days ago*.
pub(super) fn dated(tokens: &[Token], verb: usize) -> bool {
    let range = after(tokens, verb);
    range.clone().any(|at| {
        let token = &tokens[at];
        let next = tokens.get(at + 1);
        let date = |token: &Token| {
            words::is_month_or_day(&token.text)
                || (token.kind == Kind::Number && token.text.matches(['-', '/']).count() == 2)
        };
        let year = |token: &Token| {
            token.kind == Kind::Number
                && token.text.len() == 4
                && (token.text.starts_with("19") || token.text.starts_with("20"))
        };
        match token.text.as_str() {
            "ago" | "yesterday" | "previously" | "originally" | "earlier" | "when" => true,
            "last" => next.is_some_and(|next| {
                matches!(
                    next.text.as_str(),
                    "week" | "month" | "year" | "night" | "quarter"
                ) || date(next)
            }),
            "on" => {
                let third = tokens.get(at + 2);
                let named = next.is_some_and(date);
                // *on 12 May*, *on the 12th*
                let counted =
                    next.is_some_and(|next| next.kind == Kind::Number) && third.is_some_and(date);
                let the = next.is_some_and(|next| next.is("the"))
                    && third.is_none_or(|third| third.kind == Kind::Number);
                at <= verb + 2 && (named || counted || the)
            }
            "in" => {
                at <= verb + 2
                    && next.is_some_and(|next| {
                        year(next)
                            || words::is_month_or_day(&next.text)
                            || matches!(next.text.as_str(), "version" | "release" | "commit")
                    })
            }
            "before" | "after" | "since" | "until" => {
                at <= verb + 2 && next.is_some_and(|next| date(next) || year(next))
            }
            "within" | "outside" => at == verb + 1,
            _ => false,
        }
    })
}

/// Whether the clause says on which day or in which month it was.
pub(super) fn names_a_day(tokens: &[Token], verb: usize) -> bool {
    let named = |at: usize| {
        let next = tokens.get(at + 1).map_or("", |next| next.text.as_str());
        matches!(tokens[at].text.as_str(), "in" | "on" | "last") && words::is_month_or_day(next)
    };
    dated(tokens, verb) || after(tokens, verb).any(named)
}

/// Whether the clause tells what happens as a rule: *daily*, *automatically*, *every time*.
pub(super) fn habitual(tokens: &[Token], chain: &Chain<'_>, verb: usize) -> bool {
    let marks = |word: &str| {
        words::listed(
            "every each daily weekly monthly automatically whenever when once usually within \
                always per during by at",
            word,
        )
    };
    chain.adverbs.iter().any(|word| marks(word))
        || after(tokens, verb).any(|at| marks(&tokens[at].text))
}
