//! What a matcher asks, as data that knows no matcher by its name. The demand check, limits, snapshots
//! and help texts are made of its facts: one arm of `Asks::facts` for each variant says all of them.

use serde_json::{Number, Value};

use super::Matcher;
use super::stage::{AsWritten, Stage};
use crate::Spanned;

/// What a matcher asks of the value at a target.
///
/// A new variant says in [`Asks::facts`] what follows from it; no other place has an arm for each.
#[derive(Debug)]
pub enum Asks<'m, S: Stage = AsWritten> {
    /// This value and no other.
    Exactly(&'m Value),
    /// All that this value says, its parts by their values.
    Whole(&'m Value),
    /// This value somewhere, also as a part of a text.
    Part(&'m Value),
    /// Some or all of these values, each as a part.
    Parts(&'m [Value]),
    /// A number between bounds, both included.
    Bounds {
        /// The smallest.
        least: Option<&'m Number>,
        /// The largest.
        most: Option<&'m Number>,
    },
    /// A value that is valid against a schema.
    Valid(&'m S::Schema),
    /// Letters of a text; another normalisation of Unicode can have others.
    Letters,
    /// What a text, or an object of a call, is as a whole.
    Form,
    /// What was accepted as a snapshot, with its own name.
    Snapshot(Option<&'m Spanned<String>>),
    /// That this does not hold.
    Not(&'m Matcher<S>),
    /// That all of these hold.
    All(&'m [Matcher<S>]),
    /// That at least one of these holds.
    Any(&'m [Matcher<S>]),
    /// That exactly one of these holds.
    One(&'m [Matcher<S>]),
    /// What only a model could tell.
    Model,
}

/// How the matchers directly below one hold together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Join {
    /// The one below must not hold.
    Not,
    /// All must hold.
    All,
    /// At least one must hold.
    Any,
    /// Exactly one must hold.
    One,
}

/// What a target must be able to be so that asking it makes sense.
#[derive(Debug)]
pub(crate) enum Demand<'m, S: Stage> {
    /// This value.
    Value(&'m Value),
    /// This value, or a text with it.
    Part(&'m Value),
    /// These values, or texts with them.
    Parts(&'m [Value]),
    /// A number within these bounds.
    Bounds(Option<&'m Number>, Option<&'m Number>),
    /// What a schema says.
    Valid(&'m S::Schema),
    /// A text, or an object of a call.
    Text,
    /// Nothing that is known before a run is judged.
    Nothing,
}

/// All that follows from what a matcher asks.
#[derive(Debug)]
#[non_exhaustive]
pub struct Facts<'m, S: Stage = AsWritten> {
    /// The one value that is wanted, if there is one.
    pub(crate) exact: Option<&'m Value>,
    /// Whether texts that are normalised otherwise could change what it says, and what was found does not show that.
    pub(crate) compares_letters: bool,
    /// How the matchers below hold together, if it is made of others.
    pub join: Option<Join>,
    /// The matchers directly below.
    pub below: &'m [Matcher<S>],
    pub(crate) demand: Demand<'m, S>,
}

impl<'m, S: Stage> Facts<'m, S> {
    fn of_target(demand: Demand<'m, S>) -> Self {
        Self {
            exact: None,
            compares_letters: false,
            join: None,
            below: &[],
            demand,
        }
    }

    fn of_others(join: Join, below: &'m [Matcher<S>]) -> Self {
        Self {
            join: Some(join),
            below,
            ..Self::of_target(Demand::Nothing)
        }
    }

    fn of_letters(self) -> Self {
        Self {
            compares_letters: true,
            ..self
        }
    }

    /// The texts of which each may be a part of a longer text.
    #[must_use]
    pub fn parts(&self) -> Vec<&'m str> {
        match self.demand {
            Demand::Part(value) => value.as_str().into_iter().collect(),
            Demand::Parts(values) => values.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }
}

impl<'m, S: Stage> Asks<'m, S> {
    /// What follows from it: the only place that must know each variant.
    #[must_use]
    pub fn facts(&self) -> Facts<'m, S> {
        match *self {
            Self::Exactly(value) => Facts {
                exact: Some(value),
                ..Facts::of_target(Demand::Value(value))
            },
            Self::Whole(value) => Facts::of_target(Demand::Value(value)).of_letters(),
            Self::Part(value) => Facts::of_target(Demand::Part(value)).of_letters(),
            Self::Parts(values) => Facts::of_target(Demand::Parts(values)).of_letters(),
            Self::Bounds { least, most } => Facts::of_target(Demand::Bounds(least, most)),
            Self::Valid(schema) => Facts::of_target(Demand::Valid(schema)),
            Self::Letters => Facts::of_target(Demand::Text).of_letters(),
            Self::Form => Facts::of_target(Demand::Text),
            Self::Snapshot(_) | Self::Model => Facts::of_target(Demand::Nothing),
            Self::Not(inner) => Facts::of_others(Join::Not, std::slice::from_ref(inner)),
            Self::All(inner) => Facts::of_others(Join::All, inner),
            Self::Any(inner) => Facts::of_others(Join::Any, inner),
            Self::One(inner) => Facts::of_others(Join::One, inner),
        }
    }

    /// The matchers directly below.
    #[must_use]
    pub fn inner(&self) -> &'m [Matcher<S>] {
        self.facts().below
    }
}
