//! What writing down a run of 20,000 results costs, beside searching all results at each of them.

use divan::Bencher;
use mcptest_trace::record::Recorder;
use serde_json::{Value, json};

const RESULTS: usize = 20_000;

fn main() {
    divan::main();
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn recorder(bencher: Bencher) {
    bencher.bench_local(|| {
        let mut run = Recorder::new("Desk", "model");
        for order in 0..RESULTS {
            let call = run.tool_called("desk", "get_order", json!({ "order": order }));
            run.tool_returned(call, json!("found"));
        }
        run
    });
}

#[divan::bench(sample_count = 1, sample_size = 1)]
fn searching_all_results(bencher: Bencher) {
    bencher.bench_local(|| {
        let mut results: Vec<Value> = Vec::new();
        for order in 0..RESULTS {
            let written = json!({ "call_index": order, "server": "desk", "result": "found" });
            let earlier = |result: &Value| result["call_index"] == order;
            match results.iter().position(earlier) {
                Some(earlier) => results[earlier] = written,
                None => results.push(written),
            }
        }
        results
    });
}
