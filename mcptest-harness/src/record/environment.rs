//! What a server gets of the environment without being given it.

use std::ffi::OsString;

use mcptest_suite::model::Inherit;

/// What a server needs to start and to reach the network: where programs and homes are, how text
/// and time are written, proxies and certificates. A name that ends with `*` stands for all that
/// begin so; the last ones, from `APPDATA`, are what Windows needs.
const NEEDED: &str = "PATH HOME USER LOGNAME SHELL TERM TMPDIR TMP TEMP LANG LANGUAGE LC_* TZ HTTP_PROXY \
    HTTPS_PROXY ALL_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS \
    REQUESTS_CA_BUNDLE XDG_* DISPLAY APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES \
    PROGRAMFILES(X86) COMMONPROGRAMFILES COMSPEC HOMEDRIVE HOMEPATH NUMBER_OF_PROCESSORS OS \
    PATHEXT PROCESSOR_ARCHITECTURE SYSTEMDRIVE SYSTEMROOT USERNAME USERPROFILE WINDIR";

/// What a process gets of this one's environment: what it needs to start, and what the suite says.
pub(crate) fn inherited_variables(inherit: &Inherit) -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(move |(name, _)| match inherit {
        Inherit::All => true,
        Inherit::Names(names) => {
            let name = name.to_string_lossy();
            is_needed(&name) || names.iter().any(|known| *known == name)
        }
    })
}

/// Whether a server gets a variable without being given it.
fn is_needed(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let mut needed = NEEDED.split(' ');
    needed.any(|needed| match needed.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == needed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
