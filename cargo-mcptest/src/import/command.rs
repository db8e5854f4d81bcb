//! The command.

mod repeat_options;
mod undoing;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

use mcptest_suite::model::Suite;
use mcptest_suite::portable_path;
use mcptest_trace::record::redact::Redactor;
use serde_json::json;

use super::names;
use super::neighbours::{Neighbours, excluding_folder, other_suite_root, recordings_folder};
use super::opening;
use super::plan::ImportPlan;
use super::reason::Reason;
use super::recorded;
use super::redact::redactor;
use super::report::Reports;
use super::run_cache::RunCache;
use super::starter::{CalledTools, Starter};
use super::store::StoreOptions;
use super::summary::{self, SummaryRow};
use super::writing::{ImportOutcome, Writing};
use crate::failure::Failure;
use crate::files;
use crate::output::OutputFormat;
use crate::status::ExitStatus;
use mcptest_import::FormatKind;
use mcptest_import::Mapping;
use mcptest_import::{GroupBy, Reading};
use mcptest_trace::text::pluralize;

/// Makes recordings from runs in another format, and proposes a suite for them.
///
/// Example: `cargo mcptest import traces/ --suite suites/refunds.yml`
///
/// The command overwrites nothing and fetches nothing. It reports what it cannot import, and imports the rest. The exit
/// status is 0 if everything was imported or was there already, 1 if something was reported, 2 if nothing could be
/// imported.
#[derive(Debug, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are switches of a command line"
)]
pub(crate) struct Import {
    /// Files, folders, patterns, or `-` for standard input.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The suite that the runs belong to, e.g. `suites/refunds.yml`. If there is no such file, a first suite is written.
    #[arg(long, value_name = "FILE", value_parser = parse_suite_file)]
    suite: PathBuf,
    /// The format of the files. Usually the command recognises it.
    #[arg(long, value_enum)]
    from: Option<FormatKind>,
    #[command(flatten)]
    mapping: Mapping,
    /// Make one agent of all runs with the same task: `task`, or a JSON pointer to a field of the record. May be repeated.
    #[arg(long, value_name = "task|/POINTER")]
    group_by: Vec<String>,
    /// Write one file for each agent, with one run on each line.
    #[arg(long)]
    jsonl: bool,
    /// Replace the recordings that an agent has.
    #[arg(long)]
    replace: bool,
    /// Take an import back. Give the same arguments as for the import. The command shows and removes the recordings, and the
    /// first suite, that are still as the import wrote them. With `--check` it only shows them.
    #[arg(long)]
    undo: bool,
    /// A regular expression. The command removes its matches from the recordings. May be repeated.
    #[arg(long, value_name = "REGEX")]
    redact: Vec<String>,
    /// Keep the values of keys such as `password`, `api_key` and `authorization`, and logins in URLs.
    #[arg(long)]
    keep_named: bool,
    /// The format of the output.
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
    /// Show what would be done, and write nothing.
    #[arg(long)]
    check: bool,
}

/// A file that the harness does not find as a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NotASuite {
    path: PathBuf,
}

impl fmt::Display for NotASuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no test would find it: a suite's file ends in `.yml`, e.g. `suites/{}.yml`",
            self.path.file_stem().unwrap_or_default().to_string_lossy()
        )
    }
}

impl Error for NotASuite {}

/// A file that the harness finds as a suite.
fn parse_suite_file(text: &str) -> Result<PathBuf, NotASuite> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|end| end.to_str()) {
        Some("yml" | "yaml") => Ok(path),
        _ => Err(NotASuite { path }),
    }
}

