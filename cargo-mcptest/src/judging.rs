//! The verdicts that a command is about: judged in this process, by the package's own tests, or read
//! from a folder of results.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use mcptest::command::{command_line, pass_on_name};
use mcptest::judge;
use mcptest::result::folder::{Results, VARIABLE};
use mcptest::result::{CaseResult, CaseStatus};
use mcptest::suite::gates::GateKind;
use mcptest_suite::{escape, nearest, quoted_list};
use mcptest_trace::record::fingerprint;
use serde_json::{Value, json};

use crate::child_process;
use crate::failure::Failure;
use crate::interrupted;
use crate::output::{Output, counted_are};
use crate::package::{FoundPackage, Judging};
use crate::status::ExitStatus;
use mcptest_trace::text::pluralize;

/// Whose verdicts are shown.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct VerdictSource {
    #[command(flatten)]
    pub(crate) judging: Judging,
    /// Run `cargo test` instead of judging in this program, so that checks written in Rust are included.
    #[arg(long)]
    with_checks: bool,
    /// Read the results that `MCPTEST_RESULTS` wrote into this folder, instead of judging. Give it several times for the folders
    /// of several machines.
    #[arg(long, value_name = "FOLDER", conflicts_with = "with_checks")]
    results: Vec<PathBuf>,
}

/// Which cases are meant: those whose name holds one of these, as `cargo test` has it.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Filter {
    /// Only the cases whose name contains one of these texts, e.g. `refunds::` or `::trajectory`. Without a filter: all cases.
    #[arg(value_name = "FILTER")]
    names: Vec<String>,
    /// Each filter is the whole name of a case.
    #[arg(long)]
    exact: bool,
}

impl Filter {
    pub(crate) fn wants(&self, case: &str) -> bool {
        let fits = |name: &String| {
            if self.exact {
                case == name
            } else {
                case.contains(name.as_str())
            }
        };
        self.names.is_empty() || self.names.iter().any(fits)
    }

    /// The filter as arguments of a test executable.
    pub(crate) fn to_arguments(&self) -> Vec<&str> {
        let exact = self.exact.then_some("--exact");
        exact
            .into_iter()
            .chain(self.names.iter().map(String::as_str))
            .collect()
    }

    /// No case has such a name.
    pub(crate) fn no_match<'a>(&self, cases: impl Iterator<Item = &'a str> + Clone) -> Failure {
        let Some(name) = self.names.first() else {
            return Failure::inconclusive("there is no case to judge");
        };
        let failure =
            Failure::inconclusive(format!("no case has this name: {}", self.names.join(" ")));
        let parts = cases.clone().flat_map(|case| case.split("::"));
        match nearest(name, cases.clone().chain(parts)) {
            Some(near) => failure.with_help(format!("did you mean `{near}`?")),
            None => failure.with_help(some_names(cases)),
        }
    }
}

/// The names that there are, or the first of them.
fn some_names<'a>(cases: impl Iterator<Item = &'a str> + Clone) -> String {
    const SHOWN: usize = 8;
    let more = match cases.clone().count().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("the cases are {}{more}", quoted_list(cases.take(SHOWN)))
}

/// A package with its suites loaded.
pub(crate) struct OpenPackage {
    pub(crate) package: FoundPackage,
    pub(crate) suites: judge::Package,
}

impl OpenPackage {
    /// Finds the package, says which versions meet where they differ, and loads its suites.
    pub(crate) fn open(judging: &Judging, output: &mut Output<'_>) -> Result<Self, Failure> {
        let package = judging.find()?;
        if let Some(line) = package.versions.describe_difference() {
            writeln!(output.err, "{line}")?;
        }
        let suites = judge::Package::open(&package.folder, &package.name, &package.roots);
        let opened = Self { package, suites };
        if let Some(note) = interrupted::note(&opened.package.folder, &opened.recording_folders()) {
            writeln!(output.err, "note: {}", escape(&note))?;
        }
        Ok(opened)
    }

