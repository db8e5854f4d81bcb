//! Requests go on to the real provider and answers come back, byte for byte; a copy is decoded.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use axum::body::Body;
use axum::http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap,
};
use axum::http::{HeaderName, HeaderValue, Method};
use axum::response::Response;
use reqwest::Client;
use reqwest::redirect::Policy;

use super::aws;
use super::compression::{DecodedBody, decode_body};
use super::limits::{Cap, LimitKeeper, Limits, SetAside};
use super::log::Log;
use super::observed::{BROKE_OFF, ENDED_EARLY, Observed, Outcome, digest};
use super::query::without_keys;
use super::relay_error::RelayError;
use super::tee_body::{Ending, MOST, TeeBody};
use crate::endpoint::{
    Answerer, Answering, Incoming, Provider, SHORTEST_LOGIN, SHOULD_RETRY, UPGRADE_REQUIRED,
    Upstream, credentials, end_to_end_headers, error_response, provide_tls, refusal,
};
use crate::exchange::ModelResponse;
use crate::lossless::{Change, parse};
use crate::protocol::{self, Framing, Protocol, Route};

/// The most signs that are kept of an error without a known form.
const LINE: usize = 200;

/// Passes requests on to the real providers.
#[derive(Debug, Clone)]
pub struct Relay {
    client: Client,
    upstreams: Arc<Vec<Upstream>>,
    untouched: bool,
    began: Instant,
    log: Log,
    logins: Arc<Mutex<Vec<String>>>,
    /// Why the last model call reached no provider, or was answered with an error.
    unreached: Arc<Mutex<Option<String>>>,
    keeper: Arc<LimitKeeper>,
    region: Arc<OnceLock<String>>,
}

impl Relay {
    /// A relay to these providers. `untouched` leaves streamed chats as they are: their tokens are unknown
    /// where the client does not ask for them.
    ///
    /// # Errors
    ///
    /// No connection can be made: what the system says.
    pub fn new(upstreams: Vec<Upstream>, untouched: bool) -> Result<Self, RelayError> {
        provide_tls();
        let client = Client::builder()
            .redirect(Policy::none())
            .build()
            .map_err(RelayError::new)?;
        Ok(Self {
            client,
            upstreams: Arc::new(upstreams),
            untouched,
            began: Instant::now(),
            log: Log::default(),
            logins: Arc::default(),
            unreached: Arc::default(),
            keeper: Arc::default(),
            region: Arc::default(),
        })
    }

