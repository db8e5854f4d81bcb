//! A recorded run without secrets, which is still a recorded run.
//!
//! Secrets are taken out of everything but what a declaration keeps (`trace/fields/`): a field that nobody thought of is
//! searched.

use serde_json::{Map, Value};

use super::{RedactionCounts, Redactor};
use crate::trace::fields::{Field, Fields, RUN, Secrets, Takes};

/// Keys of a tool result that the protocol gives their meaning.
const OF_RESULTS: [&str; 3] = ["content", "structuredContent", "isError"];

impl Redactor {
    /// Takes secrets and what the patterns match out of everything in a cassette that users,
    /// models and tools said, and out of what no declaration knows. What makes it a cassette (its keys, the names of
    /// tools and servers, the model, how it stopped) stays, whatever a secret or a pattern looks like.
    pub fn redact_run(&self, run: &mut Value) {
        self.redact_run_counted(run, &mut RedactionCounts::default());
    }

    /// Takes secrets out of a cassette as [`redact_run`](Self::redact_run) does, and counts them.
    pub fn redact_run_counted(&self, run: &mut Value, counts: &mut RedactionCounts) {
        let of_run = self.learn_from(run);
        for learned in self.learned.iter().chain(&of_run) {
            learned.object(run, &RUN, counts, self);
        }
        self.object(run, &RUN, counts, self);
    }

    /// Takes out what this one knows, but for the texts that `keeps` keeps.
    fn object(
        &self,
        value: &mut Value,
        fields: &Fields,
        counts: &mut RedactionCounts,
        keeps: &Self,
    ) {
        let Value::Object(map) = value else {
            return self.counted(value, counts);
        };
        let by_suite = is_by_suite(fields, map);
        for (key, value) in map.iter_mut() {
            match fields.get(key) {
                Some(field) => {
                    let is_kept = by_suite && is_among(value, &keeps.kept);
                    if !(is_kept && field.secrets == Secrets::TakenOutUnlessOfSuite) {
                        self.field(value, field, counts, keeps);
                    }
                }
                None if fields.words.contains(&key.as_str()) => {}
                None if fields.has_own_keys => self.counted(value, counts),
                None => self.entry(key, value, counts),
            }
        }
        if !fields.has_own_keys {
            let is_known = |key: &str| fields.get(key).is_some() || fields.words.contains(&key);
            self.redact_keys(map, is_known, counts);
        }
    }

    fn field(&self, value: &mut Value, field: &Field, counts: &mut RedactionCounts, keeps: &Self) {
        match (field.secrets, field.takes) {
            (Secrets::Kept, _) => {}
            (Secrets::TakenOutOfResult, _) => self.redact_result(value, counts),
            (Secrets::TakenOutOfTexts, _) => self.texts(value, counts),
            (_, Takes::Object(inner)) => self.object(value, inner, counts, keeps),
            (_, Takes::List(inner)) => self.items(value, counts, |item, counts| {
                self.object(item, inner, counts, keeps);
            }),
            (_, Takes::Lines(_, inner)) => self.items(value, counts, |item, counts| {
                // A line is names.
                if !item.is_string() {
                    self.object(item, inner, counts, keeps);
                }
            }),
            (_, Takes::Range) => self.items(value, counts, |item, counts| {
                if !item.is_number() {
                    self.counted(item, counts);
                }
            }),
            (_, Takes::Count | Takes::Whole | Takes::Number | Takes::Share)
                if value.is_number() => {}
            _ => self.counted(value, counts),
        }
    }

