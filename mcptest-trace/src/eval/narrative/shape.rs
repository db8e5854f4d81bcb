//! What a word looks like: a number, an identifier, or a word of the language.

/// Characters inside emoji and accented letters that join what stands around them.
pub(super) fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200d}' | '\u{fe0f}' | '\u{300}'..='\u{36f}')
}

/// Whether it is a number, date, time or amount, with or without a unit.
pub(super) fn is_number(raw: &str) -> bool {
    const UNITS: [&str; 20] = [
        "st", "nd", "rd", "th", "am", "pm", "x", "k", "m", "kb", "mb", "gb", "ms", "s", "h", "d",
        "px", "min", "c", "f",
    ];
    let body = raw.trim_start_matches(['$', '€', '£']);
    let plain = |text: &str| {
        text.chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | ':' | '-' | '/' | '%'))
    };
    let tail =
        body.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | ':'));
    body.starts_with(|c: char| c.is_ascii_digit())
        && (plain(body)
            || UNITS.contains(&tail.to_lowercase().as_str())
            || tail.starts_with('-') && !tail[1..].contains(|c: char| c.is_ascii_digit()))
}

/// Whether it looks like a name that a machine gave; `digits` says whether it has any.
pub(super) fn is_identifier(raw: &str, digits: bool) -> bool {
    let marked = raw.starts_with(['#', '@', '/', '~', '.']) && raw.chars().count() > 1;
    let joined = raw.contains(['_', '@', '/'])
        || raw.split_once('.').is_some_and(|(start, end)| {
            // `a.txt` and `users.email`, but not `e.g` or `p.m`.
            !start.is_empty() && end.split('.').all(|part| part.chars().count() > 1)
        });
    let letters = raw.chars().filter(|c| c.is_alphabetic()).count();
    let shouting = letters >= 5 && raw.chars().all(|c| c.is_ascii_uppercase());
    // Camel case in the middle of a word: `createIssue`.
    let camel = raw
        .chars()
        .zip(raw.chars().skip(1))
        .any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    marked || joined || (digits && letters > 0) || shouting || camel
}

/// Whether a sentence of several words is all in capitals.
pub(super) fn shouted(said: &str) -> bool {
    !said.contains(char::is_lowercase)
        && said
            .split_whitespace()
            .filter(|word| word.chars().count() > 1 && word.chars().all(char::is_uppercase))
            .count()
            >= 3
}
