//! What models cost, and by which name a price is found.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::setters::setters;

/// What a model costs, in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ModelPrice {
    /// Tokens sent to the model.
    pub prompt: f64,
    /// Those of them that the provider had in its cache; they cost the full price where this is not stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// Tokens the model wrote, reasoning among them.
    pub completion: f64,
}

impl ModelPrice {
    /// Dollars per million tokens sent, and per million written.
    #[must_use]
    pub const fn new(prompt: f64, completion: f64) -> Self {
        Self {
            prompt,
            cached: None,
            completion,
        }
    }
}

setters! {
    ModelPrice {
        with_cached(cached: f64) => Some(cached);
    }
}

/// Prices by the name of the model.
///
/// ```
/// use mcptest_trace::eval::{ModelPrice, Prices};
///
/// let prices: Prices = [("gpt-5", ModelPrice::new(1.25, 10.0))].into_iter().collect();
/// for name in ["gpt-5", "openai/gpt-5", "gpt-5-2026-03-01", "openai/gpt-5-20260301", "gpt-5-latest"] {
///     assert!(prices.get(name).is_some(), "{name}");
/// }
/// for name in ["gpt-5-mini", "gpt-5.1", "gpt", "azure-gpt-5"] {
///     assert!(prices.get(name).is_none(), "{name}");
/// }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Prices(BTreeMap<String, ModelPrice>);

impl Prices {
    /// The price of a model: that of exactly this name, else of the name without what stands before a `/`, else
    /// without the release at its end (a date of digits and hyphens, or `latest`, behind `-` or `@`). A name in
    /// the list is never shortened.
    #[must_use]
    pub fn get(&self, model: &str) -> Option<&ModelPrice> {
        candidate_names(model).find_map(|name| self.0.get(name))
    }

    /// Whether no model has a price.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each name with its price.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ModelPrice)> {
        self.0.iter().map(|(model, price)| (model.as_str(), price))
    }
}

impl<S: Into<String>> FromIterator<(S, ModelPrice)> for Prices {
    fn from_iter<I: IntoIterator<Item = (S, ModelPrice)>>(prices: I) -> Self {
        let prices = prices.into_iter();
        Self(prices.map(|(model, price)| (model.into(), price)).collect())
    }
}

/// The names that a model may have in a list: its own, without its provider, without its release, without both.
fn candidate_names(model: &str) -> impl Iterator<Item = &str> {
    let behind = model.match_indices('/').map(|(at, _)| &model[at + 1..]);
    let whole = std::iter::once(model).chain(behind);
    whole.clone().chain(whole.filter_map(without_release))
}

/// A model's name without the release at its end; nothing where it names none.
fn without_release(model: &str) -> Option<&str> {
    let separators = model.match_indices(['-', '@']);
    let mut parts = separators.map(|(at, _)| (&model[..at], &model[at + 1..]));
    let (rest, _) = parts.find(|(_, release)| *release == "latest" || is_date(release))?;
    Some(rest).filter(|rest| !rest.is_empty())
}

/// Four digits or more, and perhaps further numbers behind hyphens.
fn is_date(release: &str) -> bool {
    let mut parts = release.split('-');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    parts
        .next()
        .is_some_and(|year| year.len() >= 4 && is_number(year))
        && parts.all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_a_date_or_latest() {
        for (name, rest) in [
            ("gpt-4o-2024-08-06", Some("gpt-4o")),
            ("claude-sonnet-4-5-20250929", Some("claude-sonnet-4-5")),
            ("claude-3-5-haiku-latest", Some("claude-3-5-haiku")),
            ("mistral-large-2411", Some("mistral-large")),
            ("gpt-4-0613", Some("gpt-4")),
            ("claude-opus-4@20250514", Some("claude-opus-4")),
            ("claude-opus-4-1", None),
            ("claude-opus-4-9", None),
            ("gpt-5", None),
            ("gpt-5.1", None),
            ("o3", None),
            ("latest", None),
            ("-latest", None),
            ("2024-08-06", None),
            ("-2024", None),
            ("gpt-5-", None),
            ("gpt-5--2024", Some("gpt-5-")),
            ("gpt-5@", None),
            ("gpt-5@1", None),
            ("", None),
        ] {
            assert_eq!(without_release(name), rest, "{name}");
        }
    }

    #[test]
    fn the_name_as_it_stands_goes_first() {
        let prices: Prices = [
            ("gpt-5", ModelPrice::new(1.0, 1.0)),
            ("gpt-5-2026-03-01", ModelPrice::new(2.0, 2.0)),
            ("azure/gpt-5", ModelPrice::new(3.0, 3.0)),
        ]
        .into_iter()
        .collect();
        let prompt = |name: &str| prices.get(name).map(|price| price.prompt);
        assert_eq!(prompt("gpt-5"), Some(1.0));
        assert_eq!(prompt("gpt-5-2026-03-01"), Some(2.0));
        assert_eq!(prompt("openai/gpt-5-2026-03-01"), Some(2.0));
        assert_eq!(prompt("gpt-5-2025-08-07"), Some(1.0));
        assert_eq!(prompt("azure/gpt-5"), Some(3.0));
        assert_eq!(prompt("azure/gpt-5-2025-08-07"), Some(3.0));
        assert_eq!(prompt("router/openai/gpt-5"), Some(1.0));
        assert_eq!(prompt("openai/"), None);
        // A price of one provider is no price of another.
        let only: Prices = [("azure/gpt-5", ModelPrice::new(3.0, 3.0))]
            .into_iter()
            .collect();
        assert_eq!(only.get("gpt-5"), None);
        assert_eq!(only.get("openai/gpt-5"), None);
    }
}
