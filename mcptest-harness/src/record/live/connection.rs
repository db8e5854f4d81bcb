//! A connection to a server: what is asked over it, and what can come instead of an answer.

use std::time::Duration;

use mcptest_suite::Span;
use rmcp::RoleClient;
use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult, Tool};
use rmcp::service::{PeerRequestOptions, RunningService, ServiceError};
use serde_json::Value;
use tokio::sync::Mutex;

use super::child::Process;
use super::exact::Mark;
use super::problem::with_causes;
use super::wire::Broken;
use crate::record::LiveError;

/// An open connection.
pub(super) type Service = RunningService<RoleClient, ()>;

/// A connected server.
pub(super) struct Connected {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) service: Service,
    pub(super) tools: Vec<Tool>,
    /// The process, where the server is one, and what marks numbers in what it is sent.
    pub(super) process: Option<(Mutex<Process>, Mark)>,
}

impl Connected {
    /// Asks; a server that takes too long is told that nobody waits any more.
    pub(super) async fn ask(
        &self,
        request: ClientRequest,
        limit: Duration,
    ) -> Result<ServerResult, ServiceError> {
        let options = PeerRequestOptions::with_timeout(limit);
        let asked = self.service.send_cancellable_request(request, options);
        asked.await?.await_response().await
    }

    /// Waits until no answer can come any more; for ever where only an answer can tell.
    pub(super) async fn lost(&self) -> Option<Broken> {
        match &self.process {
            Some((process, _)) => process.lock().await.lost().await,
            None => std::future::pending().await,
        }
    }

    /// The server's process can answer no more.
    pub(super) async fn no_answer(&self, tool: &str, lost: Option<Broken>) -> LiveError {
        match lost {
            Some(broken) => self.unreadable(
                format!(
                    "the answer of the server `{}` to `{tool}` {}",
                    self.name, broken.problem
                ),
                broken.shown,
            ),
            None => self.gone(tool, &ServiceError::TransportClosed).await,
        }
    }

    /// The server lives, and said what nobody can read.
    pub(super) fn unreadable(&self, problem: String, shown: String) -> LiveError {
        LiveError::new(problem)
            .at(self.span)
            .show(shown)
            .help("the run is not recorded; correct the server and record again")
    }

    pub(super) async fn gone(&self, tool: &str, how: &ServiceError) -> LiveError {
        let how = match how {
            // Its own text names types.
            ServiceError::TransportSend(error) => with_causes(error.error.as_ref()),
            ServiceError::TransportClosed => "the connection is closed".to_owned(),
            other => other.to_string(),
        };
        let name = &self.name;
        let error = LiveError::new(format!(
            "the server `{name}` gave no answer to `{tool}`: {how}"
        ))
        .at(self.span)
        .help("the run is not recorded; correct the server and record again");
        match &self.process {
            Some((process, _)) => process.lock().await.explain(error, true).await,
            None => error,
        }
    }
}

/// Every tool of a server, page by page. An error is what came instead.
pub(super) async fn list_tools(service: &Service) -> Result<Vec<Tool>, NoTools> {
    let (mut tools, mut cursor) = (Vec::new(), None);
    loop {
        let page = PaginatedRequestParams::default().with_cursor(cursor);
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(page));
        match service.send_request(request).await {
            Ok(ServerResult::ListToolsResult(page)) => {
                tools.extend(page.tools);
                cursor = page.next_cursor;
            }
            Ok(other) => return Err(NoTools::Unreadable(raw(other))),
            Err(error) => return Err(NoTools::Refused(error)),
        }
        if cursor.is_none() {
            return Ok(tools);
        }
    }
}

/// Why a server has no list of tools.
pub(super) enum NoTools {
    Unreadable(Value),
    Refused(ServiceError),
}

/// An answer as it came.
pub(super) fn raw(result: ServerResult) -> Value {
    serde_json::to_value(result).unwrap_or_default()
}
