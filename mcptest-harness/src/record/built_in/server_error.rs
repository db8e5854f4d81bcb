//! What is said of a server that cannot be used.

use std::time::Duration;

use mcptest_suite::model::Transport;

use super::mcp::NoAnswer;
use crate::record::LiveError;
use crate::record::declared::WantedServer;

/// What a server gave no usable answer to, before its tools were known.
pub(super) enum ServerProblem {
    Greeting(NoAnswer),
    Tools(NoAnswer),
}

impl WantedServer {
    /// The server cannot be used. `output`: what it said that is no message.
    pub(super) fn not_begun(
        &self,
        why: &ServerProblem,
        limit: Duration,
        output: Option<String>,
    ) -> LiveError {
        let seconds = limit.as_secs_f64();
        let error = match why {
            ServerProblem::Greeting(NoAnswer::TimedOut) => {
                let error = self
                    .error(&format!("did not answer `initialize` within {seconds} s"))
                    .help(format!(
                        "{}; set MCPTEST_RECORD_TIMEOUT to more seconds",
                        self.try_it()
                    ));
                match self.server.transport {
                    Transport::Stdio { .. } => error.note(
                        "an MCP server answers on its standard output, with one JSON message a line and nothing else",
                    ),
                    Transport::Http { .. } => error,
                }
            }
            ServerProblem::Greeting(NoAnswer::Unauthorized) => self.unauthorized(),
            ServerProblem::Greeting(other) => self
                .error(&format!("cannot be used: {}", words(other, seconds)))
                .help(self.try_it()),
            ServerProblem::Tools(other) => self
                .error(&format!(
                    "does not list its tools: {}",
                    words(other, seconds)
                ))
                .help("correct the server: an agent needs the tools of its servers"),
        };
        let (ServerProblem::Greeting(answer) | ServerProblem::Tools(answer)) = why;
        let shown = match answer {
            NoAnswer::Unusable(_, shown) => shown.clone(),
            _ => None,
        };
        LiveError {
            shown: shown.or(output),
            ..error
        }
    }

    fn unauthorized(&self) -> LiveError {
        let error = self.error("refuses the connection: it requires authorization");
        let Transport::Http {
            bearer_token_env, ..
        } = &self.server.transport
        else {
            return error;
        };
        error.help(match bearer_token_env {
            Some(variable) => {
                format!("check that the value of `{variable}` is a token for this server")
            }
            None => "add a token: `auth: { bearer_token_env: NAME }`".to_owned(),
        })
    }

    /// How a person can find out more.
    pub(super) fn try_it(&self) -> String {
        match &self.server.transport {
            Transport::Stdio { command, .. } => {
                format!("run it by hand: `{}`", command.join(" "))
            }
            Transport::Http { url, .. } => format!("check that an MCP server listens at {url}"),
        }
    }
}

fn words(answer: &NoAnswer, seconds: f64) -> String {
    match answer {
        NoAnswer::Refused(text) | NoAnswer::Unusable(text, _) => text.clone(),
        NoAnswer::TimedOut => format!("no answer within {seconds} s"),
        NoAnswer::Unauthorized => "it requires authorization".to_owned(),
        NoAnswer::TooLarge(bytes) => format!("its answer has {bytes} bytes"),
    }
}
