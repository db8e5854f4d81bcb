//! The suite as it is after loading: no state here can be wrong, so nothing later re-checks it.

mod agent;
mod assertion;
mod json_schema;
mod numbers;
mod regression;
mod target;

pub use agent::{Agent, AgentCommand, Caps, CheckOptions, Model, Prompt};
pub use assertion::Assertion;
pub use json_schema::JsonSchema;
pub use mcptest_trace::eval::{Fault, FaultKind, ModelPrice, OwnAnswer, OwnReply, Prices};
pub use numbers::compare_numbers;
pub use regression::{AgentRegression, Regression};
pub use target::{Segment, Target, TargetError};

use crate::{Source, Span, Spanned};

pub use crate::gates::{Gate, GateKind};

/// A loaded suite.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Suite {
    /// The file it was read from.
    pub source: Source,
    /// The agent tests in the order of the file.
    pub agents: Vec<Agent>,
    /// The faults that agents can inject, each with the place of its name.
    pub faults: Vec<Spanned<Fault>>,
    /// The MCP servers; needed to record, never to judge.
    pub servers: Vec<Server>,
    /// OpenAI-compatible model providers; needed to record.
    pub providers: Vec<Provider>,
    /// The most that recording this suite may cost, in US cents.
    pub per_suite_usd_cents: Option<Spanned<u64>>,
    /// What models cost, where the suite says so: at its top or below `budget:`.
    pub prices: Prices,
    /// Regular expressions whose matches are blanked in recordings, as they stand in the suite.
    pub redact: Vec<Spanned<String>>,
    /// Environment variables whose values are blanked in recordings.
    pub redact_env: Vec<Spanned<String>>,
    /// What the agents are compared with.
    pub regression: Option<Regression>,
    /// Top-level keys that are recognised but not run here.
    pub unsupported: Vec<Unsupported>,
}

impl Suite {
    /// The environment variables that the suite says hold secrets: those of `redact_env`, every
    /// `bearer_token_env` and every `api_key_env`.
    pub fn secret_variables(&self) -> impl Iterator<Item = &str> {
        let tokens = self.servers.iter().map(|server| match &server.transport {
            Transport::Http {
                bearer_token_env, ..
            } => bearer_token_env.as_deref(),
            Transport::Stdio { .. } => None,
        });
        let keys = self.providers.iter();
        let keys = keys.map(|provider| provider.api_key_env.as_deref());
        let named = self.redact_env.iter().map(|name| name.value.as_str());
        tokens.chain(keys).flatten().chain(named)
    }
}

/// Something that is recognised but not run here; listed as an ignored case.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unsupported {
    /// The key or matcher as it stands in the suite.
    pub key: String,
    /// Its segment of the case name.
    pub segment: String,
    /// Why it is not run.
    pub reason: String,
    /// Where it stands.
    pub span: Span,
}

/// How to reach an MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Server {
    /// The name agents use.
    pub name: Spanned<String>,
    /// The way there.
    pub transport: Transport,
    /// Whether runs that are recorded at the same time may use it together; one that is started is started for each.
    pub shared: bool,
}

/// The way to an MCP server.
///
/// A closed set: whoever records must be able to go each, and recordings are told apart by all that
/// stands here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// A child process that speaks over its standard streams.
    Stdio {
        /// Program and arguments; never empty.
        command: Vec<String>,
        /// Extra environment variables.
        env: Vec<(String, String)>,
        /// What it gets of the environment, besides what it needs to start.
        inherit_env: Inherit,
        /// Working directory.
        cwd: Option<String>,
    },
    /// Streamable HTTP.
    Http {
        /// Where the server listens.
        url: String,
        /// The environment variable that holds a bearer token.
        bearer_token_env: Option<String>,
    },
}

/// What a server's process gets of the environment that records.
///
/// A closed set: whoever starts a server must be able to give each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inherit {
    /// These variables.
    Names(Vec<String>),
    /// Every variable.
    All,
}

/// An OpenAI-compatible model provider.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Provider {
    /// The name models use.
    pub name: Spanned<String>,
    /// The root of its API.
    pub base_url: String,
    /// The environment variable that holds its key.
    pub api_key_env: Option<String>,
}
