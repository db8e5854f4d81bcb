//! What models cost.
//!
//! The list prices of the providers in November 2025, for what `budget:` and the progress of a
//! recording say. They change; what the suite says under `prices` goes first, and a budget
//! over a model with no known price is refused.

use mcptest_suite::model::{ModelPrice, Prices};

/// US dollars per million tokens, which is millionths of a dollar per token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rates {
    pub(crate) prompt: f64,
    pub(crate) completion: f64,
}

/// Model, and dollars per million tokens sent and written.
const LISTED: [(&str, f64, f64); 34] = [
    ("claude-3-5-haiku", 0.8, 4.0),
    ("claude-3-5-sonnet", 3.0, 15.0),
    ("claude-3-7-sonnet", 3.0, 15.0),
    ("claude-3-haiku", 0.25, 1.25),
    ("claude-haiku-4-5", 1.0, 5.0),
    ("claude-opus-4", 15.0, 75.0),
    ("claude-opus-4-1", 15.0, 75.0),
    ("claude-opus-4-5", 5.0, 25.0),
    ("claude-sonnet-4", 3.0, 15.0),
    ("claude-sonnet-4-5", 3.0, 15.0),
    ("gemini-2.0-flash", 0.1, 0.4),
    ("gemini-2.5-flash", 0.3, 2.5),
    ("gemini-2.5-flash-lite", 0.1, 0.4),
    ("gemini-2.5-pro", 1.25, 10.0),
    ("gpt-4.1", 2.0, 8.0),
    ("gpt-4.1-mini", 0.4, 1.6),
    ("gpt-4.1-nano", 0.1, 0.4),
    ("gpt-4o", 2.5, 10.0),
    ("gpt-4o-mini", 0.15, 0.6),
    ("gpt-5", 1.25, 10.0),
    ("gpt-5-mini", 0.25, 2.0),
    ("gpt-5-nano", 0.05, 0.4),
    ("gpt-5.1", 1.25, 10.0),
    ("mistral-large", 2.0, 6.0),
    ("mistral-medium", 0.4, 2.0),
    ("mistral-small", 0.1, 0.3),
    ("codestral", 0.3, 0.9),
    ("ministral-3b", 0.04, 0.04),
    ("ministral-8b", 0.1, 0.1),
    ("o1", 15.0, 60.0),
    ("o3", 2.0, 8.0),
    ("o3-mini", 1.1, 4.4),
    ("o3-pro", 20.0, 80.0),
    ("o4-mini", 1.1, 4.4),
];

/// The rates of a model: the suite's own, else the list's, which knows no providers. Tokens in the cache cost the
/// full price here, so that no budget is overspent.
pub(crate) fn rates(prices: &Prices, model: &str) -> Option<Rates> {
    let listed = || -> Option<ModelPrice> {
        let list = LISTED.iter();
        let list: Prices = list
            .map(|(name, prompt, completion)| (*name, ModelPrice::new(*prompt, *completion)))
            .collect();
        list.get(model).filter(|_| !model.contains('/')).copied()
    };
    let price = prices.get(model).copied().or_else(listed)?;
    Some(Rates {
        prompt: price.prompt,
        completion: price.completion,
    })
}

impl Rates {
    /// What some tokens cost, in millionths of a dollar, rounded up.
    pub(crate) fn micro_usd(self, prompt: u64, completion: u64) -> u64 {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "rates are at most a million, and a float that is too large saturates"
        )]
        let cost =
            (prompt as f64 * self.prompt + completion as f64 * self.completion).ceil() as u64;
        cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcptest_suite::Source;
    use mcptest_suite::model::Suite;

    fn suite(budget: &str) -> Suite {
        let text = format!(
            "{budget}\nagents: [{{ name: a, model: m, prompt: x, expect: [{{ target: a, matcher: is-json }}] }}]"
        );
        Suite::parse(Source::new("a.yml", "a.yml", text)).unwrap()
    }

    #[test]
    fn a_release_of_a_listed_model_costs_what_the_model_costs() {
        let suite = suite("");
        let prompt = |model: &str| rates(&suite.prices, model).map(|rates| rates.prompt);
        assert_eq!(prompt("gpt-4o"), Some(2.5));
        assert_eq!(prompt("gpt-4o-2024-08-06"), Some(2.5));
        assert_eq!(prompt("gpt-4o-mini"), Some(0.15));
        assert_eq!(prompt("claude-sonnet-4-5-20250929"), Some(3.0));
        assert_eq!(prompt("mistral-large-latest"), Some(2.0));
        assert_eq!(prompt("mistral-large-2411"), Some(2.0));
    }

    #[test]
    fn another_model_of_a_family_has_no_price_by_its_family() {
        let suite = suite("");
        for model in [
            "gpt-5.7",
            "gpt-5-pro",
            "claude-opus-4-9",
            "o3-deep-research",
            "llama",
        ] {
            assert_eq!(rates(&suite.prices, model), None, "{model}");
        }
    }

    #[test]
    fn the_suites_own_price_goes_first() {
        let suite = suite(
            "budget: { per_suite_usd_cents: 5, prices: { gpt-4o: { prompt: 1, completion: 2 } } }",
        );
        let rates = rates(&suite.prices, "gpt-4o").unwrap();
        assert_eq!(rates.micro_usd(1_000, 500), 2_000);
    }

    #[test]
    fn costs_are_rounded_up() {
        let rates = Rates {
            prompt: 0.1,
            completion: 0.4,
        };
        assert_eq!(rates.micro_usd(1, 0), 1);
        assert_eq!(rates.micro_usd(0, 0), 0);
        let dear = Rates {
            prompt: 1e6,
            completion: 1e6,
        };
        assert_eq!(dear.micro_usd(u64::MAX, u64::MAX), u64::MAX);
    }
}
