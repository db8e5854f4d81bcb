//! The desk over streamable HTTP.

use axum::{
    Router,
    extract::{Request, State},
    http::{StatusCode, header::AUTHORIZATION},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};

use crate::server::DeskServer;

/// Serves the desk at `/mcp`, with a fresh state for every MCP session. With a
/// `bearer`, requests that do not carry it are answered with 401.
pub fn router(bearer: Option<String>) -> Router {
    let service: StreamableHttpService<DeskServer, LocalSessionManager> =
        StreamableHttpService::new(
            || Ok(DeskServer::default()),
            LocalSessionManager::default().into(),
            StreamableHttpServerConfig::default(),
        );
    let router = Router::new().route_service("/mcp", service);
    match bearer {
        Some(bearer) => router.layer(middleware::from_fn_with_state(
            format!("Bearer {bearer}"),
            check_bearer,
        )),
        None => router,
    }
}

async fn check_bearer(State(wanted): State<String>, request: Request, next: Next) -> Response {
    let given = request.headers().get(AUTHORIZATION);
    if given.is_some_and(|given| given.as_bytes() == wanted.as_bytes()) {
        next.run(request).await
    } else {
        let challenge = [("www-authenticate", "Bearer")];
        (StatusCode::UNAUTHORIZED, challenge, "wrong bearer token").into_response()
    }
}
