//! What recording will cost, as the runs that are there did.

use std::collections::BTreeSet;
use std::fmt;

use super::ToRecord;
use super::work::Work;
use crate::record::{format_usd, rates};
use crate::trace::{Run, read_file};
use mcptest_suite::{escape_line, quoted_list};
use mcptest_trace::text::pluralize;
use mcptest_trace::text::with_thousands;

/// What some runs will cost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Cost {
    tokens: u64,
    /// Millionths of a dollar, of the runs whose model has a known price.
    pub(super) micro_usd: u64,
    /// How many runs the tokens are of, and how many the dollars.
    sized: usize,
    priced: usize,
    /// How many runs are of agents that have no recording which says its tokens.
    unknown: usize,
    /// The models whose price is not known.
    unpriced: BTreeSet<String>,
}

/// What one recorded run took.
#[derive(Clone, Copy)]
struct RunCost {
    tokens: u64,
    micro_usd: Option<u64>,
}

impl Cost {
    /// What is to be recorded of an agent: each run costs what the run costs that it replaces, and one that replaces none
    /// the mean of its agent.
    pub(super) fn new(asked: &ToRecord<'_>, work: &Work) -> Self {
        let mut cost = Self::default();
        if work.count() == 0 {
            return cost;
        }
        let model = &asked.agent.models[asked.model].value.id;
        let rates = rates(&asked.suite.prices, model);
        let taken = |run: &Run| -> Option<RunCost> {
            let tokens = run.trace.conversation.tokens;
            let sent_and_written = tokens.prompt.zip(tokens.completion);
            let micro_usd = rates
                .zip(sent_and_written)
                .map(|(rates, (prompt, completion))| rates.micro_usd(prompt, completion));
            Some(RunCost {
                tokens: run.trace.tokens_taken()?,
                micro_usd,
            })
        };
        let files = asked.own_lookup().files().unwrap_or_default().into_iter();
        let runs = files.flat_map(|(path, shown)| read_file(&path, &shown));
        let recorded: Vec<Option<RunCost>> = runs.map(|run| taken(&run.ok()?)).collect();
        let known: Vec<RunCost> = recorded.iter().flatten().copied().collect();
        let mean = RunCost {
            tokens: mean(known.iter().map(|one| one.tokens)).unwrap_or_default(),
            micro_usd: mean(known.iter().filter_map(|one| one.micro_usd)),
        };
        for place in run_indices(work, asked.agent.runs.value) {
            if known.is_empty() {
                cost.unknown += 1;
                continue;
            }
            let one = recorded.get(place).copied().flatten().unwrap_or(mean);
            cost.tokens = cost.tokens.saturating_add(one.tokens);
            cost.sized += 1;
            if let Some(micro_usd) = one.micro_usd.or(mean.micro_usd) {
                cost.micro_usd = cost.micro_usd.saturating_add(micro_usd);
                cost.priced += 1;
            }
        }
        if rates.is_none() {
            cost.unpriced.insert(model.clone());
        }
        cost
    }

    /// Whether anything is known of it.
    pub(super) fn is_known(&self) -> bool {
        self.sized > 0
    }

    /// The cost of both.
    pub(super) fn plus(mut self, other: &Self) -> Self {
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.micro_usd = self.micro_usd.saturating_add(other.micro_usd);
        self.sized += other.sized;
        self.priced += other.priced;
        self.unknown += other.unknown;
        self.unpriced.extend(other.unpriced.iter().cloned());
        self
    }
}

/// The places of the runs that are recorded, from 0. Which of all runs were left says little: the first are counted.
fn run_indices(work: &Work, declared: usize) -> Vec<usize> {
    match work {
        Work::Some { places, .. } => places.clone(),
        other => (declared - other.count().min(declared)..declared).collect(),
    }
}

/// The mean of some counts, rounded up; nothing of none.
fn mean(counts: impl Iterator<Item = u64>) -> Option<u64> {
    let counts: Vec<u64> = counts.collect();
    let all = counts
        .iter()
        .fold(0_u64, |all, one| all.saturating_add(*one));
    let count = u64::try_from(counts.len())
        .ok()
        .filter(|count| *count > 0)?;
    Some(all.div_ceil(count))
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.sized == 0 {
            return f.write_str(
                "; what they will cost is not known, as no recording of their agents says it",
            );
        }
        write!(
            f,
            ": about {} tokens",
            with_thousands(round_up(self.tokens))
        )?;
        if self.priced > 0 {
            write!(f, ", ${}", format_dollars(self.micro_usd))?;
        }
        f.write_str(" (as recorded before)")?;
        if self.unknown > 0 {
            let runs = pluralize(self.unknown, "run");
            write!(
                f,
                "; not counted: {runs} of agents without a recording that says it"
            )?;
        }
        if !self.unpriced.is_empty() {
            let models = self
                .unpriced
                .iter()
                .map(|model| escape_line(model).into_owned());
            let models: Vec<String> = models.collect();
            let models = quoted_list(models.iter().map(String::as_str));
            write!(f, "; no price is known for {models}")?;
        }
        Ok(())
    }
}

/// To two digits that say something.
fn round_up(count: u64) -> u64 {
    let mut unit = 1;
    while count / unit >= 100 {
        unit *= 10;
    }
    count.saturating_add(unit / 2) / unit * unit
}

/// Dollars and cents; small amounts to a hundredth of a cent. Rounded up.
fn format_dollars(micro: u64) -> String {
    if micro < 100_000 {
        return format_usd(micro);
    }
    let cents = micro.div_ceil(10_000);
    format!("{}.{:02}", with_thousands(cents / 100), cents % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_will_cost_is_said_with_what_is_not_known() {
        let cost = Cost {
            tokens: 31_449,
            micro_usd: 415_001,
            sized: 18,
            priced: 18,
            ..Cost::default()
        };
        assert_eq!(
            cost.to_string(),
            ": about 31,000 tokens, $0.42 (as recorded before)"
        );
        let more = Cost {
            tokens: 600,
            sized: 1,
            unknown: 4,
            unpriced: BTreeSet::from(["qwen3".to_owned()]),
            ..Cost::default()
        };
        assert_eq!(
            cost.plus(&more).to_string(),
            ": about 32,000 tokens, $0.42 (as recorded before); not counted: 4 runs of agents without a recording that says it; \
             no price is known for `qwen3`"
        );
        assert_eq!(
            more.to_string(),
            ": about 600 tokens (as recorded before); not counted: 4 runs of agents without a recording that says it; \
             no price is known for `qwen3`"
        );
        assert!(
            Cost::default()
                .to_string()
                .starts_with("; what they will cost is not known")
        );
    }

    #[test]
    fn amounts_are_short_and_no_number_is_too_large() {
        let counts = [0, 9, 99, 149, 150, 1_250, 30_999, u64::MAX].map(round_up);
        assert_eq!(counts[..7], [0, 9, 99, 150, 150, 1_300, 31_000]);
        assert!(counts[7] >= 18_000_000_000_000_000_000);
        assert_eq!(format_dollars(4_200), "0.0042");
        assert_eq!(format_dollars(12_345_678_901), "12,345.68");
        assert_eq!(mean([1, 2].into_iter()), Some(2));
        assert_eq!(mean([].into_iter()), None);
    }
}
