//! Actions told by a noun and an empty verb: *the cancellation of W12 has been completed*, *I've
//! made an update to your profile*, *the upload is now complete*.

use super::phrase::{self, Object, Phrase};
use super::reading::{Reading, View, Voice};
use super::verb::{Form, Lexicon};
use super::words;

/// Verbs that only say that the action of their noun took place.
const EMPTY: &str = "completed processed made performed finalized finalised executed applied implemented carried done";

/// Adjectives that say it behind *be*.
const ENDED: &str = "complete successful finished";

/// Verbs whose base form is the noun of the action, and nothing else that could be *completed*.
const SAME_AS_NOUN: &str =
    "update upload merge refund exchange return edit transfer upgrade purchase downgrade";

/// An empty verb as a form; `active` where it takes an object too.
pub(super) fn empty_form(word: &str) -> Option<Form> {
    let verbal = words::listed(EMPTY, word);
    (verbal || words::listed(ENDED, word)).then(|| Form {
        lemma: String::new(),
        past: verbal && word != "done",
        participle: true,
        base: false,
    })
}

/// The verb whose action is the head of the phrase that the empty verb at `verb` is said of, and
/// the object of that action.
pub(super) fn action(
    view: &View<'_>,
    reading: &Reading,
    object: &Object,
    lexicon: &Lexicon,
) -> Option<(String, Phrase)> {
    let head = object.phrase.nouns.last()?;
    let lemma = lexicon.lemma(head)?;
    let followed_by_of = view.text(object.phrase.end) == "of";
    let derived = ["ion", "al", "ment"].iter().any(|end| head.ends_with(end))
        || (followed_by_of && head.ends_with("ing"));
    let same = head == lemma && words::listed(SAME_AS_NOUN, lemma);
    if !(derived && head != lemma || same || head == "booking") {
        return None;
    }
    let mut done_to = object.phrase.clone();
    done_to.nouns.pop();
    done_to.nouns.retain(|noun| noun != "update");
    let limit = match reading.voice {
        Voice::Passive => reading.subject.end,
        Voice::Active => view.tokens.len(),
    };
    let named = done_to.nouns.is_empty() && done_to.names.is_empty();
    if named && matches!(view.text(object.phrase.end), "of" | "to" | "for" | "on") {
        let next = phrase::noun_phrase(view.tokens, object.phrase.end + 1, limit);
        done_to.nouns = next.nouns;
        done_to.names = next.names;
        done_to.proper = next.proper;
    }
    Some((lemma.to_owned(), done_to))
}
