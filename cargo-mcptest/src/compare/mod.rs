//! `cargo mcptest compare`: did the agents get worse since the recordings we trust, or is that noise?
//!
//! - `how`: what is compared and what fails;
//! - `side`: what a side is, and how it is read;
//! - `accept`: the results of today as a baseline;
//! - `across`: recordings of an agent with whatever model;
//! - `dropped`: agents of the baseline that no suite asks for any more;
//! - `elsewhere`: recordings of the baseline where no suite of today looks for them;
//! - `pair`: which runs of an agent are compared with which;
//! - `remedy`: which runs to record where nothing can be told;
//! - `standing`: how each agent stands beside the baseline.
//!
//! What is computed of them is [`mcptest_trace::evidence::compare`].

mod accept;
mod args;
mod dropped;
mod pair;
mod recordings_folder;
mod remedy;
mod side;
mod standing;
mod unattributed;

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args as _, FromArgMatches as _};
use mcptest::command::command_line;
use mcptest_suite::escape;
use mcptest_trace::evidence::compare::{AgentNames, Comparison, CostKind, ShownAgents, compare};
use mcptest_trace::record::environment::{provider_secrets, secrets_by_name, variables};
use mcptest_trace::record::redact::Redactor;
use mcptest_trace::text::{
    MarkdownBlock, escape_markdown, escape_markdown_but_code, join_blocks, pluralize, wrap,
};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::judging::OpenPackage;
use crate::outcome::{OutcomeRequest, OutcomeSource};
use crate::output::{Output, counted_are};
use crate::package::Judging;
use crate::status::{EXIT_STATUS, ExitStatus};
pub(crate) use args::ComparisonArgs;
use pair::{OverlappingAgent, Pairs};
use recordings_folder::PackageLayout;
pub(crate) use recordings_folder::declared_folders;
use remedy::{MissingRuns, RecordedAgent};
use side::{Side, SidePlace};
pub(crate) use standing::Standing;

/// Compares two sets of recordings: did your agents get worse, or more expensive?
///
/// Example: `cargo mcptest compare main`
///
/// Each side is a git revision, a folder of recordings, or a folder of results. Recordings of a revision are read from
/// git's objects; nothing is checked out. The suites of the working tree judge the recordings of
/// both sides. A folder of results is not judged again.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Compare {
    /// The baseline: a git revision, or a folder.
    #[arg(required_unless_present = "accept")]
    baseline: Option<String>,
    /// The recordings to compare with the baseline. Without this argument: the recordings of the working tree.
    candidate: Option<String>,
    #[command(flatten)]
    judging: Judging,
    #[command(flatten)]
    how: ComparisonArgs,
    /// Also write the results of the working tree into a folder.
    #[arg(long, value_name = "FOLDER", conflicts_with = "accept")]
    save: Option<PathBuf>,
    /// Write the results of the working tree into a folder, as the new baseline. If no baseline is given, nothing is
    /// compared.
    #[arg(long, value_name = "FOLDER")]
    accept: Option<PathBuf>,
    /// Show all agents, not only the agents with a finding.
    #[arg(long)]
    all: bool,
    /// The format of the output.
    #[arg(long, value_enum, default_value_t)]
    format: ComparisonFormat,
}

/// How a comparison is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum ComparisonFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
    /// A table for a pull request.
    Markdown,
}

impl Compare {
    pub(crate) fn run(&self, output: &mut Output<'_>) -> Result<ExitStatus, Failure> {
        let opened = OpenPackage::open(&self.judging, output)?;
        let writes = self.save.is_some() || self.accept.is_some();
        let sides = self.sides(&opened)?;
        // Two revisions have their own suites.
        let at_revision = sides.as_ref().is_some_and(Sides::is_revision_judged);
        if writes || !at_revision {
            opened.require_whole(output)?;
        }
        let Some(sides) = sides else {
            return self.accept(&opened, output);
        };
        let judged = sides.revision_suites(&opened)?;
        let compared = Compared::new(judged.as_ref().unwrap_or(&opened), sides, &self.how)?;
        self.print(&compared, output)?;
        if let Some(folder) = self.save.as_ref().or(self.accept.as_ref()) {
            accept::save(&opened, folder, output)?;
            writeln!(
                output.err,
                "results of today: {}",
                escape(&folder.to_string_lossy())
            )?;
        }
        Ok(compared.status())
    }

