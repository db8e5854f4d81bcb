//! The values of targets as people read them.

use serde_json::Value;

use super::TargetResult;
use crate::gate::short_number;
use crate::render::Table;
use mcptest_trace::text::{run_numbers, shorten};

/// How many runs have a column of their own.
const COLUMNS: usize = 8;

/// The longest value that stands in a column.
const CELL: usize = 16;

/// The widest line of a text.
const WIDTH: usize = 90;

/// A row a target; nothing where nothing was computed.
///
/// A target with texts has lines of its own: a column of texts is as wide as the longest of them.
pub(crate) fn table(targets: &[TargetResult]) -> Option<String> {
    let first = targets.first()?;
    let each = first.value.is_none() && !first.per_run.is_empty();
    let (texts, targets): (Vec<_>, Vec<_>) = targets.iter().partition(|target| has_texts(target));
    let texts: Vec<String> = texts.into_iter().map(text_lines).collect();
    if targets.is_empty() {
        return Some(texts.join("\n"));
    }
    let runs = targets.iter().map(|target| target.per_run.len()).max();
    let runs = runs.unwrap_or_default();
    let columns: Vec<String> = match runs {
        _ if !each => vec!["value".to_owned()],
        few if few <= COLUMNS => (1..=few).map(|run| format!("run {run}")).collect(),
        _ => ["lowest", "median", "highest"].map(str::to_owned).into(),
    };
    let headings = ["target".to_owned()].into_iter();
    let headings = headings.chain(columns).chain(["what it is".to_owned()]);
    let mut table = Table::new(headings);
    for target in targets {
        let cells = if each && runs > COLUMNS {
            summarize(&target.per_run)
        } else if each {
            target.per_run.iter().map(format_value).collect()
        } else {
            vec![
                target
                    .value
                    .as_ref()
                    .map_or("none".to_owned(), format_value),
            ]
        };
        let name = [target.name.clone()].into_iter();
        table.row(name.chain(cells).chain([target.unit_and_range()]));
    }
    let rows = [table.render()].into_iter();
    Some(rows.chain(texts).collect::<Vec<_>>().join("\n"))
}

fn format_value(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        value => short_number(value),
    }
}

/// The lowest, the middle and the highest of many; of words, how many there are of each is too much.
fn summarize(values: &[Value]) -> Vec<String> {
    let mut numbers: Vec<&Value> = values.iter().filter(|value| !value.is_null()).collect();
    if !numbers.iter().all(|value| value.is_number()) || numbers.is_empty() {
        return vec!["…".to_owned(); 3];
    }
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    numbers.sort_by(|left, right| number(left).total_cmp(&number(right)));
    let places = [0, numbers.len() / 2, numbers.len() - 1];
    let shown = places.map(|place| short_number(numbers[place]));
    shown.into_iter().collect()
}

fn values(target: &TargetResult) -> impl Iterator<Item = &Value> {
    target.per_run.iter().chain(&target.value)
}

fn has_texts(target: &TargetResult) -> bool {
    values(target).any(|value| !value.is_number() && format_value(value).chars().count() > CELL)
}

/// The texts of a target, each with the runs that have it.
fn text_lines(target: &TargetResult) -> String {
    let mut texts: Vec<(String, Vec<usize>)> = Vec::new();
    for (run, value) in values(target).enumerate() {
        let text = format_value(value);
        match texts.iter_mut().find(|(known, _)| *known == text) {
            Some((_, runs)) => runs.push(run),
            None => texts.push((text, vec![run])),
        }
    }
    let count = target.per_run.len();
    let line = |(text, runs): (String, Vec<usize>)| {
        let of = match runs.as_slice() {
            _ if count == 0 || count == 1 => String::new(),
            all if all.len() == count => "every run: ".to_owned(),
            [one] => format!("run {}: ", one + 1),
            some => format!("runs {}: ", run_numbers(some)),
        };
        format!("  {of}{}", shorten(&text, WIDTH))
    };
    let lines = texts.into_iter().map(line);
    let heading = format!("{} ({})", target.name, target.unit_and_range());
    [heading]
        .into_iter()
        .chain(lines)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn target(name: &str, unit: &str, per_run: &Value) -> TargetResult {
        let target = json!({
            "name": name, "unit": unit, "better": "neither", "meaning": "the recorded value", "per_run": per_run,
        });
        serde_json::from_value(target).unwrap()
    }

    #[test]
    fn texts_have_lines_of_their_own_and_equal_ones_are_said_once() {
        let done = "I have refunded 18.00 EUR for order 7.";
        let long = "word ".repeat(60);
        let targets = [
            target("calls.count", "count", &json!([2, 1, 2])),
            target("final_response", "recorded", &json!([done, long, done])),
            target("outcome", "recorded", &json!(["sent", "sent", null])),
        ];
        let shown = table(&targets).unwrap();
        let lines: Vec<&str> = shown.lines().collect();
        assert!(
            lines[0].starts_with("target       run 1   run 2   run 3"),
            "{shown}"
        );
        assert!(
            lines[1].starts_with("calls.count  2       1       2"),
            "{shown}"
        );
        assert!(
            lines[2].starts_with("outcome      \"sent\"  \"sent\"  none"),
            "{shown}"
        );
        assert_eq!(lines[3], "final_response (the recorded value)");
        assert_eq!(lines[4], format!("  runs 1, 3: \"{done}\""));
        assert!(lines[5].starts_with("  run 2: \"word word "), "{shown}");
        assert!(
            lines.iter().all(|line| line.chars().count() <= 130),
            "{shown}"
        );
        let only = table(&[target("final_response", "recorded", &json!([done, done]))]);
        let only = only.unwrap();
        assert!(
            only.ends_with(&format!("  every run: \"{done}\"")),
            "{only}"
        );
    }
}
