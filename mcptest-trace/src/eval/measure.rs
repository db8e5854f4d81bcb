//! What a metric computes, as data: the name, unit, range and direction of each number.

use std::fmt;

use serde::Serialize;

/// A number, or a word, that a metric gives: what a suite calls a target. Each metric's are in
/// [`targets`](super::targets).
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
    /// Milliseconds of virtual time.
    Milliseconds,
    /// How many times as much.
    Ratio,
    /// How far two texts are apart.
    Distance,
    /// One of these words.
    Word(&'static [&'static str]),
}

/// Which numbers of a target are better.
///
/// A closed set: whoever matches on it need not expect another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Larger ones.
    Higher,
    /// Smaller ones.
    Lower,
    /// It only describes.
    Neither,
}

impl Measure {
    /// A target that every judged run has, from 0 to the most that its unit allows.
    ///
    /// ```
    /// use mcptest_trace::eval::{Measure, Unit};
    ///
    /// let rate = Measure::of("pass_rate", Unit::Percent).higher_is_better("the share that passes");
    /// assert_eq!(
    ///     rate.to_string(),
    ///     "a percent from 0 to 100; higher is better: the share that passes"
    /// );
    /// ```
    #[must_use]
    pub const fn of(name: &'static str, unit: Unit) -> Self {
        let highest = match unit {
            Unit::Percent | Unit::AllOrNothing => Some(100.0),
            Unit::Fraction | Unit::Flag => Some(1.0),
            _ => None,
        };
        Self {
            name,
            unit,
            lowest: 0.0,
            highest,
            better: Better::Neither,
            list: false,
            always: true,
            meaning: "",
        }
    }

    const fn with(mut self, better: Better, meaning: &'static str) -> Self {
        (self.better, self.meaning) = (better, meaning);
        self
    }

    /// The same, whose larger numbers are better; what it says, as a fragment.
    #[must_use]
    pub const fn higher_is_better(self, meaning: &'static str) -> Self {
        self.with(Better::Higher, meaning)
    }

    /// The same, whose smaller numbers are better; what it says, as a fragment.
    #[must_use]
    pub const fn lower_is_better(self, meaning: &'static str) -> Self {
        self.with(Better::Lower, meaning)
    }

    /// The same, of which no number is better; what it says, as a fragment.
    #[must_use]
    pub const fn only_describes(self, meaning: &'static str) -> Self {
        self.with(Better::Neither, meaning)
    }

    /// The same, never below a number.
    #[must_use]
    pub const fn at_least(mut self, lowest: f64) -> Self {
        self.lowest = lowest;
        self
    }

    /// The same, never above a number.
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

    /// The same, left out of runs that do not have it.
    #[must_use]
    pub const fn sometimes(mut self) -> Self {
        self.always = false;
        self
    }

    /// Unit and range in words, e.g. `a percent from 0 to 100`.
    #[must_use]
    pub fn unit_and_range(&self) -> String {
        if self.list {
            return format!("a list, each {}", self.of_one());
        }
        self.of_one()
    }

    /// The same of one number, where it is a list of them.
    #[must_use]
    pub fn of_one(&self) -> String {
        let unit = match self.unit {
            Unit::Percent => "a percent",
            Unit::AllOrNothing => return "a percent, either 0 or 100".to_owned(),
            Unit::Fraction => "a fraction",
            Unit::Flag => return "a flag, 0 or 1".to_owned(),
            Unit::Count => "a count",
            Unit::Tokens => "a number of tokens",
            Unit::Milliseconds => "a number of milliseconds",
            Unit::Ratio => "a ratio",
            Unit::Distance => "a distance",
            Unit::Word(_) => return "a word".to_owned(),
        };
        match self.highest {
            Some(highest) => format!("{unit} from {} to {highest}", self.lowest),
            None => format!("{unit}, {} or more", self.lowest),
        }
    }
}

impl fmt::Display for Measure {
    /// Unit, range, direction and meaning on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.unit_and_range())?;
        f.write_str(match self.better {
            Better::Higher => "; higher is better",
            Better::Lower => "; lower is better",
            Better::Neither => "",
        })?;
        write!(f, ": {}", self.meaning)
    }
}
