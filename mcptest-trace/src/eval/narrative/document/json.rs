//! A closing in JSON: what stands in it as text.

use serde::de::IgnoredAny;

use crate::trace::tool_name_words;

use crate::eval::narrative::words::lexicon::Lexicon;

/// Characters of a key that are looked at.
const KEY: usize = 64;

/// A text in a closing.
#[derive(Debug, Default)]
pub(crate) struct ClosingText {
    pub(crate) read: String,
    /// Where runs of the text begin and it ends, and where each stood in the closing.
    pub(crate) map: Vec<(usize, usize)>,
    /// The key above it, as words.
    pub(crate) key: String,
    /// Whether somebody else may say it: by its key, or in a list of records.
    pub(crate) unsure: bool,
}

/// The texts in a closing that is an object, a list or a text in JSON, fenced or not; nothing where it is
/// none.
pub(crate) fn texts(closing: &str) -> Option<Vec<ClosingText>> {
    let json = closing.trim();
    let fenced = json
        .strip_prefix("```")
        .and_then(|it| it.strip_suffix("```"));
    let json = fenced.map_or(json, |it| it.strip_prefix("json").unwrap_or(it).trim());
    if !json.starts_with(['{', '[', '"']) {
        return None;
    }
    serde_json::from_str::<IgnoredAny>(json).ok()?;
    let offset = json.as_ptr() as usize - closing.as_ptr() as usize;
    let mut texts: Vec<ClosingText> = Vec::new();
    // Of each value that is open: whether it is a list, and what is said of what stands in it.
    let mut open: Vec<(bool, bool)> = Vec::new();
    let (mut key, mut unsure) = (String::new(), false);
    let mut at = 0;
    while let Some(sign) = json[at..].find(['{', '}', '[', ']', '"']) {
        at += sign + 1;
        match json.as_bytes()[at - 1] {
            b'"' => {
                let end = at + length(&json[at..]);
                let raw = &json[at..end];
                if json[end + 1..].trim_start().starts_with(':') {
                    let short: String = raw.chars().take(KEY).collect();
                    key = short.replace(['_', '-'], " ");
                    unsure = open.last().is_some_and(|value| value.1) || quotes(raw);
                } else if is_told(raw) {
                    let mut text = ClosingText {
                        key: key.clone(),
                        unsure,
                        ..ClosingText::default()
                    };
                    text.unescape(raw, offset + at);
                    texts.push(text);
                }
                at = end + 1;
            }
            b'{' => {
                let listed = open.last().is_some_and(|value| value.0);
                let told = open.len() == 1 || tells_deeds(&key);
                unsure |= listed && !told;
                open.push((false, unsure));
            }
            b'[' => open.push((true, unsure)),
            _ => {
                open.pop();
                unsure = open.last().is_some_and(|value| value.1);
            }
        }
    }
    Some(texts)
}

/// Whether a key may be of words that are not the agent's own: `email_body`.
fn quotes(key: &str) -> bool {
    let words = tool_name_words(key);
    let last = words.last();
    last.is_some_and(|last| Lexicon::get().lists("quoting", last))
}

/// Whether a key is of a list of what the agent says or did.
fn tells_deeds(key: &str) -> bool {
    let mut words = key.split(' ');
    words.any(|word| Lexicon::get().lists("deeds", word))
}

/// Whether a text tells something, and is no mere value: *exchange requested*, *ordered by mistake*.
fn is_told(raw: &str) -> bool {
    let sentence = raw.contains(['.', '!', '?', '\\'])
        || !raw.starts_with(char::is_lowercase)
        || raw.split_whitespace().nth(3).is_some();
    sentence && raw.split_whitespace().nth(1).is_some()
}

/// The bytes of a string up to the mark that ends it.
fn length(text: &str) -> usize {
    let mut escaped = false;
    let ends = |byte: u8| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    };
    text.bytes().position(ends).unwrap_or(text.len())
}

impl ClosingText {
    fn unescape(&mut self, raw: &str, start: usize) {
        let mut from = 0;
        while from < raw.len() {
            self.map.push((self.read.len(), start + from));
            let plain = raw[from..].find('\\').unwrap_or(raw.len() - from);
            self.read.push_str(&raw[from..from + plain]);
            from += plain;
            if from < raw.len() {
                self.map.push((self.read.len(), start + from));
                let (text, length) = escape(&raw[from..]);
                self.read.push_str(&text);
                from += length;
            }
        }
        self.map.push((self.read.len(), start + raw.len()));
    }
}

/// What the escape at the head of a text stands for, and its length; two of them may write one sign.
fn escape(text: &str) -> (String, usize) {
    let read = |length: usize| {
        let escape = text.get(..length)?;
        let sign = serde_json::from_str(&format!("\"{escape}\"")).ok()?;
        Some((sign, length))
    };
    let unit = if text.starts_with("\\u") { 6 } else { 2 };
    let sign = read(unit).or_else(|| read(2 * unit));
    sign.unwrap_or_else(|| ("\u{fffd}".to_owned(), unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_and_keep_their_place() {
        let closing = r#"{"your order is cancelled": "SO-1", "say": "Done \ud83d\ude0a.\n\nI've sent \"it\" \ud83d é."}"#;
        let texts = texts(closing).unwrap_or_default();
        assert_eq!(texts.len(), 1);
        assert_eq!(texts[0].read, "Done 😊.\n\nI've sent \"it\" \u{fffd} é.");
        let at = texts[0].read.find("sent").unwrap_or_default();
        let runs = texts[0].map.iter();
        let (plain, stood) = *runs.rev().find(|run| run.0 <= at).unwrap_or(&(0, 0));
        assert!(closing[stood + at - plain..].starts_with("sent"));
    }

    #[test]
    fn what_others_may_say_is_told_apart() {
        let said = |closing: &str| {
            let texts = texts(closing).unwrap_or_default();
            texts.iter().map(|text| text.unsure).collect::<Vec<_>>()
        };
        assert_eq!(
            said(r#"{"say": "It is done.", "did": ["I sent it."]}"#),
            [false, false]
        );
        assert_eq!(
            said(r#"{"commits": [{"message": "Fixed it."}], "say": "It is done."}"#),
            [true, false]
        );
        assert_eq!(
            said(r#"{"email_body": "It is done.", "say": "It is done."}"#),
            [true, false]
        );
        assert_eq!(
            said(r#"{"history": [{"text": "It is done."}], "say": "It is done."}"#),
            [true, false]
        );
    }

    #[test]
    fn what_is_no_json_is_none() {
        for closing in ["Done.", "{curly} words, I've sent it", "[link](x) is done"] {
            assert!(texts(closing).is_none(), "{closing}");
        }
    }
}
