//! A client of the door, with nothing but HTTP: what a library does for its language.

use std::io::Write as _;

use reqwest::Client;
use serde_json::{Value, json};

use crate::Place;

/// What a tool gives: a value, or an error as the door has it.
pub(crate) type Given = Result<Value, Value>;

/// The tools of an agent.
#[derive(Clone, Debug)]
pub(crate) struct Tools {
    client: Client,
    place: Place,
}

/// A call of a tool.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call<'c> {
    pub(crate) name: &'c str,
    pub(crate) args: Value,
    pub(crate) id: Option<&'c str>,
    pub(crate) inside: Option<&'c str>,
}

impl Tools {
    pub(crate) fn new(place: &Place) -> Self {
        Self {
            client: Client::builder().no_proxy().build().unwrap(),
            place: place.clone(),
        }
    }

    /// The address of the model.
    pub(crate) fn model(&self) -> &str {
        &self.place.model
    }

    pub(crate) async fn post(&self, what: &str, request: &Value) -> (u16, Value) {
        let url = format!("{}/{what}", self.place.tools);
        let request = self.client.post(url).body(request.to_string());
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, answer.json().await.unwrap())
    }

    /// Does something for real.
    pub(crate) fn does(&self, what: &str) {
        let mut options = std::fs::OpenOptions::new();
        let file = options.create(true).append(true).open(&self.place.effects);
        let mut file = file.unwrap();
        writeln!(file, "{what}").unwrap();
    }

    /// Begins a call: its run, or what it gives without one.
    pub(crate) async fn begin(&self, call: &Call<'_>) -> Result<String, Given> {
        let mut request = json!({ "name": call.name, "args": call.args });
        for (key, value) in [("call_id", call.id), ("inside", call.inside)] {
            if let Some(value) = value {
                request[key] = value.into();
            }
        }
        let (status, answer) = self.post("call", &request).await;
        assert_eq!(status, 200, "{answer}");
        match (&answer["run"], answer.get("error")) {
            (Value::String(run), _) => Ok(run.clone()),
            (_, Some(error)) => Err(Err(error.clone())),
            _ => Err(Ok(answer["result"].clone())),
        }
    }

    /// Tells how a run ended.
    pub(crate) async fn end(&self, run: &str, given: &Given) {
        let done = match given {
            Ok(value) => json!({ "run": run, "result": value }),
            Err(error) => json!({ "run": run, "error": error }),
        };
        let (status, said) = self.post("done", &done).await;
        assert_eq!(status, 200, "{said}");
    }

    /// Calls a tool that does something for real, and gives a value.
    pub(crate) async fn call(&self, call: Call<'_>, run: impl FnOnce() -> Given) -> Given {
        match self.begin(&call).await {
            Ok(id) => {
                self.does(call.name);
                let given = run();
                self.end(&id, &given).await;
                given
            }
            Err(given) => given,
        }
    }
}

/// What a model is told of what a tool gave.
pub(crate) fn tool_message(given: &Given) -> String {
    match given {
        Ok(Value::String(text)) => text.clone(),
        Ok(value) => value.to_string(),
        Err(error) => format!("Error: {}", error["text"].as_str().unwrap()),
    }
}