    /// What the words after `compare` ask for.
    pub(crate) fn from_arguments(arguments: &[String]) -> Result<Self, Failure> {
        let command = Self::augment_args(clap::Command::new("compare").no_binary_name(true));
        let matches = command.try_get_matches_from(arguments);
        let asked = matches.and_then(|matches| Self::from_arg_matches(&matches));
        asked.map_err(|error| {
            let said = error.to_string();
            let said = said
                .trim_start_matches("error: ")
                .lines()
                .next()
                .unwrap_or_default();
            Failure::new(format!("these are no arguments of `compare`: {said}"))
        })
    }

    /// Which package's recordings are judged.
    pub(crate) const fn judging(&self) -> &Judging {
        &self.judging
    }

    /// What is compared; nothing where there is no baseline.
    pub(crate) fn sides(&self, opened: &OpenPackage) -> Result<Option<Sides>, Failure> {
        let baseline = self.baseline.as_deref();
        let read = |baseline| Sides::read(opened, baseline, self.candidate.as_deref());
        baseline.map(read).transpose()
    }

    pub(crate) const fn how(&self) -> &ComparisonArgs {
        &self.how
    }

    /// Saves the results of today, with nothing to compare them with.
    fn accept(&self, opened: &OpenPackage, output: &mut Output<'_>) -> Result<ExitStatus, Failure> {
        let folder = self.accept.clone().unwrap_or_default();
        let count = accept::save(opened, &folder, output)?;
        let shown = folder.to_string_lossy();
        if self.format == ComparisonFormat::Json {
            output.json(&json!({ "format": "accept/1.0", "folder": shown, "results": count }))?;
        } else {
            writeln!(
                output.out,
                "{} the baseline in {}",
                counted_are(count, "result"),
                escape(&shown)
            )?;
        }
        Ok(ExitStatus::Holds)
    }

    fn print(&self, compared: &Compared, output: &mut Output<'_>) -> Result<(), Failure> {
        match self.format {
            ComparisonFormat::Json => output.json(&compared.json())?,
            ComparisonFormat::Markdown => write!(output.out, "{}", compared.markdown())?,
            ComparisonFormat::Text => {
                let agents = if self.all {
                    ShownAgents::All
                } else {
                    ShownAgents::WithFinding
                };
                write!(output.out, "{}", escape(&compared.text(agents)))?;
            }
        }
        Ok(())
    }
}

/// What says whether a run passed, in words.
fn describe_outcome(outcome: Option<OutcomeSource>) -> &'static str {
    let mixed = "as recorded, if all runs of an agent have an outcome; for other agents, by the gates of the suites";
    outcome.map_or(mixed, OutcomeSource::describe)
}

/// Two sides that are to be compared: the baseline, and the candidate.
pub(crate) struct Sides([Side; 2]);

impl Sides {
    /// The sides that two words mean, the working tree without the second one.
    pub(crate) fn read(
        opened: &OpenPackage,
        baseline: &str,
        candidate: Option<&str>,
    ) -> Result<Self, Failure> {
        let baseline = Side::read(opened, Some(baseline))?;
        Ok(Self([baseline, Side::read(opened, candidate)?]))
    }

    /// Whether a revision is judged, by its own suites and not by those of a changed work tree.
    pub(crate) const fn is_revision_judged(&self) -> bool {
        matches!(self.0[1], Side::Revision { .. })
    }

    /// The package with the suites that judge, where a revision is judged; nothing where the work tree's do.
    pub(crate) fn revision_suites(
        &self,
        opened: &OpenPackage,
    ) -> Result<Option<OpenPackage>, Failure> {
        let candidate = &self.0[1];
        let suites = candidate.revision_suites(opened);
        if let Some(suites) = &suites {
            suites.require_loaded(&candidate.to_string())?;
        }
        Ok(suites)
    }
}