    /// Sets limits: model calls beyond them are refused.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.keeper = Arc::new(LimitKeeper::new(limits));
        self
    }

    /// The cap that was reached first, where a model call was refused for it.
    #[must_use]
    pub fn cap(&self) -> Option<Cap> {
        self.keeper.reached_cap()
    }

    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// What went by.
    #[must_use]
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// What clients logged in with: values that must not get into a file.
    #[must_use]
    pub fn credentials(&self) -> Vec<String> {
        let logins = self.logins.lock().unwrap_or_else(PoisonError::into_inner);
        logins.clone()
    }

    /// Why the last model call reached no provider, or with what error it was answered, with the provider's address; nothing
    /// where it was answered.
    pub(crate) fn upstream_failure(&self) -> Option<String> {
        let unreached = self.unreached.lock();
        unreached.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_upstream_failure(&self, why: Option<String>) {
        let unreached = self.unreached.lock();
        *unreached.unwrap_or_else(PoisonError::into_inner) = why;
    }

    /// Whether it is known where a provider is.
    #[must_use]
    pub fn has_provider(&self, provider: &Provider) -> bool {
        let mut upstreams = self.upstreams.iter();
        upstreams.any(|upstream| upstream.provider() == provider)
    }

    /// The region of AWS that was asked first, where one was.
    pub(crate) fn region(&self) -> Option<String> {
        self.region.get().cloned()
    }

    fn keep_region(&self, upstream: &Upstream, region: Option<String>) {
        if let Some(region) = region.filter(|_| upstream.provider().is_of_aws()) {
            self.region.get_or_init(|| region);
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn keep_credential(&self, value: &str) {
        let mut logins = self.logins.lock().unwrap_or_else(PoisonError::into_inner);
        if value.len() >= SHORTEST_LOGIN && !logins.iter().any(|known| known == value) {
            logins.push(value.to_owned());
        }
    }

    async fn pass(self, incoming: Incoming) -> Response {
        let Some((provider, path)) = Provider::of_path(&incoming.path) else {
            let text = format!(
                "the address does not end with a provider; known providers: {}",
                crate::endpoint::provider_names()
            );
            return error_response(&incoming.path, 404, &text);
        };
        if let Some(refused) = self.refuse(&incoming, path) {
            return refused;
        }
        let mut upstreams = self.upstreams.iter();
        let Some(upstream) = upstreams.find(|upstream| upstream.provider() == provider) else {
            let variable = provider.variables.first().copied().unwrap_or_default();
            let text = format!(
                "the address of `{}` is not known; set {variable} to it",
                provider.name
            );
            return error_response(&incoming.path, 502, &text);
        };
        let region = aws::region(&incoming.headers, own_variable);
        let placed = aws::in_region(upstream, region.as_deref());
        let upstream = placed.as_deref().unwrap_or(upstream);
        let url = upstream.url(path, incoming.query.as_deref());
        let known =
            protocol::of_request(path, &incoming.body).filter(|_| incoming.method == Method::POST);
        let is_model_call = known.is_some();
        let observed = self.observed(&incoming, known.as_ref());
        let mut aside = None;
        if known.is_some() {
            let asked = observed.asked.as_ref();
            match self
                .keeper
                .reserve_call(&self.log, asked, incoming.body.len())
            {
                Ok(set) => aside = set,
                // No client asks again after such an error.
                Err(refused) => {
                    return error_response(&incoming.path, 400, &refused.to_string());
                }
            }
        }
        let mut headers = end_to_end_headers(&incoming.headers);
        for login in credentials(&headers) {
            self.keep_credential(login);
        }
        let asks = known
            .as_ref()
            .filter(|_| !self.untouched)
            .and_then(|(protocol, _)| protocol.asking_for_tokens(&incoming.body));
        let without_tokens = asks.is_some();
        let mut ending = PendingAnswer {
            relay: self.clone(),
            place: self.log.begin(observed),
            aside,
            protocol: known.map(|(protocol, _)| protocol),
            asked: format!("`{}`", provider.name),
            address: upstream.display_url() + &variable_hint(upstream),
            is_told: false,
        };
        let body = match asks {
            Some(body) => {
                headers.remove(CONTENT_LENGTH);
                // An event can be taken out of what is not compressed.
                headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
                body.into()
            }
            None => incoming.body,
        };
        let signed = match &placed {
            Ok(_) => aws::sign(&incoming.method, &url, &mut headers, &body, own_variable)
                .map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(text) = signed {
            if is_model_call {
                self.set_upstream_failure(Some(text.clone()));
            }
            ending.end(Outcome::Lost(text.clone()), Vec::new(), false);
            // No client asks again after such an error.
            return error_response(&incoming.path, 400, &text);
        }
        self.keep_region(upstream, region);
        let mut request = self.client.request(incoming.method, url).headers(headers);
        if !body.is_empty() {
            request = request.body(body);
        }
        let sent = request.send().await;
        if is_model_call && sent.is_ok() {
            self.set_upstream_failure(None);
        }
        match sent {
            Ok(answer) => ending.pass(answer, without_tokens),
            Err(failure) => self.unreachable(&incoming.path, failure, ending, is_model_call),
        }
    }

    /// The answer to a request that is not passed on.
    fn refuse(&self, incoming: &Incoming, path: &str) -> Option<Response> {
        let (status, text) = refusal(incoming, path)?;
        let place = self.log.begin(self.observed(incoming, None));
        let outcome = if status == UPGRADE_REQUIRED {
            Outcome::Refused(text.clone())
        } else {
            Outcome::Unreadable(format!("`{}`: {text}", incoming.path))
        };
        self.log
            .end(place, self.now(), false, (outcome, Vec::new()));
        Some(error_response(&incoming.path, status, &text))
    }

    /// The answer to a request that the provider did not answer.
    fn unreachable(
        &self,
        path: &str,
        failure: reqwest::Error,
        mut ending: PendingAnswer,
        is_model_call: bool,
    ) -> Response {
        if let Some(aside) = ending.aside.take_if(|_| failure.is_connect()) {
            aside.release();
        }
        let is_connect = failure.is_connect();
        let words = error_text(&failure.without_url());
        let text = format!(
            "{} cannot be reached at {}: {words}",
            ending.asked, ending.address
        );
        if is_model_call {
            self.set_upstream_failure(Some(text.clone()));
        }
        ending.end(Outcome::Lost(text.clone()), Vec::new(), false);
        let mut answer = error_response(path, 502, &text);
        // Clients ask again where a connection is lost.
        if !is_connect {
            answer.headers_mut().remove(SHOULD_RETRY);
        }
        answer
    }

    /// A request, as the log has it.
    fn observed(
        &self,
        incoming: &Incoming,
        known: Option<&(&'static dyn Protocol, Route)>,
    ) -> Observed {
        let query = incoming.query.as_deref().map(|query| {
            let (query, keys) = without_keys(query);
            for key in &keys {
                self.keep_credential(key);
            }
            query
        });
        let encodings = encodings(&incoming.headers);
        let body = decode_body(&encodings, incoming.body.to_vec(), MOST);
        let parsed = known.and_then(|_| parse(&body.bytes).ok());
        let changes = parsed.iter().flat_map(|it| it.changes.iter().copied());
        let changes = changes.collect();
        let asked = known.zip(parsed).and_then(|((protocol, route), parsed)| {
            let is_object = parsed.value.is_object();
            is_object.then(|| {
                self.log
                    .store_request(protocol.parse_request(route, &parsed.value))
            })
        });
        Observed {
            protocol: known.map(|(protocol, _)| *protocol),
            method: incoming.method.to_string(),
            path: incoming.path.clone(),
            digest: digest(
                incoming.method.as_str(),
                &incoming.path,
                query.as_deref(),
                &body.bytes,
            ),
            query,
            asked,
            asked_at: self.now(),
            ended_at: None,
            tick: 0,
            outcome: Outcome::Open,
            gone: false,
            changes,
        }
    }
}

impl Answerer for Relay {
    fn answer(&self, incoming: Incoming) -> Answering {
        Box::pin(self.clone().pass(incoming))
    }
}

/// A variable of this process.
fn own_variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The variable that says where a provider is, where one does.
fn variable_hint(upstream: &Upstream) -> String {
    let provider = upstream.provider();
    let mut names = provider.variables.iter();
    let found = names.find(|name| {
        let value = std::env::var(name).unwrap_or_default();
        Upstream::new(provider.name, &value).is_ok_and(|given| given == *upstream)
    });
    found.map_or_else(String::new, |name| format!(" (from {name})"))
}

/// What an error says that has no known form: its first line. A page says nothing in it.
fn first_line(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.next().filter(|line| !line.starts_with('<'));
    line.unwrap_or_default().chars().take(LINE).collect()
}

/// What an error says, and what it says of its cause.
pub(crate) fn error_text(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        words = format!("{words}: {cause}");
        source = cause.source();
    }
    words
}

/// The encodings of a body, in the order in which they were done.
fn encodings(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(CONTENT_ENCODING).iter();
    let values = values.filter_map(|value| value.to_str().ok());
    let each = values.flat_map(|value| value.split(','));
    each.map(|name| name.trim().to_ascii_lowercase())
        .filter(|name| !name.is_empty())
        .collect()
}

/// The answer to a request that was noted. One that is dropped came to nothing: its client went away.
struct PendingAnswer {
    relay: Relay,
    place: usize,
    /// What was set aside for it.
    aside: Option<SetAside>,
    protocol: Option<&'static dyn Protocol>,
    /// Who is asked, and where that is, for people.
    asked: String,
    address: String,
    is_told: bool,
}

impl Drop for PendingAnswer {
    fn drop(&mut self) {
        if !self.is_told {
            let words = "the client closed the connection before the answer began";
            self.end(Outcome::Lost(words.to_owned()), Vec::new(), true);
        }
    }
}

impl PendingAnswer {
    fn end(&mut self, outcome: Outcome, changes: Vec<Change>, gone: bool) {
        self.is_told = true;
        if let Some(aside) = self.aside.take() {
            match &outcome {
                Outcome::Answered { said, .. } => {
                    // A provider that does not say what was used is not free.
                    if let Some(tokens) = said.tokens {
                        aside.settle(tokens);
                    }
                }
                Outcome::Failed { .. } => aside.release(),
                _ => {}
            }
        }
        if self.protocol.is_some() && !matches!(&outcome, Outcome::Answered { broken: None, .. }) {
            self.relay.keeper.failed();
        }
        if let (Some(_), Outcome::Failed { status, message }) = (self.protocol, &outcome) {
            self.relay
                .set_upstream_failure(Some(self.error_summary(*status, message)));
        }
        let log = &self.relay.log;
        log.end(self.place, self.relay.now(), gone, (outcome, changes));
    }

    /// What an error of the provider says, for people: its first line, without the keys of the session.
    fn error_summary(&self, status: u16, message: &str) -> String {
        let Self { asked, address, .. } = self;
        let mut lines = message.lines().map(str::trim);
        let first = lines.find(|line| !line.is_empty());
        let said = first.map_or_else(String::new, |line| {
            let mut line = line.to_owned();
            for login in self.relay.credentials() {
                line = line.replace(&login, "[redacted]");
            }
            format!(": {line}")
        });
        format!("{asked} answered {status} at {address}{said}")
    }

    /// Passes an answer back while it comes.
    fn pass(mut self, answer: reqwest::Response, without_tokens: bool) -> Response {
        let status = answer.status();
        let head = AnswerHead {
            status: status.as_u16(),
            media_type: media_type(answer.headers()),
            encodings: encodings(answer.headers()),
        };
        let mut headers = end_to_end_headers(answer.headers());
        let is_plain = head.framing() == Some(Framing::Events) && head.encodings.is_empty();
        let without_tokens = self.protocol.filter(|_| without_tokens && is_plain);
        if without_tokens.is_some() {
            headers.remove(CONTENT_LENGTH);
        }
        let at_end = Box::new(move |copy, ending| {
            let (outcome, changes) = head.outcome(self.protocol, copy, &ending);
            let is_whole = matches!(&outcome, Outcome::Answered { broken: None, .. });
            self.end(outcome, changes, ending == Ending::Gone && !is_whole);
        });
        let length = answer.content_length();
        let upstream = Box::pin(answer.bytes_stream());
        let body = TeeBody::new(upstream, length, without_tokens, at_end);
        let mut response = Response::new(Body::from_stream(body));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        response
    }
}

fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get::<HeaderName>(CONTENT_TYPE)?.to_str().ok()?;
    let kind = value.split(';').next().unwrap_or(value);
    Some(kind.trim().to_ascii_lowercase())
}

/// What an answer says before its body.
struct AnswerHead {
    status: u16,
    media_type: Option<String>,
    encodings: Vec<String>,
}

impl AnswerHead {
    fn framing(&self) -> Option<Framing> {
        Framing::from_media_type(self.media_type.as_deref()?)
    }

    fn outcome(
        self,
        protocol: Option<&'static dyn Protocol>,
        copy: Vec<u8>,
        ending: &Ending,
    ) -> (Outcome, Vec<Change>) {
        let none = |outcome| (outcome, Vec::new());
        let whole = *ending == Ending::Whole;
        let framing = self.framing();
        let DecodedBody { bytes, problem } = decode_body(&self.encodings, copy, MOST);
        let broken = match ending {
            Ending::Whole => None,
            Ending::Gone => {
                Some("the client closed the connection before the answer was complete".to_owned())
            }
            Ending::Broken(words) => Some(format!("the connection broke off: {words}")),
            Ending::TooLong => {
                let most = MOST >> 20;
                let text = format!("the answer is larger than the {most} MiB that are read");
                return none(Outcome::Unreadable(text));
            }
        };
        let Some(protocol) = protocol else {
            return none(match problem.filter(|_| whole).or(broken) {
                Some(problem) => Outcome::Lost(problem),
                None => Outcome::Other {
                    status: self.status,
                    media_type: self.media_type,
                    body: bytes,
                },
            });
        };
        if self.status >= 400 {
            let body = parse(&bytes).map(|it| it.value).unwrap_or_default();
            let message =
                protocol::error_message(&body).map_or_else(|| first_line(&bytes), str::to_owned);
            let status = self.status;
            return none(Outcome::Failed { status, message });
        }
        if let Some(problem) = problem.filter(|_| whole) {
            return none(Outcome::Unreadable(problem));
        }
        let assembled = protocol::assembled(protocol, framing, &bytes, whole);
        let told = assembled.error.as_ref();
        let told = told.map(|error| protocol::error_message(error).unwrap_or("it failed"));
        let told = told.map(|words| format!("{BROKE_OFF}{words}"));
        let unread = assembled.unread;
        let cut = (!assembled.ended).then(|| ENDED_EARLY.to_owned());
        // A client may close a stream whose last event it has.
        let gone = *ending == Ending::Gone && assembled.ended;
        let broken = told.or(broken.filter(|_| !gone)).or(unread).or(cut);
        let outcome = match assembled
            .body
            .and_then(|body| protocol.parse_response(&body))
        {
            Some(said) => {
                let error = assembled.error.map(Box::new);
                let said = ModelResponse { error, ..said };
                Outcome::Answered { said, broken }
            }
            None => match broken {
                Some(broken) => Outcome::Lost(broken),
                None => Outcome::Unreadable(format!(
                    "the answer does not have the form of `{}`",
                    protocol.name()
                )),
            },
        };
        (outcome, assembled.changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_told_by_its_first_line_and_without_keys() {
        for (body, told) in [
            ("\n  no healthy upstream \nmore", "no healthy upstream"),
            (
                "{\"detail\":\"Unauthorized\"}",
                "{\"detail\":\"Unauthorized\"}",
            ),
            ("<html>\n<title>502</title>", ""),
            ("", ""),
        ] {
            assert_eq!(first_line(body.as_bytes()), told);
        }
        assert_eq!(first_line("é".repeat(300).as_bytes()).chars().count(), LINE);
        let relay = Relay::new(Vec::new(), false).unwrap();
        relay.keep_credential("k-12345678");
        let answer = PendingAnswer {
            relay,
            place: 0,
            aside: None,
            protocol: None,
            asked: "`openai`".to_owned(),
            address: "https://a/v1".to_owned(),
            is_told: true,
        };
        assert_eq!(
            answer.error_summary(401, "\nno such key: k-12345678\nSee the manual."),
            "`openai` answered 401 at https://a/v1: no such key: [redacted]"
        );
        assert_eq!(
            answer.error_summary(500, ""),
            "`openai` answered 500 at https://a/v1"
        );
    }
}
