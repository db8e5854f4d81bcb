//! The HTTP server: who may ask, what is answered, and how an answer breaks off.

use std::{
    fs::File,
    io::{self, Write},
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use http_body_util::{BodyExt, Either, Full};
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Body, Bytes, Frame, Incoming},
    header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER},
};
use serde_json::Value;

use crate::{
    anthropic,
    api::{Api, ApiError},
    openai,
    play::Stage,
    provider::SeenRequest,
    script::Failure,
};

/// A whole body, or the half of one.
pub(crate) type ReplyBody = Either<Full<Bytes>, Half>;

/// What all connections share.
#[derive(Debug)]
pub(crate) struct House {
    stage: Arc<Stage>,
    seen: Mutex<Vec<SeenRequest>>,
    log: Option<Mutex<File>>,
    answers: AtomicU64,
}

/// What becomes of a request that reached a reply.
enum Outcome {
    Reply(Value),
    Half(Value),
    Page(String),
    Nothing,
}

impl House {
    pub(crate) fn new(stage: Arc<Stage>, log: Option<File>) -> Self {
        Self {
            stage,
            seen: Mutex::default(),
            log: log.map(Mutex::new),
            answers: AtomicU64::new(0),
        }
    }

    pub(crate) fn seen(&self) -> Vec<SeenRequest> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.clone()
    }

    /// Answers a request. An error closes the connection without an answer.
    pub(crate) async fn answer(
        &self,
        request: Request<Incoming>,
    ) -> io::Result<Response<ReplyBody>> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
        let seen = SeenRequest::new(&head, &body);
        self.record(&seen)?;
        // A path of neither API is answered in the shape of the commoner one.
        let api = Api::at(head.uri.path());
        let shape = api.unwrap_or(Api::OpenAi);
        let number = self.answers.fetch_add(1, Ordering::Relaxed) + 1;
        let request_id = format!("req_{number:06}");
        let outcome = match api {
            Some(_) if head.method != Method::POST => Err(ApiError::new(405, "Method Not Allowed")),
            Some(api) => self.play(api, &seen, &body).await,
            None => Err(ApiError::new(
                404,
                format!("Not found: {}", head.uri.path()),
            )),
        };
        let mut response = match outcome {
            Ok(Outcome::Reply(body)) => json_response(StatusCode::OK, &body),
            Ok(Outcome::Half(body)) => half_response(&body),
            Ok(Outcome::Page(body)) => typed(StatusCode::OK, "text/html; charset=utf-8", body),
            Ok(Outcome::Nothing) => return Err(io::Error::other("the script closes")),
            Err(error) => {
                let status = StatusCode::from_u16(error.status).map_err(io::Error::other)?;
                let mut response = json_response(status, &shape.error_body(&error, &request_id));
                if let Some(seconds) = error.retry_after {
                    response.headers_mut().insert(RETRY_AFTER, seconds.into());
                }
                response
            }
        };
        let request_id = request_id.parse().map_err(io::Error::other)?;
        response
            .headers_mut()
            .insert(shape.request_id_header(), request_id);
        Ok(response)
    }

    async fn play(&self, api: Api, seen: &SeenRequest, body: &[u8]) -> Result<Outcome, ApiError> {
        let script = self.stage.script();
        check_key(api, seen, script.key.as_deref())?;
        let body = parse(api, seen, body)?;
        let exchange = match api {
            Api::Anthropic => anthropic::read(&body)?,
            Api::OpenAi => openai::read(&body)?,
        };
        if let Some(models) = &script.models
            && !models.contains(&exchange.model)
        {
            return Err(unknown_model(api, &exchange.model));
        }
        let cue = self.stage.cue(&exchange)?;
        let mut cut = false;
        while let Some(failure) = cue.next_failure() {
            match failure {
                Failure::Wait(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
                Failure::Status {
                    status,
                    retry_after,
                    message,
                } => {
                    let usual = || api.failure_message(status).to_owned();
                    let mut error = ApiError::new(status, message.unwrap_or_else(usual));
                    error.retry_after = retry_after;
                    return Err(error);
                }
                Failure::Cut => {
                    cut = true;
                    break;
                }
                Failure::Close => return Ok(Outcome::Nothing),
                Failure::Body(body) => return Ok(Outcome::Page(body)),
            }
        }
        let answer = cue.answer(&exchange)?;
        let body = match api {
            Api::Anthropic => anthropic::body(&answer),
            Api::OpenAi => openai::body(&answer),
        };
        if cut {
            return Ok(Outcome::Half(body));
        }
        cue.played(&answer);
        Ok(Outcome::Reply(body))
    }

    fn record(&self, seen: &SeenRequest) -> io::Result<()> {
        let mut all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(seen.clone());
        if let Some(log) = &self.log {
            let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
            writeln!(log, "{}", seen.to_json())?;
        }
        Ok(())
    }
}

