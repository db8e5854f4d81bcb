//! The runs of an agent that are not what its code does now.
//!
//! Every recording is played to the code, as the gate `playback` plays it; an agent without code of its own is
//! looked at as its suite declares it.

use std::slice;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mcptest_suite::Subject;
use mcptest_suite::model::{Agent, GateKind};
use mcptest_trace::record::say;
use mcptest_trace::record::store::Store;
use mcptest_trace::text::pluralize;

use super::session::first_run;
use super::work::Work;
use super::{LiveRecording, REQUEST, ToRecord, lock, own_driver, store_failure, to_failure};
use crate::gate::{CompiledGate, Input, Unplayable, scope};
use crate::harness::agent_runs::AgentRuns;
use crate::harness::loaded::LoadedSuite;
use crate::harness::lookup::PlaceError;
use crate::harness::playing::{AgentPlayer, Driver};
use crate::harness::runs;
use crate::record::{Live, LiveError, PlayedRun};
use crate::render::Failure;
use crate::trace::Run;
use mcptest_trace::text::{run_numbers, shorten};

/// How many played runs are kept, so that no case plays them again.
const KEPT: usize = 2_000;

/// The longest reason.
const LONGEST: usize = 240;

impl LiveRecording {
    /// What is to be recorded of an agent so that all its runs are what its code does now.
    pub(super) fn find_changed(
        &self,
        suite: &LoadedSuite,
        at: Subject,
        asked: ToRecord<'_>,
    ) -> Work {
        match self.compare(suite, at, asked) {
            Ok(work) | Err(work) => work,
        }
    }

    /// Compares the recordings with what the code does now. An error is work that is found before anything is
    /// played, or instead of it.
    fn compare(&self, suite: &LoadedSuite, at: Subject, asked: ToRecord<'_>) -> Result<Work, Work> {
        let agent = asked.agent;
        let fails = |error: LiveError| Work::Fails(to_failure(agent, error));
        if let Some(why) = self.refused.get() {
            return Err(fails(LiveError::new(format!("not recorded: {why}"))));
        }
        own_driver::check_driver(self, agent, first_run(&asked.own_lookup()).as_ref())
            .map_err(fails)?;
        let driver = Driver::for_agent(suite, at, None);
        let code = match &driver {
            // Of an agent without code, what its suite asks is all that changes.
            Driver::Code(code) if self.has_own_code(agent) => Some(code),
            _ => None,
        };
        if agent.command.is_some() && code.is_none() {
            // This build cannot run it, and says so.
            let prepared = self.driver(agent).prepare(asked.suite, agent, asked.model);
            prepared.map_err(fails)?;
        }
        self.finish_replacing(&asked).map_err(Work::Fails)?;
        let (runs, unreadable) = self.read_runs(&asked).map_err(Work::Fails)?;
        let declared = agent.runs.value;
        let (played, unplayed) = match code {
            Some(code) if !runs.is_empty() => (Some(play_runs(suite, at, code, runs)?), Vec::new()),
            _ => (None, runs),
        };
        let runs = played
            .as_ref()
            .map_or(&unplayed[..], |played| played.runs.runs());
        let mut changes = Vec::new();
        for (place, run) in runs.iter().enumerate() {
            let stale = (asked.stale)(slice::from_ref(run));
            let stale = stale.first().map(|finding| {
                let message = &finding.problem.message;
                let in_one = scope(1, 1);
                message.strip_suffix(&in_one).unwrap_or(message).to_owned()
            });
            let differs = match &played {
                Some(played) => played.differs(place)?,
                None => request_change(&asked, run),
            };
            if let Some(why) = stale.or(differs) {
                changes.push((place, why));
            }
        }
        if let Some(played) = &played
            && let (true, Some(failure)) = (changes.is_empty(), played.ends_badly())
        {
            return Err(Work::Fails(failure));
        }
        let missing = declared.saturating_sub(runs.len());
        let Some(why) = change_reason(&changes, missing, declared, unreadable) else {
            let is_whole = runs.len() == declared;
            if let Some(played) = played
                && is_whole
                && agent.gate(GateKind::Playback).is_some()
                && self.kept.fetch_add(declared, Ordering::Relaxed) < KEPT
            {
                suite.keep_runs(at, played.runs);
            }
            return Ok(Work::Nothing);
        };
        if self.asked.only_runs {
            let kept = runs.len() - changes.len();
            let is_chosen = kept > 0 && !changes.is_empty();
            let mut places: Vec<usize> = changes.iter().map(|(place, _)| *place).collect();
            let mut kept = (0..runs.len()).filter(|place| !places.contains(place));
            if let Some(why) = kept.find_map(|place| request_change(&asked, &runs[place])) {
                return Err(fails(LiveError::new(format!("not recorded: {why}")).help(
                    "record all runs of the agent again, without `--only-runs`, or take back the change",
                )));
            }
            places.extend(runs.len()..declared);
            return Ok(Work::Some {
                places,
                chosen: is_chosen,
                why,
            });
        }
        let left = unchanged_runs(suite, at, asked, code)?;
        Ok(Work::All {
            count: declared - left.len(),
            left: Some(left),
            why: Some(why),
        })
    }

