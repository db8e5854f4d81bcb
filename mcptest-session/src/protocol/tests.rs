//! The wire formats: what is written is read again, and what is hostile does no harm.

mod asked;
mod bedrock;
mod clients;
mod hostile;
mod ollama;
mod said;
mod streams;
mod unclean;
mod unread;
mod written;

/// Fails unless a table of worked examples has each wire format but those of `others`, which have their examples
/// elsewhere.
fn assert_has_each_format<'n>(
    table: &str,
    names: impl IntoIterator<Item = &'n str>,
    others: &[&str],
) {
    let names: Vec<&str> = names.into_iter().collect();
    let all = super::ALL.iter().map(|protocol| protocol.name());
    let missing: Vec<&str> = all
        .filter(|name| !names.contains(name) && !others.contains(name))
        .collect();
    assert!(
        missing.is_empty(),
        "{table} has no example of {}: add one, as the server or its clients write it",
        missing.join(", ")
    );
}
