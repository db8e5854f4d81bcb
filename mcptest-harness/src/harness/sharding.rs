//! The cases of one shard: which they are, what is recorded for them, and what that may cost.

use std::collections::HashMap;
#[cfg(feature = "session")]
use std::path::PathBuf;
use std::sync::Arc;

use libtest_mimic::Trial;
use mcptest_suite::Shard;

use super::prepared::{NeededAgent, ShardPlace};
#[cfg(feature = "session")]
use crate::record::share_budgets;

/// A shard, and where all cases belong.
pub(super) struct Sharding {
    pub(super) shard: Shard,
    pub(super) placed: HashMap<Arc<str>, ShardPlace>,
    /// Whether runs are recorded, so that this machine has those of its own agents alone.
    pub(super) records: bool,
}

impl Sharding {
    /// Leaves the cases of other shards out; the names of all that were chosen.
    pub(super) fn narrow(&self, trials: &[Trial], chosen: &mut [bool]) -> Vec<String> {
        let mut all = Vec::new();
        for (trial, chosen) in trials.iter().zip(chosen) {
            if !*chosen {
                continue;
            }
            all.push(trial.name().to_owned());
            // A suite that does not load is told on every machine.
            if let Some(placed) = self.placed.get(trial.name()) {
                let without_others = !(placed.of_all && self.records && self.shard.total() > 1);
                *chosen = without_others && self.shard.holds(&placed.name);
            }
        }
        all
    }

    /// The agents of this shard, whose suites may spend their share: what is asked of their runs, of all that is asked.
    pub(super) fn share<'a>(&self, needed: Vec<NeededAgent<'a>>) -> Vec<NeededAgent<'a>> {
        #[cfg(feature = "session")]
        share_budgets(self.shard, self.shares(&needed));
        let own = needed
            .into_iter()
            .filter(|agent| self.shard.holds(&agent.case()));
        own.collect()
    }

    /// How many runs of each suite this shard has, and how many all shards have.
    #[cfg(feature = "session")]
    fn shares(&self, needed: &[NeededAgent<'_>]) -> HashMap<PathBuf, (u64, u64)> {
        let mut shares: HashMap<PathBuf, (u64, u64)> = HashMap::new();
        for agent in needed {
            let path = agent.suite.source().path().to_owned();
            let (own, all) = shares.entry(path).or_default();
            *all += agent.runs();
            if self.shard.holds(&agent.case()) {
                *own += agent.runs();
            }
        }
        shares
    }

    /// What is said where there is nothing to judge.
    pub(super) fn without_case(&self, all: usize) -> String {
        let cases = mcptest_trace::text::pluralize(all, "case");
        format!(
            "note: no case of the shard {} was chosen; there are {cases} in all shards",
            self.shard
        )
    }
}
