//! Whatever a run is: each number that a metric gives is one that its target may be.

use mcptest_trace::energy::{GuardOptions, RunSteps, analyse};
use mcptest_trace::eval::{
    ArgsShape, Axes, Dependency, ExpectedCall, ExpectedTrace, Fault, FaultKind, FaultPlan, Flow,
    FlowEntry, GoldenPath, KnownTools, MatchMode, Metrics, NarrativeOptions, NoSchema, Order,
    ToolPattern, Weights, agent_stability_across, count_calls, judge_recovery,
    narrative_divergence, score_golden_path, score_session, score_trajectory_axes, session_traces,
    summarize, trace_flow, validate_trace,
};
use mcptest_trace::trace::Trace;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

const TOOLS: [&str; 4] = ["get_order", "cancel_order", "send_mail", ""];

const CLOSINGS: [&str; 5] = [
    "I have cancelled order W0000001.",
    "I could not cancel the order.",
    "Done.",
    "",
    "I sent the mail, and I deleted the file /srv/a.txt. I did not cancel anything.",
];

const MODES: [MatchMode; 6] = [
    MatchMode::Strict,
    MatchMode::Subsequence,
    MatchMode::Superset,
    MatchMode::Subset,
    MatchMode::Unordered,
    MatchMode::ExactUnordered,
];

/// A number of a recording, as large as they come.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..5_000_u64, 1 => Just(0), 1 => Just(u64::MAX), 1 => any::<u64>()]
}

pub(crate) fn envelope() -> impl Strategy<Value = Value> {
    let call = (
        select(TOOLS.to_vec()),
        0..3_u8,
        prop::option::of(any::<bool>()),
        0..4_u64,
        number(),
    );
    let calls = prop::collection::vec(call, 0..8);
    let steps = prop::collection::vec((number(), number()), 0..8);
    let closing = select(CLOSINGS.to_vec());
    (calls, steps, closing, any::<bool>()).prop_map(|(calls, steps, closing, in_steps)| {
        let made = calls.iter().map(|(tool, order, _, step, _)| {
            let mut call = json!({ "name": tool, "args": { "order": order } });
            if in_steps {
                call["step"] = json!(step);
            }
            call
        });
        let results = calls.iter().enumerate().filter_map(|(at, (_, order, failed, _, took))| {
            let failed = (*failed)?;
            Some(json!({ "call_index": at, "is_error": failed, "result": format!("order W{order:07}"), "duration_ms": took }))
        });
        let made: Vec<Value> = made.collect();
        let results: Vec<Value> = results.collect();
        let steps = steps.iter().map(|(prompt, completion)| json!({ "prompt": prompt, "completion": completion }));
        let steps: Vec<Value> = steps.collect();
        json!({ "tool_calls": made, "tool_results": results, "final_response": closing,
                "conversation": { "steps": steps, "turns": [{ "role": "assistant", "content": closing }] } })
    })
}

/// Every number of a report is one that its target may be.
fn in_range<M: Metrics>(report: &M) -> Result<(), TestCaseError> {
    let metrics = report.metrics();
    for target in M::TARGETS {
        let pointer = format!("/{}", target.name.replace('.', "/"));
        let Some(value) = metrics.pointer(&pointer) else {
            prop_assert!(!target.always, "{} is missing in {metrics}", target.name);
            continue;
        };
        let items = value
            .as_array()
            .map_or(std::slice::from_ref(value), Vec::as_slice);
        for item in items {
            let Some(number) = item.as_f64() else {
                prop_assert!(item.is_string(), "{} is {item}", target.name);
                continue;
            };
            prop_assert!(number >= target.lowest, "{} is {number}", target.name);
            prop_assert!(
                target.highest.is_none_or(|highest| number <= highest),
                "{} is {number}",
                target.name
            );
            if let Some(step) = target.unit.step() {
                prop_assert_eq!(number % step, 0.0, "{} is {}", target.name, number);
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn every_number_is_in_its_range(run in envelope(), order in any::<bool>(), mode in select(MODES.to_vec())) {
        let trace = Trace::from_envelope(&run);
        in_range(&count_calls(&trace))?;
        let steps = RunSteps::recorded_or_estimated(&trace);
        if let Ok(analysis) = analyse(&steps, GuardOptions::default(), None) {
            in_range(&analysis)?;
        }
        in_range(&score_golden_path(&trace, &GoldenPath::new(["get_order", "cancel_order"])))?;
        let options = NarrativeOptions::default();
        in_range(&narrative_divergence(&trace, &options))?;
        let fault = Fault::new("slow", FaultKind::Slow { delay_ms: 10 }).with_tool("get_order");
        in_range(&judge_recovery(&trace, &FaultPlan::new(vec![fault])))?;
        let known = KnownTools::default();
        let sessions = session_traces([(&trace, None)], Some((&options, &known)));
        in_range(&score_session(&sessions, &Weights::default()))?;
        let axes = if order {
            Axes::default().with_order(vec![Order::new("get_order", "cancel_order")])
        } else {
            Axes::default().with_dependencies(vec![Dependency::new("get_order", "cancel_order").with_arg("order")])
        };
        in_range(&score_trajectory_axes(&trace, &axes))?;
        let tool = |name: &str| vec![ToolPattern::new(name)];
        in_range(&trace_flow(&trace, &Flow::new([FlowEntry::new(tool("get_*"), tool("*"))])))?;
        let calls = ["cancel_order", "send_mail"].map(|name| ExpectedCall::new(name, ArgsShape::Exact(json!({ "order": 1 }))));
        let expected: ExpectedTrace<NoSchema> = ExpectedTrace::new(mode, calls.to_vec());
        in_range(&validate_trace(&trace, &expected).unwrap())?;
    }

    #[test]
    fn every_number_of_several_runs_is_in_its_range(
        runs in prop::collection::vec(envelope(), 1..5), outcomes in prop::collection::vec(any::<bool>(), 1..20),
    ) {
        in_range(&summarize(&outcomes))?;
        if let Some(across) = agent_stability_across(&runs) {
            in_range(&across)?;
        }
    }
}
