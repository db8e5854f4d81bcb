//! Answers to requests, as JSON-RPC and HTTP have them.

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};

/// A message that answers a request with a result.
pub(crate) fn result(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// A message that answers a request with an error.
pub(crate) fn error(id: &Value, message: &str) -> Value {
    let message = format!("mcptest: {message}");
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32000, "message": message } })
}

/// An answer over HTTP that is one message.
pub(crate) fn message_response(status: StatusCode, message: impl Into<Body>) -> Response {
    let mut response = Response::new(message.into());
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// An answer over HTTP without a body.
pub(crate) fn empty_response(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// An answer over HTTP that refuses a request.
pub(crate) fn error_response(status: StatusCode, id: &Value, message: &str) -> Response {
    message_response(status, error(id, message).to_string())
}
