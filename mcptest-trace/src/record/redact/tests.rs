//! What is found, what is left, and how fast.

mod properties;

use std::time::{Duration, Instant};

use serde_json::json;

use super::*;

const KEY: &str = "sk-proj-a/b+c=d\"e\\f é🚀~x";

fn redactor(secrets: &[(&str, &str)]) -> Redactor {
    with_patterns(secrets, &[])
}

fn with_patterns(secrets: &[(&str, &str)], patterns: &[&str]) -> Redactor {
    let secrets = secrets
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let patterns = patterns
        .iter()
        .map(|pattern| Regex::new(pattern).unwrap())
        .collect();
    Redactor::new(secrets, patterns).unwrap()
}

fn assert_found(redactor: &Redactor, text: &str) {
    assert_eq!(redactor.redact_text(text), "[redacted KEY]", "{text}");
}

/// An independent base64.
fn base64(bytes: &[u8]) -> String {
    let alphabet: Vec<char> = ('A'..='Z')
        .chain('a'..='z')
        .chain('0'..='9')
        .chain(['+', '/'])
        .collect();
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let mut three = [0; 3];
        three[..group.len()].copy_from_slice(group);
        let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        for index in 0..4 {
            let value = bits >> (18 - 6 * index) & 63;
            text.push(if index <= group.len() {
                alphabet[value as usize]
            } else {
                '='
            });
        }
    }
    text
}

fn percent(text: &str, plain: impl Fn(u8) -> bool, upper: bool) -> String {
    let encode = |byte: u8| match (plain(byte), upper) {
        (true, _) => char::from(byte).to_string(),
        (_, true) => format!("%{byte:02X}"),
        (_, false) => format!("%{byte:02x}"),
    };
    text.bytes().map(encode).collect()
}

/// The inside of a JSON string.
fn escaped(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    text[1..text.len() - 1].to_owned()
}

#[test]
fn a_secret_is_replaced_by_its_name_at_any_depth() {
    let mut value = json!({
        "plain": "sk-12345678",
        "deep": [{"text": "a sk-12345678 b sk-12345678."}, ["sk-1234567", 5, null, true]],
        "in sk-12345678": {"sk-12345678": 1},
    });
    redactor(&[("KEY", "sk-12345678")]).redact(&mut value);
    let expected = json!({
        "plain": "[redacted KEY]",
        "deep": [{"text": "a [redacted KEY] b [redacted KEY]."}, ["sk-1234567", 5, null, true]],
        "in [redacted KEY]": {"[redacted KEY]": 1},
    });
    assert_eq!(value, expected);
}

#[test]
fn keys_that_become_the_same_keep_their_values() {
    let mut value = json!({"KEY1": 1, "KEY2": 2, "[redacted]": 3, "other": 4});
    with_patterns(&[], &["^KEY[0-9]$"]).redact(&mut value);
    let expected = json!({"[redacted]": 3, "[redacted] (2)": 1, "[redacted] (3)": 2, "other": 4});
    assert_eq!(value, expected);
}

#[test]
fn a_secret_is_found_in_json_text_to_two_levels() {
    let redactor = redactor(&[("KEY", KEY)]);
    assert_found(&redactor, KEY);
    assert_found(&redactor, &escaped(KEY));
    assert_found(&redactor, &escaped(&escaped(KEY)));
    assert_found(&redactor, &escaped(KEY).replace('/', "\\/"));
    let ascii = |text: &str, upper: bool| -> String {
        let escape = |unit: &u16| match (*unit < 128, upper) {
            (true, _) => char::from_u32(u32::from(*unit)).unwrap().to_string(),
            (_, true) => format!("\\u{unit:04X}"),
            (_, false) => format!("\\u{unit:04x}"),
        };
        let units: Vec<u16> = text.encode_utf16().collect();
        units.iter().map(escape).collect()
    };
    assert_found(&redactor, &ascii(&escaped(KEY), true));
    assert_found(&redactor, &ascii(&escaped(KEY), false));
    assert_found(&redactor, &escaped(&ascii(&escaped(KEY), false)));
    // What .NET writes.
    assert_found(
        &redactor,
        &escaped(KEY)
            .replace('+', "\\u002B")
            .replace("\\\"", "\\u0022"),
    );
    let lines = self::redactor(&[("KEY", "line one\nline\ttwo")]);
    assert_found(&lines, "line one\\nline\\ttwo");
    assert_found(&lines, "line one\\\\nline\\\\ttwo");
    let nested = format!("{{\"a\": \"{}\"}}", escaped(KEY));
    assert_eq!(redactor.redact_text(&nested), "{\"a\": \"[redacted KEY]\"}");
}

#[test]
fn a_secret_with_backslashes_is_found_where_json_text_would_show_it() {
    let mut value = json!("key\nabc");
    let redactor = redactor(&[("KEY", "key\\nabc")]);
    redactor.redact(&mut value);
    assert_eq!(value, json!("[redacted KEY]"));
}