/// Two sides, compared.
pub(crate) struct Compared {
    pub(crate) comparison: Comparison,
    sides: [Side; 2],
    /// What says whether a run passed, where that is the same of all agents.
    outcome: Option<OutcomeSource>,
    /// The score that says it, where one is asked.
    score: Option<String>,
    /// Of which agents there are more runs than before, each in words.
    added: Vec<(String, String)>,
    /// What was looked for on a side that has nothing of what the other has.
    empty_side: Option<String>,
    /// The file of the suite that asked for each agent that no suite asks for now, by their stems, where it is known.
    dropped_suites: BTreeMap<String, Option<String>>,
    /// How agents are recorded, by their stems.
    recorded: BTreeMap<String, RecordedAgent>,
    /// Which runs would decide where nothing can be told.
    more_runs: Vec<MissingRuns>,
}

/// So many characters has a comment on GitHub.
pub(crate) const GITHUB: usize = 65_536;

/// What a comment says at its end that would have more.
pub(crate) fn truncation_note() -> String {
    format!(
        "The rest is left out, because a comment can have at most 65,536 characters: `{}` and `{}` show all of it.",
        command_line("compare"),
        command_line("report")
    )
}

/// What to do about a saved result that is gone or cannot be read.
fn restore_advice() -> String {
    format!(
        "take the file back out of your version control, or save the results again: `{}`",
        command_line("compare --accept <folder>")
    )
}

/// So many notes of a kind are shown where not all are asked for.
const NOTES: usize = 3;

/// Takes the keys of this environment and what looks like one out of a text.
pub(crate) fn redactor() -> Result<Redactor, Failure> {
    let secrets = provider_secrets().chain(secrets_by_name(variables()));
    let redactor = Redactor::new(secrets, Vec::new());
    let redactor = redactor.map_err(|error| Failure::new(error.to_string()))?;
    Ok(redactor.with_shapes().with_secret_keys())
}

impl Compared {
    /// Compares two sides. `opened`: the suites that judge, as [`Sides::revision_suites`] has them.
    pub(crate) fn new(
        opened: &OpenPackage,
        sides: Sides,
        how: &ComparisonArgs,
    ) -> Result<Self, Failure> {
        let Sides(sides) = sides;
        let options = how.options();
        let options = options.with_empty_baseline(sides[0].empty_baseline(&opened.suites.agents()));
        let mut suites = opened.suites.suites();
        if options.cost == CostKind::Usd && suites.all(|(_, suite)| suite.prices.is_empty()) {
            let unpriced = "no suite has `prices`, so the cost of a run in dollars is not known";
            let help = "add the dollars per million tokens of each model to the suites: `prices: { gpt-5: { prompt: 1.25, completion: 10 } }`";
            return Err(Failure::new(unpriced).with_help(help));
        }
        let pairs = Pairs::new(opened, sides.each_ref(), options.cost, how)?;
        let options = options.with_agent_margins(pairs.margins());
        let recorded = pairs.recorded();
        let dropped_suites = pairs.dropped_suites();
        let asked = how.outcome.as_ref();
        let samples = pairs.samples(asked.map(OutcomeRequest::source), &redactor()?);
        let commands = recorded.iter();
        let commands = commands.map(|(stem, how)| (stem.clone(), how.commands()));
        let comparison =
            compare(&samples.agents, &options).with_record_commands(commands.collect());
        let called = AgentNames::from_comparison(&comparison);
        let added = samples.added.into_iter();
        let added = added.map(|OverlappingAgent { agent, all, new }| {
            let name = called.quoted(&agent);
            let said = format!(
                "{name}: {} of its {} are the same as in the baseline; the other {new} are the candidate",
                all - new,
                pluralize(all, "recording")
            );
            (agent, said)
        });
        let empty_side = empty_side(&comparison, &sides, &PackageLayout::new(opened));
        Ok(Self {
            more_runs: remedy::missing_runs(&comparison.undecided(), &recorded),
            recorded,
            added: added.collect(),
            empty_side,
            dropped_suites,
            comparison,
            sides,
            outcome: samples.outcome,
            score: asked
                .and_then(OutcomeRequest::score)
                .map(ToString::to_string),
        })
    }

    pub(crate) const fn status(&self) -> ExitStatus {
        match self.comparison.exit_status() {
            0 => ExitStatus::Holds,
            1 => ExitStatus::Finding,
            _ => ExitStatus::CannotTell,
        }
    }

