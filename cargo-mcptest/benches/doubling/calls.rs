//! Paths over the calls and the turns of a run.

use std::hint::black_box;

use mcptest::judge::Package;
use mcptest_trace::energy::{GuardOptions, RunSteps, analyse};
use mcptest_trace::eval::{
    ArgsShape, Axes, Dependency, ExpectedCall, ExpectedTrace, Fault, FaultKind, FaultPlan, Flow,
    FlowEntry, GoldenPath, KnownTools, MatchMode, NarrativeOptions, NoSchema, Order, ToolPattern,
    Weights, agent_stability, agent_stability_across, count_calls, judge_recovery,
    narrative_divergence, score_golden_path, score_session, score_trajectory_axes, session_traces,
    trace_flow, validate_trace,
};
use mcptest_trace::evidence::mutants::{MutantOptions, RecordedRun, plan};
use mcptest_trace::record::Recorder;
use mcptest_trace::trace::{Origin, Run, Trace, parse_run};
use serde_json::{Value, json};

use crate::Row;

/// A run that looks at one thing after the other and changes each, and says so.
pub(crate) fn cassette(calls: usize) -> Value {
    let tool = |index: usize| ["get_order", "cancel_order"][index % 2];
    let order = |index: usize| format!("W{:07}", index / 2);
    let made = (0..calls).map(|index| {
        json!({ "name": tool(index), "server": "desk", "args": { "order_id": order(index) }, "step": index })
    });
    let results = (0..calls).map(|index| {
        let text = format!("order {} of {}", order(index), order(index + 2));
        json!({ "call_index": index, "is_error": index % 97 == 0, "result": { "content": [{ "type": "text", "text": text }] } })
    });
    let steps = (0..calls).map(|index| json!({ "prompt": 1_000 + index, "completion": 20 }));
    let turns = (0..calls).map(|index| json!({ "role": "assistant", "content": format!("tool_use desk::{}", tool(index)) }));
    json!({
        "schema_version": "v1", "model": "m", "user_prompt": "Cancel all.", "trace": {
            "tool_calls": made.collect::<Vec<_>>(), "tool_results": results.collect::<Vec<_>>(),
            "final_response": "I have cancelled order W0000001 and order W0000002.",
            "conversation": { "steps": steps.collect::<Vec<_>>(), "turns": turns.collect::<Vec<_>>(), "stop_reason": "completed" },
        },
    })
}

fn run(calls: usize) -> Run {
    let bytes = cassette(calls).to_string();
    parse_run(bytes.as_bytes(), &Origin::file("run.json")).unwrap()
}

/// The work of a metric over a run's trace.
fn metric<T>(calls: usize, measured: impl Fn(&Trace) -> T + 'static) -> Box<dyn FnMut()> {
    let run = run(calls);
    Box::new(move || _ = black_box(measured(&run.trace)))
}

fn expected(mode: MatchMode) -> ExpectedTrace<NoSchema> {
    let calls = (0..20).map(|order| {
        let args = json!({ "order_id": format!("W{order:07}") });
        ExpectedCall::new("cancel_order", ArgsShape::Exact(args))
    });
    ExpectedTrace::new(mode, calls.collect())
}

fn tool(name: &str) -> Vec<ToolPattern> {
    vec![ToolPattern::new(name)]
}

const SUITE: &str = "agents:
- name: a
  model: m
  prompt: Cancel all.
  expect: [{ target: 'tool_calls[*].args.order_id', matcher: { contains: W0000001 } }]
  calls: { max: 1 }
  energy: { estimate: true }
  golden_path: { calls: [get_order, cancel_order] }
  narrative: {}
  snapshot: {}
  trajectory: { mode: subsequence, calls: [{ name: get_order }] }
";

/// Judges a run by gates that fail, whose texts are made too.
fn judged(calls: usize) -> Box<dyn FnMut()> {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("suites/s.yml", SUITE);
    write("suites/cassettes/a__m.json", &cassette(calls).to_string());
    let shorter = "---\nsource: suites/s.yml\nexpression: snapshot\n---\nrun 1\n".to_owned();
    let lines = (0..calls).map(|index| {
        format!(
            "  {index}. desk::get_order\n       order_id: \"W{:07}\"\n",
            index / 2
        )
    });
    let snapshot = shorter + &lines.collect::<String>();
    write("suites/snapshots/s-a-snapshot.snap", &snapshot);
    Box::new(move || {
        let package = Package::open(folder.path(), "p", &["suites".into()]);
        for case in package.cases() {
            black_box((case.judge(), case.explain()));
        }
    })
}

/// A run in which every other write failed, and whose closing says that all were done.
fn half_failed(calls: usize) -> Run {
    let mut recorded = cassette(calls);
    for result in recorded["trace"]["tool_results"].as_array_mut().unwrap() {
        let call = result["call_index"].as_u64().unwrap();
        result["is_error"] = (call % 4 == 1).into();
    }
    let closing = format!("I have cancelled all {} orders.", calls / 2);
    recorded["trace"]["final_response"] = closing.into();
    parse_run(recorded.to_string().as_bytes(), &Origin::file("run.json")).unwrap()
}

pub(crate) fn rows() -> Vec<Row> {
    [metric_rows(), plan_rows()].concat()
}

