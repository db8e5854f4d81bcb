//! What the environment holds that is secret: by convention, or by its name.

/// A value that is shorter is a flag or a word, and would be found everywhere.
const SHORTEST: usize = 6;

/// The environment variables that hold keys of model providers by convention.
const USUAL_KEYS: [&str; 5] = [
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "MISTRAL_API_KEY",
];

/// The usual keys that the environment has, each with its variable.
pub fn provider_secrets() -> impl Iterator<Item = (String, String)> {
    secrets(USUAL_KEYS)
}

/// The values of some environment variables, each with its variable.
pub fn secrets<'a>(
    variables: impl IntoIterator<Item = &'a str>,
) -> impl Iterator<Item = (String, String)> {
    let value = |name: &str| Some((name.to_owned(), std::env::var(name).ok()?));
    variables.into_iter().filter_map(value)
}

/// The variables of this process that are text.
pub fn variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// What is secret among variables, each with its variable: the values of those whose names say so,
/// and who logs in where a URL says it.
pub fn secrets_by_name(
    variables: impl IntoIterator<Item = (String, String)>,
) -> impl Iterator<Item = (String, String)> {
    variables.into_iter().flat_map(|(name, value)| {
        let parts = if is_secret(&name) {
            vec![value]
        } else if is_address(&name) {
            url_logins(&value)
        } else {
            Vec::new()
        };
        let long = parts
            .into_iter()
            .filter(|part| part.trim().len() >= SHORTEST);
        long.map(move |part| (name.clone(), part))
            .collect::<Vec<_>>()
    })
}

/// Whether a variable's name says that it holds a secret.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let words = "TOKEN SECRET PASSWORD PASSWD PASSPHRASE CREDENTIAL APIKEY";
    words.split(' ').any(|word| name.contains(word)) || name.ends_with("_KEY")
}

fn is_address(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["_URL", "_URI", "_DSN", "_PROXY"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// The login and the password in a URL, as they are written and as they are meant.
fn url_logins(url: &str) -> Vec<String> {
    let Some((_, rest)) = url.split_once("://") else {
        return Vec::new();
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let Some((login, _)) = authority.rsplit_once('@') else {
        return Vec::new();
    };
    let mut parts = vec![login.to_owned()];
    if let Some((_, password)) = login.split_once(':') {
        parts.push(password.to_owned());
        parts.push(super::redact::percent_decoded(password));
    }
    parts.sort();
    parts.dedup();
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, value: &str) -> Vec<String> {
        let variable = [(name.to_owned(), value.to_owned())];
        secrets_by_name(variable).map(|(_, value)| value).collect()
    }

    #[test]
    fn a_name_says_that_its_value_is_secret() {
        for name in [
            "GITHUB_TOKEN",
            "client_secret",
            "DB_PASSWORD",
            "SIGNING_KEY",
            "AWS_CREDENTIALS",
            "SERVICE_APIKEY",
        ] {
            assert_eq!(found(name, "hush-hush"), ["hush-hush"], "{name}");
        }
        for name in ["PATH", "KEYBOARD", "EDITOR", "KEY_REPEAT"] {
            assert!(found(name, "hush-hush").is_empty(), "{name}");
        }
        assert!(found("USE_TOKEN", "true").is_empty());
    }

    #[test]
    fn a_url_says_who_logs_in() {
        assert_eq!(
            found("DATABASE_URL", "postgres://ada:l%40velace@db/shop?x=1"),
            ["ada:l%40velace", "l%40velace", "l@velace"]
        );
        assert!(found("DATABASE_URL", "postgres://db/shop@home").is_empty());
        assert!(found("HOMEPAGE", "https://ada:lovelace@db").is_empty());
    }
}
