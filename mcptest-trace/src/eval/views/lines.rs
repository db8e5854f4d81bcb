//! What a line break cuts in two.

use super::{Encoding, View};

/// The longest half.
const LONGEST: usize = 80;

/// Joins the last word of each line with the first word of the next. Each pair is a line of the view.
pub(super) fn join_lines(text: &str) -> Option<View> {
    let (mut decoded, mut places) = (Vec::new(), Vec::new());
    for (at, _) in text.match_indices('\n') {
        let (before, behind) = (
            text[..at].trim_end_matches([' ', '\t', '\r']),
            &text[at + 1..],
        );
        let from = behind.len() - behind.trim_start_matches([' ', '\t']).len();
        let length = |half: &mut dyn Iterator<Item = char>| {
            let signs = half.take_while(|sign| !sign.is_whitespace());
            signs.take(LONGEST + 1).map(char::len_utf8).sum::<usize>()
        };
        let tail = length(&mut before.chars().rev());
        let head = length(&mut behind[from..].chars());
        let halves = [
            before.len() - tail..before.len(),
            at + 1 + from..at + 1 + from + head,
        ];
        let tells = |sign: char| sign.is_ascii_digit() || "@./:=%".contains(sign);
        let is_value = halves.iter().any(|half| text[half.clone()].contains(tells));
        if !is_value
            || [tail, head]
                .iter()
                .any(|half| !(1..=LONGEST).contains(half))
        {
            continue;
        }
        for half in halves {
            decoded.extend_from_slice(&text.as_bytes()[half.clone()]);
            places.extend(half.map(|at| at..at + 1));
        }
        decoded.push(b'\n');
        places.push(at..at + 1);
    }
    (!decoded.is_empty()).then(|| View::from_bytes(Encoding::Lines, decoded, places))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_halves_at_a_line_break_are_one() {
        let text = "see W347 \r\n  0184 now\nor eve@\nevil.example";
        let view = join_lines(text).unwrap();
        assert_eq!(view.text, "W3470184\neve@evil.example\n");
        assert_eq!(&text[view.outer_span(0..8)], "W347 \r\n  0184");
        assert_eq!(join_lines("no\nvalue"), None);
    }

    proptest::proptest! {
        #[test]
        fn every_pair_has_a_place(text in "(\n|\r|\t| |é|1|a|@){0,30}") {
            if let Some(view) = join_lines(&text) {
                proptest::prop_assert!(text.get(view.outer_span(0..view.text.len())).is_some());
            }
        }
    }
}
