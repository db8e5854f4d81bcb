use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::eval::Metrics;
use crate::trace::Signals;

fn trace(id: &str, confidence: f64, loops: f64, tools: f64, coherence: f64) -> SessionTrace {
    let signals = Signals {
        confidence: Some(confidence),
        loop_detection: Some(loops),
        tool_correctness: Some(tools),
        coherence: Some(coherence),
    };
    SessionTrace {
        id: id.to_owned(),
        signals,
    }
}

fn only(id: usize, signals: Signals) -> SessionTrace {
    SessionTrace {
        id: format!("trace-{id}"),
        signals,
    }
}

fn confident(id: usize, confidence: f64) -> SessionTrace {
    only(
        id,
        Signals {
            confidence: Some(confidence),
            ..Signals::default()
        },
    )
}

fn coherent(id: usize, coherence: f64) -> SessionTrace {
    only(
        id,
        Signals {
            coherence: Some(coherence),
            ..Signals::default()
        },
    )
}

fn reliability(traces: &[SessionTrace]) -> SessionScore {
    agent_reliability(traces, &Weights::default())
}

fn consistency(traces: &[SessionTrace]) -> SessionScore {
    agent_consistency(traces, &Weights::default())
}

#[test]
fn the_metadata_of_reliability_is_the_seeds() {
    let traces = [
        trace("trace-id-1", 0.88, 0.95, 0.92, 0.97),
        trace("trace-id-7", 0.35, 0.28, 0.90, 0.85),
        SessionTrace {
            id: "silent".to_owned(),
            signals: Signals::default(),
        },
    ];
    let score = reliability(&traces);
    assert_eq!(score.score, 0.28);
    assert_eq!(
        score.metadata,
        json!({
            "total_traces_in_session": 3,
            "traces_evaluated": 2,
            "raw_risk": 0.72,
            "signal_weights": {
                "confidence": 1.0, "loop_detection": 1.0, "tool_correctness": 0.8, "coherence": 1.0
            },
            "per_trace_signals": {
                "trace-id-1": {
                    "confidence_risk": 0.12, "loop_risk": 0.05, "tool_risk": 0.08,
                    "coherence_risk": 0.03, "step_risk": 0.12
                },
                "trace-id-7": {
                    "confidence_risk": 0.65, "loop_risk": 0.72, "tool_risk": 0.1,
                    "coherence_risk": 0.15, "step_risk": 0.72
                }
            },
            "flagged_traces": ["trace-id-7"],
            "aggregation": {
                "method": "max_compose_top_k", "top_k_percentile": 0.15, "ensemble_weight": 0.1,
                "mean_top_k_risk": 0.72, "max_risk": 0.72
            }
        })
    );
}

#[test]
fn the_metadata_of_consistency_is_the_seeds_by_its_formula() {
    // The seed prints a penalty of 0.134; its formula gives 0.05 + 0.8 · 0.08 + 0.03 = 0.144.
    let score = consistency(&[
        trace("trace-id-1", 0.88, 0.95, 0.92, 0.97),
        coherent(2, 0.1),
    ]);
    assert_eq!(
        score.metadata,
        json!({
            "total_traces_in_session": 2,
            "traces_evaluated": 1,
            "raw_instability": 0.1373,
            "signal_weights": {
                "confidence": 1.0, "loop_detection": 1.0, "tool_correctness": 0.8, "coherence": 1.0
            },
            "per_trace_signals": {
                "trace-id-1": {
                    "confidence_risk": 0.12, "loop_risk": 0.05, "tool_risk": 0.08,
                    "coherence_risk": 0.03, "situational_penalty": 0.144,
                    "weighted_uncertainty": 0.1373
                }
            },
            "aggregation": { "method": "weighted_rms", "rms_value": 0.1373 }
        })
    );
    assert_eq!((score.score, score.band), (0.8627, "generally consistent"));
}

#[test]
fn the_tail_is_fifteen_percent_rounded_up() {
    // 20 traces: the 3 worst. 0.9 · (0.9 + 0.6 + 0.3) / 3 + 0.1 · 0.9 = 0.63.
    let mut traces = vec![coherent(0, 0.1), coherent(1, 0.4), coherent(2, 0.7)];
    traces.extend((3..20).map(|id| coherent(id, 1.0)));
    assert_eq!(reliability(&traces).score, 0.37);
    // 21 traces: the 4 worst. 0.9 · 1.8 / 4 + 0.09 = 0.495.
    traces.push(coherent(20, 1.0));
    assert_eq!(reliability(&traces).score, 0.505);
    assert_eq!(reliability(&traces).flagged, ["trace-0", "trace-1"]);
}

#[test]
fn what_weighs_nothing_says_nothing() {
    let traces = [only(0, Signals::default().with_confidence(0.1))];
    let weights = Weights {
        confidence: 0.0,
        ..Weights::default()
    };
    let report = score_session(&traces, &weights);
    assert_eq!(report.agent_reliability.evaluated, 0);
    assert_eq!(report.agent_consistency.evaluated, 0);
    let both = [trace("a", 0.1, 0.5, 1.0, 1.0)];
    let report = score_session(&both, &weights);
    assert_eq!(report.agent_reliability.score, 0.5);
    assert_eq!(report.agent_consistency.evaluated, 0);
}

#[test]
fn tool_correctness_weighs_less() {
    let tools = only(
        0,
        Signals {
            tool_correctness: Some(0.0),
            ..Signals::default()
        },
    );
    assert_eq!(reliability(std::slice::from_ref(&tools)).score, 0.2);
    let even = Weights {
        tool_correctness: 1.0,
        ..Weights::default()
    };
    assert_eq!(agent_reliability(&[tools], &even).score, 0.0);
}

