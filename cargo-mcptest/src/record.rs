//! `cargo mcptest record`: what `MCPTEST_RECORD` does, without the feature in the build of the package's tests;
//! and `cargo mcptest test`: what `cargo test` prints of the cases, also where there is no crate.
//!
//! The harness records in a process of its own, which this executable is started as once more: there
//! the environment and the arguments are those of a test that records.

use std::collections::HashMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use mcptest::Harness;
use mcptest::command::{pass_on_name, pass_on_options};
use mcptest::judge::PackageCase;
use mcptest::result::CaseResult;
use mcptest::result::folder::{Results, VARIABLE};
use mcptest_suite::escape;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tempfile::TempDir;

use crate::child_process;
use crate::failure::Failure;
use crate::judging::{Filter, OpenPackage, in_parallel};
use crate::output::{Output, OutputFormat};
use crate::package::Judging;
use crate::part::Part;
use crate::status::{EXIT_STATUS, ExitStatus};

/// The format of what is said, as JSON.
const FORMAT: &str = "record/1.0";

/// Says to this executable that it is the process that records.
const CHILD: &str = "CARGO_MCPTEST_RECORDS";

/// Runs your agents with a real model and records what they do.
///
/// Example: `cargo mcptest record -- python agent.py`
///
/// Only missing runs are recorded, unless you say `--all` or `--changed`. Keys of models come from the environment. New
/// recordings are judged at once: for a case of `playback`, your agent's own code runs once more for each recording.
/// Before the first call to a model, one line says what recording will cost, as far as earlier recordings tell.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Record {
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    judging: Judging,
    #[command(flatten)]
    part: Part,
    #[command(flatten)]
    which: RunSelection,
    #[command(flatten)]
    how: RecordingOptions,
    /// The program that is the agent, with its arguments. It replaces `command:` of the suites.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// The format of the output.
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// Which runs are recorded.
#[derive(Debug, clap::Args)]
struct RunSelection {
    /// Record all runs again.
    #[arg(long)]
    all: bool,
    /// Play all recordings to the code first, and record all runs of the agents that changed: a run asks something else,
    /// is stale, or is missing. The recordings of all other agents stay as they are.
    #[arg(long, conflicts_with = "all")]
    changed: bool,
    /// With `--changed`: record only the runs that met the change. The runs are then chosen, and `compare` says so.
    #[arg(long, requires = "changed")]
    only_runs: bool,
}

/// How they are recorded.
#[derive(Debug, clap::Args)]
struct RecordingOptions {
    /// Record all runs into this folder, which is laid out as the package. The recordings of the suites stay as they are,
    /// and nothing is judged: `cargo mcptest compare . FOLDER` compares both.
    #[arg(long, value_name = "FOLDER", conflicts_with = "changed")]
    into: Option<PathBuf>,
    /// Say what recording will cost, and record nothing.
    #[arg(long)]
    dry_run: bool,
    /// Record although it will cost more than the `budget` of a suite.
    #[arg(long)]
    over_budget: bool,
}

/// What the process that records has to know.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RecordJob {
    pub(crate) package: String,
    pub(crate) folder: PathBuf,
    pub(crate) roots: Vec<PathBuf>,
    /// What runs every agent, where the suites need not say.
    pub(crate) command: Vec<String>,
    /// Whether each agent with a command has the gate `playback`.
    pub(crate) plays: bool,
    /// Whether it only records, and judges nothing.
    pub(crate) only_records: bool,
    /// Whether it ends as a test does, and not as this command.
    pub(crate) is_test: bool,
}

