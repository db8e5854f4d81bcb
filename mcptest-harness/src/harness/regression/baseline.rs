//! The runs that are trusted, and which agents have others now.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use mcptest_suite::model::{GateKind, Regression};
use mcptest_suite::{Diagnostic, Subject, escape_line, portable_path};
use mcptest_trace::evidence::compare::{AgentName, AgentSamples, CostKind, EmptyBaseline, Sides};

use super::error::BaselineError;
use super::is_compared;
use super::only_trusted::{
    OnlyTrusted, find_only_trusted, former_case, has_recordings, lacks_own_case, other_suites_stems,
};
use super::trusted::{Standing, Trusted, TrustedPlace};
use crate::command::command_line;
use crate::harness::agent_test::AgentTest;
use crate::harness::case_verdict::Context;
use crate::harness::loaded::LoadedSuite;
use crate::harness::side_runs::SideRuns;
use crate::render::Failure;
use crate::result::{CaseResult, ResultFileError, digest, file_digests, folder};

/// A suite beside the runs that are trusted.
pub(super) struct Baseline<'a> {
    suite: &'a LoadedSuite,
    context: &'a Context,
    cost: CostKind,
    trusted: Arc<Trusted>,
}

impl<'a> Baseline<'a> {
    /// Finds what the suite is compared with. An error is a failure of the suite's case.
    pub(super) fn find(
        suite: &'a LoadedSuite,
        context: &'a Context,
        regression: &Regression,
    ) -> Result<Self, Failure> {
        let find = || -> Result<Arc<Trusted>, Failure> {
            let place = find_trusted(suite, context, regression)?;
            let cases = suite.subjects().map(|it| {
                let own = agent_case(suite, context, it);
                Ok((it, former_case(suite, &place, it, own)?))
            });
            let cases: Result<HashMap<Subject, String>, BaselineError> = cases.collect();
            let cases = cases.map_err(|error| damaged_failure(regression, &error))?;
            let of = |it| find_standing(suite, context, (&place, &cases[&it]), it);
            let standing = suite.subjects().map(|it| Ok((it, of(it)?)));
            let standing = standing.collect::<Result<_, BaselineError>>();
            let standing = standing.map_err(|error| damaged_failure(regression, &error))?;
            Ok(Arc::new(Trusted {
                place,
                cases,
                standing,
            }))
        };
        // All agents' files are read for it: once.
        let trusted = suite.trusted_runs().get_or_init(find).clone()?;
        Ok(Self {
            suite,
            context,
            cost: regression.options.cost,
            trusted,
        })
    }

    /// How many agents take part whose runs are others than those of the baseline.
    pub(super) fn changed(&self) -> usize {
        let subjects = self.suite.subjects();
        let compared = subjects.filter(|subject| is_compared(self.suite, *subject));
        compared
            .filter(|subject| self.trusted.standing[subject] == Standing::Changed)
            .count()
    }

    /// What is compared of an agent; what has the same bytes is not read. An error is why its runs cannot be
    /// read.
    pub(super) fn samples(&self, subject: Subject) -> Result<AgentSamples, BaselineError> {
        let stem = self.suite.stem(subject);
        let suite = self.suite.for_agent(subject);
        let agent = AgentTest::new(&self.context.suite, &suite, subject);
        let name = AgentName::new(&agent.agent().name.value, agent.model());
        let samples = match self.trusted.standing[&subject] {
            Standing::New => self.new_agent(subject, stem)?,
            Standing::Unchanged => AgentSamples::new(stem, Sides::Unchanged),
            Standing::Changed => self.both_sides(subject, &agent)?,
        };
        Ok(samples.with_name(name))
    }

    /// An agent of which the baseline has no run, unless it has some with another model: then it is no new one.
    fn new_agent(&self, subject: Subject, stem: String) -> Result<AgentSamples, BaselineError> {
        let agent = self.suite.agent(subject);
        let case = &self.trusted.cases[&subject];
        if lacks_own_case(&self.trusted.place, case)? {
            let differences = vec![format!("the result of `{case}` is missing in the baseline")];
            return Ok(AgentSamples::new(
                stem,
                Sides::NotComparable { differences },
            ));
        }
        let trusted = self.only_trusted()?.into_iter();
        let models = trusted.filter(|it| it.is_named_like(agent));
        let models = models.map(|it| escape_line(it.model()).into_owned());
        let models: BTreeSet<String> = models.collect();
        if models.is_empty() {
            return Ok(AgentSamples::new(stem, Sides::New));
        }
        if self.suite.recorded_files(subject).is_empty() {
            return Ok(AgentSamples::new(stem, Sides::Gone));
        }
        let models = models.into_iter().collect::<Vec<_>>().join(", ");
        let now = escape_line(&agent.models[subject.model].value.id);
        let differences = vec![format!("recorded with another model: {models} → {now}")];
        let sides = Sides::NotComparable { differences };
        Ok(AgentSamples::new(stem, sides))
    }