    /// The folders of recordings: that of the package, and those beside the suites.
    pub(crate) fn recording_folders(&self) -> BTreeSet<PathBuf> {
        let folder = &self.package.folder;
        let suites = self.suites.suites().map(|(_, suite)| {
            let beside = suite.source.path().parent();
            beside.unwrap_or(folder).join("cassettes")
        });
        suites.chain([folder.join("cassettes")]).collect()
    }

    /// Opens a package and refuses suites that do not load: a command that changes or compares things needs all of
    /// them.
    pub(crate) fn open_whole(judging: &Judging, output: &mut Output<'_>) -> Result<Self, Failure> {
        let opened = Self::open(judging, output)?;
        opened.require_whole(output)?;
        Ok(opened)
    }

    /// Refuses suites of a revision that do not load.
    pub(crate) fn require_loaded(&self, revision: &str) -> Result<(), Failure> {
        let Some(first) = self.suites.failures().first() else {
            return Ok(());
        };
        let why = first.text.lines().next().unwrap_or_default();
        let what = format!(
            "the suites of {revision} do not load: {}: {why}",
            first.case
        );
        Err(Failure::new(what)
            .with_help("compare with the work tree: leave out the second revision"))
    }

    /// Refuses suites that do not load.
    pub(crate) fn require_whole(&self, output: &mut Output<'_>) -> Result<(), Failure> {
        let failures = self.suites.failures();
        if failures.is_empty() {
            return Ok(());
        }
        for failure in failures {
            writeln!(output.err, "{}\n", escape(&failure.text))?;
        }
        let names: Vec<&str> = failures
            .iter()
            .map(|failure| failure.case.as_str())
            .collect();
        Err(
            Failure::new(format!("not all suites load: {}", names.join(", "))).with_help(format!(
                "correct them first; `{}` lists all problems at once",
                command_line("validate")
            )),
        )
    }
}

/// The verdicts of a package.
pub(crate) struct PackageVerdicts {
    pub(crate) opened: OpenPackage,
    /// By name.
    pub(crate) cases: Vec<CaseResult>,
    /// What is to be known of them, a line each.
    pub(crate) notes: Vec<String>,
    /// The cases of the suites that a folder of results says nothing of.
    pub(crate) missing: Vec<String>,
    /// The files of the package that are no results, each with why.
    pub(crate) unreadable: Vec<(String, String)>,
}

impl VerdictSource {
    /// Whether verdicts are made in this program.
    pub(crate) fn judges_here(&self) -> bool {
        self.results.is_empty() && !self.with_checks
    }

    /// The verdicts of the cases that a filter wants.
    pub(crate) fn read(
        &self,
        filter: &Filter,
        output: &mut Output<'_>,
    ) -> Result<PackageVerdicts, Failure> {
        let opened = OpenPackage::open(&self.judging, output)?;
        self.read_package(opened, filter, output)
    }

    /// The verdicts of the cases that a filter wants, of a package that is open already.
    pub(crate) fn read_package(
        &self,
        opened: OpenPackage,
        filter: &Filter,
        output: &mut Output<'_>,
    ) -> Result<PackageVerdicts, Failure> {
        let tags = opened.suites.check_judged_tags();
        tags.map_err(|error| Failure::new(error.to_string()))?;
        if self.with_checks && opened.package.work_tree.is_some() {
            return Err(Failure::new(
                "`--with-checks` runs the tests of the work tree, and a revision is compared",
            )
            .with_help(
                "leave it out, or compare with the work tree: leave out the second revision",
            ));
        }
        let mut read = match self.results.as_slice() {
            [_, ..] => FolderVerdicts::read(&opened, &self.results)?,
            [] if self.with_checks => {
                let folder = tempfile::tempdir()?;
                run_tests(&opened.package, folder.path(), output)?;
                FolderVerdicts::read(&opened, &[folder.path().to_owned()])?
            }
            [] => FolderVerdicts {
                cases: judge(&opened, filter),
                ..FolderVerdicts::default()
            },
        };
        read.cases.retain(|case| filter.wants(&case.case));
        read.missing.retain(|case| filter.wants(case));
        if read.cases.is_empty() && read.missing.is_empty() {
            let all = opened.suites.cases();
            let names = all.iter().map(judge::PackageCase::name);
            return Err(filter.no_match(names));
        }
        let without = read
            .missing
            .iter()
            .map(|case| format!("{case} has no result: run the tests again"));
        read.notes.extend(without);
        Ok(PackageVerdicts {
            opened,
            cases: read.cases,
            notes: read.notes,
            missing: read.missing,
            unreadable: read.unreadable,
        })
    }
}

