//! What a matcher asks, as data that knows no matcher by its name. The demand check, limits, snapshots
//! and help texts are made of it, each by an exhaustive match.

use serde_json::{Number, Value};

use super::Matcher;
use super::stage::{AsWritten, Stage};
use crate::Spanned;

/// What a matcher asks of the value at a target.
///
/// A closed set: whoever follows from it must say what of each.
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

impl<'m, S: Stage> Asks<'m, S> {
    /// The matchers directly below.
    #[must_use]
    pub fn inner(&self) -> &'m [Matcher<S>] {
        match *self {
            Self::Not(inner) => std::slice::from_ref(inner),
            Self::All(inner) | Self::Any(inner) | Self::One(inner) => inner,
            Self::Exactly(_)
            | Self::Whole(_)
            | Self::Part(_)
            | Self::Parts(_)
            | Self::Bounds { .. }
            | Self::Valid(_)
            | Self::Letters
            | Self::Form
            | Self::Snapshot(_)
            | Self::Model => &[],
        }
    }
}
