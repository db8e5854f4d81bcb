//! The providers that an endpoint stands in place of, and where they are.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use crate::protocol::Provider;
#[cfg(feature = "record")]
use crate::protocol::provider::REGION;
use crate::protocol::provider::{Version, in_region};

/// The variable that says where all services of AWS are.
const ALL_OF_AWS: &str = "AWS_ENDPOINT_URL";

/// Where a provider is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    provider: &'static Provider,
    base: String,
}

impl Upstream {
    /// The provider at another address, such as one that speaks its format.
    ///
    /// # Errors
    ///
    /// There is no such provider, or the address is none over HTTP.
    ///
    /// ```
    /// use mcptest_session::endpoint::Upstream;
    ///
    /// let openai = Upstream::new("openai", "https://openrouter.ai/api/v1").unwrap();
    /// let path = openai.url("/v1/chat/completions", None);
    /// assert_eq!(path, "https://openrouter.ai/api/v1/chat/completions");
    /// assert!(Upstream::new("openai", "openrouter.ai").is_err());
    /// ```
    pub fn new(provider: &str, base: &str) -> Result<Self, UpstreamError> {
        let Some(provider) = Provider::named(provider) else {
            let name = provider.to_owned();
            return Err(UpstreamError::UnknownProvider { name });
        };
        let base = with_scheme(base.trim(), provider.port);
        let base = base.trim_end_matches('/');
        let host = ["https://", "http://"]
            .iter()
            .find_map(|scheme| base.strip_prefix(scheme));
        if host.is_none_or(|host| host.is_empty() || host.starts_with('/')) {
            return Err(UpstreamError::NotAnAddress {
                provider: provider.name,
                address: base.to_owned(),
            });
        }
        let base = match provider.version {
            Version::InPath(version) => base.strip_suffix(version).unwrap_or(base),
            Version::InAddress(_) | Version::None => base,
        };
        Ok(Self {
            provider,
            base: base.to_owned(),
        })
    }

    /// Where each provider is: where its variable says, else where it is by default.
    ///
    /// # Errors
    ///
    /// A variable holds no address.
    pub fn from_environment(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Vec<Self>, UpstreamError> {
        let mut upstreams = Vec::new();
        for provider in Provider::all() {
            let of_all = provider.is_of_aws().then_some(&ALL_OF_AWS);
            let set = provider.variables.iter().chain(of_all).find_map(|name| {
                let value = variable(name).filter(|value| !value.trim().is_empty())?;
                Some((*name, value))
            });
            match (set, provider.default) {
                (Some((name, value)), _) => {
                    let upstream = Self::new(provider.name, &value);
                    upstreams.push(upstream.map_err(|error| UpstreamError::Variable {
                        name,
                        error: Box::new(error),
                    })?);
                }
                (None, Some(default)) => upstreams.push(Self::new(provider.name, default)?),
                (None, None) => {}
            }
        }
        Ok(upstreams)
    }

    /// The provider.
    #[must_use]
    pub fn provider(&self) -> &'static Provider {
        self.provider
    }

    /// Whether the region stands in its address, and is not known yet.
    #[cfg(feature = "record")]
    pub(crate) fn is_regional(&self) -> bool {
        self.base.contains(REGION)
    }

    /// The same in a region.
    #[cfg(feature = "record")]
    pub(crate) fn in_region(&self, region: &str) -> Self {
        Self {
            provider: self.provider,
            base: self.base.replace(REGION, region),
        }
    }

    /// Where it is, for people: without a login and without a query.
    #[cfg(feature = "record")]
    pub(crate) fn display_url(&self) -> String {
        let base = self.base.split(['?', '#']).next().unwrap_or_default();
        let (scheme, rest) = base.split_once("://").unwrap_or(("", base));
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        format!("{scheme}://{host}{path}")
    }

    /// The address of a path and its query.
    #[must_use]
    pub fn url(&self, path: &str, query: Option<&str>) -> String {
        let is_version = |version: &str| {
            path.strip_prefix(version)
                .filter(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let versioned = path.strip_prefix("/v").is_some_and(|rest| {
            let number = rest.split('/').next().unwrap_or_default();
            number.starts_with(|first: char| first.is_ascii_digit())
        });
        let path = match self.provider.version {
            // A version that the client adds is the one that the address ends with.
            Version::InAddress(version) => is_version(version).unwrap_or(path).to_owned(),
            Version::InPath(version) if !versioned => format!("{version}{path}"),
            Version::InPath(_) | Version::None => path.to_owned(),
        };
        let query = query.map_or_else(String::new, |query| format!("?{query}"));
        let base = in_region(&self.base, &path);
        format!("{}{path}{query}", base.as_deref().unwrap_or(&self.base))
    }
}

/// An address with its scheme. Some clients take one without: a host, a port, or both, over plain HTTP.
fn with_scheme(base: &str, port: Option<u16>) -> Cow<'_, str> {
    let Some(port) = port.filter(|_| !base.contains("://")) else {
        return base.into();
    };
    let (host, path) = base.split_at(base.find('/').unwrap_or(base.len()));
    let (name, own) = match host.rsplit_once(':') {
        // The colons of an address of IPv6 stand in brackets.
        Some((name, own)) if !own.ends_with(']') => (name, Some(own)),
        _ => (host, None),
    };
    let name = if name.is_empty() { "127.0.0.1" } else { name };
    match own {
        Some(own) => format!("http://{name}:{own}{path}").into(),
        None => format!("http://{name}:{port}{path}").into(),
    }
}

/// The names of all providers, for a message.
pub(crate) fn provider_names() -> String {
    let names = Provider::all().map(|provider| format!("`{}`", provider.name));
    names.collect::<Vec<_>>().join(", ")
}

/// Why an address of a provider cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpstreamError {
    /// There is no such provider.
    UnknownProvider {
        /// The name that was given.
        name: String,
    },
    /// It is no address over HTTP.
    NotAnAddress {
        /// The provider.
        provider: &'static str,
        /// What was given.
        address: String,
    },
    /// An environment variable holds it.
    Variable {
        /// The variable.
        name: &'static str,
        /// What is wrong with it.
        error: Box<UpstreamError>,
    },
}

