use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::lanes::{Common, LaneWord, Lanes, Path};
use super::super::pairs::{LONG_LANES, long_batch_len};
use super::super::{agent_stability_across, mean, share};
use crate::number::to_f64;

/// The longest common subsequence by the textbook's table.
fn table(left: &[u32], right: &[u32]) -> usize {
    let mut row = vec![0; right.len() + 1];
    for tool in left {
        let mut diagonal = 0;
        for (column, other) in right.iter().enumerate() {
            let above = row[column + 1];
            row[column + 1] = if tool == other {
                diagonal + 1
            } else {
                above.max(row[column])
            };
            diagonal = above;
        }
    }
    row[right.len()]
}

/// What two runs have in common, call by call.
fn by_definition(left: &Path, right: &Path) -> Common {
    let tools = left.tools.iter().zip(&right.tools);
    let arguments = left.arguments.iter().zip(&right.arguments);
    let aligned = tools
        .zip(arguments)
        .filter(|((tool, other), _)| tool == other);
    Common {
        longest: table(&left.tools, &right.tools),
        aligned: aligned.clone().count(),
        same: aligned
            .filter(|(_, (argument, other))| argument == other)
            .count(),
    }
}

/// Pair by pair, without grouping equal runs: the similarity and the consistency of each pair.
pub(super) fn brute_force(runs: &[Value]) -> Vec<(f64, f64)> {
    let paths: Vec<Path> = runs
        .iter()
        .map(|run| {
            let calls = run["tool_calls"].as_array().unwrap().iter();
            let numbers = calls.map(|call| {
                let tool = u32::from(call["name"].as_str().unwrap().as_bytes()[0]);
                let argument = u32::try_from(call["args"]["n"].as_u64().unwrap()).unwrap();
                (tool, argument)
            });
            let (tools, arguments) = numbers.unzip();
            Path { tools, arguments }
        })
        .collect();
    let mut pairs = Vec::new();
    for (index, left) in paths.iter().enumerate() {
        for right in &paths[index + 1..] {
            let common = by_definition(left, right);
            let calls = left.tools.len() + right.tools.len();
            let similarity = if calls == 0 {
                1.0
            } else {
                2.0 * to_f64(common.longest) / to_f64(calls)
            };
            pairs.push((
                similarity,
                share(common.same, common.aligned).unwrap_or(1.0),
            ));
        }
    }
    pairs
}

/// Some runs, and another that may have more calls than any of them.
fn runs_beside_each_other(most: usize) -> impl Strategy<Value = (Vec<Path>, Path)> {
    let path = |most| {
        prop::collection::vec((0..4_u32, 0..3_u32), 0..=most).prop_map(|calls| {
            let (tools, arguments) = calls.into_iter().unzip();
            Path { tools, arguments }
        })
    };
    (prop::collection::vec(path(most), 1..=4), path(2 * most))
}

/// What lanes of the runs say of each of them and another.
fn lanes_are_right<W: LaneWord, const N: usize>(
    runs: &[Path],
    other: &Path,
) -> Result<(), TestCaseError> {
    let mut lanes = Lanes::<W, N>::new(runs.iter(), 4);
    // Twice: what one comparison leaves behind is nothing to the next.
    for _ in 0..2 {
        let found: Vec<Common> = lanes.compare(other).take(runs.len()).collect();
        let expected = runs.iter().map(|run| by_definition(run, other));
        prop_assert_eq!(found, expected.collect::<Vec<_>>());
    }
    Ok(())
}

/// How many of as many runs as there are lanes stand side by side.
fn beside(calls: impl Fn(usize) -> usize, tools: usize) -> Option<usize> {
    let path = Path {
        tools: Vec::new(),
        arguments: Vec::new(),
    };
    let runs: Vec<_> = (0..LONG_LANES).map(|run| (calls(run), 1, &path)).collect();
    long_batch_len(&runs, tools)
}

#[test]
fn lanes_take_runs_of_about_one_length() {
    assert_eq!(beside(|_| 100, 12), Some(LONG_LANES));
    assert_eq!(beside(|run| 200 + run, 12), Some(LONG_LANES));
    assert_eq!(beside(|run| 33 + run, 12), Some(LONG_LANES));
    assert_eq!(beside(|run| 45 + run, 12), Some(20));
    assert_eq!(beside(|run| 60 + run, 12), None);
    assert_eq!(beside(|run| 1_000 * (1 + run), 12), None);
}

#[test]
fn lanes_do_not_multiply_what_much_memory_holds() {
    assert_eq!(beside(|_| 100, 5_000), Some(LONG_LANES));
    assert_eq!(beside(|_| 100, 10_000), None);
    assert_eq!(beside(|_| 100_000, 100), None);
    assert_eq!(beside(|_| usize::MAX / 64, usize::MAX), None);
}

#[test]
fn short_runs_are_compared_where_there_are_very_many_tools() {
    let run = |tools: &[usize]| {
        let calls = tools.iter().map(|n| json!({ "name": n.to_string() }));
        json!({ "tool_calls": calls.collect::<Vec<_>>() })
    };
    let long: Vec<usize> = (0..17_000).collect();
    let runs = [run(&[0, 1]), run(&[1, 0]), run(&long), run(&[])];
    let across = agent_stability_across(&runs).unwrap();
    let similarities = [0.0, 0.0, 0.0, 0.5, 4.0 / 17_002.0, 2.0 / 17_002.0];
    assert_eq!(
        across.tool_sequence_similarity.to_bits(),
        mean(&similarities).to_bits()
    );
}

proptest! {
    #[test]
    fn short_runs_are_compared_as_the_table_would((runs, other) in runs_beside_each_other(16)) {
        lanes_are_right::<u16, 128>(&runs, &other)?;
    }

    #[test]
    fn long_runs_are_compared_as_the_table_would((runs, other) in runs_beside_each_other(200)) {
        lanes_are_right::<u64, 32>(&runs, &other)?;
        lanes_are_right::<u64, 1>(&runs[..1], &other)?;
    }
}

/// A run of so many calls, or a few less.
fn run_of(calls: usize) -> impl Strategy<Value = Vec<(&'static str, u32)>> {
    let call = (prop::sample::select(vec!["a", "b", "c", "d"]), 0..3_u32);
    prop::collection::vec(call, calls - 5..=calls)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn runs_of_any_length_come_to_the_same_to_the_last_bit(
        mut runs in prop::collection::vec(
            prop::sample::select(vec![5, 16, 17, 63, 64, 65, 130]).prop_flat_map(run_of),
            2..60,
        ),
    ) {
        runs.sort();
        runs.dedup();
        prop_assume!(runs.len() > 1);
        let call = |(tool, n): &(&str, u32)| json!({ "name": tool, "args": { "n": n } });
        let run = |run: &Vec<_>| json!({ "tool_calls": run.iter().map(call).collect::<Vec<_>>() });
        let runs: Vec<Value> = runs.iter().map(run).collect();
        let across = agent_stability_across(&runs).unwrap();
        let (similarities, consistencies): (Vec<_>, Vec<_>) = brute_force(&runs).into_iter().unzip();
        prop_assert_eq!(across.tool_sequence_similarity.to_bits(), mean(&similarities).to_bits());
        prop_assert_eq!(across.argument_consistency.to_bits(), mean(&consistencies).to_bits());
    }
}