    /// The agents of the baseline that no agent of the suite is, by their recordings.
    fn only_trusted(&self) -> Result<Vec<OnlyTrusted>, BaselineError> {
        let then = self.trusted.cases.values().cloned().collect();
        find_only_trusted(self.suite, &self.trusted.place, &then)
    }

    /// The agents of the baseline that nobody asks for any more, and that no new agent is with another model.
    pub(super) fn dropped_agents(&self) -> Result<Vec<AgentSamples>, BaselineError> {
        let subjects = || self.suite.subjects();
        let is_new = |it: &Subject| self.trusted.standing[it] == Standing::New;
        let mut dropped = self.only_trusted()?;
        dropped.retain(|it| {
            // Who takes no part is left out with all its models.
            let mut own = subjects().filter(|own| it.is_named_like(self.suite.agent(*own)));
            !own.any(|own| is_new(&own) || !is_compared(self.suite, own))
        });
        if matches!(self.trusted.place, TrustedPlace::Recordings(_)) && !dropped.is_empty() {
            match other_suites_stems(self.suite) {
                Some(asked) => dropped.retain(|it| !asked.contains(&it.stem)),
                None => dropped.clear(),
            }
        }
        let samples = dropped.into_iter().map(|OnlyTrusted { stem, name }| {
            let samples = AgentSamples::new(stem, Sides::Dropped);
            match name {
                Some(name) => samples.with_name(name),
                None => samples,
            }
        });
        Ok(samples.collect())
    }

    /// What it comes to if the baseline has none of the agents: somebody named a folder, and one without a recording
    /// is none.
    pub(super) fn when_empty(&self) -> EmptyBaseline {
        match &self.trusted.place {
            TrustedPlace::Recordings(folder) if !has_recordings(self.suite, folder) => {
                EmptyBaseline::CannotTell
            }
            _ => EmptyBaseline::Holds,
        }
    }

    /// The runs of an agent that has other recordings than the baseline.
    fn both_sides(
        &self,
        subject: Subject,
        agent: &AgentTest<'_>,
    ) -> Result<AgentSamples, BaselineError> {
        let stem = self.suite.stem(subject);
        let now = agent.runs()?;
        let now = SideRuns::from_recordings(agent, now, self.suite.crate_dir(), self.cost);
        let before = match &self.trusted.place {
            TrustedPlace::Recordings(folder) => {
                let runs = agent.runs_in(folder)?.unwrap_or_default();
                SideRuns::from_recordings(agent, &runs, folder, self.cost)
            }
            TrustedPlace::Results { folder, .. } => {
                let case = &self.trusted.cases[&subject];
                let results = agent_results(self.context, folder, case)?;
                SideRuns::from_renamed_results(agent, case, &results, self.cost)
            }
        };
        // Where a recording does not say if its run passed, the gates say it of all.
        if before.have_outcomes() && now.have_outcomes() {
            Ok(before.samples_against(now, stem))
        } else {
            let (before, now) = (before.judged_by_gates(), now.judged_by_gates());
            Ok(before.samples_against(now, stem))
        }
    }
}

/// Where the trusted runs of a suite are.
fn find_trusted(
    suite: &LoadedSuite,
    context: &Context,
    regression: &Regression,
) -> Result<TrustedPlace, Failure> {
    let named = &regression.baseline;
    let beside = suite.source().path().parent().unwrap_or(suite.crate_dir());
    let folder = beside.join(&named.value);
    let package = &context.package;
    // Also where none of them can be read any more.
    let saved = |subject| folder::case_file(package, &agent_case(suite, context, subject));
    let saved = suite.subjects().any(|it| folder.join(saved(it)).is_file());
    if saved || has_results(&folder.join(package)) {
        let package = package.clone();
        let agents = OnceLock::new();
        return Ok(TrustedPlace::Results {
            folder,
            package,
            agents,
        });
    }
    if !folder.is_dir() {
        let shown = folder.strip_prefix(suite.crate_dir()).unwrap_or(&folder);
        let shown = portable_path(shown);
        let problem = Diagnostic::new("there is no baseline to compare with")
            .label(named.span, format!("looked for the folder {shown}"))
            .help(format!(
                "save the results of today as the baseline with `{}`, and commit them",
                command_line(&format!("compare --accept {shown}"))
            ));
        return Err(problem.into());
    }
    if is_own_recordings(suite, &folder) {
        let problem = Diagnostic::new("the baseline is where the runs of today are")
            .label(named.span, "the runs would be compared with themselves")
            .help(format!("name a folder that keeps the runs you trust; `{}` saves the results of today in one", command_line("compare --accept <folder>")));
        return Err(problem.into());
    }
    Ok(TrustedPlace::Recordings(folder))
}

