//! The months in English, for whoever reads dates in words.

/// Their names.
const NAMES: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The month, from 1, of its name, of the first three letters of it, or of `sept`.
pub(super) fn parse_month(word: &str) -> Option<usize> {
    let is_short = word.len() == 3 || word.eq_ignore_ascii_case("sept");
    let fits = |name: &&str| {
        let name = if is_short {
            &name[..word.len().min(name.len())]
        } else {
            name
        };
        name.eq_ignore_ascii_case(word)
    };
    NAMES.iter().position(fits).map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::parse_month;

    #[test]
    fn a_month_is_named_in_full_or_by_its_first_letters() {
        for (word, month) in [
            ("May", 5),
            ("sept", 9),
            ("SEP", 9),
            ("september", 9),
            ("dec", 12),
        ] {
            assert_eq!(parse_month(word), Some(month), "{word}");
        }
        for word in ["", "ma", "mayo", "dece", "juneteenth", "mär"] {
            assert_eq!(parse_month(word), None, "{word}");
        }
    }
}
