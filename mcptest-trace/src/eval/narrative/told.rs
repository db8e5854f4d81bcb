//! What the arguments and the result of a call tell of the action, whatever the tool is called.

use std::collections::BTreeSet;

use super::evidence::{Evidence, name_words};
use super::verb::Lexicon;
use super::words;

/// Words in the names of arguments that hold a state or an action.
const STATING: [&str; 10] = [
    "state",
    "status",
    "event",
    "action",
    "operation",
    "method",
    "type",
    "mode",
    "transition",
    "resolution",
];

/// The verbs that arguments tell: `state: closed`, `event: APPROVE`, `query: DELETE FROM`,
/// `cancel_at_period_end: true`, `transition: Done`.
pub(super) fn verbs(
    scalars: &[(String, String)],
    executor: bool,
    lexicon: &Lexicon,
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (key, value) in scalars {
        let key = key.to_lowercase();
        let holds = |names: &[&str]| names.iter().any(|name| key.contains(name));
        let stating = holds(&STATING);
        if value == "true" {
            let flags = name_words(&key);
            found.extend(
                flags
                    .iter()
                    .filter_map(|word| lexicon.lemma(word))
                    .map(str::to_owned),
            );
        }
        if stating
            && words::listed(
                "done resolved completed complete fixed finished solved",
                value,
            )
        {
            found.insert("close".to_owned());
        }
        if executor || stating && value.split_whitespace().count() <= 3 {
            let words = value.split(|c: char| !c.is_alphanumeric());
            found.extend(
                words
                    .filter_map(|word| lexicon.lemma(word))
                    .map(str::to_owned),
            );
        }
    }
    found
}

impl Evidence {
    /// Whether the call sends invitations or notices along with what it does: it names the guests.
    pub(super) fn invites(&self, nouns: &[String]) -> bool {
        let word =
            |noun: &String| words::listed("invitation invite notification notice reminder", noun);
        nouns.last().is_some_and(word)
            && self.scalars.iter().any(|(key, _)| {
                name_words(key).iter().any(|word| {
                    words::listed(
                        "attendee attendees guest guests participant participants invitee invitees \
                         notify notification notifications email emails",
                        word,
                    )
                })
            })
    }

    /// Whether an argument is a path with the ending.
    pub(super) fn speaks_of_kind(&self, ending: &str) -> bool {
        self.scalars.iter().any(|(_, text)| {
            text.rsplit_once('.').is_some_and(|(_, end)| end == ending)
                || (text.contains('\n') && text.contains(&format!(".{ending}")))
        })
    }

    /// Whether an argument has the marks of a kind of text: tests, documentation, comments.
    pub(super) fn holds_kind(&self, noun: &str) -> bool {
        let marks: &[&str] = match noun {
            "test" | "spec" => &["test", "spec", "e2e"],
            "documentation" | "doc" | "docs" | "docstring" | "readme" => &[
                ".md", ".rst", ".adoc", "readme", "docs/", "\"\"\"", "/**", "///",
            ],
            "comment" => &["#", "//", "/*", "<!--", "\"\"\"", "--"],
            _ => &[],
        };
        self.scalars
            .iter()
            .any(|(_, text)| marks.iter().any(|mark| text.contains(mark)))
    }

    /// Whether an argument is a patch with new lines and no old ones.
    pub(super) fn only_adds(&self) -> bool {
        let starts = |text: &str, sign: char| {
            text.lines()
                .any(|line| line.starts_with(sign) && !line.starts_with("---") && line.len() > 1)
        };
        self.scalars.iter().any(|(key, text)| {
            let key = key.to_lowercase();
            (key.contains("patch") || key.contains("diff"))
                && starts(text, '+')
                && !starts(text, '-')
        })
    }

    /// Whether the result says that money went back: a field or value with the verb's own word, or
    /// a negative payment.
    pub(super) fn reports_money(&self, verb: &str) -> bool {
        let nothing = |value: &str| matches!(value, "" | "0" | "0.0" | "false" | "null" | "none");
        let says = |text: &str| {
            text.split(|c: char| !c.is_alphanumeric())
                .any(|word| word.starts_with(verb))
        };
        self.results.iter().any(|(key, value)| {
            let key = key.to_lowercase();
            let back = value.starts_with('-')
                && value[1..].parse::<f64>().is_ok()
                && ["amount", "payment", "charge"]
                    .iter()
                    .any(|name| key.contains(name));
            !nothing(value) && (back || says(&key) || says(value))
        })
    }
}
