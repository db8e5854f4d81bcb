//! Amazon Bedrock: what its two wire formats share, which are paths, errors, and exceptions inside of a stream.

mod blocks;
mod converse;
pub(super) mod frames;
mod invoke;
mod stream;

use mcptest_trace::record::redact::percent_decoded;
use serde_json::{Value, json};

use super::provider::Version;
use super::sse::Event;
use super::{Provider, Route, error_message};
use crate::json::text;

pub use converse::Converse;
pub use invoke::Invoke;

const PROVIDERS: [Provider; 1] = [Provider {
    name: "bedrock",
    aliases: &["amazon-bedrock"],
    suffix: "",
    variables: &[
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
        "ANTHROPIC_BEDROCK_BASE_URL",
        "AWS_BEDROCK_RUNTIME_ENDPOINT",
    ],
    // They log in to all of AWS, which tools of the agent may need.
    keys: &[],
    default: Some("https://bedrock-runtime.{region}.amazonaws.com"),
    version: Version::None,
    openai_at: None,
    port: None,
}];

/// Whether a format is one of Bedrock, whose clients sign their requests.
pub(crate) fn is_of_bedrock(format: &str) -> bool {
    [converse::NAME, invoke::NAME].contains(&format)
}

/// The model that a path names, and the operation: `/model/{model}/converse`. A model may be an ARN, whose slashes some
/// clients leave as they are.
fn operation(path: &str) -> Option<(String, &str)> {
    let (_, rest) = path.trim_end_matches('/').split_once("/model/")?;
    let (model, operation) = rest.rsplit_once('/')?;
    (!model.is_empty()).then(|| (percent_decoded(model), operation))
}

/// The route of a path that ends with one of two operations: an answer comes whole, or as a stream.
fn route(path: &str, whole: &str, stream: &str) -> Option<Route> {
    let (model, operation) = operation(path)?;
    let is_streamed = operation == stream;
    (is_streamed || operation == whole).then_some(Route {
        model: Some(model),
        streamed: Some(is_streamed),
    })
}

/// An error. Clients take its kind from a header or from the body; both are right.
fn error(status: u16, message: &str) -> Value {
    json!({ "__type": kind(status), "message": message })
}

/// The exception of a status.
fn kind(status: u16) -> &'static str {
    match status {
        401 | 403 => "AccessDeniedException",
        404 => "ResourceNotFoundException",
        408 => "ModelTimeoutException",
        424 => "ModelErrorException",
        429 => "ThrottlingException",
        503 => "ServiceUnavailableException",
        500.. => "InternalServerException",
        _ => "ValidationException",
    }
}

/// What the name of an exception ends with.
const EXCEPTION: &str = "Exception";

/// Whether an event is an exception, which ends the stream.
fn is_exception(event: &Event) -> bool {
    let name = event.name.as_deref().unwrap_or_default();
    name.ends_with(EXCEPTION)
}

/// The error that an exception tells: its fields, and its name.
fn exception_error(event: &Event, data: Option<Value>) -> Value {
    let mut error = data.filter(Value::is_object).unwrap_or_else(|| json!({}));
    error["type"] = event.name.as_deref().into();
    error
}

/// An error inside of a stream as an exception. One of another provider is an error of the model.
fn exception(error: &Value) -> Event {
    let name = text(error, "type").filter(|name| name.ends_with(EXCEPTION));
    let Some(name) = name else {
        let message = error_message(error).unwrap_or("the model failed");
        return Event::named(
            "modelStreamErrorException",
            json!({ "message": message }).to_string(),
        );
    };
    let mut fields = error.clone();
    if let Some(fields) = fields.as_object_mut() {
        fields.remove("type");
    }
    Event::named(name, fields.to_string())
}
