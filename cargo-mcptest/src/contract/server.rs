//! A live MCP server: what it calls itself, and every tool that it lists.

mod error;
mod process;

use std::collections::{HashMap, HashSet};
use std::env;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult};
use rmcp::service::{ClientInitializeError, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::Contract;
use crate::address::redact_in;
use crate::failure::Failure;
use error::{InvalidTool, ListError, ServerError};
use process::ServerProcess;

/// A server that was asked for its tools.
#[derive(Debug)]
pub(super) struct LiveServer {
    /// What it calls itself.
    pub(super) name: String,
    pub(super) version: String,
    pub(super) tools: Vec<LiveTool>,
}

/// A tool as the server lists it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct LiveTool {
    pub(super) name: String,
    pub(super) description: String,
    /// The JSON Schema of its arguments.
    pub(super) schema: Value,
    pub(super) annotations: Map<String, Value>,
}

type Client = RunningService<RoleClient, ()>;

/// Starts or reaches the server, and asks for all its tools.
pub(super) fn query_server(contract: &Contract) -> Result<LiveServer, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let answer = runtime.block_on(async {
        match &contract.url {
            Some(url) => over_http(contract, url).await,
            None => over_stdio(contract).await,
        }
    });
    runtime.shutdown_background();
    answer
}

async fn over_stdio(contract: &Contract) -> Result<LiveServer, Failure> {
    let (mut process, transport) = ServerProcess::start(&contract.command)?;
    let too_deep = process.too_deep();
    let asked = tokio::select! {
        asked = query_client(().serve(transport), contract.limit()) => asked,
        () = too_deep.notified() => Err(ServerError::TooDeep),
    };
    match asked {
        Ok(server) => {
            process.end().await;
            Ok(server)
        }
        Err(error) => Err(process.failure(&contract.server_label(), &error).await),
    }
}

async fn over_http(contract: &Contract, url: &str) -> Result<LiveServer, Failure> {
    let is_http =
        Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    if !is_http {
        return Err(
            Failure::new(format!("`{}` is no HTTP address", contract.server_label())).with_help(
                "write the address of the server, for example `--url https://example.com/mcp`",
            ),
        );
    }
    // The first in a process wins, and there is no other.
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
    let client = reqwest::Client::builder()
        .redirect(Policy::none())
        .build()
        .map_err(|error| Failure::new(format!("no connection can be made: {error}")))?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    config.auth_header = match &contract.bearer_token_env {
        Some(variable) => Some(secret(variable)?),
        None => None,
    };
    config.custom_headers = headers(&contract.header_env)?;
    let transport = StreamableHttpClientTransport::with_client(client, config);
    let asked = query_client(().serve(transport), contract.limit()).await;
    asked.map_err(|error| {
        let why = redact_in(&error.to_string(), url);
        Failure::new(format!("the server `{}` {why}", contract.server_label()))
            .with_help("`--url` must be the server's address for MCP over streamable HTTP, with its path, for example `https://example.com/mcp`")
    })
}

/// The headers whose values environment variables hold.
fn headers(wanted: &[String]) -> Result<HashMap<HeaderName, HeaderValue>, Failure> {
    let header = |wanted: &String| {
        let parts = wanted.split_once('=');
        let name = parts.and_then(|(name, _)| HeaderName::from_bytes(name.as_bytes()).ok());
        let (Some(name), Some((_, variable))) = (name, parts) else {
            return Err(
                Failure::new(format!("`{wanted}` does not name a header and a variable"))
                    .with_help("write both, as `--header-env x-api-key=DESK_API_KEY`"),
            );
        };
        let value = HeaderValue::from_str(&secret(variable)?).map_err(|_| {
            Failure::new(format!(
                "the value of the variable `{variable}` cannot be the value of a header"
            ))
            .with_help("a header is one line of visible characters")
        })?;
        Ok((name, value))
    };
    wanted.iter().map(header).collect()
}

fn secret(variable: &str) -> Result<String, Failure> {
    let value = env::var(variable).ok().filter(|value| !value.is_empty());
    value.ok_or_else(|| {
        Failure::new(format!("the environment variable `{variable}` is not set"))
            .with_help("set it to the secret that the server asks for")
    })
}

/// The server's answer, or what it does in place of one.
async fn query_client(
    opening: impl Future<Output = Result<Client, ClientInitializeError>>,
    limit: Duration,
) -> Result<LiveServer, ServerError> {
    let client = match timeout(limit, opening).await {
        Ok(Ok(client)) => client,
        Ok(Err(error)) => return Err(ServerError::Initialize(Box::new(error))),
        Err(_) => return Err(ServerError::NoAnswer { limit }),
    };
    let listed = timeout(limit, list_tools(&client)).await;
    let tools = match listed {
        Ok(Ok(tools)) => tools,
        Ok(Err(error)) => return Err(ServerError::List(error)),
        Err(_) => return Err(ServerError::Endless { limit }),
    };
    let info = client.peer_info();
    let info = info.as_deref().and_then(|info| info.server_info.as_ref());
    let server = LiveServer {
        name: info.map(|info| info.name.clone()).unwrap_or_default(),
        version: info.map(|info| info.version.clone()).unwrap_or_default(),
        tools,
    };
    // The end of the session is no part of the answer.
    _ = timeout(limit, client.cancel()).await;
    Ok(server)
}

/// Every tool, page by page.
async fn list_tools(client: &Client) -> Result<Vec<LiveTool>, ListError> {
    let (mut tools, mut cursor) = (Vec::<LiveTool>::new(), None);
    let mut cursors = HashSet::new();
    loop {
        let page = PaginatedRequestParams::default().with_cursor(cursor);
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(page));
        let page = match client.send_request(request).await {
            Ok(ServerResult::ListToolsResult(page)) => page,
            Ok(other) => {
                let answer = serde_json::to_value(other).unwrap_or_default();
                return Err(match InvalidTool::find(&answer) {
                    Some(invalid) => ListError::InvalidTool(invalid),
                    None => ListError::NotAList { answer },
                });
            }
            Err(ServiceError::TransportClosed) => return Err(ListError::Closed),
            Err(error) => return Err(ListError::Service(error)),
        };
        for tool in page.tools {
            let tool = LiveTool::from_tool(tool);
            if tools.iter().any(|other| other.name == tool.name) {
                return Err(ListError::Twice { name: tool.name });
            }
            tools.push(tool);
        }
        cursor = page.next_cursor;
        match &cursor {
            None => return Ok(tools),
            Some(next) if !cursors.insert(next.clone()) => {
                return Err(ListError::Circle);
            }
            Some(_) => {}
        }
    }
}

impl LiveTool {
    fn from_tool(tool: rmcp::model::Tool) -> Self {
        let annotations = tool
            .annotations
            .and_then(|it| serde_json::to_value(it).ok());
        let annotations = match annotations {
            Some(Value::Object(annotations)) => annotations,
            _ => Map::new(),
        };
        Self {
            name: tool.name.into_owned(),
            description: tool.description.unwrap_or_default().into_owned(),
            schema: Value::Object((*tool.input_schema).clone()),
            annotations,
        }
    }
}
