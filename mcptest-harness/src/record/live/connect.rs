//! How the connection to a server begins, and everything that can be wrong with that.

use std::time::Duration;

use mcptest_suite::model::Transport;
use rmcp::ServiceExt as _;
use rmcp::model::Tool;
use rmcp::service::ClientInitializeError;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransportConfig, StreamableHttpError,
};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::child::{self, MAX_MESSAGE, Process, Start};
use super::connection::{Connected, NoTools, Service, list_tools};
use super::exact::Mark;
use super::model::http_client;
use super::problem::with_causes;
use super::wire::{self, Broken};
use crate::record::LiveError;
use crate::record::declared::WantedServer;

/// Connects to a server and asks for its tools.
pub(super) async fn connect(
    wanted: &WantedServer,
    limit: Duration,
) -> Result<Connected, LiveError> {
    let mark = Mark::new();
    let (opened, mut process) = match &wanted.server.transport {
        Transport::Stdio {
            command,
            env,
            inherit_env,
            cwd,
        } => {
            let folder = wanted.folder(cwd.as_deref())?;
            let (transport, mut process) = wanted.start(
                Start {
                    command,
                    env,
                    inherit_env,
                    folder: &folder,
                },
                mark.clone(),
            )?;
            let opened = tokio::select! {
                biased;
                opened = timeout(limit, ().serve(transport)) => opened,
                lost = process.lost() => return Err(wanted.no_greeting(lost, process).await),
            };
            (opened, Some(process))
        }
        Transport::Http { url, .. } => {
            let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
            config.max_sse_event_size = MAX_MESSAGE;
            if let Some(bearer) = &wanted.bearer {
                config = config.auth_header(bearer.as_str());
            }
            let client = http_client(None).map_err(|error| {
                wanted.error(&format!("cannot be used: no HTTP client: {error}"))
            })?;
            let transport = StreamableHttpClientTransport::with_client(client, config);
            (timeout(limit, ().serve(transport)).await, None)
        }
    };
    // A process that is still there when its time is over ends because it is let go.
    let ended = matches!(opened, Ok(Err(_)));
    let listed = match opened {
        Ok(Ok(service)) => tools(wanted, service, process.as_mut(), limit).await,
        Ok(Err(error)) => Err(wanted.refused(&error)),
        Err(_) => Err(wanted.silent(limit)),
    };
    match (listed, process) {
        (Ok((service, tools)), process) => Ok(Connected {
            name: wanted.server.name.value.clone(),
            span: wanted.span,
            service,
            tools,
            process: process.map(|process| (Mutex::new(process), mark)),
        }),
        (Err(error), Some(mut process)) => Err(process.explain(error, ended).await),
        (Err(error), None) => Err(error),
    }
}

/// The tools of a server.
async fn tools(
    wanted: &WantedServer,
    service: Service,
    process: Option<&mut Process>,
    limit: Duration,
) -> Result<(Service, Vec<Tool>), LiveError> {
    let lost = async {
        match process {
            Some(process) => process.lost().await,
            None => std::future::pending().await,
        }
    };
    let listed = tokio::select! {
        biased;
        listed = timeout(limit, list_tools(&service)) => listed,
        lost = lost => {
            let (how, shown) = match lost {
                Some(broken) => (format!("its message {}", broken.problem), Some(broken.shown)),
                None => ("it ended".to_owned(), None),
            };
            return Err(wanted.lists_nothing(&how, shown));
        }
    };
    let (how, shown) = match listed {
        Ok(Ok(tools)) => return Ok((service, tools)),
        Ok(Err(NoTools::Refused(error))) => (error.to_string(), None),
        Ok(Err(NoTools::Unreadable(value))) => (wire::no_tools(&value), Some(wire::shown(&value))),
        Err(_) => (format!("no answer within {} s", limit.as_secs_f64()), None),
    };
    Err(wanted.lists_nothing(&how, shown))
}

impl WantedServer {
    /// Starts the server's process.
    fn start(
        &self,
        start: Start<'_>,
        mark: Mark,
    ) -> Result<(child::ChildTransport, Process), LiveError> {
        child::start(start, mark).map_err(|error| {
            let program = start.command.first().map_or("", String::as_str);
            self.error(&format!("cannot be started: `{program}`: {error}"))
                .help("name a program on the PATH, or a path to one from the suite's folder")
        })
    }

    fn lists_nothing(&self, how: &str, shown: Option<String>) -> LiveError {
        let error = self
            .error(&format!("does not list its tools: {how}"))
            .help("correct the server: an agent needs the tools of its servers");
        LiveError { shown, ..error }
    }

    /// The process can answer nothing any more, before it was known to be a server.
    async fn no_greeting(&self, lost: Option<Broken>, mut process: Process) -> LiveError {
        let how = match &lost {
            Some(broken) => format!("its message {}", broken.problem),
            None => "connection closed: initialize response".to_owned(),
        };
        let error = self
            .error(&format!("cannot be used: {how}"))
            .help(self.try_it());
        process.explain(error, true).await
    }

    /// The connection was refused.
    fn refused(&self, error: &ClientInitializeError) -> LiveError {
        if error.is_authorization_required() {
            let error = self.error("refuses the connection: it requires authorization");
            let Transport::Http {
                bearer_token_env, ..
            } = &self.server.transport
            else {
                return error;
            };
            return error.help(match bearer_token_env {
                Some(variable) => {
                    format!("check that the value of `{variable}` is a token for this server")
                }
                None => "add a token: `auth: { bearer_token_env: NAME }`".to_owned(),
            });
        }
        let how = match error {
            // Its own text names types, and the client's error is no cause of it.
            ClientInitializeError::TransportError { error, .. } => {
                let http = error
                    .error
                    .downcast_ref::<StreamableHttpError<reqwest::Error>>();
                match http {
                    Some(StreamableHttpError::Client(error)) => with_causes(error),
                    _ => with_causes(error.error.as_ref()),
                }
            }
            other => with_causes(other),
        };
        self.error(&format!("cannot be used: {how}"))
            .help(self.try_it())
    }

    /// Nothing came back in time.
    fn silent(&self, limit: Duration) -> LiveError {
        let seconds = limit.as_secs_f64();
        let error = self
            .error(&format!("did not answer `initialize` within {seconds} s"))
            .help(format!(
                "{}; set MCPTEST_RECORD_TIMEOUT to more seconds",
                self.try_it()
            ));
        match self.server.transport {
            Transport::Stdio { .. } => error.note(
                "an MCP server answers on its standard output, with one JSON message a line and nothing else",
            ),
            Transport::Http { .. } => error,
        }
    }

    /// How a person can find out more.
    fn try_it(&self) -> String {
        match &self.server.transport {
            Transport::Stdio { command, .. } => {
                format!("run it by hand: `{}`", command.join(" "))
            }
            Transport::Http { url, .. } => format!("check that an MCP server listens at {url}"),
        }
    }
}
