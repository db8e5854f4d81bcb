//! A calibration in words.

use super::{AcrossCalibration, Calibration, Discrimination, LeftOut, Limit};
use crate::evidence::conformal::{Share, promised};
use crate::text::counted;

impl Calibration {
    /// The two lines that stand as a comment above a written limit, without the `#`; nothing without
    /// a limit.
    #[must_use]
    pub fn comment(&self) -> Vec<String> {
        let (Some(limit), Some(check)) = (&self.limit, &self.check) else {
            return Vec::new();
        };
        let left_out = match check.left_out {
            LeftOut::Agent => "leave-one-agent-out",
            LeftOut::Run => "leave-one-run-out (one agent)",
        };
        let tally = check.tally;
        let within = self.power.within.map_or_else(String::new, |within| {
            format!(" (A_in {:.2}, p {:.2})", within.area, within.p)
        });
        let caught = match self.power.verdict {
            Discrimination::Unknown => Discrimination::Unknown.advice().to_owned(),
            verdict => format!(
                "{} of {} failed runs caught; {}{within}",
                tally.catches,
                tally.failed,
                verdict.as_str()
            ),
        };
        vec![
            format!(
                "calibrated on {} of {}: {} of passing runs promised ({} with 95% confidence);",
                counted(
                    limit.runs,
                    if self.outcomes_unknown {
                        "run"
                    } else {
                        "passed run"
                    }
                ),
                counted(limit.agents, "agent"),
                percent(limit.promised),
                percent(limit.confident),
            ),
            format!(
                "{left_out} {} of {} false alarms, {caught}",
                tally.false_alarms, tally.passed
            ),
        ]
    }

    /// All that is to be said of the target, one fact a line.
    #[must_use]
    pub fn text(&self) -> String {
        let mut lines = vec![format!("{}: {}", self.target.measure().name, self.values())];
        let power = &self.power;
        if let Some(over) = power.over {
            let interval = interval(over.interval);
            let within = power.within.map_or_else(String::new, |within| {
                format!(
                    ", within {} {:.3} (p {:.3})",
                    counted(within.agents, "agent"),
                    within.area,
                    within.p
                )
            });
            lines.push(format!("A {:.3}{interval}{within}", over.area));
        }
        let advice = match (power.verdict, power.over.and_then(|over| over.interval)) {
            (Discrimination::NoPower, None) => {
                "nothing tells passed runs from failed ones: do not gate on it"
            }
            (verdict, _) => verdict.advice(),
        };
        lines.push(format!("{}: {advice}", power.verdict.as_str()));
        match &self.limit {
            Some(limit) => lines.extend(self.of_limit(limit)),
            None if self.target.is_flag() => {
                lines.push("0 or 1: measured, not calibrated".to_owned());
            }
            None => lines.push("no limit: no run passed".to_owned()),
        }
        if let Some(check) = &self.check {
            let tally = check.tally;
            let interval = |found: Option<crate::energy::stats::Interval>| {
                found.map_or_else(String::new, |found| {
                    format!(" [{}, {}]", percent(found.low), percent(found.high))
                })
            };
            let left_out = match check.left_out {
                LeftOut::Agent => "agents left out one by one",
                LeftOut::Run => "one agent: runs left out one by one",
            };
            lines.push(format!(
                "{left_out}: {} of {} passed runs stopped{}, {} of {} failed runs caught{}",
                tally.false_alarms,
                tally.passed,
                interval(check.false_alarms),
                tally.catches,
                tally.failed,
                interval(check.catches),
            ));
        }
        for point in &self.curve {
            let seen = point.seen;
            lines.push(format!(
                "  at {}%: {}, {} of {} passed runs stopped, {} of {} failed runs caught",
                point.share,
                self.target.rounded(point.limit),
                seen.false_alarms,
                seen.passed,
                seen.catches,
                seen.failed
            ));
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    fn values(&self) -> String {
        let mut said = if self.outcomes_unknown {
            format!(
                "{}, whose outcomes are not known",
                counted(self.passed, "run")
            )
        } else {
            format!(
                "{} passed and {}",
                self.passed,
                counted(self.failed, "failed run")
            )
        };
        if self.without_value > 0 {
            said.push_str(&format!(", {} without a value", self.without_value));
        }
        if self.without_outcome > 0 && !self.outcomes_unknown {
            said.push_str(&format!(", {} without an outcome", self.without_outcome));
        }
        said
    }

    fn of_limit(&self, limit: &Limit) -> Vec<String> {
        let mut lines = Vec::new();
        let promise = format!(
            "limit {}: {} of passing runs of these agents, with 95% confidence {}",
            limit.rounded,
            percent(limit.promised),
            percent(limit.confident)
        );
        lines.push(promise);
        if limit.k == 0 {
            lines.push(too_few(limit.runs, limit.runs_needed, self.share));
        }
        lines.push(match limit.new_agents {
            Some(value) => format!(
                "for agents that are not in the suite: {}",
                self.target.rounded(value)
            ),
            None => "no promise for agents that are not in the suite".to_owned(),
        });
        lines
    }
}

impl AcrossCalibration {
    /// All that is to be said of the target, one fact a line.
    #[must_use]
    pub fn text(&self) -> String {
        let without = match self.without_value {
            0 => String::new(),
            without => format!(", {without} without a value"),
        };
        let mut lines = vec![format!(
            "{}: {}{without}",
            self.target.measure().name,
            counted(self.agents, "agent")
        )];
        if let Some(power) = self.power {
            let interval = interval(power.interval);
            lines.push(format!("C {:.3}{interval}", power.concordance));
        }
        lines.push(match self.verdict {
            Discrimination::NoPower => {
                "no power: the interval of C includes 0.5: do not gate on it".to_owned()
            }
            verdict => format!("{}: {}", verdict.as_str(), verdict.advice()),
        });
        if let Some(limit) = &self.limit {
            let kept = percent(limit.promised);
            lines.push(format!(
                "limit {}: {kept} of agents all of whose runs pass",
                limit.rounded
            ));
            if !limit.enough {
                let needed = limit.agents_needed.map_or_else(
                    || "no number promises all".to_owned(),
                    |needed| format!("you need {needed}"),
                );
                let agents = counted(limit.agents, "agent");
                lines.push(format!(
                    "too few: {agents} all of whose runs passed; {needed}"
                ));
            }
        } else if self.target.is_flag() {
            lines.push("0 or 1: measured, not calibrated".to_owned());
        } else {
            lines.push("no limit: of no agent all runs passed".to_owned());
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

/// An interval, or that there is none.
fn interval(found: Option<(f64, f64)>) -> String {
    match found {
        Some((low, high)) => format!(" [{low:.3}, {high:.3}]"),
        None => " (no interval)".to_owned(),
    }
}

/// What too few passing runs can promise.
fn too_few(runs: usize, needed: Option<u64>, share: Share) -> String {
    let most = percent(promised(runs, 0));
    let wanted = percent(share.value());
    match needed {
        Some(needed) => format!(
            "too few: {runs} passing runs can promise {most}, for {} you need {needed}",
            wanted
                .strip_suffix(".0%")
                .map_or(wanted.clone(), |whole| format!("{whole}%"))
        ),
        None => {
            format!("{runs} passing runs can promise {most}, and no number of runs all of them")
        }
    }
}

/// A share in percent, to one decimal.
fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}
