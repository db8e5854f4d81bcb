//! Which numbers of a JSON text a [`Value`](serde_json::Value) keeps.
//!
//! A whole number is kept when it fits 64 bits. A number with a fraction or an exponent is read as the
//! float nearest to it, and kept when that float, written with as many significant digits, is the
//! number again: two different numbers of one length are then two different floats, so that ids never
//! become equal. Beyond 18 digits, one more than tell any two floats apart, none is kept: they could
//! only be the spelling of a float in full.

/// The most significant digits of a number with a fraction or an exponent.
const MOST_DIGITS: usize = 18;

/// Numbers of so many significant digits are kept wherever floats are not subnormal.
const ALWAYS_KEPT: usize = 15;

/// Whether a number is kept as it is spelt in a JSON text.
pub(super) fn is_kept(literal: &str) -> bool {
    if is_whole(literal) {
        return literal.parse::<i64>().is_ok() || literal.parse::<u64>().is_ok();
    }
    let (Some(written), Ok(float)) = (Decimal::parse(literal), literal.parse::<f64>()) else {
        return false;
    };
    match written.digits.len() {
        0 => true,
        length if length > MOST_DIGITS => false,
        length => {
            float.is_finite()
                && Decimal::parse(&format!("{float:.*e}", length - 1)) == Some(written)
        }
    }
}

/// Whether a number has neither a fraction nor an exponent.
pub(super) fn is_whole(literal: &str) -> bool {
    let digits = literal.strip_prefix('-').unwrap_or(literal);
    digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a JSON text may have a number in it that is not kept though its value is an ordinary float:
/// a look at a fraction of the bytes. `tiny` says that a value of it is zero or subnormal.
pub(super) fn may_round(bytes: &[u8], tiny: bool) -> bool {
    let of_number = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let long = |at: &usize| {
        let (before, after) = bytes.split_at(*at);
        let run = before
            .iter()
            .rev()
            .take_while(|byte| of_number(byte))
            .count()
            + after.iter().take_while(|byte| of_number(byte)).count();
        run > ALWAYS_KEPT
    };
    let small = |window: &[u8]| matches!(window, [b'e' | b'E', b'-', digits @ ..] if digits.iter().all(u8::is_ascii_digit));
    let mut places = (0..bytes.len()).step_by(ALWAYS_KEPT + 1);
    places.any(|at| of_number(&bytes[at]) && long(&at)) || tiny && bytes.windows(5).any(small)
}

/// A number as its significant digits `d1 d2 …`, for 0.d1d2… times a power of ten.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    digits: String,
    power: i64,
}

impl Decimal {
    /// `None` where the exponent is beyond all numbers.
    fn parse(literal: &str) -> Option<Self> {
        let unsigned = literal.strip_prefix('-').unwrap_or(literal);
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        let significant = digits.trim_start_matches('0');
        let zeros = digits.len() - significant.len();
        let power = i64::try_from(whole.len()).ok()? - i64::try_from(zeros).ok()?;
        let digits = significant.trim_end_matches('0').to_owned();
        Some(Self {
            power: if digits.is_empty() {
                0
            } else {
                power.checked_add(exponent.parse().ok()?)?
            },
            digits,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_as_programs_write_them_are_kept() {
        for literal in [
            "0",
            "-0",
            "0.0",
            "0e0",
            "-0.0",
            "0.1",
            "1.10",
            "1e3",
            "1E+3",
            "1.5e-7",
            "0.30000000000000004",
            "3.14159265358979312",
            "2.718281828459045",
            "100.00000000000000000000000",
            "1e22",
            "1e23",
            "1.7976931348623157e308",
            "5e-324",
            "4.9e-324",
            "2.2250738585072014e-308",
            "1e300",
            "18446744073709551615",
            "-9223372036854775808",
            "1234567890123456.8",
            "0e99999999999999999999",
        ] {
            assert!(is_kept(literal), "{literal}");
        }
    }

    #[test]
    fn numbers_that_become_another_are_not() {
        for literal in [
            "18446744073709551616",
            "-9223372036854775809",
            "0.1000000000000000055511151231257827",
            "1e400",
            "-1e400",
            "1e-400",
            "1e-99999999999999999999",
            "9007199254740993.0",
            "9007199254740993e0",
            "12345678901234567890.0",
            "1234567890.1234567890",
            "0.12345678901234567890",
            "0.99999999999999999999",
            "6e-324",
        ] {
            assert!(!is_kept(literal), "{literal}");
        }
    }

    proptest! {
        #[test]
        fn the_quick_look_misses_nothing(
            before in "[a-z,\\[ ]{0,40}",
            literal in "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,25})?([eE]-?[0-9]{1,3})?",
            after in "[a-z,\\] ]{0,40}",
        ) {
            let value = literal.parse::<f64>().unwrap();
            prop_assume!(value.is_finite() && value.abs() < 9e18 && !is_whole(&literal));
            let tiny = value.abs() < f64::MIN_POSITIVE;
            let text = format!("{before}{literal}{after}");
            prop_assert!(is_kept(&literal) || may_round(text.as_bytes(), tiny), "{}", literal);
        }

        #[test]
        fn what_is_printed_is_kept(float in any::<f64>(), digits in 0_usize..17) {
            prop_assume!(float.is_finite());
            prop_assert!(is_kept(&serde_json::Number::from_f64(float).unwrap().to_string()));
            let rounded = format!("{float:.digits$e}");
            // The greatest floats round to numbers that no float is near.
            prop_assume!(rounded.parse::<f64>().unwrap().is_finite());
            prop_assert!(digits < 15 && float.abs() < 1e-300 || is_kept(&rounded), "{}", rounded);
        }

        #[test]
        fn two_numbers_of_one_length_stay_two(
            left in "0\\.[1-9][0-9]{14,17}[1-9]",
            other in "[0-9]{3}[1-9]",
        ) {
            let right = format!("{}{other}", &left[..left.len() - 4]);
            let float = |literal: &str| literal.parse::<f64>().unwrap().to_bits();
            if left != right && is_kept(&left) && is_kept(&right) {
                prop_assert_ne!(float(&left), float(&right));
            }
        }

        #[test]
        fn short_numbers_are_kept(literal in "-?(0|[1-9][0-9]{0,6})(\\.[0-9]{1,7})?([eE][+-]?[0-9]{1,2})?") {
            prop_assert!(is_kept(&literal), "{}", literal);
        }

        #[test]
        fn no_literal_is_too_odd(literal in "[-+.eE0-9]{0,24}") {
            is_kept(&literal);
        }
    }
}
