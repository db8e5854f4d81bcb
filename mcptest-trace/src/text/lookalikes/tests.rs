use super::*;

/// The texts told apart, then the notes.
fn escape_all<const N: usize>(texts: [&str; N]) -> Vec<String> {
    let mut texts = texts.map(str::to_owned);
    let notes = escape_lookalikes(texts.iter_mut().collect());
    texts.into_iter().chain(notes).collect()
}

fn unchanged(text: &str) {
    assert_eq!(escape_all([text]), [text]);
}

#[test]
fn names_that_look_the_same_are_spelt_where_they_stand() {
    assert_eq!(
        escape_all([
            "`Z\u{fc}rich` must come before `u`, but is never called",
            "calls: 0 Zu\u{308}rich, 1 u"
        ]),
        [
            r"`Z\u{fc}rich` must come before `u`, but is never called",
            r"calls: 0 Zu\u{308}rich, 1 u",
            r"`Z\u{fc}rich` and `Zu\u{308}rich` look the same, but they differ in Unicode normalisation",
        ]
    );
    assert_eq!(
        escape_all([
            "`tool_calls[0].args` has no `paypal`: it has `p\u{430}ypal`",
            "did you mean `tool_calls[0].args.p\u{430}ypal`?"
        ]),
        [
            r"`tool_calls[0].args` has no `paypal`: it has `p\u{430}ypal`",
            r"did you mean `tool_calls[0].args.p\u{430}ypal`?",
            r"`paypal` and `p\u{430}ypal` look the same, but they differ in look-alike characters",
        ]
    );
    assert_eq!(
        escape_all(["`\u{2764}it`, `\u{2764}\u{fe0f}it`"])[1],
        r"`\u{2764}it` and `\u{2764}\u{fe0f}it` look the same, but they differ in invisible characters"
            .replace(r"`\u{2764}it`", "`\u{2764}it`")
            .replace(r"`\u{2764}\u{fe0f}it`", "`\u{2764}\\u{fe0f}it`"),
    );
}

#[test]
fn words_of_patterns_and_of_longer_texts_are_told() {
    assert_eq!(
        escape_all(["\"Zu\u{308}rich\" does not match \"^Z\u{fc}rich$\""])[0],
        r#""Zu\u{308}rich" does not match "^Z\u{fc}rich$""#
    );
    assert_eq!(
        escape_all(["to contain \"A-1\", found \"say A\u{2011}1 now\""])[0],
        r#"to contain "A-1", found "say A\u{2011}1 now""#
    );
    assert_eq!(
        escape_all(["to be \u{fb01}le", "file"])[..2],
        [r"to be \u{fb01}le", "file"]
    );
}

#[test]
fn whole_values_without_a_word_are_told() {
    for (one, other) in [
        ("e", "\u{435}"),
        ("-1", "\u{2212}1"),
        ("'", "\u{2019}"),
        ("...", "\u{2026}"),
        ("a:b", "a\u{a789}b"),
    ] {
        let told = escape_all([&format!("expected \"{one}\", recorded \"{other}\"")]);
        let escaped = escape_non_ascii(other.chars().find(|it| !it.is_ascii()).unwrap());
        assert!(told[0].contains(&escaped), "{told:?}");
        assert!(told[1].contains("look-alike characters"), "{told:?}");
    }
}

#[test]
fn a_command_that_can_be_copied_stays_by_either_name() {
    for name in ["cargo mcptest", "mcptest-harness"] {
        let command = format!("`{name} test --exact Zu\u{308}rich`");
        let told = escape_all(["`Z\u{fc}rich` and `Zu\u{308}rich`", &command]);
        assert_eq!(told[1], command);
        assert!(told[0].contains(r"\u{fc}"), "{told:?}");
    }
}

#[test]
fn names_of_one_letter_are_told() {
    assert_eq!(
        escape_all(["`\u{c5}` must come before `u`", "calls: 0 \u{212b}, 1 u"])[..2],
        [r"`\u{c5}` must come before `u`", r"calls: 0 \u{212b}, 1 u"]
    );
}

#[test]
fn only_what_differs_is_spelt() {
    assert_eq!(
        escape_all(["`\u{43f}\u{430}\u{439}`, `\u{43f}\u{430}\u{438}\u{306}`"])[0],
        "`\u{43f}\u{430}\\u{439}`, `\u{43f}\u{430}\\u{438}\\u{306}`"
    );
    // The same characters in another order.
    assert_eq!(
        escape_all(["`ae\u{323}\u{302}`, `ae\u{302}\u{323}`"])[0],
        r"`ae\u{323}\u{302}`, `ae\u{302}\u{323}`"
    );
    assert_eq!(
        escape_all(["`\u{430}a`, `a\u{430}`"])[0],
        r"`\u{430}a`, `a\u{430}`"
    );
}

