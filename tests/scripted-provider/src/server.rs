//! The HTTP server: who may ask, what is answered, and how an answer breaks off.

use std::{
    fs::File,
    io::{self, Write},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use flate2::{Compression, write::GzEncoder};
use http_body_util::{BodyExt, Either, Full};
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER},
};
use serde_json::{Value, json};

use crate::{
    anthropic,
    api::{Api, ApiError},
    bedrock, gemini, ollama, openai,
    pieces::Pieces,
    play::ScriptPlayer,
    provider::SeenRequest,
    responses,
    script::Failure,
    streaming, vertex,
};

/// A whole body, or one that comes in pieces.
pub(crate) type ReplyBody = Either<Full<Bytes>, Pieces>;

/// What all connections share.
#[derive(Debug)]
pub(crate) struct SharedState {
    stage: Arc<ScriptPlayer>,
    seen: Mutex<Vec<SeenRequest>>,
    log: Option<Mutex<File>>,
    answers: AtomicU64,
    stored: Mutex<responses::Stored>,
    threads: Mutex<anthropic::Threads>,
}

/// What becomes of a request that reached a reply.
enum Outcome {
    Reply(Value),
    Half(Value),
    /// The events of a stream, and whether it breaks off in the middle.
    Stream(Stream),
    Page(String),
    Nothing,
}

/// An answer in pieces.
struct Stream {
    events: Vec<Bytes>,
    media_type: &'static str,
    cut: bool,
}

impl SharedState {
    pub(crate) fn new(stage: Arc<ScriptPlayer>, log: Option<File>) -> Self {
        Self {
            stage,
            seen: Mutex::default(),
            log: log.map(Mutex::new),
            answers: AtomicU64::new(0),
            stored: Mutex::default(),
            threads: Mutex::default(),
        }
    }

