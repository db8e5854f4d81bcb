//! Recorded runs of an agent, whatever it did.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

pub(crate) const PROMPT: &str = "Please refund order 1.";

pub(crate) const SYSTEM_PROMPT: &str = "Help customers with their orders.";

const TOOLS: [&str; 4] = ["find_order", "refund", "search", "send_mail"];

const CLOSINGS: [&str; 5] = [
    "I have refunded order 1, and I sent the mail.",
    "I could not refund the order.",
    "Done.",
    "",
    "Order 2 was refunded. I did not send anything.",
];

const NOTES: [&str; 3] = ["", "for W0000003", "ship to Elm Street, see W0000002"];

/// A call: its tool, its arguments, what came of it, and whether it begins another step.
#[derive(Debug, Clone)]
struct Call {
    tool: &'static str,
    order: u32,
    note: &'static str,
    result: u8,
    took: u64,
    of_helper: bool,
    begins_a_step: bool,
}

fn call() -> impl Strategy<Value = Call> {
    let what = (select(TOOLS.to_vec()), 0..4_u32, select(NOTES.to_vec()));
    (what, 0..6_u8, 0..400_u64, any::<bool>(), any::<bool>()).prop_map(
        |((tool, order, note), result, took, of_helper, begins_a_step)| Call {
            tool,
            order,
            note,
            result,
            took,
            of_helper,
            begins_a_step,
        },
    )
}

impl Call {
    fn recorded(&self, step: usize) -> Value {
        let mut call = json!({
            "name": self.tool, "server": "desk", "step": step,
            "args": { "order": self.order, "note": self.note, "how": { "quick": true, "by": ["mail", self.order] } },
        });
        if self.of_helper {
            call["agent_id"] = "helper".into();
        }
        call
    }

    /// What came of it: nothing, an error, or one of several forms of a success.
    fn result(&self, at: usize) -> Option<Value> {
        let found = format!("order {} is W000000{}", self.order, self.order);
        let result = match self.result {
            0 => return None,
            1 => json!("no such order"),
            2 => json!({ "order": self.order, "id": found, "price": 7.5, "paid": true }),
            3 => json!({ "content": [{ "type": "text", "text": found }] }),
            _ => json!(found),
        };
        Some(json!({
            "call_index": at, "is_error": self.result == 1, "result": result, "duration_ms": self.took,
        }))
    }
}

/// A share of one that binary fractions do not have, so that sums of such shares are rounded.
fn share() -> impl Strategy<Value = f64> {
    (0..8_u32).prop_map(|part| f64::from(part) / 7.0)
}

fn signals() -> impl Strategy<Value = Value> {
    let all = [
        "confidence",
        "loop_detection",
        "tool_correctness",
        "coherence",
    ];
    prop::collection::vec(prop::option::of(share()), 4).prop_map(move |values| {
        let known = all.iter().zip(values);
        let known = known.filter_map(|(name, value)| Some(((*name).to_owned(), value?.into())));
        Value::Object(known.collect::<Map<_, _>>())
    })
}

/// What is recorded of a run beside its calls, where it is recorded.
#[derive(Debug, Clone)]
struct Beside {
    signals: Option<Value>,
    turn_signals: Option<Value>,
    passed: Option<bool>,
    scores: Vec<f64>,
    lists_tools: bool,
    took: Option<u64>,
}

fn beside() -> impl Strategy<Value = Beside> {
    let scores = prop::collection::vec(share(), 0..3);
    let signals = (prop::option::of(signals()), prop::option::of(signals()));
    let passed = prop::option::weighted(0.9, any::<bool>());
    let took = prop::option::weighted(0.9, 0..1_000_u64);
    (signals, passed, scores, any::<bool>(), took).prop_map(
        |((signals, turn_signals), passed, scores, lists_tools, took)| Beside {
            signals,
            turn_signals,
            passed,
            scores,
            lists_tools,
            took,
        },
    )
}

/// A recorded run; `with_numbers` gives each run of several a time of its own.
fn run() -> impl Strategy<Value = Value> {
    let tokens = prop::collection::vec((1..3_000_u64, 0..200_u64), 9);
    let closing = (select(CLOSINGS.to_vec()), select(CLOSINGS.to_vec()));
    (prop::collection::vec(call(), 0..7), tokens, closing, beside()).prop_map(
        |(calls, tokens, (said, closing), beside)| {
            let (mut made, mut results, mut step) = (Vec::new(), Vec::new(), 0);
            for (at, call) in calls.iter().enumerate() {
                step += usize::from(at > 0 && call.begins_a_step);
                made.push(call.recorded(step));
                results.extend(call.result(at));
            }
            let steps = tokens.iter().take(step + 3);
            let steps: Vec<Value> = steps
                .map(|(prompt, completion)| json!({ "prompt": prompt, "completion": completion }))
                .collect();
            let mut conversation = json!({
                "steps": steps, "stop_reason": "completed",
                "turns": [
                    { "role": "user", "content": PROMPT }, { "role": "assistant", "content": said },
                    { "role": "assistant", "content": closing },
                ],
            });
            if let Some(took) = beside.took {
                conversation["duration_ms"] = took.into();
            }
            if let Some(signals) = beside.turn_signals {
                let all = made.len();
                conversation["per_turn"] =
                    json!([{ "calls": [0, all], "response": said, "signals": signals }, { "calls": [all, all], "response": closing }]);
            }
            let scores = beside.scores.iter();
            let scores = scores.map(|score| json!({ "name": "helpful", "value": score * 5.0, "by": "ann" }));
            let mut run = json!({
                "schema_version": "v1", "model": "m", "user_prompt": PROMPT, "system_prompt": SYSTEM_PROMPT,
                "trace": {
                    "tool_calls": made, "tool_results": results, "final_response": closing, "conversation": conversation,
                    "scores": scores.collect::<Vec<_>>(),
                },
            });
            if let Some(passed) = beside.passed {
                run["outcome"] = json!({ "passed": passed });
            }
            if let Some(signals) = beside.signals {
                run["signals"] = signals;
            }
            if beside.lists_tools {
                let offered = TOOLS.map(|tool| json!({ "name": tool, "server": "desk", "read_only": tool == "search" }));
                run["tools"] = json!(offered);
            }
            run
        },
    )
}

/// Recorded runs of one agent, none of which is a copy of another.
pub(crate) fn runs(
    count: impl Into<prop::collection::SizeRange>,
) -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec(run(), count).prop_map(|mut runs| {
        for (run, second) in runs.iter_mut().zip(10..) {
            run["recorded_at"] = format!("2026-01-31T12:00:{second}Z").into();
        }
        runs
    })
}

/// An order of so many things: what comes at each place.
pub(crate) fn order(count: usize) -> impl Strategy<Value = Vec<usize>> {
    Just((0..count).collect::<Vec<usize>>()).prop_shuffle()
}
