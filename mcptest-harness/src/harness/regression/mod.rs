//! `regression:`: did the agents get worse since the runs that are trusted?
//!
//! One case for the suite, which has the power that an agent with a few runs cannot have, and one for
//! each agent. An agent's case reads its own runs alone: how many agents share the chance of a false
//! red is told from the bytes of files. What is computed is
//! [`compare`](mcptest_trace::evidence::compare).

mod baseline;
mod error;
mod only_trusted;
pub(super) mod trusted;

use mcptest_suite::model::Regression;
use mcptest_suite::{Diagnostic, REGRESSION, Subject};
use mcptest_trace::evidence::compare::{
    AgentComparison, CompareOptions, Comparison, Decision, Metric, MetricFinding, Sides, compare,
    compare_agent,
};

use self::baseline::{Baseline, damaged_failure};
use super::case_verdict::{CaseVerdict, Conclusion, Context};
use super::loaded::LoadedSuite;
use crate::command::command_line;
use crate::render::{Evidence, Failure, Finding};

/// The verdict on the agents of a suite together.
pub(super) fn judge_suite(suite: &LoadedSuite, context: &Context) -> CaseVerdict {
    let Some(regression) = &suite.suite.regression else {
        return Conclusion::NotJudged("this suite has no `regression`".to_owned()).into();
    };
    let baseline = match Baseline::find(suite, context, regression) {
        Ok(baseline) => baseline,
        Err(failure) => return Conclusion::Fails(failure).into(),
    };
    let mut samples = Vec::new();
    for subject in suite
        .subjects()
        .filter(|subject| is_compared(suite, *subject))
    {
        match baseline.samples(subject) {
            Ok(of_agent) => samples.push(of_agent),
            Err(why) => {
                let agent = suite.agent(subject);
                let message = format!("the runs of `{}` cannot be compared", agent.name.value);
                let problem = Diagnostic::new(message).label(agent.name.span, "");
                let failure = Finding::new(problem).show(Evidence::Text(why.to_string()));
                return Conclusion::Fails(failure.into()).into();
            }
        }
    }
    match baseline.dropped_agents() {
        Ok(dropped) => samples.extend(dropped),
        Err(why) => return Conclusion::Fails(damaged_failure(regression, &why)).into(),
    }
    let options = compare_options(suite, regression, baseline.changed());
    let options = options.with_empty_baseline(baseline.when_empty());
    let comparison = compare(&samples, &options);
    let text = render_comparison(&comparison, suite, context);
    match suite_finding(&comparison) {
        Some((asks, found)) => failed_verdict(regression, &asks, &found, text),
        None => passed_verdict(&text),
    }
}

/// The verdict on one agent.
pub(super) fn judge_agent(suite: &LoadedSuite, subject: Subject, context: &Context) -> CaseVerdict {
    let Some(regression) = &suite.suite.regression else {
        return Conclusion::NotJudged("this suite has no `regression`".to_owned()).into();
    };
    let whole = format!("{}::{REGRESSION}", context.suite);
    let Ok(baseline) = Baseline::find(suite, context, regression) else {
        let reason = format!("not compared: the baseline cannot be used; see `{whole}`");
        return Conclusion::Elsewhere(reason).into();
    };
    let samples = match baseline.samples(subject) {
        Ok(samples) => samples,
        Err(why) => return Conclusion::NotJudged(format!("not compared: {why}")).into(),
    };
    let (before, now) = match samples.sides {
        Sides::Both {
            baseline,
            candidate,
        } => (baseline, candidate),
        Sides::Unchanged => {
            return Conclusion::Elsewhere("unchanged since the baseline".to_owned()).into();
        }
        Sides::NotComparable { differences } => {
            let first = differences.first().map_or("", String::as_str);
            let reason = format!("not comparable with the baseline: {first}; see `{whole}`");
            return Conclusion::Elsewhere(reason).into();
        }
        Sides::Gone => {
            let reason = format!(
                "gone: the baseline has this agent, and there is no recording of it now; see `{whole}`"
            );
            return Conclusion::Elsewhere(reason).into();
        }
        Sides::New | Sides::Dropped | Sides::Unrecorded => {
            return Conclusion::Elsewhere("new: the baseline has no runs of this agent".to_owned())
                .into();
        }
    };
    let options = compare_options(suite, regression, baseline.changed());
    let stem = suite.stem(subject);
    let comparison = compare_agent(&stem, &before, &now, &options);
    let verdict = comparison.verdict(&options);
    if comparison.regressed(&options) {
        let agent = &suite.agent(subject).name.value;
        let asks = format!("`{agent}` must be no worse than its baseline");
        return failed_verdict(regression, &asks, &verdict, String::new());
    }
    if let Some(met) = samples.met_change {
        let reason = format!(
            "cannot tell: {met} runs were recorded anew because they met a change, and the others were kept; see `{whole}`"
        );
        return Conclusion::Elsewhere(reason).into();
    }
    if let Some(lost) = samples.lost {
        let reason =
            format!("cannot tell: {lost} recordings of the baseline are gone; see `{whole}`");
        return Conclusion::Elsewhere(reason).into();
    }
    if comparison.needs_more_runs() && options.fail_on.contains(&Metric::Outcomes) {
        return Conclusion::Elsewhere(format!("{verdict}; see `{whole}`")).into();
    }
    if !comparison.could_tell(&options) {
        return Conclusion::Elsewhere(format!("cannot tell: {verdict}; see `{whole}`")).into();
    }
    passed_verdict(&verdict)
}

