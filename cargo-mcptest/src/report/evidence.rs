//! What the page shows besides verdicts: what changed since a baseline, which thresholds tell good runs
//! from bad ones, which broken runs the suites notice.

use std::collections::BTreeMap;

use mcptest_suite::escape;
use mcptest_trace::evidence::compare::AgentNames;
use serde::Serialize;
use serde_json::{Value, json};

use crate::calibrate::{Promise, SuiteCalibration};
use crate::compare::{Compare, Compared, ComparisonArgs, Sides, Standing};
use crate::failure::Failure;
use crate::judging::{Filter, OpenPackage};
use crate::mutants;
use crate::output::Output;
use crate::status::ExitStatus;

use super::history;

/// The evidence that a report is asked for.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Additional pages")]
pub(super) struct EvidencePages {
    /// Add what changed since a git revision, a folder of recordings, or a folder of results, as `compare` shows it.
    #[arg(long, value_name = "BASELINE", group = "sides")]
    baseline: Option<String>,
    /// Like `--baseline`, but the rest of the line is the arguments of `compare`: `--compare main --all`.
    #[arg(
        long,
        value_name = "ARGUMENTS",
        num_args = 1..,
        allow_hyphen_values = true,
        group = "sides",
        conflicts_with = "how"
    )]
    compare: Option<Vec<String>>,
    #[command(flatten)]
    how: ComparisonArgs,
    /// Add the thresholds that `calibrate` suggests.
    #[arg(long)]
    calibrate: bool,
    /// Add which broken runs the suites notice, as `mutants --only-green` shows it.
    #[arg(long)]
    mutants: bool,
    /// Add how the agents did in the last 20 commits that changed recordings, or in all commits since a revision.
    #[arg(long, value_name = "REVISION", num_args = 0..=1, default_missing_value = "")]
    history: Option<String>,
}

/// The evidence that was found, as the page has it.
#[derive(Default)]
pub(super) struct ReportEvidence {
    /// What the first page says of it.
    pub(super) changes: Option<BaselineChanges>,
    /// A page each, with what its address is called.
    pub(super) pages: Vec<(&'static str, Value)>,
    /// What could not be told, a line each.
    pub(super) notes: Vec<String>,
    /// The comparison with the baseline.
    pub(super) compared: Option<Compared>,
}

/// What changed since a baseline.
#[derive(Debug, Clone, Serialize)]
pub(super) struct BaselineChanges {
    /// What the runs are compared with.
    baseline: String,
    /// The comparison on one line.
    summary: String,
    /// The agents that changed, those that fail first: the name, how many runs passed before and now, the verdict, and
    /// what only one side does.
    rows: Vec<[String; 4]>,
    /// How each agent stands beside the baseline, by its own case.
    #[serde(skip)]
    pub(super) standings: BTreeMap<String, Standing>,
}

impl EvidencePages {
    pub(super) const fn has_baseline(&self) -> bool {
        self.baseline.is_some() || self.compare.is_some()
    }

    /// The comparison that is asked for with arguments of its own.
    pub(super) fn comparison(&self) -> Result<Option<Compare>, Failure> {
        let arguments = self.compare.as_deref();
        arguments.map(Compare::from_arguments).transpose()
    }

    /// What is compared, and how, where a comparison is asked for.
    pub(super) fn sides(
        &self,
        opened: &OpenPackage,
    ) -> Result<Option<(Sides, ComparisonArgs)>, Failure> {
        Ok(match (self.comparison()?, &self.baseline) {
            (Some(asked), _) => asked.sides(opened)?.map(|it| (it, asked.how().clone())),
            (None, Some(baseline)) => {
                let sides = Sides::read(opened, baseline, None)?;
                Some((sides, self.how.clone()))
            }
            (None, None) => None,
        })
    }

    /// Whether what only the HTML report has is asked for.
    pub(super) const fn has_pages(&self) -> bool {
        self.calibrate || self.mutants || self.history.is_some()
    }

    const fn is_any(&self) -> bool {
        self.has_baseline() || self.has_pages()
    }

