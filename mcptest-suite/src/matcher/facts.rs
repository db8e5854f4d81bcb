//! What follows from what a matcher asks.

use serde_json::{Number, Value};

use super::asks::{Asks, Demand, Join};
use super::stage::{Ready, Stage};
use super::{Kind, Matcher};
use crate::Span;

impl<S: Stage> Matcher<S> {
    /// The matchers in it that only a model could apply: their keys and places, in the order of
    /// the file.
    #[must_use]
    pub(crate) fn model_matchers(&self) -> Vec<(&'static str, Span)> {
        match self.asks() {
            Asks::Model => vec![(self.name(), self.span)],
            asks => asks.inner().iter().flat_map(Self::model_matchers).collect(),
        }
    }

    /// Whether it can be judged without a model: all of it, or what stands beside a matcher that needs
    /// one under `allOf`; not where the model would have the last word.
    #[must_use]
    pub(crate) fn is_decidable(&self) -> bool {
        match self.asks() {
            Asks::All(all) => all.iter().any(Self::is_decidable),
            _ => self.model_matchers().is_empty(),
        }
    }

    /// Whether it asks for nothing but what a model would say.
    #[must_use]
    pub(crate) fn needs_only_model(&self) -> bool {
        match self.asks() {
            Asks::Model => true,
            Asks::All(all) => !all.is_empty() && all.iter().all(Self::needs_only_model),
            _ => false,
        }
    }

    /// Whether a snapshot has a say in it.
    #[must_use]
    pub fn has_snapshot(&self) -> bool {
        match self.asks() {
            Asks::Snapshot(_) => true,
            asks => asks.inner().iter().any(Self::has_snapshot),
        }
    }

    /// The one value that is wanted, where there is one: it can be compared line by line.
    #[must_use]
    pub fn exact(&self) -> Option<&Value> {
        self.asks().facts().exact
    }

    /// Whether it asks for this very value, where only `exact` can: nothing at all, or no item.
    #[must_use]
    pub fn requires_value(&self, value: &Value) -> bool {
        let facts = self.asks().facts();
        let mut below = facts
            .below
            .iter()
            .map(|matcher| matcher.requires_value(value));
        match facts.join {
            Some(Join::All) => below.all(|names| names),
            Some(Join::Any) => below.any(|names| names),
            Some(Join::One) => below.filter(|names| *names).count() == 1,
            Some(Join::Not) => false,
            None => facts.exact == Some(value),
        }
    }

    /// Whether texts that are normalised otherwise could change what it says, where showing what was found
    /// does not tell.
    #[must_use]
    pub fn depends_on_normalization(&self) -> bool {
        self.asks().facts().compares_letters
    }
}

impl Matcher {
    /// What is left of it without the matchers that a model alone decides, which are listed as cases of
    /// their own. One below `anyOf`, `oneOf` or `not` stays: it leaves the whole undecided.
    #[must_use]
    pub fn without_models(&self) -> Option<Self> {
        match self.asks() {
            Asks::Model => None,
            Asks::All(all) if !all.is_empty() => {
                let left: Vec<Self> = all.iter().filter_map(Self::without_models).collect();
                (!left.is_empty()).then_some(Self {
                    kind: Kind::AllOf(left),
                    span: self.span,
                })
            }
            _ => Some(self.clone()),
        }
    }
}

/// The smallest and the largest number that hold.
type Limits = (Option<f64>, Option<f64>);

impl<R: Ready> Matcher<R> {
    /// The smallest and the largest number that hold, where a lowest, a highest, or both, say it all or a part
    /// of it.
    #[must_use]
    pub fn limits(&self) -> (Option<f64>, Option<f64>) {
        let facts = self.asks().facts();
        match (facts.demand, facts.join) {
            (Demand::Bounds(least, most), _) => (
                least.and_then(Number::as_f64),
                most.and_then(Number::as_f64),
            ),
            (Demand::Valid(schema), _) => schema_limits(R::schema_json(schema)),
            (_, Some(Join::All)) => facts
                .below
                .iter()
                .map(Self::limits)
                .fold((None, None), intersect),
            _ => {
                let exact = facts.exact.and_then(Value::as_f64);
                (exact, exact)
            }
        }
    }
}

fn schema_limits(schema: &Value) -> Limits {
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    let only = number("const");
    (
        only.or(number("minimum")).or(number("exclusiveMinimum")),
        only.or(number("maximum")).or(number("exclusiveMaximum")),
    )
}

fn intersect(left: Limits, right: Limits) -> Limits {
    let pick =
        |left: Option<f64>, right: Option<f64>, better: fn(f64, f64) -> f64| match (left, right) {
            (Some(left), Some(right)) => Some(better(left, right)),
            (one, other) => one.or(other),
        };
    (
        pick(left.0, right.0, f64::max),
        pick(left.1, right.1, f64::min),
    )
}
