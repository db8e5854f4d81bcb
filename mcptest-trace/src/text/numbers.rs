//! Numbers as people read them.

/// The numbers of runs, from 1, of their places; a long list is cut.
#[must_use]
pub fn run_numbers(places: &[usize]) -> String {
    const SHOWN: usize = 20;
    let shown = places
        .iter()
        .take(SHOWN)
        .map(|place| (place + 1).to_string());
    let shown = shown.collect::<Vec<_>>().join(", ");
    match places.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// A count with a separator every three digits.
#[must_use]
pub fn with_thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// An amount of dollars: cents where it is a dollar or more, else four decimals, and more where two digits that
/// say something need them.
#[must_use]
pub fn format_dollars(amount: f64) -> String {
    if amount >= 1.0 {
        return format!("{amount:.2}");
    }
    let (mut decimals, mut scale) = (4, 1e4);
    while amount > 0.0 && amount * scale < 10.0 && decimals < 12 {
        (decimals, scale) = (decimals + 1, scale * 10.0);
    }
    format!("{amount:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_of_runs_is_cut() {
        assert_eq!(run_numbers(&[0, 2]), "1, 3");
        let all: Vec<usize> = (0..5_000).collect();
        assert!(run_numbers(&all).ends_with("19, 20 and 4980 more"));
    }

    #[test]
    fn dollars_are_as_exact_as_they_are_small() {
        let shown = [
            0.0,
            0.0031,
            0.25,
            0.999_96,
            1.0,
            12.345,
            0.000_314,
            0.000_031_4,
            1e-15,
        ]
        .map(format_dollars);
        let expected = [
            "0.0000",
            "0.0031",
            "0.2500",
            "1.0000",
            "1.00",
            "12.35",
            "0.00031",
            "0.000031",
            "0.000000000000",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn counts_are_grouped() {
        let shown: Vec<_> = [0, 999, 1000, 1_234_567]
            .into_iter()
            .map(with_thousands)
            .collect();
        assert_eq!(shown, ["0", "999", "1,000", "1,234,567"]);
    }
}
