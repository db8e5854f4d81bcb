//! What recording a suite may cost, kept across the threads and processes of one command.
//!
//! Before a model is called, the most that the call can cost is set aside; what it did cost
//! replaces that afterwards. So agents that are recorded at the same time cannot spend the same
//! cents. The count lives in the note of a lock file in the temporary folder, under the identity
//! of the command: nextest's run, else this process.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use mcptest_suite::model::Prices;
use mcptest_suite::model::{Model, Suite};
use mcptest_suite::{Shard, Spanned};

use super::prices::{Rates, rates};
use super::{LiveError, allows_over_budget, format_usd};
use mcptest_trace::record::store::{Layout, Lock, StoreError};

/// What this process may spend, where it records one shard of several.
static SHARES: OnceLock<Shares> = OnceLock::new();

struct Shares {
    shard: Shard,
    /// Of each suite: the runs of this shard, and those of all shards.
    runs: HashMap<PathBuf, (u64, u64)>,
}

/// Lets this process spend the share of its runs in the budget of each suite.
pub(crate) fn share_budgets(shard: Shard, runs: HashMap<PathBuf, (u64, u64)>) {
    SHARES.get_or_init(|| Shares { shard, runs });
}

/// The budget of a suite for a model.
#[derive(Debug)]
pub(crate) struct Budget {
    rates: Option<Rates>,
    /// The prices of models that only an agent's own code names.
    prices: Prices,
    cap: Option<Cap>,
}

#[derive(Debug)]
struct Cap {
    micro_usd: u64,
    span: mcptest_suite::Span,
    suite: PathBuf,
    /// The shard whose part of the budget it is.
    shard: Option<Shard>,
}

/// What was set aside for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SetAside(u64);

impl Budget {
    pub(crate) fn for_model(suite: &Suite, model: &Spanned<Model>) -> Result<Self, LiveError> {
        let rates = rates(&suite.prices, &model.value.id);
        let cents = suite.per_suite_usd_cents.as_ref();
        let cents = cents.filter(|_| !allows_over_budget());
        let cap = cents.zip(micro_usd_to_spend(suite));
        let cap = cap.map(|(cents, micro_usd)| Cap {
            micro_usd,
            span: cents.span,
            suite: suite.source.path().to_owned(),
            shard: SHARES.get().map(|shares| shares.shard),
        });
        if let (Some(cap), None) = (&cap, rates) {
            return Err(cap.unknown_price(&model.value.id));
        }
        Ok(Self {
            rates,
            prices: suite.prices.clone(),
            cap,
        })
    }

    /// Whether there is a most that may be spent.
    pub(crate) fn is_capped(&self) -> bool {
        self.cap.is_some()
    }

    /// The budget, for calls of another model of which an agent's own code asks.
    pub(crate) fn rates_for(&self, model: &str) -> Result<Option<Rates>, LiveError> {
        let rates = rates(&self.prices, model);
        match (&self.cap, rates) {
            (Some(cap), None) => Err(cap.unknown_price(model)),
            _ => Ok(rates),
        }
    }

    /// What some tokens cost, where the price is known.
    pub(crate) fn cost(&self, prompt: u64, completion: u64) -> Option<u64> {
        Some(self.rates?.micro_usd(prompt, completion))
    }

    /// Sets aside what a call costs at the most.
    pub(crate) fn set_cost_aside(&self, cost: u64) -> Result<SetAside, LiveError> {
        let Some(cap) = &self.cap else {
            return Ok(SetAside(0));
        };
        cap.change(|spent| {
            let after = spent.saturating_add(cost);
            if after <= cap.micro_usd {
                return Ok(after);
            }
            let help = match cap.shard {
                Some(shard) => format!(
                    "raise `per_suite_usd_cents`; ${} of it are for the runs of the shard {shard}",
                    format_usd(cap.micro_usd)
                ),
                None => "raise `per_suite_usd_cents`".to_owned(),
            };
            Err(LiveError::new(format!(
                "stopped before overspending: ${} of ${} are spent, and the next model call may cost ${}",
                format_usd(spent),
                format_usd(cap.micro_usd),
                format_usd(cost)
            ))
            .at(cap.span)
            .help(help))
        })?;
        Ok(SetAside(cost))
    }

