//! Values that look like keys, though nobody said that they are secret.

use std::collections::HashMap;

use serde_json::Value;

use crate::trace::leaves::{leaves, path_text};

/// How keys of well-known services begin.
const BEGINNINGS: &str = "sk- sk_live_ rk_live_ ghp_ gho_ ghs_ ghu_ github_pat_ glpat- xoxb- xoxp- \
     AKIA ASIA AIza hf_ npm_ pypi- eyJhbGciOi";

/// Below this length nothing is told from a word.
const SHORTEST: usize = 20;

/// From this length on, chance alone makes a key; a longer one is data.
const RANDOM: std::ops::RangeInclusive<usize> = 32..=200;

/// How many bits a character of a key carries at the least. Hex digits, as identifiers have them,
/// carry 4 at the most.
const BITS: f64 = 4.3;

/// The places in a recorded run whose text looks as if it held a key.
#[must_use]
pub fn suspects(run: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for part in ["tool_calls", "tool_results", "final_response"] {
        let texts = leaves(&run["trace"][part]).into_iter();
        let texts = texts.filter(|(_, leaf)| leaf.as_str().is_some_and(holds_a_key));
        found.extend(texts.map(|(path, _)| format!("trace.{part}{}", path_text(&path))));
    }
    found
}

/// The runs of characters that keys are made of.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || "_-+/".contains(character);
    text.split(move |character| !is_part(character))
}

fn holds_a_key(text: &str) -> bool {
    words(text).any(looks_like_a_key)
}

fn looks_like_a_key(word: &str) -> bool {
    if word.len() < SHORTEST {
        return false;
    }
    let has = |class: fn(&u8) -> bool| word.as_bytes().iter().any(class);
    let mixed =
        has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    // A path is no key.
    let random =
        || RANDOM.contains(&word.len()) && !word.contains('/') && entropy_bits(word) >= BITS;
    begins_a_key(word) || mixed && random()
}

/// Whether a text begins as the keys of a well-known service do.
pub(super) fn begins_a_key(text: &str) -> bool {
    let mut beginnings = BEGINNINGS.split(' ');
    beginnings.any(|beginning| text.starts_with(beginning))
}

/// The entropy of a character, in bits (Shannon).
fn entropy_bits(word: &str) -> f64 {
    let mut counts: HashMap<u8, u32> = HashMap::new();
    for byte in word.bytes() {
        *counts.entry(byte).or_default() += 1;
    }
    let length = f64::from(u32::try_from(word.len()).unwrap_or(u32::MAX));
    let mut shares: Vec<u32> = counts.into_values().collect();
    shares.sort_unstable();
    let parts = shares.into_iter().map(|count| {
        let share = f64::from(count) / length;
        -share * share.log2()
    });
    parts.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn in_a_result(text: &str) -> Vec<String> {
        suspects(&json!({ "trace": { "tool_results": [{ "result": { "text": text } }] } }))
    }

    #[test]
    fn what_looks_like_a_key_is_named_by_its_place() {
        for text in [
            "the key is sk-proj-0123456789abcdef",
            "ghp_0123456789abcdefABCDEF0123456789abcd",
            "token=Zk3vQ9xT1bLw7RfYp2HsMn8UcJd5GaEo",
        ] {
            assert_eq!(
                in_a_result(text),
                ["trace.tool_results[0].result.text"],
                "{text}"
            );
        }
    }

    #[test]
    fn identifiers_words_and_data_are_no_keys() {
        for text in [
            "",
            "task-7",
            "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "internationalization_of_everything",
            "/usr/local/share/Applications/Version12/Contents/resources",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA1a",
        ] {
            assert!(in_a_result(text).is_empty(), "{text}");
        }
    }
}