impl Record {
    pub(crate) fn run(&self, output: &mut Output<'_>) -> Result<ExitStatus, Failure> {
        if let Some(failure) = self.no_cases_failure() {
            return Err(failure);
        }
        let opened = OpenPackage::open_whole(&self.judging, output)?;
        let cases = opened.suites.cases();
        let names = || cases.iter().map(PackageCase::name);
        if !names().any(|name| self.filter.wants(name)) {
            return Err(self.filter.no_match(names()));
        }
        let package = &opened.package;
        let asked = RecordJob {
            package: package.name.clone(),
            folder: package.folder.clone(),
            roots: package.roots.clone(),
            command: self.command.clone(),
            plays: false,
            only_records: self.how.into.is_some(),
            is_test: false,
        };
        let mut child = asked.process()?;
        child
            .args(self.part.to_arguments())
            .args(self.filter.to_arguments())
            .stdin(Stdio::null());
        self.configure_child(&mut child)?;
        let mut results = ChildResults::default();
        let holds = match self.format {
            OutputFormat::Text => run_child(&mut child)?,
            OutputFormat::Json => {
                results.configure_child(&mut child, &package.folder)?;
                let ran = child_process::output(child.stderr(Stdio::inherit()))?;
                write!(
                    output.err,
                    "{}",
                    escape(&String::from_utf8_lossy(&ran.stdout))
                )?;
                ran.status.success()
            }
        };
        if self.format == OutputFormat::Json {
            // Loaded anew: the recordings are other ones now.
            let opened = OpenPackage::open_whole(&self.judging, output)?;
            let cases = opened.suites.cases();
            let wanted: Vec<_> = cases
                .iter()
                .filter(|case| self.filter.wants(case.name()) && self.part.includes(case))
                .collect();
            let judged = results.read(&opened.package.name);
            let results = in_parallel(&wanted, |case| judged.result_for(case));
            output.json(&json!({
                "format": FORMAT,
                "harness": opened.package.versions.json(),
                "cases": serde_json::to_value(&results).unwrap_or_default(),
            }))?;
        }
        Ok(if holds {
            ExitStatus::Holds
        } else {
            ExitStatus::Finding
        })
    }
}

impl Record {
    /// What is recorded, as the variable says it.
    fn mode(&self) -> &'static str {
        let asked = env::var("MCPTEST_RECORD").unwrap_or_default();
        match asked.as_str() {
            _ if self.which.changed => "changed",
            _ if self.which.all || self.how.into.is_some() => "all",
            "all" => "all",
            "changed" => "changed",
            _ => "missing",
        }
    }

    /// Says to the process that records what it records, and how. Messages say the variables, whoever records.
    fn configure_child(&self, child: &mut Command) -> Result<(), Failure> {
        child.env("MCPTEST_RECORD", self.mode());
        let flags = [
            (self.which.only_runs, "MCPTEST_RECORD_ONLY_RUNS"),
            (self.how.dry_run, "MCPTEST_RECORD_DRY_RUN"),
            (self.how.over_budget, "MCPTEST_RECORD_OVER_BUDGET"),
        ];
        for (_, variable) in flags.into_iter().filter(|(is_set, _)| *is_set) {
            child.env(variable, "1");
        }
        if let Some(folder) = &self.how.into {
            // A path is meant from here, and the process runs in the package's folder.
            child.env("MCPTEST_RECORD_INTO", std::path::absolute(folder)?);
        }
        Ok(())
    }

    /// Why there are no cases to write as JSON.
    fn no_cases_failure(&self) -> Option<Failure> {
        let judges_nothing = self.how.dry_run || self.how.into.is_some();
        let asks = self.format == OutputFormat::Json && judges_nothing;
        asks.then(|| {
            Failure::new("with `--dry-run` or `--into` no case is judged, so there is nothing to write as JSON")
                .with_help("leave `--format json` out")
        })
    }
}

/// The verdicts of the process that records.
#[derive(Default)]
struct ChildResults(Option<(PathBuf, Option<TempDir>)>);

impl ChildResults {
    /// Lets the process, which runs in this folder, leave them where the environment says, else where only this one looks.
    fn configure_child(&mut self, child: &mut Command, folder: &Path) -> Result<(), Failure> {
        let asked = env::var_os(VARIABLE).filter(|folder| !folder.is_empty());
        let place = if let Some(named) = asked {
            (folder.join(named), None)
        } else {
            let own = tempfile::tempdir()?;
            (own.path().to_owned(), Some(own))
        };
        child.env(VARIABLE, &place.0);
        self.0 = Some(place);
        Ok(())
    }

    fn read(&self, package: &str) -> CaseResultsByName {
        let read = self
            .0
            .as_ref()
            .and_then(|(folder, _)| Results::read(folder).ok());
        let cases = read.into_iter().flat_map(|results| results.cases);
        let own = cases.filter(|case| case.package == package);
        CaseResultsByName(own.map(|case| (case.case.clone(), case)).collect())
    }
}