    /// Looks at each item of a list, or at the whole of what is none.
    fn items(
        &self,
        value: &mut Value,
        counts: &mut RedactionCounts,
        mut look: impl FnMut(&mut Value, &mut RedactionCounts),
    ) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| look(item, counts)),
            other => self.counted(other, counts),
        }
    }

    /// Takes secrets out of texts and keys, whatever the keys say.
    fn texts(&self, value: &mut Value, counts: &mut RedactionCounts) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.texts(item, counts)),
            Value::Object(map) => {
                map.values_mut().for_each(|item| self.texts(item, counts));
                self.redact_keys(map, |_| false, counts);
            }
            scalar => self.counted(scalar, counts),
        }
    }

    /// An MCP result keeps its form; anything else has none.
    fn redact_result(&self, result: &mut Value, counts: &mut RedactionCounts) {
        let Value::Object(map) = result else {
            return self.counted(result, counts);
        };
        if !map.keys().any(|key| OF_RESULTS.contains(&key.as_str())) {
            return self.counted(result, counts);
        }
        for (key, value) in map.iter_mut() {
            match (key.as_str(), value) {
                ("isError", Value::Bool(_)) => {}
                ("content", Value::Array(blocks)) => {
                    for block in blocks {
                        self.redact_block(block, counts);
                    }
                }
                (_, value) => self.counted(value, counts),
            }
        }
    }

    fn redact_block(&self, block: &mut Value, counts: &mut RedactionCounts) {
        let Value::Object(map) = block else {
            return self.counted(block, counts);
        };
        for (key, value) in map.iter_mut() {
            if key != "type" {
                self.counted(value, counts);
            }
        }
    }
}

/// Whether the suite may say the texts of an object: the prompts of a run, and turns of the user.
fn is_by_suite(fields: &Fields, map: &Map<String, Value>) -> bool {
    let role = map.get("role").and_then(Value::as_str);
    fields.get("role").is_none() || matches!(role, Some("user" | "system"))
}

fn is_among(value: &Value, texts: &std::collections::BTreeSet<String>) -> bool {
    value.as_str().is_some_and(|text| texts.contains(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn run(said: &str) -> Value {
        json!({
            "schema_version": "v1", "agent_name": "text", "model": "gpt-4o", "user_prompt": "hi",
            "tools": ["desk::find(text: string)"],
            "trace": {
                "tool_calls": [{ "name": "find", "server": "desk", "args": { "text": said }, "own": {
                    "args": { "text": said }, "result": [said], "by": "suite",
                    "attempts": [{ "args": { "text": said }, "error": { "type": "E", "text": said } }, { "result": said }],
                } }],
                "tool_results": [{ "call_index": 0, "server": "desk", "is_error": false, "result": {
                    "content": [{ "type": "text", "text": said }],
                    "structuredContent": { said: said }, "isError": false,
                } }],
                "final_response": said,
                "scores": [{ "name": "helpful", "value": 1, "by": said, "note": said }],
                "conversation": {
                    "stop_reason": "completed",
                    "turns": [{ "role": "assistant", "content": said }],
                    "per_turn": [{ "calls": [0, 1], "response": said }],
                },
            },
        })
    }

    fn redacted(secret: &str, said: &str) -> Value {
        let secrets = [("KEY".to_owned(), secret.to_owned())];
        let mut run = run(said);
        Redactor::new(secrets, Vec::new())
            .unwrap()
            .redact_run(&mut run);
        run
    }

    #[test]
    fn a_secret_is_found_wherever_something_is_said() {
        let text = redacted("sk-0123456789", "my key: sk-0123456789").to_string();
        assert!(!text.contains("sk-0123456789"), "{text}");
        assert_eq!(text.matches("my key: [redacted KEY]").count(), 14, "{text}");
    }

    #[test]
    fn a_secret_that_is_an_ordinary_word_leaves_a_cassette() {
        for word in [
            "text",
            "desk",
            "find",
            "v1",
            "completed",
            "content",
            "gpt-4o",
            "name",
            "suite",
            "attempts",
        ] {
            let said = "nothing";
            let whole = run(said);
            assert_eq!(redacted(word, said), whole, "{word}");
        }
    }

    #[test]
    fn a_result_without_a_form_is_blanked_as_a_whole() {
        let redactor = Redactor::new([("KEY".to_owned(), "hush-hush".to_owned())], Vec::new());
        let mut run = json!({ "trace": { "tool_results": [
            { "result": "hush-hush" }, { "result": { "hush-hush": [1, "hush-hush"] } },
        ] } });
        redactor.unwrap().redact_run(&mut run);
        assert!(!run.to_string().contains("hush-hush"), "{run}");
    }

    #[test]
    fn what_is_no_cassette_is_left_alone() {
        let redactor = Redactor::new([("KEY".to_owned(), "k".to_owned())], Vec::new()).unwrap();
        for odd in [
            json!({}),
            json!({ "trace": { "tool_calls": 3, "conversation": [] } }),
        ] {
            let mut run = odd.clone();
            redactor.redact_run(&mut run);
        }
    }
}
