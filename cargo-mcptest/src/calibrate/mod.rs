//! `cargo mcptest calibrate`: which threshold would have kept the good runs and caught the bad ones?
//!
//! - `values`: what each target is in each run;
//! - `write`: thresholds in the suites, in place;
//! - `slots`: the numbers of a suite that a threshold can take the place of.
//!
//! What is computed of the values is [`mcptest_trace::evidence::calibrate`].

mod slots;
mod values;
mod write;

use mcptest_suite::escape;
use mcptest_trace::evidence::calibrate::{
    AcrossCalibration, AgentScored, Calibration, Kind, Tally, Verdict, calibrate, calibrate_across,
    joint,
};
use mcptest_trace::evidence::conformal::Share;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::judging::{Filter, Opened};
use crate::outcome::Outcome;
use crate::output::{Format, Output};
use crate::package::Judging;
use crate::status::{EXIT_STATUS, Status};
use crate::table::table;
use values::{Column, SuiteValues};

/// The format of what is said, as JSON.
const FORMAT: &str = "calibrate/1.0";

/// Says of every numeric target whether it tells passed runs from failed ones, which threshold a share of
/// passing runs will meet, and what that would have caught.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Calibrate {
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    judging: Judging,
    #[command(flatten)]
    promise: Promise,
    /// Write the thresholds over the numbers that the suites have, in place.
    #[arg(long)]
    write: bool,
    /// Add gates as well, those that tell runs apart alone.
    #[arg(long, requires = "write")]
    add: bool,
    /// Show the values of every run.
    #[arg(long)]
    values: bool,
    /// How to say it.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What thresholds promise, and of which runs.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Promise {
    /// The share of future passing runs that a threshold shall keep, in percent.
    #[arg(long, value_name = "PERCENT", default_value_t = 95, value_parser = clap::value_parser!(u32).range(1..=100))]
    share: u32,
    /// Ask for that share of cases instead of runs: a case is green only if all its runs are.
    #[arg(long)]
    cases: bool,
    /// What says whether a run passed; the recordings where all do, else the gates.
    #[arg(long, value_enum)]
    outcome: Option<Outcome>,
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
        self,
        opened: &Opened,
        filter: &Filter,
        output: &mut Output<'_>,
    ) -> Result<Vec<SuiteFound>, Failure> {
        let agents = opened.suites.agents();
        if agents.iter().all(|test| !filter.wants(test.case())) {
            let names = agents.iter().map(mcptest::replay::AgentTest::case);
            return Err(filter.nothing(names));
        }
        let mut found = Vec::new();
        for suite in values::of(opened, filter) {
            for (agent, why) in &suite.unusable {
                writeln!(output.err, "left out: {agent}: {}", escape(why))?;
            }
            found.extend(self.calibrate(suite)?);
        }
        if found.is_empty() {
            return Err(Failure::cannot_tell("no run has a value to calibrate")
                .help("`cargo mcptest validate` says what is wrong with the recordings"));
        }
        Ok(found)
    }

    /// Nothing where a suite has no run with a value.
    fn calibrate(self, suite: SuiteValues) -> Result<Option<SuiteFound>, Failure> {
        let share = Share::percent(self.share)
            .ok_or_else(|| Failure::new("the share is 1 to 100 percent"))?;
        let share = if self.cases {
            share.of_cases(suite.most_runs())
        } else {
            share
        };
        let (recorded, all) = suite.recorded();
        let outcome = self.outcome.unwrap_or(if recorded == all {
            Outcome::Recorded
        } else {
            Outcome::Gates
        });
        let passed_over = self.outcome.is_none() && (1..all).contains(&recorded);
        let SuiteValues {
            name,
            columns,
            runs,
            ..
        } = suite;
        let (mut each, mut together) = (Vec::new(), Vec::new());
        for column in columns {
            let passed = runs.passed(outcome, &column.gate);
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
        let outcomes: Vec<Option<bool>> = runs.passed(outcome, "").concat();
        let telling: Vec<&Calibration> = each
            .iter()
            .map(|(_, found)| found)
            .filter(|found| tells(found))
            .collect();
        Ok(Some(SuiteFound {
            name,
            outcome,
            share,
            passed_over: passed_over.then_some((recorded, all)),
            joint: joint(&outcomes, &telling),
            each,
            together,
        }))
    }
}

/// What was found of a suite.
pub(crate) struct SuiteFound {
    name: String,
    outcome: Outcome,
    share: Share,
    /// How many runs have a recorded outcome, and of how many, where the gates decide in their place.
    passed_over: Option<(usize, usize)>,
    each: Vec<(Column, Calibration)>,
    together: Vec<(Column, AcrossCalibration)>,
    /// What the limits that tell anything do together.
    joint: Tally,
}

impl Calibrate {
    pub(crate) fn run(&self, output: &mut Output<'_>) -> Result<Status, Failure> {
        let opened = Opened::whole(&self.judging, output)?;
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
        self.say(&opened, &found, written.as_deref(), output)?;
        Ok(Status::Holds)
    }

