//! The part of all cases that one of several machines runs.

use mcptest::judge::PackageCase;
use mcptest_suite::Shard;

/// Which part of all cases is meant.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct Part {
    /// Only the agents of the shard K of N shards, for several machines; the first is 1. The name of an agent says in which
    /// shard it is.
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
}

impl Part {
    /// The shard as arguments of a test executable.
    pub(crate) fn to_arguments(self) -> Vec<String> {
        let shard = self.shard.map(|shard| format!("--shard={shard}"));
        shard.into_iter().collect()
    }

    /// Whether a case is judged where this part is recorded. What is about no agent needs the runs of all machines.
    pub(crate) fn includes(self, case: &PackageCase<'_>) -> bool {
        match (self.shard, case.agent()) {
            (None, _) => true,
            (Some(shard), Some(agent)) => shard.holds(&agent),
            (Some(shard), None) => shard.total() == 1,
        }
    }
}