/// The verdicts of the process that records, by the names of the cases.
struct CaseResultsByName(HashMap<String, CaseResult>);

impl CaseResultsByName {
    /// The verdict on a case. One that runs the agent's own code is not made again.
    fn result_for(&self, case: &PackageCase<'_>) -> CaseResult {
        if !case.runs_code() {
            return case.judge();
        }
        let known = self.0.get(case.name()).cloned();
        known.unwrap_or_else(|| {
            let reason = case.ignored();
            case.not_judged(reason.unwrap_or("the process that recorded left no verdict on it"))
        })
    }
}

/// Judges all recordings, with the output and the options of `cargo test`.
///
/// Example: `cargo mcptest test ::narrative`
///
/// For a case of `playback`, your agent's own code runs once for each recording. A folder `suites` is enough; no crate is
/// needed. The exit status is that of `cargo test`: 101 when a case fails. It is 4 when no case fits the filters. With the
/// variable `MCPTEST_RECORD` the command records first.
#[derive(Debug, clap::Args)]
pub(crate) struct Test {
    #[command(flatten)]
    judging: Judging,
    #[command(flatten)]
    part: Part,
    /// Filters and options of `cargo test`, e.g. `::narrative`, `--exact`, `--list`, `--format json`.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    arguments: Vec<String>,
}

impl Test {
    pub(crate) fn run(&self) -> Result<ExitStatus, Failure> {
        let package = self.judging.find()?;
        let asked = RecordJob {
            package: package.name.clone(),
            folder: package.folder.clone(),
            roots: package.roots.clone(),
            command: Vec::new(),
            plays: false,
            only_records: false,
            is_test: true,
        };
        let mut process = asked.process()?;
        process.args(self.part.to_arguments()).args(&self.arguments);
        Ok(if run_child(&mut process)? {
            ExitStatus::Holds
        } else {
            ExitStatus::Finding
        })
    }
}

/// Runs the process that runs the cases; whether it ended well. It takes this one's place where the system can do
/// that, so that what ends this one ends it too.
#[cfg(unix)]
pub(crate) fn run_child(process: &mut Command) -> Result<bool, Failure> {
    use std::os::unix::process::CommandExt;

    Err(process.exec().into())
}

#[cfg(not(unix))]
pub(crate) fn run_child(process: &mut Command) -> Result<bool, Failure> {
    Ok(process.status()?.success())
}

impl RecordJob {
    /// This executable as the process that runs the cases.
    pub(crate) fn process(&self) -> Result<Command, Failure> {
        let job = serde_json::to_string(self).map_err(|_| {
            Failure::new(format!(
                "the cases of `{}` cannot be run: the path of a folder is not UTF-8",
                self.folder.display()
            ))
            .with_help("give the folder another name")
        })?;
        let mut child = Command::new(env::current_exe()?);
        child
            .current_dir(&self.folder)
            .env(CHILD, job)
            .env("CARGO_MANIFEST_DIR", &self.folder);
        pass_on_name(&mut child);
        pass_on_options(&mut child);
        Ok(child)
    }
}

/// Records, where this is the process that does; nothing elsewhere.
pub(crate) fn run_as_child() -> Option<ExitCode> {
    let asked = env::var(CHILD).ok()?;
    let asked: RecordJob = serde_json::from_str(&asked).ok()?;
    let folder = asked.folder.to_string_lossy();
    let harness = Harness::new(&folder, &asked.package);
    let harness = asked.roots.into_iter().fold(harness, Harness::root);
    // Tests of a package may have agents that are functions.
    let harness = if asked.package.is_empty() {
        harness
    } else {
        harness.with_functions_elsewhere()
    };
    let harness = match asked.command.as_slice() {
        [] => harness,
        _ => harness.record_by(asked.command),
    };
    let harness = if asked.plays {
        harness.with_playback()
    } else {
        harness
    };
    let harness = if asked.is_test {
        harness.requiring_case()
    } else {
        harness
    };
    let harness = if asked.only_records {
        harness.only_recording()
    } else {
        harness
    };
    let ended = harness.run();
    Some(if asked.is_test || ended == ExitCode::SUCCESS {
        ended
    } else {
        ExitStatus::Finding.into()
    })
}
