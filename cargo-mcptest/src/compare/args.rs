//! How two sides are compared: the options that `compare` and a report share.

use mcptest_trace::evidence::compare::{CompareOptions, CostKind, Metric};

use crate::outcome::OutcomeRequest;
use crate::percent::{parse_percent, parse_rise};

/// How two sides are compared: the same for `compare` and for a report.
#[derive(Debug, Clone, clap::Args)]
#[group(id = "how", requires = "baseline", multiple = true)]
#[command(next_help_heading = "Options of the comparison")]
pub(crate) struct ComparisonArgs {
    /// What decides whether a run passed: `recorded`, `gates`, or a recorded score: `scores.NAME` uses the score's own
    /// verdict, `scores.NAME>=4` or `scores.NAME<=2` its value. Without this option: the recorded outcomes of an
    /// agent, if all its runs on both sides have one; else the gates.
    #[arg(long, value_parser = OutcomeRequest::parse)]
    pub(super) outcome: Option<OutcomeRequest>,
    /// What a run costs.
    #[arg(long, value_enum, default_value_t)]
    cost: CostOf,
    /// Pair agents by name, even if their models differ.
    #[arg(long)]
    pub(super) across_models: bool,
    /// The smallest drop of an agent's pass rate that counts, in percentage points.
    #[arg(long, value_name = "POINTS", default_value_t = 10.0, value_parser = parse_percent)]
    margin: f64,
    /// The smallest drop of the mean pass rate of all agents that counts, in percentage points.
    #[arg(long, value_name = "POINTS", default_value_t = 5.0, value_parser = parse_percent)]
    suite_margin: f64,
    /// The smallest rise of the cost that counts, in percent.
    #[arg(long, value_name = "PERCENT", default_value_t = 20.0, value_parser = parse_rise)]
    cost_margin: f64,
    /// What turns the comparison red.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [FailOn::Outcomes, FailOn::Cost])]
    fail_on: Vec<FailOn>,
    /// Agents of the baseline that no suite asks for any more were removed on purpose. Without this option the status
    /// is 3 if there are any.
    #[arg(long)]
    pub(super) allow_gone: bool,
    /// Fail unless the comparison shows that the suite is no worse.
    #[arg(long, value_enum)]
    require: Option<Require>,
    /// With `pass`: the exit status is 0 in all cases in which the comparison cannot tell, and the output says so.
    #[arg(long, value_enum)]
    inconclusive: Option<Inconclusive>,
    /// The seed of the permutation tests.
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// What a run costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum CostOf {
    /// Tokens.
    #[default]
    Tokens,
    /// Model calls.
    Steps,
    /// Tool calls.
    Calls,
    /// Milliseconds. One machine must have recorded all runs.
    Ms,
    /// US dollars, if the suites have `prices`.
    Usd,
}

/// What turns a comparison red.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FailOn {
    Outcomes,
    Cost,
    Behaviour,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
enum Require {
    NotWorse,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Inconclusive {
    Pass,
}

impl ComparisonArgs {
    pub(super) fn options(&self) -> CompareOptions {
        let metric = |fails: &FailOn| match fails {
            FailOn::Outcomes => Metric::Outcomes,
            FailOn::Cost => Metric::Cost,
            FailOn::Behaviour => Metric::Behaviour,
        };
        CompareOptions::default()
            .with_margin(self.margin)
            .with_suite_margin(self.suite_margin)
            .with_cost_margin(self.cost_margin)
            .with_fail_on(self.fail_on.iter().map(metric))
            .with_cost(self.cost.kind())
            .with_allow_gone(self.allow_gone)
            .with_require_not_worse(self.require.is_some())
            .with_inconclusive_passes(self.inconclusive.is_some())
            .with_seed(self.seed)
    }
}

impl CostOf {
    const fn kind(self) -> CostKind {
        match self {
            Self::Tokens => CostKind::Tokens,
            Self::Steps => CostKind::Steps,
            Self::Calls => CostKind::Calls,
            Self::Ms => CostKind::Ms,
            Self::Usd => CostKind::Usd,
        }
    }
}
