//! Headers that go further, and those that are of one connection alone.

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
