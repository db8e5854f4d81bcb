//! A calibration in words.

use std::fmt;

use super::{AcrossCalibration, Calibration, CurvePoint, Discrimination, LeftOut, Limit};
use crate::stats::conformal::{Share, promised_probability};
use crate::text::pluralize;

/// What a line of a calibration is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Topic {
    /// How many runs or agents have a value: the first line, which names the target.
    Values,
    /// How well the values tell passed runs from failed runs.
    Power,
    /// The verdict on that.
    Verdict,
    /// The limit.
    Limit,
    /// Why there is no limit.
    NoLimit,
    /// That the runs or agents are too few for the share that was asked for.
    TooFew,
    /// What the limit promises for agents that are not in the suite.
    NewAgents,
    /// What limits do that are made without one agent, or without one run.
    LeftOut,
    /// What limits for other shares are, and what they do.
    Curve,
}

/// One line of a calibration in words.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Line {
    /// What the line is about.
    pub topic: Topic,
    /// The words, without a line break.
    pub text: String,
}

impl Line {
    fn new(topic: Topic, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { topic, text }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

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
                pluralize(
                    limit.runs,
                    if self.outcomes_unknown {
                        "run"
                    } else {
                        "passed run"
                    }
                ),
                pluralize(limit.agents, "agent"),
                percent(limit.promised),
                percent(limit.confident),
            ),
            format!(
                "{left_out} {} of {} false alarms, {caught}",
                tally.false_alarms, tally.passed
            ),
        ]
    }

    /// All that is known of the target, one fact a line.
    #[must_use]
    pub fn text(&self) -> String {
        join_lines(&self.lines())
    }

    /// The lines of [`text`](Self::text). Targets of one suite often share a line, and a reader needs it once.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        let name = self.target.measure().name;
        let mut lines = vec![Line::new(
            Topic::Values,
            format!("{name}: {}", self.values_text()),
        )];
        let power = &self.power;
        if let Some(over) = power.over {
            let interval = interval_text(over.interval);
            let within = power.within.map_or_else(String::new, |within| {
                format!(
                    ", within {} {:.3} (p {:.3})",
                    pluralize(within.agents, "agent"),
                    within.area,
                    within.p
                )
            });
            let said = format!("A {:.3}{interval}{within}", over.area);
            lines.push(Line::new(Topic::Power, said));
        }
        let advice = match (power.verdict, power.over.and_then(|over| over.interval)) {
            (Discrimination::NoPower, None) => {
                "it does not separate passed runs from failed runs: do not gate on it"
            }
            (verdict, _) => verdict.advice(),
        };
        let said = format!("{}: {advice}", power.verdict.as_str());
        lines.push(Line::new(Topic::Verdict, said));
        match &self.limit {
            Some(limit) => lines.extend(self.limit_lines(limit)),
            None if self.target.is_flag() => lines.push(flag_line()),
            None => lines.push(Line::new(Topic::NoLimit, "no limit: no run passed")),
        }
        lines.extend(self.check_line());
        lines.extend(self.curve_lines());
        lines
    }

    fn check_line(&self) -> Option<Line> {
        let check = self.check.as_ref()?;
        let tally = check.tally;
        let interval = |found: Option<crate::stats::Interval>| {
            found.map_or_else(String::new, |found| {
                format!(" [{}, {}]", percent(found.low), percent(found.high))
            })
        };
        let left_out = match check.left_out {
            LeftOut::Agent => "agents left out one by one",
            LeftOut::Run => "one agent: runs left out one by one",
        };
        let said = format!(
            "{left_out}: {} of {} passed runs stopped{}, {} of {} failed runs caught{}",
            tally.false_alarms,
            tally.passed,
            interval(check.false_alarms),
            tally.catches,
            tally.failed,
            interval(check.catches),
        );
        Some(Line::new(Topic::LeftOut, said))
    }

    /// Shares side by side that have the same limit and do the same are one line.
    fn curve_lines(&self) -> impl Iterator<Item = Line> {
        let same = |one: &CurvePoint, other: &CurvePoint| {
            let [one_limit, other_limit] =
                [one, other].map(|point| self.target.rounded(point.limit));
            one_limit.total_cmp(&other_limit).is_eq() && one.seen == other.seen
        };
        self.curve.chunk_by(same).filter_map(|points| {
            let (first, last) = (points.first()?, points.last()?);
            let shares = if points.len() == 1 {
                format!("{}%", first.share)
            } else {
                format!("{}% to {}%", first.share, last.share)
            };
            let seen = first.seen;
            let said = format!(
                "  at {shares}: {}, {} of {} passed runs stopped, {} of {} failed runs caught",
                self.target.rounded(first.limit),
                seen.false_alarms,
                seen.passed,
                seen.catches,
                seen.failed
            );
            Some(Line::new(Topic::Curve, said))
        })
    }

    fn values_text(&self) -> String {
        let mut said = if self.outcomes_unknown {
            format!(
                "{}, whose outcomes are not known",
                pluralize(self.passed, "run")
            )
        } else {
            format!(
                "{} passed and {}",
                self.passed,
                pluralize(self.failed, "failed run")
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

    fn limit_lines(&self, limit: &Limit) -> Vec<Line> {
        let promise = format!(
            "limit {}: {} of passing runs of these agents, with 95% confidence {}",
            limit.rounded,
            percent(limit.promised),
            percent(limit.confident)
        );
        let too_few = || too_few_text(limit.runs, limit.runs_needed, self.share);
        let new_agents = match limit.new_agents {
            Some(value) => format!(
                "limit for agents that are not in the suite: {}",
                self.target.rounded(value)
            ),
            None => "no promise for agents that are not in the suite".to_owned(),
        };
        let lines = [
            Some(Line::new(Topic::Limit, promise)),
            (limit.k == 0).then(|| Line::new(Topic::TooFew, too_few())),
            Some(Line::new(Topic::NewAgents, new_agents)),
        ];
        lines.into_iter().flatten().collect()
    }
}

impl AcrossCalibration {
    /// All that is known of the target, one fact a line.
    #[must_use]
    pub fn text(&self) -> String {
        join_lines(&self.lines())
    }

    /// The lines of [`text`](Self::text).
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        let without = match self.without_value {
            0 => String::new(),
            without => format!(", {without} without a value"),
        };
        let name = self.target.measure().name;
        let said = format!("{name}: {}{without}", pluralize(self.agents, "agent"));
        let mut lines = vec![Line::new(Topic::Values, said)];
        if let Some(power) = self.power {
            let interval = interval_text(power.interval);
            let said = format!("C {:.3}{interval}", power.concordance);
            lines.push(Line::new(Topic::Power, said));
        }
        let verdict = match self.verdict {
            Discrimination::NoPower => {
                "no power: the interval of C includes 0.5: do not gate on it".to_owned()
            }
            verdict => format!("{}: {}", verdict.as_str(), verdict.advice()),
        };
        lines.push(Line::new(Topic::Verdict, verdict));
        if let Some(limit) = &self.limit {
            let kept = percent(limit.promised);
            let said = format!(
                "limit {}: {kept} of agents without a failed run",
                limit.rounded
            );
            lines.push(Line::new(Topic::Limit, said));
            if !limit.enough {
                let needed = limit.agents_needed.map_or_else(
                    || "no number of agents can promise all of them".to_owned(),
                    |needed| format!("you need {needed}"),
                );
                let agents = pluralize(limit.agents, "agent");
                let said = format!("too few: {agents} without a failed run; {needed}");
                lines.push(Line::new(Topic::TooFew, said));
            }
        } else if self.target.is_flag() {
            lines.push(flag_line());
        } else {
            let said = "no limit: every agent has a failed run";
            lines.push(Line::new(Topic::NoLimit, said));
        }
        lines
    }
}

fn join_lines(lines: &[Line]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn flag_line() -> Line {
    Line::new(Topic::NoLimit, "0 or 1: measured, not calibrated")
}

/// An interval, or that there is none.
fn interval_text(found: Option<(f64, f64)>) -> String {
    match found {
        Some((low, high)) => format!(" [{low:.3}, {high:.3}]"),
        None => " (no interval)".to_owned(),
    }
}

/// Says what a limit from too few passing runs can promise.
fn too_few_text(runs: usize, needed: Option<u64>, share: Share) -> String {
    let most = percent(promised_probability(runs, 0));
    let wanted = percent(share.value());
    match needed {
        Some(needed) => format!(
            "too few: {runs} passing runs can promise {most}, for {} you need {needed}",
            wanted
                .strip_suffix(".0%")
                .map_or(wanted.clone(), |whole| format!("{whole}%"))
        ),
        None => {
            format!(
                "{runs} passing runs can promise {most}, and no number of runs can promise all of them"
            )
        }
    }
}

/// A share in percent, to one decimal.
fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}
