//! The bounds that a schema or a matcher sets to a number.

use crate::{Node, Span};

/// One side of what a number may be.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum BoundSide {
    Least,
    Above,
    Most,
    Below,
    Exactly,
}

/// The keywords that bound a number.
pub(super) const SIDES: [(&str, BoundSide); 4] = [
    ("minimum", BoundSide::Least),
    ("exclusiveMinimum", BoundSide::Above),
    ("maximum", BoundSide::Most),
    ("exclusiveMaximum", BoundSide::Below),
];

pub(super) struct NumberBound {
    pub(super) side: BoundSide,
    pub(super) value: f64,
    pub(super) span: Span,
}

impl NumberBound {
    pub(super) fn is_lower(&self) -> bool {
        matches!(
            self.side,
            BoundSide::Least | BoundSide::Above | BoundSide::Exactly
        )
    }

    pub(super) fn describe(&self) -> String {
        let side = match self.side {
            BoundSide::Least => "at least",
            BoundSide::Above => "more than",
            BoundSide::Most => "at most",
            BoundSide::Below => "less than",
            BoundSide::Exactly => "exactly",
        };
        format!("{side} {}", self.value)
    }
}

pub(super) fn schema_bounds(schema: &Node) -> Vec<NumberBound> {
    let read = SIDES.iter().filter_map(|(key, side)| {
        let node = schema.get(key)?;
        Some(NumberBound {
            side: *side,
            value: node.number()?,
            span: node.span,
        })
    });
    read.collect()
}

/// A number without the noise of its last binary digits.
pub(super) fn without_float_noise(number: f64) -> f64 {
    (number * 1e9).round() / 1e9
}
