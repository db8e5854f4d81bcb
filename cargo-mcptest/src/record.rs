//! `cargo mcptest record`: what `MCPTEST_RECORD` does, without the feature `record` in the build of the
//! package's tests.
//!
//! The harness records in a process of its own, which this executable is started as once more: there
//! the environment and the arguments are those of a test that records.

use std::env;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use mcptest::Harness;
use mcptest::replay::ReplayCase;
use mcptest_suite::escape;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::failure::Failure;
use crate::judging::{Filter, Opened, in_parallel};
use crate::output::{Output, OutputFormat};
use crate::package::Judging;
use crate::status::{EXIT_STATUS, ExitStatus};

/// The format of what is said, as JSON.
const FORMAT: &str = "record/1.0";

/// Says to this executable that it is the process that records.
const CHILD: &str = "CARGO_MCPTEST_RECORDS";

/// Runs agents live and records what they do: the runs that are missing, or all of them anew.
///
/// Keys of models come from the environment, as `docs/recording.md` says. What was recorded is judged
/// right after.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Record {
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    judging: Judging,
    /// Record every run anew.
    #[arg(long)]
    all: bool,
    /// How to say what the cases came to.
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// What the process that records has to know.
#[derive(Debug, Serialize, Deserialize)]
struct RecordJob {
    package: String,
    folder: PathBuf,
    roots: Vec<PathBuf>,
}

impl Record {
    pub(crate) fn run(&self, output: &mut Output<'_>) -> Result<ExitStatus, Failure> {
        if !cfg!(feature = "record") {
            return Err(Failure::new("this command was built without recording").help(
                "`cargo install cargo-mcptest --features record` builds it in; \
                 `MCPTEST_RECORD=missing cargo test --features mcptest-harness/record` records as well",
            ));
        }
        let opened = Opened::whole(&self.judging, output)?;
        let cases = opened.suites.cases();
        let names = || cases.iter().map(ReplayCase::name);
        if !names().any(|name| self.filter.wants(name)) {
            return Err(self.filter.nothing(names()));
        }
        let package = &opened.package;
        let asked = RecordJob {
            package: package.name.clone(),
            folder: package.folder.clone(),
            roots: package.roots.clone(),
        };
        let mut child = Command::new(env::current_exe()?);
        child
            .args(self.filter.arguments())
            .current_dir(&package.folder)
            .env(CHILD, serde_json::to_string(&asked).unwrap_or_default())
            .env("CARGO_MANIFEST_DIR", &package.folder)
            .env("MCPTEST_RECORD", if self.all { "all" } else { "missing" })
            .stdin(Stdio::null());
        let holds = match self.format {
            OutputFormat::Text => child.status()?.success(),
            OutputFormat::Json => {
                let ran = child.stderr(Stdio::inherit()).output()?;
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
            let opened = Opened::whole(&self.judging, output)?;
            let cases = opened.suites.cases();
            let wanted: Vec<_> = cases
                .iter()
                .filter(|case| self.filter.wants(case.name()))
                .collect();
            let results = in_parallel(&wanted, |case| case.judge());
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

/// Records, where this is the process that does; nothing elsewhere.
pub(crate) fn child() -> Option<ExitCode> {
    let asked = env::var(CHILD).ok()?;
    let asked: RecordJob = serde_json::from_str(&asked).ok()?;
    let folder = asked.folder.to_string_lossy();
    let harness = Harness::new(&folder, &asked.package);
    let harness = asked.roots.into_iter().fold(harness, Harness::root);
    Some(harness.run())
}