#[test]
fn a_secret_is_found_in_percent_encoding() {
    let redactor = redactor(&[("KEY", KEY)]);
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let uri = |byte: u8| unreserved(byte) || b";/?:@&=+$,#!*'()".contains(&byte);
    for upper in [true, false] {
        assert_found(
            &redactor,
            &percent(KEY, |byte| byte.is_ascii_alphanumeric(), upper),
        );
        assert_found(&redactor, &percent(KEY, unreserved, upper));
        assert_found(&redactor, &percent(KEY, uri, upper));
        assert_found(
            &redactor,
            &percent(KEY, unreserved, upper).replace("%20", "+"),
        );
        let twice = percent(&percent(KEY, unreserved, upper), unreserved, upper);
        assert_found(&redactor, &twice);
        assert_found(&redactor, &percent(&escaped(KEY), unreserved, upper));
    }
}

#[test]
fn a_secret_is_found_in_hex() {
    let redactor = redactor(&[("KEY", KEY)]);
    let hex: String = KEY.bytes().map(|byte| format!("{byte:02x}")).collect();
    assert_found(&redactor, &hex);
    assert_found(&redactor, &hex.to_uppercase());
}

#[test]
fn a_secret_is_found_in_base64_at_every_alignment() {
    let redactor = redactor(&[("KEY", KEY)]);
    for (before, after) in [
        ("", ""),
        ("u", ""),
        ("us", "x"),
        ("user:", ":"),
        ("", "pass"),
    ] {
        let whole = base64(format!("{before}{KEY}{after}").as_bytes());
        let url = whole.replace('+', "-").replace('/', "_");
        for text in [
            whole.clone(),
            url,
            escaped(&whole).replace('/', "\\/"),
            whole.replace('/', "%2F"),
        ] {
            let redacted = redactor.redact_text(&text);
            assert!(redacted.contains("[redacted KEY]"), "{text} {redacted}");
            // At most the characters that are shared with what stands around it are left.
            let rest = redacted.replace("[redacted KEY]", "");
            let around = base64(format!("{before}{after}").as_bytes()).len();
            assert!(rest.len() <= around + 4, "{text} {redacted}");
        }
    }
    let key = self::redactor(&[("KEY", "secretkey")]);
    assert_eq!(
        key.redact_text("Basic dXNlcjpzZWNyZXRrZXk="),
        // `zZWNyZXRrZXk`, but for the bits that belong to the colon and the end.
        "Basic dXNlcjp[redacted KEY]k="
    );
}

#[test]
fn short_secrets_are_not_seen_in_every_hash() {
    let redactor = redactor(&[("KEY", "abc")]);
    let text = "616263 YWJj";
    assert_eq!(redactor.redact_text(text), text);
}

#[test]
fn what_the_suite_says_stays_where_it_is_compared() {
    let said = "Is sk-proj-0123456789abcdef a key?";
    let redactor = redactor(&[("KEY", "hush-hush")])
        .with_shapes()
        .with_kept_texts([said]);
    let mut run = json!({ "system_prompt": said, "user_prompt": "hush-hush", "trace": {
        "tool_calls": [{ "name": "check", "args": { "text": said } }],
        "conversation": { "turns": [
            { "role": "user", "content": said }, { "role": "user", "content": format!("{said} Or not?") },
            { "role": "assistant", "content": said },
        ] },
    } });
    redactor.redact_run(&mut run);
    let out = "Is [redacted api key] a key?";
    assert_eq!(
        (&run["system_prompt"], &run["user_prompt"]),
        (&json!(said), &json!("[redacted KEY]"))
    );
    let turns = &run["trace"]["conversation"]["turns"];
    assert_eq!(turns[0]["content"], said);
    assert_eq!(turns[1]["content"], format!("{out} Or not?"));
    assert_eq!(turns[2]["content"], out);
    assert_eq!(run["trace"]["tool_calls"][0]["args"]["text"], out);
}

#[test]
fn the_password_of_a_known_login_is_known() {
    let redactor = redactor(&[("key of a client", "YW5uOmh1bnRlcjIhaHVudGVyMg==")]);
    assert_eq!(
        redactor.redact_text("ann and hunter2!hunter2"),
        "ann and [redacted key of a client]"
    );
    let redactor = self::redactor(&[("key of a client", "theme=dark; sid=s3ss10n-4711")]);
    let text = redactor.redact_text("the dark session s3ss10n-4711");
    assert_eq!(text, "the dark session [redacted key of a client]");
}

#[test]
fn empty_secrets_are_none_and_white_space_around_one_is_no_part_of_it() {
    let none = redactor(&[("A", ""), ("B", " \n")]);
    assert_eq!(none.redact_text("a b\n"), "a b\n");
    assert_eq!(none.occurs_in(" "), None);
    let trimmed = redactor(&[("KEY", "sk-12345\n")]);
    assert_eq!(
        trimmed.redact_text("Bearer sk-12345"),
        "Bearer [redacted KEY]"
    );
}

