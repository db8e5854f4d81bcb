//! What holds of every name, path and text, whatever it is.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::Path;
use std::sync::LazyLock;

use mcptest_suite::model::{Segment, Suite, Target};
use mcptest_suite::{Source, Span, Style, SuitePath, cassette_slug, is_reserved, segment};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use unicode_normalization::is_nfc;

/// Words that `rustc` refuses as the name of a function or module in some edition.
const STRICT_KEYWORDS: &str = "as break const continue crate else enum extern false fn for if impl \
    in let loop match mod move mut pub ref return self Self static struct super trait true type \
    unsafe use where while async await dyn abstract become box do final macro override priv typeof \
    unsized virtual yield try gen _";

fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    let starts = characters
        .next()
        .is_some_and(|first| first == '_' || unicode_ident::is_xid_start(first));
    starts
        && characters.all(unicode_ident::is_xid_continue)
        && !STRICT_KEYWORDS.split_whitespace().any(|word| word == name)
}

/// Free text with many of the characters that names are made difficult by.
fn name() -> impl Strategy<Value = String> {
    let tricky = select(vec![
        "a",
        "B",
        "7",
        "_",
        " ",
        "-",
        "::",
        "é",
        "e\u{301}",
        "\u{301}",
        "İ",
        "ß",
        "Σ",
        "ǅ",
        "天",
        "\u{1b}",
        "\u{202e}",
        "\n",
        "🚀",
        "\u{200d}",
        "·",
        "self",
        "Fn",
        "\u{1100}\u{1161}",
        "ﬁ",
    ]);
    prop_oneof![
        any::<String>(),
        vec(tricky, 0..8).prop_map(|parts| parts.concat()),
        select(STRICT_KEYWORDS.split_whitespace().collect::<Vec<_>>()).prop_map(str::to_owned),
    ]
}

/// The suites in `tests/accepted/`.
static GOOD: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/accepted");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect()
});