/// Whether an agent takes part.
pub(super) fn is_compared(suite: &LoadedSuite, subject: Subject) -> bool {
    let agent = suite.agent(subject);
    let skipped = agent
        .regression
        .as_ref()
        .is_some_and(|own| own.skip.is_some());
    !skipped && agent.skip.is_none()
}

fn compare_options(suite: &LoadedSuite, regression: &Regression, changed: usize) -> CompareOptions {
    let mut options = regression.options.clone();
    options.hypotheses = Some(changed);
    for subject in suite.subjects() {
        let own = suite.agent(subject).regression.as_ref();
        if let Some(margin) = own.and_then(|own| own.margin) {
            options.agent_margins.insert(suite.stem(subject), margin);
        }
    }
    options
}

/// The table, and whose own cases to see: this one judges the agents together. It is no command, and has
/// no exit status.
fn render_comparison(comparison: &Comparison, suite: &LoadedSuite, context: &Context) -> String {
    let mut table = comparison.render_agents();
    if !comparison.dropped.is_empty() {
        table.push_str(
            "\nif an agent was removed on purpose, remove its runs from the baseline too",
        );
    }
    let case_of = |agent: &AgentComparison| {
        let mut subjects = suite.subjects();
        let subject = subjects.find(|subject| suite.stem(*subject) == agent.agent)?;
        let own = suite.case_name(subject);
        Some(format!("{}::{own}::{REGRESSION}", context.suite))
    };
    let regressed = |agent: &&AgentComparison| agent.regressed(&comparison.options);
    let red: Vec<String> = comparison
        .agents
        .iter()
        .filter(regressed)
        .filter_map(case_of)
        .collect();
    match (red.as_slice(), comparison.agents.as_slice()) {
        ([], [only]) => {
            let own = case_of(only).unwrap_or_default();
            format!("{table}\ndecided in its own case: {own}")
        }
        ([], _) => table,
        ([one], _) => format!("{table}\nred in its own case: {one}"),
        _ => format!("{table}\nred in their own cases: {}", red.join(", ")),
    }
}

/// What the suite's own case fails for: what was asked, and what was found. What an agent alone comes
/// to is for its own case to say.
fn suite_finding(comparison: &Comparison) -> Option<(String, String)> {
    let suite = &comparison.suite;
    let metrics = comparison.options.fail_on.iter();
    let mut worse =
        metrics.filter(|metric| suite.finding(**metric) == Some(MetricFinding::Regressed));
    if let Some(metric) = worse.next() {
        let what = match metric {
            Metric::Outcomes => "the outcomes",
            Metric::Cost => "the cost",
            Metric::Behaviour => "the behaviour",
        };
        let asks = format!("{what} of the suite must be no worse than in the baseline");
        return Some((asks, "worse, see below".to_owned()));
    }
    match &comparison.decision {
        Decision::CannotTell {
            reason,
            allowed: false,
        } => Some((
            "the comparison must be able to detect a regression".to_owned(),
            format!("cannot tell: {reason}"),
        )),
        Decision::NotShown => Some((
            "the comparison must show that the suite is not worse".to_owned(),
            "it does not show this".to_owned(),
        )),
        _ => None,
    }
}

fn failed_verdict(regression: &Regression, asks: &str, found: &str, shown: String) -> CaseVerdict {
    let message = format!("`{REGRESSION}` does not hold: {asks}");
    let problem = Diagnostic::new(message)
        .label(regression.baseline.span, found)
        .help(format!(
            "if you want this change, make today's runs the baseline with `{}`",
            command_line("compare --accept <folder>")
        ));
    let finding = Finding::new(problem);
    let finding = if shown.is_empty() {
        finding
    } else {
        finding.show(Evidence::Text(shown))
    };
    Conclusion::Fails(Failure::from(finding)).into()
}

fn passed_verdict(text: &str) -> CaseVerdict {
    let mut verdict = CaseVerdict::from(Conclusion::Holds);
    verdict.judgement.notes.push(text.trim_end().to_owned());
    verdict
}
