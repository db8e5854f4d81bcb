//! Regular expressions that match every text.
//!
//! A search looks for a match anywhere, so an expression that matches the empty text without asking
//! where it stands (`x*`, `(a|)`) is found in every text. So is one that asks for the beginning or
//! for the end alone, which every text has (`^`, `.*$`), or for both with anything between.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// Whether a pattern is found in every text.
pub(super) fn matches_every_text(pattern: &str) -> bool {
    let Ok(pattern) = regex_syntax::parse(pattern) else {
        return false;
    };
    let begins = |look| matches!(look, Look::Start | Look::StartLF | Look::StartCRLF);
    let ends = |look| matches!(look, Look::End | Look::EndLF | Look::EndCRLF);
    alternatives(&pattern).iter().any(|pattern| {
        is_found_empty(pattern, &begins) || is_found_empty(pattern, &ends) || spans_any(pattern)
    })
}

fn alternatives(pattern: &Hir) -> &[Hir] {
    match pattern.kind() {
        HirKind::Alternation(all) => all,
        HirKind::Capture(group) => alternatives(&group.sub),
        _ => std::slice::from_ref(pattern),
    }
}

/// Whether the empty text matches where the allowed places are given.
fn is_found_empty(pattern: &Hir, allowed: &impl Fn(Look) -> bool) -> bool {
    let empty = |pattern: &Hir| is_found_empty(pattern, allowed);
    match pattern.kind() {
        HirKind::Empty => true,
        HirKind::Literal(_) | HirKind::Class(_) => false,
        HirKind::Look(look) => allowed(*look),
        HirKind::Repetition(repeated) => repeated.min == 0 || empty(&repeated.sub),
        HirKind::Capture(group) => empty(&group.sub),
        HirKind::Concat(parts) => parts.iter().all(empty),
        HirKind::Alternation(all) => all.iter().any(empty),
    }
}

/// Whether it is any number of any characters from the beginning to the end.
fn spans_any(pattern: &Hir) -> bool {
    let HirKind::Concat(parts) = pattern.kind() else {
        return false;
    };
    let [begin, between @ .., end] = &parts[..] else {
        return false;
    };
    let looks = |part: &Hir, wanted| matches!(part.kind(), HirKind::Look(look) if *look == wanted);
    let bound = looks(begin, Look::Start) && looks(end, Look::End);
    bound && !between.is_empty() && between.iter().all(is_any_number_of_any)
}

fn is_any_number_of_any(pattern: &Hir) -> bool {
    match pattern.kind() {
        HirKind::Capture(group) => is_any_number_of_any(&group.sub),
        HirKind::Repetition(repeated) => {
            let any = |class: &Class| match class {
                Class::Unicode(class) => {
                    let ranges = class.ranges();
                    let all = |range: &regex_syntax::hir::ClassUnicodeRange| {
                        range.start() == '\0' && range.end() == char::MAX
                    };
                    ranges.iter().any(all)
                }
                Class::Bytes(_) => false,
            };
            let any = matches!(repeated.sub.kind(), HirKind::Class(class) if any(class));
            repeated.min == 0 && repeated.max.is_none() && any
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_found_in_every_text_is_told_from_what_is_not() {
        for pattern in [
            "",
            "x*",
            "x?",
            ".*",
            ".*?",
            "(a|)",
            "a|b*",
            "^",
            "$",
            "^.*",
            ".*$",
            "^x*",
            "x*$",
            "(?s)^.*$",
            "^[\\s\\S]*$",
            "(?m)^",
            "(?i)(refund)?",
            "(^|x)",
            "^$|x*",
            "(?:)",
        ] {
            assert!(matches_every_text(pattern), "{pattern}");
        }
        // `^.*$` is broken by a line break, and `^a?$` by most texts.
        for pattern in [
            "x", "x+", "x{2}", "^$", "^.*$", "^a?$", ".+", ".", "\\b", "^x", "a*b", "(?s).", "[",
            "^$|x", "\\B",
        ] {
            assert!(!matches_every_text(pattern), "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn it_is_never_said_of_one_that_some_text_does_not_match(
            pattern in "[ab^$|*?().\\[\\]sS\\\\]{0,8}",
            text in "[ab \n]{0,6}",
        ) {
            if let Ok(regex) = regex::Regex::new(&pattern)
                && matches_every_text(&pattern)
            {
                prop_assert!(regex.is_match(&text), "{pattern:?} in {text:?}");
            }
        }
    }
}
