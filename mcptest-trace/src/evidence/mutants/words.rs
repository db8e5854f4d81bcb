//! Words: of identifiers, and of claims.

use std::collections::BTreeSet;

use crate::trace::tool_name_words;

/// Verbs of change with their participles.
const PARTICIPLES: &str = "create=created update=updated delete=deleted remove=removed send=sent \
     write=written post=posted insert=inserted set=set put=put patch=patched publish=published \
     destroy=destroyed drop=dropped add=added edit=edited upload=uploaded merge=merged close=closed \
     cancel=cancelled approve=approved revoke=revoked";

/// A claim that this tool did its work; `None` where its first word is no verb of change.
pub(super) fn claim(tool: &str) -> Option<String> {
    let words = tool_name_words(tool);
    let (verb, rest) = words.split_first()?;
    let mut pairs = PARTICIPLES.split(' ').filter_map(|it| it.split_once('='));
    let (_, participle) = pairs.find(|(base, _)| base == verb)?;
    Some(if rest.is_empty() {
        format!(" I have {participle} it.")
    } else {
        format!(" I have {participle} the {}.", rest.join(" "))
    })
}

/// The identifiers of a text: words of ASCII letters, digits and `_`, four or longer, with a digit.
pub(super) fn identifiers(text: &str) -> BTreeSet<&str> {
    let part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    text.split(|character| !part(character))
        .filter(|word| word.len() >= 4 && word.bytes().any(|byte| byte.is_ascii_digit()))
        .collect()
}

/// Whether a text of the arguments is an identifier: no white space, and a digit.
pub(super) fn is_identifier(text: &str) -> bool {
    !text.chars().any(char::is_whitespace) && text.bytes().any(|byte| byte.is_ascii_digit())
}

/// The identifier after this one: its last letter or digit is the next, 9 → 0, z → a, Z → A.
pub(super) fn next_identifier(text: &str) -> String {
    let last = text.rfind(|character: char| character.is_ascii_alphanumeric());
    let Some(last) = last else {
        return text.to_owned();
    };
    let (head, tail) = text.split_at(last);
    let mut tail = tail.chars();
    let next = tail.next().map(|character| match character {
        '9' => '0',
        'z' => 'a',
        'Z' => 'A',
        other => char::from_u32(u32::from(other) + 1).unwrap_or(other),
    });
    head.chars().chain(next).chain(tail).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_next_identifiers_of_the_page() {
        for (text, next) in [
            ("OWZ4XL", "OWZ4XM"),
            ("2024-05-29", "2024-05-20"),
            ("gift_card_9823297", "gift_card_9823298"),
            ("W#9", "W#0"),
            ("1z", "1a"),
            ("1Z", "1A"),
            ("9é", "0é"),
        ] {
            assert_eq!(next_identifier(text), next);
        }
    }

    #[test]
    fn claims_are_made_of_verbs_of_change() {
        let said = |tool| claim(tool).unwrap_or_default();
        assert_eq!(
            said("update_reservation_passengers"),
            " I have updated the reservation passengers."
        );
        assert_eq!(said("sendMail"), " I have sent the mail.");
        assert_eq!(said("merge"), " I have merged it.");
        assert_eq!(claim("book_reservation"), None);
        assert_eq!(claim(""), None);
    }

    #[test]
    fn identifiers_have_four_signs_and_a_digit() {
        let text = r#"{"id":"HAT136","a":"abcd","n":[305,1990],"card":"credit_card_44"}"#;
        let found: Vec<_> = identifiers(text).into_iter().collect();
        assert_eq!(found, ["1990", "HAT136", "credit_card_44"]);
    }

    proptest! {
        #[test]
        fn an_identifier_changes_in_one_place(text in "[a-zA-Z0-9#_-]{1,12}[0-9][-#]{0,3}") {
            let next = next_identifier(&text);
            let differing = text.chars().zip(next.chars()).filter(|(a, b)| a != b).count();
            prop_assert_eq!((differing, next.len()), (1, text.len()));
        }
    }
}
