//! Any secret, in each of the encodings that redaction knows, does not survive in any text.
#![no_main]

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use libfuzzer_sys::fuzz_target;
use mcptest_trace::record::redact::Redactor;
use serde_json::{Value, json};

/// What a secret begins and ends with: neither a replacement nor the syntax of JSON has it.
const EDGE: &[u8] = b"GHIJKLMNOPQRSTUVWXYZ0123456789";

/// What else a secret is made of.
const INSIDE: &str = "Ab9+/=-_.:;,!?@#$%&*()[]{}<>|~^`'\"\\ \tnuxéß☃🚀";

/// The secret's letters, the encoding, the text before it and the text after it.
type Input<'a> = (Vec<u8>, u8, &'a str, &'a str);

fuzz_target!(|input: Input<'_>| {
    let (letters, encoding, before, after) = input;
    if letters.len() < 5 || letters.len() > 40 {
        return;
    }
    let secret = secret(&letters);
    let planted = encoded(&secret, encoding, before, after);
    let redactor = Redactor::new([("s".to_owned(), secret.clone())], Vec::new()).unwrap();
    let redacted = redactor.redact_text(&planted.text);
    assert!(!redacted.contains(&secret), "{redacted}");
    assert!(!redacted.contains(&planted.secret), "{secret:?} {redacted}");
    assert_ne!(redacted, planted.text);
    assert_eq!(redactor.occurs_in(&redacted), None);
    let args = json!({ "a": [planted.text], planted.text.as_str(): 1 });
    let mut value = json!({ "trace": {
        "tool_calls": [{ "name": "f", "args": args }],
        "tool_results": [{ "call_index": 0, "result": planted.text }],
        "final_response": planted.text,
    } });
    redactor.redact_run(&mut value);
    let text = Value::to_string(&value);
    assert_eq!(redactor.occurs_in(&text), None, "{text}");
    let mut again = value.clone();
    redactor.redact_run(&mut again);
    assert_eq!(again, value);
});

/// A secret of these letters.
fn secret(letters: &[u8]) -> String {
    let edge = |letter: u8| char::from(EDGE[usize::from(letter) % EDGE.len()]);
    let inside: Vec<char> = INSIDE.chars().collect();
    let (first, last) = (letters[0], letters[letters.len() - 1]);
    let between = letters[1..letters.len() - 1].iter();
    let between = between.map(|letter| inside[usize::from(*letter) % inside.len()]);
    // Each encoding looks for secrets of six bytes and more.
    let ends = [edge(first.rotate_left(3)), edge(last)];
    [edge(first)]
        .into_iter()
        .chain(between)
        .chain(ends)
        .collect()
}

/// A text with a secret in it.
struct Planted {
    text: String,
    /// What of it is the secret alone.
    secret: String,
}

fn encoded(secret: &str, encoding: u8, before: &str, after: &str) -> Planted {
    let json = |text: &str| {
        let text = Value::from(text).to_string();
        text[1..text.len() - 1].to_owned()
    };
    let unicode = |text: &str| -> String {
        let units = text.encode_utf16();
        units
            .map(|unit| match u8::try_from(unit) {
                Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
                _ => format!("\\u{unit:04x}"),
            })
            .collect()
    };
    let percent = |text: &str, all: bool| -> String {
        let keep = |byte: u8| byte.is_ascii_alphanumeric() || !all && b"-_.~".contains(&byte);
        let bytes = text.bytes().map(|byte| match keep(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        });
        bytes.collect()
    };
    let hex = |upper: bool| -> String {
        let bytes = secret.bytes();
        let hex = bytes.map(|byte| {
            if upper {
                format!("{byte:02X}")
            } else {
                format!("{byte:02x}")
            }
        });
        hex.collect()
    };
    let form = match encoding % 16 {
        0 => secret.to_owned(),
        1 => json(secret),
        2 => json(&json(secret)),
        3 => unicode(secret),
        4 => json(&unicode(secret)),
        5 => percent(secret, true),
        6 => percent(secret, false),
        7 => percent(&percent(secret, true), true),
        8 => hex(true),
        9 => hex(false),
        10 => json(secret).replace('/', "\\/"),
        kind => return in_base64(secret, kind, before, after),
    };
    // What stands right beside an encoded secret may make it another text.
    Planted {
        text: format!("{before} {form} {after}"),
        secret: form,
    }
}

/// A text with a secret in it, in base64 as a whole.
fn in_base64(secret: &str, kind: u8, before: &str, after: &str) -> Planted {
    let plain = format!("{before}{secret}{after}");
    let text = match kind {
        11 => STANDARD.encode(plain),
        12 => STANDARD_NO_PAD.encode(plain),
        13 => URL_SAFE.encode(plain),
        14 => URL_SAFE_NO_PAD.encode(plain),
        _ => STANDARD
            .encode(plain)
            .replace('+', "%2B")
            .replace('/', "%2F"),
    };
    Planted {
        secret: text.clone(),
        text,
    }
}
