//! Names that any two texts share although they have digits: `UTF-8`, `GPT-4`, `mp3`, `COVID-19`, `en-US`.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Names of formats, standards, models and the like, without the number behind them, and names that are whole.
static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let lines = include_str!("codes.txt").lines();
    let names = lines.filter(|line| !line.starts_with('#'));
    names.flat_map(str::split_whitespace).collect()
});

/// Whether a word with digits says nothing of where a text comes from.
pub(super) fn is_shared(text: &str) -> bool {
    let folded = text.to_lowercase();
    let mut pieces = folded.split(['-', '_', '.', '/']);
    let first = pieces.next().unwrap_or_default();
    let all = folded.replace(['-', '_', '.', '/'], "");
    if NAMES.contains(all.as_str()) || is_counted(text) {
        return true;
    }
    // A name with its version: `gpt-4o`, `sha256`, `claude-3-5-sonnet`.
    let length = first.trim_end_matches(|sign: char| sign.is_ascii_digit());
    let length = length.len();
    let name = &first[..length];
    let is_version = |piece: &str| {
        let letters = piece.trim_start_matches(|sign: char| sign.is_ascii_digit());
        let digits = piece.len() - letters.len();
        let plain = letters.chars().all(char::is_alphabetic);
        let is_day = digits == 8 && piece.starts_with("20") && letters.is_empty();
        plain && (digits == 0 || is_day || digits <= 4 && letters.len() <= 2)
    };
    NAMES.contains(name) && is_version(&first[length..]) && pieces.all(is_version)
}

/// Whether the name of a file or a host is one that any text may have: `README.md`, `Node.js`.
pub(super) fn is_shared_file(text: &str) -> bool {
    NAMES.contains(text.to_lowercase().replace('.', "").as_str())
}

/// Whether a text is a word and its place in a row: `Phase-2`, `top-10`. A code is written in capitals.
fn is_counted(text: &str) -> bool {
    text.split_once('-').is_some_and(|(word, number)| {
        let digits = (1..=2).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
        let letters = word.chars().count() > 2 && word.chars().all(char::is_alphabetic);
        digits && letters && word.chars().skip(1).all(char::is_lowercase)
    })
}

/// Whether a text names a language and a country: `en-US`, `pt_BR`, `zh-Hant-TW`.
pub(super) fn is_locale(text: &str) -> bool {
    let mut parts = text.split(['-', '_']);
    let letters = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphabetic());
    let (language, last) = (parts.next().unwrap_or_default(), parts.next_back());
    let lower = language.bytes().all(|byte| byte.is_ascii_lowercase());
    let upper = |part: &str| part.bytes().all(|byte| byte.is_ascii_uppercase());
    lower
        && (2..=3).contains(&language.len())
        && letters(language)
        && last.is_some_and(|last| last.len() == 2 && letters(last) && upper(last))
        && parts.all(|script| script.len() == 4 && letters(script))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_all_texts_share_are_told_from_identifiers() {
        for name in [
            "GPT-4",
            "gpt-4o-mini",
            "GPT4",
            "UTF-8",
            "utf8",
            "mp3",
            "COVID-19",
            "covid19",
            "SHA-256",
            "ISO-8601",
            "HTML5",
            "x86_64",
            "1080p",
            "python3.12",
            "claude-3-5-sonnet",
            "k8s",
            "IPv6",
            "Phase-2",
            "top-10",
            "h264",
            "claude-3-5-sonnet-20241022",
            "HTTP/2",
        ] {
            assert!(is_shared(name), "{name}");
        }
        for identifier in [
            "W3470184",
            "EHGLP3",
            "HAT001",
            "user_17",
            "OPS-42",
            "GPT-W3470184",
            "W-77",
            "48213-AB",
            "GB33BUKB20201555",
            "node_4821",
            "type-1234",
            "gpt-481516",
            "paypal_7644869",
        ] {
            assert!(!is_shared(identifier), "{identifier}");
        }
        assert!(is_shared_file("README.md") && !is_shared_file("claude.ai"));
        assert!(is_locale("en-US") && is_locale("pt_BR") && is_locale("zh-Hant-TW"));
        assert!(!is_locale("en") && !is_locale("ab-cd") && !is_locale("W3-US"));
    }
}
