//! A difference between what is asked and what is recorded, in words.

use crate::eval::ArgDiff;
use crate::trace::canonical_json;
use serde_json::Value;

use super::short::SHOWN;
use super::{describe_invisible_difference_in, escape_line, short_json};

/// One difference in words.
#[must_use]
pub fn difference(diff: &ArgDiff) -> String {
    let shown = |value: &Option<Value>| value.as_ref().map_or("nothing".to_owned(), short_json);
    let (expected, recorded) = (shown(&diff.expected), shown(&diff.recorded));
    let values = diff.expected.as_ref().zip(diff.recorded.as_ref());
    let unseen = values.and_then(|(one, other)| {
        describe_invisible_difference_in(["expected", "recorded"], [one, other])
    });
    let unseen = unseen.or_else(|| cut_alike(values?));
    let unseen = unseen.map_or_else(String::new, |unseen| format!("; {unseen}"));
    match diff.path.as_str() {
        "" => format!("expected {expected}, recorded {recorded}{unseen}"),
        path => format!(
            "`{}`: expected {expected}, recorded {recorded}{unseen}",
            escape_line(path)
        ),
    }
}

/// Where long values differ, if the beginning that is shown of them is the same.
fn cut_alike((one, other): (&Value, &Value)) -> Option<String> {
    const AROUND: usize = 20;
    let shown = |value: &Value| escape_line(&canonical_json(value)).chars().collect();
    let texts: [Vec<char>; 2] = [one, other].map(shown);
    let pairs = texts[0].iter().zip(&texts[1]);
    let start = pairs.take_while(|(one, other)| one == other).count();
    let is_cut = texts.iter().any(|text| text.len() > SHOWN);
    if !is_cut || start < SHOWN / 2 {
        return None;
    }
    let [one, other] = texts.map(|text| {
        let to = text.len().min(start + AROUND);
        let mark = if to < text.len() { "…" } else { "" };
        let part: String = text[start - AROUND..to].iter().collect();
        format!("`…{part}{mark}`")
    });
    Some(format!(
        "the first difference: expected {one}, recorded {other}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn long_values_are_shown_where_they_differ() {
        let long = |word: &str| Some(json!(format!("{0}{word}{0}", "ab ".repeat(60))));
        let said = |old: &str, new: &str| difference(&ArgDiff::new("c", long(old), long(new)));
        let words = said("4", "5");
        assert!(
            words.ends_with("; the first difference: expected `…b ab ab ab ab ab ab 4ab ab ab ab ab ab a…`, recorded `…b ab ab ab ab ab ab 5ab ab ab ab ab ab a…`"),
            "{words}"
        );
        let words = said("", "5");
        assert!(
            words.contains("recorded `…b ab ab ab ab ab ab 5ab"),
            "{words}"
        );
        let words = difference(&ArgDiff::new("c", Some(json!("a")), long("4")));
        assert!(!words.contains("the first difference"), "{words}");
    }
}
