//! Headers that go further, those that are of one connection alone, and those that log in.

use axum::http::header::{CONNECTION, HOST, TE, TRAILER, TRANSFER_ENCODING, UPGRADE};
use axum::http::{HeaderMap, HeaderName};
use mcptest_trace::record::redact::percent_decoded;

/// The headers that are of one connection alone, besides those that [`CONNECTION`] names.
const OF_A_CONNECTION: [HeaderName; 7] = [
    CONNECTION,
    HOST,
    HeaderName::from_static("keep-alive"),
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// The end-to-end headers: those that are not of one connection alone.
#[must_use]
pub fn end_to_end_headers(headers: &HeaderMap) -> HeaderMap {
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

/// Whether a header, or a parameter of a query, may log in, by how its name ends.
fn is_credential_name(name: &str) -> bool {
    let ends = [
        "authorization",
        "key",
        "token",
        "secret",
        "cookie",
        "signature",
    ];
    ends.iter().any(|end| name.ends_with(end))
}

/// The credentials that a client sends: of `Bearer KEY` the key, and of cookies all of them.
pub fn credentials(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers
        .iter()
        .filter(|(name, _)| is_credential_name(name.as_str()));
    let values = values.filter_map(|(name, value)| Some((name, value.to_str().ok()?)));
    let parts = values.map(|(name, value)| match name.as_str() {
        "cookie" => value.trim(),
        _ => value.rsplit(' ').next().unwrap_or(value).trim(),
    });
    parts.filter(|login| login.len() >= SHORTEST_LOGIN)
}

/// The credentials in a query, as they stand there and decoded.
#[must_use]
pub fn query_credentials(query: &str) -> Vec<String> {
    let parts = query.split('&').filter_map(|part| part.split_once('='));
    let values = parts.filter(|(name, _)| is_credential_name(&name.to_ascii_lowercase()));
    let both = values.flat_map(|(_, value)| [value.to_owned(), percent_decoded(value)]);
    let mut logins: Vec<String> = both.filter(|login| login.len() >= SHORTEST_LOGIN).collect();
    logins.dedup();
    logins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_logs_in_by_the_names_of_its_parameters() {
        assert_eq!(
            query_credentials("API_KEY=k%2D12345&profile=default&token=abc&access_token=t-67890"),
            ["k%2D12345", "k-12345", "t-67890"]
        );
        assert!(query_credentials("").is_empty());
    }
}
