//! What is read otherwise than it is written, and what is not.

use super::*;
use serde_json::json;

#[test]
fn what_is_no_json_or_would_be_lost_is_read_and_said() {
    for (text, value, changes) in [
        (r#"{"a":1,"b":"ü"}"#, json!({ "a": 1, "b": "ü" }), vec![]),
        (
            r#"{"a":NaN,"b":[-Infinity,"NaN \" NaN"]}"#,
            json!({ "a": null, "b": [null, "NaN \" NaN"] }),
            vec![Change::Word],
        ),
        (
            "[1e400,-1e400,1e3]",
            json!(["1e400", "-1e400", 1e3]),
            vec![Change::Number],
        ),
        (r#"{"a":1,"a":2}"#, json!({ "a": 2 }), vec![Change::Twice]),
        (
            r#"["x \ud83d","\ude00 y","\ud83d\ude00","\\ud83d"]"#,
            json!(["x \u{fffd}", "\u{fffd} y", "😀", "\\ud83d"]),
            vec![Change::Half],
        ),
        (
            r#"{"a":"\ud83d","a":[NaN,1e999]}"#,
            json!({ "a": [null, "1e999"] }),
            vec![Change::Word, Change::Number, Change::Half, Change::Twice],
        ),
    ] {
        let expected = Parsed { value, changes };
        assert_eq!(parse(text.as_bytes()).unwrap(), expected, "{text}");
    }
    let raw = parse(b"[\"x \xed\xa0\xbd\"]").unwrap();
    assert_eq!(raw.changes, [Change::Half]);
    for none in ["{\"a\":nan}", "{\"a\":1", "[1e]", "[\"\\ud83\"]", "[1] 2"] {
        assert!(parse(none.as_bytes()).is_err(), "{none}");
    }
}

#[test]
fn halves_that_meet_are_one_character_and_a_half_alone_is_told() {
    let piece = |text: &str| parse_piece(text.as_bytes()).unwrap().value;
    let joined = |pieces: &[&str]| {
        let texts = pieces
            .iter()
            .map(|text| piece(text).as_str().unwrap().to_owned());
        let mut value = Value::from(texts.collect::<String>());
        let alone = rejoin_surrogates(&mut value);
        (value.as_str().unwrap().to_owned(), alone)
    };
    assert_eq!(
        joined(&[r#""a \ud83d""#, r#""\ude00 b""#]),
        ("a 😀 b".to_owned(), false)
    );
    assert_eq!(
        joined(&[r#""\ud83d""#, r#""x""#, r#""\ude00""#]),
        ("\u{fffd}x\u{fffd}".to_owned(), true)
    );
    assert_eq!(
        joined(&[r#""\ude00""#, r#""\ud83d""#]),
        ("\u{fffd}\u{fffd}".to_owned(), true)
    );
    assert_eq!(
        joined(&[r#""\ud83d""#, r#""\ud83d""#, r#""\ude00""#]),
        ("\u{fffd}😀".to_owned(), true)
    );
    assert_eq!(
        joined(&[r#""\udfff""#, "\"\u{fdd0}\""]),
        ("\u{fffd}\u{fdd0}".to_owned(), true)
    );
    let mut value = piece(r#"{"k\ud83d":[{"a":"\ud83d"}],"b":"c"}"#);
    assert!(rejoin_surrogates(&mut value));
    assert_eq!(
        value,
        json!({ "k\u{fffd}": [{ "a": "\u{fffd}" }], "b": "c" })
    );
}

#[test]
fn a_byte_order_mark_is_no_part_of_json() {
    let marked = parse("\u{feff}{\"a\":1}".as_bytes()).unwrap();
    assert_eq!((marked.value, marked.changes), (json!({ "a": 1 }), vec![]));
}

#[test]
fn only_what_lost_nothing_is_exact() {
    assert_eq!(
        parse_exact(r#"{"n":123456789012345678901}"#),
        Some(json!({ "n": "123456789012345678901" }))
    );
    for lost in [r#"{"a":NaN}"#, r#"["\ud83d"]"#, r#"{"a":1,"a":2}"#, "{"] {
        assert_eq!(parse_exact(lost), None, "{lost}");
    }
}

#[test]
fn numbers_that_would_be_rounded_become_texts() {
    let text = r#"[18446744073709551615,18446744073709551616,-9223372036854775809,-9223372036854775808,
        0.12345678901234567890123,12345678901234567890123e0,"123456789012345678901234567890"]"#;
    let Parsed {
        value: read,
        changes,
    } = parse(text.as_bytes()).unwrap();
    assert_eq!(changes, [Change::Number]);
    assert_eq!(read[0], json!(u64::MAX));
    assert_eq!(read[1], "18446744073709551616");
    assert_eq!(read[2], "-9223372036854775809");
    assert_eq!(read[3], json!(i64::MIN));
    assert!(read[4].is_f64() && read[5].is_f64());
    assert_eq!(read[6], "123456789012345678901234567890");
}

#[test]
fn what_is_nested_too_deep_is_told_from_what_is_no_json() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(parse(nested(DEEPEST).as_bytes()).is_ok());
    let told = |text: &str| describe_error(&parse(text.as_bytes()).unwrap_err());
    assert_eq!(
        told(&nested(DEEPEST + 1)),
        "is nested deeper than the 127 levels that are read"
    );
    assert_eq!(
        told("[1"),
        "is no JSON: EOF while parsing a list at line 1 column 2"
    );
}
