//! An agent that is an async function of this crate: it is called, and an address on loopback stands in place of its
//! model's API.

mod call;

use std::fmt::Display;
use std::future::{Future, pending};
use std::sync::Arc;
use std::time::Duration;

use mcptest_session::handle::AgentSession;
use mcptest_session::session::Session;
use mcptest_suite::model::{Agent, Suite};
use mcptest_trace::record::{Recorder, say};
use serde_json::Value;

use super::command::{
    check_ready, finish_run, reserve_servers, session_failure, session_options, spending,
    to_spending,
};
use super::no_model_call::{USE_THE_SESSION, function_error, with_upstream_error};
use super::spending::SuiteSpending;
use super::{Live, LiveError, Playable, Progress, RunRequest};

use call::Ran;
pub(super) use call::{LEFT, Returned};

/// An agent that is an async function.
pub(crate) struct Function(Arc<dyn Fn(AgentSession) -> Ran + Send + Sync>);

impl Function {
    pub(crate) fn new<F, R, E>(run: F) -> Self
    where
        F: Fn(AgentSession) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), E>> + 'static,
        E: Display,
    {
        Self(Arc::new(move |session| {
            let ran = run(session);
            // `{:#}` shows the causes of errors that have them.
            Box::pin(async move { ran.await.map_err(|error| format!("{error:#}")) })
        }))
    }
}

impl Function {
    /// Calls the function, which may take so long, until it is to be ended.
    pub(super) async fn call(
        &self,
        session: AgentSession,
        limit: Option<Duration>,
        ends: impl Future<Output = ()>,
    ) -> Returned {
        let function = Arc::clone(&self.0);
        call::run_on_thread(move || function(session), limit, ends).await
    }
}

impl Live for Function {
    fn prepare(&self, suite: &Suite, agent: &Agent, model: usize) -> Result<(), LiveError> {
        check_ready(suite, agent, model)
    }

    fn playable(&self) -> Option<Box<dyn Playable + '_>> {
        Some(Box::new(self))
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
        let _reserved = reserve_servers(suite, agent)?;
        // The address is served here, whatever the function does on its own thread.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| LiveError::new(format!("no runtime could be started: {error}")))?;
        let run = runtime.block_on(async {
            let mut options = session_options(suite, agent, model, request)?;
            options.faults = recorder.injected().cloned();
            options.limits.spending = spending.as_ref().map(to_spending);
            let begun = Session::record(options).await;
            let session = begun.map_err(|error| session_failure(error, agent))?;
            let returned = self
                .call(
                    AgentSession::from_session(&session),
                    request.time_budget,
                    pending(),
                )
                .await;
            if let Some(stopped) = spending.as_ref().and_then(SuiteSpending::stopped) {
                return Err(stopped);
            }
            let is_its_own = !session.is_capped() && session.server_failure().is_none();
            let run = match returned {
                Returned::Well => session.finish().await,
                Returned::Failed(error) if is_its_own => {
                    let error = LiveError::new("the agent's own function failed").show(error);
                    return Err(with_upstream_error(&session, error));
                }
                Returned::Panicked(what) if is_its_own => {
                    let error = LiveError::new("the agent's own function panicked").show(what);
                    return Err(with_upstream_error(&session, error));
                }
                Returned::Failed(_) | Returned::Panicked(_) | Returned::Stopped { .. } => {
                    session.finish_failed().await
                }
                Returned::Late { .. } if session.requests() == 0 => {
                    let problem = "the agent's own function called no model within `time_budget`";
                    return Err(LiveError::new(problem).help(USE_THE_SESSION));
                }
                Returned::Late { is_left } => {
                    if is_left {
                        say(&format!(
                            "note: run {} of `{}`: {LEFT}",
                            request.run, request.agent
                        ));
                    }
                    session.finish_late().await
                }
            };
            run.map_err(|error| {
                function_error(error).unwrap_or_else(|error| session_failure(error, agent))
            })
        })?;
        finish_run(run, suite, agent, model, request, progress).map(Some)
    }
}