    /// The sides and what says whether a run passed, for people.
    pub(crate) fn describe_sides(&self) -> [String; 3] {
        let [baseline, candidate] = self.sides.each_ref().map(ToString::to_string);
        let score = self.score.as_ref().map(|score| format!("by `{score}`"));
        let outcomes = score.unwrap_or_else(|| describe_outcome(self.outcome).to_owned());
        [baseline, candidate, outcomes]
    }

    /// The whole comparison, for people.
    fn text(&self, agents: ShownAgents) -> String {
        let [baseline, candidate, outcomes] = self.describe_sides();
        let mut text = format!(
            "{}\n\nbaseline: {baseline}\ncandidate: {candidate}\noutcomes: {outcomes}\n\n{}",
            wrap(&self.comparison.headline(), 0),
            self.comparison.body(agents)
        );
        let more_runs: Vec<String> = self.more_runs.iter().map(ToString::to_string).collect();
        let added: Vec<String> = self.added.iter().map(|(_, said)| said.clone()).collect();
        for notes in [more_runs, added] {
            let most = match agents {
                ShownAgents::All => notes.len(),
                ShownAgents::WithFinding => NOTES,
            };
            for note in notes.iter().take(most) {
                text.push_str(&format!("{}\n", wrap(note, 2)));
            }
            let left = notes.len().saturating_sub(most);
            if left > 0 {
                text.push_str(&format!(
                    "and {left} more such notes (`--all` shows them)\n"
                ));
            }
        }
        let notes = self.empty_side.clone().into_iter();
        let notes = notes.chain(removal_advice(&self.comparison));
        text.extend(notes.map(|line| wrap(&line, 2) + "\n"));
        text
    }

    /// The comparison as Markdown for a comment on a pull request.
    fn markdown(&self) -> String {
        join_blocks(
            &self.filtered_markdown(|_| true),
            GITHUB,
            &truncation_note(),
        )
    }

    /// The agents of a suite, by its file, for a pull request, in pieces. `suites`: the files of all suites. What no
    /// suite asks for any more stands with the suite that asked for it; where that is gone too or not known, it is told
    /// with the first suite, and is none of its agents.
    pub(crate) fn suite_markdown(&self, suite: &str, suites: &[&str]) -> Vec<MarkdownBlock> {
        let of_dropped = |agent: &str| match self.dropped_suites.get(agent).map(Option::as_deref) {
            Some(Some(file)) => suites.contains(&file).then_some(file),
            // Where there is one suite, it is this one.
            Some(None) if suites.len() == 1 => Some(suite),
            _ => None,
        };
        let mut blocks = self.filtered_markdown(|agent| match self.recorded.get(agent) {
            Some(recorded) => recorded.suite == suite,
            None => of_dropped(agent) == Some(suite),
        });
        if suites.first() == Some(&suite) {
            let homeless = |agent: &&String| of_dropped(agent).is_none();
            let agents: Vec<&String> = self.comparison.dropped.iter().filter(homeless).collect();
            let told = self.gone_suites_notes(&agents).into_iter();
            let told = told.map(|line| escape_markdown_but_code(&line));
            blocks.extend(told.map(|line| MarkdownBlock::new(format!("\n{line}\n"))));
        }
        blocks
    }

    /// That agents are gone with the suites that asked for them, a line for each suite.
    fn gone_suites_notes(&self, agents: &[&String]) -> Vec<String> {
        let names = AgentNames::from_comparison(&self.comparison);
        let mut suites: BTreeMap<Option<&String>, Vec<String>> = BTreeMap::new();
        for agent in agents {
            let suite = self.dropped_suites.get(*agent).and_then(Option::as_ref);
            suites.entry(suite).or_default().push(names.quoted(agent));
        }
        let told = suites.into_iter().map(|(suite, agents)| {
            let agents = agents.join(", ");
            match suite {
                Some(file) => format!(
                    "gone with the suite {}: {agents}",
                    remedy::inline_code(file)
                ),
                None => format!("gone, and of no suite that is known: {agents}"),
            }
        });
        let mut told: Vec<String> = told.collect();
        if !told.is_empty() {
            told.extend(removal_advice(&self.comparison));
        }
        told
    }

