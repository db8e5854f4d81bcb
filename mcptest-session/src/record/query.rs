//! Queries of requests, without the keys in them.

/// The query without the values of keys, and those values.
pub(crate) fn without_keys(query: &str) -> (String, Vec<String>) {
    let mut keys = Vec::new();
    let parts = query.split('&').map(|part| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        // Whatever is not known to be harmless may be a key.
        let harmless = [
            "after",
            "alt",
            "api-version",
            "beta",
            "limit",
            "order",
            "pagesize",
            "purpose",
        ];
        if !harmless.contains(&name.to_ascii_lowercase().as_str()) && !value.is_empty() {
            keys.push(value.to_owned());
            format!("{name}=")
        } else {
            part.to_owned()
        }
    });
    let rest = parts.collect::<Vec<_>>().join("&");
    (rest, keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_loses_its_keys() {
        assert_eq!(
            without_keys("alt=sse&key=AIza1&n&sig=S1"),
            (
                "alt=sse&key=&n&sig=".to_owned(),
                vec!["AIza1".to_owned(), "S1".to_owned()]
            )
        );
    }
}