impl Import {
    /// Imports, says what was done, and returns the exit status.
    pub(crate) fn run(
        &self,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> Result<ExitStatus, Failure> {
        let shown = portable_path(&self.suite);
        if let Some(folder) = excluding_folder(&self.suite) {
            return Err(Failure::new(format!(
                "no test would find `{shown}`: tests look for no suite in a folder named `{folder}`; write the suite elsewhere, \
                 e.g. `suites/{}`",
                self.suite.file_name().unwrap_or_default().to_string_lossy()
            )));
        }
        let suite = if self.suite.exists() {
            Some(
                Suite::read(&self.suite, &shown)
                    .map_err(|error| Failure::new(error.to_string()))?,
            )
        } else {
            None
        };
        let mut mapping = self.mapping.clone();
        let of_suite = suite.iter().flat_map(|suite| &suite.servers);
        mapping.add_servers(of_suite.map(|server| server.name.value.as_str()));
        let group_by = self.group_by()?;
        let redactor = self.redactor(suite.as_ref())?;
        let mut done = ImportOutcome::default();
        let given = mcptest_import::find_files(&self.files);
        for error in &given.unreadable {
            done.reports.add_unreadable(error);
        }
        if let Some(note) = given.note() {
            done.reports.add_note(&note);
        }
        let (inputs, files) = opening::open(&given.files, self.from, &mut done.reports);
        let reading = Reading::new(&inputs, &mapping, &group_by, &redactor);
        let mut plan = ImportPlan::new(&reading, files, &mut done.reports);
        if plan.found.is_empty() && done.reports.count() == 0 {
            for input in &inputs {
                let what = "the file has no call of a model or of a tool";
                done.reports.add(Reason::NoRuns, &input.shown, what);
            }
        }
        self.report_absent(&plan, &group_by, &mut done.reports);
        let options = StoreOptions {
            jsonl: self.jsonl,
            replace: self.replace,
            check: self.check,
        };
        let place = recordings_folder(&self.suite);
        let neighbours = Neighbours::new(&self.suite, &place, options, &redactor);
        let is_given = self.mapping.agent.is_some();
        let owned = recorded::match_entries(&mut plan, suite.as_ref(), is_given, &neighbours);
        let names = names::assign_names(
            &plan.groups,
            &owned,
            suite.as_ref(),
            is_given,
            &neighbours,
            &mut done.reports,
        );
        let of_suite = suite.as_ref().map(|suite| suite.source.text());
        let remembered = redactor.redact_text(&self.repeat_options()).into_owned();
        done.starter = Starter::new(CalledTools::new(&plan, of_suite), &remembered);
        let mut writing = Writing {
            options,
            reading: &reading,
            plan: &plan,
            suite: suite.as_ref(),
            neighbours: &neighbours,
            place: &place,
            reread: RunCache::default(),
            done,
        };
        if self.undo {
            return self.take_back(writing, &names, out, err);
        }
        writing.write_all(&names)?;
        let mut done = writing.done;
        self.add_notes(&mut done, suite.is_none());
        if let Some(note) = other_suite_root(&self.suite) {
            done.reports.add_note(&note);
        }
        let proposed = self.propose_suite(suite.is_none(), &shown, &mut done)?;
        self.print(&done, &redactor, proposed.as_deref(), out, err)?;
        let imported = done.rows.iter().any(|row| row.new + row.present > 0);
        Ok(match (imported, done.reports.count()) {
            (false, _) => ExitStatus::CouldNotRun,
            (true, 0) => ExitStatus::Holds,
            (true, _) => ExitStatus::Finding,
        })
    }

    /// Tells what the command asks for by name and no run has.
    fn report_absent(&self, plan: &ImportPlan, group_by: &[GroupBy], reports: &mut Reports) {
        if plan.found.is_empty() {
            return;
        }
        if let (Some(name), false) = (&self.mapping.score, plan.is_scored) {
            let what = format!("no run has a number, a boolean or a verdict named `{name}`");
            let place = format!("--score {name}");
            reports.add(Reason::NoScore, &place, &what);
        }
        for (by, named) in group_by.iter().zip(&self.group_by) {
            if !plan.grouped_by.contains(by) {
                let place = format!("--group-by {named}");
                let what =
                    "no run has this field, so runs belong to one agent if the user says the same";
                reports.add(Reason::NoField, &place, what);
            }
        }
    }

    /// What is to be known of all runs together.
    fn add_notes(&self, done: &mut ImportOutcome, absent: bool) {
        let single = done
            .rows
            .iter()
            .filter(|row| row.new + row.present == 1)
            .count();
        let ways = [
            (
                self.mapping.agent.is_none(),
                "`--agent NAME` if the user asked the same",
            ),
            (
                self.group_by.is_empty(),
                "`--group-by task` or `--group-by /POINTER` if the runs do the same task",
            ),
        ];
        let ways: Vec<&str> = ways
            .into_iter()
            .filter(|(is_open, _)| *is_open)
            .map(|(_, way)| way)
            .collect();
        if absent && single > 2 && 2 * single > done.rows.len() && !ways.is_empty() {
            done.reports.add_note(&format!(
                "{single} agents have one run each. To make one agent of several runs: {}",
                ways.join(", ")
            ));
        }
        let unknown: usize = done.rows.iter().map(|row| row.unknown).sum();
        if unknown > 0 {
            let way = match self.mapping.error_if {
                Some(_) => {
                    "`--error-if` finds failed calls only; a result that it does not match stays unknown"
                }
                None => "`--error-if REGEX` finds failed calls by the text of the result",
            };
            let (do_not, their) = if unknown == 1 {
                ("does not", "its")
            } else {
                ("do not", "their")
            };
            done.reports.add_note(&format!(
                "{} {do_not} say whether {their} call failed, and gates count such a call as a success (a limit on errors fails): {way}",
                pluralize(unknown, "result")
            ));
        }
        let undecided: usize = done.rows.iter().map(|row| row.undecided).sum();
        if undecided > 0 {
            done.reports.add_note(&format!(
                "{} with a reward that is neither 0 nor 1: whether they passed is unknown; give the lowest reward of a run that \
                 passed: `--pass-at REWARD`",
                pluralize(undecided, "run")
            ));
        }
    }

    fn group_by(&self) -> Result<Vec<GroupBy>, Failure> {
        let by = |text: &String| match text.as_str() {
            "task" => Ok(GroupBy::Task),
            text if text.starts_with('/') => Ok(GroupBy::Field(text.to_owned())),
            text => Err(Failure::new(format!(
                "`--group-by {text}` is neither `task` nor a JSON pointer such as `/domain`"
            ))),
        };
        self.group_by.iter().map(by).collect()
    }

    fn redactor(&self, suite: Option<&Suite>) -> Result<Redactor, Failure> {
        let variables = suite.into_iter().flat_map(Suite::secret_variables);
        let of_suite = suite.into_iter().flat_map(|suite| &suite.redact);
        let of_suite = of_suite.map(|pattern| pattern.value.as_str());
        let own = of_suite.chain(self.redact.iter().map(String::as_str));
        let redactor = redactor(variables, own, self.keep_named);
        redactor.map_err(|error| Failure::new(error.to_string()))
    }

    /// Writes a first suite, or returns the entries that one lacks.
    fn propose_suite(
        &self,
        absent: bool,
        shown: &str,
        done: &mut ImportOutcome,
    ) -> Result<Option<String>, Failure> {
        if done.starter.is_empty() {
            return Ok(None);
        }
        if !absent {
            let entries = done.starter.entries().map(str::to_owned);
            return Ok(entries
                .map_err(|error| {
                    let reports = &mut done.reports;
                    reports.add(Reason::NoEntries, shown, &error.to_string());
                })
                .ok()
                .filter(|entries| !entries.is_empty()));
        }
        match done.starter.suite(&self.suite, shown) {
            Ok(text) if !self.check => {
                if let Some(folder) = self.suite.parent() {
                    fs::create_dir_all(folder)?;
                }
                files::create(&self.suite, &text)?;
                done.proposed = true;
            }
            Ok(_) => done.proposed = true,
            Err(error) => {
                let reports = &mut done.reports;
                reports.add(Reason::NoSuite, shown, &error.to_string());
            }
        }
        Ok(None)
    }

    fn print(
        &self,
        done: &ImportOutcome,
        redactor: &Redactor,
        missing: Option<&str>,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> Result<(), Failure> {
        let redacted = |text: &str| redactor.redact_text(text).into_owned();
        if self.format == OutputFormat::Json {
            let (reports, notes) = done.reports.json();
            let said = json!({
                "format": "import/1.0",
                "rows": done.rows.iter().map(SummaryRow::json).collect::<Vec<_>>(),
                "reports": reports,
                "notes": notes,
                "tools": done.starter.tools().json(),
                "suspects": done.doubts.iter().map(summary::doubt).collect::<Vec<_>>(),
                "redacted": done.redacted.iter().collect::<BTreeMap<_, _>>(),
                "missing_entries": missing,
                "replacing_entries": done.starter.replacements(),
            });
            writeln!(
                out,
                "{}",
                redacted(&mcptest_trace::trace::pretty_json(&said))
            )?;
            return Ok(());
        }
        write!(err, "{}", redacted(&done.reports.render()))?;
        if !done.rows.is_empty() {
            write!(out, "{}", summary::table(&done.rows))?;
            writeln!(
                out,
                "recordings: {}",
                portable_path(&recordings_folder(&self.suite))
            )?;
        }
        if done.proposed {
            writeln!(out, "first suite: {}", portable_path(&self.suite))?;
        }
        if self.check && !done.rows.is_empty() {
            writeln!(out, "nothing was written, because of `--check`")?;
        }
        write!(out, "{}", redacted(&done.reports.render_notes()))?;
        write!(out, "{}", redacted(&done.starter.tools().render()))?;
        summary::doubts(&done.doubts, out)?;
        for (kind, count) in done.redacted.iter() {
            writeln!(out, "redacted: {kind}: {count}")?;
        }
        if let Some(missing) = missing {
            writeln!(
                out,
                "the suite does not have these agents yet; add them below `agents:`\n{missing}"
            )?;
        }
        if !done.starter.replacements().is_empty() {
            writeln!(
                out,
                "the suite's comments on the runs of these agents are no longer true; replace their entries with these\n{}",
                done.starter.replacements()
            )?;
        }
        if done.reports.count() > 0 {
            let rest = match (done.rows.is_empty(), self.check) {
                (true, _) => "nothing is imported",
                (false, false) => "the rest is imported",
                (false, true) => "the rest can be imported",
            };
            let problems = pluralize(done.reports.count(), "problem");
            writeln!(err, "{problems}; {rest}")?;
        }
        Ok(())
    }
}
