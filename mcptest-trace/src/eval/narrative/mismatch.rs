//! Values in a claim that disagree with the call that supports it.

use super::extract::{Found, Name, is_file_name};
use super::family;
use super::matching::Matcher;
use super::nouns;
use super::words;

impl Matcher<'_> {
    /// A value in the claim that disagrees with the calls that support it.
    pub(super) fn mismatch(
        &self,
        claim: &Found,
        supporting: &[usize],
    ) -> Option<(String, Vec<String>)> {
        let calls = || supporting.iter().map(|index| &self.calls[*index]);
        if claim
            .names
            .iter()
            .any(|name| calls().any(|call| call.carries(&name.text)))
        {
            return None;
        }
        // `Node.js support` names no file.
        let names_file = claim
            .nouns
            .last()
            .is_none_or(|noun| nouns::same(noun, "file"));
        // What an update drops need not stand among its arguments.
        let dropped_by_update = family::takes_away(&claim.verb)
            && !calls().any(|call| {
                call.name
                    .iter()
                    .any(|word| family::takes_away(word) || family::is_synonym("remove", word))
            });
        if dropped_by_update {
            return None;
        }
        let comparable = |name: &&Name| {
            name.key && !self.knows(&name.text) && (names_file || !is_file_name(&name.text))
        };
        for name in claim
            .names
            .iter()
            .chain(&claim.names_around)
            .filter(comparable)
        {
            let like = |(key, value): &&(String, String)| same_shape(&name.text, key, value);
            let mut recorded: Vec<String> = calls()
                .flat_map(|call| call.scalars.iter().filter(like))
                .map(|(_, value)| value.clone())
                .collect();
            if recorded.is_empty() {
                recorded = calls()
                    .flat_map(|call| {
                        call.results
                            .iter()
                            .filter(|scalar| identifies(&scalar.0))
                            .filter(like)
                    })
                    .map(|(_, value)| value.clone())
                    .collect();
            }
            recorded.dedup();
            if !recorded.is_empty() {
                return Some((name.shown.clone(), recorded));
            }
        }
        self.other_amount(claim, supporting)
    }

    /// An amount of money that no call knows, where a supporting call states another one.
    pub(super) fn other_amount(
        &self,
        claim: &Found,
        supporting: &[usize],
    ) -> Option<(String, Vec<String>)> {
        let value = |text: &str| text.parse::<f64>().ok();
        let [claimed] = claim.amounts.as_slice() else {
            return None;
        };
        let number = value(claimed)?;
        let same = |text: &str| {
            value(text).is_some_and(|other| {
                // Some tools count in cents.
                (other.abs() - number).abs() < 0.005 || (other.abs() - number * 100.0).abs() < 0.5
            })
        };
        let known = self.calls.iter().any(|call| {
            call.scalars
                .iter()
                .chain(&call.results)
                .any(|(_, text)| same(text) || text.contains(claimed.as_str()))
        }) || self
            .said
            .iter()
            .any(|said| said.replace(',', "").contains(claimed.as_str()));
        let monetary = |key: &str| {
            ["amount", "price", "cost", "total", "fee"]
                .iter()
                .any(|name| key.to_lowercase().contains(name))
        };
        let recorded: Vec<String> = supporting
            .iter()
            .flat_map(|index| &self.calls[*index].scalars)
            .filter(|(key, text)| monetary(key) && value(text).is_some())
            .map(|(_, text)| text.clone())
            .collect();
        (!known && !recorded.is_empty()).then(|| (format!("${claimed}"), recorded))
    }
}

/// Whether a field's name says that it identifies something.
fn identifies(key: &str) -> bool {
    super::evidence::name_words(key)
        .iter()
        .any(|word| words::listed("id number key code iid name path url sha", word))
}

/// Whether a recorded value is of the same kind as a claimed key: two addresses, two paths, two
/// numbers of records, two codes that are built alike.
fn same_shape(claimed: &str, key: &str, value: &str) -> bool {
    let ending = |text: &str| text.rsplit_once('.').map(|(_, ending)| ending.to_owned());
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if value.contains(char::is_whitespace) || value.len() > 120 {
        return false;
    }
    if claimed.contains('@') {
        return value.contains('@');
    }
    if let Some(channel) = claimed.strip_prefix('#') {
        return if digits(channel) {
            digits(value.trim_start_matches('#')) && identifies(key)
        } else if channel.chars().any(|c| c.is_ascii_digit()) {
            classes(claimed) == classes(value)
        } else {
            key.to_lowercase().contains("channel")
        };
    }
    if is_file_name(claimed) {
        return ending(claimed) == ending(value)
            && ["path", "file", "name"]
                .iter()
                .any(|name| key.to_lowercase().contains(name));
    }
    let code = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric()) && !digits(text);
    code(claimed)
        && code(value)
        && value.chars().any(|c| c.is_ascii_digit())
        && claimed.len() == value.len()
        && (classes(claimed) == classes(value) || claimed.len() <= 8)
}

/// The kinds of character of a code, runs folded: `HAT052` is a letter run and a digit run.
fn classes(text: &str) -> Vec<char> {
    let kind = |c: char| {
        if c.is_ascii_digit() {
            '0'
        } else if c.is_alphabetic() {
            'a'
        } else {
            c
        }
    };
    let mut found: Vec<char> = text.chars().map(kind).collect();
    found.dedup();
    found
}
