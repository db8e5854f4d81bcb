//! The environment that an agent's program is given.

#[cfg(feature = "record")]
use std::env::{self, VarError};
use std::path::Path;

use crate::driver::API_KEY;
use crate::endpoint::Provider;
use crate::mcp::variable_of;
use crate::mode::Mode;

/// The most bytes of a variable: a little less than Linux takes.
const LONGEST_VARIABLE: usize = 100 << 10;

/// The first variable that holds the address of a provider and is not UTF-8. It counts as not set elsewhere, and a key
/// would go to another address than the one that is meant.
#[cfg(feature = "record")]
pub(crate) fn address_without_text() -> Option<&'static str> {
    let mut names = Provider::all().flat_map(|provider| provider.variables);
    names
        .find(|name| matches!(env::var(name), Err(VarError::NotUnicode(_))))
        .copied()
}

/// What an agent is given in the place of an API key of Bedrock: many clients send one over HTTPS alone, and the session's
/// address is none. So the agent signs its requests, with a placeholder where it has no key of its own, and the session puts
/// the API key in the place of the signature.
fn of_api_key(mode: Mode, variable: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    if set(API_KEY).is_none() {
        return Vec::new();
    }
    let mut given = vec![(API_KEY, "")];
    if mode == Mode::Record
        && !["AWS_ACCESS_KEY_ID", "AWS_PROFILE"]
            .iter()
            .any(|it| set(it).is_some())
    {
        given.extend([
            ("AWS_ACCESS_KEY_ID", "mcptest-records"),
            ("AWS_SECRET_ACCESS_KEY", "mcptest-records"),
        ]);
    }
    let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    given.into_iter().map(own).collect()
}

/// The variables of a session: the addresses, the mode, and the prompt unless it is longer than a system lets a
/// variable be.
pub(crate) fn variables(
    mode: Mode,
    prompt: &str,
    addresses: impl Iterator<Item = (&'static Provider, String)>,
    servers: &[(String, String)],
    config: Option<&Path>,
    tools: String,
) -> Vec<(String, String)> {
    let mut environment = Vec::new();
    for (provider, url) in addresses {
        let variables = provider.variables.iter();
        environment.extend(variables.map(|name| ((*name).to_owned(), url.clone())));
    }
    environment.extend(of_api_key(mode, |name| std::env::var(name).ok()));
    for (server, url) in servers {
        environment.push((variable_of(server), url.clone()));
    }
    if let Some(config) = config {
        environment.push((
            "MCPTEST_MCP_CONFIG".to_owned(),
            config.display().to_string(),
        ));
    }
    environment.push(("MCPTEST_TOOLS".to_owned(), tools));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_signs_where_there_is_an_api_key_of_bedrock() {
        let names = |mode: Mode, set: &[&str]| {
            let variable = |name: &str| set.contains(&name).then(|| "set-here".to_owned());
            let given = of_api_key(mode, variable).into_iter();
            given.map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert!(names(Mode::Record, &["AWS_ACCESS_KEY_ID"]).is_empty());
        assert_eq!(
            names(Mode::Record, &[API_KEY]),
            [API_KEY, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]
        );
        assert_eq!(
            names(Mode::Record, &[API_KEY, "AWS_ACCESS_KEY_ID"]),
            [API_KEY]
        );
        assert_eq!(names(Mode::Record, &[API_KEY, "AWS_PROFILE"]), [API_KEY]);
        assert_eq!(names(Mode::Play, &[API_KEY]), [API_KEY]);
    }
}
