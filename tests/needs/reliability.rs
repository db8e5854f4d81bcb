//! How reliable the agents of recorded runs are.

use std::collections::BTreeMap;

use mcptest::eval::summarize;

use crate::runs::Labelled;

/// The mean over the agents of pass^k, for k from 1 to 4, of which each agent has as many runs.
pub(crate) fn pass_hat(runs: &[Labelled]) -> [String; 4] {
    let mut agents: BTreeMap<&str, Vec<bool>> = BTreeMap::new();
    for run in runs {
        agents.entry(&run.agent).or_default().push(run.passed);
    }
    let mut sums = [0.0; 4];
    let mut count = 0.0;
    for outcomes in agents.values() {
        let pass_hat = summarize(outcomes).pass_hat;
        assert_eq!(pass_hat.len(), sums.len());
        for (sum, pass_hat) in sums.iter_mut().zip(pass_hat) {
            *sum += pass_hat;
        }
        count += 1.0;
    }
    sums.map(|sum| format!("{:.3}", sum / count))
}
