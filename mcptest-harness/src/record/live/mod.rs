//! The built-in agent: a real model, real MCP servers, and the loop between them.
//!
//! - `provider`: which model API a suite means, with which key;
//! - `model`: one model call, with its retries; `problem`: why it failed;
//! - `servers`: MCP servers and their tools; `connect` reaches them, `child` starts them;
//! - `wire`: what a server said, where it is not what MCP says;
//! - `tools`: the tools as they are offered to the model;
//! - `run`: the loop, with its caps;
//! - `arguments`: what a model gives a tool; `exact`: numbers that no value holds, on their way there.

mod arguments;
mod child;
mod connect;
mod connection;
mod exact;
#[cfg(unix)]
mod model;
mod problem;
mod provider;
mod run;
mod servers;
mod tools;
mod wire;

use std::time::{Duration, Instant};

use mcptest_suite::model::{Agent, Suite};
use serde_json::Value;

use mcptest_trace::record::Recorder;

use super::budget::Budget;
use super::declared::{declared, reserve};
use super::{Live, LiveError, Progress, RunRequest};

/// The agent that the feature `record` brings.
#[derive(Debug, Default)]
pub(crate) struct BuiltIn;

impl Live for BuiltIn {
    fn prepare(&self, suite: &Suite, agent: &Agent, model: usize) -> Result<(), LiveError> {
        let timeouts = Timeouts::asked()?;
        let provider = provider::ModelEndpoint::of(suite, &agent.models[model])?;
        declared(suite, agent)?;
        Budget::of(suite, &agent.models[model])?;
        model::ModelClient::new(&provider, &timeouts)?;
        Ok(())
    }

    fn run(
        &self,
        suite: &Suite,
        agent: &Agent,
        model: usize,
        request: &RunRequest,
        recorder: &mut Recorder,
        progress: &Progress,
    ) -> Result<Option<Value>, LiveError> {
        let timeouts = Timeouts::asked()?;
        let provider = provider::ModelEndpoint::of(suite, &agent.models[model])?;
        let budget = Budget::of(suite, &agent.models[model])?;
        let model = model::ModelClient::new(&provider, &timeouts)?;
        let wanted = declared(suite, agent)?;
        let _reserved = reserve(&wanted)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| LiveError::new(format!("no runtime could be started: {error}")))?;
        runtime.block_on(async {
            // Servers are started anew for every run, so that no state of one reaches another.
            let servers = servers::Servers::connect(&wanted, &timeouts).await?;
            let offered = match tools::Offered::new(servers.tools(), agent) {
                Ok(offered) => offered,
                Err(error) => {
                    servers.close().await;
                    return Err(error);
                }
            };
            offered.write_down(recorder);
            let started = Instant::now();
            let mut agent_loop = run::Loop {
                request,
                recorder,
                progress,
                model: &model,
                servers: &servers,
                offered: &offered,
                budget: &budget,
            };
            let ran = agent_loop.run().await;
            // Without the time that servers take to start and to stop.
            let took = u64::try_from(started.elapsed().as_millis());
            recorder.duration_ms(took.unwrap_or(u64::MAX));
            servers.close().await;
            ran.map(|()| None)
        })
    }
}

/// How long something outside may take to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Timeouts {
    /// A server, to one request.
    server: Duration,
    /// A model, to one request.
    model: Duration,
}

/// The variable that says how many seconds servers and models may take.
const TIMEOUT: &str = "MCPTEST_RECORD_TIMEOUT";

impl Timeouts {
    fn asked() -> Result<Self, LiveError> {
        match std::env::var_os(TIMEOUT) {
            Some(text) if !text.is_empty() => Self::read(&text.to_string_lossy()),
            _ => Ok(Self {
                server: Duration::from_mins(1),
                model: Duration::from_mins(5),
            }),
        }
    }

    fn read(text: &str) -> Result<Self, LiveError> {
        let seconds = text.parse::<f64>().ok();
        let seconds = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        match seconds.filter(|seconds| !seconds.is_zero()) {
            Some(seconds) => Ok(Self {
                server: seconds,
                model: seconds,
            }),
            None => Err(LiveError::new(format!("`{TIMEOUT}={text}` is no time"))
                .help("write a number of seconds above 0, e.g. 30")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_a_number_of_seconds_above_zero() {
        let read = |text| Timeouts::read(text).map(|timeouts| timeouts.server);
        assert_eq!(read("0.25"), Ok(Duration::from_millis(250)));
        for wrong in ["0", "-1", "soon", "inf", "NaN"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
