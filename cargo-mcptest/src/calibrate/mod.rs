//! `cargo mcptest calibrate`: which threshold would have kept the good runs and caught the bad ones?
//!
//! - `column`: a target and its values;
//! - `values`: what each target is in each run;
//! - `scores`: the scores of others among them;
//! - `found`: what was found, as text and as data;
//! - `write`: thresholds in the suites, in place;
//! - `slots`: the numbers of a suite that a threshold can take the place of.
//!
//! What is computed of the values is [`mcptest_trace::evidence::calibrate`].

mod column;
mod findings;
mod scores;
mod shared_lines;
mod slots;
mod values;
mod write;

use mcptest::command::command_line;
use mcptest_suite::escape;
use mcptest_suite::model::Suite;
use mcptest_trace::evidence::calibrate::{
    AgentScored, Calibration, Discrimination, calibrate, calibrate_across, joint,
};
use mcptest_trace::stats::conformal::Share;
use serde_json::json;

use crate::failure::Failure;
use crate::import::is_first_suite;
use crate::judging::{Filter, OpenPackage};
use crate::outcome::{OutcomeRequest, OutcomeSource};
use crate::output::{Output, OutputFormat};
use crate::package::Judging;
use crate::status::{EXIT_STATUS, ExitStatus};
pub(crate) use findings::SuiteCalibration;
use values::SuiteValues;

/// The format of what is said, as JSON.
const FORMAT: &str = "calibrate/2.0";

/// Suggests thresholds for gates from your recordings.
///
/// Example: `cargo mcptest calibrate`
///
/// Each numeric target has a row. The row says three things. Does the target separate passed runs from failed runs? Which
/// threshold will 95% of passing runs meet? How many of the failed runs would that threshold have caught?
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Calibrate {
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    judging: Judging,
    #[command(flatten)]
    promise: Promise,
    /// Write the suggested thresholds into the suites, in the place of the numbers there.
    #[arg(long)]
    write: bool,
    /// Also add gates that the suites do not have. Only gates that separate passed runs from failed runs are added.
    #[arg(long, requires = "write")]
    add: bool,
    /// Show the value of each run.
    #[arg(long)]
    values: bool,
    /// The format of the output.
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// What thresholds promise, and of which runs.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Promise {
    /// How many of the future passing runs a threshold must let through, in percent.
    #[arg(long, value_name = "PERCENT", default_value_t = 95, value_parser = clap::value_parser!(u32).range(1..=100))]
    share: u32,
    /// Count cases instead of runs. A case is green only if all its runs are green.
    #[arg(long)]
    cases: bool,
    /// What decides whether a run passed: `recorded`, `gates`, or a recorded score: `scores.NAME` uses the score's own
    /// verdict, `scores.NAME>=4` or `scores.NAME<=2` its value. Without this option: the recorded outcomes, if
    /// every recording has one; else the gates.
    #[arg(long, value_parser = OutcomeRequest::parse)]
    outcome: Option<OutcomeRequest>,
}

impl Default for Promise {
    fn default() -> Self {
        Self {
            share: 95,
            cases: false,
            outcome: None,
        }
    }
}

impl Promise {
    /// What the suites' runs say; of agents that a filter wants.
    pub(crate) fn suites(
        &self,
        opened: &OpenPackage,
        filter: &Filter,
        output: &mut Output<'_>,
    ) -> Result<Vec<SuiteCalibration>, Failure> {
        let agents = opened.suites.agents();
        if agents.iter().all(|test| !filter.wants(test.case())) {
            let names = agents.iter().map(mcptest::judge::AgentTest::case);
            return Err(filter.no_match(names));
        }
        let mut found = Vec::new();
        let score = self.outcome.as_ref().and_then(OutcomeRequest::score);
        for suite in values::read_suites(opened, filter, score) {
            for (agent, why) in &suite.unusable {
                writeln!(output.err, "left out: {agent}: {}", escape(why))?;
            }
            let first = |(name, it): (&str, &Suite)| name == suite.name && is_first_suite(it);
            let is_first = opened.suites.suites().any(first);
            found.extend(self.calibrate(suite, is_first)?);
        }
        if found.is_empty() {
            return Err(
                Failure::inconclusive("no run has a value to calibrate").with_help(format!(
                    "`{}` says what is wrong with the recordings",
                    command_line("validate")
                )),
            );
        }
        Ok(found)
    }

