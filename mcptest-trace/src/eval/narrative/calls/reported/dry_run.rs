//! Calls that were told to change nothing, and results that say so.

use serde_json::{Map, Value};

use crate::trace::{for_each_scalar, to_snake_case};

use super::nothing::is_something;
use super::table::{DRY_RUN, OF_DRY_RUN, is_yes};
use super::{quoted, render_field};
use crate::eval::narrative::words::lexicon::{contains_ignoring_case, head, lower};

/// The argument by which a call changes nothing: `dry_run: true`, `mode: dry_run`, `--dry-run`.
pub(super) fn of_args(args: &Value) -> Option<String> {
    let fields = args.as_object()?;
    let inner = fields.values().filter_map(Value::as_object);
    let mut all = [fields].into_iter().chain(inner).flatten();
    let set =
        |(key, value): &(&String, &Value)| DRY_RUN.contains(&&*to_snake_case(key)) && is_yes(value);
    if let Some((key, value)) = all.clone().find(set) {
        return Some(render_field(key, value));
    }
    let told = all.find(|(_, value)| {
        let mut told = false;
        for_each_scalar(value, &mut |scalar| {
            let text = scalar.as_str().unwrap_or_default();
            let options = text.contains("--");
            told |= is_dry_run(text) || options && text.split_whitespace().any(is_option);
        });
        told
    });
    told.map(|(key, value)| render_field(key, value))
}

/// Whether a word says that nothing is changed: `dry_run`, `dry-run`.
fn is_dry_run(text: &str) -> bool {
    const LONGEST: usize = 10;
    text.len() < LONGEST
        && contains_ignoring_case(text, "dry")
        && matches!(
            &*to_snake_case(&lower(text)).replace(['-', ' '], "_"),
            "dry_run" | "dryrun"
        )
}

/// Whether a word of a command says so: `--dry-run=client`.
fn is_option(word: &str) -> bool {
    let option = word
        .strip_prefix("--")
        .map(|word| word.split('=').next().unwrap_or_default());
    option.is_some_and(is_dry_run) && !word.ends_with("=none") && !word.ends_with("=false")
}

/// The field of a result that says so: `simulated: true`, `would_delete: 1`, `mode: dry_run`.
pub(super) fn of_fields(fields: &Map<String, Value>) -> Option<String> {
    let says = |(key, value): &(&String, &Value)| {
        let key = to_snake_case(key);
        let mode = matches!(&*key, "mode" | "status" | "state");
        OF_DRY_RUN.contains(&&*key) && is_yes(value)
            || key.starts_with("would_") && is_something(value)
            || mode && value.as_str().is_some_and(is_dry_run)
    };
    let (key, value) = fields.iter().find(says)?;
    Some(render_field(key, value))
}

/// A text that says so at its beginning: *DRY RUN: …*, *Would delete a*.
pub(super) fn of_text(text: &str) -> Option<String> {
    const HEAD: usize = 40;
    let head = head(text, HEAD);
    if !["dry", "would"]
        .iter()
        .any(|word| contains_ignoring_case(head, word))
    {
        return None;
    }
    let head = head.to_lowercase().replace(['-', '_'], " ");
    let head = head.trim_start_matches(|c: char| !c.is_alphanumeric());
    let told = head.starts_with("dry run")
        || head.starts_with("would ") && head.split_whitespace().nth(1) != Some("you")
        || head.contains("(dry run)");
    told.then(|| quoted(text))
}