impl fmt::Display for UpstreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownProvider { name } => {
                let known = provider_names();
                write!(f, "unknown provider `{name}`; known providers: {known}")
            }
            Self::NotAnAddress { provider, address } => write!(
                f,
                "`{address}` is no address of `{provider}`; write it as `https://example.com/v1`"
            ),
            Self::Variable { name, error } => {
                write!(f, "the environment variable `{name}`: {error}")
            }
        }
    }
}

impl Error for UpstreamError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Variable { error, .. } => Some(error),
            Self::UnknownProvider { .. } | Self::NotAnAddress { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_the_provider_whatever_a_client_adds() {
        for (name, base, path, url) in [
            ("openai", "http://a/v1/", "/v1/models", "http://a/v1/models"),
            (
                "openai",
                "http://a/v1",
                "/responses",
                "http://a/v1/responses",
            ),
            ("openai", "http://a", "/v1/responses", "http://a/responses"),
            (
                "anthropic",
                "http://a",
                "/v1/messages",
                "http://a/v1/messages",
            ),
            (
                "anthropic",
                "http://a/v1",
                "/messages",
                "http://a/v1/messages",
            ),
            (
                "gemini",
                "http://a/v1beta",
                "/models/g:generateContent",
                "http://a/v1beta/models/g:generateContent",
            ),
            (
                "gemini",
                "http://a",
                "/v1alpha/models",
                "http://a/v1alpha/models",
            ),
            (
                "azure",
                "http://a",
                "/openai/deployments/d/chat/completions",
                "http://a/openai/deployments/d/chat/completions",
            ),
            (
                "vertex",
                "https://aiplatform.googleapis.com",
                "/v1beta1/projects/p/locations/global/publishers/google/models/g:generateContent",
                "https://aiplatform.googleapis.com/v1beta1/projects/p/locations/global/publishers/google/models/g:generateContent",
            ),
            (
                "vertex",
                "https://aiplatform.googleapis.com/",
                "/v1/projects/p/locations/europe-west4/endpoints/openapi/chat/completions",
                "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/endpoints/openapi/chat/completions",
            ),
            (
                "vertex_anthropic",
                "https://aiplatform.googleapis.com/v1",
                "/projects/p/locations/eu/publishers/anthropic/models/c:rawPredict",
                "https://aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu/publishers/anthropic/models/c:rawPredict",
            ),
            // No login goes to a host that a path makes up, and an address that is given stays as it is.
            (
                "vertex",
                "https://aiplatform.googleapis.com",
                "/v1/projects/p/locations/evil.com%2F/x",
                "https://aiplatform.googleapis.com/v1/projects/p/locations/evil.com%2F/x",
            ),
            (
                "vertex",
                "http://a",
                "/v1/projects/p/locations/europe-west4/x",
                "http://a/v1/projects/p/locations/europe-west4/x",
            ),
        ] {
            assert_eq!(Upstream::new(name, base).unwrap().url(path, None), url);
        }
    }

    #[test]
    fn an_address_without_a_scheme_is_one_over_plain_http_where_clients_take_it() {
        for (given, address) in [
            ("0.0.0.0", "http://0.0.0.0:11434"),
            ("example.com/path", "http://example.com:11434/path"),
            ("localhost:8080/", "http://localhost:8080/"),
            (":8080", "http://127.0.0.1:8080"),
            ("[::1]", "http://[::1]:11434"),
            ("[::1]:8080", "http://[::1]:8080"),
            ("https://example.com", "https://example.com"),
        ] {
            assert_eq!(with_scheme(given, Some(11434)), address);
        }
        assert_eq!(with_scheme("example.com", None), "example.com");
    }

    #[test]
    fn a_variable_says_where_a_provider_is() {
        let found = Upstream::from_environment(|name| {
            (name == "OPENAI_API_BASE").then(|| "http://b/v1".to_owned())
        });
        let found = found.unwrap();
        assert_eq!(
            found[0].url("/models", Some("a=1")),
            "http://b/v1/models?a=1"
        );
        let names: Vec<_> = found.iter().map(|it| it.provider().name).collect();
        assert_eq!(
            names,
            [
                "openai",
                "anthropic",
                "vertex_anthropic",
                "gemini",
                "vertex",
                "ollama",
                "bedrock"
            ]
        );
        let error = Upstream::from_environment(|_| Some("nowhere".to_owned())).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the environment variable `OPENAI_BASE_URL`: `nowhere` is no address of `openai`; write it as \
             `https://example.com/v1`"
        );
        assert_eq!(
            Upstream::new("opnai", "http://a").unwrap_err().to_string(),
            "unknown provider `opnai`; known providers: `openai`, `azure`, `anthropic`, `vertex_anthropic`, `gemini`, `vertex`, `ollama`, `bedrock`"
        );
    }

    #[test]
    fn a_path_at_the_endpoint_names_its_provider() {
        let of = |path| Provider::of_path(path).map(|(provider, rest)| (provider.name, rest));
        assert_eq!(of("/openai/v1/models"), Some(("openai", "/v1/models")));
        assert_eq!(of("/gemini"), Some(("gemini", "")));
        assert_eq!(of("/other/v1"), None);
        assert_eq!(of(""), None);
    }
}
