//! From a verdict to its data, and the scores of it as people read them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use mcptest_suite::{Source, Span};
use serde_json::Value;

use super::{
    Bound, FailureFacts, FindingFacts, Position, Recording, RunFacts, TargetResult, bounds, digest,
};
use crate::check::{Check, resolve};
use crate::eval::{Measure, Metrics as _, Prices, count_calls_with};
use crate::gate::{Cause, Judgement, Scores, value_at};
use crate::render::{Evidence, Failure};
use crate::trace::{Origin, Run};
use mcptest_trace::text::short_json;

/// The longest text that stands in a result as a value.
const LONG: usize = 200;

/// What asks, where it stands, and what the verdict says of it.
pub(crate) struct Asker<'a> {
    pub(crate) source: &'a Source,
    pub(crate) checks: &'a [Check],
    pub(crate) judgement: &'a Judgement,
}

impl Asker<'_> {
    /// Every target of a gate, in the order of its list.
    pub(crate) fn targets(&self, measures: &[Measure]) -> Vec<TargetResult> {
        let scores = &self.judgement.scores;
        let values: Vec<&Value> = match scores {
            Scores::None => return Vec::new(),
            Scores::EachRun(runs) => runs.iter().collect(),
            Scores::Together(all) => vec![all],
        };
        let each = matches!(scores, Scores::EachRun(_));
        let of_target = |measure: &Measure| {
            let of_run = |metrics: &&Value| value_at(metrics, measure.name).cloned();
            let found: Vec<Option<Value>> = values.iter().map(of_run).collect();
            let mut target = TargetResult {
                bounds: self.bounds(measure, &values),
                ..describe_measure(measure)
            };
            if each {
                target.per_run = found.into_iter().map(Option::unwrap_or_default).collect();
            } else {
                target.value = found.into_iter().next().flatten();
            }
            target
        };
        measures.iter().map(of_target).collect()
    }

    fn bounds(&self, measure: &Measure, values: &[&Value]) -> Vec<Bound> {
        let name = measure.name;
        let about = |(_, check): &(usize, &Check)| {
            let rest = check.target.text.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let checks = self.checks.iter().enumerate().filter(about);
        let checks = checks.map(|(index, check)| {
            let holds = self.holds(&Cause::Check(index));
            bounds::check_bound(check, holds, values, name, self.source)
        });
        let defaults = self.judgement.defaults.iter();
        let defaults = defaults.filter(|threshold| threshold.target == name);
        let defaults = defaults.map(|threshold| {
            bounds::threshold_bound(threshold, self.holds(&threshold.cause()), values)
        });
        checks.chain(defaults).collect()
    }

    fn holds(&self, asked: &Cause) -> bool {
        !self.judgement.broken.contains(asked)
    }

    /// What an agent's own assertions look at: the path of each, and what the recordings have there.
    pub(crate) fn expect_results(&self, runs: &[Run]) -> Vec<TargetResult> {
        let envelopes: Vec<&Value> = runs.iter().map(Run::envelope).collect();
        let of_check = |(index, check): (usize, &Check)| {
            let name = &check.target.text;
            let found = envelopes.iter().map(|envelope| {
                let found = resolve(&check.target, envelope).ok();
                found.map_or(Value::Null, |found| shorten(&found))
            });
            TargetResult {
                name: name.clone(),
                unit: "recorded".to_owned(),
                lowest: None,
                highest: None,
                better: "neither".to_owned(),
                meaning: "the recorded value".to_owned(),
                value: None,
                per_run: found.collect(),
                bounds: vec![bounds::check_bound(
                    check,
                    self.holds(&Cause::Check(index)),
                    &envelopes,
                    name,
                    self.source,
                )],
            }
        };
        self.checks.iter().enumerate().map(of_check).collect()
    }
}

fn describe_measure(measure: &Measure) -> TargetResult {
    TargetResult {
        name: measure.name.to_owned(),
        unit: measure.unit.as_str().to_owned(),
        lowest: Some(measure.lowest),
        highest: measure.highest,
        better: measure.better.as_str().to_owned(),
        meaning: measure.meaning.to_owned(),
        value: None,
        per_run: Vec::new(),
        bounds: Vec::new(),
    }
}