/// Loads a text, and draws what is wrong with it in every style.
fn load(text: &str) -> Result<(), String> {
    let source = Source::new("a.yml", "suites/a.yml", text);
    match Suite::parse(source) {
        Ok(suite) => {
            for case in suite.cases() {
                let identifiers = case.name.split("::").all(is_identifier);
                if !identifiers {
                    return Err(format!("`{}` is no path", case.name));
                }
            }
            Ok(())
        }
        Err(error) => {
            for style in [Style::Plain, Style::Colour, Style::Unicode] {
                let drawn = error.render(style);
                if style != Style::Colour && drawn.chars().any(|c| c.is_control() && c != '\n') {
                    return Err(format!("control characters in {drawn:?}"));
                }
            }
            Ok(())
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_segment_is_an_identifier_in_one_spelling(text in name()) {
        if let Some(once) = segment(&text) {
            prop_assert!(is_identifier(&once), "{once:?}");
            prop_assert!(is_nfc(&once), "{once:?}");
            prop_assert_eq!(segment(&once), Some(once.clone()));
            // What is told apart is told apart by more than case.
            prop_assert_eq!(segment(&text.to_lowercase()), Some(once));
        }
    }

    #[test]
    fn a_suite_path_is_made_of_segments(parts in vec("[a-zA-Z0-9 _.é-]{1,8}", 1..4)) {
        let path = format!("{}.yml", parts.join("/"));
        if let Ok(path) = SuitePath::from_path(path.as_ref()) {
            prop_assert!(path.as_str().split("::").all(is_identifier), "{path}");
            let inner = format!("{path}::x");
            prop_assert!(path.may_contain(&inner));
        }
    }

    #[test]
    fn a_cassette_stem_is_a_plain_file_name(text in name()) {
        let slug = cassette_slug(&text);
        prop_assert_eq!(slug.chars().count(), text.chars().count());
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        prop_assert!(slug.chars().all(plain));
    }

    #[test]
    fn a_reserved_name_is_an_identifier_already(text in name()) {
        if is_reserved(&text) {
            prop_assert_eq!(segment(&text), Some(text));
        }
    }

    #[test]
    fn a_path_that_is_written_out_reads_as_the_same_path(segments in vec(path_segment(), 1..6)) {
        // A path begins with a key.
        let first = Segment::Key("root".to_owned());
        let segments: Vec<_> = std::iter::once(first).chain(segments).collect();
        let end = segments.len();
        let mut target = Target::parse("root", Span::default()).unwrap();
        target.segments = segments;
        let written = target.prefix(end);
        let read = Target::parse(&written, Span::default());
        prop_assert_eq!(read.map(|target| target.segments), Ok(target.segments), "{}", written);
    }

    #[test]
    fn any_text_is_a_path_or_is_refused_inside_it(text in any::<String>()) {
        match Target::parse(&text, Span::default()) {
            Ok(target) => {
                let written = target.prefix(target.segments.len());
                let again = Target::parse(&written, Span::default());
                prop_assert_eq!(again.map(|target| target.segments), Ok(target.segments));
            }
            Err(error) => {
                prop_assert!(error.at <= text.len() && text.is_char_boundary(error.at));
            }
        }
    }
}

fn path_segment() -> impl Strategy<Value = Segment> {
    prop_oneof![
        any::<String>().prop_map(Segment::Key),
        "[a-z_]{1,6}".prop_map(Segment::Key),
        any::<i64>().prop_map(Segment::Index),
        Just(Segment::Every),
    ]
}

/// What a slip of the hand, or malice, puts into a suite.
fn insertion() -> impl Strategy<Value = String> {
    let slips = vec![
        "\t",
        "\n",
        "  ",
        ": ",
        "- ",
        "[",
        "]",
        "{",
        "}",
        "&a ",
        "*a",
        "'",
        "\"",
        "#",
        "null",
        "-1",
        "1e999",
        "true",
        "~",
        "${",
        "${x}",
        "\u{feff}",
        "\u{1b}",
        "\0",
        "\r",
        "🚀",
        "<<: ",
        "? ",
        "!!int ",
        "|\n",
        "---\n",
        "%",
        "\\",
        ",",
        "0x",
        "$ref: '#'\n",
    ];
    prop_oneof![
        4 => select(slips).prop_map(str::to_owned),
        1 => ".{0,6}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_text_is_a_suite_or_is_refused(text in any::<String>()) {
        prop_assert_eq!(load(&text), Ok(()));
    }

    #[test]
    fn any_yaml_like_text_is_a_suite_or_is_refused(parts in vec(insertion(), 0..24)) {
        prop_assert_eq!(load(&parts.concat()), Ok(()));
    }

    #[test]
    fn a_good_suite_with_slips_is_a_suite_or_is_refused(
        which in any::<Index>(),
        slips in vec((any::<Index>(), 0_usize..12, insertion()), 1..4),
    ) {
        let mut text: Vec<char> = which.get(&GOOD).chars().collect();
        for (at, removed, inserted) in slips {
            let at = at.index(text.len() + 1);
            let end = (at + removed).min(text.len());
            text.splice(at..end, inserted.chars());
        }
        let text: String = text.into_iter().collect();
        prop_assert_eq!(load(&text), Ok(()));
    }

    #[test]
    fn a_good_suite_with_values_swapped_is_a_suite_or_is_refused(
        which in any::<Index>(),
        lines in vec((any::<Index>(), any::<Index>()), 1..4),
    ) {
        let mut text: Vec<String> = which.get(&GOOD).lines().map(str::to_owned).collect();
        for (left, right) in lines {
            // The value of one line below the key of another.
            let (left, right) = (left.index(text.len()), right.index(text.len()));
            let value = text[right].split_once(": ").map(|(_, value)| value.to_owned());
            if let (Some((key, _)), Some(value)) = (text[left].split_once(": "), value) {
                text[left] = format!("{key}: {value}");
            }
        }
        prop_assert_eq!(load(&text.join("\n")), Ok(()));
    }
}
