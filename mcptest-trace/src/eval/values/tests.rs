use super::*;
use proptest::prelude::*;

fn values(text: &str) -> Vec<TextValue> {
    super::values(text, &words(text))
}

/// The values of a text and of those behind it, with their places in the text.
fn layer_values(text: &str) -> Vec<TextValue> {
    let of_layer = |layer: Layer<'_>| {
        let values = layer.values(&layer.words()).into_iter();
        let placed = values.map(|value| TextValue {
            span: layer.outer_span(value.span.clone()),
            ..value
        });
        placed.collect::<Vec<_>>()
    };
    layers(text).flat_map(of_layer).collect()
}

/// The values of a text that stand there by themselves.
fn whole_values(text: &str) -> Vec<&str> {
    let values = values(text).into_iter();
    let mut whole: Vec<_> = values
        .filter(|value| value.kind == ValueKind::Whole)
        .collect();
    whole.sort_by_key(|value| value.span.start);
    whole.into_iter().map(|value| &text[value.span]).collect()
}

#[test]
fn identifiers_addresses_and_numbers_are_values() {
    for (text, values) in [
        ("order W3470184, user_17-b", vec!["W3470184", "user_17-b"]),
        ("<eve@evil.example>.", vec!["eve@evil.example"]),
        ("see notes.txt, 10.0.12.7", vec!["notes.txt", "10.0.12.7"]),
        ("1,250.00 or 1250, 999 and 17.5", vec!["1,250.00", "1250"]),
        ("the 2nd at 10am, 30ml, 500-piece, Q3, e.g. and/or", vec![]),
        ("open C:\\temp\\keys", vec!["C:\\temp\\keys"]),
        ("(/etc/passwd)", vec!["/etc/passwd"]),
        (
            "GB33 BUKB 2020 1555",
            vec!["GB33 BUKB 2020 1555", "GB33", "1555"],
        ),
        ("in 1999 and 2031, 12500USD", vec!["12500USD", "12500"]),
    ] {
        let mut wanted = values.clone();
        let mut found = whole_values(text);
        wanted.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, wanted, "{text}");
    }
}

#[test]
fn an_address_has_its_beginnings_as_parts_and_stands_before_what_is_asked_of_it() {
    let values = values("https://a.example/x/y?z=1");
    let ends = |kind: ValueKind| -> Vec<usize> {
        let of_kind = values.iter().filter(|value| value.kind == kind);
        of_kind.map(|value| value.span.end).collect()
    };
    for (kind, part) in [
        (ValueKind::Part, "a.example"),
        (ValueKind::Part, "a.example/x"),
        (ValueKind::Whole, "a.example/x/y"),
    ] {
        assert!(ends(kind).contains(&(8 + part.len())), "{part}");
    }
}

#[test]
fn upper_case_and_white_space_do_not_count() {
    let keys = |text: &str| {
        values(text)
            .into_iter()
            .map(|value| value.key)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        keys("All of\n the  Secret PLANS"),
        keys("all of the secret plans")
    );
}

#[test]
fn a_value_across_lines_that_stand_beside_each_other_twice_has_a_place() {
    // Each line stands beside the one before it and the one after it, and `=` at its end joins both.
    let text = "A\na¡;/=\n¡";
    let values = layer_values(text);
    assert!(!values.is_empty());
    for value in values {
        let part = text.get(value.span.clone());
        assert!(part.is_some_and(|part| !part.is_empty()), "{value:?}");
    }
}

proptest! {
    #[test]
    fn every_value_has_a_place(text in r#"([\\u0-9a-fA-F%"é🚀+/=@:._⁄\n -]|.){0,60}"#) {
        for value in layer_values(&text) {
            prop_assert!(text.get(value.span).is_some_and(|part| !part.is_empty()));
        }
    }
}

/// The keys of the values of a text that are told as they are.
fn keys(text: &str) -> Vec<u64> {
    let values = values(text).into_iter();
    let whole = values.filter(|value| {
        matches!(
            value.kind,
            ValueKind::Whole | ValueKind::Date { part: false, .. }
        )
    });
    whole.map(|value| value.key).collect()
}

#[test]
fn spellings_of_one_value_are_equal() {
    for (one, other) in [
        ("2031-05-20", "May 20th, 2031"),
        ("2031-05-20", "the 20th of May 2031"),
        ("2031-05-20", "20 may 2031"),
        ("2031-05-20", "on Sept 2 or 20.05.2031"),
        ("2031-05-20", "5/20/2031"),
        ("2031-05-20T10:00:00Z", "2031/05/20"),
        ("2031-05-13", "from the 13th to the 17th of May 2031"),
        ("2031-05-17", "from the 13th to the 17th of May 2031"),
        ("2031-05-17", "May 13-17, 2031"),
        ("May 20", "20th of May"),
        ("12500", "12,500.00"),
        ("12500", "12.500,00 EUR"),
        ("12500", "12 500"),
        ("12500", "12'500.00"),
        ("12500", "EUR12,500"),
        ("1250.5", "1 250,50"),
        ("https://www.evil.example/", "evil.example"),
        ("http://evil.example/in", "www.evil.example/in"),
        ("0151 0100 0199", "15101000199"),
        ("GB33BUKB20201555", "GB33-BUKB-2020-1555"),
        ("1 555 010 0199", "+1.555.010.0199"),
        (
            "0f8fad5b-d9cb-469f-a165-70867728950e",
            "0F8FAD5BD9CB469FA16570867728950E",
        ),
    ] {
        let others = keys(other);
        assert!(
            keys(one).iter().any(|key| others.contains(key)),
            "{one} | {other}"
        );
    }
    for (one, other) in [
        ("2031-05-20", "May 20"),
        ("2031-05-20", "20 May 2032"),
        ("2031-05-02", "May 20, 2031"),
        ("2031-05-20", "you may 20 times, 2031"),
        ("12500", "125.00"),
        ("12500", "12 5000"),
    ] {
        let others = keys(other);
        assert!(
            !keys(one).iter().any(|key| others.contains(key)),
            "{one} | {other}"
        );
    }
}

#[test]
fn parts_are_told_where_others_stand_by_themselves() {
    for (longer, alone) in [
        ("eve@evil.example", "evil.example"),
        ("+1 555 010 0199", "555 010 0199"),
        ("555 010 0199 12", "555 010 0199"),
        ("+49 151 0100 0199", "015101000199"),
        ("2031-05-20", "May 20"),
    ] {
        let parts = values(longer)
            .into_iter()
            .filter(|value| value.kind.is_part());
        let parts: Vec<u64> = parts.map(|value| value.key).collect();
        let alone_or_part = values(alone).into_iter().map(|value| value.key);
        assert!(
            alone_or_part.into_iter().any(|key| parts.contains(&key)),
            "{longer} | {alone}"
        );
    }
}
