//! `cargo mcptest validate`: everything that is wrong with suites and recordings, without judging.
//!
//! - `orphans`: recordings and snapshots that no suite asks for;
//! - `tools`: names of tools in suites that no run knows.
//!
//! Keys of recordings that look like a newer one are warnings, which change no exit status.

mod orphans;
mod tools;

use std::fs;

use mcptest::judge::{AgentTest, RunsError};
use mcptest_suite::{escape, nearest};
use serde::Serialize;
use serde_json::json;

use crate::failure::Failure;
use crate::judging::{OpenPackage, in_parallel};
use crate::output::{Output, OutputFormat};
use crate::package::Judging;
use crate::status::{EXIT_STATUS, ExitStatus};
use mcptest_trace::text::pluralize;
use orphans::Orphans;

/// The format of what is said, as JSON.
const FORMAT: &str = "validate/1.0";

/// Lists everything that is wrong with suites and recordings, without judging them.
///
/// Example: `cargo mcptest validate`
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Validate {
    #[command(flatten)]
    judging: Judging,
    /// Remove the recordings and snapshots that no suite uses. Their names are shown.
    #[arg(long)]
    fix: bool,
    /// The format of the output.
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct SuiteProblem {
    kind: ProblemKind,
    /// The case, or the file.
    about: String,
    text: String,
}

/// What there is to say of suites and recordings.
#[derive(Clone, Copy)]
struct Validation<'a> {
    problems: &'a [SuiteProblem],
    /// What is odd in recordings and refuses nothing.
    warnings: &'a [String],
    /// The files that were removed.
    removed: &'a [String],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum ProblemKind {
    Load,
    Recordings,
    Tools,
    Orphan,
}

impl Validate {
    pub(crate) fn run(&self, output: &mut Output<'_>) -> Result<ExitStatus, Failure> {
        let opened = OpenPackage::open(&self.judging, output)?;
        let tags = opened.suites.check_tags();
        tags.map_err(|error| Failure::new(error.to_string()))?;
        let agents = opened.suites.agents();
        let left_out: Vec<&AgentTest<'_>> = agents
            .iter()
            .filter(|agent| agent.left_out().is_some())
            .collect();
        let mut problems = loading_problems(&opened);
        let load = problems.len();
        let mut orphans = (load == 0).then(|| Orphans::find(&opened));
        problems.extend(recording_problems(&opened, orphans.as_mut()));
        problems.extend(tools::unknown_tools(&opened));
        // What lies there may be of an agent that is left out, so all were asked for theirs.
        problems.retain(|problem| !left_out.iter().any(|agent| is_about(problem, agent)));
        problems.extend(orphans.iter().flat_map(Orphans::problems));
        // What nothing asks for may be what an agent without recordings had under another name.
        let may_be_theirs = problems.iter().any(|it| it.kind == ProblemKind::Recordings);
        let removed = match orphans.filter(|_| self.fix) {
            Some(_) if !left_out.is_empty() => {
                writeln!(
                    output.err,
                    "note: nothing is removed while `MCPTEST_TAGS` leaves agents out"
                )?;
                Vec::new()
            }
            Some(orphans) if !may_be_theirs => remove_orphans(&opened, &orphans)?,
            Some(_) => {
                writeln!(
                    output.err,
                    "note: nothing is removed while the recordings of an agent cannot be used"
                )?;
                Vec::new()
            }
            None => Vec::new(),
        };
        problems.retain(|problem| {
            problem.kind != ProblemKind::Orphan || !removed.contains(&problem.about)
        });
        let warnings = warnings(&opened);
        let agents = (agents.len() - left_out.len(), left_out.len());
        let found = Validation {
            problems: &problems,
            warnings: &warnings,
            removed: &removed,
        };
        self.print(&opened, agents, &found, output)?;
        Ok(if load > 0 {
            ExitStatus::CouldNotRun
        } else if !problems.is_empty() {
            ExitStatus::Finding
        } else if opened.suites.agents().is_empty() {
            ExitStatus::CannotTell
        } else {
            ExitStatus::Holds
        })
    }

