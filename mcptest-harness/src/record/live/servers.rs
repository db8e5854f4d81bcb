//! MCP servers: started as child processes or reached over HTTP, one connection a run.

use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ServerResult, Tool,
};
use rmcp::service::ServiceError;

use super::Timeouts;
use super::arguments::Arguments;
use super::connection::{Connected, raw};
use super::{connect, wire};
use crate::record::LiveError;
use crate::record::declared::WantedServer;
use crate::text::thousands;

/// The largest tool result that is recorded, in bytes of JSON.
const MAX_RESULT: usize = 8 << 20;

/// Connected servers.
pub(super) struct Servers {
    connected: Vec<Connected>,
    timeout: Duration,
}

/// What came of a tool call.
pub(super) enum Called {
    /// The server answered.
    Answered(Box<CallToolResult>),
    /// The arguments cannot be sent, or the server refused the request itself or did not answer in time.
    Refused(String),
}

impl Servers {
    /// Connects to all servers and asks for their tools.
    pub(super) async fn connect(
        wanted: &[WantedServer],
        timeouts: &Timeouts,
    ) -> Result<Self, LiveError> {
        let mut servers = Self {
            connected: Vec::new(),
            timeout: timeouts.server,
        };
        for one in wanted {
            match connect::connect(one, timeouts.server).await {
                Ok(connected) => servers.connected.push(connected),
                Err(error) => {
                    servers.close().await;
                    return Err(error);
                }
            }
        }
        Ok(servers)
    }

    /// Every tool, with the name of its server.
    pub(super) fn tools(&self) -> impl Iterator<Item = (&str, &Tool)> {
        self.connected.iter().flat_map(|server| {
            let name = server.name.as_str();
            server.tools.iter().map(move |tool| (name, tool))
        })
    }

    /// Calls a tool. A tool that answers with an error, a request that is refused and a call that
    /// takes too long are for the agent to see; a server that is gone ends the recording.
    pub(super) async fn call(
        &self,
        server: &str,
        tool: &str,
        args: &Arguments,
    ) -> Result<Called, LiveError> {
        let Some(connected) = self.connected.iter().find(|one| one.name == server) else {
            return Ok(Called::Refused(format!("there is no server `{server}`")));
        };
        let mark = connected.process.as_ref().map(|(_, mark)| mark);
        let args = match args.for_server(mark) {
            Ok(args) => args,
            Err(problem) => return Ok(Called::Refused(problem)),
        };
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(args);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let answer = tokio::select! {
            biased;
            answer = connected.ask(request, self.timeout) => answer,
            lost = connected.lost() => return Err(connected.no_answer(tool, lost).await),
        };
        match answer {
            Ok(ServerResult::CallToolResult(result)) => {
                let size = serde_json::to_vec(&result).map_or(0, |text| text.len());
                if size > MAX_RESULT {
                    return Err(LiveError::new(format!(
                        "the result of `{tool}` of `{server}` has {} bytes; at most {} are recorded",
                        thousands(size as u64),
                        thousands(MAX_RESULT as u64)
                    ))
                    .at(connected.span)
                    .help("let the tool answer with less: no model reads that much"));
                }
                Ok(Called::Answered(Box::new(result)))
            }
            Ok(ServerResult::InputRequiredResult(_)) => Ok(Called::Refused(format!(
                "`{tool}` asks a person for input, and no person is here"
            ))),
            Ok(other) => {
                let other = raw(other);
                let problem = format!(
                    "the answer of the server `{server}` to `{tool}` is no tool result: {}",
                    wire::no_result(&other)
                );
                Err(connected.unreadable(problem, wire::shown(&other)))
            }
            Err(ServiceError::Timeout { timeout }) => Ok(Called::Refused(format!(
                "`{tool}` timed out: no answer within {} s",
                timeout.as_secs_f64()
            ))),
            Err(ServiceError::McpError(error)) => Ok(Called::Refused(error.message.into_owned())),
            Err(error) => Err(connected.gone(tool, &error).await),
        }
    }

    /// Ends all connections; a server that does not stop by itself is killed.
    pub(super) async fn close(self) {
        for mut connected in self.connected {
            // Nothing is left to save when a server does not stop.
            let limit = Duration::from_secs(2);
            let _ = connected.service.close_with_timeout(limit).await;
            if let Some((process, _)) = connected.process {
                process.into_inner().end().await;
            }
        }
    }
}