    pub(crate) fn requests(&self) -> Vec<SeenRequest> {
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
        let api = Api::from_path(head.uri.path());
        let shape = api.unwrap_or(Api::OpenAi);
        let number = self.answers.fetch_add(1, Ordering::Relaxed) + 1;
        let request_id = format!("req_{number:06}");
        let outcome = match api {
            None if head.method == Method::GET && is_models(head.uri.path()) => {
                Ok(Outcome::Reply(self.models()))
            }
            Some(_) if head.method != Method::POST => Err(ApiError::new(405, "Method Not Allowed")),
            Some(api) => {
                let query = head.uri.query().unwrap_or_default();
                self.play(api, &seen, query, &body).await
            }
            None => Err(ApiError::new(
                404,
                format!("Not found: {}", head.uri.path()),
            )),
        };
        let mut response = match outcome {
            Ok(Outcome::Reply(body)) => json_response(StatusCode::OK, &body),
            Ok(Outcome::Half(body)) => half_response(&body),
            Ok(Outcome::Stream(stream)) => stream_response(stream),
            Ok(Outcome::Page(body)) => {
                typed_response(StatusCode::OK, "text/html; charset=utf-8", body)
            }
            Ok(Outcome::Nothing) => return Err(io::Error::other("the script closes")),
            Err(error) => {
                let status = StatusCode::from_u16(error.status).map_err(io::Error::other)?;
                let mut response = json_response(status, &shape.error_body(&error, &request_id));
                if let Some((name, kind)) = shape.error_header(&error) {
                    let kind = hyper::header::HeaderValue::from_static(kind);
                    response.headers_mut().insert(name, kind);
                }
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
        let takes = seen.header("accept-encoding").unwrap_or_default();
        if self.stage.script().gzip && takes.contains("gzip") {
            return compress(response).await;
        }
        Ok(response)
    }

    /// The models, as `OpenAI` lists them.
    fn models(&self) -> Value {
        let models = self.stage.script().models.iter().flatten();
        let models = models.map(|id| json!({ "id": id, "object": "model" }));
        json!({ "object": "list", "data": models.collect::<Vec<_>>() })
    }

    async fn play(
        &self,
        api: Api,
        seen: &SeenRequest,
        query: &str,
        body: &[u8],
    ) -> Result<Outcome, ApiError> {
        let script = self.stage.script();
        check_key(api, seen, script.key.as_deref())?;
        let mut body = parse(api, seen, body)?;
        let exchange = match api {
            Api::Anthropic => {
                vertex::messages(&seen.path, &mut body)?;
                let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
                body = threads.resume(&body)?;
                anthropic::read(&body)?
            }
            Api::OpenAi => openai::read(&body)?,
            Api::Responses => {
                let stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
                responses::read(&body, &stored)?
            }
            Api::Gemini => gemini::read(&seen.path, &body)?,
            Api::Ollama => ollama::read(&body)?,
            Api::Converse => bedrock::read(&seen.path, &body)?,
            Api::Invoke => {
                body = bedrock::as_messages(&seen.path, body)?;
                anthropic::read(&body)?
            }
        };
        if let Some(models) = &script.models
            && !models.contains(&exchange.model)
        {
            return Err(unknown_model(api, &exchange.model));
        }
        let cue = self.stage.find_reply(&exchange)?;
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
        let asked = body;
        let body = match api {
            Api::Anthropic | Api::Invoke => anthropic::render_body(&answer),
            Api::Converse => bedrock::body(&answer),
            Api::OpenAi => openai::render_body(&answer),
            Api::Responses => responses::render_body(&answer),
            Api::Gemini => gemini::render_body(&answer),
            Api::Ollama => ollama::body(&answer),
        };
        if api == Api::Responses && !cut {
            let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
            stored.keep(&asked, &body);
        }
        if !asked["thread"].is_null() && !cut {
            let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
            threads.keep(&asked, &body);
        }
        if let Some(stream) = streaming::requested_stream(api, &seen.path, query, &asked, &body) {
            if !cut {
                cue.mark_played(&answer);
            }
            return Ok(Outcome::Stream(Stream {
                events: stream.events,
                media_type: stream.media_type,
                cut,
            }));
        }
        if cut {
            return Ok(Outcome::Half(body));
        }
        cue.mark_played(&answer);
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
    // A server on the own machine asks for no key.
    if api == Api::Ollama {
        return Ok(());
    }
    let bearer = seen
        .header("authorization")
        .and_then(|value| value.strip_prefix("Bearer "));
    let given = match api {
        // The clients of 2026 send a bearer token.
        Api::Anthropic => seen.header("x-api-key").or(bearer),
        Api::Gemini => seen.header("x-goog-api-key").or(bearer),
        Api::OpenAi | Api::Responses | Api::Ollama => bearer,
        // Who signs with an access key knows the secret of it; the signature is not looked at.
        Api::Converse | Api::Invoke => match seen.header("authorization") {
            Some(login) if login.starts_with("AWS4-HMAC-SHA256 Credential=") => key.or(Some(login)),
            _ => bearer,
        },
    };
    let given = given.map(str::trim).filter(|given| !given.is_empty());
    let right = given.is_some() && key.is_none_or(|key| given == Some(key));
    match (api, given) {
        _ if right => Ok(()),
        (Api::Anthropic, None) => Err(ApiError::new(401, "x-api-key header is required")),
        (Api::Anthropic, Some(_)) => Err(ApiError::new(401, "invalid x-api-key")),
        (Api::Gemini, _) => Err(ApiError::new(
            400,
            "API key not valid. Please pass a valid API key.",
        )),
        (Api::Converse | Api::Invoke, _) => Err(ApiError::new(
            403,
            "The security token included in the request is invalid.",
        )),
        (Api::OpenAi | Api::Responses | Api::Ollama, None) => Err(ApiError::new(
            401,
            "You didn't provide an API key. You need to provide your API key in an Authorization \
             header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
        )),
        (Api::OpenAi | Api::Responses | Api::Ollama, Some(_)) => {
            Err(ApiError::new(401, "Incorrect API key provided.").with_code("invalid_api_key"))
        }
    }
}

fn parse(api: Api, seen: &SeenRequest, body: &[u8]) -> Result<Value, ApiError> {
    if seen.path == "/v1/messages" && seen.header("anthropic-version").is_none_or(str::is_empty) {
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
            Api::Anthropic | Api::Converse | Api::Invoke => {
                format!("The request body is not valid JSON: {error}")
            }
            Api::Gemini => format!("Invalid JSON payload received. {error}"),
            Api::Ollama => error.to_string(),
            Api::OpenAi | Api::Responses => {
                format!("We could not parse the JSON body of your request: {error}")
            }
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
        Api::Gemini => ApiError::new(404, format!("models/{model} is not found")),
        Api::Ollama => ApiError::new(404, format!("model '{model}' not found")),
        Api::Converse | Api::Invoke => {
            ApiError::new(400, "The provided model identifier is invalid.")
        }
        Api::OpenAi | Api::Responses => ApiError::new(
            404,
            format!("The model `{model}` does not exist or you do not have access to it."),
        )
        .with_code("model_not_found"),
    }
}

fn json_response(status: StatusCode, body: &Value) -> Response<ReplyBody> {
    typed_response(status, "application/json", body.to_string())
}

fn typed_response(status: StatusCode, kind: &'static str, body: String) -> Response<ReplyBody> {
    let mut response = Response::new(Either::Left(Full::new(body.into())));
    *response.status_mut() = status;
    let kind = hyper::header::HeaderValue::from_static(kind);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// An answer that promises the whole body and sends the half of it.
fn half_response(body: &Value) -> Response<ReplyBody> {
    let whole = Bytes::from(body.to_string());
    let mut response = typed_response(StatusCode::OK, "application/json", String::new());
    response
        .headers_mut()
        .insert(CONTENT_LENGTH, whole.len().into());
    let half = whole.slice(..whole.len() / 2);
    response.map(|_| Either::Right(Pieces::new([half], true)))
}

/// Whether a path is that of the list of models.
fn is_models(path: &str) -> bool {
    matches!(path, "/v1/models" | "/models")
}

/// A stream, of which the half is sent where it breaks off.
fn stream_response(stream: Stream) -> Response<ReplyBody> {
    let Stream {
        mut events,
        media_type,
        cut,
    } = stream;
    if cut {
        events.truncate(events.len().div_ceil(2));
    }
    let response = typed_response(StatusCode::OK, media_type, String::new());
    response.map(|_| Either::Right(Pieces::new(events, cut)))
}

/// Compresses an answer. What is streamed stays in pieces.
async fn compress(response: Response<ReplyBody>) -> io::Result<Response<ReplyBody>> {
    let (mut head, body) = response.into_parts();
    let (is_stream, cut) = match &body {
        Either::Left(_) => (false, false),
        Either::Right(pieces) => (true, pieces.is_cut()),
    };
    let bytes = match body {
        Either::Left(whole) => whole.collect().await.map_err(io::Error::other)?.to_bytes(),
        Either::Right(pieces) => pieces.into_bytes(),
    };
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&bytes)?;
    let packed = encoder.finish()?;
    head.headers.remove(CONTENT_LENGTH);
    let kind = hyper::header::HeaderValue::from_static("gzip");
    head.headers.insert(CONTENT_ENCODING, kind);
    let body = if is_stream {
        let pieces = packed.chunks(40).map(Bytes::copy_from_slice);
        Either::Right(Pieces::new(pieces, cut))
    } else {
        Either::Left(Full::new(packed.into()))
    };
    Ok(Response::from_parts(head, body))
}