    /// Nothing where a suite has no run with a value.
    fn calibrate(
        &self,
        suite: SuiteValues,
        is_first: bool,
    ) -> Result<Option<SuiteCalibration>, Failure> {
        let share = Share::percent(self.share)
            .ok_or_else(|| Failure::new("the share is 1 to 100 percent"))?;
        let share = if self.cases {
            share.for_cases(suite.most_runs())
        } else {
            share
        };
        let (recorded, all) = suite.recorded_outcomes();
        let unasked = if recorded == all {
            OutcomeSource::Recorded
        } else {
            OutcomeSource::Gates
        };
        let asked = self.outcome.as_ref();
        let outcome = asked.map_or(unasked, OutcomeRequest::source);
        let score = asked.and_then(OutcomeRequest::score);
        let passed_over = self.outcome.is_none() && (1..all).contains(&recorded);
        let SuiteValues {
            name,
            columns,
            runs,
            ..
        } = suite;
        let (mut each, mut together) = (Vec::new(), Vec::new());
        for column in columns {
            let passed = runs.passed(outcome, Some(column.gate));
            if column.each_run {
                let scored = column.scored(&passed);
                if scored.iter().any(|run| run.value.is_some()) {
                    let found = calibrate(&column.target, &scored, share);
                    each.push((column, found));
                }
            } else {
                let agents: Vec<AgentScored> = column.agents_scored(&passed);
                if agents.iter().any(|agent| agent.value.is_some()) {
                    let found = calibrate_across(&column.target, &agents, share);
                    together.push((column, found));
                }
            }
        }
        if each.is_empty() && together.is_empty() {
            return Ok(None);
        }
        let outcomes: Vec<Option<bool>> = runs.passed(outcome, None).concat();
        let telling: Vec<&Calibration> = each
            .iter()
            .map(|(_, found)| found)
            .filter(|found| is_informative(found))
            .collect();
        Ok(Some(SuiteCalibration {
            name,
            outcome,
            score: score.map(ToString::to_string),
            without_score: score
                .map(|_| (all - recorded, all))
                .filter(|(without, _)| *without > 0),
            share,
            is_first,
            passed_over: passed_over.then_some((recorded, all)),
            joint: joint(&outcomes, &telling),
            each,
            together,
        }))
    }
}

impl Calibrate {
    pub(crate) fn run(&self, output: &mut Output<'_>) -> Result<ExitStatus, Failure> {
        let opened = OpenPackage::open_whole(&self.judging, output)?;
        let found = self.promise.suites(&opened, &self.filter, output)?;
        let written = if self.write {
            let mut written = Vec::new();
            for suite in &found {
                written.extend(write::write(&opened, suite, self.add)?);
            }
            Some(written)
        } else {
            None
        };
        let status = if found.iter().any(SuiteCalibration::is_enough) {
            ExitStatus::Holds
        } else {
            ExitStatus::CannotTell
        };
        self.print(&opened, &found, written.as_deref(), status, output)?;
        Ok(status)
    }

    fn print(
        &self,
        opened: &OpenPackage,
        found: &[SuiteCalibration],
        written: Option<&[write::WriteOutcome]>,
        status: ExitStatus,
        output: &mut Output<'_>,
    ) -> Result<(), Failure> {
        match self.format {
            OutputFormat::Json => output.json(&json!({
                "format": FORMAT,
                "package": opened.package.name,
                "harness": opened.package.versions.json(),
                "suites": found.iter().map(SuiteCalibration::json).collect::<Vec<_>>(),
                "written": written,
                "exit_status": status as u8,
            }))?,
            OutputFormat::Text => {
                for suite in found {
                    writeln!(output.out, "{}", escape(&suite.text(self.values)))?;
                }
                for change in written.into_iter().flatten() {
                    writeln!(output.out, "{}", escape(&change.said))?;
                }
                if written.is_some_and(<[write::WriteOutcome]>::is_empty) {
                    writeln!(
                        output.out,
                        "nothing was written: the suites have no number that a threshold could replace"
                    )?;
                }
                if let (ExitStatus::CannotTell, Some(suite)) = (status, found.first()) {
                    writeln!(
                        output.out,
                        "cannot tell: no limit keeps {}, and no target separates passed runs from failed runs. Exit status 3.",
                        suite.share
                    )?;
                }
            }
        }
        Ok(())
    }
}

/// Whether a limit says anything about runs or agents.
fn is_informative(found: &Calibration) -> bool {
    matches!(
        found.power.verdict,
        Discrimination::TellsRunsApart | Discrimination::TellsAgentsApartOnly
    ) && found.limit.is_some()
}
