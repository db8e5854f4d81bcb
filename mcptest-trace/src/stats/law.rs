//! The law of a whole-number statistic: probabilities on an even grid, and sums of independent ones.
//!
//! All terms are positive, so sums and tails lose no precision.

use super::quantile::normal_upper;
use crate::number::{to_f64, to_u64};

/// More multiply-adds than this are not spent on one exact law.
pub(crate) const MOST_WORK: u128 = 200_000_000;

/// P(X = `start` + i · `step`) = `mass[i]`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Law {
    start: u64,
    step: usize,
    mass: Vec<f64>,
}

impl Law {
    /// The law of a certain value.
    pub(crate) fn certain(value: u64) -> Self {
        Self {
            start: value,
            step: 1,
            mass: vec![1.0],
        }
    }

    /// A law from weights of the values `start`, `start` + 1, …, of which some is above 0.
    pub(crate) fn from_weights(start: u64, weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        let above = |weight: &f64| *weight > 0.0;
        let Some(first) = weights.iter().position(above) else {
            return Self::certain(start);
        };
        let kept = &weights[first..];
        let step = kept
            .iter()
            .enumerate()
            .filter(|(_, weight)| above(weight))
            .fold(0, |step, (place, _)| gcd(step, place))
            .max(1);
        let last = kept.iter().rposition(above).unwrap_or(0);
        let mass = kept[..=last].iter().step_by(step);
        Self {
            start: start + to_u64(first),
            step,
            mass: mass.map(|weight| weight / total).collect(),
        }
    }

    fn last(&self) -> u64 {
        self.start + to_u64(self.step * (self.mass.len() - 1))
    }

    /// P(X ≤ value).
    pub(crate) fn at_most(&self, value: u64) -> f64 {
        if value >= self.last() {
            return 1.0;
        }
        self.sum(|at| at <= value)
    }

    /// P(X ≥ value).
    pub(crate) fn at_least(&self, value: u64) -> f64 {
        if value <= self.start {
            return 1.0;
        }
        self.sum(|at| at >= value)
    }

    fn sum(&self, wanted: impl Fn(u64) -> bool) -> f64 {
        let places = (0..).map(|place: usize| self.start + to_u64(place * self.step));
        let kept = places.zip(&self.mass).filter(|(at, _)| wanted(*at));
        kept.map(|(_, mass)| mass).sum::<f64>().min(1.0)
    }

    pub(crate) fn moments(&self) -> Moments {
        let mean_place: f64 = (0..)
            .zip(&self.mass)
            .map(|(k, mass)| to_f64(k) * mass)
            .sum();
        let spread = |k: usize| (to_f64(k) - mean_place).powi(2);
        let variance: f64 = (0..)
            .zip(&self.mass)
            .map(|(k, mass)| spread(k) * mass)
            .sum();
        let step = to_f64(self.step);
        Moments {
            mean: to_f64(self.start) + step * mean_place,
            variance: variance * step * step,
            step: self.step,
        }
    }

    fn shape(&self) -> Shape {
        Shape {
            step: self.step,
            places: self.mass.len(),
        }
    }

    /// The law of the sum of two independent values.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let Shape { step, places } = self.shape().plus(other.shape());
        let (long, short) = if self.mass.len() >= other.mass.len() {
            (self, other)
        } else {
            (other, self)
        };
        let [long_stride, short_stride] =
            [long, short].map(|law| (law.shape().grid() / step).max(1));
        let mut mass = vec![0.0; places];
        for (k, weight) in short.mass.iter().enumerate() {
            let sums = mass[k * short_stride..].iter_mut().step_by(long_stride);
            for (sum, part) in sums.zip(&long.mass) {
                *sum += weight * part;
            }
        }
        Self {
            start: self.start + other.start,
            step,
            mass,
        }
    }
}

/// The grid of a law without its probabilities: what a sum costs is known before it is made.
#[derive(Debug, Clone, Copy)]
struct Shape {
    step: usize,
    places: usize,
}

impl Shape {
    /// The step; 0 for a certain value, which lies on every grid.
    fn grid(self) -> usize {
        if self.places == 1 { 0 } else { self.step }
    }

    /// The places of this on a finer grid.
    fn length(self, step: usize) -> u128 {
        (self.step as u128) * (self.places as u128 - 1) / (step as u128) + 1
    }

    /// What adding an independent value costs, in multiply-adds.
    fn work_with(self, other: Self) -> u128 {
        let step = gcd(self.grid(), other.grid()).max(1);
        let longest = self.length(step).max(other.length(step));
        longest * (self.places.min(other.places) as u128)
    }

    /// The shape of the sum of two independent values.
    fn plus(self, other: Self) -> Self {
        let step = gcd(self.grid(), other.grid()).max(1);
        let spread = |shape: Self| (shape.places - 1) * (shape.grid() / step).max(1);
        Self {
            step,
            places: spread(self) + spread(other) + 1,
        }
    }
}

/// Mean, variance and the distance of two neighbouring values.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Moments {
    pub(crate) mean: f64,
    pub(crate) variance: f64,
    pub(crate) step: usize,
}

impl Moments {
    /// The normal approximation of P(X ≥ value), with half a step of continuity.
    fn at_least(self, value: f64) -> f64 {
        self.tail(value - self.mean)
    }

