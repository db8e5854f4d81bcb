//! Tools of an agent that is a function of this process: the door, without a request.

use std::fmt::{self, Display};
use std::future::Future;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::entry::{Ending, OwnCall, Raised};
use super::state::{Door, Refusal, Running, Verdict};

/// Why a call of [`AgentSession::tool`](crate::handle::AgentSession::tool) gives no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFailure(String);

impl Display for ToolFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ToolFailure {}

tokio::task_local! {
    /// The run that the task is inside of.
    static INSIDE: usize;
}

impl Door {
    /// Runs a tool, or gives back what it answered.
    pub(crate) async fn runs<T, E>(
        &self,
        name: &str,
        args: Value,
        run: impl Future<Output = Result<T, E>>,
    ) -> Result<T, ToolFailure>
    where
        T: Serialize + DeserializeOwned,
        E: Display,
    {
        let failed = |words: &str| ToolFailure(format!("mcptest: {words}"));
        let call = OwnCall {
            inside: INSIDE.try_with(|run| *run).ok(),
            ..OwnCall::new(name, args.clone())
        };
        let number = match self.begin(call).await {
            Ok(Verdict::Run(number)) => number,
            Ok(Verdict::Result { value, told, .. }) => {
                return fitting(value, told).map_err(|error| {
                    let words = unfit(name, told, &error);
                    #[cfg(feature = "play")]
                    self.with_playing(|playing| playing.unfit(name, &args, &words));
                    ToolFailure(words)
                });
            }
            Ok(Verdict::Error(raised)) => return Err(ToolFailure(raised.text)),
            Err(Refusal::Bad(words)) => return Err(failed(&words)),
            Err(Refusal::TooMany) => return Err(failed("too many calls of tools in one session")),
            Err(Refusal::Ended | Refusal::Run) => return Err(failed("this session has ended")),
        };
        let running = Running {
            door: self,
            run: number,
        };
        // `{:#}` shows the causes of errors that have them.
        let ran = INSIDE.scope(number, run).await;
        let ran = ran.map_err(|error| ToolFailure(format!("{error:#}")));
        running.ends(match &ran {
            Ok(value) => kept::<T>(value).map(Ending::Result),
            Err(failure) => Ok(Ending::Error(Raised::new("ToolFailure", &failure.0))),
        });
        ran
    }
}

/// A value as it is kept, if it comes back as it was.
fn kept<T: Serialize + DeserializeOwned>(value: &T) -> Result<Value, String> {
    let kind = std::any::type_name::<T>();
    let written = serde_json::to_value(value)
        .map_err(|error| format!("its value of the type `{kind}` cannot be written: {error}"))?;
    let read: T = serde_json::from_value(written.clone())
        .map_err(|error| format!("its value of the type `{kind}` cannot be read again: {error}"))?;
    let again = serde_json::to_value(read).ok();
    if again.as_ref() == Some(&written) {
        Ok(written)
    } else {
        Err(format!(
            "its value of the type `{kind}` is another one when it is read again"
        ))
    }
}

fn unfit(name: &str, told: bool, error: &serde_json::Error) -> String {
    if told {
        format!(
            "the recording has only what the model was told of `{name}`, and this does not fit the type of the result \
             now: {error}; record the run again"
        )
    } else {
        format!("the recorded result of `{name}` does not fit the type of the result now: {error}")
    }
}

/// A recorded result as the type that the code wants. What the model was told is a text, of JSON or of words.
fn fitting<T: DeserializeOwned>(value: Value, is_told: bool) -> Result<T, serde_json::Error> {
    let words = match &value {
        Value::String(words) if is_told => words.clone(),
        _ => return serde_json::from_value(value),
    };
    serde_json::from_str(&words).or_else(|error| serde_json::from_value(value).map_err(|_| error))
}