#[test]
fn what_is_said_already_is_not_said_again() {
    let said = "expected \"paypal\", recorded \"p\u{430}ypal\"; the only difference is look-alike characters: expected `paypal`, recorded `p\\u{430}ypal`";
    assert_eq!(escape_all([said]).len(), 1);
}

#[test]
fn many_words_are_counted() {
    let words = ["\u{e9}a", "\u{e9}b", "\u{e9}c"];
    let nfd = words.map(|word| word.replace('\u{e9}', "e\u{301}"));
    let told = escape_all([&words.join(" "), &nfd.join(" ")]);
    assert_eq!(
        told[2..],
        [
            r"`\u{e9}a` and `e\u{301}a` look the same, but they differ in Unicode normalisation; so do 2 more pairs"
        ]
    );
}

#[test]
fn texts_that_can_be_told_apart_stay_as_they_are() {
    unchanged("expected \"a b\", recorded \"a\\u{a0}b\"");
    unchanged("gr\u{f6}\u{df}e, gr\u{f6}\u{df}e, grosse");
    // One letter of a sentence is a word of its language.
    unchanged(
        "found a text: \"\u{41c}\u{43e}\u{441}\u{43a}\u{432}\u{430}, \u{430} \u{43d}\u{435} \u{41a}\u{438}\u{435}\u{432}\", and a `c`",
    );
    // A mark of a cut is no part of what was cut.
    unchanged("\u{2026}abc\u{2026} abc \u{2026}");
    unchanged("");
}

#[test]
fn a_command_can_be_copied() {
    let command = "run `cargo mcptest test --exact Z\u{fc}rich`";
    let told = escape_all([command, "`Z\u{fc}rich`, `Zu\u{308}rich`"]);
    assert_eq!(told[..2], [command, r"`Z\u{fc}rich`, `Zu\u{308}rich`"]);
}

#[test]
fn an_underline_stays_below_its_words() {
    let lines = "| paid with p\u{430}ypal\n| ^^^^\n";
    let shown = escape_all([&format!("{lines}call 0: p\u{430}ypal"), "`paypal`"]);
    assert_eq!(shown[0], format!("{lines}call 0: p\\u{{430}}ypal"));
    let alone = [lines, "`paypal`"];
    assert_eq!(escape_all(alone), alone);
}

#[test]
fn telling_apart_twice_changes_nothing_more() {
    let mut text = "`paypal`, `p\u{430}ypal`, \"\u{435}\", \"e\"".to_owned();
    assert_eq!(escape_lookalikes(vec![&mut text]).len(), 1);
    let once = text.clone();
    assert_eq!(escape_lookalikes(vec![&mut text]), Vec::<String>::new());
    assert_eq!(text, once);
}

#[test]
fn two_texts_that_look_the_same_as_a_whole_are_spelt() {
    let both = |one: &str, other: &str| {
        let [mut one, mut other] = [one, other].map(str::to_owned);
        let note = escape_lookalike_pair([&mut one, &mut other]);
        (one, other, note)
    };
    let (one, other, note) = both("pay \u{2212}1 \u{2192}", "pay -1 \u{2192}");
    assert_eq!(one, "pay \\u{2212}1 \u{2192}");
    assert_eq!(other, "pay -1 \u{2192}");
    assert_eq!(
        note.unwrap(),
        r"`\u{2212}1` and `-1` look the same, but they differ in look-alike characters"
    );
    assert_eq!(both("a", "b").2, None);
    assert_eq!(both("a", "a").2, None);
}

proptest::proptest! {
    #[test]
    fn two_values_never_look_the_same(
        one in "[aа eе\\-‑ü\u{308}u…\\.'’1cс\u{fe0f}❤Åﬁfi]{0,8}",
        other in "[aа eе\\-‑ü\u{308}u…\\.'’1cс\u{fe0f}❤Åﬁfi]{0,8}",
        swapped in 0..8_usize,
    ) {
        // Often a text with one character that looks like another.
        let alike: String = one
            .chars()
            .enumerate()
            .map(|(at, it)| match it {
                'a' if at <= swapped => 'а',
                'e' if at >= swapped => 'е',
                '-' => '‑',
                other => other,
            })
            .collect();
        for other in [other, alike] {
            if one == other {
                continue;
            }
            let mut texts = [
                format!("expected `{one}`, recorded `{other}`"),
                format!("calls: 0 {other}, 1 {one}"),
            ];
            let notes = escape_lookalikes(texts.iter_mut().collect());
            let shown: Vec<String> = texts[0].split('`').map(visible_skeleton).collect();
            proptest::prop_assert_ne!(&shown[1], &shown[3], "{:?}", texts);
            if visible_skeleton(&one) == visible_skeleton(&other) {
                proptest::prop_assert!(!notes.is_empty());
            }
            let before = texts.clone();
            proptest::prop_assert!(escape_lookalikes(texts.iter_mut().collect()).is_empty());
            proptest::prop_assert_eq!(before, texts);
        }
    }
}
