//! Names of environment variables.

/// A name as part of an environment variable's: in upper case, and `_` for whatever is no letter or digit of ASCII.
///
/// ```
/// use mcptest_trace::text::variable_name;
///
/// assert_eq!(variable_name("order-desk 2"), "ORDER_DESK_2");
/// ```
#[must_use]
pub fn variable_name(name: &str) -> String {
    let part = |character: char| match character {
        character if character.is_ascii_alphanumeric() => character.to_ascii_uppercase(),
        _ => '_',
    };
    name.chars().map(part).collect()
}