    /// Goes on where a process was killed while it replaced runs, so that what is read is whole.
    fn finish_replacing(&self, asked: &ToRecord<'_>) -> Result<(), Failure> {
        let Some(store) = asked.store().filter(Store::is_interrupted) else {
            return Ok(());
        };
        if self.asked.dry_run {
            return Ok(());
        }
        let stored = |error| store_failure(asked.agent, asked.place, &error);
        let _lock = lock(asked.agent, &asked.lookup(), asked.place, &stored)?;
        store.finish_interrupted().map(drop).map_err(stored)
    }

    /// The recordings, and why some of them cannot be read.
    fn read_runs(&self, asked: &ToRecord<'_>) -> Result<(Vec<Run>, Option<String>), Failure> {
        let agent = asked.agent;
        let (files, not_read) = match asked.lookup().files_and_rest() {
            Ok(found) => found,
            Err(PlaceError::Nothing { .. }) => return Ok((Vec::new(), None)),
            Err(error) => return Err(runs::place_problem(agent, error, asked.place.command)),
        };
        if !not_read.is_empty() {
            return Err(runs::not_read_problem(agent, &not_read));
        }
        match runs::read_files(agent, &files) {
            Ok(runs) => Ok((runs, None)),
            Err(failure) if self.asked.only_runs => Err(failure),
            Err(failure) => Ok((Vec::new(), Some(failure.to_line()))),
        }
    }
}

/// The runs that an interrupted recording left, by their numbers, where they are what the code does now.
fn unchanged_runs(
    suite: &LoadedSuite,
    at: Subject,
    asked: ToRecord<'_>,
    code: Option<&Arc<dyn Live>>,
) -> Result<Vec<usize>, Work> {
    let (numbers, runs): (Vec<usize>, Vec<Run>) = asked.interrupted_runs().into_iter().unzip();
    let (Some(code), false) = (code, runs.is_empty()) else {
        return Ok(numbers);
    };
    let played = play_runs(suite, at, code, runs)?;
    for place in 0..numbers.len() {
        if played.differs(place)?.is_some() || played.is_red(place) {
            // They are of another code. Those of them that did not meet the change would be chosen runs.
            let runs = pluralize(numbers.len(), "run");
            say(&format!(
                "{runs} of `{}` that an interrupted recording left: not what the code does now, so they are recorded again too",
                asked.agent.name.value
            ));
            return Ok(Vec::new());
        }
    }
    Ok(numbers)
}

/// Runs that were played to the code.
struct PlayedRuns {
    runs: AgentRuns,
    /// Whether each of them is what the gate does not accept.
    red: Vec<bool>,
    failure: Option<Failure>,
    agent: Agent,
}