#[test]
fn other_signals_amplify_a_lack_of_confidence_but_do_not_replace_it() {
    let uncertain = trace("a", 0.6, 0.5, 1.0, 0.5);
    assert_eq!(consistency(&[uncertain]).score, 0.2); // 1 − (1 + 0.5 + 0.5) · 0.4
    assert_eq!(consistency(&[trace("a", 1.0, 0.0, 0.0, 0.0)]).score, 1.0);
    assert_eq!(consistency(&[trace("a", 0.0, 0.0, 0.0, 0.0)]).score, 0.0);
}

#[test]
fn equal_uncertainties_have_themselves_as_root_mean_square() {
    let traces: Vec<_> = (0..7).map(|id| confident(id, 0.7)).collect();
    assert_eq!(consistency(&traces).score, 0.7);
}

#[test]
fn a_flag_takes_more_than_one_half() {
    let traces = [confident(0, 0.5), confident(1, 0.49)];
    assert_eq!(reliability(&traces).flagged, ["trace-1"]);
    assert_eq!(consistency(&traces).flagged, ["trace-1"]);
}

#[test]
fn without_evaluable_traces_a_score_is_one_with_a_reason_and_is_no_target() {
    for traces in [
        vec![],
        vec![only(0, Signals::default())],
        vec![confident(0, f64::NAN)],
    ] {
        let report = score_session(&traces, &Weights::default());
        for score in [&report.agent_reliability, &report.agent_consistency] {
            assert_eq!((score.score, score.evaluated), (1.0, 0));
            assert_eq!(score.reason, Some("No traces or signals to evaluate."));
        }
    }
    let report = score_session(&[coherent(0, 0.25)], &Weights::default());
    assert_eq!(
        report.agent_consistency.reason,
        Some("No evaluable traces.")
    );
    assert_eq!(
        report.metrics(),
        json!({ "session": {
            "agent_reliability": 0.25,
            "agent_reliability_evaluated": 1, "agent_reliability_flagged": 1,
            "agent_consistency_evaluated": 0, "agent_consistency_flagged": 0,
        }})
    );
}

#[test]
fn bands_begin_where_the_seed_says() {
    let bands =
        [1.0, 0.9, 0.89, 0.7, 0.5, 0.3, 0.29].map(|score| reliability(&[coherent(0, score)]).band);
    assert_eq!(
        bands,
        [
            "highly reliable",
            "highly reliable",
            "generally reliable",
            "generally reliable",
            "moderate risk",
            "elevated risk",
            "high risk",
        ]
    );
}

#[test]
fn a_recorded_signal_is_never_replaced() {
    let full = trace("a", 0.1, 0.2, 0.3, 0.4).signals;
    let evidence = DerivedSignals {
        loop_detection: Some(1.0),
        tool_correctness: Some(1.0),
        coherence: Some(1.0),
    };
    assert_eq!(derive_signals(full, evidence), full);
    let derived = derive_signals(Signals::default(), evidence);
    assert_eq!(
        derived,
        Signals {
            confidence: None,
            ..trace("a", 1.0, 1.0, 1.0, 1.0).signals
        }
    );
}

fn session() -> impl Strategy<Value = Vec<SessionTrace>> {
    let signal = || prop::option::of(0.0..=1.0f64);
    let signals = (signal(), signal(), signal(), signal());
    prop::collection::vec(signals, 0..30).prop_map(|all| {
        let traces = all.into_iter().enumerate();
        traces
            .map(
                |(id, (confidence, loop_detection, tool_correctness, coherence))| {
                    only(
                        id,
                        Signals {
                            confidence,
                            loop_detection,
                            tool_correctness,
                            coherence,
                        },
                    )
                },
            )
            .collect()
    })
}

proptest! {
    #[test]
    fn scores_lie_in_the_unit_interval_with_four_decimals(traces in session()) {
        let report = score_session(&traces, &Weights::default());
        for score in [&report.agent_reliability, &report.agent_consistency] {
            prop_assert!((0.0..=1.0).contains(&score.score));
            prop_assert_eq!(score.score, rounded(score.score));
            prop_assert!(score.flagged.len() <= score.evaluated && score.evaluated <= traces.len());
        }
    }

    #[test]
    fn the_order_of_the_traces_does_not_matter(
        (traces, shuffled) in session()
            .prop_flat_map(|traces| (Just(traces.clone()), Just(traces).prop_shuffle())),
    ) {
        prop_assert_eq!(reliability(&traces).score, reliability(&shuffled).score);
        prop_assert!((consistency(&traces).score - consistency(&shuffled).score).abs() < 2e-4);
    }

    #[test]
    fn reliability_lies_between_the_worst_trace_and_the_best(traces in session()) {
        let alone = |trace: &SessionTrace| reliability(std::slice::from_ref(trace));
        let scores: Vec<_> = traces.iter().map(alone).filter(|score| score.evaluated > 0).collect();
        let score = reliability(&traces);
        if score.evaluated > 0 {
            let worst = scores.iter().map(|score| score.score).fold(1.0, f64::min);
            let best = scores.iter().map(|score| score.score).fold(0.0, f64::max);
            prop_assert!(worst - 1e-4 <= score.score && score.score <= best + 1e-4);
        }
    }

    #[test]
    fn strange_weights_and_signals_never_give_nan(
        signal in any::<f64>(), weight in prop_oneof![any::<f64>(), Just(f64::MAX), Just(f64::NAN)],
    ) {
        let weights = Weights {
            confidence: weight, loop_detection: weight, tool_correctness: weight, coherence: weight,
        };
        let report = score_session(&[trace("a", signal, signal, 0.0, 0.5)], &weights);
        for score in [report.agent_reliability.score, report.agent_consistency.score] {
            prop_assert!((0.0..=1.0).contains(&score));
        }
    }
}
