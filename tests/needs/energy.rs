//! What the guard makes of recorded runs.

use mcptest::energy::{
    Condition, GuardOptions, RunSteps, Step, Sweep, SweepRun, Tally, ablation, analyse, responses,
    sweep,
};

use crate::runs::Labelled;

/// The guard's verdicts over some runs.
pub(crate) struct Guarded {
    /// How many steps each run recorded, and how many its turns alone would be taken for.
    pub(crate) counted: Vec<(usize, usize)>,
    /// How many runs the guard with its defaults trips.
    pub(crate) trips: usize,
    /// How many runs the guard trips by their turns alone, where no steps are recorded.
    pub(crate) estimated_trips: usize,
    pub(crate) sweep: Sweep,
    pub(crate) ablation: Vec<(Condition, Tally)>,
}

pub(crate) fn guarded(runs: &[Labelled], thresholds: &[f64], windows: &[usize]) -> Guarded {
    let options = GuardOptions::default();
    let (mut trips, mut estimated_trips) = (0, 0);
    let (mut counted, mut steps): (Vec<_>, Vec<(Vec<Step>, bool)>) = (Vec::new(), Vec::new());
    for Labelled { trace, passed, .. } in runs {
        let recorded = RunSteps::recorded(trace).unwrap();
        let analysis = analyse(&recorded, options, None).unwrap();
        trips += usize::from(analysis.tripped);
        assert!(!analysis.frozen);
        let estimated = RunSteps::estimated(trace);
        assert_eq!(estimated.tokens.len(), responses(trace).len());
        counted.push((recorded.tokens.len(), estimated.tokens.len()));
        let analysis = analyse(&estimated, options, None).unwrap();
        estimated_trips += usize::from(analysis.tripped);
        steps.push((recorded.steps(), *passed));
    }
    let runs = steps
        .iter()
        .map(|(steps, passed)| SweepRun::new(steps, Some(*passed)));
    let runs: Vec<_> = runs.collect();
    Guarded {
        counted,
        trips,
        estimated_trips,
        sweep: sweep(&runs, thresholds, windows, options).unwrap(),
        ablation: ablation(&runs, options).unwrap(),
    }
}
