//! The runs that are trusted, and which agents have others now.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use mcptest_suite::model::{GateKind, Regression};
use mcptest_suite::{Diagnostic, Subject, shown_path};
use mcptest_trace::evidence::compare::{CostKind, Sides};

use crate::harness::loaded::LoadedSuite;
use crate::harness::replay::{AgentTest, SideRuns};
use crate::render::Failure;
use crate::result::{CaseResult, digest, folder};

/// Where the trusted runs are.
pub(super) struct Baseline<'a> {
    suite: &'a LoadedSuite,
    suite_name: &'a str,
    package: &'a str,
    cost: CostKind,
    place: Place,
}

enum Place {
    /// Recordings.
    Recordings(PathBuf),
    /// Results of the package, as `cargo mcptest compare --accept` saves them.
    Results(PathBuf),
}

impl<'a> Baseline<'a> {
    /// Finds what the suite is compared with. An error is a failure of the suite's case.
    pub(super) fn find(
        suite: &'a LoadedSuite,
        suite_name: &'a str,
        package: &'a str,
        regression: &Regression,
    ) -> Result<Self, Failure> {
        let named = &regression.baseline;
        let beside = suite.source().path().parent().unwrap_or(suite.crate_dir());
        let folder = beside.join(&named.value);
        let results = folder.join(package);
        let place = if has_results(&results) {
            Place::Results(folder)
        } else if folder.is_dir() {
            Place::Recordings(folder)
        } else {
            let shown = folder.strip_prefix(suite.crate_dir()).unwrap_or(&folder);
            let shown = shown_path(shown);
            let problem = Diagnostic::new("there is no baseline to compare with")
                .label(named.span, format!("looked for the folder {shown}"))
                .help(format!(
                    "save the results of today as the baseline with `cargo mcptest compare --accept {shown}`, and commit them"
                ));
            return Err(problem.into());
        };
        if let Place::Recordings(folder) = &place
            && is_where_runs_are(suite, folder)
        {
            let problem = Diagnostic::new("the baseline is where the runs of today are")
                .label(named.span, "the runs would be compared with themselves")
                .help("name a folder that keeps the runs you trust; `cargo mcptest compare --accept <folder>` saves the results of today in one");
            return Err(problem.into());
        }
        Ok(Self {
            suite,
            suite_name,
            package,
            cost: regression.options.cost,
            place,
        })
    }

    /// The agents whose runs are others than those of the baseline, by their bytes: nothing of a run
    /// is read for it.
    pub(super) fn changed(&self) -> Vec<Subject> {
        let subjects = self.suite.subjects();
        let changed = subjects.filter(|subject| {
            let agent = self.suite.agent(*subject);
            let skipped = agent
                .regression
                .as_ref()
                .is_some_and(|own| own.skip.is_some());
            !skipped && agent.skip.is_none() && self.has_other_bytes(*subject)
        });
        changed.collect()
    }

    /// Whether the baseline has runs of an agent.
    pub(super) fn knows(&self, subject: Subject) -> bool {
        match &self.place {
            Place::Recordings(folder) => {
                let files = self.suite.files_in(folder, subject);
                files.is_ok_and(|files| files.is_some())
            }
            Place::Results(folder) => !digests(&self.results(folder, subject)).is_empty(),
        }
    }

    fn has_other_bytes(&self, subject: Subject) -> bool {
        let files = self.suite.recorded_files(subject);
        match &self.place {
            Place::Recordings(folder) => {
                let Ok(Some(trusted)) = self.suite.files_in(folder, subject) else {
                    return false;
                };
                let known = |path: &PathBuf| trusted.iter().any(|(other, _)| same(path, other));
                !files.iter().all(known)
            }
            Place::Results(folder) => {
                let results = self.results(folder, subject);
                let trusted = digests(&results);
                let known = |path: &PathBuf| {
                    let bytes = fs::read(path).unwrap_or_default();
                    trusted.contains(digest(&String::from_utf8_lossy(&bytes)).as_str())
                };
                !trusted.is_empty() && !files.iter().all(known)
            }
        }
    }

    /// What is compared of an agent. An error is why its runs cannot be read.
    pub(super) fn sides(&self, subject: Subject) -> Result<Sides, String> {
        let agent = AgentTest::of(self.suite_name, self.suite, subject);
        let now = agent.runs()?;
        let now = SideRuns::recorded(&agent, now, self.suite.crate_dir(), self.cost);
        let before = match &self.place {
            Place::Recordings(folder) => {
                let runs = agent.runs_in(folder)?.unwrap_or_default();
                SideRuns::recorded(&agent, &runs, folder, self.cost)
            }
            Place::Results(folder) => {
                SideRuns::of_results(&agent, &self.results(folder, subject), self.cost)
            }
        };
        // Where a recording does not say if its run passed, the gates say it of all.
        if before.have_outcomes() && now.have_outcomes() {
            Ok(before.against(now))
        } else {
            Ok(before.judged_by_gates().against(now.judged_by_gates()))
        }
    }

    /// The saved results of an agent's cases, and of no other's.
    fn results(&self, folder: &Path, subject: Subject) -> Vec<CaseResult> {
        let own = format!(
            "{}::{}",
            self.suite_name,
            self.suite.agent(subject).case_name(subject.model)
        );
        let gates = GateKind::ALL.iter();
        let gates = gates.map(|kind| format!("{own}::{}", kind.name()));
        let cases = gates.chain([own.clone()]);
        cases
            .filter_map(|case| folder::read_case(folder, self.package, &case))
            .collect()
    }
}

/// The digests of the files that an agent's runs were recorded in.
fn digests(results: &[CaseResult]) -> BTreeSet<&str> {
    let own = results.iter().filter(|case| case.gate.is_none());
    let recordings = own.flat_map(|own| &own.recordings);
    recordings
        .map(|recording| recording.digest.as_str())
        .collect()
}

/// Whether a folder leads to the very files that the suite's agents are judged by.
fn is_where_runs_are(suite: &LoadedSuite, folder: &Path) -> bool {
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
fn same(left: &Path, right: &Path) -> bool {
    let size = |path| fs::metadata(path).map(|data| data.len()).ok();
    size(left) == size(right) && size(left).is_some() && fs::read(left).ok() == fs::read(right).ok()
}
