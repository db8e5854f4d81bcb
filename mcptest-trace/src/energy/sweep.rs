//! Sweeps over recorded runs with known outcomes (§5.2.5), and the ablation conditions over them.

use std::fmt;

use serde::Serialize;

use super::condition::Condition;
use super::options::{GuardOptions, OptionsError};
use super::status::{EnergyError, Status, Step, total_tokens};
use crate::number::share;

/// A recorded run and whether it passed.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SweepRun<'a> {
    /// All its steps.
    pub steps: &'a [Step],
    /// Its outcome; a run without one counts in trips and tokens only.
    pub passed: Option<bool>,
}

impl<'a> SweepRun<'a> {
    /// A run's steps, and whether it passed, where that is known.
    #[must_use]
    pub fn new(steps: &'a [Step], passed: Option<bool>) -> Self {
        Self { steps, passed }
    }
}

/// What stopping runs would have saved and cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Tally {
    /// Runs looked at.
    pub runs: usize,
    /// Runs stopped.
    pub stops: usize,
    /// Tokens of all runs.
    pub tokens: u64,
    /// Tokens that stopped runs spent after the stop.
    pub tokens_saved: u64,
    /// Runs that passed as recorded.
    pub passing: usize,
    /// Passing runs that were not stopped.
    pub preserved: usize,
    /// Passing runs that were stopped.
    pub false_positives: usize,
    /// Failed runs that were stopped.
    pub true_positives: usize,
}

impl Tally {
    /// Saved tokens as a share of all, 0 to 1; 0 without tokens.
    #[must_use]
    pub fn token_saving(&self) -> f64 {
        share(self.tokens_saved, self.tokens).unwrap_or(0.0)
    }

    /// P(failed | stopped) over stopped runs with an outcome, 0 to 1; `None` without any.
    #[must_use]
    pub fn precision(&self) -> Option<f64> {
        let known = self.true_positives + self.false_positives;
        share(self.true_positives, known)
    }

    fn add(&mut self, run: SweepRun<'_>, stop: Option<EnergyError>) {
        self.runs += 1;
        self.stops += usize::from(stop.is_some());
        self.tokens = self.tokens.saturating_add(total_tokens(run.steps));
        let after = stop.and_then(|stop| run.steps.get(stop.step()..));
        self.tokens_saved = self
            .tokens_saved
            .saturating_add(after.map_or(0, total_tokens));
        match (run.passed, stop) {
            (Some(true), None) => self.preserved += 1,
            (Some(true), Some(_)) => self.false_positives += 1,
            (Some(false), Some(_)) => self.true_positives += 1,
            (Some(false), None) | (None, _) => {}
        }
        self.passing += usize::from(run.passed == Some(true));
    }
}

/// One row of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SweepCell {
    /// τ.
    pub ratio_threshold: f64,
    /// W.
    pub window: usize,
    /// Runs that froze before they could trip; they do not count as stopped.
    pub freezes: usize,
    /// What tripping would have saved and cost.
    pub tally: Tally,
}

/// The table of §5.2.5: prints itself as one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Sweep {
    /// One cell a pair of τ and W, by τ, then W, in the order given.
    pub cells: Vec<SweepCell>,
}