/// How an agent's runs stand to the trusted ones.
fn find_standing(
    suite: &LoadedSuite,
    context: &Context,
    (place, case): (&TrustedPlace, &str),
    subject: Subject,
) -> Result<Standing, BaselineError> {
    let files = suite.recorded_files(subject);
    let unchanged = match place {
        TrustedPlace::Recordings(folder) => {
            let Ok(Some(trusted)) = suite.files_in(folder, subject) else {
                return Ok(Standing::New);
            };
            let trusted: Vec<PathBuf> = trusted.into_iter().map(|(path, _)| path).collect();
            let mut both = trusted.iter().zip(&files);
            trusted.len() == files.len() && both.all(|(before, now)| has_same_bytes(before, now))
                || has_same_runs(&trusted, &files)
        }
        TrustedPlace::Results { folder, .. } => {
            let results = agent_results(context, folder, case)?.into_iter();
            let own = results.filter(|case| case.gate.is_none());
            let recordings = own.flat_map(|own| own.recordings);
            let trusted: BTreeSet<String> = recordings.map(|it| it.digest).collect();
            if trusted.is_empty() {
                return Ok(Standing::New);
            }
            trusted == run_digests(&files).into_iter().collect()
        }
    };
    Ok(if unchanged {
        Standing::Unchanged
    } else {
        Standing::Changed
    })
}

/// A baseline of which a file cannot be read, so that nobody can say what it knows.
pub(super) fn damaged_failure(regression: &Regression, why: &BaselineError) -> Failure {
    let problem = Diagnostic::new("a result of the baseline cannot be read");
    let problem = problem.label(regression.baseline.span, why.to_string()).help(format!(
        "take the file back out of your version control, or accept today's results again with `{}`",
        command_line("compare --accept")
    ));
    problem.into()
}

/// The name of an agent's own case.
fn agent_case(suite: &LoadedSuite, context: &Context, subject: Subject) -> String {
    format!("{}::{}", context.suite, suite.case_name(subject))
}

/// The saved results of an agent's cases, and of no other's.
fn agent_results(
    context: &Context,
    folder: &Path,
    own: &str,
) -> Result<Vec<CaseResult>, BaselineError> {
    let gates = GateKind::ALL.iter();
    let gates = gates.map(|kind| format!("{own}::{}", kind.name()));
    let cases = gates.chain([own.to_owned()]);
    let read = cases.map(|case| folder::read_case(folder, &context.package, &case));
    let read: Result<_, ResultFileError> = read.filter_map(Result::transpose).collect();
    Ok(read?)
}

/// Whether a folder leads to the very files that the suite's agents are judged by.
fn is_own_recordings(suite: &LoadedSuite, folder: &Path) -> bool {
    suite.subjects().any(|subject| {
        let Ok(Some(trusted)) = suite.files_in(folder, subject) else {
            return false;
        };
        let now: Vec<PathBuf> = suite
            .recorded_files(subject)
            .iter()
            .filter_map(|path| path.canonicalize().ok())
            .collect();
        let mut trusted = trusted
            .iter()
            .filter_map(|(path, _)| path.canonicalize().ok());
        trusted.any(|path| now.contains(&path))
    })
}

/// Whether results lie in a folder.
fn has_results(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files = entries.map(|entry| entry.path());
    files.any(|path| {
        let text = fs::read_to_string(path);
        text.is_ok_and(|text| CaseResult::from_json(&text).is_ok())
    })
}

/// Whether two files have the same bytes.
fn has_same_bytes(left: &Path, right: &Path) -> bool {
    file_size(left) == file_size(right)
        && file_size(left).is_some()
        && fs::read(left).ok() == fs::read(right).ok()
}

/// Whether files hold the same runs, in whatever order: the number of a run says nothing of the agent.
fn has_same_runs(left: &[PathBuf], right: &[PathBuf]) -> bool {
    // Most runs that differ are told apart by their sizes, and need not be read.
    let sizes = |files: &[PathBuf]| -> Option<Vec<u64>> {
        let sizes: Option<Vec<u64>> = files.iter().map(|path| file_size(path)).collect();
        sizes.map(|mut sizes| {
            sizes.sort_unstable();
            sizes
        })
    };
    let known = sizes(left);
    known.is_some() && known == sizes(right) && run_digests(left) == run_digests(right)
}

fn file_size(path: &Path) -> Option<u64> {
    fs::metadata(path).map(|data| data.len()).ok()
}

/// The digests of the runs that files hold, sorted.
fn run_digests(files: &[PathBuf]) -> Vec<String> {
    let by_line = |path: &Path| path.extension().is_some_and(|end| end == "jsonl");
    let digests = files
        .iter()
        .flat_map(|path| file_digests(path, by_line(path)));
    // A line without a run is none.
    let mut digests: Vec<String> = digests.filter(|it| *it != digest("")).collect();
    digests.sort_unstable();
    digests
}
