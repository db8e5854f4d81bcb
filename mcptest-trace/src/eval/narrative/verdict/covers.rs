//! Arguments that say that a call does a claim too: `create_ticket { assignee: "ops" }` for *assigned it to the ops
//! team*, `cancel_order { refund: true }` for *and refunded you*.

use serde_json::Value;

use crate::trace::{for_each_scalar, tool_name_words};

use crate::eval::boundaries::contains_whole;
use crate::eval::narrative::calls::call::Call;
use crate::eval::narrative::claims::sentence::Told;
use crate::eval::narrative::details::detail::{Detail, Kind};
use crate::eval::narrative::details::matching::has;
use crate::eval::narrative::words::lexicon::{Lexicon, lower, stem};
use crate::eval::narrative::words::marks::{Mark, Marks, of};

/// Whether an argument of a call covers a claim: it has something in it, its key has the verb or the object of the
/// claim, and where the claim names a value, the argument has it.
pub(crate) fn covers(call: &Call<'_>, found: &Told<'_>) -> bool {
    let mut given = call.arguments().filter(|(_, value)| is_something(value));
    given.any(|(key, value)| tells(key, found) && fits(value, found.clause))
}

fn is_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => items.iter().any(is_something),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    }
}

/// Whether a key has the verb of a claim (`assignee`, `refund`, `notify_customer`), a word for those to whom it is
/// done (`owner`), or what it gave (`priority`, `labels`). Not `delete_on_exit`, `ticket_id`.
fn tells(key: &str, found: &Told<'_>) -> bool {
    let lexicon = Lexicon::get();
    let words = tool_name_words(key);
    let Some((first, rest)) = words.split_first() else {
        return false;
    };
    let object = |word: &String| {
        let stem = stem(word);
        // *requested a review*: `reviewers`
        let act = stem.strip_suffix("er").unwrap_or(&stem);
        let mut nouns = found.object.iter();
        nouns.any(|noun| lexicon.same_thing(&stem, noun) || act == noun)
    };
    let known = lexicon.word(first).copied().unwrap_or_default();
    let meant = |verb: Option<&str>| verb.is_some_and(|verb| found.verbs.contains(&verb));
    let whom = stem(first);
    let done = known.verb.filter(|_| known.marks.has(Mark::Participle));
    // *assigned_to*, *assignee_id*
    let plain = |word: &String| {
        object(word)
            || matches!(
                word.as_str(),
                "to" | "id" | "ids" | "name" | "names" | "email" | "emails"
            )
    };
    let of_whom_done = meant(done.or_else(|| whom.strip_suffix("ee"))) && rest.iter().all(plain);
    // *refund*, *notify_customer*; the `payment_id` pays nothing.
    let of_act = meant(known.verb.or(known.noun_of)) && rest.iter().all(object);
    let of_verb = of_whom_done || of_act;
    let of_whom = rest.is_empty() && lexicon.is_argument_of(found.spoken, &stem(first));
    let gives = lexicon.lists("gives", found.spoken);
    let of_object = gives && !words.iter().any(|word| word == "id") && words.iter().all(object);
    of_verb || of_whom || of_object
}

/// Whether an argument has the value that a clause names, or the clause names none. A code may be of anybody.
fn fits(value: &Value, clause: &str) -> bool {
    let clause_words = || clause.split(|c: char| !(c.is_alphanumeric() || "@.-_".contains(c)));
    let words = || clause_words().map(|word| word.trim_matches(['.', '-', '_']));
    let has = |part: &str| words().any(|word| word.eq_ignore_ascii_case(part));
    let (mut told, mut coded) = (*value == Value::Bool(true), false);
    for_each_scalar(value, &mut |scalar| match scalar {
        Value::String(text) => {
            let mut parts = text.split(|c: char| !(c.is_alphanumeric() || "@-_".contains(c)));
            let mut names = text.split(|c: char| !c.is_alphanumeric());
            told |= has(text) || parts.any(|part| part.len() > 1 && has(part));
            told |= names.any(|name| name.len() > 2 && has(name));
            coded |= text.contains(|c: char| c.is_ascii_digit());
        }
        scalar => told |= has(&scalar.to_string()),
    });
    told || coded && !clause.contains('@') || !names_a_value(clause)
}

