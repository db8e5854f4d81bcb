//! What the environment holds that is secret by its name, and what a server needs of it.

/// A value that is shorter is a flag or a word, and would be found everywhere.
const SHORTEST: usize = 6;

/// What a server needs to start and to reach the network: where programs and homes are, how text
/// and time are written, proxies and certificates. A name that ends with `*` stands for all that
/// begin so.
#[cfg(feature = "record")]
const NEEDED: [&str; 41] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TMP",
    "TEMP",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "XDG_*",
    "DISPLAY",
    // Windows.
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "COMMONPROGRAMFILES",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "NUMBER_OF_PROCESSORS",
    "OS",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

/// Whether a server gets a variable without being given it.
#[cfg(feature = "record")]
pub(crate) fn is_needed(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    NEEDED.iter().any(|needed| match needed.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == *needed,
    })
}

/// The variables of this process that are text.
pub(crate) fn variables() -> impl Iterator<Item = (String, String)> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text)
}

/// What is secret among variables, each with its variable: the values of those whose names say so,
/// and who logs in where a URL says it.
pub(crate) fn secrets_by_name(
    variables: impl IntoIterator<Item = (String, String)>,
) -> impl Iterator<Item = (String, String)> {
    variables.into_iter().flat_map(|(name, value)| {
        let parts = if is_secret(&name) {
            vec![value]
        } else if is_address(&name) {
            logins(&value)
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

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let words = [
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "CREDENTIAL",
        "APIKEY",
    ];
    words.iter().any(|word| name.contains(word)) || name.ends_with("_KEY")
}

fn is_address(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["_URL", "_URI", "_DSN", "_PROXY"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// The login and the password in a URL, as they are written and as they are meant.
fn logins(url: &str) -> Vec<String> {
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

    #[cfg(feature = "record")]
    #[test]
    fn a_server_needs_what_starts_it_and_no_more() {
        for needed in ["PATH", "Path", "LC_ALL", "https_proxy", "SystemRoot"] {
            assert!(is_needed(needed), "{needed}");
        }
        for other in ["GITHUB_TOKEN", "OPENAI_API_KEY", "PATHS", "MY_LC_ALL"] {
            assert!(!is_needed(other), "{other}");
        }
    }
}
