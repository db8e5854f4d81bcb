//! Surrogate halves of characters: what stands for one until its other half comes, and when none comes.

use serde_json::Value;

/// What stands before half a character that may find its other half: no text that programs exchange holds it.
const MARK: char = '\u{fdd0}';

/// What stands for the first half that there is, and that half.
const FIRST_HALF: u32 = 0xe000;
const FIRST_UNIT: u32 = 0xd800;

/// The escapes that stand for half a character until its other half comes.
pub(super) fn mark_surrogate(unit: u16) -> String {
    let half = FIRST_HALF + (u32::from(unit) - FIRST_UNIT);
    format!("\\u{:04x}\\u{half:04x}", u32::from(MARK))
}

/// A value in which two halves that stand together are one character. A half alone is U+FFFD. Whether there was a
/// half alone.
pub fn rejoin_surrogates(value: &mut Value) -> bool {
    match value {
        Value::String(text) => rejoin(text),
        Value::Array(items) => items
            .iter_mut()
            .fold(false, |any, item| rejoin_surrogates(item) | any),
        Value::Object(map) => {
            let mut any = false;
            if map.keys().any(|key| key.contains(MARK)) {
                let members = std::mem::take(map).into_iter();
                *map = members
                    .map(|(mut key, value)| {
                        any |= rejoin(&mut key);
                        (key, value)
                    })
                    .collect();
            }
            map.values_mut()
                .fold(any, |any, value| rejoin_surrogates(value) | any)
        }
        _ => false,
    }
}

fn rejoin(text: &mut String) -> bool {
    if !text.contains(MARK) {
        return false;
    }
    let unit = |half: Option<&char>| {
        let place = u32::from(*half?).checked_sub(FIRST_HALF)?;
        let unit = u16::try_from(FIRST_UNIT + place).ok()?;
        (0xd800..0xe000).contains(&unit).then_some(unit)
    };
    let characters: Vec<char> = text.chars().collect();
    let (mut units, mut whole, mut at) = (Vec::new(), String::with_capacity(text.len()), 0);
    let mut alone = false;
    let mut end = |units: &mut Vec<u16>, whole: &mut String| {
        for read in char::decode_utf16(units.drain(..)) {
            alone |= read.is_err();
            whole.push(read.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
    };
    while let Some(character) = characters.get(at) {
        if let Some(unit) = unit(characters.get(at + 1)).filter(|_| *character == MARK) {
            units.push(unit);
            at += 2;
        } else {
            end(&mut units, &mut whole);
            whole.push(*character);
            at += 1;
        }
    }
    end(&mut units, &mut whole);
    *text = whole;
    alone
}

/// Escapes of half a surrogate pair, replaced.
pub(super) fn replace_surrogates(bytes: &[u8], half: fn(u16) -> String) -> Option<Vec<u8>> {
    let unit = |at: usize| {
        let escape = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(escape).ok()?, 16).ok()
    };
    let mut out = Vec::with_capacity(bytes.len());
    let (mut copied, mut at) = (0, 0);
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        let is_low = |unit: u16| (0xdc00..0xe000).contains(&unit);
        match unit(at) {
            Some(0xd800..0xdc00) if unit(at + 6).is_some_and(is_low) => at += 12,
            Some(alone @ 0xd800..0xe000) => {
                out.extend_from_slice(&bytes[copied..at]);
                out.extend_from_slice(half(alone).as_bytes());
                at += 6;
                copied = at;
            }
            _ => at += 2,
        }
    }
    if copied == 0 {
        return None;
    }
    out.extend_from_slice(&bytes[copied..]);
    Some(out)
}
