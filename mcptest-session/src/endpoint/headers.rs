//! Headers that go further, those that are of one connection alone, and those that log in.

use axum::http::header::{CONNECTION, HOST, TE, TRAILER, TRANSFER_ENCODING, UPGRADE};
use axum::http::{HeaderMap, HeaderName};

/// What is of one connection alone, besides what [`CONNECTION`] names.
const OF_A_CONNECTION: [HeaderName; 7] = [
    CONNECTION,
    HOST,
    HeaderName::from_static("keep-alive"),
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// The headers that are not of one connection alone.
#[must_use]
pub fn further(headers: &HeaderMap) -> HeaderMap {
    let named: Vec<String> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|names| names.to_str().ok())
        .flat_map(|names| names.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    let mut headers = headers.clone();
    for name in OF_A_CONNECTION {
        headers.remove(name);
    }
    for name in named {
        headers.remove(name);
    }
    headers
}

/// A login that is shorter would be found everywhere.
pub(crate) const SHORTEST_LOGIN: usize = 6;

/// Whether a header may log in, by how its name ends.
fn logs_in(name: &HeaderName) -> bool {
    let ends = [
        "authorization",
        "key",
        "token",
        "secret",
        "cookie",
        "signature",
    ];
    ends.iter().any(|end| name.as_str().ends_with(end))
}

/// What a client logs in with: of `Bearer KEY` the key.
pub(crate) fn logins(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.iter().filter(|(name, _)| logs_in(name));
    let values = values.filter_map(|(_, value)| value.to_str().ok());
    let parts = values.map(|value| value.rsplit(' ').next().unwrap_or(value).trim());
    parts.filter(|login| login.len() >= SHORTEST_LOGIN)
}
