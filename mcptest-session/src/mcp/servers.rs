//! The servers of a session, each under its path.

use std::path::Path;
use std::time::Instant;

use axum::http::StatusCode;
use axum::response::Response;
use reqwest::Client;
use serde_json::Value;

use super::call_order::Order;
use super::http::Passage;
use super::rpc;
use super::server::{McpPlace, McpServer};
use super::stdio::Bridge;
use super::traffic::Seen;
use super::traffic_log::{Ear, ServerFailure, Watch};
use crate::door::Ticks;
use crate::endpoint::{Answering, Incoming};

/// The servers that an agent reaches through its session.
#[derive(Debug)]
pub(crate) struct Servers {
    all: Vec<(String, Ear, Open)>,
    watch: Watch,
}

/// The way to a server.
#[derive(Debug)]
enum Open {
    Stdio(Bridge),
    Http(Passage),
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
        order: Option<Order>,
    ) -> Result<Self, ServerFailure> {
        let names = servers.iter().map(|server| server.name.clone());
        let watch = Watch::new(began, names.collect(), order);
        let mut all = Vec::new();
        for server in servers {
            let ear = Ear {
                watch: watch.clone(),
                server: server.name.clone(),
            };
            let open = match &server.place {
                McpPlace::Command { command, .. } => {
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
                    Open::Stdio(bridge.map_err(failed)?)
                }
                McpPlace::Url { url, bearer } => {
                    Open::Http(Passage::new(client.clone(), url, bearer.as_deref()))
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
            Some((_, _, Open::Stdio(bridge))) => bridge.answer(incoming),
            Some((_, ear, Open::Http(passage))) => passage.answer(ear.clone(), incoming),
            None => Box::pin(async { unknown() }),
        }
    }

    /// What a program said till now that is no message.
    pub(crate) fn other_output(&self, server: &str) -> Option<String> {
        let mut all = self.all.iter();
        let found = all.find(|(_, ear, _)| ear.server == server)?;
        match &found.2 {
            Open::Stdio(bridge) => bridge.other_output(),
            Open::Http(_) => None,
        }
    }

    /// What decides which call a fault strikes.
    pub(crate) fn watch(&self) -> Watch {
        self.watch.clone()
    }

    /// What went by till now.
    pub(crate) fn seen(&self) -> Seen {
        self.watch.seen()
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
    pub(crate) fn logins(&self) -> Vec<String> {
        self.watch.logins()
    }

    /// Ends the programs.
    pub(crate) async fn end(&self) {
        for (_, _, open) in &self.all {
            if let Open::Stdio(bridge) = open {
                bridge.end().await;
            }
        }
    }
}

fn unknown() -> Response {
    let text =
        "this session of mcptest has no such server; its suite names the servers of an agent";
    rpc::refused(StatusCode::NOT_FOUND, &Value::Null, text)
}
