//! Words, numbers, identifiers and marks of one sentence, each with its place in the closing.

use std::ops::Range;

use super::shape::{is_identifier, is_joiner, is_number, shouted};
use super::verb::looks_past;
use super::words;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word; contractions are split (`I've` is `i` and `'ve`).
    Word,
    /// A number, date, time or amount of money.
    Number,
    /// Something that looks like a name a machine gave: `ABC123`, `#42`, `a@b.c`, `src/main.rs`.
    Identifier,
    /// Text between backticks.
    Code,
    /// Text between quotation marks.
    Quotation,
    /// Punctuation.
    Mark,
    /// A check mark.
    Check,
}

/// One token.
#[expect(
    clippy::struct_excessive_bools,
    reason = "what a word can be is looked up once, since it is asked often"
)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// What it is.
    pub kind: Kind,
    /// Bytes of the closing.
    pub span: Range<usize>,
    /// Lower case, apostrophes straight, without the quotes or backticks around it.
    pub text: String,
    /// Whether the first letter is a capital.
    pub capital: bool,
    /// Whether it can be a past or a participle.
    pub past: bool,
    /// Whether it makes a finite clause.
    pub finite: bool,
    /// Whether it can govern a clause: a condition, a time, a reason, a report.
    pub governs: bool,
}

impl Token {
    pub(super) fn is(&self, word: &str) -> bool {
        matches!(self.kind, Kind::Word | Kind::Mark) && self.text == word
    }

    pub(super) fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }

    /// Whether the token names a thing outright: an identifier, code or a quotation.
    pub(super) fn is_name(&self) -> bool {
        matches!(self.kind, Kind::Identifier | Kind::Code | Kind::Quotation)
    }
}

