//! What is said before anything is spent, and what then stops everything.

use std::collections::BTreeMap;
use std::path::Path;

use mcptest_suite::model::Suite;
use mcptest_suite::{Style, Subject, escape_line};
use mcptest_trace::record::say;
use mcptest_trace::text::pluralize;

use super::cost::Cost;
use super::plan::Plan;
use super::work::Work;
use super::{LiveRecording, to_failure};
use crate::harness::loaded::LoadedSuite;
use crate::record::{LiveError, Mode, format_usd};
use crate::render::Failure;

/// How many agents are named.
const NAMED: usize = 20;

/// An agent with its plan.
pub(crate) type Planned<'a> = (&'a LoadedSuite, Subject, Plan);

/// What comes next, after what was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// The plans are carried out.
    Record,
    /// Nothing: what it would cost was asked.
    Nothing,
}

impl LiveRecording {
    /// Says what will be recorded and what it will cost. An error stops everything.
    pub(crate) fn announce(&self, planned: &[Planned<'_>]) -> Result<Next, String> {
        let stops = planned
            .iter()
            .filter_map(|(suite, subject, plan)| match &plan.work {
                Work::Stops(failure) => Some(self.render_failure(suite, *subject, failure)),
                _ => None,
            });
        let stops: Vec<String> = stops.collect();
        if let Some(first) = stops.first() {
            return Err(format!(
                "{first}\n\nnothing was recorded, because the code of {} called no model",
                pluralize(stops.len(), "agent")
            ));
        }
        self.print_plans(planned);
        if let Some(over) = self.over_budget_error(planned) {
            let help = over.help.unwrap_or_default();
            return Err(format!("error: {}\n\nhelp: {help}", over.problem));
        }
        if !self.asked.dry_run {
            return Ok(Next::Record);
        }
        let fails = planned
            .iter()
            .filter_map(|(suite, subject, plan)| match &plan.work {
                Work::Fails(failure) => Some(self.render_failure(suite, *subject, failure)),
                _ => None,
            });
        let fails: Vec<String> = fails.take(NAMED).collect();
        if fails.is_empty() {
            Ok(Next::Nothing)
        } else {
            Err(fails.join("\n\n"))
        }
    }

    /// Says what will be recorded of one agent and what it will cost, where nobody sees the other agents. An error
    /// is a failure of the agent's cases.
    pub(super) fn announce_alone(
        &self,
        suite: &LoadedSuite,
        subject: Subject,
        plan: Plan,
    ) -> Result<Plan, Failure> {
        if let Work::Fails(failure) | Work::Stops(failure) = plan.work {
            return Err(failure);
        }
        if plan.work.count() == 0 && !self.asked.dry_run {
            return Ok(plan);
        }
        let agent = suite.agent(subject);
        let planned = [(suite, subject, plan)];
        self.print_plans(&planned);
        if let Some(over) = self.over_budget_error(&planned) {
            return Err(to_failure(agent, over));
        }
        if self.asked.dry_run {
            let help = "leave `MCPTEST_RECORD_DRY_RUN` out to record and to judge";
            let error = LiveError::new("not judged: this was a dry run").help(help);
            return Err(to_failure(agent, error));
        }
        let [(_, _, plan)] = planned;
        Ok(plan)
    }

    /// Says what will be recorded and what it will cost, and why.
    fn print_plans(&self, planned: &[Planned<'_>]) {
        let plans = planned.iter().map(|(_, _, plan)| plan);
        if let Some(line) = self.summary_line(plans) {
            say(&line);
            print_changes(planned);
        }
    }

    /// What will be recorded, and what it will cost; nothing where that is not worth a line.
    fn summary_line<'p>(&self, plans: impl Iterator<Item = &'p Plan> + Clone) -> Option<String> {
        let to_record: usize = plans.clone().map(|plan| plan.work.count()).sum();
        let declared: usize = plans.clone().map(|plan| plan.declared).sum();
        let cost = plans.fold(Cost::default(), |all, plan| all.plus(&plan.cost));
        let is_asked = self.asked.mode == Mode::Changed || self.asked.dry_run;
        if !is_asked && (to_record == 0 || !cost.is_known()) {
            return None;
        }
        let cost = if to_record == 0 {
            String::new()
        } else {
            cost.to_string()
        };
        Some(format!(
            "{to_record} of {} to record{cost}",
            pluralize(declared, "run")
        ))
    }

    /// Why a suite's budget does not allow what its agents will cost.
    fn over_budget_error(&self, planned: &[Planned<'_>]) -> Option<LiveError> {
        if self.asked.over_budget {
            return None;
        }
        let mut suites: BTreeMap<&Path, (&LoadedSuite, u64)> = BTreeMap::new();
        for (suite, _, plan) in planned {
            let entry = suites.entry(suite.source().path()).or_insert((suite, 0));
            entry.1 = entry.1.saturating_add(plan.cost.micro_usd);
        }
        let over = suites.values().find_map(|(suite, expected)| {
            let budget = budget(&suite.suite)?;
            (*expected > budget).then_some((suite, *expected, budget))
        });
        let (suite, expected, budget) = over?;
        let problem = format!(
            "nothing was recorded: the budget of {} is ${}, and recording its agents will cost about ${}",
            escape_line(suite.source().display_path()),
            format_usd(budget),
            format_usd(expected)
        );
        Some(LiveError::new(problem).help(
            "raise `per_suite_usd_cents`, choose fewer agents, or record all the same: `--over-budget` (`MCPTEST_RECORD_OVER_BUDGET=1`)",
        ))
    }

    /// Why an agent was not recorded, as it is shown outside of its cases.
    pub(crate) fn unrecorded(&self, suite: &LoadedSuite, subject: Subject) -> Option<String> {
        let failure = suite.unrecorded(subject)?;
        Some(self.render_failure(suite, subject, failure))
    }

    /// A failure of an agent as it is shown outside of its cases.
    fn render_failure(&self, suite: &LoadedSuite, subject: Subject, failure: &Failure) -> String {
        let rerun = suite.record_line(subject).in_mode(self.asked.mode);
        failure.render(suite.source(), &rerun, Style::Plain)
    }
}

/// Says of each agent that changed why.
fn print_changes(planned: &[Planned<'_>]) {
    let told = planned.iter().filter_map(|(suite, subject, plan)| {
        let agent = suite.agent(*subject);
        let mut name = escape_line(&agent.name.value).into_owned();
        if agent.models.len() > 1 {
            let model = &agent.models[subject.model].value.id;
            name = format!("{name} ({})", escape_line(model));
        }
        let runs = pluralize(plan.work.count(), "run");
        Some(format!("  `{name}`: {runs} ({})", plan.work.reason()?))
    });
    let told: Vec<String> = told.collect();
    for line in told.iter().take(NAMED) {
        say(line);
    }
    if let more @ 1.. = told.len().saturating_sub(NAMED) {
        say(&format!("  … and {}", pluralize(more, "more agent")));
    }
}
/// What may be spent of a suite's budget here, in millionths of a dollar.
#[cfg(feature = "session")]
fn budget(suite: &Suite) -> Option<u64> {
    crate::record::micro_usd_to_spend(suite)
}

/// Without the feature nothing is shared with other processes.
#[cfg(not(feature = "session"))]
fn budget(suite: &Suite) -> Option<u64> {
    let cents = suite.per_suite_usd_cents.as_ref()?;
    Some(cents.value.saturating_mul(10_000))
}
