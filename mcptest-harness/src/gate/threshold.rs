//! A bound of a gate's default, and what is wrong with runs that do not meet it, in words.

use std::fmt;

use serde_json::Value;

use super::default_sentence::DefaultSentence;
use super::expectation::{Breach, Cause, short_number};
use super::scores::value_at;

/// A bound of a default gate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Threshold {
    /// The target, e.g. `stability.weakest_score`.
    pub(crate) target: &'static str,
    pub(crate) bound: ThresholdBound,
    /// What is wrong where the bound is not met. It is true for each number that does not meet it.
    sentence: &'static str,
    /// The sentence with numbers, where they say more. It gets the values of the gate's targets.
    numbered: Option<fn(&Value) -> Option<String>>,
}

/// Which side of a number is wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ThresholdBound {
    AtLeast(f64),
    AtMost(f64),
}

impl fmt::Display for ThresholdBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(least) => write!(f, ">= {least}"),
            Self::AtMost(most) => write!(f, "<= {most}"),
        }
    }
}

impl ThresholdBound {
    fn words(self) -> String {
        match self {
            Self::AtLeast(least) => format!("at least {least}"),
            Self::AtMost(most) => format!("at most {most}"),
        }
    }

    fn holds(self, number: f64) -> bool {
        match self {
            Self::AtLeast(least) => number >= least,
            Self::AtMost(most) => number <= most,
        }
    }
}

impl Threshold {
    /// A target that must not be lower. `sentence`: what is wrong where it is.
    pub(crate) const fn at_least(target: &'static str, bound: f64, sentence: &'static str) -> Self {
        let bound = ThresholdBound::AtLeast(bound);
        Self {
            target,
            bound,
            sentence,
            numbered: None,
        }
    }

    /// A target that must not be higher. `sentence`: what is wrong where it is.
    pub(crate) const fn at_most(target: &'static str, bound: f64, sentence: &'static str) -> Self {
        let bound = ThresholdBound::AtMost(bound);
        Self {
            target,
            bound,
            sentence,
            numbered: None,
        }
    }

    /// Sets the sentence with numbers, from the values of the gate's targets.
    pub(crate) const fn numbered(self, numbered: fn(&Value) -> Option<String>) -> Self {
        let numbered = Some(numbered);
        Self { numbered, ..self }
    }

    /// What the metrics break of it. A target without a number is broken.
    pub(crate) fn breach(&self, metrics: &Value) -> Option<Breach> {
        let found = value_at(metrics, self.target);
        let Some((found, number)) = found.and_then(|found| Some((found, found.as_f64()?))) else {
            let found = found.map_or("nothing".to_owned(), short_number);
            return Some(Breach::new(self.cause(), &found));
        };
        if self.bound.holds(number) {
            return None;
        }
        let found = short_number(found);
        let numbered = self.numbered.and_then(|numbered| numbered(metrics));
        Some(Breach {
            sentence: Some(DefaultSentence {
                plain: self.sentence,
                numbered,
                target: self.target,
                found: found.clone(),
                bound: self.bound.words(),
            }),
            ..Breach::new(self.cause(), &found)
        })
    }

    /// The bound as what asks.
    pub(crate) fn cause(&self) -> Cause {
        Cause::Default {
            target: self.target,
            asks: self.bound.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::eval::{Flow, NarrativeOptions};
    use crate::gate::EachRun;

    fn line(threshold: &Threshold, metrics: &Value) -> Option<String> {
        Some(threshold.breach(metrics)?.to_line(&[]))
    }

    #[test]
    fn a_sentence_counts_in_the_right_form_and_has_the_target_behind_it() {
        let told = |absent: u64| {
            let metrics = json!({ "narrative": { "claimed_but_absent": absent } });
            line(&NarrativeOptions::DEFAULT[0], &metrics)
        };
        assert_eq!(told(0), None);
        assert_eq!(
            told(1).unwrap(),
            "the closing message claims 1 change that no call made (narrative.claimed_but_absent: 1, at most 0)"
        );
        assert_eq!(
            told(2).unwrap(),
            "the closing message claims 2 changes that no call made (narrative.claimed_but_absent: 2, at most 0)"
        );
        let told = |leaks: u64| line(&Flow::DEFAULT[0], &json!({ "flow": { "leaks": leaks } }));
        assert_eq!(
            told(1).unwrap(),
            "1 value from the results of `from` is in arguments of `to` (flow.leaks: 1, at most 0)"
        );
        assert_eq!(
            told(3).unwrap(),
            "3 values from the results of `from` are in arguments of `to` (flow.leaks: 3, at most 0)"
        );
    }

    #[test]
    fn a_target_without_a_number_is_broken_and_no_sentence_says_of_it_what_is_not_known() {
        for metrics in [json!({}), json!({ "flow": { "leaks": null } })] {
            let told = line(&Flow::DEFAULT[0], &metrics).unwrap();
            assert!(
                told.starts_with("expected `flow.leaks` <= 0, found n"),
                "{told}"
            );
        }
    }

    #[test]
    fn a_sentence_without_numbers_is_no_lie_for_any_number() {
        let least = Threshold::at_least("a.b", 0.5, "it is too low");
        let told = |number: f64| line(&least, &json!({ "a": { "b": number } }));
        assert_eq!(
            told(0.25).unwrap(),
            "it is too low (a.b: 0.25, at least 0.5)"
        );
        assert_eq!(told(0.5), None);
    }
}
