//! What was found of a suite, as text and as data.

use mcptest::suite::gates::GateKind;
use mcptest_trace::evidence::calibrate::{
    AcrossCalibration, Alarms, Calibration, Discrimination, Line,
};
use mcptest_trace::stats::conformal::Share;
use serde::Serialize;
use serde_json::{Value, json};

use super::column::Column;
use super::is_informative;
use super::shared_lines::take_shared_lines;
use crate::outcome::OutcomeSource;
use crate::output::indent;
use crate::table::{cell, table};
use mcptest_trace::text::pluralize;

/// So few passed or failed runs say little of what tells them from the others.
const FEW: usize = 5;

/// What was found of a suite.
pub(crate) struct SuiteCalibration {
    pub(super) name: String,
    pub(super) outcome: OutcomeSource,
    /// The score that says whether a run passed, where one is asked.
    pub(super) score: Option<String>,
    /// How many runs that score says nothing of, and of how many.
    pub(super) without_score: Option<(usize, usize)>,
    pub(super) share: Share,
    /// An import made the suite of its runs.
    pub(super) is_first: bool,
    /// How many runs have a recorded outcome, and of how many, where the gates decide in their place.
    pub(super) passed_over: Option<(usize, usize)>,
    pub(super) each: Vec<(Column, Calibration)>,
    pub(super) together: Vec<(Column, AcrossCalibration)>,
    /// What the limits that tell anything do together.
    pub(super) joint: Alarms,
}

impl SuiteCalibration {
    /// Whether there is enough to judge: a limit keeps the share, or a target tells something.
    pub(super) fn is_enough(&self) -> bool {
        let says = |verdict| !matches!(verdict, Discrimination::NoPower | Discrimination::Unknown);
        let each = self.each.iter().any(|(_, found)| {
            says(found.power.verdict) || found.limit.is_some_and(|limit| limit.k > 0)
        });
        let mut together = self.together.iter().map(|(_, found)| found);
        each || together
            .any(|found| says(found.verdict) || found.limit.is_some_and(|limit| limit.enough))
    }

    /// What says whether a run passed, in words.
    fn describe_outcome(&self) -> String {
        let score = self.score.as_ref().map(|score| format!("by `{score}`"));
        score.unwrap_or_else(|| self.outcome.describe().to_owned())
    }