/// Plays runs to the code, each once.
fn play_runs(
    suite: &LoadedSuite,
    at: Subject,
    code: &Arc<dyn Live>,
    runs: Vec<Run>,
) -> Result<PlayedRuns, Work> {
    let agent = suite.agent(at);
    let model = &agent.models[at.model].value;
    let runs = AgentRuns::new(suite.source(), agent, model, runs);
    let usual = CompiledGate::playback(agent.name.span);
    let gate = suite.gates(at).get(GateKind::Playback).unwrap_or(&usual);
    let player = AgentPlayer::new(suite, at, &runs, Arc::clone(code));
    // Nothing is judged yet, so nothing is written.
    let snapshots = suite.snapshots(at).compare_only(true);
    let judgement = gate.judge(&Input {
        player: Some(&player),
        ..suite.input(at, &runs, &snapshots)
    });
    let verdicts = judgement.run_verdicts.iter();
    let red: Vec<bool> = verdicts
        .map(|verdict| verdict.passed() != Some(true))
        .collect();
    if red.len() != runs.runs().len() {
        let problem = LiveError::new("the recordings could not be played");
        let why = judgement
            .failure
            .unwrap_or_else(|| to_failure(agent, problem));
        return Err(Work::Fails(why));
    }
    Ok(PlayedRuns {
        runs,
        red,
        failure: judgement.failure,
        agent: agent.clone(),
    })
}

impl PlayedRuns {
    fn is_red(&self, place: usize) -> bool {
        self.red.get(place).copied().unwrap_or_default()
    }

    fn get(&self, place: usize) -> Option<&Result<PlayedRun, Unplayable>> {
        self.runs.played().get()?.get(place)
    }

    /// What the code does otherwise than a run; an error is a code that ended before it asked a model.
    fn differs(&self, place: usize) -> Result<Option<String>, Work> {
        match self.get(place) {
            Some(Err(why)) if why.of_recording => Ok(Some(why.found.clone())),
            Some(Err(why)) => {
                let error = LiveError::new(&why.found);
                let error = LiveError {
                    help: why.help.clone(),
                    ..error
                };
                let shown = why.details.join("\n");
                let error = if shown.is_empty() {
                    error
                } else {
                    error.show(shown)
                };
                Err(Work::Stops(to_failure(&self.agent, error)))
            }
            Some(Ok(played)) if played.report.model_calls == 0 && played.ended.is_some() => {
                let how = played.ended.as_deref().unwrap_or_default();
                let lines = played.stderr.iter().map(|line| format!("| {line}"));
                let title = "the last lines of the program's standard error:".to_owned();
                let shown: Vec<String> = [title].into_iter().chain(lines).collect();
                let error = LiveError::new(format!("{how} before it called a model"));
                let error = if played.stderr.is_empty() {
                    error
                } else {
                    error.show(shown.join("\n"))
                };
                Err(Work::Stops(to_failure(&self.agent, error)))
            }
            Some(Ok(played)) if self.is_red(place) => {
                let report = &played.report;
                let first = report.divergences.iter().chain(&report.unasked).next();
                Ok(first.map(ToString::to_string))
            }
            Some(Ok(_)) => Ok(None),
            None => Ok(Some("the run was not played".to_owned())),
        }
    }

    /// Why code that asks what was recorded does not end as it did: recording it again would end no better.
    fn ends_badly(&self) -> Option<Failure> {
        let is_red = self.red.iter().any(|red| *red);
        self.failure.clone().filter(|_| is_red)
    }
}

/// Whether a run says that something else was asked of it than the suite says now.
fn request_change(asked: &ToRecord<'_>, run: &Run) -> Option<String> {
    let recorded = run.cassette()?;
    let recorded = recorded.get(REQUEST)?.as_str()?;
    (recorded != asked.request())
        .then(|| "recorded with other turns, servers, faults or caps".to_owned())
}

/// Why an agent is recorded anew; nothing where it is not.
fn change_reason(
    changes: &[(usize, String)],
    missing: usize,
    declared: usize,
    unreadable: Option<String>,
) -> Option<String> {
    let of_runs = changes.first().map(|(_, first)| {
        let places: Vec<usize> = changes.iter().map(|(place, _)| *place).collect();
        let runs = if places.len() == 1 { "run" } else { "runs" };
        format!("{runs} {}: {first}", run_numbers(&places))
    });
    let not_there = (missing > 0).then(|| {
        if missing == declared {
            "not recorded yet".to_owned()
        } else {
            format!("{missing} of {} not recorded", pluralize(declared, "run"))
        }
    });
    let reason = of_runs.or(unreadable).or(not_there)?;
    let in_a_line = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(shorten(&in_a_line, LONGEST))
}
