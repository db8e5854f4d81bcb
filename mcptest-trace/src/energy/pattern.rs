//! The failure patterns of §6.1 and what §6.2 advises against each.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// How a run failed, as its energy shows it (§6.1).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum FailurePattern {
        /// Nothing stopped the run.
        Healthy = "healthy",
        /// V̂ > 3 within the first 3 steps.
        EarlyExplosion = "early_explosion",
        /// The token budget was used up.
        BudgetExhaustion = "budget_exhaustion",
        /// Nearly constant energy (CV < 0.3) over 8 steps or more.
        RetryStorm = "retry_storm",
        /// The last 5 V̂ above 1.5, rising at 3 or more of their 4 steps.
        ContextSpiral = "context_spiral",
        /// Mean recent drift above δ.
        PolicyDrift = "policy_drift",
        /// It grew, but like none of the others.
        GradualDegradation = "gradual_degradation",
    }
}

impl FailurePattern {
    /// What to do about it, most important first; nothing for a healthy run.
    #[must_use]
    pub fn recommendations(self) -> Vec<Recommendation> {
        let (advice, _) = self.advice().as_chunks();
        let advised = advice.iter().zip(1..);
        advised
            .map(|([action, rationale], priority)| Recommendation {
                priority,
                action: (*action).to_owned(),
                rationale: (*rationale).to_owned(),
            })
            .collect()
    }

    /// Actions, each with the reason for it after it.
    fn advice(self) -> &'static [&'static str] {
        match self {
            Self::Healthy => &[],
            Self::EarlyExplosion => &[
                "Audit the sizes of the system prompt and of the first tool responses",
                "tokens jumped before any work was done: something static is too large",
                "Cut or page tool responses before they enter the context",
                "a single response is sent again with every later call",
            ],
            Self::BudgetExhaustion => &[
                "Split the task into parts with a budget each",
                "the run was steady and used up its budget: the task is long",
                "Raise the token budget if the task is worth it",
                "nothing but the ceiling stopped this run",
            ],
            Self::RetryStorm => &[
                "Add exponential backoff and a cap on retries",
                "nearly identical steps spend tokens without progress",
                "Return tool errors that say what to change",
                "an agent that is told only that a call failed makes it again",
            ],
            Self::ContextSpiral => &[
                "Compress the history before each model call",
                "the whole conversation is sent again with every call",
                "Replace long tool responses by summaries once they were used",
                "they make up most of a context that keeps growing",
                "Cap the number of turns",
                "the cost of each further turn rises",
            ],
            Self::PolicyDrift => &[
                "Put the policy into the context again every few turns",
                "over long conversations the model loses its first instructions",
                "Check responses against the policy before they are sent",
                "the last responses had little in common with it",
            ],
            Self::GradualDegradation => &[
                "Compare the run with passing ones under a higher ratio threshold",
                "the growth has no known shape: the task may just need more",
                "Compress the history before each model call",
                "it lowers the natural growth, and real spirals stand out",
            ],
        }
    }
}

impl fmt::Display for FailurePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.as_str().replace('_', " "))
    }
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Recommendation {
    /// From 1, the most important.
    pub priority: u8,
    /// What to do.
    pub action: String,
    /// Why.
    pub rationale: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_has_advice_in_order_and_health_has_none() {
        use FailurePattern as P;
        assert!(P::Healthy.recommendations().is_empty());
        for pattern in [
            P::EarlyExplosion,
            P::BudgetExhaustion,
            P::RetryStorm,
            P::ContextSpiral,
            P::PolicyDrift,
            P::GradualDegradation,
        ] {
            let advice = pattern.recommendations();
            assert!(advice.len() >= 2, "{pattern}");
            assert!(
                advice
                    .iter()
                    .map(|item| item.priority)
                    .eq(1..=advice.len() as u8)
            );
            assert_eq!(serde_json::to_value(pattern).unwrap(), pattern.as_str());
        }
    }
}
