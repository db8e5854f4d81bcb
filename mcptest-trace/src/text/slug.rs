//! Names of files.

/// The part of a cassette's file stem that stands for a name: ASCII letters, digits, `-` and `_` as they are, every
/// other character one `_`.
#[must_use]
pub fn slug(text: &str) -> String {
    let keep = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
    text.chars()
        .map(|character| if keep(character) { character } else { '_' })
        .collect()
}
