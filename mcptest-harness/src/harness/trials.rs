//! Cases as libtest-mimic's trials.

use std::sync::Arc;

use libtest_mimic::Trial;
use mcptest_suite::{Case, CaseKind, Style, SuitePath};

use super::agent_runs::AgentRuns;
use super::arguments::TestArguments;
use super::case;
use super::case_verdict::{CaseOutcome, Context};
use super::loaded::LoadedSuite;
use super::verdicts::{NotFailed, Verdicts};
use crate::result::folder;

/// A check written in Rust, shared by the cases it makes.
pub(super) type RustCheck = Arc<dyn Fn(&AgentRuns) -> Result<(), String> + Send + Sync>;

/// What all cases of a run share.
pub(super) struct Settings<'a> {
    pub(super) package: &'a str,
    pub(super) style: Style,
    pub(super) checks: &'a [(String, RustCheck)],
    pub(super) verdicts: &'a Verdicts,
}

impl Settings<'_> {
    /// A trial that is ignored whatever is asked for.
    pub(super) fn ignored_trial(&self, name: &str, reason: &str, asked: &TestArguments) -> Trial {
        let reason = mcptest_suite::escape_line(reason).into_owned();
        let trial = self.verdicts.trial(name, || Ok(NotFailed::Ignored(reason)));
        trial.with_ignored_flag(asked.arguments.list || asked.arguments.ignored)
    }

    /// What a case is judged in, by its full name.
    fn context(
        &self,
        name: &str,
        path: &SuitePath,
        suite: &LoadedSuite,
        case: &Case,
        asked: &TestArguments,
    ) -> Context {
        let agent = case.kind.subject();
        let agent = agent.map(|subject| format!("{path}::{}", suite.case_name(subject)));
        Context {
            name: name.to_owned(),
            agent: agent.unwrap_or_default(),
            suite: path.to_string(),
            ignored: case.ignored.is_some(),
            checked: !self.checks.is_empty(),
            told: asked.arguments.show_output,
            package: self.package.to_owned(),
            style: self.style,
        }
    }
}

/// The trial of a case of a suite, by its full name.
pub(super) fn trial(
    path: &SuitePath,
    name: &str,
    suite: &Arc<LoadedSuite>,
    case: &Case,
    asked: &TestArguments,
    run: &Settings<'_>,
) -> Trial {
    if asked.arguments.list {
        return listed_trial(name.to_owned(), case);
    }
    let context = run.context(name, path, suite, case, asked);
    let judged = case.clone();
    trial_unless_ignored(
        suite,
        case,
        asked,
        context,
        run.verdicts,
        move |suite, context| case::judge(suite, &judged, context),
    )
}

/// A trial that is only listed.
fn listed_trial(name: String, case: &Case) -> Trial {
    Trial::test(name, || Ok(())).with_ignored_flag(case.ignored.is_some())
}

/// A trial that is listed as ignored, with its reason, where the case is.
fn trial_unless_ignored(
    suite: &Arc<LoadedSuite>,
    case: &Case,
    asked: &TestArguments,
    context: Context,
    verdicts: &Verdicts,
    judge: impl FnOnce(&LoadedSuite, &Context) -> Result<CaseOutcome, String> + Send + 'static,
) -> Trial {
    let ignored = case.ignored.clone();
    let flagged = ignored.is_some() && asked.arguments.ignored;
    let run_anyway = asked.runs_ignored() && case.kind != CaseKind::Unsupported;
    let escaped = |reason: &str| mcptest_suite::escape_line(reason).into_owned();
    let name = context.name.clone();
    let (suite, case) = (Arc::clone(suite), case.clone());
    let verdict = move || match ignored {
        Some(reason) if !run_anyway => {
            folder::write_requested(|| case::ignored_result(&suite, &case, &context, &reason));
            Ok(NotFailed::Ignored(escaped(&reason)))
        }
        _ => Ok(match judge(&suite, &context)? {
            CaseOutcome::Holds(scores) => NotFailed::Holds(scores),
            CaseOutcome::Elsewhere(reason) | CaseOutcome::Undecided(reason) => {
                NotFailed::Ignored(escaped(&reason))
            }
        }),
    };
    verdicts.trial(&name, verdict).with_ignored_flag(flagged)
}

/// The case of a check on an agent test; nothing for a case that is no agent test.
pub(super) fn check_trial(
    path: &SuitePath,
    suite: &Arc<LoadedSuite>,
    case: &Case,
    asked: &TestArguments,
    run: &Settings<'_>,
    name: &str,
    check: &RustCheck,
) -> Option<Trial> {
    if !matches!(case.kind, CaseKind::Agent(_)) {
        return None;
    }
    let full = format!("{path}::{}::{name}", case.name);
    if asked.arguments.list {
        return Some(listed_trial(full, case));
    }
    let context = run.context(&full, path, suite, case, asked);
    let (checked, named, check) = (case.clone(), name.to_owned(), Arc::clone(check));
    let judge = move |suite: &LoadedSuite, context: &Context| {
        case::judge_check(suite, &checked, &named, &*check, context)
            .map(|()| CaseOutcome::Holds(None))
    };
    Some(trial_unless_ignored(
        suite,
        case,
        asked,
        context,
        run.verdicts,
        judge,
    ))
}
