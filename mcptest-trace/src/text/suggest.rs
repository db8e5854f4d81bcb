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

/// The known word that `word` is a misspelling of: one letter, the case or a `-` for a `_` is wrong.
/// Nothing of a word that is right.
///
/// ```
/// let known = ["turn_budget", "completed"];
/// assert_eq!(mcptest_trace::text::misspelt("complete", known), Some("completed"));
/// assert_eq!(mcptest_trace::text::misspelt("completed", known), None);
/// assert_eq!(mcptest_trace::text::misspelt("cost_budget", known), None);
/// ```
pub fn misspelt<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    if known.clone().into_iter().any(|known| known == word) {
        return None;
    }
    let folded = fold(word);
    let mut known = known.into_iter();
    known.find(|known| strsim::osa_distance(&folded, &fold(known)) <= 1)
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
