//! The servers of a session, each under its path.

use std::path::Path;
use std::time::Instant;

use axum::http::StatusCode;
use axum::response::Response;
use reqwest::Client;
use serde_json::Value;

use super::call_order::CallOrder;
use super::http::HttpProxy;
use super::rpc;
use super::server::{McpServer, McpTransport};
use super::stdio::Bridge;
use super::traffic::McpTraffic;
use super::traffic_log::{ServerFailure, ServerObserver, TrafficLog};
use crate::door::Ticks;
use crate::endpoint::{Answering, Incoming};

/// The servers that an agent reaches through its session.
#[derive(Debug)]
pub(crate) struct Servers {
    all: Vec<(String, ServerObserver, ServerConnection)>,
    watch: TrafficLog,
}

/// The way to a server.
#[derive(Debug)]
enum ServerConnection {
    Stdio(Bridge),
    Http(HttpProxy),
}

impl Servers {
    /// Starts those that are programs. The file goes with them when this process is killed.
    ///
    /// # Errors
    ///
    /// One cannot be started.
    pub(crate) fn start(
        servers: &[McpServer],
        began: (Instant, Ticks),
        client: &Client,
        file: Option<&Path>,
        order: Option<CallOrder>,
    ) -> Result<Self, ServerFailure> {
        let names = servers.iter().map(|server| server.name.clone());
        let watch = TrafficLog::new(began, names.collect(), order);
        let mut all = Vec::new();
        for server in servers {
            let ear = ServerObserver {
                watch: watch.clone(),
                server: server.name.clone(),
            };
            let open = match &server.place {
                McpTransport::Command { command, .. } => {
                    let bridge = Bridge::start(&server.place, file, ear.clone());
                    let failed = |error: std::io::Error| ServerFailure {
                        server: server.name.clone(),
                        problem: format!(
                            "the server `{}` cannot be started: `{}`: {error}",
                            server.name,
                            command.first().map_or("", String::as_str)
                        ),
                        shown: None,
                    };
                    ServerConnection::Stdio(bridge.map_err(failed)?)
                }
                McpTransport::Url { url, bearer } => {
                    ServerConnection::Http(HttpProxy::new(client.clone(), url, bearer.as_deref()))
                }
            };
            all.push((server.path(), ear, open));
        }
        Ok(Self { all, watch })
    }

    /// Answers a request whose path is that of a server.
    pub(crate) fn answer(&self, incoming: Incoming) -> Answering {
        let path = incoming.path.strip_suffix('/').unwrap_or(&incoming.path);
        let found = self.all.iter().find(|(own, ..)| own == path);
        match found {
            Some((_, _, ServerConnection::Stdio(bridge))) => bridge.answer(incoming),
            Some((_, ear, ServerConnection::Http(passage))) => {
                passage.answer(ear.clone(), incoming)
            }
            None => Box::pin(async { unknown_server() }),
        }
    }

    /// What a program said till now that is no message.
    pub(crate) fn other_output(&self, server: &str) -> Option<String> {
        let mut all = self.all.iter();
        let found = all.find(|(_, ear, _)| ear.server == server)?;
        match &found.2 {
            ServerConnection::Stdio(bridge) => bridge.other_output(),
            ServerConnection::Http(_) => None,
        }
    }

    /// What decides which call a fault strikes.
    pub(crate) fn watch(&self) -> TrafficLog {
        self.watch.clone()
    }

    /// What went by till now.
    pub(crate) fn traffic(&self) -> McpTraffic {
        self.watch.traffic()
    }

    /// Why what went by makes no run.
    pub(crate) fn failure(&self) -> Option<ServerFailure> {
        self.watch.failure()
    }

    /// A fault that was for a call which reached no server: its name, and the tool's.
    pub(crate) fn missed_fault(&self) -> Option<(String, String)> {
        self.watch.missed_fault()
    }

    /// Whether a call was refused, as the run may make no more.
    pub(crate) fn has_refused(&self) -> bool {
        self.watch.has_refused()
    }

    /// What clients logged in with.
    pub(crate) fn credentials(&self) -> Vec<String> {
        self.watch.credentials()
    }

    /// Ends the programs.
    pub(crate) async fn end(&self) {
        for (_, _, open) in &self.all {
            if let ServerConnection::Stdio(bridge) = open {
                bridge.end().await;
            }
        }
    }
}

fn unknown_server() -> Response {
    let text =
        "this session of mcptest has no such server; its suite names the servers of an agent";
    rpc::error_response(StatusCode::NOT_FOUND, &Value::Null, text)
}
