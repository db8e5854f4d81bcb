//! Values that a suite keeps to compare recordings with: every digit of them counts, and none is
//! left out by mistake.

use serde_json::{Number, Value};

use super::problems::Problems;
use crate::{Diagnostic, Node, NodeValue};

/// Reads a value, noting what cannot be kept as it is written.
pub fn read(node: &Node, problems: &mut Problems) -> Value {
    check(node, problems);
    node.to_json()
}

/// Notes every number below a node that would be rounded, and every value that is left out.
pub(crate) fn check(node: &Node, problems: &mut Problems) {
    match &node.value {
        NodeValue::Number(number, written) => {
            if let Some(problem) = rounded(node, number, written) {
                problems.push(problem);
            }
        }
        NodeValue::List(items) => items.iter().for_each(|item| check(item, problems)),
        NodeValue::Map(entries) => {
            for entry in entries {
                if entry.value.is_left_out() {
                    let message = format!("`{}` is left without a value", entry.key);
                    problems.push(Diagnostic::at(entry.key_span, message).help(format!(
                        "write `{}: null` if the value is `null`",
                        entry.key
                    )));
                }
                check(&entry.value, problems);
            }
        }
        NodeValue::Null | NodeValue::Bool(_) | NodeValue::Text(_) => {}
    }
}

/// What to say of a number whose digits are not kept.
fn rounded(node: &Node, number: &Number, written: &str) -> Option<Diagnostic> {
    if !number.is_f64() {
        return None;
    }
    if !written.contains(['.', 'e', 'E']) {
        let message = format!("`{written}` is no whole number that can be kept exactly");
        return Some(
            Diagnostic::at(node.span, message)
                .note("whole numbers are kept from -9223372036854775808 to 18446744073709551615; outside of this range, different numbers would count as equal")
                .help(format!("write it as text: `\"{written}\"`")),
        );
    }
    // The shortest digits that mean the number that was read.
    let kept = format!("{:e}", number.as_f64()?);
    (digits(written) != digits(&kept)).then(|| {
        Diagnostic::at(node.span, format!("`{written}` would be rounded to {kept}"))
            .help("write no more digits than a 64-bit number keeps, or write it as text")
    })
}

/// The digits of a decimal number without zeros at the ends, and the power of ten of the last one;
/// nothing where it is written in another form.
fn digits(written: &str) -> Option<(bool, String, i64)> {
    let negative = written.starts_with('-');
    let unsigned = written.trim_start_matches(['-', '+']);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let significant = all.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return Some((negative, String::new(), 0));
    }
    let zeros = all.len() - all.trim_end_matches('0').len();
    let places = i64::try_from(zeros).ok()? - i64::try_from(fraction.len()).ok()?;
    let exponent = exponent.checked_add(places)?;
    Some((negative, significant.to_owned(), exponent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Source, parse};

    fn problems_of(text: &str) -> Vec<Diagnostic> {
        let source = Source::new("a.yml", "a.yml", text);
        let node = parse::read(&source, &mut Vec::new()).unwrap();
        let mut problems = Problems::default();
        check(&node, &mut problems);
        problems.0
    }

    #[test]
    fn numbers_that_are_kept_are_not_complained_of() {
        let text = "[0, -0, 0.0, -0.0, 1.50, +1.5, .5, 5., 1e23, 1E5, 100e-2, 0x1F, 0o777, 0b11, \
                    18446744073709551615, -9223372036854775808, 0.1, 5e-324, 1.7976931348623157e308, \
                    0.30000000000000004, 9007199254740992.0]";
        assert_eq!(problems_of(text), []);
    }

    #[test]
    fn numbers_that_would_be_rounded_are_named() {
        for text in [
            "18446744073709551617",
            "20000000000000000000",
            "-9223372036854775809",
            "9007199254740993.0",
            "3.141592653589793238",
            "1e-400",
        ] {
            let problems = problems_of(text);
            assert_eq!(problems.len(), 1, "{text}");
            assert!(problems[0].message.contains(text), "{problems:?}");
        }
    }
}
