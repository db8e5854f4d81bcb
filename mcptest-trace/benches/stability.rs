//! What comparing many runs of one agent costs, beside the definition followed to the letter: the
//! textbook's table for each pair of runs.

use divan::{Bencher, black_box};
use mcptest_trace::eval::agent_stability_across;
use mcptest_trace::trace::{Trace, canonical_json};
use serde_json::json;

/// Runs, calls in each, and how many of the runs differ. A test only wants to know that it runs, and
/// builds without optimisation.
const SIZES: [(usize, usize, usize); 4] = if cfg!(debug_assertions) {
    [(38, 50, 38), (10, 200, 10), (40, 10, 4), (40, 10, 40)]
} else {
    [
        (385, 50, 385),
        (100, 200, 100),
        (4_000, 10, 40),
        (4_000, 10, 4_000),
    ]
};

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

fn runs((runs, calls, different): (usize, usize, usize)) -> Vec<Trace> {
    (0..runs)
        .map(|number| run(number % different, calls))
        .collect()
}

#[divan::bench(args = SIZES, sample_count = 10, sample_size = 1)]
fn across(bencher: Bencher, size: (usize, usize, usize)) {
    let runs = runs(size);
    bencher.bench_local(|| agent_stability_across(black_box(&runs)));
}

#[divan::bench(args = SIZES, sample_count = 1, sample_size = 1)]
fn by_definition(bencher: Bencher, size: (usize, usize, usize)) {
    let runs = runs(size);
    bencher.bench_local(|| similarity_by_definition(black_box(&runs)));
    let across = agent_stability_across(&runs).map(|across| across.tool_sequence_similarity);
    let expected = similarity_by_definition(&runs);
    assert!(across.is_some_and(|across| (across - expected).abs() < 1e-9));
}

/// The mean over the pairs of `2·LCS / (len a + len b)`, and the arguments looked at on the way.
fn similarity_by_definition(runs: &[Trace]) -> f64 {
    let paths: Vec<Vec<(&str, String)>> = runs
        .iter()
        .map(|run| {
            let calls = run.tool_calls.iter();
            calls
                .map(|call| (call.name.as_str(), canonical_json(&call.args)))
                .collect()
        })
        .collect();
    let (mut similarity, mut pairs) = (0.0, 0.0);
    for (index, left) in paths.iter().enumerate() {
        for right in &paths[index + 1..] {
            let mut row = vec![0_u32; right.len() + 1];
            for (tool, _) in left {
                let mut diagonal = 0;
                for (column, (other, _)) in right.iter().enumerate() {
                    let above = row[column + 1];
                    row[column + 1] = if tool == other {
                        diagonal + 1
                    } else {
                        above.max(row[column])
                    };
                    diagonal = above;
                }
            }
            let same = left.iter().zip(right).filter(|(call, other)| call == other);
            black_box(same.count());
            #[expect(clippy::cast_precision_loss, reason = "a few calls")]
            let calls = (left.len() + right.len()) as f64;
            similarity += 2.0 * f64::from(row[right.len()]) / calls;
            pairs += 1.0;
        }
    }
    similarity / pairs
}
