//! Gates that fold all runs together.

use std::any::Any;

use super::{
    AllRuns, Breach, Criterion, Input, Judgement, Scores, causes, defaults, findings,
    metric_breaches,
};
use crate::eval::Metrics;
use crate::render::{Evidence, Failure};

/// Judges by a gate that folds all runs together.
#[derive(Debug)]
pub(super) struct AllRunsCriterion<G>(pub(super) G);

impl<G: AllRuns> Criterion for AllRunsCriterion<G> {
    fn judge(&self, input: &Input<'_>) -> Judgement {
        let fails = |breaches: Vec<Breach>, evidence: Vec<Evidence>| Failure {
            findings: findings(&input.about(), breaches),
            evidence,
        };
        let report = match self.0.report(input) {
            Ok(report) => report,
            Err(why) => return fails(why.breaches, why.evidence).into(),
        };
        let metrics = report.metrics();
        let thresholds = self.0.defaults(&report);
        let mut breaches = self.0.breaches(&report);
        breaches.extend(metric_breaches(input, &metrics, &thresholds));
        let broken = causes(&breaches);
        let failure =
            (!breaches.is_empty()).then(|| fails(breaches, self.0.explain(input, &report)));
        Judgement {
            scores: Scores::Together(metrics),
            failure,
            defaults: defaults(input, &thresholds),
            broken,
            counts: self.0.counts(input.runs, &report),
            notes: self.0.notes(input, &report),
            ..Judgement::default()
        }
    }

    fn explain(&self, input: &Input<'_>) -> Vec<Evidence> {
        match self.0.report(input) {
            Ok(report) => self.0.explain(input, &report),
            Err(why) => why.evidence,
        }
    }

    fn options(&self) -> &dyn Any {
        &self.0
    }
}