    fn filtered_markdown(&self, keep: impl Fn(&str) -> bool) -> Vec<MarkdownBlock> {
        let part = self.comparison.filter_agents(&keep);
        let mut blocks = part.markdown_blocks();
        let paragraph = |text: String| MarkdownBlock::new(format!("\n{text}\n"));
        let wanted = |agents: &[String]| agents.iter().any(|agent| keep(agent));
        let more_runs = self.more_runs.iter().filter(|more| wanted(more.agents()));
        let more_runs = more_runs.map(|more| escape_markdown_but_code(&more.to_string()));
        // Where the runs are too few stands right below the headline.
        blocks.splice(1..1, more_runs.map(paragraph));
        let added = self.added.iter().filter(|(agent, _)| keep(agent));
        let added = added.map(|(_, said)| said.clone());
        let notes = added
            .chain(self.empty_side.clone())
            .chain(removal_advice(&part));
        blocks.extend(notes.map(|line| paragraph(escape_markdown_but_code(&line))));
        let [baseline, candidate, outcomes] =
            self.describe_sides().map(|said| escape_markdown(&said));
        blocks.push(paragraph(format!(
            "{baseline} → {candidate}, outcomes {outcomes}"
        )));
        blocks
    }

    /// What stands below the table of a page.
    pub(crate) fn notes(&self) -> Vec<String> {
        let empty = self.empty_side.clone().into_iter();
        let empty = empty.chain(removal_advice(&self.comparison));
        let more_runs = self.more_runs.iter().map(ToString::to_string);
        let own = empty
            .chain(self.added.iter().map(|(_, said)| said.clone()))
            .chain(more_runs);
        own.chain(self.comparison.notes()).collect()
    }

    pub(crate) fn json(&self) -> Value {
        let mut value = serde_json::to_value(&self.comparison).unwrap_or_default();
        let [baseline, candidate] = &self.sides;
        value["baseline"] = baseline.json();
        value["candidate"] = candidate.json();
        value["added"] = self.added.iter().map(|(_, said)| said.clone()).collect();
        value["headline"] = self.comparison.headline().into();
        value["undecided"] = json!(self.comparison.undecided());
        value["more_runs"] = self.more_runs.iter().map(ToString::to_string).collect();
        let outcome = self.outcome.map_or("mixed", OutcomeSource::as_str);
        value["outcome"] = self.score.as_deref().unwrap_or(outcome).into();
        value["exit_status"] = self.comparison.exit_status().into();
        value
    }
}

/// How agents are removed on purpose, where some of the baseline are gone and nobody said that it is.
fn removal_advice(comparison: &Comparison) -> Option<String> {
    let asks = !comparison.dropped.is_empty() && !comparison.options.allow_gone;
    asks.then(|| {
        "no suite asks for some agents of the baseline; if this is on purpose, say `--allow-gone`"
            .to_owned()
    })
}

/// What was looked for on a side that has none of what the other has, and where it may be.
fn empty_side(
    found: &Comparison,
    [baseline, candidate]: &[Side; 2],
    package: &PackageLayout,
) -> Option<String> {
    let compared =
        !found.agents.is_empty() || !found.unchanged.is_empty() || !found.not_comparable.is_empty();
    let (which, [side, other], looked_for) = match (&found.new[..], &found.gone[..]) {
        _ if compared => return None,
        ([], []) => return None,
        ([], gone) => ("candidate", [candidate, baseline], gone),
        (new, _) => ("baseline", [baseline, candidate], new),
    };
    let few = looked_for.iter().take(3).map(|stem| format!("`{stem}`"));
    let few = few.collect::<Vec<_>>().join(", ");
    let renewed = match side.place(package, other) {
        SidePlace::Recordings(folder) => folder.has_other_model(looked_for),
        SidePlace::Results(_) => false,
    };
    let renewed = if renewed {
        "; it has recordings of these agents by another model: `--across-models` compares them"
    } else {
        ""
    };
    Some(format!(
        "the {which} {side} has no recording that an agent test asks for; looked for files named {few}{renewed}"
    ))
}
