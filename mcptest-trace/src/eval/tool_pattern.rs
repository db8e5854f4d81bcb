//! Names of tools with `*` for any characters: `delete_*`, `*_admin`, `*`.

use std::fmt;

use serde::Serialize;

use crate::trace::{apart, snake};

/// A tool's name in which `*` stands for any characters, also none; all else is meant literally.
///
/// ```
/// use mcptest_trace::eval::ToolPattern;
///
/// let pattern = ToolPattern::new("delete_*");
/// assert!(pattern.matches("delete_order") && pattern.matches("delete_"));
/// assert!(!pattern.matches("undelete_order") && !pattern.matches("Delete_order"));
/// assert!(!ToolPattern::new("delete").matches("delete_order"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct ToolPattern(String);

impl ToolPattern {
    /// A pattern; without a `*` it is one name.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the name fits, or the tool's own without that of a server or a group before it, as a client
    /// writes it: `mcp__shop__delete_order`, `shop.deleteOrder`.
    ///
    /// ```
    /// use mcptest_trace::eval::ToolPattern;
    ///
    /// let pattern = ToolPattern::new("delete_*");
    /// assert!(pattern.names("mcp__shop__delete_order") && pattern.names("shop.deleteOrder"));
    /// assert!(!pattern.names("shop.undelete_order"));
    /// ```
    #[must_use]
    pub fn names(&self, name: &str) -> bool {
        let (_, own) = apart(name);
        self.matches(name) || self.matches(own) || self.matches(&snake(own))
    }

    /// Whether the whole name fits.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let Some((start, rest)) = self.0.split_once('*') else {
            return self.0 == name;
        };
        let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
        let inner = name
            .strip_prefix(start)
            .and_then(|name| name.strip_suffix(end));
        // The first place where each part fits leaves the most to those after it.
        inner.is_some_and(|inner| {
            middle
                .split('*')
                .try_fold(inner, |left, part| Some(left.split_once(part)?.1))
                .is_some()
        })
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition itself.
    fn fits(pattern: &[char], name: &[char]) -> bool {
        match pattern {
            [] => name.is_empty(),
            ['*', rest @ ..] => (0..=name.len()).any(|skipped| fits(rest, &name[skipped..])),
            [sign, rest @ ..] => name.first() == Some(sign) && fits(rest, &name[1..]),
        }
    }

    #[test]
    fn a_tool_has_its_name_whatever_stands_before_it() {
        for name in [
            "delete_order",
            "mcp__shop__delete_order",
            "shop.delete_order",
            "shop/delete_order",
            "functions.deleteOrder",
        ] {
            assert!(ToolPattern::new("delete_*").names(name), "{name}");
            assert!(ToolPattern::new("delete_order").names(name), "{name}");
        }
        assert!(!ToolPattern::new("delete_order").names("undelete_order"));
        assert!(!ToolPattern::new("shop").names("shop.delete_order"));
    }

    #[test]
    fn the_ends_do_not_share_a_character() {
        assert!(!ToolPattern::new("ab*ba").matches("aba"));
        assert!(ToolPattern::new("ab*ba").matches("abba"));
        assert!(ToolPattern::new("*").matches(""));
        assert!(!ToolPattern::new("").matches("a"));
    }

    proptest! {
        #[test]
        fn a_name_fits_as_the_definition_says(pattern in "[ab*]{0,7}", name in "[ab]{0,8}") {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(
                ToolPattern::new(pattern.as_str()).matches(&name),
                fits(&letters(&pattern), &letters(&name))
            );
        }
    }
}
