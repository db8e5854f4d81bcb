//! Recordings, played to the built-in agent: to the prompts, the model, the servers and the caps of the suite as it is now.

use mcptest_session::handle::AgentSession;
use mcptest_suite::model::Agent;
use tokio::time::timeout;

use super::BuiltIn;
use super::agent::{AgentLoop, NotBegun};
use super::provider::ModelEndpoint;
use super::timeouts::Timeouts;
use crate::record::own_code::{GIVE_CODE, WITHOUT_CODE, is_of_own_code};
use crate::record::playing::{
    no_runtime, redactor, run_options, start_session, time_limit, to_played_run,
};
use crate::record::{LiveError, PlayRequest, Playable, PlayedRun, RunRequest};

/// How the agent ended.
enum Ended {
    /// By itself, or by a cap of the suite.
    Well(Option<&'static str>),
    Failed(LiveError),
    /// It asked too often what was not recorded.
    Stopped,
    Late,
}

impl Playable for &BuiltIn {
    fn play(&self, request: &PlayRequest<'_>) -> Result<PlayedRun, LiveError> {
        let PlayRequest {
            suite,
            agent,
            model,
            ..
        } = *request;
        if is_of_own_code(request.cassette) {
            return Err(LiveError::new(WITHOUT_CODE).help(GIVE_CODE));
        }
        let model = &agent.models[model];
        let asked = RunRequest::new(agent, &model.value, 0);
        let endpoint = ModelEndpoint::played(suite, model)?;
        let limit = time_limit(request);
        let timeouts = Timeouts {
            server: limit,
            model: limit,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| no_runtime(&error))?;
        let (played, ended) = runtime.block_on(async {
            let session = start_session(request).await?;
            let own = AgentSession::from_play_session(&session);
            let ran = async {
                let begun = AgentLoop::begin(agent, &asked, endpoint, timeouts, own, &|| false);
                match begun.await {
                    Ok(agent_loop) => agent_loop.run(true).await,
                    Err(NotBegun::Error(error)) => Err(error),
                    Err(NotBegun::Server(server, _)) => {
                        let problem =
                            format!("the recording does not say what tools `{server}` has");
                        Err(LiveError::new(problem))
                    }
                }
            };
            let ended = tokio::select! {
                biased;
                ran = timeout(limit, ran) => match ran {
                    Ok(Ok(cap)) => Ended::Well(cap),
                    Ok(Err(error)) => Ended::Failed(error),
                    Err(_) => Ended::Late,
                },
                () = session.stopped() => Ended::Stopped,
            };
            let (exit, stopped) = match &ended {
                Ended::Well(cap) => (0, *cap),
                Ended::Failed(_) | Ended::Stopped => (1, Some("error")),
                Ended::Late => (124, Some("time_budget")),
            };
            let redactor = redactor(request)?;
            let mut options = run_options(request);
            options.max_tool_calls = asked.max_tool_calls;
            let played = session.finish(exit, stopped, options, Some(&redactor));
            Ok((played, ended))
        })?;
        let how = match ended {
            Ended::Well(_) => None,
            Ended::Failed(error) if played.requests == 0 => return Err(error),
            Ended::Failed(error) => Some(format!("the built-in agent failed: {}", error.problem)),
            Ended::Stopped => Some(
                "the session ended the built-in agent, as it asked again and again for what was not recorded"
                    .to_owned(),
            ),
            Ended::Late => Some("the built-in agent took too long".to_owned()),
        };
        to_played_run(request, played, how, Vec::new())
    }

    fn one_by_one(&self, _: &Agent) -> bool {
        false
    }
}
