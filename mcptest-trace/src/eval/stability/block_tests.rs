use proptest::prelude::*;

use super::block::{Block, Common, Word};
use super::pairs::Path;

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
pub(super) fn by_definition(left: &Path, right: &Path) -> Common {
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

/// Runs of as many calls, and another that may have more or fewer.
fn runs_beside_each_other(most: usize) -> impl Strategy<Value = (Vec<Path>, Path)> {
    let path = |calls| {
        prop::collection::vec((0..4_u32, 0..3_u32), calls).prop_map(|calls| {
            let (tools, arguments) = calls.into_iter().unzip();
            Path { tools, arguments }
        })
    };
    let beside =
        (0..=most).prop_flat_map(move |calls| prop::collection::vec(path(calls..=calls), 1..5));
    (beside, path(0..=2 * most))
}

/// What a block of the runs says of each of them and another, from each lane on.
fn block_is_right<W: Word>(runs: &[Path], other: &Path) -> Result<(), TestCaseError> {
    let mut block = Block::<W>::of(&runs.iter().collect::<Vec<_>>(), runs[0].tools.len(), 4);
    for from in 0..runs.len() {
        let found: Vec<Common> = block.compare(other, from).collect();
        let expected = runs[from..].iter().map(|run| by_definition(run, other));
        prop_assert_eq!(found, expected.collect::<Vec<_>>());
    }
    Ok(())
}

proptest! {
    #[test]
    fn short_runs_are_compared_as_the_table_would((runs, other) in runs_beside_each_other(16)) {
        block_is_right::<u16>(&runs, &other)?;
    }

    #[test]
    fn long_runs_are_compared_as_the_table_would((runs, other) in runs_beside_each_other(200)) {
        block_is_right::<u64>(&runs, &other)?;
    }
}
