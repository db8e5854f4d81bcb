//! What a metric computes, as data: the name, unit, range and direction of each number.

use std::fmt;

use serde::Serialize;

use crate::words::words;

/// A number, or a word, that a metric gives: what a suite calls a target. A report's are in
/// [`Metrics::TARGETS`](super::Metrics::TARGETS).
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Measure {
    /// Its path, e.g. `reliability.pass_rate`.
    pub name: &'static str,
    /// What its numbers count.
    pub unit: Unit,
    /// The smallest number it can be.
    pub lowest: f64,
    /// The largest number it can be; `None` where there is none.
    pub highest: Option<f64>,
    /// Which numbers are better.
    pub better: Better,
    /// Whether it is a list of such numbers.
    pub list: bool,
    /// Whether every judged run has it. One that is left out fails whatever is asked of it.
    pub always: bool,
    /// What it says, as a fragment.
    pub meaning: &'static str,
}

/// What the numbers of a target count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Unit {
    /// Hundredths: 90 is nine in ten.
    Percent,
    /// 0 or 100, nothing between.
    AllOrNothing,
    /// Parts of one: 0.9 is nine in ten.
    Fraction,
    /// 0 or 1; `false` and `true` mean the same.
    Flag,
    /// Whole things.
    Count,
    /// Tokens.
    Tokens,
    /// Milliseconds: of virtual time in `recovery`, else as they were recorded.
    Milliseconds,
    /// US dollars.
    Dollars,
    /// How many times as much.
    Ratio,
    /// How far two texts are apart.
    Distance,
    /// One of these words.
    Word(&'static [&'static str]),
}

impl Unit {
    /// All there is to know of a unit: its word, what one of its numbers is, the largest of them, and
    /// what they are multiples of.
    const fn facts(self) -> (&'static str, &'static str, Option<f64>, Option<f64>) {
        match self {
            Self::Percent => ("percent", "a percent", Some(100.0), None),
            Self::AllOrNothing => {
                let said = "a percent, either 0 or 100";
                ("all_or_nothing", said, Some(100.0), Some(100.0))
            }
            Self::Fraction => ("fraction", "a fraction", Some(1.0), None),
            Self::Flag => ("flag", "a flag, 0 or 1", Some(1.0), Some(1.0)),
            Self::Count => ("count", "a count", None, Some(1.0)),
            Self::Tokens => ("tokens", "a number of tokens", None, Some(1.0)),
            Self::Milliseconds => ("milliseconds", "a number of milliseconds", None, Some(1.0)),
            Self::Dollars => ("dollars", "a number of US dollars", None, None),
            Self::Ratio => ("ratio", "a ratio", None, None),
            Self::Distance => ("distance", "a distance", None, None),
            Self::Word(_) => ("word", "a word", None, None),
        }
    }

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.facts().0
    }

    /// The largest number of it, where there is one.
    #[must_use]
    pub const fn highest(self) -> Option<f64> {
        self.facts().2
    }

    /// What its numbers are multiples of, where not every number will do: 1 where they are whole.
    #[must_use]
    pub const fn step(self) -> Option<f64> {
        self.facts().3
    }

    /// Whether it says yes or no: its lowest number or its highest, nothing between.
    pub(crate) fn is_binary(self) -> bool {
        self.step().is_some() && self.step() == self.highest()
    }

    /// Whether it counts hundredths, so that 1 is next to nothing.
    #[must_use]
    pub fn is_percent(self) -> bool {
        self.highest() == Some(100.0)
    }

    /// Whether it is of words, and not of numbers.
    #[must_use]
    pub const fn is_word(self) -> bool {
        matches!(self, Self::Word(_))
    }
}

words! {
    /// Which numbers of a target are better.
    ///
    /// A closed set: whoever matches on it need not expect another.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Better {
        /// Larger ones.
        Higher = "higher",
        /// Smaller ones.
        Lower = "lower",
        /// It only describes.
        Neither = "neither",
    }
}

