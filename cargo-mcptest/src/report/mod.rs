//! `cargo mcptest report`: the verdicts of a package in one piece, for a page, a pull request, or
//! another program.
//!
//! One file a format, each a function of the verdicts.

mod comment;
mod evidence;
mod history;
mod html;
mod junit;
mod markdown;
mod state;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mcptest_suite::escape;
use mcptest_trace::trace::pretty_json;
use serde_json::json;

use evidence::EvidencePages;
use html::Remarks;
use state::ReportState;

use crate::compare::Compared;
use crate::failure::Failure;
use crate::files;
use crate::judging::{Filter, OpenPackage, PackageVerdicts, VerdictSource};
use crate::output::Output;
use crate::status::{EXIT_STATUS, ExitStatus};

/// The format of a report, as JSON.
const FORMAT: &str = "report/1.0";

/// Writes a report of all cases: an HTML page, Markdown, JSON or `JUnit` XML.
///
/// Example: `cargo mcptest report`
///
/// For a case of `playback`, your agent's own code runs once for each recording, if the agent has a `command:`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Report {
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    source: VerdictSource,
    #[command(flatten)]
    evidence: EvidencePages,
    /// Write the comment of each suite into a file of its own in a folder, with `--format markdown --baseline`. The
    /// status is that of the comparison, or 1 if recordings no longer play; it does not say whether other cases are red.
    #[arg(
        long,
        value_name = "FOLDER",
        requires = "sides",
        conflicts_with = "output"
    )]
    comments: Option<PathBuf>,
    /// The format of the report.
    #[arg(long, value_enum, default_value_t)]
    format: ReportFormat,
    /// The file to write; the command prints its name. Without this option: `target/mcptest/report.html` for a page,
    /// standard output for other formats.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// How a report is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum ReportFormat {
    /// A page for a browser. It needs no other file and no network.
    #[default]
    Html,
    /// For the summary of a CI job, or for a pull request.
    Markdown,
    /// For programs: all results.
    Json,
    /// For CI servers. Each target is a property.
    Junit,
}

impl Report {
    pub(crate) fn run(&self, output: &mut Output<'_>) -> Result<ExitStatus, Failure> {
        if self.evidence.has_pages() && self.format != ReportFormat::Html {
            return Err(
                Failure::new("`--calibrate`, `--mutants` and `--history` are pages of the HTML report")
                    .with_help("for another format, use the commands `calibrate` and `mutants`; only the HTML report has `--history`"),
            );
        }
        let is_markdown = self.format == ReportFormat::Markdown;
        if self.evidence.has_baseline() && !is_markdown && self.format != ReportFormat::Html {
            return Err(Failure::new(
                "`--baseline` is for `--format html` and `--format markdown`",
            )
            .with_help("for another format, use the command `compare`"));
        }
        if self.comments.is_some() && !is_markdown {
            return Err(Failure::new(
                "`--comments` writes Markdown; add `--format markdown`",
            ));
        }
        let mut source = self.source.clone();
        if let Some(asked) = self.evidence.comparison()? {
            source.judging = asked.judging().clone();
        }
        let work_tree = OpenPackage::open(&source.judging, output)?;
        let sides = self.evidence.sides(&work_tree)?;
        // What is shown beside the comparison are the cases of what is compared.
        let judged = sides
            .as_ref()
            .map(|(sides, _)| sides.revision_suites(&work_tree));
        let judged = judged.transpose()?.flatten();
        let (opened, work_tree) = match judged {
            Some(judged) => (judged, Some(work_tree)),
            None => (work_tree, None),
        };
        let verdicts = source.read_package(opened, &self.filter, output)?;
        let work_tree = work_tree.as_ref().unwrap_or(&verdicts.opened);
        let evidence = self
            .evidence
            .find((&verdicts.opened, work_tree), sides, output)?;
        let compared = evidence.compared.as_ref().map(Compared::status);
        let text = match self.format {
            ReportFormat::Html => {
                let remarks = Remarks {
                    state: ReportState::read(work_tree, evidence.compared.as_ref()),
                    changes: evidence.changes,
                    pages: evidence.pages,
                    notes: [&verdicts.notes[..], &evidence.notes].concat(),
                };
                html::render(&verdicts.opened.suites, &verdicts.cases, remarks)?
            }
            ReportFormat::Markdown => match &evidence.compared {
                Some(compared) => {
                    let comments = comment::comments(&verdicts, compared)?;
                    if let Some(folder) = &self.comments {
                        comment::write_comments(&comments, folder)?;
                    }
                    comment::text(&comments)
                }
                None => markdown::report(&verdicts)?,
            },
            ReportFormat::Json => json(&verdicts),
            ReportFormat::Junit => junit::report(&verdicts),
        };
        for note in &verdicts.notes {
            writeln!(output.err, "note: {}", escape(note))?;
        }
        match &self.output {
            Some(path) => {
                write(path, &text)?;
                writeln!(output.out, "{}", path.display())?;
            }
            None if self.format == ReportFormat::Html => {
                let target = &verdicts.opened.package.target;
                let name = "mcptest/report.html";
                let written = files::replace_below(target, name, &text);
                let path = written.map_err(|error| cannot_write(&target.join(name), &error))?;
                writeln!(output.out, "{}", path.display())?;
            }
            None if self.comments.is_some() => {}
            None => output.out.write_all(text.as_bytes())?,
        }
        if let (Some(compared), true) = (compared, self.comments.is_some()) {
            return Ok(comment::status(&verdicts, compared));
        }
        Ok(match (verdicts.status(), compared) {
            (ExitStatus::Holds, Some(compared)) => compared,
            (status, _) => status,
        })
    }
}

/// Writes a report; the folders above it are made.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    folder
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| files::replace(path, text))
        .map_err(|error| cannot_write(path, &error))
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("`{}` cannot be written: {error}", path.display()))
}

fn json(verdicts: &PackageVerdicts) -> String {
    let [passed, failed, ignored] = verdicts.counts();
    let report = json!({
        "format": FORMAT,
        "package": verdicts.opened.package.name,
        "harness": verdicts.opened.package.versions.json(),
        "counts": { "passed": passed, "failed": failed, "ignored": ignored },
        "notes": verdicts.notes,
        "missing": verdicts.missing,
        "unreadable": verdicts.unreadable_json(),
        "cases": serde_json::to_value(&verdicts.cases).unwrap_or_default(),
    });
    pretty_json(&report) + "\n"
}
