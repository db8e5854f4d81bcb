//! Did you mean …?

/// The candidate nearest to `word`, if one is near enough to be what was meant: at most a third of
/// the longer word's characters differ (swapped neighbours count as one).
///
/// ```
/// let keys = ["prompt", "runs"];
/// assert_eq!(mcptest_trace::text::nearest("promt", keys), Some("prompt"));
/// assert_eq!(mcptest_trace::text::nearest("zebra", keys), None);
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = fold(word);
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&folded, &fold(candidate)), candidate))
        .filter(|(distance, candidate)| {
            let longer = word.chars().count().max(candidate.chars().count());
            *distance <= longer.div_ceil(3) && *distance < longer
        })
        // The first of several equally near ones, so that the order of the candidates decides.
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Case and the choice of `-` or `_` are not differences.
fn fold(word: &str) -> String {
    word.to_lowercase().replace('-', "_")
}

/// The names in backticks, separated by commas.
#[must_use]
pub fn quoted_list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let quoted = names.into_iter().map(|name| format!("`{name}`"));
    quoted.collect::<Vec<_>>().join(", ")
}
