//! How much was taken out of the runs that were recorded, and because of what.

use std::collections::BTreeMap;

use mcptest_suite::escape_line;
use mcptest_trace::text::pluralize;
use serde_json::Value;

/// What stands in the place of a secret begins so, and has a name and a bracket after it.
const MARKER: &str = "[redacted";

/// The places, by the name of what stood there; the name is empty where a pattern matched.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RedactionCounts(BTreeMap<String, usize>);

impl RedactionCounts {
    /// Counts the places of a run.
    pub(super) fn add_run(&mut self, run: &Value) {
        match run {
            Value::String(text) => self.add_text(text),
            Value::Array(items) => items.iter().for_each(|item| self.add_run(item)),
            Value::Object(map) => map.iter().for_each(|(key, value)| {
                self.add_text(key);
                self.add_run(value);
            }),
            _ => {}
        }
    }

    fn add_text(&mut self, text: &str) {
        for after in text.split(MARKER).skip(1) {
            if let Some((name, _)) = after.split_once(']') {
                *self.0.entry(name.trim().to_owned()).or_default() += 1;
            }
        }
    }

    /// What is said of the runs of an agent; nothing where nothing was taken out.
    pub(super) fn summary(&self, agent: &str) -> Option<String> {
        let each = self.0.iter().map(|(name, count)| {
            let places = pluralize(*count, "place");
            match name.as_str() {
                "" => format!("{places} that `redact:` matches"),
                name => format!("{places} because of `{}`", escape_line(name)),
            }
        });
        let each: Vec<String> = each.collect();
        (!each.is_empty()).then(|| {
            format!(
                "taken out of the runs of `{}`: {}",
                escape_line(agent),
                each.join(", ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn places_are_counted_by_what_stood_there() {
        let mut taken = RedactionCounts::default();
        assert_eq!(taken.summary("Clerk"), None);
        taken.add_run(&json!({
            "user_prompt": "run the [redacted OPENAI_API_KEY]",
            "trace": { "final_response": "the la[redacted OPENAI_API_KEY] [redacted OPENAI_API_KEY] of [redacted]", "n": 7 },
            "[redacted DESK_TOKEN]": ["[redacted"],
        }));
        assert_eq!(
            taken.summary("Clerk").unwrap(),
            "taken out of the runs of `Clerk`: 1 place that `redact:` matches, 1 place because of `DESK_TOKEN`, 3 places because of `OPENAI_API_KEY`"
        );
    }
}