fn check_key(api: Api, seen: &SeenRequest, key: Option<&str>) -> Result<(), ApiError> {
    let given = match api {
        Api::Anthropic => seen.header("x-api-key"),
        Api::OpenAi => seen
            .header("authorization")
            .and_then(|value| value.strip_prefix("Bearer ")),
    };
    let given = given.map(str::trim).filter(|given| !given.is_empty());
    let right = given.is_some() && key.is_none_or(|key| given == Some(key));
    match (api, given) {
        _ if right => Ok(()),
        (Api::Anthropic, None) => Err(ApiError::new(401, "x-api-key header is required")),
        (Api::Anthropic, Some(_)) => Err(ApiError::new(401, "invalid x-api-key")),
        (Api::OpenAi, None) => Err(ApiError::new(
            401,
            "You didn't provide an API key. You need to provide your API key in an Authorization \
             header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
        )),
        (Api::OpenAi, Some(_)) => {
            Err(ApiError::new(401, "Incorrect API key provided.").with_code("invalid_api_key"))
        }
    }
}

fn parse(api: Api, seen: &SeenRequest, body: &[u8]) -> Result<Value, ApiError> {
    if api == Api::Anthropic && seen.header("anthropic-version").is_none_or(str::is_empty) {
        return Err(ApiError::invalid("anthropic-version: header is required"));
    }
    let kind = seen.header("content-type").unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/json") {
        return Err(ApiError::invalid(format!(
            "content-type: expected application/json, got {kind:?}"
        )));
    }
    let body: Value = serde_json::from_slice(body).map_err(|error| {
        ApiError::invalid(match api {
            Api::Anthropic => format!("The request body is not valid JSON: {error}"),
            Api::OpenAi => format!("We could not parse the JSON body of your request: {error}"),
        })
    })?;
    if body.is_object() {
        Ok(body)
    } else {
        Err(ApiError::invalid("The request body is not a JSON object."))
    }
}

fn unknown_model(api: Api, model: &str) -> ApiError {
    match api {
        Api::Anthropic => ApiError::new(404, format!("model: {model}")),
        Api::OpenAi => ApiError::new(
            404,
            format!("The model `{model}` does not exist or you do not have access to it."),
        )
        .with_code("model_not_found"),
    }
}

fn json_response(status: StatusCode, body: &Value) -> Response<ReplyBody> {
    typed(status, "application/json", body.to_string())
}

fn typed(status: StatusCode, kind: &'static str, body: String) -> Response<ReplyBody> {
    let mut response = Response::new(Either::Left(Full::new(body.into())));
    *response.status_mut() = status;
    let kind = hyper::header::HeaderValue::from_static(kind);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// An answer that promises the whole body and sends the half of it.
fn half_response(body: &Value) -> Response<ReplyBody> {
    let whole = Bytes::from(body.to_string());
    let mut response = typed(StatusCode::OK, "application/json", String::new());
    response
        .headers_mut()
        .insert(CONTENT_LENGTH, whole.len().into());
    response.map(|_| {
        Either::Right(Half {
            data: Some(whole.slice(..whole.len() / 2)),
            sent: false,
        })
    })
}

/// The half of a body, then an error.
#[derive(Debug)]
pub(crate) struct Half {
    data: Option<Bytes>,
    sent: bool,
}

impl Body for Half {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(data) = self.data.take() {
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        if self.sent {
            let error = io::Error::other("the script cuts the answer");
            return Poll::Ready(Some(Err(error)));
        }
        // What was given so far is sent while the next part is waited for.
        self.sent = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
