//! Names of cases and stems of cassette files.
//!
//! A case name is a Rust path: `<suite path>::<agent>[::<model>][::<gate>]`. Every segment is an
//! identifier, so the runner can print the same names that `#[mcptest::suite]` makes functions of.
//! Names depend on nothing but the files.

use std::fmt;
use std::path::Path;

use unicode_normalization::UnicodeNormalization as _;

use crate::model::GateKind;

/// Words that no function or module can be named, in any edition.
const KEYWORDS: [&str; 53] = [
    "_", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue",
    "crate", "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if",
    "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub",
    "ref", "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "union", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// The segment of a case that lists what is recognised but not run here.
pub const UNSUPPORTED: &str = "unsupported";

/// The segment of the case that stands for a suite that does not load.
pub const LOAD: &str = "load";

/// The segment of the cases that compare runs with those of a baseline.
pub const REGRESSION: &str = "regression";

/// One segment of a case name made from free text: NFC, lower case, each run of characters that an
/// identifier cannot hold turned into one `_` (none at the ends), `_` before a leading digit, `_`
/// after a keyword. `None` when nothing is left.
///
/// ```
/// use mcptest_suite::segment;
///
/// assert_eq!(segment("Refund agent: asks first!").as_deref(), Some("refund_agent_asks_first"));
/// assert_eq!(segment("4 eyes").as_deref(), Some("_4_eyes"));
/// assert_eq!(segment("Match").as_deref(), Some("match_"));
/// assert_eq!(segment("Prüfung 🚀").as_deref(), Some("prüfung"));
/// assert_eq!(segment("🚀"), None);
/// ```
#[must_use]
pub fn segment(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut gap = false;
    let composed = if text.is_ascii() {
        text.to_ascii_lowercase()
    } else {
        let lower = text.nfc().collect::<String>().to_lowercase();
        lower.nfc().collect()
    };
    for character in composed.chars() {
        if unicode_ident::is_xid_continue(character) {
            if gap && !out.is_empty() {
                out.push('_');
            }
            gap = false;
            out.push(character);
        } else {
            gap = true;
        }
    }
    let first = out.chars().next()?;
    if !unicode_ident::is_xid_start(first) && first != '_' {
        out.insert(0, '_');
    }
    if KEYWORDS.contains(&out.as_str()) || out == "macro_rules" {
        out.push('_');
    }
    Some(out)
}

/// Whether a segment may not name an agent, a model or a check, because the harness names its own
/// cases so.
#[must_use]
pub fn is_reserved(segment: &str) -> bool {
    segment == UNSUPPORTED
        || segment == LOAD
        || segment == REGRESSION
        || GateKind::ALL.iter().any(|kind| kind.name() == segment)
}

/// The part of a cassette's file stem that stands for a name: ASCII letters, digits, `-` and `_`
/// as they are, every other character one `_`.
///
/// ```
/// assert_eq!(mcptest_suite::cassette_slug("Refund agent: ü"), "Refund_agent___");
/// ```
#[must_use]
pub fn cassette_slug(text: &str) -> String {
    mcptest_trace::text::slug(text)
}

/// The suite's part of its case names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SuitePath(String);

impl SuitePath {
    /// The name of a suite file, from its path relative to the root it was found in.
    ///
    /// # Errors
    ///
    /// No identifier can be made of a part of the path.
    ///
    /// ```
    /// use mcptest_suite::SuitePath;
    ///
    /// let path = SuitePath::from_path("shop/Check out.yml".as_ref())?;
    /// assert_eq!(path.as_str(), "shop::check_out");
    /// # Ok::<(), mcptest_suite::SuitePathError>(())
    /// ```
    pub fn from_path(relative: &Path) -> Result<Self, SuitePathError> {
        let stem = relative.with_extension("");
        let segments = stem.iter().map(|part| {
            let part = part.to_string_lossy();
            segment(&part).ok_or_else(|| SuitePathError {
                part: part.into_owned(),
            })
        });
        Ok(Self(segments.collect::<Result<Vec<_>, _>>()?.join("::")))
    }

    /// The segments joined by `::`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a case of this suite can have the given full name.
    #[must_use]
    pub fn may_contain(&self, case: &str) -> bool {
        case.strip_prefix(&self.0)
            .is_some_and(|rest| rest.starts_with("::"))
    }
}

/// No identifier can be made of a part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SuitePathError {
    /// The part.
    pub part: String,
}

impl fmt::Display for SuitePathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no identifier can be made of `{}`", self.part)
    }
}

impl std::error::Error for SuitePathError {}

impl fmt::Display for SuitePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_join_and_vanish_at_the_ends() {
        assert_eq!(segment("  a -- b ").as_deref(), Some("a_b"));
        assert_eq!(segment("a_b").as_deref(), Some("a_b"));
        assert_eq!(segment("!!!"), None);
        assert_eq!(segment(""), None);
    }

    #[test]
    fn composed_and_decomposed_spellings_are_one_name() {
        assert_eq!(segment("Cafe\u{301}"), segment("Café"));
        assert_eq!(segment("Cafe\u{301}").as_deref(), Some("café"));
    }

    #[test]
    fn keywords_and_the_lone_underscore_get_an_underscore() {
        for (text, name) in [
            ("self", "self_"),
            ("Crate", "crate_"),
            ("gen", "gen_"),
            ("_", "__"),
        ] {
            assert_eq!(segment(text).as_deref(), Some(name));
        }
    }

    #[test]
    fn a_combining_mark_cannot_lead() {
        assert_eq!(segment("\u{301}a").as_deref(), Some("_\u{301}a"));
    }

    #[test]
    fn every_segment_is_stable_under_naming_it_again() {
        for text in [
            "Refund agent: asks first!",
            "match",
            "4x",
            "Straße",
            "ǅ",
            "_",
            "a__b",
        ] {
            let once = segment(text).unwrap();
            assert_eq!(segment(&once).as_deref(), Some(once.as_str()), "{text}");
        }
    }

    #[test]
    fn a_suite_path_may_hold_only_what_lies_below_it() {
        let path = SuitePath::from_path("shop/a.yml".as_ref()).unwrap();
        assert!(path.may_contain("shop::a::agent"));
        assert!(!path.may_contain("shop::ab::agent"));
        assert!(!path.may_contain("shop::a"));
    }

    #[test]
    fn a_path_without_a_name_is_refused() {
        let refused = SuitePath::from_path("a/🚀.yml".as_ref()).unwrap_err();
        assert_eq!(refused.part, "🚀");
    }
}