fn metric_rows() -> Vec<Row> {
    vec![
        Row::new("a recording is read", "calls", 2_000, |calls| {
            let bytes = cassette(calls).to_string();
            Box::new(move || _ = black_box(parse_run(bytes.as_bytes(), &Origin::file("run.json"))))
        }),
        Row::new("a recorder writes a run down", "calls", 1_000, |calls| {
            Box::new(move || {
                let mut run = Recorder::new("Desk", "m");
                for order in 0..calls {
                    run.user(format!("order {order}")).step(10, 2);
                    let call = run.tool_called("desk", "get_order", json!({ "order": order }));
                    run.tool_returned(call, json!("found")).said("Found.");
                }
                black_box(run.cassette());
            })
        }),
        Row::new("calls", "calls", 8_000, |calls| metric(calls, count_calls)),
        Row::new("energy", "steps", 2_000, |calls| {
            metric(calls, |trace| {
                analyse(
                    &RunSteps::recorded_or_estimated(trace),
                    GuardOptions::default(),
                    None,
                )
            })
        }),
        Row::new("flow", "calls", 250, |calls| {
            metric(calls, |trace| {
                trace_flow(
                    trace,
                    &Flow::new([FlowEntry::new(tool("get_order"), tool("send_*"))]),
                )
            })
        }),
        Row::new("flow, where everything leaks", "calls", 250, |calls| {
            metric(calls, |trace| {
                trace_flow(
                    trace,
                    &Flow::new([FlowEntry::new(tool("get_*"), tool("cancel_*"))]),
                )
            })
        }),
        Row::new("golden path", "calls", 4_000, |calls| {
            metric(calls, |trace| {
                score_golden_path(trace, &GoldenPath::new(["get_order", "cancel_order"]))
            })
        }),
        Row::new(
            "narrative, of calls of which half failed",
            "calls",
            1_000,
            |calls| {
                let run = half_failed(calls);
                Box::new(move || {
                    let report = narrative_divergence(&run.trace, &NarrativeOptions::default());
                    black_box(report);
                })
            },
        ),
        Row::new("narrative", "calls", 2_000, |calls| {
            metric(calls, |trace| {
                narrative_divergence(trace, &NarrativeOptions::default())
            })
        }),
        Row::new("recovery", "calls", 2_000, |calls| {
            let fault = Fault::new("slow", FaultKind::Slow { delay_ms: 10 }).with_tool("get_order");
            let plan = FaultPlan::new(vec![fault]);
            metric(calls, move |trace| judge_recovery(trace, &plan))
        }),
    ]
}

fn plan_rows() -> Vec<Row> {
    vec![
        Row::new("mutants are planned", "calls", 500, |calls| {
            let run = run(calls);
            Box::new(move || {
                let runs = [RecordedRun::new("a", 1, &run)];
                black_box(plan(&runs, &MutantOptions::default()));
            })
        }),
        Row::new(
            "mutants of one call are planned",
            "arguments",
            500,
            |count| {
                let args = (0..count).map(|at| (format!("order_{at}"), at.into()));
                let args: serde_json::Map<String, Value> = args.collect();
                let mut recorded = cassette(1);
                recorded["trace"]["tool_calls"][0]["args"] = args.into();
                let run = parse_run(recorded.to_string().as_bytes(), &Origin::file("run.json"));
                let run = run.unwrap();
                Box::new(move || {
                    let runs = [RecordedRun::new("a", 1, &run)];
                    black_box(plan(&runs, &MutantOptions::default()));
                })
            },
        ),
        Row::new("redundant calls", "calls", 4_000, |calls| {
            metric(calls, Trace::redundant_tool_calls)
        }),
        Row::new("session", "calls", 2_000, |calls| {
            metric(calls, |trace| {
                let options = (&NarrativeOptions::default(), &KnownTools::default());
                score_session(
                    &session_traces([(trace, None)], Some(options)),
                    &Weights::default(),
                )
            })
        }),
        Row::new("stability of a run", "calls", 2_000, |calls| {
            metric(calls, agent_stability)
        }),
        Row::new("stability of equal runs", "runs", 250, |runs| {
            let runs: Vec<Trace> = (0..runs).map(|_| run(20).trace).collect();
            Box::new(move || _ = black_box(agent_stability_across(&runs)))
        }),
        Row::new("trajectory: subsequence", "calls", 2_000, |calls| {
            metric(calls, |trace| {
                validate_trace(trace, &expected(MatchMode::Subsequence))
            })
        }),
        Row::new("trajectory: superset", "calls", 2_000, |calls| {
            metric(calls, |trace| {
                validate_trace(trace, &expected(MatchMode::Superset))
            })
        }),
        Row::new("trajectory axes", "calls", 2_000, |calls| {
            let dependency = Dependency::new("get_order", "cancel_order").with_arg("order_id");
            let axes = Axes::default()
                .with_dependencies(vec![dependency])
                .with_order(vec![Order::new("get_order", "cancel_order")]);
            metric(calls, move |trace| score_trajectory_axes(trace, &axes))
        }),
        Row::new(
            "gates that fail, with their texts and a diff",
            "calls",
            500,
            judged,
        ),
    ]
}
