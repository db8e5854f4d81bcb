//! Tools of an agent whose session is another process: they tell it what they do, at the address in `MCPTEST_TOOLS`, and run
//! only where they may. Without a session they run as they are.
//!
//! ```no_run
//! use mcptest_session::tools;
//!
//! # async fn pay(order: u32) -> Result<String, std::io::Error> { Ok(String::new()) }
//! # async fn example() -> Result<(), tools::ToolFailure> {
//! let args = serde_json::json!({ "order": 7 });
//! let receipt: String = tools::from_env()?.call("refund", args, async { pay(7).await }).await?;
//! # Ok(())
//! # }
//! ```

mod http;
mod inside;

use std::env;
use std::fmt::Display;
use std::future::Future;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub use crate::door::ToolFailure;
use crate::door::values::{decode_value, encode_value, unusable_message};
use http::{Address, post};
use inside::{InsideRun, current};

/// Where tools tell what they do.
const VARIABLE: &str = "MCPTEST_TOOLS";

/// The session of an agent's tools, where there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tools(Option<Address>);

/// The session that the environment names. To ask for at each call: the environment may change.
///
/// # Errors
///
/// The environment names what is no address of this machine, or a recording is played and it names none: no tool may run
/// then.
pub fn from_env() -> Result<Tools, ToolFailure> {
    let mode = env::var_os("MCPTEST_MODE");
    let plays = mode.is_some_and(|mode| mode == "play");
    let address = env::var_os(VARIABLE).filter(|address| !address.is_empty());
    from_variable(address.map(std::ffi::OsString::into_string), plays)
}

/// The session at an address, as the variable has it. `plays`: a recording is played.
fn from_variable(
    address: Option<Result<String, std::ffi::OsString>>,
    plays: bool,
) -> Result<Tools, ToolFailure> {
    match address {
        Some(Ok(address)) => {
            let address = Address::parse(&address).ok_or_else(|| {
                let words =
                    format!("`{VARIABLE}` is no address that begins with `http://127.0.0.1`");
                ToolFailure::internal(&words)
            })?;
            Ok(Tools(Some(address)))
        }
        Some(Err(_)) => Err(ToolFailure::internal(&format!("`{VARIABLE}` is not UTF-8"))),
        None if plays => Err(ToolFailure::internal(&format!(
            "a recording is played, and `{VARIABLE}` is not set: no tool runs; give the program the environment of its agent"
        ))),
        None => Ok(Tools(None)),
    }
}

impl Tools {
    /// The session at an address, as `MCPTEST_TOOLS` has it.
    ///
    /// # Errors
    ///
    /// It is no address of this machine.
    pub fn at(address: &str) -> Result<Self, ToolFailure> {
        from_variable(Some(Ok(address.to_owned())), false)
    }

    /// Runs a tool, or gives what the session has in its place.
    ///
    /// # Errors
    ///
    /// The tool failed, or is not to run.
    pub async fn call<T, E>(
        &self,
        name: &str,
        args: Value,
        run: impl Future<Output = Result<T, E>>,
    ) -> Result<T, ToolFailure>
    where
        T: Serialize + DeserializeOwned,
        E: Display,
    {
        self.call_with_id(None, name, args, run).await
    }

    /// Runs a tool for the call of the model that has this identifier, or gives what the session has in its place.
    ///
    /// # Errors
    ///
    /// The tool failed, or is not to run.
    pub async fn call_with_id<T, E>(
        &self,
        call_id: Option<&str>,
        name: &str,
        args: Value,
        run: impl Future<Output = Result<T, E>>,
    ) -> Result<T, ToolFailure>
    where
        T: Serialize + DeserializeOwned,
        E: Display,
    {
        let Some(address) = &self.0 else {
            return run.await.map_err(|error| ToolFailure::from_error(&error));
        };
        let mut request = json!({ "name": name, "args": args });
        for (key, value) in [("call_id", call_id), ("inside", current().as_deref())] {
            if let Some(value) = value {
                request[key] = value.into();
            }
        }
        let answer = post(address, "call", &request).await;
        let answer = answer.map_err(|error| not_run(name, &error.to_string()))?;
        let told = answer["told"] == true;
        let run_id = match (answer.get("run"), answer.get("result"), answer.get("error")) {
            (Some(Value::String(run)), None, None) => run.clone(),
            (None, Some(value), None) => {
                let why = match decode_value(value.clone(), told) {
                    Ok(value) => return Ok(value),
                    Err(error) => error.to_string(),
                };
                let failure = ToolFailure::new(unusable_message(name, &why, told));
                if let Some(given) = answer["given"].as_str() {
                    // The tool does not run, whoever hears this.
                    _ = post(address, "done", &json!({ "run": given, "unkept": why })).await;
                }
                return Err(failure);
            }
            (None, None, Some(error)) => {
                let text = error["text"].as_str();
                let failure = text.map(ToolFailure::new);
                return Err(failure.unwrap_or_else(|| not_run(name, "its answer is none")));
            }
            _ => return Err(not_run(name, "its answer is none")),
        };
        let mut running = Running {
            address,
            run: Some(run_id.clone()),
        };
        let ran = InsideRun::new(run_id.clone(), run).await;
        let ran = ran.map_err(|error| ToolFailure::from_error(&error));
        running.run = None;
        let mut done = json!({ "run": run_id });
        match &ran {
            Ok(value) => match encode_value::<T>(value) {
                Ok(value) => done["result"] = value,
                Err(error) => done["unkept"] = error.to_string().into(),
            },
            Err(failure) => {
                done["error"] = json!({ "type": "ToolFailure", "text": failure.to_string() });
            }
        }
        // What was done was done, also where nobody hears it.
        _ = post(address, "done", &done).await;
        ran
    }
}

fn not_run(name: &str, why: &str) -> ToolFailure {
    ToolFailure::internal(&format!(
        "the tool `{name}` does not run, as the session at `{VARIABLE}` does not say that it may: {why}"
    ))
}

/// A tool that runs. If it is dropped before it ends, control flow ended it.
struct Running<'a> {
    address: &'a Address,
    run: Option<String>,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(run) = self.run.take() {
            http::tell(self.address, "done", &json!({ "run": run, "left": true }));
        }
    }
}

#[cfg(all(test, feature = "play", feature = "record"))]
mod tests;
