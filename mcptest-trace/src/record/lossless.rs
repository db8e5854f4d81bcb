//! JSON, also where it is none or would lose something, and what was done about that.

mod surrogates;

use std::fmt;

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

pub use surrogates::rejoin_surrogates;

/// The shortest number that may have more than 64 bits.
const LONG: usize = 19;

/// The most lists and objects within one another that the parser reads.
const DEEPEST: usize = 127;

/// What was read otherwise than it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// `NaN` and `Infinity`, which Python writes: null.
    Word,
    /// A number beyond 64 bits or beyond any float: a text.
    Number,
    /// Half a surrogate pair, or bytes that are no UTF-8: U+FFFD.
    Half,
    /// A key that an object has twice: its last value.
    Twice,
    /// What a console cut short: what is left of it.
    Cut,
}

impl Change {
    /// What to say of it.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::Word => "`NaN` or `Infinity` is read as null",
            Self::Number => "a number that would be rounded is kept as a text",
            Self::Half => "half a character is read as U+FFFD",
            Self::Twice => "a key is twice in an object: the last one is read",
            Self::Cut => "a text or list was cut short by the console that printed it",
        }
    }
}

/// A value, and how it is not as it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The value.
    pub value: Value,
    /// What was read otherwise than it is written.
    pub changes: Vec<Change>,
}

/// Reads JSON. A byte order mark before it says nothing.
///
/// # Errors
///
/// It is no JSON, whatever is mended.
pub fn parse(bytes: &[u8]) -> Result<Parsed, serde_json::Error> {
    read(bytes, |_| "\\ufffd".to_owned())
}

/// Reads a piece of a text that is JSON, or whose rest comes later. Half a character stays a mark:
/// [`rejoin_surrogates`] makes one
/// character of two halves.
///
/// # Errors
///
/// It is no JSON, whatever is mended.
pub fn parse_piece(bytes: &[u8]) -> Result<Parsed, serde_json::Error> {
    read(bytes, surrogates::mark_surrogate)
}

/// Why a text is not read, as the end of a sentence about it.
#[must_use]
pub fn describe_error(error: &serde_json::Error) -> String {
    if is_too_deep(error) {
        return format!("is nested deeper than the {DEEPEST} levels that are read");
    }
    format!("is no JSON: {error}")
}

/// Whether a text is not read because it nests too deep: it may be JSON.
#[must_use]
pub fn is_too_deep(error: &serde_json::Error) -> bool {
    error.to_string().starts_with("recursion limit exceeded")
}

/// The value of JSON of which nothing is lost: a number beyond 64 bits is its digits.
#[must_use]
pub fn parse_exact(text: &str) -> Option<Value> {
    let Parsed { value, changes } = parse(text.as_bytes()).ok()?;
    changes
        .iter()
        .all(|it| *it == Change::Number)
        .then_some(value)
}

fn read(bytes: &[u8], half: fn(u16) -> String) -> Result<Parsed, serde_json::Error> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut changes = Vec::new();
    let quoted = quote_long_numbers(bytes);
    let bytes = note_change(quoted, Change::Number, bytes, &mut changes);
    let (value, twice) = match parse_checked(&bytes) {
        Ok(read) => read,
        Err(error) => {
            let known = changes.len();
            let mended = replace_invalid_utf8(&bytes);
            let bytes = note_change(mended, Change::Half, &bytes, &mut changes);
            let mended = surrogates::replace_surrogates(&bytes, half);
            let bytes = note_change(mended, Change::Half, &bytes, &mut changes);
            let mended = replace_non_finite(&bytes);
            let bytes = note_change(mended, Change::Word, &bytes, &mut changes);
            let mended = quote_huge_numbers(&bytes);
            let bytes = note_change(mended, Change::Number, &bytes, &mut changes);
            if changes.len() == known {
                return Err(error);
            }
            parse_checked(&bytes)?
        }
    };
    changes.extend(twice.then_some(Change::Twice));
    changes.sort_unstable();
    changes.dedup();
    Ok(Parsed { value, changes })
}

