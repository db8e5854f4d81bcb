//! An agent that is an async function of this crate: it is called, and an address on loopback stands in place of its
//! model's API.

use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;

use mcptest_session::handle::AgentSession;
use mcptest_session::session::Session;
use mcptest_suite::model::{Agent, Suite};
use mcptest_trace::record::Recorder;
use serde_json::Value;

use super::command::{options, ready, reserved, said_by, shared, spending, told};
use super::spending::SuiteSpending;
use super::{Live, LiveError, Plays, Progress, RunRequest};

/// What a function makes of a session: nothing, or why it failed.
pub(super) type Ran = Pin<Box<dyn Future<Output = Result<(), String>>>>;

/// An agent that is an async function.
pub(crate) struct Function(Box<dyn Fn(AgentSession) -> Ran + Send + Sync>);

impl Function {
    pub(crate) fn new<F, R, E>(run: F) -> Self
    where
        F: Fn(AgentSession) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), E>> + 'static,
        E: Display,
    {
        Self(Box::new(move |session| {
            let ran = run(session);
            // `{:#}` shows the causes of errors that have them.
            Box::pin(async move { ran.await.map_err(|error| format!("{error:#}")) })
        }))
    }
}

impl Function {
    /// Calls the function.
    pub(super) fn call(&self, session: AgentSession) -> Ran {
        (self.0)(session)
    }
}

impl Live for Function {
    fn prepare(&self, suite: &Suite, agent: &Agent, model: usize) -> Result<(), LiveError> {
        ready(suite, agent, model)
    }

    fn plays(&self) -> Option<&dyn Plays> {
        Some(self)
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
        let spending = spending(suite, agent, model, request)?;
        let _reserved = reserved(suite, agent)?;
        // A function may block its thread; the address is served by others.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| LiveError::new(format!("no runtime could be started: {error}")))?;
        let run = runtime.block_on(async {
            let mut options = options(suite, agent, model, request)?;
            options.faults = recorder.injected().cloned();
            options.limits.spending = spending.as_ref().map(shared);
            let begun = Session::record(options).await;
            let session = begun.map_err(|error| said_by(error, agent))?;
            let ran = (self.0)(AgentSession::of(&session));
            let ended = match request.time_budget {
                Some(limit) => tokio::time::timeout(limit, ran).await,
                None => Ok(ran.await),
            };
            if let Some(stopped) = spending.as_ref().and_then(SuiteSpending::stopped) {
                return Err(stopped);
            }
            let is_its_own = !session.is_capped() && session.server_failure().is_none();
            let run = match ended {
                Ok(Ok(())) => session.finish().await,
                Ok(Err(error)) if is_its_own => {
                    let problem = "the agent's own function failed";
                    return Err(LiveError::new(problem).show(error));
                }
                Ok(Err(_)) => session.finish_failed().await,
                Err(_) => session.finish_late().await,
            };
            run.map_err(|error| said_by(error, agent))
        })?;
        told(run, suite, agent, model, request, progress).map(Some)
    }
}
