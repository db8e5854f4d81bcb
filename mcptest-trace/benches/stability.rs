//! What comparing many runs of one agent costs: all different, so that every pair is compared.

use divan::{Bencher, black_box};
use mcptest_trace::eval::agent_stability_across;
use mcptest_trace::trace::Trace;
use serde_json::json;

/// Runs, and calls in each.
const SIZES: [(usize, usize); 2] = [(385, 50), (100, 200)];

fn main() {
    divan::main();
}

/// A run of calls to a dozen tools, its own order drawn from its number.
fn run(number: usize, calls: usize) -> Trace {
    let mut state = number as u64 + 1;
    let calls: Vec<_> = (0..calls)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let drawn = state >> 33;
            json!({ "name": format!("tool_{}", drawn % 12), "args": { "order": drawn % 5 } })
        })
        .collect();
    Trace::from_envelope(&json!({ "tool_calls": calls }))
}

#[divan::bench(args = SIZES, sample_count = 20, sample_size = 1)]
fn across(bencher: Bencher, (runs, calls): (usize, usize)) {
    let runs: Vec<Trace> = (0..runs).map(|number| run(number, calls)).collect();
    bencher.bench_local(|| agent_stability_across(black_box(&runs)));
}
