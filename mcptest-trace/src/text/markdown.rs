//! Text from outside in Markdown.

use super::escape_line;

/// A text on one line that Markdown and HTML read as nothing but text: no link, no mention, no markup.
///
/// ```
/// use mcptest_trace::text::escape_markdown;
///
/// assert_eq!(escape_markdown("a|b <i>_c_"), "a\\|b &lt;i&gt;\\_c\\_");
/// assert_eq!(escape_markdown("@team #7"), "@<!-- -->team #<!-- -->7");
/// ```
#[must_use]
pub fn escape_markdown(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for sign in escape_line(text).chars() {
        match sign {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            // Mentions and numbers of issues are found after Markdown is read, so that no backslash hides them.
            '@' | '#' => {
                safe.push(sign);
                safe.push_str("<!-- -->");
            }
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' | '$' => {
                safe.push('\\');
                safe.push(sign);
            }
            sign => safe.push(sign),
        }
    }
    safe
}

/// Escapes a text but for its code: the parts between backticks, which have no backtick themselves.
#[must_use]
pub fn escape_markdown_but_code(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let safe = |(place, part): (usize, &str)| match place % 2 {
        0 => escape_markdown(part),
        _ => format!("`{}`", escape_line(part)),
    };
    parts.map(safe).collect()
}
