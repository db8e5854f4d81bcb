//! The environment that an agent's program is given.

use std::path::Path;

use crate::endpoint::Provider;
use crate::mcp::variable_of;
use crate::mode::Mode;

/// The most bytes of a variable: a little less than Linux takes.
const LONGEST_VARIABLE: usize = 100 << 10;

/// The variables of a session: the addresses, the mode, and the prompt unless it is longer than a system lets a
/// variable be.
pub(crate) fn variables(
    mode: Mode,
    prompt: &str,
    addresses: impl Iterator<Item = (&'static Provider, String)>,
    servers: &[(String, String)],
    config: Option<&Path>,
) -> Vec<(String, String)> {
    let mut environment = Vec::new();
    for (provider, url) in addresses {
        let variables = provider.variables.iter();
        environment.extend(variables.map(|name| ((*name).to_owned(), url.clone())));
    }
    for (server, url) in servers {
        environment.push((variable_of(server), url.clone()));
    }
    if let Some(config) = config {
        environment.push((
            "MCPTEST_MCP_CONFIG".to_owned(),
            config.display().to_string(),
        ));
    }
    environment.push(("MCPTEST_MODE".to_owned(), mode.as_str().to_owned()));
    if prompt.len() <= LONGEST_VARIABLE {
        environment.push(("MCPTEST_PROMPT".to_owned(), prompt.to_owned()));
    }
    // A proxy of the machine would be asked for the address, and does not have it.
    for name in ["NO_PROXY", "no_proxy"] {
        let before = std::env::var(name).unwrap_or_default();
        let separator = if before.is_empty() { "" } else { "," };
        let value = format!("{before}{separator}127.0.0.1,localhost");
        environment.push((name.to_owned(), value));
    }
    environment
}
