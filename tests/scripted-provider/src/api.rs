//! The APIs, and how each of them words an error.

use serde_json::{Value, json};

use crate::{bedrock, bedrock::Operation, gemini, vertex};

/// The shape a request is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    /// The Anthropic Messages API.
    Anthropic,
    /// `OpenAI` Chat Completions.
    OpenAi,
    /// `OpenAI` Responses.
    Responses,
    /// Gemini's `generateContent` and `streamGenerateContent`.
    Gemini,
    /// Ollama's own chat.
    Ollama,
    /// Bedrock's `Converse` and `ConverseStream`.
    Converse,
    /// Bedrock's `InvokeModel` with a body of Anthropic's.
    Invoke,
}

impl Api {
    /// The API served at a path.
    pub(crate) fn from_path(path: &str) -> Option<Self> {
        match path {
            "/v1/messages" => Some(Self::Anthropic),
            "/v1/chat/completions" | "/chat/completions" => Some(Self::OpenAi),
            "/v1/responses" | "/responses" => Some(Self::Responses),
            "/api/chat" => Some(Self::Ollama),
            _ if vertex::claude(path).is_some() => Some(Self::Anthropic),
            _ => match bedrock::operation(path) {
                Some((_, Operation::Converse | Operation::ConverseStream)) => Some(Self::Converse),
                Some(_) => Some(Self::Invoke),
                None => gemini::parse_model_path(path).map(|_| Self::Gemini),
            },
        }
    }

    /// The header that names a request in an answer.
    pub(crate) fn request_id_header(self) -> &'static str {
        match self {
            Self::Anthropic => "request-id",
            Self::OpenAi | Self::Responses | Self::Ollama => "x-request-id",
            Self::Gemini => "x-goog-request-id",
            Self::Converse | Self::Invoke => "x-amzn-requestid",
        }
    }

    /// The body of an error answer.
    pub(crate) fn error_body(self, error: &ApiError, request_id: &str) -> Value {
        let (kind, usual_code) = self.error_kind(error.status);
        match self {
            Self::Anthropic => json!({
                "type": "error",
                "error": { "type": kind, "message": error.message },
                "request_id": request_id,
            }),
            // The kind stands in a header.
            Self::Converse | Self::Invoke => json!({ "message": error.message }),
            Self::Gemini => json!({
                "error": { "code": error.status, "message": error.message, "status": kind }
            }),
            Self::Ollama => json!({ "error": error.message }),
            Self::OpenAi | Self::Responses => json!({
                "error": {
                    "code": error.code.or(usual_code),
                    "message": error.message,
                    "param": error.param,
                    "type": kind,
                }
            }),
        }
    }

    /// The header that names the kind of an error, where one does.
    pub(crate) fn error_header(self, error: &ApiError) -> Option<(&'static str, &'static str)> {
        let is_of_aws = matches!(self, Self::Converse | Self::Invoke);
        is_of_aws.then(|| ("x-amzn-errortype", bedrock::exception(error.status)))
    }

    /// What the API says when it fails with this status of its own accord.
    pub(crate) fn failure_message(self, status: u16) -> &'static str {
        match (self, status) {
            (Self::Anthropic, 429) => "This request would exceed your rate limit.",
            (Self::Anthropic, 529) => "Overloaded",
            (Self::Gemini, 429) => "Resource has been exhausted (e.g. check quota).",
            (Self::Ollama, 429 | 503) => {
                "server busy, please try again.  maximum pending requests exceeded"
            }
            (Self::Ollama, 500..) => "model runner has unexpectedly stopped",
            (Self::OpenAi | Self::Responses, 429) => {
                "Rate limit reached for requests. Please try again later."
            }
            (Self::OpenAi | Self::Responses, 503 | 529) => {
                "The engine is currently overloaded, please try again later"
            }
            (Self::Converse | Self::Invoke, 429) => {
                "Too many requests, please wait before trying again."
            }
            (Self::Anthropic | Self::Gemini | Self::Converse | Self::Invoke, 500..) => {
                "Internal server error"
            }
            (Self::OpenAi | Self::Responses, 500..) => {
                "The server had an error while processing your request."
            }
            _ => "The request was refused.",
        }
    }

    /// The error type of a status, and the code that usually comes with it.
    fn error_kind(self, status: u16) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Anthropic => {
                let kind = match status {
                    401 => "authentication_error",
                    402 => "billing_error",
                    403 => "permission_error",
                    404 => "not_found_error",
                    413 => "request_too_large",
                    429 => "rate_limit_error",
                    504 => "timeout_error",
                    529 => "overloaded_error",
                    500.. => "api_error",
                    _ => "invalid_request_error",
                };
                (kind, None)
            }
            Self::Converse | Self::Invoke => (bedrock::exception(status), None),
            Self::Gemini => {
                let kind = match status {
                    400 => "INVALID_ARGUMENT",
                    401 => "UNAUTHENTICATED",
                    403 => "PERMISSION_DENIED",
                    404 => "NOT_FOUND",
                    429 => "RESOURCE_EXHAUSTED",
                    503 => "UNAVAILABLE",
                    _ => "INTERNAL",
                };
                (kind, None)
            }
            Self::OpenAi | Self::Responses | Self::Ollama => match status {
                429 => ("requests", Some("rate_limit_exceeded")),
                500.. => ("server_error", None),
                _ => ("invalid_request_error", None),
            },
        }
    }
}

/// An answer that is an error, before it is put into the shape of an API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiError {
    /// The HTTP status.
    pub(crate) status: u16,
    /// What went wrong.
    pub(crate) message: String,
    /// The field it is about; `OpenAI` only.
    pub(crate) param: Option<String>,
    /// A code for programs; `OpenAI` only.
    pub(crate) code: Option<&'static str>,
    /// After how many seconds to try again.
    pub(crate) retry_after: Option<u64>,
}

impl ApiError {
    pub(crate) fn new(status: u16, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            param: None,
            code: None,
            retry_after: None,
        }
    }

    /// A request that is wrong.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, message)
    }

    pub(crate) fn with_param(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }

    pub(crate) fn with_code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }
}
