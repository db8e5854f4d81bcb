//! An agent's `answers:`: every entry was given in some run.

use mcptest_suite::Diagnostic;
use mcptest_suite::model::{OwnAnswer, OwnReply};
use serde_json::{Value, json};

use super::{Criterion, Input, Judgement};
use crate::eval::subset;
use crate::record::answers_fingerprint;
use crate::render::Finding;
use crate::trace::Run;
use mcptest_trace::text::short_json;

/// What the suite answers in the place of an agent's own tools.
#[derive(Debug)]
pub(crate) struct Answers;

impl Criterion for Answers {
    /// An answer that no call got is no silent pass. Runs that were recorded with other answers are stale, and judged
    /// there.
    fn judge(&self, input: &Input<'_>) -> Judgement {
        let Some(declared) = answers_fingerprint(input.agent) else {
            return Judgement::default();
        };
        let given = input.runs.iter().map(|run| run.own_tools.answers.as_ref());
        let given: Vec<_> = given.collect();
        // What nobody noted is not known to be unused.
        if given.is_empty()
            || given
                .iter()
                .any(|given| given.is_none_or(|it| it.fingerprint != declared))
        {
            return Judgement::default();
        }
        let unused = input.agent.answers.iter().enumerate().filter(|(place, _)| {
            let used = |place: usize| {
                given
                    .iter()
                    .flatten()
                    .filter_map(move |it| it.used.get(place))
            };
            used(*place).all(|times| *times == 0)
        });
        let findings: Vec<Finding> = unused
            .map(|(_, entry)| {
                let tool = &entry.value.tool;
                let noted = input.runs.iter().flat_map(|run| &run.own_tools.calls);
                let called = noted.filter(|call| call.name == *tool).count();
                let found = match (called, nearest_call(&entry.value, input.runs)) {
                    (0, _) => format!("no run calls `{tool}` as a tool of the agent's own"),
                    (_, Some(args)) => format!(
                        "each call got an earlier answer, or does not fit; the nearest recorded call has {}",
                        short_json(&args)
                    ),
                    _ => "each call got an earlier answer, or does not fit".to_owned(),
                };
                let problem = Diagnostic::new(format!(
                    "no recorded run used this answer of `{tool}`: {}",
                    describe_entry(&entry.value)
                ));
                Finding::new(problem.label(entry.span, "never given").note(found).help(
                    "correct its `tool` and `when`, or remove it; then record the runs again",
                ))
            })
            .collect();
        findings.into()
    }
}

/// The arguments of the recorded call that fits most of what an entry asks for.
fn nearest_call(entry: &OwnAnswer, runs: &[Run]) -> Option<Value> {
    let calls = runs.iter().flat_map(|run| {
        let noted = run.own_tools.calls.iter();
        let noted = noted.filter(|call| call.name == entry.tool);
        noted.filter_map(|noted| run.trace.tool_calls.get(noted.call?))
    });
    let args = calls.map(|call| {
        let own = call.own.as_ref().and_then(|own| own.args.as_ref());
        own.unwrap_or(&call.args)
    });
    let missing = |args: &Value| {
        let when = entry.when.iter().flatten();
        let fits = |(key, wanted): &(&String, &Value)| {
            args.get(key.as_str())
                .is_some_and(|found| subset(wanted, found))
        };
        when.filter(|asked| !fits(asked)).count()
    };
    args.min_by_key(|args| missing(args)).cloned()
}

/// An entry in short.
fn describe_entry(entry: &OwnAnswer) -> String {
    let what = match &entry.reply {
        OwnReply::Result(value) => format!("result {}", short_json(value)),
        OwnReply::Error { kind, .. } => format!("error `{kind}`"),
        OwnReply::Run => "`run: true`".to_owned(),
    };
    match &entry.when {
        Some(when) => format!("{what}, when {}", short_json(&json!(when))),
        None => what,
    }
}