    fn at_most(self, value: f64) -> f64 {
        self.tail(self.mean - value)
    }

    fn tail(self, above: f64) -> f64 {
        if self.variance <= 0.0 {
            return if above <= 1e-9 { 1.0 } else { 0.0 };
        }
        normal_upper((above - to_f64(self.step) / 2.0) / self.variance.sqrt())
    }
}

/// The law of a statistic: exact, or a normal approximation where the exact one costs too much.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Statistic {
    Exact(Law),
    Normal(Moments),
}

impl Statistic {
    /// The law of a sum of independent values. Exact when all are and the convolution is cheap enough.
    pub(crate) fn sum(parts: &[Self]) -> Self {
        Self::sum_within(parts, MOST_WORK)
    }

    fn sum_within(parts: &[Self], most_work: u128) -> Self {
        let exact = parts.iter().map(|part| match part {
            Self::Exact(law) => Some(law),
            Self::Normal(_) => None,
        });
        let Some(mut laws) = exact.collect::<Option<Vec<&Law>>>() else {
            return Self::Normal(Self::moments_of(parts));
        };
        // Coarse grids first: the sum stays short as long as it can.
        laws.sort_by_key(|law| std::cmp::Reverse(law.step));
        let mut sum = Law::certain(0);
        let (mut shape, mut work) = (sum.shape(), 0);
        for law in &laws {
            work += shape.work_with(law.shape());
            if work > most_work {
                return Self::Normal(Self::moments_of(parts));
            }
            shape = shape.plus(law.shape());
        }
        for law in laws {
            sum = sum.plus(law);
        }
        Self::Exact(sum)
    }

    fn moments_of(parts: &[Self]) -> Moments {
        let mut sum = Moments::default();
        for part in parts {
            let part = match part {
                Self::Exact(law) => law.moments(),
                Self::Normal(moments) => *moments,
            };
            sum.mean += part.mean;
            sum.variance += part.variance;
            if part.variance > 0.0 {
                sum.step = gcd(sum.step, part.step);
            }
        }
        sum
    }

    pub(crate) fn at_most(&self, value: u64) -> f64 {
        match self {
            Self::Exact(law) => law.at_most(value),
            Self::Normal(moments) => moments.at_most(to_f64(value)),
        }
    }

    pub(crate) fn at_least(&self, value: u64) -> f64 {
        match self {
            Self::Exact(law) => law.at_least(value),
            Self::Normal(moments) => moments.at_least(to_f64(value)),
        }
    }

    /// P(X = the largest value), the smallest p that there can be; 0 of an approximation.
    pub(crate) fn smallest(&self) -> f64 {
        match self {
            Self::Exact(law) => law.at_least(law.last()),
            Self::Normal(_) => 0.0,
        }
    }

    pub(crate) fn is_exact(&self) -> bool {
        matches!(self, Self::Exact(_))
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn laws() -> impl Strategy<Value = Law> {
        let weights = prop::collection::vec(prop_oneof![Just(0.0), 0.1..3.0], 1..9);
        (0..20_u64, weights).prop_map(|(start, weights)| Law::from_weights(start, &weights))
    }

    fn dense(law: &Law) -> Vec<(u64, f64)> {
        let places = (0..).map(|k: usize| law.start + to_u64(k * law.step));
        places.zip(law.mass.iter().copied()).collect()
    }

    #[test]
    fn weights_on_a_coarser_grid_keep_their_places() {
        let law = Law::from_weights(3, &[0.0, 1.0, 0.0, 2.0, 0.0, 1.0, 0.0]);
        assert_eq!((law.start, law.step), (4, 2));
        assert_eq!(law.mass, [0.25, 0.5, 0.25]);
        assert!((law.at_least(5) - 0.75).abs() < 1e-15 && (law.at_most(5) - 0.25).abs() < 1e-15);
    }

    #[test]
    fn a_long_sum_is_approximated_and_near_the_exact_one() {
        let coin = Law::from_weights(0, &[1.0, 1.0]);
        let parts = vec![Statistic::Exact(coin); 400];
        let (exact, normal) = (Statistic::sum(&parts), Statistic::sum_within(&parts, 1_000));
        assert!(exact.is_exact() && !normal.is_exact());
        for value in [170, 190, 200, 210, 230] {
            assert!((exact.at_least(value) - normal.at_least(value)).abs() < 1e-3);
            assert!((exact.at_most(value) - normal.at_most(value)).abs() < 1e-3);
        }
    }

    proptest! {
        #[test]
        fn a_sum_is_the_law_of_all_pairs(left in laws(), right in laws()) {
            let sum = left.plus(&right);
            for value in 0..70 {
                let mut expected = 0.0;
                for (a, p) in dense(&left) {
                    for (b, q) in dense(&right) {
                        expected += if a + b <= value { p * q } else { 0.0 };
                    }
                }
                prop_assert!((sum.at_most(value) - expected).abs() < 1e-12);
                prop_assert!((sum.at_most(value) + sum.at_least(value + 1) - 1.0).abs() < 1e-12);
            }
            let (a, b, c) = (left.moments(), right.moments(), sum.moments());
            prop_assert!((a.mean + b.mean - c.mean).abs() < 1e-9);
            prop_assert!((a.variance + b.variance - c.variance).abs() < 1e-9);
        }
    }
}
