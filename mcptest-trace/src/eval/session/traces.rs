//! Runs as the traces of a session, with the signals that their evidence gives.
//!
//! The user turns of a run where `per_turn` says anything of them, else the run. A turn without
//! signals of its own has those of the run. A call that lies in no turn's range belongs to the
//! nearest turn that has one, the earlier of two; where no turn has a range, to the last. What is
//! missing is derived, if it may be; a trace without calls and closing gives no signals.

use super::super::narrative::{KnownTools, NarrativeOptions, failed, narrative_divergence_with};
use super::super::stability::agent_stability;
use super::{DerivedSignals, SessionTrace, derive_signals};
use crate::number::share;
use crate::trace::{PerTurn, Signals, Trace};

/// The traces of a session: of each run its trace and its recorded signals. Signals that were not
/// recorded are derived when `narrative` is given, with the tools that the agent is known to have.
///
/// ```
/// use mcptest_trace::eval::session_traces;
/// use mcptest_trace::trace::{Signals, Trace};
/// use serde_json::json;
///
/// let run = Trace::from_envelope(&json!({ "conversation": { "per_turn": [
///     { "signals": { "coherence": 0.2 } },
///     { "calls": [0, 0] },
/// ] } }));
/// let of_run = Signals::default().with_coherence(0.9);
/// let traces = session_traces([(&run, Some(of_run))], None);
/// assert_eq!(traces[0].signals.coherence, Some(0.2));
/// assert_eq!((traces[1].id.as_str(), traces[1].signals.coherence), ("run-1/turn-2", Some(0.9)));
/// ```
#[must_use]
pub fn session_traces<'a>(
    runs: impl IntoIterator<Item = (&'a Trace, Option<Signals>)>,
    narrative: Option<(&NarrativeOptions, &KnownTools)>,
) -> Vec<SessionTrace> {
    let filled = |recorded: Option<Signals>, trace: &Trace| {
        let recorded = recorded.unwrap_or_default();
        match narrative {
            Some((narrative, known)) => {
                derive_signals(recorded, signals_from_evidence(trace, narrative, known))
            }
            None => recorded,
        }
    };
    let mut traces = Vec::new();
    for (index, (trace, of_run)) in runs.into_iter().enumerate() {
        let id = format!("run-{}", index + 1);
        let turns = &trace.conversation.per_turn;
        // Turns of which nothing is known but that they were say less than the run does.
        let known = |turn: &PerTurn| own_signals(turn).is_some() || turn.calls.is_some();
        if !turns.iter().any(known) {
            let signals = filled(of_run, trace);
            traces.push(SessionTrace { id, signals });
            continue;
        }
        for (number, (turn, of_turn)) in (1..).zip(turns.iter().zip(split_turns(trace))) {
            traces.push(SessionTrace {
                id: format!("{id}/turn-{number}"),
                signals: filled(own_signals(turn).or(of_run), &of_turn),
            });
        }
    }
    traces
}

fn own_signals(turn: &PerTurn) -> Option<Signals> {
    turn.signals
        .filter(|signals| *signals != Signals::default())
}

/// What the evidence of a trace says of its signals; nothing without calls and closing.
fn signals_from_evidence(
    trace: &Trace,
    narrative: &NarrativeOptions,
    known: &KnownTools,
) -> DerivedSignals {
    if trace.tool_calls.is_empty() && trace.closing().is_none() {
        return DerivedSignals::default();
    }
    let answered = trace.tool_calls.iter().zip(trace.results_by_call());
    let answered: Vec<bool> = answered
        .filter_map(|(call, result)| Some(!failed(call, result?)))
        .collect();
    let right = answered.iter().filter(|right| **right).count();
    let report = narrative_divergence_with(trace, narrative, known);
    let flagged = report.claimed_but_absent().count() + report.arg_mismatch().count();
    let coherence = share(flagged, report.claims.len()).map_or(1.0, |share| (1.0 - share).max(0.0));
    DerivedSignals {
        loop_detection: Some(agent_stability(trace).redundancy),
        tool_correctness: share(right, answered.len()),
        coherence: Some(coherence),
    }
}

