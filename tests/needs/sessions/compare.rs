//! A recording against the script, field by field.

use scripted_provider::SeenRequest;
use serde_json::{Value, json};

use super::client::Client;
use super::desk::{self, AGENTS, Reply};
use crate::support::folder::Folder;

/// All recordings of a client.
pub(super) fn with_script(client: &Client, folder: &Folder, asked: &[SeenRequest]) {
    for (agent, (name, prompt)) in AGENTS.into_iter().enumerate() {
        let prompts = |request: &&SeenRequest| request.body.contains(&format!("{prompt:?}"));
        let request = asked.iter().find(prompts).unwrap().json();
        for number in [1, 2] {
            let file = folder.at(&desk::recording(name, client.model, Some(number)));
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(!text.contains(desk::KEY), "{text}");
            let run: Value = serde_json::from_str(&text).unwrap();
            let recording = Recording {
                client,
                run: &run,
                script: desk::run(number),
                streamed: agent == 1,
            };
            assert_eq!(run["agent_name"], name);
            recording.has_the_words(prompt);
            recording.has_the_calls();
            recording.has_the_results();
            recording.has_the_tokens();
            recording.has_the_tools(&request);
            recording.has_the_session();
        }
    }
}

struct Recording<'r> {
    client: &'r Client,
    run: &'r Value,
    script: Vec<Reply>,
    streamed: bool,
}

impl Recording<'_> {
    fn trace(&self) -> &Value {
        &self.run["trace"]
    }

    #[track_caller]
    fn has_the_words(&self, prompt: &str) {
        let (run, conversation) = (self.run, &self.trace()["conversation"]);
        assert_eq!(run["schema_version"], "v1");
        assert_eq!(run["model"], self.client.model);
        assert_eq!(run["system_prompt"], "You work at the order desk.");
        assert_eq!(run["user_prompt"], prompt);
        let closing = self.script.last().unwrap().text.unwrap();
        assert_eq!(self.trace()["final_response"], closing);
        assert_eq!(conversation["stop_reason"], "completed");
        assert_eq!(conversation.get("refused"), None);
        let mut turns = vec![json!({ "role": "user", "content": prompt })];
        for reply in &self.script {
            let called = |(name, args): &(&str, Value)| format!("tool_use {name} with {args}");
            let said = reply.text.map(str::to_owned).into_iter();
            let said = said.chain(reply.calls.iter().map(called));
            turns.extend(said.map(|text| json!({ "role": "assistant", "content": text })));
        }
        assert_eq!(conversation["turns"], Value::from(turns));
        // What the user said, three answers and three results.
        assert_eq!(conversation["message_count"], 7);
        assert!(conversation["duration_ms"].is_u64(), "{conversation}");
    }

    #[track_caller]
    fn has_the_calls(&self) {
        let mut calls = Vec::new();
        for (step, reply) in self.script.iter().enumerate() {
            for (name, args) in &reply.calls {
                let place = calls.len();
                calls.push(json!({ "name": name, "args": args, "step": step, "hop_index": place }));
            }
        }
        assert_eq!(self.trace()["tool_calls"], Value::from(calls));
    }

    #[track_caller]
    fn has_the_results(&self) {
        let results = self.trace()["tool_results"].as_array().unwrap();
        assert_eq!(results.len(), 3, "{results:#?}");
        for (place, (recorded, given)) in results.iter().zip(desk::results()).enumerate() {
            assert_eq!(recorded["call_index"], place);
            self.client.has_result(&recorded["result"], &given);
            let flag = recorded.get("is_error").and_then(Value::as_bool);
            assert_eq!(flag, self.client.is_error(given.is_err()), "{recorded}");
            // How long one of two took that ran at once is not known.
            assert_eq!(recorded.get("duration_ms").is_some(), place == 2);
        }
        let known = self.client.is_error(true).is_some();
        let unknown = (!known).then(|| json!(["is_error"]));
        assert_eq!(self.run["session"].get("unknown"), unknown.as_ref());
    }

    #[track_caller]
    fn has_the_tokens(&self) {
        let conversation = &self.trace()["conversation"];
        let steps = conversation["steps"].as_array().unwrap();
        assert_eq!(steps.len(), self.script.len());
        let mut sum = [0; 4];
        for (step, reply) in steps.iter().zip(&self.script) {
            let [prompt, cached, completion, reasoning] = reply.tokens;
            // These formats do not count all of them apart.
            let format = self.client.format;
            let counts_cached = format != "ollama";
            let counts_thoughts = format != "ollama" && format != "bedrock_converse";
            for (key, tokens) in [
                ("prompt", Some(prompt)),
                ("cached", counts_cached.then_some(cached)),
                ("completion", Some(completion)),
                ("reasoning", counts_thoughts.then_some(reasoning)),
            ] {
                assert_eq!(
                    step.get(key).and_then(Value::as_u64),
                    tokens,
                    "{key}: {step}"
                );
            }
            let counts = reply.tokens;
            if format != "bedrock_converse" {
                assert_eq!(step["model"], desk::answering(self.client.model));
            }
            assert!(step["duration_ms"].is_u64(), "{step}");
            sum = std::array::from_fn(|place| sum[place] + counts[place]);
        }
        let [prompt, _, completion, _] = sum;
        let total =
            json!({ "prompt": prompt, "completion": completion, "total": prompt + completion });
        assert_eq!(conversation["tokens"], total);
    }

    #[track_caller]
    fn has_the_tools(&self, request: &Value) {
        let recorded = self.run["tools"].as_array().unwrap();
        let keys = ["name", "description", "input_schema"];
        let recorded: Vec<[Value; 3]> = recorded
            .iter()
            .map(|tool| keys.map(|key| tool[key].clone()))
            .collect();
        assert_eq!(recorded, self.client.offered(request));
        let told: Vec<_> = recorded
            .iter()
            .map(|[name, text, _]| (name, text))
            .collect();
        let (get, refund) = (json!("get_order"), json!("refund"));
        let (looks, pays) = (json!("Looks an order up."), json!("Pays an order back."));
        assert_eq!(told, [(&get, &looks), (&refund, &pays)]);
        let schema = &recorded[1][2];
        assert_eq!(schema["properties"]["order"]["type"], "integer", "{schema}");
        assert_eq!(schema["properties"]["amount"]["type"], "string", "{schema}");
        assert_eq!(schema["required"], json!(["order", "amount"]));
    }

    /// One request was refused and asked again; one conversation, whose answers came as the client wanted them.
    #[track_caller]
    fn has_the_session(&self) {
        let session = &self.run["session"];
        assert_eq!(session["retries"], 1);
        assert_eq!(session.get("notes"), None, "{session}");
        let conversations = session["conversations"].as_array().unwrap();
        assert_eq!(conversations.len(), 1, "{session}");
        assert_eq!(conversations[0]["role"], "main");
        let answers = conversations[0]["answers"].as_array().unwrap();
        assert_eq!(answers.len(), self.script.len());
        for (answer, stop) in answers.iter().zip(["calls", "calls", "end"]) {
            assert_eq!(answer["protocol"], self.client.format);
            assert_eq!(answer["stop"], stop);
            assert_eq!(answer["asked"], self.client.model);
            let streamed = answer.get("streamed").is_some_and(|it| *it == true);
            assert_eq!(streamed, self.streamed, "{answer}");
        }
    }
}