impl PackageVerdicts {
    /// What they come to: a suite that does not load stops everything else.
    pub(crate) fn status(&self) -> ExitStatus {
        let failures = self.opened.suites.failures();
        let is = |verdict| move |case: &CaseResult| case.status == verdict;
        let loads = |case: &CaseResult| failures.iter().all(|failure| failure.case != case.case);
        if !self.cases.iter().all(loads) {
            ExitStatus::CouldNotRun
        } else if self.cases.iter().any(is(CaseStatus::Failed)) {
            ExitStatus::Finding
        } else if !self.unreadable.is_empty() {
            ExitStatus::CouldNotRun
        } else if self.missing.is_empty() && self.cases.iter().any(is(CaseStatus::Passed)) {
            ExitStatus::Holds
        } else {
            ExitStatus::CannotTell
        }
    }

    /// The counts in words, with what there is no verdict of.
    pub(crate) fn tally(&self) -> String {
        let [passed, failed, ignored] = self.counts();
        let mut tally = format!("{passed} passed, {failed} failed, {ignored} ignored");
        if !self.missing.is_empty() {
            tally.push_str(&format!(", {} without a result", self.missing.len()));
        }
        if !self.unreadable.is_empty() {
            let files = pluralize(self.unreadable.len(), "unreadable file");
            tally.push_str(&format!(", {files}"));
        }
        tally
    }

    /// The files that are no results, for programs.
    pub(crate) fn unreadable_json(&self) -> Vec<Value> {
        let files = self.unreadable.iter();
        files
            .map(|(file, why)| json!({ "file": file, "why": why }))
            .collect()
    }

    /// How many cases passed, failed and were ignored.
    pub(crate) fn counts(&self) -> [usize; 3] {
        [CaseStatus::Passed, CaseStatus::Failed, CaseStatus::Ignored].map(|status| {
            self.cases
                .iter()
                .filter(|case| case.status == status)
                .count()
        })
    }
}

/// Judges every case that is wanted, and what does not load.
fn judge(opened: &OpenPackage, filter: &Filter) -> Vec<CaseResult> {
    let refused = opened.suites.failures().iter();
    let mut cases: Vec<CaseResult> = refused
        .map(|failure| failure.result(&opened.package.name))
        .collect();
    let all = opened.suites.cases();
    let wanted: Vec<_> = all
        .iter()
        .filter(|case| filter.wants(case.name()))
        .collect();
    let of_revision = opened.package.work_tree.is_some();
    cases.extend(in_parallel(&wanted, |case| match case.left_out() {
        Some(reason) => case.not_judged(&reason),
        // Nothing of a revision is checked out.
        None if of_revision && case.gate() == Some(GateKind::Playback) => {
            case.not_judged("not played: the code of the revision is not checked out")
        }
        None => case.judge(),
    }));
    cases.sort_by(|left, right| left.case.cmp(&right.case));
    cases
}

/// Does the same with everything, with as many threads as the machine has; the order stays.
pub(crate) fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let share = items.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let work = &work;
        let parts = items
            .chunks(share)
            .map(|part| scope.spawn(move || part.iter().map(work).collect::<Vec<R>>()));
        let parts: Vec<_> = parts.collect();
        let joined = parts.into_iter().flat_map(|part| match part.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.collect()
    })
}

/// The verdicts in a folder of results, and what is not there.
#[derive(Default)]
struct FolderVerdicts {
    cases: Vec<CaseResult>,
    notes: Vec<String>,
    missing: Vec<String>,
    unreadable: Vec<(String, String)>,
}