    fn print(
        &self,
        opened: &OpenPackage,
        (agents, left_out): (usize, usize),
        found: &Validation<'_>,
        output: &mut Output<'_>,
    ) -> Result<(), Failure> {
        let Validation {
            problems,
            warnings,
            removed,
        } = *found;
        let suites = opened.suites.suites().count();
        if self.format == OutputFormat::Json {
            output.json(&json!({
                "format": FORMAT,
                "package": opened.package.name,
                "harness": opened.package.versions.json(),
                "suites": suites,
                "agents": agents,
                "problems": problems,
                "warnings": warnings,
                "removed": removed,
            }))?;
            return Ok(());
        }
        for file in removed {
            writeln!(output.out, "removed {}", escape(file))?;
        }
        for problem in problems {
            writeln!(output.out, "{}\n", escape(problem.text.trim_end()))?;
        }
        for warning in warnings {
            writeln!(output.out, "warning: {}", escape(warning))?;
        }
        writeln!(
            output.out,
            "{}, {}{}{}: {}",
            pluralize(suites, "suite"),
            pluralize(agents, "agent test"),
            match left_out {
                0 => String::new(),
                more => format!(" ({more} more left out by `MCPTEST_TAGS`)"),
            },
            match opened.suites.failures().len() {
                0 => String::new(),
                refused => format!(", {} that cannot be loaded", pluralize(refused, "suite")),
            },
            if problems.is_empty() {
                "nothing is wrong".to_owned()
            } else {
                pluralize(problems.len(), "problem")
            }
        )?;
        Ok(())
    }
}

/// Whether a problem is of an agent, or of what one of its models recorded.
fn is_about(problem: &SuiteProblem, agent: &AgentTest<'_>) -> bool {
    let whole = || format!("{}::{}", agent.suite_name(), agent.agent().segment);
    problem.about == agent.case() || problem.kind == ProblemKind::Tools && problem.about == whole()
}

/// Removes what nothing asks for, and says what that was.
fn remove_orphans(opened: &OpenPackage, orphans: &Orphans) -> Result<Vec<String>, Failure> {
    for file in orphans.files() {
        let path = opened.package.folder.join(file);
        fs::remove_file(&path)
            .map_err(|error| Failure::new(format!("`{file}` cannot be removed: {error}")))?;
        // A folder of runs without a run is no layout any more.
        if let Some(folder) = path.parent() {
            _ = fs::remove_dir(folder);
        }
    }
    Ok(orphans.files().map(ToOwned::to_owned).collect())
}

fn loading_problems(opened: &OpenPackage) -> Vec<SuiteProblem> {
    let failures = opened.suites.failures().iter();
    let problem = |failure: &mcptest::judge::LoadFailure| SuiteProblem {
        kind: ProblemKind::Load,
        about: failure.case.clone(),
        text: failure.text.clone(),
    };
    failures.map(problem).collect()
}

/// What is odd in the recordings that can be used, each with its file.
fn warnings(opened: &OpenPackage) -> Vec<String> {
    let agents = opened.suites.agents();
    let warnings = agents.iter().filter_map(|agent| agent.runs().ok());
    let warnings = warnings.flatten().flat_map(|run| {
        let of_run = run.warnings().iter();
        of_run.map(|warning| format!("{}: {warning}", run.origin))
    });
    warnings.collect()
}

/// Agents whose recordings cannot be used, with what lies there under a similar name: that is theirs as long as
/// nobody says otherwise, and no orphan.
fn recording_problems(
    opened: &OpenPackage,
    mut orphans: Option<&mut Orphans>,
) -> Vec<SuiteProblem> {
    let agents = opened.suites.agents();
    let errors = in_parallel(&agents, |agent| agent.runs().err());
    let refused = agents
        .iter()
        .zip(errors)
        .filter_map(|(agent, error)| Some((agent, error?)));
    let mut guessed = Vec::new();
    let problem = |(agent, error): (&AgentTest<'_>, RunsError)| {
        let error = error.to_string();
        let mut text = format!("{}: {}", agent.case(), error.trim_end());
        let stem = agent.stem();
        let near = orphans
            .as_ref()
            .and_then(|orphans| nearest(&stem, orphans.stems()));
        if let Some(near) = near.filter(|_| !orphans::is_recorded(&opened.package.folder, agent)) {
            guessed.push(near.to_owned());
            text.push_str(&format!(
                "\n\nhelp: no agent asks for the recordings `{near}`; if they belong to this agent, rename them to `{stem}`"
            ));
        }
        SuiteProblem {
            kind: ProblemKind::Recordings,
            about: agent.case().to_owned(),
            text,
        }
    };
    let problems = refused.map(problem).collect();
    if let Some(orphans) = &mut orphans {
        orphans.exclude(&guessed);
    }
    problems
}
