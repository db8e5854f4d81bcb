//! `cargo mcptest mutants`: would the suites notice a broken agent?
//!
//! - `judging`: which gates hold on the recorded runs, and which of them notice a mutant;
//! - `outline`: what a run did, for diffs;
//! - `found`: what became of all mutants, as text and as data;
//! - `state`: what became of one;
//! - `page`: the same for the HTML report;
//! - `suggest`: a plan made from the passing runs.
//!
//! How runs are broken, and how that is counted, is [`mcptest_trace::evidence::mutants`].

mod found;
mod judging;
mod outline;
mod page;
mod state;
mod suggest;

use std::path::PathBuf;

use mcptest_suite::{Shard, escape};
use mcptest_trace::evidence::mutants::MutantOptions;

use crate::failure::Failure;
use crate::files;
use crate::judging::{Filter, OpenPackage};
use crate::output::{Output, OutputFormat, counted_are};
use crate::package::Judging;
use crate::percent::{parse_lower_limit, parse_upper_limit};
use crate::status::{EXIT_STATUS, ExitStatus};
pub(crate) use page::page;

use found::MutantsFound;
use judging::Bench;

/// Breaks recorded runs on purpose and counts how many of them your suites notice.
///
/// Example: `cargo mcptest mutants`
///
/// Each broken run, a mutant, differs from its recording in one way: a call is missing, an argument is changed, the
/// closing message claims more. The score is the share of mutants that turn a gate red. Brittleness is the share of harmless
/// changes that turn a gate red. A good suite has a high score and a low brittleness.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Mutants {
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    judging: Judging,
    /// Use only the green gates, even if other gates are red.
    #[arg(long)]
    only_green: bool,
    /// Fail if the score is lower than this, in percent.
    #[arg(long, value_name = "PERCENT", value_parser = parse_lower_limit)]
    fail_under: Option<f64>,
    /// Fail if the brittleness is higher than this, in percent.
    #[arg(long, value_name = "PERCENT", value_parser = parse_upper_limit)]
    fail_brittle: Option<f64>,
    /// The most mutants of one kind for each run.
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    per_operator: usize,
    /// Make every mutant that is possible.
    #[arg(long, conflicts_with = "per_operator")]
    all: bool,
    /// Judge only the shard K of N shards, for several machines; the first is 1.
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    /// The seed for choosing mutants at random.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many mutants that no gate noticed are shown as a diff, for each kind.
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    diffs: usize,
    /// Print a `trajectory` for the calls that change something, made from the passing runs.
    #[arg(long)]
    suggest: bool,
    /// The format of the output.
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

impl Mutants {
    pub(crate) fn run(&self, output: &mut Output<'_>) -> Result<ExitStatus, Failure> {
        let opened = OpenPackage::open_whole(&self.judging, output)?;
        let bench = Bench::new(&opened, &self.filter)?;
        if !bench.red.is_empty() && !self.only_green {
            for red in &bench.red {
                writeln!(output.err, "red: {}", escape(red))?;
            }
            return Err(Failure::new(format!(
                "{} red before anything is broken, and a red gate notices nothing",
                counted_are(bench.red.len(), "gate")
            ))
            .with_help("correct them first, or use only the green gates: `--only-green`"));
        }
        let mut options = MutantOptions::default()
            .with_per_operator((!self.all).then_some(self.per_operator))
            .with_seed(self.seed);
        options.shard = self.shard.map(|shard| (shard.number() - 1, shard.total()));
        let found = MutantsFound::new(&bench, bench.judge(&options))?;
        let folder = write(&opened, &found)?;
        match self.format {
            OutputFormat::Json => output.json(&found.json(&opened))?,
            OutputFormat::Text => {
                write!(output.out, "{}", escape(&found.text(&bench, self.diffs)))?;
                writeln!(
                    output.out,
                    "\nevery mutant on a line: {}",
                    escape(&folder.to_string_lossy())
                )?;
                if self.suggest {
                    write!(output.out, "\n{}", escape(&suggest::plans(&bench)))?;
                }
            }
        }
        self.status(&found, output)
    }

    fn status(
        &self,
        found: &MutantsFound<'_>,
        output: &mut Output<'_>,
    ) -> Result<ExitStatus, Failure> {
        let mut status = ExitStatus::Holds;
        let harm = found.scores.harm.score;
        if let (Some(least), Some(harm)) = (self.fail_under, harm)
            && 100.0 * harm < least
        {
            writeln!(
                output.err,
                "the harm score {:.1}% is under {least}%",
                100.0 * harm
            )?;
            status = ExitStatus::Finding;
        }
        let brittle = found.scores.brittle.share();
        if let (Some(most), Some(brittle)) = (self.fail_brittle, brittle)
            && 100.0 * brittle > most
        {
            writeln!(
                output.err,
                "the brittleness {:.1}% is over {most}%",
                100.0 * brittle
            )?;
            status = ExitStatus::Finding;
        }
        if status == ExitStatus::Holds && self.fail_under.is_some() && harm.is_none() {
            return Err(Failure::inconclusive(
                "no mutant does harm, so there is no harm score",
            ));
        }
        if status == ExitStatus::Holds && self.fail_brittle.is_some() && brittle.is_none() {
            return Err(Failure::inconclusive(
                "no mutant is harmless, so there is no brittleness",
            ));
        }
        Ok(status)
    }
}

/// The files that other programs read: all outcomes, and a line a mutant by what became of it.
fn write(opened: &OpenPackage, found: &MutantsFound<'_>) -> Result<PathBuf, Failure> {
    const FOLDER: &str = "mcptest/mutants";
    let target = &opened.package.target;
    let folder = target.join(FOLDER);
    let outcomes = mcptest_trace::trace::pretty_json(&found.json(opened)) + "\n";
    let files = [
        ("outcomes.json", outcomes),
        (
            "survived.txt",
            found.render_lines(found::MutantState::is_survivor),
        ),
        (
            "killed.txt",
            found.render_lines(|state| state == found::MutantState::Killed),
        ),
        (
            "brittle.txt",
            found.render_lines(|state| state == found::MutantState::Brittle),
        ),
    ];
    let mut written = files.iter();
    let written = written.try_for_each(|(name, text)| {
        files::replace_below(target, &format!("{FOLDER}/{name}"), text).map(|_| ())
    });
    written.map_err(|error| {
        Failure::new(format!(
            "`{}` cannot be written to: {error}",
            folder.display()
        ))
    })?;
    Ok(folder)
}
