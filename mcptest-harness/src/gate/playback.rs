//! The `playback` gate: does the agent's own code, run against a recording, still do what was recorded?

mod evidence;
mod newly_failing;
mod options;
mod volatile;

use std::{iter, ptr};

use mcptest_suite::escape_line;

use self::evidence::{difference_evidence, group_by_text, list_evidence};
use self::newly_failing::newly_failing_gates;
use self::volatile::{VolatileValues, is_of_values};
use super::table::GateEntry;
use super::{Breach, Cause, Counts, EachRun, Input, PlayedFacts, RunScore, Threshold, to_u64};
use crate::eval::{PlaybackOptions, PlaybackReport};
use crate::record::PlayedRun;
use crate::render::Evidence;
use crate::trace::Run;
use mcptest_trace::text::truncate_lines;

/// What to do about a value that no change of the code changed.
const NEW_IN_EVERY_RUN: &str = "new in every run (a date, an id)? `playback: { mask: ['…'] }`, or `ignore_paths: ['tool_results[*].…']` for a value of a result";

pub(super) const ENTRY: GateEntry = GateEntry::each_run::<PlaybackOptions>();

/// Runs an agent's own code against its recordings.
pub(crate) trait Player {
    /// What became of a recorded run, by its place. An error is why it could not be played.
    fn played(&self, run: usize, options: &PlaybackOptions) -> Result<&PlayedRun, Unplayable>;

    /// The command that records the agent anew.
    fn record_again_command(&self) -> String;

    /// Whether the recordings are of this moment, so that the code is the one that was recorded.
    fn is_new(&self) -> bool;
}

/// Why a run was not played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unplayable {
    /// What was found.
    pub(crate) found: String,
    /// What shows it.
    pub(crate) details: Vec<String>,
    pub(crate) help: Option<String>,
    /// The recording is why, and not the code.
    pub(crate) of_recording: bool,
}

/// Why a gate has no number for a run.
fn unplayable_breach(why: Unplayable) -> Box<Breach> {
    let cause = Cause::Gate("the agent's own code must be run against the recording".to_owned());
    Box::new(Breach {
        details: why.details,
        help: why.help,
        ..Breach::new(cause, &why.found)
    })
}

/// What the player made of a run.
fn played_run<'i>(
    options: &PlaybackOptions,
    input: &Input<'i>,
    run: &Run,
) -> Result<&'i PlayedRun, Unplayable> {
    let not_here = || Unplayable {
        found: "no program or function of the agent".to_owned(),
        details: Vec::new(),
        help: None,
        of_recording: false,
    };
    let player = input.player.ok_or_else(not_here)?;
    let place = input.runs.iter().position(|other| ptr::eq(other, run));
    player.played(place.ok_or_else(not_here)?, options)
}

impl EachRun for PlaybackOptions {
    type Report = PlaybackReport;

    const DEFAULT: &'static [Threshold] = &[Threshold::at_least(
        "playback.passed",
        1.0,
        "the agent's code does not do what was recorded",
    )];

    fn score(&self, input: &Input<'_>, run: &Run) -> Result<RunScore<PlaybackReport>, Box<Breach>> {
        let played = played_run(self, input, run).map_err(unplayable_breach)?;
        let mut report = played.report.clone();
        if self.gates {
            report.turned = newly_failing_gates(input, run, played.run.as_ref());
        }
        Ok(RunScore::new(report))
    }

    fn counts(&self, _run: &Run, report: &PlaybackReport) -> Counts {
        Counts::from([("model calls played", to_u64(report.model_calls))])
    }

    fn played_facts(
        &self,
        input: &Input<'_>,
        run: &Run,
        report: &PlaybackReport,
    ) -> Option<PlayedFacts> {
        let place = input.runs.iter().position(|other| ptr::eq(other, run))?;
        let played = played_run(self, input, run).ok()?;
        Some(PlayedFacts::new(place, played, report))
    }

    fn explain(&self, input: &Input<'_>, run: &Run, report: &PlaybackReport) -> Vec<Evidence> {
        let place = input.runs.iter().position(|other| ptr::eq(other, run));
        place.map_or_else(Vec::new, |place| {
            self.explain_all(input, &[(place, report)])
        })
    }

    fn explain_rest(&self, _run: &Run, report: &PlaybackReport) -> Vec<Evidence> {
        if !report.passed() {
            return Vec::new();
        }
        let calls = mcptest_trace::text::pluralize(report.model_calls, "model call");
        let text = format!("the code made {calls}, each as recorded");
        vec![Evidence::Text(text)]
    }

    /// Shows what the broken runs have in common: one change of the code shows in many runs, and is told once.
    fn explain_all(&self, input: &Input<'_>, broken: &[(usize, &PlaybackReport)]) -> Vec<Evidence> {
        let mut evidence = difference_evidence(input, broken);
        let turned =
            group_by_text(broken.iter().flat_map(|(run, report)| {
                report.turned.iter().map(move |line| (*run, line.clone()))
            }));
        if !turned.is_empty() {
            let title = "these hold for the recording, but not for the played run:";
            evidence.push(list_evidence(title, &turned, input, "- "));
        }
        let played = |run: usize| played_run(self, input, &input.runs[run]).ok();
        let ended = group_by_text(
            broken
                .iter()
                .filter_map(|(run, _)| Some((*run, played(*run)?.ended.clone()?))),
        );
        if !ended.is_empty() {
            evidence.push(list_evidence("how the code ended:", &ended, input, "- "));
        }
        let words = broken
            .iter()
            .find_map(|(run, _)| played(*run).filter(|played| !played.stderr.is_empty()));
        if let Some(played) = words {
            let lines = played
                .stderr
                .iter()
                .map(|line| format!("  | {}", escape_line(line)));
            let title = "the last lines of the program's standard error:".to_owned();
            let lines: Vec<String> = iter::once(title).chain(lines).collect();
            evidence.push(Evidence::Text(truncate_lines(&lines)));
        }
        if let Some(player) = input
            .player
            .filter(|_| broken.iter().any(|(_, report)| !report.passed()))
        {
            evidence.extend(remedies(self, player, broken));
        }
        evidence
    }
}

/// What to do about what differs.
fn remedies(
    options: &PlaybackOptions,
    player: &dyn Player,
    broken: &[(usize, &PlaybackReport)],
) -> Vec<Evidence> {
    let differing = || {
        let reports = broken.iter();
        reports.flat_map(|(_, report)| report.divergences.iter().chain(&report.unasked))
    };
    let is_new = player.is_new();
    let changing = VolatileValues::find(differing(), is_new);
    let mut evidence = Vec::new();
    if let Some(changing) = &changing {
        let lines = changing.advice(options, is_new);
        evidence.push(Evidence::Text(truncate_lines(&lines)));
    }
    // Nobody changed the code that was recorded a moment ago.
    if !(is_new && changing.as_ref().is_some_and(|it| it.is_all)) {
        let mut lines = vec![format!(
            "if you did not want this change, correct the code; if you wanted it, record the runs again:\n  {}",
            player.record_again_command()
        )];
        if changing.is_none() && differing().any(is_of_values) {
            lines.push(NEW_IN_EVERY_RUN.to_owned());
        }
        evidence.push(Evidence::Text(lines.join("\n")));
    }
    evidence
}
