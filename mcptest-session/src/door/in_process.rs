//! Tools of an agent that is a function of this process: the door, without a request.

use std::fmt::Display;
use std::future::Future;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::entry::{Ending, OwnCall, RaisedError};
use super::request::DoneRequest;
use super::state::{Door, Running};
use super::values::{ToolFailure, decode_value, encode_value, unusable_message};
use super::verdict::{Refusal, Verdict};

tokio::task_local! {
    /// The run that the task is inside of.
    static INSIDE: usize;
}

impl Door {
    /// Runs a tool, or gives back what it answered.
    pub(crate) async fn run_tool<T, E>(
        &self,
        name: &str,
        args: Value,
        run: impl Future<Output = Result<T, E>>,
    ) -> Result<T, ToolFailure>
    where
        T: Serialize + DeserializeOwned,
        E: Display,
    {
        let call = OwnCall {
            inside: INSIDE.try_with(|run| *run).ok(),
            ..OwnCall::new(name, args)
        };
        let number = match self.begin(call).await {
            Ok(Verdict::Run(number)) => number,
            Ok(Verdict::Result {
                value, told, given, ..
            }) => {
                return decode_value(value, told).map_err(|error: serde_json::Error| {
                    let why = error.to_string();
                    let words = unusable_message(name, &why, told);
                    let unkept = given.map(|run| DoneRequest {
                        run,
                        ending: Err(why),
                        text: None,
                    });
                    _ = unkept.map(|unkept| self.done(unkept));
                    ToolFailure::new(words)
                });
            }
            Ok(Verdict::Error(raised)) => return Err(ToolFailure::new(raised.text)),
            Err(Refusal::Bad(problem)) => return Err(ToolFailure::internal(&problem.to_string())),
            Err(Refusal::TooMany) => {
                return Err(ToolFailure::internal(
                    "too many calls of tools in one session",
                ));
            }
            Err(Refusal::Ended | Refusal::Run) => {
                return Err(ToolFailure::internal("this session has ended"));
            }
        };
        let running = Running {
            door: self,
            run: number,
        };
        let ran = INSIDE.scope(number, run).await;
        let ran = ran.map_err(|error| ToolFailure::from_error(&error));
        running.finish(match &ran {
            Ok(value) => match encode_value::<T>(value) {
                Ok(value) => Ok(Ending::Result(value)),
                Err(error) => Err(error.to_string()),
            },
            Err(failure) => {
                let text = failure.to_string();
                Ok(Ending::Error(RaisedError::new("ToolFailure", text)))
            }
        });
        ran
    }
}