    /// Puts what a call did cost in the place of what was set aside for it.
    pub(crate) fn settle(&self, aside: SetAside, cost: u64) -> Result<(), LiveError> {
        match &self.cap {
            Some(cap) => cap.change(|spent| Ok(spent.saturating_sub(aside.0).saturating_add(cost))),
            None => Ok(()),
        }
    }
}

impl SetAside {
    /// What was set aside, in millionths of a dollar.
    pub(crate) fn cost(self) -> u64 {
        self.0
    }

    /// An amount that was set aside, in millionths of a dollar.
    pub(crate) fn new(cost: u64) -> Self {
        Self(cost)
    }
}

impl Cap {
    fn unknown_price(&self, id: &str) -> LiveError {
        LiveError::new(format!(
            "`budget` cannot be enforced: the price of `{id}` is not known"
        ))
        .at(self.span)
        .help(format!(
            "add the price, in US dollars per million tokens: `prices: {{ {id}: {{ prompt: 1.5, completion: 6 }} }}`"
        ))
    }

    /// Changes what this command has spent on the suite.
    fn change(&self, change: impl FnOnce(u64) -> Result<u64, LiveError>) -> Result<(), LiveError> {
        let unusable = |error: StoreError| {
            LiveError::new(format!(
                "the amount spent cannot be saved: {}",
                error.problem()
            ))
            .help(error.help())
        };
        // Shards on one machine count each for itself.
        let end = self.shard.map_or_else(
            || "budget".to_owned(),
            |shard| format!("budget-{}-of-{}", shard.number(), shard.total()),
        );
        let own = Layout::Single(self.suite.with_extension(end));
        let mut lock = Lock::acquire(&own, || {}).map_err(unusable)?;
        let command = command_id();
        let note = lock.read_note().map_err(unusable)?;
        let spent = note
            .as_deref()
            .and_then(|note| note.strip_prefix(&command)?.trim().parse().ok())
            .unwrap_or(0);
        let after = change(spent)?;
        lock.write_note(&format!("{command} {after}"))
            .map_err(unusable)
    }
}

/// What this process may spend of the budget of a suite that has one.
pub(crate) fn micro_usd_to_spend(suite: &Suite) -> Option<u64> {
    let whole = suite.per_suite_usd_cents.as_ref()?;
    let whole = whole.value.saturating_mul(10_000);
    let Some(shares) = SHARES.get() else {
        return Some(whole);
    };
    let share = shares.runs.get(suite.source.path());
    Some(share_of(whole, share.copied().unwrap_or((0, 1))))
}

/// The part of a budget that some of all runs may spend, rounded down: together they spend no more than all of it.
fn share_of(whole: u64, (own, all): (u64, u64)) -> u64 {
    let part = u128::from(whole) * u128::from(own) / u128::from(all.max(1));
    u64::try_from(part).unwrap_or(whole)
}

/// What tells this command from others.
fn command_id() -> String {
    static STARTED: std::sync::OnceLock<u128> = std::sync::OnceLock::new();
    std::env::var("NEXTEST_RUN_ID").unwrap_or_else(|_| {
        let started = STARTED.get_or_init(|| {
            let now = std::time::SystemTime::now();
            let since = now.duration_since(std::time::UNIX_EPOCH);
            since.unwrap_or_default().as_nanos()
        });
        format!("{}-{started}", std::process::id())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_no_more_than_the_whole() {
        assert_eq!(
            [(1, 3), (1, 3), (1, 3)].map(|share| share_of(500_000, share)),
            [166_666; 3]
        );
        assert_eq!(share_of(500_000, (0, 3)), 0);
        assert_eq!(share_of(500_000, (3, 3)), 500_000);
        assert_eq!(share_of(u64::MAX, (7, 7)), u64::MAX);
        assert_eq!(share_of(10_000, (0, 0)), 0);
    }
}
