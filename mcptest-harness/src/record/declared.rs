//! The MCP servers of an agent, as its suite declares them.

use std::path::PathBuf;

use mcptest_suite::model::{Agent, Server, Suite, Transport};
use mcptest_suite::{Span, nearest};

use mcptest_trace::record::store::{Layout, Lock, StoreError};
use mcptest_trace::record::{fingerprint, say};

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
            .help("`cwd` is relative to the suite's folder"))
    }
}

/// Waits until no other run uses the servers that run already, unless their suite says that they are shared. Others wait
/// until what is given back is dropped.
pub(crate) fn reserve(wanted: &[WantedServer]) -> Result<Vec<Lock>, LiveError> {
    let alone = wanted.iter().filter(|wanted| !wanted.server.shared);
    let mut places: Vec<(&str, &WantedServer)> = alone
        .filter_map(|wanted| match &wanted.server.transport {
            Transport::Http { url, .. } => Some((url.as_str(), wanted)),
            Transport::Stdio { .. } => None,
        })
        .collect();
    // Each run takes them in one order, so that no two wait for each other.
    places.sort_by_key(|(url, _)| *url);
    places.dedup_by_key(|(url, _)| *url);
    let locks = places.into_iter().map(|(url, wanted)| {
        let name = &wanted.server.name.value;
        let place = std::env::temp_dir().join(format!("mcptest-server-{}", fingerprint(url)));
        let waiting = || {
            say(&format!(
                "waiting: another run uses the server `{name}`; `shared: true` lets them use it together"
            ));
        };
        let failed = |error: StoreError| {
            let problem = format!("the server `{name}` cannot be reserved for one run: {}", error.problem());
            LiveError::new(problem).at(wanted.span).help(error.help())
        };
        Lock::acquire(&Layout::Single(place), waiting).map_err(failed)
    });
    locks.collect()
}

/// The servers of an agent, each declared, each with its token.
pub(crate) fn find_servers(suite: &Suite, agent: &Agent) -> Result<Vec<WantedServer>, LiveError> {
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
            } => Some(read_token(variable, server)?),
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

fn read_token(variable: &str, server: &Server) -> Result<String, LiveError> {
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use mcptest_suite::Source;

    use super::*;

    fn wanted(servers: &str) -> Vec<WantedServer> {
        let text = format!(
            "servers: {{ {servers} }}\nagents: [{{ name: a, model: m, prompt: p, servers: [one, two], narrative: {{}} }}]"
        );
        let suite = Suite::parse(Source::new("a.yml", "a.yml", text)).unwrap();
        find_servers(&suite, &suite.agents[0]).unwrap()
    }

    #[test]
    fn a_server_that_runs_is_for_one_run_at_a_time_unless_it_is_shared() {
        let url = |name: &str| format!("http://localhost:1/{}/{name}", std::process::id());
        let (one, two) = (url("one"), url("two"));
        let first = reserve(&wanted(&format!(
            "one: {{ url: '{one}' }}, two: {{ url: '{two}' }}"
        )));
        assert_eq!(first.as_ref().map(Vec::len), Ok(2));
        // One that is started is started for each run; one that is shared is waited for by nobody.
        let others = reserve(&wanted(&format!(
            "one: {{ url: '{one}', shared: true }}, two: {{ command: [x] }}"
        )));
        assert_eq!(others.map(|locks| locks.len()), Ok(0));
        let (told, tells) = channel();
        let waits = std::thread::spawn(move || {
            let again = reserve(&wanted(&format!(
                "one: {{ url: '{two}' }}, two: {{ url: '{one}' }}"
            )));
            told.send(again.map(|locks| locks.len())).unwrap();
        });
        assert!(tells.recv_timeout(Duration::from_millis(200)).is_err());
        drop(first);
        assert_eq!(tells.recv().unwrap(), Ok(2));
        waits.join().unwrap();
    }
}
