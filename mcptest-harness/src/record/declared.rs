//! The MCP servers of an agent, as its suite declares them.

use std::path::PathBuf;

use mcptest_suite::model::{Agent, Server, Suite, Transport};
use mcptest_suite::{Span, nearest};

use super::LiveError;

/// A server of the suite, and where the agent names it.
#[derive(Debug, Clone)]
pub(crate) struct WantedServer {
    pub(crate) server: Server,
    pub(crate) span: Span,
    pub(crate) suite_dir: PathBuf,
    pub(crate) bearer: Option<String>,
}

impl WantedServer {
    pub(crate) fn error(&self, problem: &str) -> LiveError {
        let name = &self.server.name.value;
        LiveError::new(format!("the server `{name}` {problem}")).at(self.span)
    }

    /// Where the server's process runs: the suite's folder, or `cwd` from there.
    pub(crate) fn folder(&self, cwd: Option<&str>) -> Result<PathBuf, LiveError> {
        let folder = self.suite_dir.join(cwd.unwrap_or_default());
        if folder.is_dir() {
            return Ok(folder);
        }
        Err(self
            .error(&format!(
                "cannot be started: there is no folder {}",
                folder.display()
            ))
            .help("`cwd` is a folder, seen from the suite's"))
    }
}

/// The servers of an agent, each declared, each with its token.
pub(crate) fn declared(suite: &Suite, agent: &Agent) -> Result<Vec<WantedServer>, LiveError> {
    let path = suite.source.path();
    let suite_dir = path.parent().unwrap_or(path);
    let wanted = agent.servers.iter().map(|name| {
        let names = || suite.servers.iter().map(|server| server.name.value.as_str());
        let found = suite.servers.iter().find(|server| server.name.value == name.value);
        let server = found.ok_or_else(|| {
            let problem = format!("the server `{}` is not declared", name.value);
            let error = LiveError::new(problem).at(name.span);
            match nearest(&name.value, names()) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help(format!(
                    "recording needs to reach it: `servers: {{ {}: {{ command: [program, argument] }} }}`",
                    name.value
                )),
            }
        })?;
        let bearer = match &server.transport {
            Transport::Http {
                bearer_token_env: Some(variable),
                ..
            } => Some(token(variable, server)?),
            _ => None,
        };
        Ok(WantedServer {
            server: server.clone(),
            span: name.span,
            suite_dir: suite_dir.to_owned(),
            bearer,
        })
    });
    wanted.collect()
}

fn token(variable: &str, server: &Server) -> Result<String, LiveError> {
    let value = std::env::var(variable)
        .ok()
        .filter(|value| !value.is_empty());
    value.ok_or_else(|| {
        let name = &server.name;
        LiveError::new(format!(
            "no token for the server `{}`: `{variable}` is not set",
            name.value
        ))
        .at(name.span)
        .help("set the variable")
    })
}