/// A trace for each user turn: its own calls with their results, and its response.
fn split_turns(trace: &Trace) -> Vec<Trace> {
    let turns = &trace.conversation.per_turn;
    let mut parts: Vec<Trace> = turns
        .iter()
        .map(|turn| Trace {
            final_response: turn.response.clone(),
            ..Trace::default()
        })
        .collect();
    // Where each call of the run went: its turn, and its index there.
    let mut places = Vec::with_capacity(trace.tool_calls.len());
    for (index, call) in trace.tool_calls.iter().enumerate() {
        let turn = turn_index(turns, index);
        places.push((turn, parts[turn].tool_calls.len()));
        parts[turn].tool_calls.push(call.clone());
    }
    for result in &trace.tool_results {
        if let Some((turn, call_index)) = places.get(result.call_index) {
            let mut result = result.clone();
            result.call_index = *call_index;
            parts[*turn].tool_results.push(result);
        }
    }
    parts
}

/// The turn that a call belongs to.
fn turn_index(turns: &[PerTurn], call: usize) -> usize {
    let distance = |(from, to): (usize, usize)| {
        if call < from {
            from - call
        } else {
            (call + 1).saturating_sub(to)
        }
    };
    let ranges = turns.iter().enumerate();
    let near = ranges
        .filter_map(|(turn, recorded)| Some((distance(recorded.calls?), turn)))
        .min();
    near.map_or(turns.len() - 1, |(_, turn)| turn)
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "exact results are what is asked for")]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn traces(envelope: &Value, of_run: Option<Signals>) -> Vec<SessionTrace> {
        let trace = Trace::from_envelope(envelope);
        let (options, known) = (NarrativeOptions::default(), KnownTools::default());
        session_traces([(&trace, of_run)], Some((&options, &known)))
    }

    #[test]
    fn calls_in_no_turn_belong_to_the_nearest() {
        let result = |index: usize| json!({ "call_index": index, "is_error": index == 2 });
        let run = |per_turn: Value| {
            json!({
                "tool_calls": [{ "name": "a" }, { "name": "b" }, { "name": "c" }, { "name": "d" }],
                "tool_results": [result(0), result(1), result(2), result(3)],
                "conversation": { "per_turn": per_turn },
            })
        };
        let correct = |per_turn: Value| -> Vec<Option<f64>> {
            let traces = traces(&run(per_turn), None);
            let correct = traces.iter().map(|trace| trace.signals.tool_correctness);
            correct.collect()
        };
        let split = json!([{ "calls": [0, 2] }, { "calls": [3, 4] }]);
        assert_eq!(correct(split), [Some(2.0 / 3.0), Some(1.0)]);
        let late = json!([{ "calls": [0, 1] }, { "calls": [3, 4] }]);
        assert_eq!(correct(late), [Some(1.0), Some(0.5)]);
        let unplaced = json!([{ "signals": { "coherence": 1.0 } }, {}]);
        assert_eq!(correct(unplaced), [None, Some(0.75)]);
    }

    #[test]
    fn signals_of_the_run_count_for_turns_without_their_own() {
        let envelope = json!({ "conversation": { "per_turn": [
            { "calls": [0, 0], "signals": { "confidence": 0.9 } }, { "calls": [0, 0] }, { "signals": {} },
        ] } });
        let low = Signals {
            confidence: Some(0.1),
            ..Signals::default()
        };
        let found = traces(&envelope, Some(low));
        let confidence: Vec<_> = found.iter().map(|trace| trace.signals.confidence).collect();
        assert_eq!(confidence, [Some(0.9), Some(0.1), Some(0.1)]);
        assert_eq!(found[2].id, "run-1/turn-3");
    }

    #[test]
    fn nothing_is_derived_of_a_run_in_which_nothing_happened() {
        assert_eq!(traces(&json!({}), None)[0].signals, Signals::default());
        let said = traces(&json!({ "final_response": "Hello." }), None);
        assert_eq!(said[0].signals.coherence, Some(1.0));
    }

    #[test]
    fn a_call_with_an_error_among_its_results_is_one_wrong_call() {
        let envelope = json!({
            "tool_calls": [{ "name": "a" }, { "name": "b" }],
            "tool_results": [
                { "call_index": 0, "is_error": true },
                { "call_index": 0, "is_error": false },
                { "call_index": 1, "is_error": false },
            ],
        });
        assert_eq!(
            traces(&envelope, None)[0].signals.tool_correctness,
            Some(0.5)
        );
    }
}