#[test]
fn the_longer_secret_wins() {
    for secrets in [
        [
            ("LONG", "prefix-1-key-0042-suffix"),
            ("SHORT", "key-0042"),
            ("HEAD", "prefix-1"),
        ],
        [
            ("SHORT", "key-0042"),
            ("HEAD", "prefix-1"),
            ("LONG", "prefix-1-key-0042-suffix"),
        ],
    ] {
        let redactor = redactor(&secrets);
        assert_eq!(
            redactor.redact_text("prefix-1-key-0042-suffix key-0042 prefix-1-key-0042"),
            "[redacted LONG] [redacted SHORT] [redacted HEAD]-[redacted SHORT]"
        );
    }
}

#[test]
fn a_secret_that_the_replacement_holds_does_not_loop() {
    let redactor = redactor(&[("KEY-1234", "redacted"), ("E", "[redacted")]);
    assert_eq!(redactor.redact_text("redacted e"), "[redacted KEY-1234] e");
    assert_eq!(redactor.redact_text("[redacted]"), "[redacted E]]");
}

#[test]
fn patterns_see_the_original_and_join_with_the_secrets_they_touch() {
    let redactor = with_patterns(
        &[("KEY", "sk-12345678")],
        &[r"Bearer \S+", r"[A-Z]{3}-\d+", "x*"],
    );
    assert_eq!(
        redactor.redact_text("Bearer abc, ABC-12 yxx"),
        "[redacted] [redacted] y[redacted]"
    );
    assert_eq!(redactor.redact_text("Bearer sk-12345678"), "[redacted KEY]");
    assert_eq!(
        redactor.redact_text("sk-12345678ABC-1"),
        "[redacted KEY][redacted]"
    );
}

#[test]
fn a_number_that_is_a_secret_becomes_a_string() {
    let redactor = redactor(&[("PIN", "4711"), ("ACCOUNT", "12345678")]);
    let mut value = json!([
        4711,
        12_345_678,
        9_123_456_780_u64,
        true,
        { "pin": 4711, "order": 4711 },
        "12345678"
    ]);
    redactor.redact(&mut value);
    let expected = json!([
        4711,
        "[redacted ACCOUNT]",
        "9[redacted ACCOUNT]0",
        true,
        { "pin": "[redacted PIN]", "order": 4711 },
        "[redacted ACCOUNT]",
    ]);
    assert_eq!(value, expected);
}

#[test]
fn a_text_that_holds_a_secret_names_it() {
    let redactor = redactor(&[("A", "first-secret"), ("B", "second-secret")]);
    assert_eq!(
        redactor.occurs_in("x second-secret first-secret"),
        Some("B")
    );
    assert_eq!(redactor.occurs_in(&base64(b"user:first-secret")), Some("A"));
    assert_eq!(redactor.occurs_in("third-secret"), None);
    assert!(matches!(
        redactor.redact_text("nothing"),
        Cow::Borrowed("nothing")
    ));
}

#[test]
fn secrets_that_are_files_are_refused_or_found_but_never_forgotten() {
    let secret: String = (0..400)
        .map(|index| ["a", "/", "é", "\n"][index % 4])
        .collect();
    let redactor = redactor(&[("PEM", &secret)]);
    assert_eq!(
        redactor.redact_text(&escaped(&escaped(secret.trim()))),
        "[redacted PEM]"
    );
    let huge = "-".repeat(LONGEST + 1);
    let error = Redactor::new([("HUGE".to_owned(), huge)], Vec::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the value of `HUGE` is too long to be blanked in recordings; check that each value is a key and not a whole file"
    );
}

#[test]
fn large_texts_take_linear_time() {
    let secrets: Vec<(String, String)> = (0..12)
        .map(|index| {
            let value = format!("sk-proj-{index}-AbC_{}+/=", "dEf9".repeat(20 + index));
            (format!("KEY_{index}"), value)
        })
        .collect();
    let start = Instant::now();
    let all = Redactor::new(secrets.clone(), Vec::new()).unwrap();
    println!("12 secrets: {:?}", start.elapsed());
    let size = if cfg!(debug_assertions) {
        1 << 20
    } else {
        20 << 20
    };
    let repeated = |part: &str| part.repeat(size / part.len());
    let record =
        "{\"role\": \"user\", \"content\": \"The quick sk- brown f\\u00f6x %20 c2stcHJvag==\"}\n";
    for (what, text) in [
        ("records", repeated(record)),
        ("beginnings of secrets", repeated("sk-proj-1-AbC_")),
        ("long beginnings", repeated(&secrets[5].1[..80])),
        ("backslashes", repeated("\\")),
        ("base64", repeated(&base64(record.as_bytes()))),
        ("one letter", repeated("d")),
        ("secrets", repeated(&format!("{} ", secrets[3].1))),
    ] {
        let start = Instant::now();
        let redacted = all.redact_text(&text);
        let time = start.elapsed();
        println!("{what}: {} bytes in {time:?}", text.len());
        assert_eq!(matches!(redacted, Cow::Owned(_)), what == "secrets");
        // Far above what it takes, far below what anything quadratic takes.
        assert!(time < Duration::from_mins(1), "{what}: {time:?}");
    }
}
