//! Addresses of servers, as messages show them.

/// An address without what may be a key: its login, its query and its fragment.
pub(crate) fn redact(url: &str) -> String {
    let plain = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = plain.split_once("://") else {
        return plain.to_owned();
    };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

/// A text in which an address may stand in whole: without its keys.
pub(crate) fn redact_in(text: &str, url: &str) -> String {
    let parsed = reqwest::Url::parse(url).ok();
    // Who asks says the login in a header, and the address without it.
    let without_login = parsed.clone().and_then(|mut url| {
        url.set_username("").ok()?;
        url.set_password(None).ok()?;
        Some(url)
    });
    let whole = [
        Some(url.to_owned()),
        parsed.map(String::from),
        without_login.map(String::from),
    ];
    let whole = whole.into_iter().flatten().filter(|url| !url.is_empty());
    whole.fold(text.to_owned(), |text, url| {
        text.replace(&url, &redact(&url))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_keys() {
        for (url, expected) in [
            (
                "https://example.com/mcp?key=k1#part",
                "https://example.com/mcp",
            ),
            (
                "https://me:secret@example.com:8443/mcp",
                "https://example.com:8443/mcp",
            ),
            ("https://example.com", "https://example.com"),
            ("htp:/x?key=k1", "htp:/x"),
            ("https://example.com/a@b", "https://example.com/a@b"),
        ] {
            assert_eq!(redact(url), expected);
        }
        let url = "https://example.com?key=k1";
        let text = "error sending request for url (https://example.com/?key=k1)";
        let expected = "error sending request for url (https://example.com/)";
        for url in [url, "https://me:pw@example.com?key=k1"] {
            assert_eq!(redact_in(text, url), expected);
        }
    }
}