/// A value that is not long; of a long one its beginning, as text.
fn shorten(value: &Value) -> Value {
    let long = match value {
        Value::String(text) => text.len() > LONG,
        Value::Array(_) | Value::Object(_) => value.to_string().len() > LONG,
        _ => false,
    };
    if long {
        short_json(value).into()
    } else {
        value.clone()
    }
}

/// What runs were recorded in; their paths begin at the package's folder.
pub(crate) fn recordings<'r>(package: &Path, runs: &'r [Run]) -> Vec<Recording> {
    let mut last: Option<(&'r str, Vec<String>)> = None;
    let of_run = |run: &'r Run| {
        let Origin { shown, line, .. } = &run.origin;
        let known = last.take().filter(|(path, _)| path == shown);
        let (_, digests) = last.insert(known.unwrap_or_else(|| {
            let path = package.join(shown);
            (shown.as_str(), file_digests(&path, line.is_some()))
        }));
        let place = line.map_or(0, |line| line.wrapping_sub(1));
        Recording {
            path: shown.clone(),
            line: *line,
            // The file was read when its runs were; one that is gone since has no digest.
            digest: digests.get(place).cloned().unwrap_or_default(),
        }
    };
    runs.iter().map(of_run).collect()
}

/// The digests of what a file holds: of each line, or of the whole.
pub(crate) fn file_digests(path: &Path, by_line: bool) -> Vec<String> {
    let Ok(bytes) = fs::read(path) else {
        return Vec::new();
    };
    let of = |bytes: &[u8]| digest(&String::from_utf8_lossy(bytes));
    if by_line {
        let lines = bytes.split(|byte| *byte == b'\n');
        lines.map(|line| of(line.trim_ascii())).collect()
    } else {
        vec![of(&bytes)]
    }
}

/// The prompts of runs with their digests.
pub(crate) fn prompts(runs: &[Run]) -> BTreeMap<String, String> {
    let texts = runs.iter();
    let texts = texts.flat_map(|run| [&run.user_prompt, &run.system_prompt]);
    texts.map(|text| (digest(text), text.clone())).collect()
}

/// What a run did.
pub(crate) fn run_facts(run: &Run, prices: &Prices) -> RunFacts {
    let trace = &run.trace;
    let counts = count_calls_with(trace, &run.model, prices).metrics();
    let count = |name: &str| value_at(&counts, name).and_then(Value::as_f64);
    let recorded = |amount: u64| Some(amount).filter(|amount| *amount > 0);
    let stop_reason = trace.conversation.stop_reason.as_ref();
    let calls = trace.tool_calls.iter();
    let calls = calls.map(|call| digest(&format!("{} {}", call.name, call.arguments_json())));
    let results = trace.results_by_call();
    let errors = results.iter().flatten().filter(|result| result.is_error);
    RunFacts {
        passed: run.outcome.and_then(|outcome| outcome.passed),
        stop_reason: stop_reason.map(|reason| reason.as_str().to_owned()),
        tools: trace
            .tool_calls
            .iter()
            .map(|call| call.name.clone())
            .collect(),
        calls: calls.collect(),
        errors: u64::try_from(errors.count()).unwrap_or(u64::MAX),
        tokens: trace.tokens_taken(),
        model_calls: recorded(trace.model_calls()),
        ms: count("calls.ms"),
        usd: count("calls.usd"),
        recorded_on: run.recorded_on.clone(),
        prompt: digest(&run.user_prompt),
        system_prompt: digest(&run.system_prompt),
    }
}

/// Where a span begins.
pub(crate) fn to_position(source: &Source, span: Span) -> Position {
    let (line, column) = source.line_column(span.start);
    Position { line, column }
}

/// A failure as data.
pub(crate) fn failure_facts(failure: &Failure, text: String, source: &Source) -> FailureFacts {
    let findings = failure.findings.iter().map(|finding| {
        let problem = &finding.problem;
        let evidence = finding.evidence.iter().map(Evidence::to_plain_text);
        FindingFacts {
            message: problem.message.clone(),
            place: problem
                .primary
                .as_ref()
                .map(|label| to_position(source, label.span)),
            found: finding.found.clone(),
            notes: problem.notes.clone(),
            helps: problem.helps.clone(),
            evidence: evidence.collect(),
        }
    });
    FailureFacts {
        text,
        summary: failure.to_line(),
        command: None,
        findings: findings.collect(),
        evidence: failure
            .evidence
            .iter()
            .map(Evidence::to_plain_text)
            .collect(),
    }
}
