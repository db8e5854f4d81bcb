//! A mock server over standard input and output, or over streamable HTTP.

use std::future::Future;
use std::io::Write;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt as _;
use rmcp::model::{ClientNotification, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::transport::{Transport, stdio};
use rmcp::{RoleServer, ServiceExt};
use serde_json::Value;
use tokio::net::TcpListener;

use super::server::MockServer;
use crate::failure::Failure;

/// The largest request over HTTP.
const MOST_BYTES: usize = 64 << 20;

/// Serves the client that started this process, until it has gone.
pub(super) async fn over_stdio(server: MockServer) -> Result<(), Failure> {
    let (input, output) = stdio();
    let transport = Heard {
        all: AsyncRwTransport::new_server(input, output),
        deaf_to_cancellation: server.ignores_cancellation(),
    };
    let running = server
        .serve(transport)
        .await
        .map_err(|error| Failure::new(format!("the client did not begin a session: {error}")))?;
    let ended = running.waiting().await;
    ended
        .map(|_| ())
        .map_err(|error| Failure::new(format!("the session broke off: {error}")))
}

/// Serves whoever comes, at `/mcp`, until the process is stopped.
pub(super) async fn over_http(
    server: MockServer,
    address: &str,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let cannot = |error| {
        Failure::new(format!("`{address}` cannot be served: {error}"))
            .with_help("give a free address of this machine, for example `--http 127.0.0.1:0`")
    };
    let listener = TcpListener::bind(address).await.map_err(cannot)?;
    let here = listener.local_addr()?;
    // An answer is small, and is waited for.
    let listener = listener.tap_io(|connection| _ = connection.set_nodelay(true));
    let config = StreamableHttpServerConfig::default().with_max_request_body_bytes(MOST_BYTES);
    // Pages in a browser must not reach a server that is for this machine alone.
    let config = if here.ip().is_loopback() {
        config
    } else {
        config.disable_allowed_hosts()
    };
    let deaf = server.ignores_cancellation();
    let service: StreamableHttpService<MockServer, LocalSessionManager> =
        StreamableHttpService::new(
            move || Ok(server.clone()),
            LocalSessionManager::default().into(),
            config,
        );
    let mut router = Router::new().route_service("/mcp", service);
    if deaf {
        router = router.layer(middleware::from_fn(without_cancellations));
    }
    writeln!(out, "listening on http://{here}/mcp")?;
    out.flush()?;
    axum::serve(listener, router).await.map_err(cannot)
}

/// What a server hears of a client.
struct Heard<T> {
    all: T,
    deaf_to_cancellation: bool,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Heard<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.all.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.all.receive().await?;
            if !(self.deaf_to_cancellation && is_cancellation(&message)) {
                return Some(message);
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.all.close()
    }
}

fn is_cancellation(message: &RxJsonRpcMessage<RoleServer>) -> bool {
    let JsonRpcMessage::Notification(notification) = message else {
        return false;
    };
    matches!(
        notification.notification,
        ClientNotification::CancelledNotification(_)
    )
}

/// Takes every cancellation politely, and tells nobody.
async fn without_cancellations(request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MOST_BYTES).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let method = serde_json::from_slice::<Value>(&body);
    if method.is_ok_and(|message| message["method"] == "notifications/cancelled") {
        return StatusCode::ACCEPTED.into_response();
    }
    next.run(Request::from_parts(head, Body::from(body))).await
}
