//! The built-in agent, recorded.

use mcptest_session::handle::AgentSession;
use mcptest_session::session::{Session, SessionError};
use mcptest_suite::model::{Agent, Suite};
use mcptest_trace::record::Recorder;
use mcptest_trace::record::environment::secrets;
use serde_json::Value;
use tokio::time::timeout;

use super::BuiltIn;
use super::agent::{AgentLoop, NotBegun};
use super::provider::ModelEndpoint;
use super::timeouts::Timeouts;
use crate::record::command::{
    check_ready, finish_run, reserve_servers, session_failure, session_options, spending,
    to_spending,
};
use crate::record::declared::find_servers;
use crate::record::spending::SuiteSpending;
use crate::record::{Live, LiveError, Playable, Progress, RunRequest};

impl Live for BuiltIn {
    fn prepare(&self, suite: &Suite, agent: &Agent, model: usize) -> Result<(), LiveError> {
        Timeouts::from_environment()?;
        ModelEndpoint::from_suite(suite, &agent.models[model])?.upstream()?;
        find_servers(suite, agent)?;
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
        let timeouts = Timeouts::from_environment()?;
        let endpoint = ModelEndpoint::from_suite(suite, &agent.models[model])?;
        let spending = spending(suite, agent, model, request)?;
        let _reserved = reserve_servers(suite, agent)?;
        let mut options = session_options(suite, agent, model, request)?;
        options.upstreams = vec![endpoint.upstream()?];
        options.secrets = secrets(suite.secret_variables()).collect();
        options.faults = recorder.injected().cloned();
        options.limits.model_calls = Some(request.max_turns);
        options.limits.without_failed = true;
        options.limits.spending = spending.as_ref().map(to_spending);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| LiveError::new(format!("no runtime could be started: {error}")))?;
        let (run, tools) = runtime.block_on(async {
            let session = Session::record(options).await;
            let session = session.map_err(|error| session_failure(error, agent))?;
            let has_failed = || session.server_failure().is_some();
            let begun = AgentLoop::begin(
                agent,
                request,
                endpoint,
                timeouts,
                AgentSession::from_session(&session),
                &has_failed,
            );
            let agent_loop = match begun.await {
                Ok(begun) => begun,
                Err(NotBegun::Error(error)) => return Err(error),
                Err(NotBegun::Server(server, why)) => {
                    let wanted = find_servers(suite, agent)?;
                    let wanted = wanted.iter().find(|it| it.server.name.value == server);
                    let failure = session.server_failure().map(SessionError::Server);
                    let failure = failure.map(|failure| session_failure(failure, agent));
                    return Err(match (wanted, failure) {
                        (Some(wanted), None) => {
                            wanted.not_begun(&why, timeouts.server, session.server_output(&server))
                        }
                        (Some(wanted), Some(failure)) => failure.help(wanted.try_it()),
                        (None, failure) => {
                            failure.unwrap_or_else(|| LiveError::new("a server is not declared"))
                        }
                    });
                }
            };
            let ran = match request.time_budget {
                Some(limit) => timeout(limit, agent_loop.run(false)).await,
                None => Ok(agent_loop.run(false).await),
            };
            let tools = agent_loop.tools_fingerprint();
            agent_loop.close().await;
            drop(agent_loop);
            if let Some(stopped) = spending.as_ref().and_then(SuiteSpending::stopped) {
                return Err(stopped);
            }
            let is_its_own = !session.is_capped() && !has_failed();
            let run = match ran {
                // The session keeps the caps.
                Ok(Ok(_)) => session.finish().await,
                Ok(Err(error)) if is_its_own => return Err(error),
                Ok(Err(_)) => session.finish_failed().await,
                Err(_) => session.finish_late().await,
            };
            run.map(|run| (run, tools))
                .map_err(|error| session_failure(error, agent))
        })?;
        let mut cassette = finish_run(run, suite, agent, model, request, progress)?;
        cassette["tools_fingerprint"] = tools.into();
        Ok(Some(cassette))
    }
}
