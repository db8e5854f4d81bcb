//! What following an argument back to its source costs in a run of 8,000 calls, beside looking at every
//! earlier result in turn.

#![allow(clippy::unwrap_used, reason = "a benchmark is a test")]

use divan::{Bencher, black_box};
use mcptest_trace::eval::{Axes, Dependency, score_trajectory_axes};
use mcptest_trace::trace::Trace;
use serde_json::json;

const CALLS: usize = 8_000;

/// Which result each argument comes from.
#[derive(Debug, Clone, Copy)]
enum Flow {
    /// The one just before.
    Interleaved,
    /// All are produced first, and consumed in that order.
    Queue,
    /// All are produced first, and consumed in any order.
    Shuffled,
}

const FLOWS: [Flow; 3] = [Flow::Interleaved, Flow::Queue, Flow::Shuffled];

fn main() {
    divan::main();
}

fn run(flow: Flow) -> Trace {
    let half = CALLS / 2;
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    let mut produce = |calls: &mut Vec<_>, page: usize| {
        let text = format!("see https://a.example/{page:06} for more");
        results.push(
            json!({ "call_index": calls.len(), "is_error": false, "result": { "text": text } }),
        );
        calls.push(json!({ "name": "search" }));
    };
    let fetch = |page: usize| json!({ "name": "fetch", "args": { "url": format!("https://a.example/{page:06}") } });
    match flow {
        Flow::Interleaved => {
            for page in 0..half {
                produce(&mut calls, page);
                calls.push(fetch(page));
            }
        }
        Flow::Queue | Flow::Shuffled => {
            // 2,617 has no factor in common with the number of pages.
            let by = if matches!(flow, Flow::Queue) {
                1
            } else {
                2_617
            };
            (0..half).for_each(|page| produce(&mut calls, page));
            calls.extend((0..half).map(|page| fetch(page * by % half)));
        }
    }
    Trace::from_envelope(&json!({ "tool_calls": calls, "tool_results": results }))
}

#[divan::bench(args = FLOWS, sample_count = 5, sample_size = 1)]
fn axes(bencher: Bencher, flow: Flow) {
    let run = run(flow);
    let dependency = Dependency::new("search", "fetch").with_arg("url");
    let axes = Axes::default().with_dependencies(vec![dependency]);
    assert_eq!(
        score_trajectory_axes(&run, &axes).dependency_satisfaction,
        100
    );
    bencher.bench_local(|| score_trajectory_axes(black_box(&run), &axes));
}

#[divan::bench(args = FLOWS, sample_count = 1, sample_size = 1)]
fn every_earlier_result(bencher: Bencher, flow: Flow) {
    let run = run(flow);
    bencher.bench_local(|| {
        let held = run.tool_calls.iter().enumerate().filter(|(index, call)| {
            let Some(url) = call.args["url"].as_str() else {
                return false;
            };
            let results = run.tool_results.iter();
            let earlier = results.filter(|result| result.call_index < *index);
            let holding =
                earlier.filter(|result| result.result["text"].as_str().unwrap().contains(url));
            holding.count() > 0
        });
        assert_eq!(held.count(), CALLS / 2);
    });
}
