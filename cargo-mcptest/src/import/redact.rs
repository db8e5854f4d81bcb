//! What an import takes out of the runs of others: what a recording takes out, and what foreign logs
//! bring besides, secrets that are known by their shape or by the key they stand at.

use mcptest_trace::record::environment::{provider_secrets, secrets};
use mcptest_trace::record::redact::Redactor;
use regex::Regex;

/// Below this length a value of the environment is a word.
const SHORTEST: usize = 6;

/// `variables` are environment variables that hold secrets, `own` patterns of the suite and the
/// command. `keep_named` leaves what only the key it stands at makes a secret.
///
/// # Errors
///
/// A pattern that is none, or values that are too long to be looked for.
pub(super) fn redactor<'a>(
    variables: impl Iterator<Item = &'a str>,
    own: impl Iterator<Item = &'a str>,
    keep_named: bool,
) -> Result<Redactor, String> {
    let values = provider_secrets().chain(secrets(variables));
    let values = values.filter(|(_, value)| value.trim().len() >= SHORTEST);
    let patterns: Result<Vec<Regex>, regex::Error> = own.map(Regex::new).collect();
    let patterns = patterns
        .map_err(|error| format!("`--redact` has an invalid regular expression: {error}"))?;
    let redactor = Redactor::new(values, patterns).map_err(|error| error.to_string())?;
    let redactor = redactor.with_shapes();
    Ok(if keep_named {
        redactor
    } else {
        redactor.with_secret_keys()
    })
}