impl Measure {
    /// A target that every judged run has, from 0 to the most that its unit allows.
    ///
    /// ```
    /// use mcptest_trace::eval::{Measure, Unit};
    ///
    /// let rate = Measure::new("pass_rate", Unit::Percent).higher_is_better("the share that passes");
    /// assert_eq!(
    ///     rate.to_string(),
    ///     "a percent from 0 to 100; higher is better: the share that passes"
    /// );
    /// ```
    #[must_use]
    pub const fn new(name: &'static str, unit: Unit) -> Self {
        Self {
            name,
            unit,
            lowest: 0.0,
            highest: unit.highest(),
            better: Better::Neither,
            list: false,
            always: true,
            meaning: "",
        }
    }

    const fn with_direction(mut self, better: Better, meaning: &'static str) -> Self {
        (self.better, self.meaning) = (better, meaning);
        self
    }

    /// Declares that larger numbers are better. `meaning` says as a fragment what the numbers are.
    #[must_use]
    pub const fn higher_is_better(self, meaning: &'static str) -> Self {
        self.with_direction(Better::Higher, meaning)
    }

    /// Declares that smaller numbers are better. `meaning` says as a fragment what the numbers are.
    #[must_use]
    pub const fn lower_is_better(self, meaning: &'static str) -> Self {
        self.with_direction(Better::Lower, meaning)
    }

    /// Declares that no number is better than another. `meaning` says as a fragment what the numbers are.
    #[must_use]
    pub const fn only_describes(self, meaning: &'static str) -> Self {
        self.with_direction(Better::Neither, meaning)
    }

    /// Sets the lowest number that the target can have.
    #[must_use]
    pub const fn at_least(mut self, lowest: f64) -> Self {
        self.lowest = lowest;
        self
    }

    /// Sets the highest number that the target can have.
    #[must_use]
    pub const fn up_to(mut self, highest: f64) -> Self {
        self.highest = Some(highest);
        self
    }

    /// A list of such numbers.
    #[must_use]
    pub const fn list(mut self) -> Self {
        self.list = true;
        self
    }

    /// Declares that some runs do not have the target. Their reports leave it out.
    #[must_use]
    pub const fn optional(mut self) -> Self {
        self.always = false;
        self
    }

    /// Unit and range in words, e.g. `a percent from 0 to 100`.
    #[must_use]
    pub fn unit_and_range(&self) -> String {
        if self.list {
            return format!("a list, each {}", self.element_unit_and_range());
        }
        self.element_unit_and_range()
    }

    /// Unit and range of one number in words, where the target is a list of numbers.
    #[must_use]
    pub fn element_unit_and_range(&self) -> String {
        let unit = self.unit.facts().1;
        match self.highest {
            _ if self.unit.is_binary() || self.unit.is_word() => unit.to_owned(),
            Some(highest) => format!("{unit} from {} to {highest}", self.lowest),
            None => format!("{unit}, {} or more", self.lowest),
        }
    }
}

impl fmt::Display for Measure {
    /// Unit, range, direction and meaning on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.unit_and_range())?;
        if self.better != Better::Neither {
            write!(f, "; {} is better", self.better.as_str())?;
        }
        write!(f, ": {}", self.meaning)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_serialized_as_its_word() {
        let units = [
            Unit::Percent,
            Unit::AllOrNothing,
            Unit::Fraction,
            Unit::Flag,
            Unit::Count,
            Unit::Tokens,
            Unit::Milliseconds,
            Unit::Dollars,
            Unit::Ratio,
            Unit::Distance,
        ];
        for unit in units {
            assert_eq!(serde_json::to_value(unit).unwrap(), unit.as_str());
        }
        for better in [Better::Higher, Better::Lower, Better::Neither] {
            assert_eq!(serde_json::to_value(better).unwrap(), better.as_str());
        }
    }
}