    pub(super) fn text(&self, values: bool) -> String {
        let mut text = format!(
            "suite {}: outcomes {}, {}\n",
            self.name,
            self.describe_outcome(),
            self.share
        );
        if let (Some((without, all)), Some(score)) = (self.without_score, &self.score) {
            let runs = pluralize(all, "run");
            text.push_str(&format!(
                "left out, because they have no `{score}`: {without} of {runs}\n"
            ));
        }
        if self.is_first {
            text.push_str(
                "`import` wrote this suite from recorded runs: its gates hold on these runs by design, and the numbers say nothing about runs to \
                 come; import newer runs, and calibrate again\n",
            );
        }
        if let Some((recorded, all)) = self.passed_over {
            text.push_str(&format!(
                "only {recorded} of {} have a recorded outcome; `--outcome recorded` uses only these runs\n",
                pluralize(all, "run")
            ));
        }
        let each = self
            .each
            .iter()
            .map(|(column, found)| (column, found.lines()));
        text.push_str(&render_blocks(each, values));
        let together = self.together.iter();
        let together = together.map(|(column, found)| (column, found.lines()));
        text.push_str(&render_blocks(together, values));
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
            let within = power.within;
            vec![
                found.target.measure().name.to_owned(),
                cell(power.over.map(|over| format!("{:.3}", over.area))),
                cell(within.map(|within| format!("{:.3} ({:.3})", within.area, within.p))),
                cell(found.limit.map(|limit| limit.rounded)),
                cell(found.check.as_ref().map(|check| {
                    let tally = check.tally;
                    format!(
                        "{}/{}, {}/{}",
                        tally.false_alarms, tally.passed, tally.catches, tally.failed
                    )
                })),
                power.verdict.as_str().to_owned(),
            ]
        }));
        let mut text = table(&rows);
        let telling = self
            .each
            .iter()
            .filter(|(_, found)| is_informative(found))
            .count();
        if telling > 1 {
            let Alarms {
                false_alarms,
                passed,
                catches,
                failed,
                ..
            } = self.joint;
            text.push_str(&format!(
                "the {telling} targets that separate runs, used together: {false_alarms} of {passed} passed runs stopped, {catches} of {failed} failed runs caught\n"
            ));
        }
        let apart = |(_, found): &(Column, Calibration)| {
            found.power.verdict == Discrimination::TellsRunsApart
        };
        let known = self
            .each
            .iter()
            .any(|(_, found)| found.power.verdict != Discrimination::Unknown);
        let most =
            |of: fn(&Calibration) -> usize| self.each.iter().map(|(_, found)| of(found)).max();
        let fewest = [
            (most(|it| it.passed), "passed"),
            (most(|it| it.failed), "failed"),
        ];
        for (runs, how) in fewest {
            if let Some(runs) = runs.filter(|runs| known && (1..FEW).contains(runs)) {
                text.push_str(&format!(
                    "only {} {how}: this alone can be the reason for `no power`\n",
                    pluralize(runs, "run")
                ));
            }
        }
        if known && !self.each.iter().any(apart) {
            text.push_str("no target separates passed runs from failed runs of the same agent here: write gates that check calls, arguments and results\n");
        }
        text
    }

    /// What was found of each target: of those of a run, and of those of all runs together.
    fn findings(&self) -> [Vec<TargetFinding>; 2] {
        let each = self.each.iter();
        let together = self.together.iter();
        [
            each.map(|(column, found)| TargetFinding::new(column, found.text(), found))
                .collect(),
            together
                .map(|(column, found)| TargetFinding::new(column, found.text(), found))
                .collect(),
        ]
    }

    /// What a page shows: everything but the values of runs.
    pub(crate) fn page(&self) -> Value {
        let mut page = self.to_json_with(|told| {
            let mut target = told.data;
            target["values"] = Value::Null;
            target["text"] = told.text.into();
            target
        });
        page["outcomes"] = self.describe_outcome().into();
        page["promise"] = self.share.to_string().into();
        page
    }

    pub(super) fn json(&self) -> Value {
        self.to_json_with(|told| told.data)
    }

    fn to_json_with(&self, shown: impl Fn(TargetFinding) -> Value) -> Value {
        let shown = |told: Vec<TargetFinding>| told.into_iter().map(&shown).collect::<Vec<_>>();
        let [each, together] = self.findings().map(shown);
        json!({
            "suite": self.name,
            "outcome": self.score.as_deref().unwrap_or(self.outcome.as_str()),
            "without_score": self.without_score.map(|(without, all)| json!({ "runs": without, "of": all })),
            "share": self.share,
            "made_of_its_runs": self.is_first,
            "each_run": each,
            "together": together,
            "joint": {
                "targets": self.each.iter().filter(|(_, found)| is_informative(found)).map(|(_, found)| found.target.measure().name).collect::<Vec<_>>(),
                "left_out": self.joint,
            },
        })
    }
}

/// A block of lines for each target, below what most of the targets say alike.
fn render_blocks<'a>(found: impl Iterator<Item = (&'a Column, Vec<Line>)>, values: bool) -> String {
    let (columns, mut lines): (Vec<_>, Vec<_>) = found.unzip();
    let alike = take_shared_lines(&mut lines);
    let mut text = String::new();
    if !alike.is_empty() {
        text.push_str("\nfor each target, unless its own lines differ:\n");
        for line in alike {
            text.push_str(&format!("{line}\n"));
        }
    }
    for (column, lines) in columns.into_iter().zip(lines) {
        text.push('\n');
        for line in lines {
            text.push_str(&format!("{line}\n"));
        }
        if values {
            text.push_str(&indent(&column.values_table()));
        }
    }
    text
}

/// What was found of a target, as text and as data.
struct TargetFinding {
    text: String,
    data: Value,
}

impl TargetFinding {
    fn new(column: &Column, text: String, found: &impl Serialize) -> Self {
        let mut data = serde_json::to_value(found).unwrap_or_default();
        data["gate"] = column.gate.map_or("expect", GateKind::name).into();
        data["values"] = column.json();
        Self { text, data }
    }
}