/// What was mended, noted, or what was there.
fn note_change<'b>(
    mended: Option<Vec<u8>>,
    change: Change,
    bytes: &'b [u8],
    changes: &mut Vec<Change>,
) -> std::borrow::Cow<'b, [u8]> {
    match mended {
        Some(mended) => {
            changes.push(change);
            mended.into()
        }
        None => bytes.into(),
    }
}

/// Reads JSON, and whether a key stands twice in an object.
fn parse_checked(bytes: &[u8]) -> Result<(Value, bool), serde_json::Error> {
    let mut twice = false;
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = Checked(&mut twice).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok((value, twice))
}

/// A value of which is seen whether a key stands twice.
struct Checked<'t>(&'t mut bool);

impl<'de> DeserializeSeed<'de> for Checked<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Checked<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Checked(self.0))? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            let value = members.next_value_seed(Checked(self.0))?;
            *self.0 |= map.insert(key, value).is_some();
        }
        Ok(map.into())
    }
}

/// Replaces parts of JSON that stand outside of strings, if there are any.
fn replace_parts(
    bytes: &[u8],
    part: impl Fn(&[u8]) -> Option<(usize, Vec<u8>)>,
) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut copied, mut at) = (0, 0);
    let (mut in_string, mut escaped) = (false, false);
    while let Some(byte) = bytes.get(at) {
        if in_string {
            in_string = *byte != b'"' || escaped;
            escaped = *byte == b'\\' && !escaped;
        } else if *byte == b'"' {
            in_string = true;
        } else if let Some((length, new)) = part(&bytes[at..]) {
            out.extend_from_slice(&bytes[copied..at]);
            out.extend(new);
            at += length;
            copied = at;
            continue;
        } else if byte.is_ascii_digit() || *byte == b'-' {
            // The rest of the number is none of its own.
            at += number(&bytes[at..]).max(1);
            continue;
        }
        at += 1;
    }
    if copied == 0 {
        return None;
    }
    out.extend_from_slice(&bytes[copied..]);
    Some(out)
}

/// How long the number is that bytes begin with.
fn number(bytes: &[u8]) -> usize {
    let part = |byte: &&u8| byte.is_ascii_digit() || b".eE+-".contains(byte);
    bytes.iter().take_while(part).count()
}

fn digits(bytes: &[u8]) -> usize {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit());
    digits.count()
}

/// Bytes that are no UTF-8, replaced.
fn replace_invalid_utf8(bytes: &[u8]) -> Option<Vec<u8>> {
    let is_utf8 = std::str::from_utf8(bytes).is_ok();
    (!is_utf8).then(|| String::from_utf8_lossy(bytes).into_owned().into_bytes())
}

fn replace_non_finite(bytes: &[u8]) -> Option<Vec<u8>> {
    let words: [&[u8]; 3] = [b"-Infinity", b"Infinity", b"NaN"];
    replace_parts(bytes, |rest| {
        let word = words.iter().find(|word| rest.starts_with(word))?;
        Some((word.len(), b"null".to_vec()))
    })
}

fn quote_long_numbers(bytes: &[u8]) -> Option<Vec<u8>> {
    // Most texts have none.
    let mut run = 0;
    let has_long = bytes.iter().any(|byte| {
        run = if byte.is_ascii_digit() { run + 1 } else { 0 };
        run >= LONG
    });
    if !has_long {
        return None;
    }
    replace_parts(bytes, |rest| {
        let sign = usize::from(rest.first() == Some(&b'-'));
        let length = sign + digits(&rest[sign..]);
        // A fraction or an exponent makes a float.
        if length < LONG || matches!(rest.get(length), Some(b'.' | b'e' | b'E')) {
            return None;
        }
        let text = std::str::from_utf8(&rest[..length]).ok()?;
        let fits = text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok();
        (!fits).then(|| (length, format!("\"{text}\"").into_bytes()))
    })
}

/// Numbers that are no float, as `1e400`.
fn quote_huge_numbers(bytes: &[u8]) -> Option<Vec<u8>> {
    replace_parts(bytes, |rest| {
        let length = number(rest);
        let text = std::str::from_utf8(&rest[..length]).ok()?;
        let is_huge = text.parse::<f64>().is_ok_and(f64::is_infinite);
        is_huge.then(|| (length, format!("\"{text}\"").into_bytes()))
    })
}

#[cfg(test)]
mod tests;
