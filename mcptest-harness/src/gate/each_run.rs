//! Gates that judge one run at a time: they hold only if they hold for every run.

use std::any::Any;
use std::collections::BTreeSet;

use serde_json::Value;

use super::limit::Limit;
use super::{
    Breach, Counts, Criterion, EachRun, Input, Judgement, RunVerdict, Scores, asked_causes, causes,
    defaults, findings, metric_breaches,
};
use crate::eval::Metrics;
use crate::render::{Evidence, Failure};
use crate::trace::Run;
use mcptest_trace::text::run_numbers;

/// How many different pieces of evidence are shown in full.
const SHOWN: usize = 3;

/// What a run breaks, nothing when it passes.
struct JudgedRun<R> {
    breaches: Vec<Breach>,
    /// Its report with the numbers of that.
    scored: Option<(R, Value)>,
    /// Whether `expect:` or the defaults were asked of it.
    judged: bool,
}

/// Judges by a gate that judges one run at a time.
#[derive(Debug)]
pub(super) struct EachRunCriterion<G> {
    pub(super) gate: G,
    /// What its options allow at most.
    pub(super) limits: Vec<Limit>,
}

impl<G: EachRun> EachRunCriterion<G> {
    fn judge_run(&self, input: &Input<'_>, run: &Run) -> JudgedRun<G::Report> {
        let scored = match self.gate.score(input, run) {
            Ok(scored) => scored,
            Err(breach) => {
                return JudgedRun {
                    breaches: vec![*breach],
                    scored: None,
                    judged: false,
                };
            }
        };
        let mut breaches = scored.breaches;
        let metrics = scored.report.metrics();
        let targets = <G::Report as Metrics>::TARGETS;
        let limits = self.limits.iter();
        breaches.extend(limits.filter_map(|limit| limit.breach(targets, &metrics)));
        if scored.judged {
            breaches.extend(metric_breaches(input, &metrics, self.gate.defaults()));
        }
        JudgedRun {
            breaches,
            scored: Some((scored.report, metrics)),
            judged: scored.judged,
        }
    }

    /// The evidence of the broken runs; runs that show the same are shown together.
    fn evidence(&self, input: &Input<'_>, broken: &[(usize, Option<G::Report>)]) -> Vec<Evidence> {
        let reports: Vec<(usize, &G::Report)> = broken
            .iter()
            .filter_map(|(index, report)| Some((*index, report.as_ref()?)))
            .collect();
        let common = self.gate.explain_all(input, &reports);
        if !common.is_empty() {
            return common;
        }
        let mut groups: Vec<(Vec<usize>, Vec<Evidence>)> = Vec::new();
        for (index, report) in broken {
            let explain = |report| self.gate.explain(input, &input.runs[*index], report);
            let shown = report.as_ref().map(explain).unwrap_or_default();
            match groups.iter_mut().find(|(_, known)| *known == shown) {
                Some((runs, _)) => runs.push(*index),
                None => groups.push((vec![*index], shown)),
            }
        }
        let left_out: usize = groups.iter().skip(SHOWN).map(|(runs, _)| runs.len()).sum();
        let mut evidence = Vec::new();
        for (runs, shown) in groups
            .into_iter()
            .take(SHOWN)
            .filter(|(_, shown)| !shown.is_empty())
        {
            if input.runs.len() > 1 {
                evidence.push(Evidence::Text(title(&runs, input.runs)));
            }
            evidence.extend(shown);
        }
        if left_out > 0 {
            let text = format!("… the evidence of {left_out} more runs is left out");
            evidence.push(Evidence::Text(text));
        }
        evidence
    }
}

impl<G: EachRun> Criterion for EachRunCriterion<G> {
    fn judge(&self, input: &Input<'_>) -> Judgement {
        let (mut breaches, mut broken, mut scores) = (Vec::new(), Vec::new(), Vec::new());
        let (mut run_verdicts, mut counts) = (Vec::new(), Counts::new());
        let (mut holding, mut unmet) = (Vec::new(), BTreeSet::new());
        let mut played = Vec::new();
        for (index, run) in input.runs.iter().enumerate() {
            let judged = self.judge_run(input, run);
            let found = judged.breaches;
            let (report, metrics) = judged.scored.unzip();
            scores.push(metrics.unwrap_or_default());
            run_verdicts.push(RunVerdict::judged(found.is_empty()));
            let counted = report.as_ref().map(|report| self.gate.counts(run, report));
            for (what, count) in counted.into_iter().flatten() {
                *counts.entry(what).or_default() += count;
            }
            let of_code = report.as_ref();
            played.extend(of_code.and_then(|report| self.gate.played_facts(input, run, report)));
            if found.is_empty() {
                holding.extend(report);
            } else {
                // Of a run that could not be judged nothing that was asked holds.
                unmet.extend(if judged.judged {
                    causes(&found)
                } else {
                    asked_causes(input, self.gate.defaults())
                });
                broken.push((index, report));
            }
            breaches.extend(found.into_iter().map(|breach| breach.in_run(index)));
        }
        if broken.is_empty() {
            breaches.extend(self.gate.breaches_across(input.runs, &holding));
        }
        let failure = (!breaches.is_empty()).then(|| Failure {
            findings: findings(&input.about(), breaches),
            evidence: self.evidence(input, &broken),
        });
        Judgement {
            notes: self.gate.note(input.runs, &scores).into_iter().collect(),
            scores: Scores::EachRun(scores),
            failure,
            run_verdicts,
            defaults: defaults(input, self.gate.defaults()),
            broken: unmet,
            counts,
            played,
            ..Judgement::default()
        }
    }

    fn broken_by(&self, input: &Input<'_>, run: usize) -> Option<Vec<Breach>> {
        Some(self.judge_run(input, &input.runs[run]).breaches)
    }

    fn explain(&self, input: &Input<'_>) -> Vec<Evidence> {
        let mut evidence = Vec::new();
        for (index, run) in input.runs.iter().enumerate() {
            evidence.push(Evidence::Text(title(&[index], input.runs)));
            match self.gate.score(input, run) {
                Ok(scored) => {
                    evidence.extend(self.gate.explain(input, run, &scored.report));
                    evidence.extend(self.gate.explain_rest(run, &scored.report));
                }
                Err(breach) => evidence.push(Evidence::Text(breach.found)),
            }
        }
        evidence
    }

    fn constant_targets(&self) -> Vec<(&'static str, &'static str)> {
        self.gate.constant_targets()
    }

    fn needs_results(&self) -> bool {
        self.gate.needs_results()
    }

    fn options(&self) -> &dyn Any {
        &self.gate
    }
}

/// Names the runs that show the same.
fn title(same: &[usize], runs: &[Run]) -> String {
    match same {
        [one] => format!("run {} ({}):", one + 1, runs[*one].origin),
        several => format!("runs {}:", run_numbers(several)),
    }
}
