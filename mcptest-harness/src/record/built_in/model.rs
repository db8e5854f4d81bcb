//! One model call at the session's address: asked, asked again where that helps, and read.

use std::time::Duration;

use mcptest_session::exchange::{ModelRequest, ModelResponse};
use mcptest_session::protocol::assembled;
use reqwest::Client;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use tokio::time::timeout;

use super::format::Format;
use super::model_error::{Again, ModelError, message_of, with_causes};
use super::provider::ModelEndpoint;
use crate::record::LiveError;

/// How long is waited before each further try.
const WAITS: [Duration; 4] = [
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];

/// The longest wait that a provider may ask for.
const MAX_WAIT: Duration = Duration::from_mins(1);

/// A model behind the address of a session.
pub(super) struct ModelClient {
    client: Client,
    endpoint: ModelEndpoint,
    /// Where requests go.
    url: String,
    headers: Vec<(&'static str, HeaderValue)>,
    limit: Duration,
}

/// A client for addresses on this machine.
pub(super) fn local_client() -> Result<Client, LiveError> {
    // The first in a process wins, and any does for addresses without TLS.
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
    let client = Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none());
    let client = client.build();
    client.map_err(|error| LiveError::new(format!("no HTTP client: {}", with_causes(&error))))
}

impl ModelClient {
    /// `base`: the address of the session for clients of this provider.
    pub(super) fn new(
        client: Client,
        endpoint: ModelEndpoint,
        base: &str,
        limit: Duration,
    ) -> Result<Self, LiveError> {
        let format = endpoint.format;
        let headers = format.headers(&endpoint.key).into_iter();
        let headers = headers.map(|(name, value)| Some((name, sensitive(&value)?)));
        let Some(headers) = headers.collect() else {
            let key = endpoint.key_variable.as_deref().unwrap_or("the key");
            let problem =
                format!("the value of `{key}` is no key: it has a letter that no header can have");
            return Err(LiveError::new(problem).help("look for a line break or a space in it"));
        };
        Ok(Self {
            url: format!("{base}{}", format.writer().path(&endpoint.model)),
            client,
            endpoint,
            headers,
            limit,
        })
    }

    pub(super) fn format(&self) -> Format {
        self.endpoint.format
    }

    /// Asks the model. Too many requests, errors of the provider and lost connections are tried
    /// again a few times, later each time, or when the provider says.
    pub(super) async fn ask(&self, asked: &ModelRequest) -> Result<ModelResponse, LiveError> {
        let body = self.endpoint.format.writer().request(asked);
        let mut tries = 0;
        loop {
            tries += 1;
            let once = timeout(self.limit, self.ask_once(body.clone())).await;
            let problem = match once.unwrap_or(Err(ModelError::Timeout)) {
                Ok(said) => return Ok(said),
                Err(problem) => problem,
            };
            let wait = match (problem.again(), WAITS.get(tries - 1)) {
                (Again::Later(asked), Some(wait)) => asked.unwrap_or(*wait),
                (Again::Once, Some(wait)) if tries == 1 => *wait,
                _ => return Err(self.error(&problem, tries)),
            };
            if wait > MAX_WAIT {
                let seconds = wait.as_secs();
                let help = format!("record again after {seconds} s, as the provider asks");
                return Err(self.error(&problem, tries).help(help));
            }
            tokio::time::sleep(wait).await;
        }
    }

    async fn ask_once(&self, body: String) -> Result<ModelResponse, ModelError> {
        let lost = |error: reqwest::Error| ModelError::Connection {
            refused: false,
            cause: with_causes(&error.without_url()),
        };
        let request = self.client.post(&self.url).body(body);
        let headers = self.headers.iter().cloned();
        let request = headers.fold(request, |request, (name, value)| {
            request.header(name, value)
        });
        let request = request.header(CONTENT_TYPE, "application/json");
        let answer = request.send().await.map_err(lost)?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        let body = answer.bytes().await.map_err(lost)?;
        let text = || String::from_utf8_lossy(&body).into_owned();
        if !status.is_success() {
            return Err(ModelError::of_status(status.as_u16(), &headers, text()));
        }
        let kind = headers.get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok());
        let unreadable = |cause: String| ModelError::Unreadable {
            cause,
            body: text(),
        };
        if let Some(kind) = kind.filter(|kind| !kind.contains("json")) {
            return Err(unreadable(format!("its content is `{kind}`")));
        }
        let writer = self.endpoint.format.writer();
        let read = assembled(writer, None, &body, true);
        let said = read.body.and_then(|body| writer.parse_response(&body));
        said.ok_or_else(|| {
            let cause = read.unread;
            unreadable(cause.unwrap_or_else(|| "it holds no answer of a model".to_owned()))
        })
    }

    fn error(&self, problem: &ModelError, tries: usize) -> LiveError {
        let ModelEndpoint {
            model,
            key_variable,
            base_url,
            ..
        } = &self.endpoint;
        let tries = match tries {
            1 => String::new(),
            tries => format!(", after {tries} tries"),
        };
        let key = key_variable.as_deref().unwrap_or("the key");
        match problem {
            ModelError::Status { code, body, .. } => {
                let said = message_of(body);
                let error = LiveError::new(format!(
                    "the provider of `{model}` answered {code}{tries}{}",
                    if said.is_empty() {
                        String::new()
                    } else {
                        format!(": {said}")
                    }
                ));
                match code {
                    401 | 403 => error.help(format!("check that `{key}` is the key for {base_url}")),
                    404 => error.help(format!("check that {base_url} has the model `{model}`")),
                    429 | 500.. => error.help("record again later"),
                    _ => error,
                }
            }
            ModelError::Final(message) => LiveError::new(message.as_str()),
            ModelError::Connection { cause, .. } => LiveError::new(format!(
                "the provider of `{model}` cannot be reached at {base_url}{tries}: {cause}"
            ))
            .help("check the address and the network"),
            ModelError::Timeout => LiveError::new(format!(
                "the provider of `{model}` at {base_url} did not answer within {} s{tries}",
                self.limit.as_secs_f64()
            ))
            .help("set MCPTEST_RECORD_TIMEOUT to more seconds"),
            ModelError::Unreadable { cause, body } => LiveError::new(format!(
                "the answer of the provider of `{model}` does not have the form of its API{tries}: {cause}"
            ))
            .show(body.as_str())
            .help(format!("check that {base_url} is the root of the provider's API")),
        }
    }
}

fn sensitive(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}
