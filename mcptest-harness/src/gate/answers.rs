//! An agent's `answers:`: every entry was given in some run.

use mcptest_suite::Diagnostic;
use mcptest_suite::model::{OwnAnswer, OwnReply};
use serde_json::json;

use super::{Criterion, Input, Judgement};
use crate::record::answers_fingerprint;
use crate::render::Finding;
use crate::text::short_json;

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
                let found = match called {
                    0 => format!("no run calls `{tool}` as a tool of the agent's own"),
                    _ => "each call got an earlier answer, or does not fit".to_owned(),
                };
                let problem = Diagnostic::new(format!(
                    "no recorded run used this answer of `{tool}`: {}",
                    described(&entry.value)
                ));
                Finding::new(problem.label(entry.span, "never given").note(found).help(
                    "correct its `tool` and `when`, or remove it; then record the runs again",
                ))
            })
            .collect();
        findings.into()
    }
}

/// An entry in short.
fn described(entry: &OwnAnswer) -> String {
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
