//! `cargo mcptest explain`: every number of some cases, and what it was made of.

use std::collections::HashMap;

use mcptest::judge::PackageCase;
use mcptest::result::{Bound, CaseResult};
use mcptest_suite::escape;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::judging::{Filter, PackageVerdicts, VerdictSource};
use crate::output::{Output, OutputFormat, format_short, indent};
use crate::status::{EXIT_STATUS, ExitStatus};
use mcptest_trace::text::pluralize;

/// The format of what is said, as JSON.
const FORMAT: &str = "explain/1.0";

/// Shows the numbers behind a verdict.
///
/// Example: `cargo mcptest explain refunds::refund_agent::narrative`
///
/// Each target has a row: its value in each run, what the suite asks of it, and how far the value is from the limit. The lines
/// below show where the numbers come from, such as the claims of a closing message. Only a case of `playback` runs your
/// agent's own code, once for each recording.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Explain {
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    source: VerdictSource,
    /// The format of the output.
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

impl Explain {
    pub(crate) fn run(&self, output: &mut Output<'_>) -> Result<ExitStatus, Failure> {
        let verdicts = self.source.read(&self.filter, output)?;
        for note in &verdicts.notes {
            writeln!(output.err, "note: {}", escape(note))?;
        }
        let all = verdicts.opened.suites.cases();
        let known: HashMap<_, _> = all.iter().rev().map(|case| (case.name(), case)).collect();
        let made_of = |case: &CaseResult| {
            let found = known.get(case.case.as_str()).copied();
            let found = found.filter(|case| case.left_out().is_none());
            // The code ran for these verdicts already, wherever they were made.
            let found = found.filter(|case| self.source.judges_here() || !case.runs_code());
            found.map(PackageCase::explain).unwrap_or_default()
        };
        match self.format {
            OutputFormat::Json => {
                let cases = verdicts.cases.iter().map(|case| {
                    json!({ "result": serde_json::to_value(case).unwrap_or_default(), "made_of": made_of(case) })
                });
                let cases: Vec<Value> = cases.collect();
                output.json(&json!({
                    "format": FORMAT,
                    "harness": verdicts.opened.package.versions.json(),
                    "cases": cases,
                    "missing": verdicts.missing,
                    "unreadable": verdicts.unreadable_json(),
                }))?;
            }
            OutputFormat::Text => {
                for case in &verdicts.cases {
                    writeln!(output.out, "{}", text(case, &made_of(case)))?;
                }
                writeln!(output.out, "{}", summary(&verdicts))?;
            }
        }
        Ok(verdicts.status())
    }
}

fn summary(verdicts: &PackageVerdicts) -> String {
    let cases = pluralize(verdicts.cases.len(), "case");
    format!("{cases}: {}", verdicts.tally())
}

/// A case as people read it.
fn text(case: &CaseResult, made_of: &[String]) -> String {
    let mut text = format!("{}: {}", case.case, case.status.as_str());
    if let Some(reason) = &case.reason {
        text.push_str(&format!(" ({reason})"));
    }
    if let Some(asked) = case.asked {
        text.push_str(&format!(
            "\n  asked in {}:{}:{}",
            case.suite.file, asked.line, asked.column
        ));
    }
    if !case.recordings.is_empty() {
        text.push_str(&format!("\n  judged: {}", describe_recordings(case)));
    }
    let counted: Vec<String> = case
        .judged
        .iter()
        .map(|(what, count)| how_many(*count, what))
        .collect();
    if !counted.is_empty() {
        text.push_str(&format!("\n  items to judge: {}", counted.join(", ")));
    }
    text.push('\n');
    if let Some(table) = case.table() {
        text.push_str(&indent(&table));
    }
    for target in &case.targets {
        for bound in &target.bounds {
            text.push_str(&format!("  {}\n", describe_bound(&target.name, bound)));
        }
    }
    for note in &case.notes {
        text.push_str(&format!("  note: {note}\n"));
    }
    match &case.failure {
        Some(failure) if made_of.is_empty() => text.push_str(&indent(&failure.text)),
        // What a failure shows beside its findings is what the numbers were made of.
        Some(failure) => failure.findings.iter().for_each(|finding| {
            text.push_str(&format!("  error: {}\n", finding.message));
            let notes = finding.notes.iter().map(|note| format!("note: {note}"));
            let helps = finding.helps.iter().map(|help| format!("help: {help}"));
            for told in notes.chain(helps).chain(finding.evidence.iter().cloned()) {
                text.push_str(&indent(&indent(&told)));
            }
        }),
        None => {}
    }
    for part in made_of {
        text.push('\n');
        text.push_str(&indent(part));
    }
    escape(&text).into_owned()
}

/// What was asked of a target, and how far it is from that.
fn describe_bound(target: &str, bound: &Bound) -> String {
    let holds = if bound.holds {
        "holds"
    } else {
        "does not hold"
    };
    let by = if bound.default {
        "the gate's default"
    } else {
        "the suite"
    };
    let line = bound
        .line
        .map_or_else(String::new, |line| format!(", line {line}"));
    let margin = bound.margin.map_or_else(String::new, |margin| {
        format!(", margin {}", format_short(margin))
    });
    let path = bound.path.as_deref().unwrap_or(target);
    format!("{path} {}: {holds}{margin} ({by}{line})", bound.asks)
}

/// The recordings, in short: the first, and how many there are.
fn describe_recordings(case: &CaseResult) -> String {
    let shown = |index: usize| {
        let recording = &case.recordings[index];
        let line = recording
            .line
            .map_or_else(String::new, |line| format!(":{line}"));
        format!("{}{line}", recording.path)
    };
    match case.recordings.len() {
        1 => shown(0),
        many => format!("{many} runs, {} … {}", shown(0), shown(many - 1)),
    }
}

/// A count of things, which are named in the plural: `1 call that could leak`, `2 model calls played`.
fn how_many(count: u64, what: &str) -> String {
    let mut words: Vec<&str> = what.split(' ').collect();
    if count == 1
        && let Some(plural) = words.iter_mut().find(|word| word.ends_with('s'))
    {
        *plural = &plural[..plural.len() - 1];
    }
    format!("{count} {}", words.join(" "))
}