impl FolderVerdicts {
    /// The results in some folders, without those of cases that are gone.
    fn read(opened: &OpenPackage, folders: &[PathBuf]) -> Result<Self, Failure> {
        let read = Results::read_all(folders);
        let mut results = read.map_err(|error| {
            let folder = folders.first().map(|folder| folder.display().to_string());
            Failure::new(format!("the results cannot be read: {error}")).with_help(format!(
                "`{VARIABLE}={} {}` writes results there",
                folder.unwrap_or_default(),
                opened.package.test_command()
            ))
        })?;
        let package = &opened.package.name;
        let mut notes = Vec::new();
        for (file, why) in &results.unreadable {
            notes.push(format!("{file} is left out: {why}"));
        }
        let known = opened.suites.cases();
        let failures = opened.suites.failures();
        // A check in Rust is a case below an agent, and which there are only the package's tests know.
        let is_gate = |name: &str| mcptest::gates().iter().any(|gate| gate.kind.name() == name);
        let agents: HashSet<_> = known.iter().filter_map(judge::PackageCase::agent).collect();
        let failures = failures.iter().map(|failure| failure.case.clone());
        let names = known.iter().map(|case| case.name().into());
        let names: HashSet<String> = names.chain(failures).collect();
        let has = |name: &str| {
            let (agent, last) = name.rsplit_once("::").unwrap_or_default();
            names.contains(name) || agents.contains(agent) && !is_gate(last)
        };
        for case in results.retain(package, has) {
            notes.push(format!(
                "{case} is left out: the suites have no such case any more"
            ));
        }
        let others = results
            .cases
            .iter()
            .filter(|case| case.package != *package)
            .count();
        if others > 0 {
            let others = counted_are(others, "result");
            notes.push(format!("{others} of other packages, and left out"));
            results.cases.retain(|case| case.package == *package);
        }
        for (name, suite) in opened.suites.suites() {
            let digest = fingerprint(suite.source.text());
            let other = |case: &&CaseResult| case.suite.name == name && case.suite.digest != digest;
            if results.cases.iter().any(|case| other(&case)) {
                notes.push(format!(
                    "the suite {name} has changed since these results were made"
                ));
            }
        }
        // What is ignored leaves a result only where it was run all the same.
        let judged = known
            .iter()
            .filter(|case| case.ignored().is_none() && case.left_out().is_none());
        let missing = judged
            .map(judge::PackageCase::name)
            .filter(|name| results.cases.iter().all(|case| case.case != *name))
            .map(str::to_owned)
            .collect();
        let is_own = |(file, _): &(String, String)| may_belong_to(package, file);
        let unreadable = results.unreadable.into_iter().filter(is_own).collect();
        Ok(Self {
            cases: results.cases,
            notes,
            missing,
            unreadable,
        })
    }
}

/// Whether a file of a folder of results may be of a package. What is of no crate lies anywhere.
pub(crate) fn may_belong_to(package: &str, file: &str) -> bool {
    let beside = Path::new(file).parent().and_then(Path::file_name);
    package.is_empty() || beside.is_none_or(|beside| beside == package)
}

/// Runs the package's tests, which leave their results in a folder.
fn run_tests(
    package: &FoundPackage,
    folder: &Path,
    output: &mut Output<'_>,
) -> Result<(), Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["test", "--no-fail-fast", "--package", &package.name])
        .current_dir(&package.folder)
        .env(VARIABLE, folder)
        .stdin(Stdio::null());
    pass_on_name(&mut command);
    let ran = child_process::output(command.stderr(Stdio::piped()))
        .map_err(|error| Failure::new(format!("cargo does not start: {error}")))?;
    let empty = std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    if empty {
        writeln!(
            output.err,
            "{}",
            escape(&String::from_utf8_lossy(&ran.stderr))
        )?;
        return Err(Failure::new("`cargo test` left no result of a case").with_help(
            "read the output of cargo above: the tests must build, and one of them must run the suites",
        ));
    }
    Ok(())
}