    /// Finds what is asked for. A baseline that cannot be used ends the command; that there is nothing
    /// to calibrate or to break is a note. `opened`: the suites that judge; `work_tree`: the package where it is.
    pub(super) fn find(
        &self,
        (opened, work_tree): (&OpenPackage, &OpenPackage),
        compared: Option<(Sides, ComparisonArgs)>,
        output: &mut Output<'_>,
    ) -> Result<ReportEvidence, Failure> {
        let mut evidence = ReportEvidence::default();
        if !self.is_any() {
            return Ok(evidence);
        }
        opened.require_whole(output)?;
        if let Some((sides, how)) = compared {
            let compared = Compared::new(opened, sides, &how)?;
            let [baseline, candidate, outcomes] = compared.describe_sides();
            // The page alone would leave the exit status without a reason.
            let last = compared.comparison.notes().pop().unwrap_or_default();
            writeln!(
                output.err,
                "compared with {}: {}",
                escape(&baseline),
                escape(&last)
            )?;
            let mut page = compared.json();
            page["said"] =
                json!({ "baseline": baseline, "candidate": candidate, "outcomes": outcomes });
            // The page shows them in one order.
            page["agents"] = json!(compared.comparison.ranked());
            page["rows"] = json!(compared.comparison.rows());
            page["rule"] = json!(compared.comparison.rule_line());
            page["notes"] = json!(compared.notes());
            evidence.changes = Some(BaselineChanges::new(&compared, baseline));
            evidence.pages.push(("compare", page));
            evidence.compared = Some(compared);
        }
        if self.calibrate {
            let suites = Promise::default().suites(opened, &Filter::default(), output);
            let page = suites.map(|suites| {
                let suites: Vec<Value> = suites.iter().map(SuiteCalibration::page).collect();
                json!({ "suites": suites })
            });
            evidence.add_page("calibrate", page)?;
        }
        if self.mutants {
            evidence.add_page("mutants", mutants::page(opened))?;
        }
        if let Some(since) = &self.history {
            let since = Some(since.as_str()).filter(|since| !since.is_empty());
            evidence.add_page("history", history::page(work_tree, since))?;
        }
        Ok(evidence)
    }
}

impl ReportEvidence {
    fn add_page(
        &mut self,
        name: &'static str,
        page: Result<Value, Failure>,
    ) -> Result<(), Failure> {
        match page {
            Ok(page) => self.pages.push((name, page)),
            Err(failure) if failure.status == ExitStatus::CannotTell => {
                self.notes.push(format!("{name}: {}", failure.message()));
            }
            Err(failure) => return Err(failure),
        }
        Ok(())
    }
}

impl BaselineChanges {
    fn new(compared: &Compared, baseline: String) -> Self {
        let comparison = &compared.comparison;
        let names = AgentNames::from_comparison(comparison);
        // The first row is the head.
        let rows = comparison.rows().into_iter().skip(1);
        let agents = comparison.ranked().into_iter().zip(rows);
        let changed = agents.filter(|(agent, _)| agent.is_reported(&comparison.options));
        let mut rows: Vec<[String; 4]> = changed
            .map(|(_, row)| {
                let [agent, passed, .., verdict] = row.cells;
                [agent, passed, verdict, row.described.unwrap_or_default()]
            })
            .collect();
        for (what, agents) in [
            ("new", &comparison.new),
            ("gone", &comparison.gone),
            ("dropped", &comparison.dropped),
        ] {
            let agents = agents.iter();
            rows.extend(agents.map(|agent| {
                let name = names.escaped(agent);
                [name, String::new(), what.to_owned(), String::new()]
            }));
        }
        rows.extend(comparison.not_comparable.iter().map(|agent| {
            let first = agent.differences.first().cloned().unwrap_or_default();
            let name = names.escaped(&agent.agent);
            [name, String::new(), "not comparable".to_owned(), first]
        }));
        Self {
            baseline,
            summary: comparison.notes().pop().unwrap_or_default(),
            rows,
            standings: compared.standings(),
        }
    }
}
