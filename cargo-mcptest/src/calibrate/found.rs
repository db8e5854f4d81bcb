//! What was found of a suite, as text and as data.

use mcptest_trace::evidence::calibrate::{AcrossCalibration, Calibration, Kind, Tally, Verdict};
use mcptest_trace::evidence::conformal::Share;
use serde_json::{Value, json};

use super::tells;
use super::values::Column;
use crate::outcome::Outcome;
use crate::table::table;

/// What was found of a suite.
pub(crate) struct SuiteFound {
    pub(super) name: String,
    pub(super) outcome: Outcome,
    pub(super) share: Share,
    /// How many runs have a recorded outcome, and of how many, where the gates decide in their place.
    pub(super) passed_over: Option<(usize, usize)>,
    pub(super) each: Vec<(Column, Calibration)>,
    pub(super) together: Vec<(Column, AcrossCalibration)>,
    /// What the limits that tell anything do together.
    pub(super) joint: Tally,
}

impl SuiteFound {
    pub(super) fn text(&self, values: bool) -> String {
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

    pub(super) fn json(&self) -> Value {
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
pub(super) fn written_number(number: f64, kind: Kind) -> String {
    match kind {
        Kind::Count => format!("{number:.0}"),
        _ => number.to_string(),
    }
}