/// The tokens of the bytes `span` of `text`.
pub(super) fn tokens(text: &str, span: Range<usize>) -> Vec<Token> {
    let mut reader = Reader {
        text,
        at: span.start,
        end: span.end,
        shouted: shouted(&text[span]),
        found: Vec::new(),
    };
    while let Some(c) = reader.peek() {
        reader.step(c);
    }
    reader.found
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    end: usize,
    /// Whether all of it is in capitals, so that they mark no names.
    shouted: bool,
    found: Vec<Token>,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..self.end]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn previous(&self) -> Option<char> {
        self.text[..self.at].chars().next_back()
    }

    fn push(&mut self, kind: Kind, span: Range<usize>, text: &str) {
        let capital = text.chars().next().is_some_and(char::is_uppercase);
        let text = text.to_lowercase().replace('’', "'");
        self.found.push(Token {
            past: looks_past(&text),
            finite: words::is_finite_auxiliary(&text),
            governs: words::governs(&text),
            kind,
            span,
            text,
            capital,
        });
    }

    fn step(&mut self, c: char) {
        let size = c.len_utf8();
        let next = self.rest()[size..].chars().next();
        let starts_word = next.is_some_and(char::is_alphanumeric);
        match c {
            '`' => self.enclosed('`', Kind::Code, 200),
            '"' => self.enclosed('"', Kind::Quotation, 400),
            '“' => self.enclosed('”', Kind::Quotation, 400),
            '\'' | '‘' if starts_word && !self.previous().is_some_and(char::is_alphanumeric) => {
                self.single_quoted(c);
            }
            ']' if next == Some('(') => {
                // The address of a link is not said.
                self.at += self.rest().find(')').map_or(size, |close| close + 1);
            }
            '#' | '@' | '/' | '~' | '.'
                if starts_word || (matches!(c, '.' | '~') && next == Some('/')) =>
            {
                self.word();
            }
            '$' | '€' | '£' if next.is_some_and(|n| n.is_ascii_digit()) => self.word(),
            '✅' | '✔' | '☑' | '✓' => {
                self.push(Kind::Check, self.at..self.at + size, "✓");
                self.at += size;
            }
            '&' => {
                self.push(Kind::Word, self.at..self.at + size, "and");
                self.at += size;
            }
            '.' if self
                .found
                .last()
                .is_some_and(|last| last.span.end == self.at && words::is_title(&last.text)) =>
            {
                self.at += size;
            }
            ',' | ';' | ':' | '(' | ')' | '—' | '–' | '-' | '/' | '?' | '!' | '→' | '…' | '❌'
            | '✗' | '✘' | '.' | '|' => {
                let text = if matches!(c, '–' | '-' | '→') {
                    "—".to_owned()
                } else {
                    c.to_string()
                };
                self.push(Kind::Mark, self.at..self.at + size, &text);
                self.at += size;
            }
            c if c.is_alphanumeric() => self.word(),
            _ => self.at += size,
        }
    }

    fn enclosed(&mut self, close: char, kind: Kind, longest: usize) {
        let open = self.peek().map_or(1, char::len_utf8);
        let inner = &self.rest()[open..];
        match inner
            .find(close)
            .filter(|length| (1..=longest).contains(length))
        {
            Some(length) => {
                let span = self.at..self.at + open + length + close.len_utf8();
                let content = inner[..length].trim().to_owned();
                self.push(kind, span.clone(), &content);
                self.at = span.end;
            }
            None => self.at += open,
        }
    }

    /// Text between single quotes, when the closing one is not an apostrophe.
    fn single_quoted(&mut self, open: char) {
        let inner = &self.rest()[open.len_utf8()..];
        let closing = inner
            .char_indices()
            .take_while(|(at, _)| *at <= 120)
            .find(|(at, c)| {
                let follows = inner[at + c.len_utf8()..].chars().next();
                matches!(c, '\'' | '’') && !follows.is_some_and(char::is_alphanumeric)
            });
        match closing.map(|(at, c)| (at, c.len_utf8())) {
            Some((length, close)) if length > 0 => {
                let span = self.at..self.at + open.len_utf8() + length + close;
                let content = inner[..length].trim().to_owned();
                self.push(Kind::Quotation, span.clone(), &content);
                self.at = span.end;
            }
            _ => self.at += open.len_utf8(),
        }
    }

    /// A word with everything that sticks to it.
    fn word(&mut self) {
        let rest = self.rest();
        let mut length = 0;
        let scheme = rest
            .bytes()
            .take(8)
            .take_while(u8::is_ascii_alphanumeric)
            .count();
        if scheme > 0 && rest.as_bytes()[scheme..].starts_with(b"://") {
            length = rest
                .find(|c: char| c.is_whitespace() || matches!(c, ')' | '>' | '*' | ','))
                .unwrap_or(rest.len());
            while rest[..length].ends_with(['.', '!', '?', ':', ';']) {
                length -= 1;
            }
        }
        if length == 0 {
            let mut chars = rest.char_indices().peekable();
            let mut before = None;
            while let Some((at, c)) = chars.next() {
                let next = chars.peek().map(|(_, next)| *next);
                let solid = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
                let digit = |c: Option<char>| c.is_some_and(|c: char| c.is_ascii_digit());
                let keeps = c.is_alphanumeric()
                    || at == 0
                    || match c {
                        '_' => solid(next) || next == Some('_'),
                        '.' | '-' | '\'' | '’' | '@' => {
                            (solid(before) || before == Some('/')) && solid(next)
                                || (c == '.' && next == Some('/'))
                        }
                        '/' => {
                            solid(next)
                                || (next == Some('.') && !matches!(before, None | Some(' ')))
                        }
                        ':' | ',' => digit(before) && digit(next),
                        '%' => digit(before),
                        _ => is_joiner(c),
                    };
                if !keeps {
                    break;
                }
                length = at + c.len_utf8();
                before = Some(c);
            }
        }
        let span = self.at..self.at + length;
        self.at = span.end;
        self.classify(span);
    }

    fn classify(&mut self, span: Range<usize>) {
        let raw = self.text[span.clone()].to_owned();
        let slashes = raw.matches('/').count();
        let letters_only = raw.chars().all(|c| c.is_alphabetic() || c == '/');
        if slashes == 1 && letters_only && !raw.starts_with('/') {
            // `created/updated` is two words, not a path.
            if let Some(cut) = raw.find('/') {
                self.classify(span.start..span.start + cut);
                self.push(Kind::Mark, span.start + cut..span.start + cut + 1, "/");
                self.classify(span.start + cut + 1..span.end);
                return;
            }
        }
        let digits = raw.chars().any(|c| c.is_ascii_digit());
        // The month and the time of day, told from the verbs *may* and *am* by a full stop.
        let after_number = self
            .found
            .last()
            .is_some_and(|token| token.kind == Kind::Number);
        if raw == "May" && !self.found.is_empty() {
            return self.push(Kind::Number, span, "may.");
        }
        if after_number && raw.eq_ignore_ascii_case("am") {
            return self.push(Kind::Number, span, "am.");
        }
        // `2️⃣`
        let keycap = raw.trim_end_matches(is_joiner);
        if digits && (is_number(&raw) || is_number(keycap)) {
            self.push(Kind::Number, span, &raw);
        } else if is_identifier(&raw, digits)
            && !(self.shouted && raw.chars().all(char::is_alphabetic))
        {
            self.push(Kind::Identifier, span, &raw);
        } else {
            self.contraction(span, &raw);
        }
    }

    fn contraction(&mut self, span: Range<usize>, raw: &str) {
        let lower = raw.to_lowercase().replace('’', "'");
        // Lengths differ between the curly and the straight apostrophe, so cut from the end of the raw text.
        let cut = raw
            .char_indices()
            .rev()
            .find(|(_, c)| matches!(c, '\'' | '’'))
            .map(|(at, _)| at);
        let negated = lower.ends_with("n't") && lower.len() > 3;
        match cut {
            _ if lower == "cannot" => {
                self.push(Kind::Word, span.start..span.start + 3, "can");
                self.push(Kind::Word, span.start + 3..span.end, "not");
            }
            Some(cut) if negated => {
                let stem_end = raw[..cut]
                    .char_indices()
                    .next_back()
                    .map_or(cut, |(at, _)| at);
                let stem = match &raw[..stem_end].to_lowercase()[..] {
                    "ca" => "can".to_owned(),
                    "wo" => "will".to_owned(),
                    _ => raw[..stem_end].to_owned(),
                };
                self.push(Kind::Word, span.start..span.start + stem_end, &stem);
                self.push(Kind::Word, span.start + stem_end..span.end, "n't");
            }
            Some(cut)
                if cut > 0
                    && matches!(
                        &lower[lower.rfind('\'').unwrap_or(0)..],
                        "'ve" | "'s" | "'re" | "'ll" | "'d" | "'m"
                    ) =>
            {
                self.push(Kind::Word, span.start..span.start + cut, &raw[..cut]);
                self.push(Kind::Word, span.start + cut..span.end, &raw[cut..]);
            }
            _ => self.push(Kind::Word, span, raw),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(Kind, String)> {
        tokens(text, 0..text.len())
            .into_iter()
            .map(|token| (token.kind, token.text))
            .collect()
    }

    fn words(text: &str) -> Vec<String> {
        read(text).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn contractions_are_two_words() {
        assert_eq!(
            words("I’ve can't won't it's cannot"),
            [
                "i", "'ve", "can", "n't", "will", "n't", "it", "'s", "can", "not"
            ]
        );
    }

    #[test]
    fn machine_names_are_identifiers_and_quantities_are_numbers() {
        let kinds = |text: &str| {
            read(text)
                .into_iter()
                .map(|(kind, _)| kind)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            kinds("ABC123 #42 a@b.co src/main.rs `x y` HATHAT"),
            [
                Kind::Identifier,
                Kind::Identifier,
                Kind::Identifier,
                Kind::Identifier,
                Kind::Code,
                Kind::Identifier
            ]
        );
        assert_eq!(
            kinds("$1,194 2024-05-20 07:00 24th 3pm 10%"),
            [Kind::Number; 6]
        );
    }

    #[test]
    fn emphasis_and_links_leave_their_text() {
        assert_eq!(
            words("**Flight** [the issue](https://x.y/1) created/updated"),
            ["flight", "the", "issue", "created", "/", "updated"]
        );
    }
}
