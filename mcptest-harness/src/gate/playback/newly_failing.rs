//! The gates of the agent that hold for a recorded run and not for the played one.

use serde_json::Value;

use crate::check::leads_to_scores;
use crate::eval::PlaybackOptions;
use crate::gate::{Breach, Cause, Expect, Input, RunVerdict, SnapshotStore};
use crate::trace::Run;

/// The gates that hold for the recorded run and not for the run that the code made.
pub(super) fn newly_failing_gates(
    input: &Input<'_>,
    recorded: &Run,
    played: Option<&Run>,
) -> Vec<String> {
    let Some(played) = played else {
        return Vec::new();
    };
    let of = |run: &Run, judge: &dyn Fn(&Input<'_>) -> Option<Vec<String>>| {
        judge(&Input {
            runs: std::slice::from_ref(run),
            snapshots: &NoSnapshots,
            player: None,
            ..*input
        })
    };
    let mut turned = Vec::new();
    let mut ask = |name: &str, judge: &dyn Fn(&Input<'_>) -> Option<Vec<String>>| {
        let before = of(recorded, judge);
        if before.is_some_and(|broken| broken.is_empty())
            && let Some(first) = of(played, judge).unwrap_or_default().into_iter().next()
        {
            turned.push(format!("`{name}`: {first}"));
        }
    };
    ask("expect", &|input| {
        let mut verdicts = Expect::verdicts(input, 0);
        // A run that the code made just now was scored by nobody.
        let of_scores = |breach: &Breach| match &breach.cause {
            Cause::Check(check) => leads_to_scores(&input.gates.expect[*check].target),
            _ => false,
        };
        verdicts.breaches.retain(|breach| !of_scores(breach));
        let fails = verdicts.verdict(input.gates.expect.len()) == RunVerdict::Fails;
        let words = |breach: Breach| breach.to_line(&input.gates.expect);
        let breaches = verdicts.breaches.into_iter().filter(|_| fails);
        Some(breaches.map(words).collect())
    });
    for gate in &input.gates.gates {
        if gate.gate.options().is::<PlaybackOptions>() {
            continue;
        }
        ask(gate.kind.name(), &|input| {
            let broken = gate.broken_by(input, 0)?;
            let words = |breach: Breach| breach.to_line(&gate.expect);
            Some(broken.into_iter().map(words).collect())
        });
    }
    turned
}

/// Snapshots are of recorded runs.
struct NoSnapshots;

impl SnapshotStore for NoSnapshots {
    fn value(&self, _: usize, _: &str, _: &Value) -> Result<(), Vec<String>> {
        Ok(())
    }

    fn outline(&self, _: &str) -> Result<(), Vec<String>> {
        Ok(())
    }

    fn tools(&self, _: &str) -> Result<(), Vec<String>> {
        Ok(())
    }
}
