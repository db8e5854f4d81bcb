//! Numbers of things.

/// How many of a thing there are: `1 case`, `2 cases`.
///
/// ```
/// use mcptest_trace::text::pluralize;
///
/// assert_eq!(pluralize(1, "run"), "1 run");
/// assert_eq!(pluralize(0, "run"), "0 runs");
/// ```
#[must_use]
pub fn pluralize(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