    fn say(
        &self,
        opened: &Opened,
        found: &[SuiteFound],
        written: Option<&[write::Written]>,
        output: &mut Output<'_>,
    ) -> Result<(), Failure> {
        match self.format {
            Format::Json => output.json(&json!({
                "format": FORMAT,
                "package": opened.package.name,
                "harness": opened.package.versions.json(),
                "suites": found.iter().map(SuiteFound::json).collect::<Vec<_>>(),
                "written": written.map(|written| written.iter().map(write::Written::json).collect::<Vec<_>>()),
            }))?,
            Format::Text => {
                for suite in found {
                    writeln!(output.out, "{}", escape(&suite.text(self.values)))?;
                }
                for change in written.into_iter().flatten() {
                    writeln!(output.out, "{}", escape(&change.to_string()))?;
                }
                if written.is_some_and(<[write::Written]>::is_empty) {
                    writeln!(output.out, "nothing was written: the suites have no number that a threshold could take the place of")?;
                }
            }
        }
        Ok(())
    }
}

/// Whether a limit says anything about runs or agents.
fn tells(found: &Calibration) -> bool {
    matches!(
        found.power.verdict,
        Verdict::TellsRunsApart | Verdict::TellsAgentsApartOnly
    ) && found.limit.is_some()
}

impl SuiteFound {
    fn text(&self, values: bool) -> String {
        let mut text = format!(
            "suite {}: outcomes {}, {}\n",
            self.name,
            self.outcome.said(),
            self.share
        );
        if let Some((recorded, all)) = self.passed_over {
            text.push_str(&format!(
                "only {recorded} of {all} runs have a recorded outcome; `--outcome recorded` goes by these alone\n"
            ));
        }
        for (column, found) in &self.each {
            text.push_str(&format!("\n{}", found.text()));
            if values {
                text.push_str(&indented(&column.values_table()));
            }
        }
        for (column, found) in &self.together {
            text.push_str(&format!("\n{}", found.text()));
            if values {
                text.push_str(&indented(&column.values_table()));
            }
        }
        text.push_str(&format!("\n{}", self.summary()));
        text
    }

    /// The targets that tell something in one table, and what they come to together.
    fn summary(&self) -> String {
        let mut rows = vec![
            [
                "target",
                "A",
                "A_in (p)",
                "limit",
                "left out: stopped, caught",
                "verdict",
            ]
            .map(str::to_owned)
            .to_vec(),
        ];
        rows.extend(self.each.iter().map(|(_, found)| {
            let power = &found.power;
            let number = |number: Option<f64>| {
                number.map_or_else(|| "-".to_owned(), |number| format!("{number:.3}"))
            };
            vec![
                found.target.name.clone(),
                number(power.over.map(|over| over.area)),
                power.within.map_or_else(
                    || "-".to_owned(),
                    |within| format!("{:.3} ({:.3})", within.area, within.p),
                ),
                found
                    .limit
                    .map_or_else(|| "-".to_owned(), |limit| limit.rounded.to_string()),
                found.check.as_ref().map_or_else(
                    || "-".to_owned(),
                    |check| {
                        let tally = check.tally;
                        format!(
                            "{}/{}, {}/{}",
                            tally.false_alarms, tally.passed, tally.catches, tally.failed
                        )
                    },
                ),
                power.verdict.as_str().to_owned(),
            ]
        }));
        let mut text = table(&rows);
        let telling = self.each.iter().filter(|(_, found)| tells(found)).count();
        if telling > 1 {
            let Tally {
                false_alarms,
                passed,
                catches,
                failed,
                ..
            } = self.joint;
            text.push_str(&format!(
                "the {telling} that tell something together: {false_alarms} of {passed} passed runs stopped, {catches} of {failed} failed runs caught\n"
            ));
        }
        let apart =
            |(_, found): &(Column, Calibration)| found.power.verdict == Verdict::TellsRunsApart;
        let known = self
            .each
            .iter()
            .any(|(_, found)| found.power.verdict != Verdict::Unknown);
        if known && !self.each.iter().any(apart) {
            text.push_str("no target tells a passed run from a failed run of the same agent here: ask for calls, arguments and results\n");
        }
        text
    }

    /// What a page shows: everything but the values of runs.
    pub(crate) fn page(&self) -> Value {
        let mut page = self.json();
        for (list, texts) in [
            (
                "each_run",
                self.each
                    .iter()
                    .map(|(_, found)| found.text())
                    .collect::<Vec<_>>(),
            ),
            (
                "together",
                self.together
                    .iter()
                    .map(|(_, found)| found.text())
                    .collect(),
            ),
        ] {
            let targets = page[list].as_array_mut().into_iter().flatten();
            for (target, text) in targets.zip(texts) {
                target["values"] = Value::Null;
                target["text"] = text.into();
            }
        }
        page["outcomes"] = self.outcome.said().into();
        page["promise"] = self.share.to_string().into();
        page
    }

    fn json(&self) -> Value {
        let each = self.each.iter().map(|(column, found)| {
            let mut value = serde_json::to_value(found).unwrap_or_default();
            value["gate"] = column.gate.as_str().into();
            value["values"] = column.json();
            value
        });
        let together = self.together.iter().map(|(column, found)| {
            let mut value = serde_json::to_value(found).unwrap_or_default();
            value["gate"] = column.gate.as_str().into();
            value["values"] = column.json();
            value
        });
        json!({
            "suite": self.name,
            "outcome": self.outcome.as_str(),
            "share": self.share,
            "each_run": each.collect::<Vec<_>>(),
            "together": together.collect::<Vec<_>>(),
            "joint": {
                "targets": self.each.iter().filter(|(_, found)| tells(found)).map(|(_, found)| &found.target.name).collect::<Vec<_>>(),
                "left_out": self.joint,
            },
        })
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// A number as a suite has it.
fn written_number(number: f64, kind: Kind) -> String {
    match kind {
        Kind::Count => format!("{number:.0}"),
        _ => number.to_string(),
    }
}