/// How many names and numbers a claim has, where each of them stands in the arguments of one call; else none.
pub(crate) fn names_all(call: &Call<'_>, found: &Told<'_>) -> usize {
    let lexicon = Lexicon::get();
    let told = |detail: &Detail| {
        let mut told = false;
        for_each_scalar(call.args(), &mut |scalar| told |= has(scalar, detail));
        told
    };
    let days = || {
        found
            .details
            .iter()
            .filter(|detail| detail.kind == Kind::Day)
    };
    if !days().all(told) {
        return 0;
    }
    let words: Vec<&str> = found.clause.split_whitespace().collect();
    let mut named = days().count();
    for (at, word) in words.iter().enumerate() {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let word = word
            .strip_suffix("'s")
            .or(word.strip_suffix("’s"))
            .unwrap_or(word);
        let known = lexicon.word(&lower(word)).copied().unwrap_or_default();
        let own = known.verb == Some(found.spoken);
        let dated = known.marks.has(Mark::Date)
            || days().next().is_some()
                && [at.wrapping_sub(1), at + 1].iter().any(|at| {
                    let beside = words.get(*at).copied().unwrap_or_default();
                    let beside = beside.trim_matches(|c: char| !c.is_alphanumeric());
                    lexicon.is(&lower(beside), Mark::Date)
                });
        let name = word.contains(|c: char| c.is_ascii_digit() || c == '@')
            || word.starts_with(char::is_uppercase) && word.len() > 1;
        if !name || own || dated || lexicon.lists("currency", &lower(word)) {
            continue;
        }
        if !is_told(call.args(), word) {
            return 0;
        }
        named += 1;
    }
    // *to the random channel*, where the `channel` is another
    let other = |(key, value): (&String, &Value)| {
        let key = tool_name_words(key);
        let (Some(last), Some(text)) = (key.last(), value.as_str()) else {
            return false;
        };
        let noun = stem(last);
        let joint = lexicon.is(last, Mark::Preposition);
        !joint
            && (1..words.len()).any(|at| {
                let word = words[at].trim_matches(|c: char| !c.is_alphanumeric());
                let before = words[at - 1];
                let open = of![Determiner Your You Me Third Preposition Adverb];
                let named = !lexicon.marks(&lower(before)).meets(open);
                stem(word) == noun && named && !lower(text).contains(&*lower(before))
            })
    };
    if call.arguments().any(other) {
        0
    } else {
        named
    }
}

/// Whether a name or a number stands in arguments, as a whole word or as the same amount.
fn is_told(args: &Value, word: &str) -> bool {
    let kind = Kind::Amount;
    let text = word.to_owned();
    let listed = false;
    let amount = Detail { kind, text, listed };
    let figures = word
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b".,".contains(&byte));
    let mut told = false;
    for_each_scalar(args, &mut |scalar| {
        let text = scalar.as_str();
        told |= figures && has(scalar, &amount)
            || text.is_some_and(|text| contains_whole(&lower(text), &lower(word)));
    });
    told
}

/// Whether a clause names a value: a name, a number, an address, or a word behind *to* or *as*.
fn names_a_value(clause: &str) -> bool {
    let words: Vec<&str> = clause.split_whitespace().collect();
    let value = |at: usize| {
        let word = words[at].trim_matches(|c: char| !c.is_alphanumeric());
        let before = at.checked_sub(1).map_or("", |at| words[at]);
        let marks = Lexicon::get().marks(&lower(word));
        let open = marks.meets(of![Determiner Your You Me Third]);
        let named = at > 0 && word.len() > 2 && word.starts_with(char::is_uppercase);
        named
            || word.contains(|c: char| c.is_ascii_digit() || c == '@')
            || matches!(before, "to" | "as") && !open
    };
    (0..words.len()).any(value)
}
