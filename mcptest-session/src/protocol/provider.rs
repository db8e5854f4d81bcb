//! The providers that an endpoint stands in place of. Each stands at the format in which its own clients ask.

use super::ALL;

/// A provider: where its clients look for its address, and where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Provider {
    /// The first segment of its paths at the endpoint.
    pub name: &'static str,
    /// The other names that people have for it.
    pub aliases: &'static [&'static str],
    /// What its address at the endpoint ends with.
    pub suffix: &'static str,
    /// The environment variables from which its clients take the address.
    pub variables: &'static [&'static str],
    /// The environment variables without which its clients do not start: they hold its key.
    pub keys: &'static [&'static str],
    /// Where it is, unless a variable says otherwise.
    pub default: Option<&'static str>,
    /// The port at which its clients look over plain HTTP, where they take an address without a scheme.
    pub port: Option<u16>,
    /// What its address ends with where it is asked in `OpenAI`'s format, and not in its own.
    pub openai_at: Option<&'static str>,
    pub(crate) version: Version,
}

/// What stands for the region in the address of a service of AWS.
pub(crate) const REGION: &str = "{region}";

/// Where the version stands in the addresses of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// In the address: clients add the path after it.
    InAddress(&'static str),
    /// In the path: clients add it; some expect it in the address.
    InPath(&'static str),
    /// Nowhere.
    None,
}

/// Where Vertex AI is, whatever the region.
pub(super) const VERTEX: &str = "https://aiplatform.googleapis.com";

/// Where Vertex AI is for a path that names a region. Nothing else than a region becomes a part of the host.
pub(crate) fn in_region(base: &str, path: &str) -> Option<String> {
    let (_, rest) = path.split_once("/locations/").filter(|_| base == VERTEX)?;
    let region = rest.split('/').next().unwrap_or_default();
    let is_region = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    match region {
        "" | "global" => None,
        "us" | "eu" => Some(format!("https://aiplatform.{region}.rep.googleapis.com")),
        _ if region.bytes().all(is_region) => {
            Some(format!("https://{region}-aiplatform.googleapis.com"))
        }
        _ => None,
    }
}

impl Provider {
    /// All providers that are known.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        ALL.iter().flat_map(|protocol| protocol.providers())
    }

    /// Whether it is a service of AWS, whose address has a region.
    pub(crate) fn is_of_aws(&self) -> bool {
        self.default.is_some_and(|it| it.contains(REGION))
    }

    /// Its address at an endpoint, as its clients take it.
    #[must_use]
    pub fn at(&self, endpoint: &str) -> String {
        format!("{endpoint}/{}{}", self.name, self.suffix)
    }

    /// The provider of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().find(|provider| provider.name == name)
    }

    /// The provider that people call so: its name, or another one.
    ///
    /// ```
    /// use mcptest_session::protocol::Provider;
    ///
    /// assert_eq!(Provider::known_as("google"), Provider::named("gemini"));
    /// ```
    #[must_use]
    pub fn known_as(name: &str) -> Option<&'static Self> {
        Self::all().find(|provider| provider.name == name || provider.aliases.contains(&name))
    }

    /// The provider whose clients ask at an address of this one: `OpenAI`'s where the address says so.
    ///
    /// ```
    /// use mcptest_session::protocol::Provider;
    ///
    /// let gemini = Provider::named("gemini").unwrap();
    /// let address = "https://generativelanguage.googleapis.com";
    /// assert_eq!(gemini.asked_at(address).name, "gemini");
    /// assert_eq!(gemini.asked_at(&format!("{address}/v1beta/openai/")).name, "openai");
    /// ```
    #[must_use]
    pub fn asked_at(&'static self, address: &str) -> &'static Self {
        let address = address.trim().trim_end_matches('/');
        let is_openai = self.openai_at.is_some_and(|end| address.ends_with(end));
        let openai = Self::named("openai").filter(|_| is_openai);
        openai.unwrap_or(self)
    }

    /// The provider that a path at the endpoint names, and the rest of the path.
    #[must_use]
    pub fn of_path(path: &str) -> Option<(&'static Self, &str)> {
        let path = path.strip_prefix('/')?;
        let (name, rest) = path
            .find('/')
            .map_or((path, ""), |slash| path.split_at(slash));
        Some((Self::named(name)?, rest))
    }
}