/// Judges every run under every pair of τ and W; the other options are `base`'s, τ not adapted.
///
/// # Errors
///
/// An option, a τ or a W is out of its range.
///
/// ```
/// use mcptest_trace::energy::{GuardOptions, Step, SweepRun, sweep};
///
/// let spiral = [1000, 1000, 1000, 4000, 4000, 4000, 5000].map(Step::new);
/// let steady = [1000; 7].map(Step::new);
/// let runs = [
///     SweepRun::new(&spiral, Some(false)),
///     SweepRun::new(&steady, Some(true)),
/// ];
/// let sweep = sweep(&runs, &[2.0, 5.0], &[3], GuardOptions::default())?;
/// assert_eq!(sweep.cells[0].tally.stops, 1);
/// assert_eq!(sweep.cells[0].tally.precision(), Some(1.0));
/// assert_eq!(sweep.cells[1].tally.stops, 0);
/// # Ok::<(), mcptest_trace::energy::OptionsError>(())
/// ```
pub fn sweep(
    runs: &[SweepRun<'_>],
    ratio_thresholds: &[f64],
    windows: &[usize],
    base: GuardOptions,
) -> Result<Sweep, OptionsError> {
    let mut cells = Vec::with_capacity(ratio_thresholds.len() * windows.len());
    for &ratio_threshold in ratio_thresholds {
        for &window in windows {
            let options = GuardOptions {
                ratio_threshold,
                window,
                adaptive: false,
                ..base
            };
            cells.push(cell(runs, options)?);
        }
    }
    Ok(Sweep { cells })
}

fn cell(runs: &[SweepRun<'_>], options: GuardOptions) -> Result<SweepCell, OptionsError> {
    let condition = match options.drift_threshold {
        Some(_) => Condition::FullStack,
        None => Condition::GrowthOnly,
    };
    let mut cell = SweepCell {
        ratio_threshold: options.ratio_threshold,
        window: options.window,
        freezes: 0,
        tally: Tally::default(),
    };
    let monitor = condition.monitor(options)?;
    for run in runs {
        let stop = monitor.clone().first_stop(run.steps);
        let trip = stop.filter(|stop| stop.status() == Status::Tripped);
        cell.freezes += usize::from(stop.is_some() && trip.is_none());
        cell.tally.add(*run, trip);
    }
    Ok(cell)
}

/// What each condition of §4.2 would have saved and cost; here a freeze stops a run too, since it
/// is all that condition E does. C is as B: compression does not show on recorded tokens.
///
/// # Errors
///
/// An option is out of its range.
pub fn ablation(
    runs: &[SweepRun<'_>],
    options: GuardOptions,
) -> Result<Vec<(Condition, Tally)>, OptionsError> {
    let tally = |condition: Condition| {
        let monitor = condition.monitor(options)?;
        let mut tally = Tally::default();
        for run in runs {
            tally.add(*run, monitor.clone().first_stop(run.steps));
        }
        Ok((condition, tally))
    };
    Condition::ALL.into_iter().map(tally).collect()
}

impl fmt::Display for Sweep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:>5} {:>3} {:>6} {:>7} {:>7} {:>10} {:>15} {:>10}",
            "tau", "W", "trips", "frozen", "saving", "preserved", "false positives", "precision"
        )?;
        for cell in &self.cells {
            let tally = &cell.tally;
            let precision = match tally.precision() {
                Some(precision) => format!("{:.1}%", 100.0 * precision),
                None => "-".to_owned(),
            };
            write!(
                f,
                "\n{:>5} {:>3} {:>6} {:>7} {:>6.1}% {:>10} {:>15} {:>10}",
                cell.ratio_threshold,
                cell.window,
                tally.stops,
                cell.freezes,
                100.0 * tally.token_saving(),
                format!("{}/{}", tally.preserved, tally.passing),
                tally.false_positives,
                precision,
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn steps(tokens: &[u64]) -> Vec<Step> {
        tokens.iter().copied().map(Step::new).collect()
    }

    #[test]
    fn a_table_of_four_runs() {
        let spiral = steps(&[1000, 1000, 1000, 4000, 4000, 4000, 5000]);
        let steady = steps(&[1000; 10]);
        let long = steps(&[30_000; 5]);
        let run = |steps, passed| SweepRun { steps, passed };
        let runs = [
            run(&spiral, Some(false)),
            run(&spiral, Some(true)),
            run(&spiral, None),
            run(&steady, Some(true)),
            run(&long, Some(false)),
        ];
        let sweep = sweep(&runs, &[2.0, 3.5], &[3, 5], GuardOptions::default()).unwrap();
        assert_eq!(
            sweep.to_string(),
            "  tau   W  trips  frozen  saving  preserved false positives  precision
    2   3      3       1    6.8%        1/2               1      50.0%
    2   5      0       1    0.0%        2/2               0          -
  3.5   3      3       1    6.8%        1/2               1      50.0%
  3.5   5      0       1    0.0%        2/2               0          -"
        );
    }

    #[test]
    fn conditions_over_the_same_runs() {
        let spiral = steps(&[1000, 1000, 1000, 4000, 4000, 4000, 5000]);
        let long = steps(&[30_000; 5]);
        let run = |steps, passed| SweepRun { steps, passed };
        let runs = [run(&spiral, Some(false)), run(&long, Some(true))];
        let rows = ablation(&runs, GuardOptions::default()).unwrap();
        let stops: Vec<_> = rows
            .iter()
            .map(|(condition, tally)| (condition.letter(), tally.stops))
            .collect();
        assert_eq!(stops, [('A', 0), ('B', 2), ('C', 2), ('D', 1), ('E', 1)]);
    }

    #[test]
    fn nothing_to_sweep_is_an_empty_table_and_a_bad_cell_an_error() {
        let options = GuardOptions::default();
        assert!(sweep(&[], &[], &[3], options).unwrap().cells.is_empty());
        let cell = sweep(&[], &[2.0], &[3], options).unwrap().cells[0];
        assert_eq!(
            (cell.tally.token_saving(), cell.tally.precision()),
            (0.0, None)
        );
        assert!(sweep(&[], &[f64::NAN], &[3], options).is_err());
        assert!(sweep(&[], &[2.0], &[0], options).is_err());
    }

    proptest! {
        #[test]
        fn the_counts_of_a_cell_add_up_and_a_higher_threshold_never_trips_more(
            runs in prop::collection::vec(
                (prop::collection::vec(0..6_000_u64, 0..15), prop::option::of(any::<bool>())),
                0..10,
            ),
        ) {
            let runs: Vec<_> = runs.iter().map(|(tokens, passed)| (steps(tokens), *passed)).collect();
            let runs: Vec<_> = runs.iter().map(|(steps, passed)| SweepRun { steps, passed: *passed }).collect();
            let sweep = sweep(&runs, &[1.5, 2.0, 4.0], &[2], GuardOptions::default()).unwrap();
            for cell in &sweep.cells {
                let tally = cell.tally;
                prop_assert_eq!(tally.preserved + tally.false_positives, tally.passing);
                prop_assert!(tally.true_positives + tally.false_positives <= tally.stops);
                prop_assert!((0.0..=1.0).contains(&tally.token_saving()));
                prop_assert!(tally.precision().is_none_or(|share| (0.0..=1.0).contains(&share)));
            }
            prop_assert!(sweep.cells.is_sorted_by(|left, right| left.tally.stops >= right.tally.stops));
        }
    }
}
