//! A recorded run without secrets, which is still a recorded run.

use serde_json::Value;

use super::{RedactionCounts, Redactor};

/// Keys of a tool result that the protocol gives their meaning.
const OF_RESULTS: [&str; 3] = ["content", "structuredContent", "isError"];

impl Redactor {
    /// Takes secrets and what the patterns match out of everything in a cassette that users,
    /// models and tools said. What makes it a cassette (its keys, the names of tools and servers,
    /// the model, how it stopped) stays, whatever a secret or a pattern looks like.
    pub fn redact_run(&self, run: &mut Value) {
        self.redact_run_counted(run, &mut RedactionCounts::default());
    }

    /// The same, and counts what is taken out.
    pub fn redact_run_counted(&self, run: &mut Value, counts: &mut RedactionCounts) {
        if let Some(learned) = self.learned_of(run) {
            learned.take_out(run, counts, self);
        }
        self.take_out(run, counts, self);
    }

    /// Takes out what this one knows, but for the texts that `keeps` keeps.
    fn take_out(&self, run: &mut Value, counts: &mut RedactionCounts, keeps: &Self) {
        let kept = |value: &Value, key: &str| {
            let text = value.get(key).and_then(Value::as_str);
            text.is_some_and(|text| keeps.kept.contains(text))
        };
        for key in ["system_prompt", "user_prompt"] {
            if !kept(run, key) {
                self.at(run, key, counts);
            }
        }
        if let Some(imported) = run.get_mut("imported") {
            self.at(imported, "user_prompt", counts);
        }
        let Some(trace) = run.get_mut("trace") else {
            return;
        };
        self.at(trace, "final_response", counts);
        for call in items(trace, "tool_calls") {
            self.at(call, "args", counts);
            if let Some(own) = call.get_mut("own") {
                self.own(own, counts);
            }
        }
        for result in items(trace, "tool_results") {
            if let Some(result) = result.get_mut("result") {
                self.result(result, counts);
            }
        }
        for score in items(trace, "scores") {
            for key in ["by", "note"] {
                self.at(score, key, counts);
            }
        }
        let Some(conversation) = trace.get_mut("conversation") else {
            return;
        };
        for turn in items(conversation, "turns") {
            let asked = matches!(turn["role"].as_str(), Some("user" | "system"));
            if !(asked && kept(turn, "content")) {
                self.at(turn, "content", counts);
            }
        }
        for turn in items(conversation, "per_turn") {
            self.at(turn, "response", counts);
        }
    }

    fn at(&self, value: &mut Value, key: &str, counts: &mut RedactionCounts) {
        if let Some(inner) = value.get_mut(key) {
            self.counted(inner, counts);
        }
    }

    /// What the agent's own code says of a call.
    fn own(&self, own: &mut Value, counts: &mut RedactionCounts) {
        for key in ["args", "result"] {
            self.at(own, key, counts);
        }
        for attempt in items(own, "attempts") {
            for key in ["args", "result", "error"] {
                self.at(attempt, key, counts);
            }
        }
    }

    /// An MCP result keeps its form; anything else has none.
    fn result(&self, result: &mut Value, counts: &mut RedactionCounts) {
        let Value::Object(map) = result else {
            return self.counted(result, counts);
        };
        if !map.keys().any(|key| OF_RESULTS.contains(&key.as_str())) {
            return self.counted(result, counts);
        }
        for (key, value) in map.iter_mut() {
            match (key.as_str(), value) {
                ("isError", _) => {}
                ("content", Value::Array(blocks)) => {
                    for block in blocks {
                        self.block(block, counts);
                    }
                }
                (_, value) => self.counted(value, counts),
            }
        }
    }

    fn block(&self, block: &mut Value, counts: &mut RedactionCounts) {
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

/// The entries of a list, if it is there.
fn items<'v>(value: &'v mut Value, key: &str) -> impl Iterator<Item = &'v mut Value> {
    let list = value.get_mut(key).and_then(Value::as_array_mut);
    list.into_iter().flatten()
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
