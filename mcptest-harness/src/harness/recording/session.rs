//! One agent being recorded.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::redaction::{check_suite_secrets, redact_error, redactor};
use super::redaction_counts::RedactionCounts;
use super::tools::{Tools, tools_change};
use super::{LiveRecording, REQUEST, TOOLS, ToRecord, own_driver, prompt_date, runs, to_failure};
use crate::eval::Decisions;
use crate::gate::note_text_agents;
use crate::harness::lookup::RunLookup;
use mcptest_suite::escape_line;
use mcptest_suite::model::GateKind;
use mcptest_trace::record::redact::suspects;
use mcptest_trace::record::store::{Store, StoreError, render};
use mcptest_trace::record::{Recorder, say};

use crate::record::{LiveError, Progress, RunRequest, request_fingerprint};
use crate::render::Failure;
use crate::trace::{CassetteError, Origin, Run, parse_run};

/// An agent at its place, under its lock.
pub(super) struct RecordingSession<'a> {
    pub(super) recording: &'a LiveRecording,
    pub(super) subject: ToRecord<'a>,
    pub(super) store: &'a Store,
    pub(super) stored: &'a dyn Fn(StoreError) -> Failure,
}

impl RecordingSession<'_> {
    /// Adds the runs that are declared and not there; whether all runs are new.
    pub(super) fn add_missing(&self) -> Result<bool, Failure> {
        let declared = self.subject.agent.runs.value;
        let there = self.store.count_runs().map_err(self.stored)?;
        if there >= declared {
            // Interrupted while the last new run was put in its place.
            return self
                .store
                .finish_interrupted()
                .map(|_| false)
                .map_err(self.stored);
        }
        self.store.prepare(declared).map_err(self.stored)?;
        if there == 0 && !self.staged_runs()?.is_empty() {
            return self.record_all(None);
        }
        if there > 0 {
            self.refuse_to_mix()?;
        }
        let before = self.recorded_tools();
        let progress = self.prepare()?;
        let (mut taken, mut last) = (RedactionCounts::default(), None);
        for number in there + 1..=declared {
            let run = self.record_run(number, &progress)?;
            taken.add_run(&run);
            if number == there + 1 {
                self.compare_tools(before.as_ref(), &run);
            }
            self.store.add(&run).map_err(self.stored)?;
            last = Some(run);
        }
        if there == 0 {
            // What was staged does not fit what the suite asks now.
            self.store.discard_staged().map_err(self.stored)?;
        }
        progress.done(declared - there, &self.display_path());
        self.print_summary(&taken, last.as_ref());
        Ok(there == 0)
    }

    /// Records all runs anew, and puts them in place of the old ones when the last one is there; whether all are of this
    /// process.
    ///
    /// `left`: the runs that an interrupted recording left and that are good, where somebody found that out.
    pub(super) fn record_all(&self, left: Option<&[usize]>) -> Result<bool, Failure> {
        let agent = self.subject.agent;
        let declared = agent.runs.value;
        self.store.prepare(declared).map_err(self.stored)?;
        let before = self.recorded_tools();
        let progress = self.prepare()?;
        let mut earlier = self.staged_runs()?;
        earlier.retain(|number, _| left.is_none_or(|left| left.contains(number)));
        if !earlier.is_empty() {
            say(&format!(
                "continuing: {} of {declared} runs of `{}` were recorded before the last recording was interrupted",
                earlier.len(),
                agent.name.value
            ));
        }
        let mut recorded = BTreeMap::<usize, Value>::new();
        while let Some(number) = (1..=declared)
            .find(|number| !recorded.contains_key(number) && !earlier.contains_key(number))
        {
            let run = self.record_run(number, &progress)?;
            self.store.stage(number, &run).map_err(self.stored)?;
            // Runs of other tools are no runs of this agent. Those that an earlier process left are
            // recorded again; servers that change from start to start would be recorded for ever.
            let changed = |others: &BTreeMap<usize, Value>| {
                let mut others = others.values();
                others.find(|other| other[TOOLS] != run[TOOLS]).cloned()
            };
            if let Some(other) = changed(&recorded) {
                return Err(to_failure(agent, tools_change(&other, &run)));
            }
            if changed(&earlier).is_some() {
                say("the tools changed since then: these runs are recorded again too");
                earlier.clear();
            }
            recorded.insert(number, run);
        }
        self.store.publish(declared).map_err(self.stored)?;
        progress.done(recorded.len(), &self.display_path());
        let mut taken = RedactionCounts::default();
        for run in recorded.values() {
            taken.add_run(run);
        }
        self.print_summary(&taken, recorded.values().last());
        if let Some(run) = recorded.values().chain(earlier.values()).next() {
            self.compare_tools(before.as_ref(), run);
        }
        Ok(earlier.is_empty())
    }

    /// Says how much was taken out of the runs that were recorded, and whether the last of them has the date of today.
    pub(super) fn print_summary(&self, taken: &RedactionCounts, last: Option<&Value>) {
        let ToRecord {
            agent, playback, ..
        } = self.subject;
        if agent.command.is_some() && playback.is_none() {
            self.recording.unplayed.add(&agent.name.value);
        }
        let agent = &agent.name.value;
        let dated = last
            .zip(playback)
            .and_then(|(run, options)| prompt_date::date_note(agent, run, options));
        let read = last.and_then(|run| self.read_back(run).ok());
        let silent = read.and_then(|run| note_text_agents(&[run]));
        let silent = silent.map(|told| format!("note: `{agent}`: {told}"));
        for told in [taken.summary(agent), dated, silent].into_iter().flatten() {
            say(&told);
        }
    }

    /// The staged runs, by number, that are of what the suite asks now. Others are recorded again
    /// and so replaced.
    fn staged_runs(&self) -> Result<BTreeMap<usize, Value>, Failure> {
        let agent = self.subject.agent;
        let asked = self.request_fingerprint();
        let staged = self.store.staged().map_err(self.stored)?;
        let fits = |(number, run): &(usize, Value)| {
            *number <= agent.runs.value
                && run[REQUEST] == asked.as_str()
                && self
                    .read_back(run)
                    .is_ok_and(|run| (self.subject.stale)(&[run]).is_empty())
        };
        Ok(staged.into_iter().filter(fits).collect())
    }

    /// What must hold before anything is spent.
    pub(super) fn prepare(&self) -> Result<Progress, Failure> {
        let subject = self.subject;
        let agent = subject.agent;
        let failed = |error| to_failure(agent, error);
        if let Some(why) = self.recording.refused.get() {
            return Err(failed(LiveError::new(format!("not recorded: {why}"))));
        }
        if let (Some(first), false) = (agent.answers.first(), self.recording.has_own_code(agent)) {
            let problem = "`answers:` are for tools of the agent's own code, and no code of this agent is run here";
            let error = LiveError::new(problem).help(
                "add `command: [program, argument]` to the agent, or give its function to the harness: \
                 `mcptest::harness!().agent(run)`; or remove `answers:`",
            );
            let at = Some(first.span);
            return Err(failed(LiveError { at, ..error }));
        }
        let there = first_run(&subject.own_lookup());
        own_driver::check_driver(self.recording, agent, there.as_ref()).map_err(failed)?;
        if there.is_none() {
            self.say_who_records();
        }
        let taken_out = || redactor(subject.suite, agent, subject.redact, None);
        let everywhere = taken_out().map_err(failed)?.without_weak_values();
        check_suite_secrets(agent, subject.model, &everywhere).map_err(failed)?;
        let redactor = taken_out().map_err(failed)?;
        self.recording
            .driver(agent)
            .prepare(subject.suite, agent, subject.model)
            .map_err(|found| failed(redact_error(found, &redactor)))?;
        Ok(Progress::new(&agent.name.value, agent.runs.value))
    }

    /// Says of an agent that may be meant as a function that the built-in agent records it.
    fn say_who_records(&self) {
        let (agent, recording) = (self.subject.agent, self.recording);
        let may_be_code = agent.servers.is_empty()
            || agent.gate(GateKind::Playback).is_some()
            || recording.functions.are_elsewhere();
        if may_be_code && !recording.has_own_code(agent) && !recording.has_own_loop {
            let agent = escape_line(&agent.name.value);
            say(&format!(
                "note: the built-in agent records `{agent}`, which has no `command:`; a function of its crate is recorded by \
                 `MCPTEST_RECORD=missing cargo test`, once it is given to the harness"
            ));
        }
    }

    /// Records one run, live. The run can be read back, and holds no secret.
    pub(super) fn record_run(&self, number: usize, progress: &Progress) -> Result<Value, Failure> {
        let ToRecord {
            suite,
            agent,
            model,
            faults,
            redact,
            ..
        } = self.subject;
        let request = RunRequest::new(agent, &agent.models[model].value, number);
        progress.begin(number);
        // Runs that are alike are told from copies by the millisecond in which they began.
        std::thread::sleep(Duration::from_millis(1));
        let mut recorder = Recorder::new(&request.agent, &request.model);
        recorder.disable_writing();
        if let Some(system_prompt) = &request.system_prompt {
            recorder.system_prompt(system_prompt);
        }
        if !agent.inject.is_empty() {
            recorder.inject(Decisions::new(faults.clone()));
        }
        let live = self.recording.driver(agent);
        let ran = live.run(suite, agent, model, &request, &mut recorder, progress);
        let redactor = redactor(suite, agent, redact, Some(&recorder));
        let redactor = redactor.map_err(|error| to_failure(agent, error))?;
        let ran = ran.map_err(|found| {
            to_failure(
                agent,
                self.with_run_number(number, redact_error(found, &redactor)),
            )
        })?;
        let mut run = ran.unwrap_or_else(|| recorder.cassette());
        run[REQUEST] = self.request_fingerprint().into();
        // A word may look like a credential in a text of the suite, and is compared with it.
        let said = request.user_turns.iter().chain(&request.system_prompt);
        let redactor = redactor.with_kept_texts(said.cloned());
        redactor.redact_run(&mut run);
        self.warn_of_keys(number, &run);
        self.read_back(&run).map_err(|error| {
            let problem = "the recording could not be read back";
            to_failure(
                agent,
                LiveError::new(problem)
                    .show(error.render())
                    .help(error.help),
            )
        })?;
        Ok(run)
    }

    /// Says where a run looks as if it held a key that nothing blanked.
    fn warn_of_keys(&self, number: usize, run: &Value) {
        let places = suspects(run);
        let Some(first) = places.first() else { return };
        let more = match places.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more places"),
        };
        say(&format!(
            "warning: run {number} of `{}` holds text that looks like a key, at `{first}`{more}; \
             read the run before you commit it, and blank the key with `redact:` or `redact_env:`",
            self.subject.agent.name.value
        ));
    }

    /// Says which run it was, and what becomes of those before it.
    fn with_run_number(&self, number: usize, mut error: LiveError) -> LiveError {
        let declared = self.subject.agent.runs.value;
        if declared > 1 {
            error.problem = format!("run {number} of {declared}: {}", error.problem);
        }
        if number > 1 {
            let line = self.subject.place.command;
            let line = line.in_mode(self.recording.asked.mode);
            let kept = format!("the finished runs are kept; `{line}` continues after them");
            error.note = Some(match error.note {
                Some(note) => format!("{note}; {kept}").into(),
                None => kept.into(),
            });
        }
        error
    }

    /// A run as it will be read.
    fn read_back(&self, run: &Value) -> Result<Run, CassetteError> {
        let origin = Origin::file(self.display_path());
        parse_run(render(run).as_bytes(), &origin)
    }

    /// What tells what is asked of the agent from what was asked of it.
    fn request_fingerprint(&self) -> String {
        let subject = self.subject;
        request_fingerprint(subject.suite, subject.agent, subject.model)
    }

    /// New runs are not added to recordings that cannot be read, or that are of something else.
    fn refuse_to_mix(&self) -> Result<(), Failure> {
        let (agent, command) = (self.subject.agent, self.subject.place.command);
        let there = runs::read(agent, &self.subject.lookup(), command)?;
        let stale = (self.subject.stale)(&there);
        if !stale.is_empty() {
            return Err(Failure {
                findings: stale,
                evidence: Vec::new(),
            });
        }
        match first_run(&self.subject.lookup()) {
            Some(run)
                if run[REQUEST].is_string()
                    && run[REQUEST] != self.request_fingerprint().as_str() =>
            {
                let problem =
                    "the existing runs were recorded with other turns, servers, faults or caps";
                Err(to_failure(
                    agent,
                    LiveError::new(problem).help(format!(
                        "record all of them again with `{}`, or take back the change",
                        command.all()
                    )),
                ))
            }
            _ => Ok(()),
        }
    }

    /// Where the runs are now, for people.
    pub(super) fn display_path(&self) -> String {
        let wanted = self.subject.lookup();
        match wanted.layout(self.subject.agent.runs.value) {
            Ok(layout) => wanted.display_path(layout.path()),
            Err(_) => self.subject.agent.name.value.clone(),
        }
    }

    /// The tools that were offered when the present recordings were made.
    pub(super) fn recorded_tools(&self) -> Option<Tools> {
        Tools::from_run(&first_run(&self.subject.own_lookup())?)
    }

    /// Says how the tools changed, if they did.
    pub(super) fn compare_tools(&self, before: Option<&Tools>, run: &Value) {
        let after = Tools::from_run(run);
        let (Some(before), Some(after)) = (before, after) else {
            return;
        };
        if before.fingerprint == after.fingerprint {
            return;
        }
        let headline = format!(
            "the tools of `{}` changed since they were recorded",
            self.subject.agent.name.value
        );
        match before.diff(&after, ["recorded before", "offered now"]) {
            Some(diff) => say(&format!("{headline}:\n{diff}")),
            None => say(&headline),
        }
    }
}

/// The first run that is recorded.
pub(super) fn first_run(wanted: &RunLookup<'_>) -> Option<Value> {
    let files = wanted.files().ok()?;
    let (path, _) = files.first()?;
    let text = std::fs::read_to_string(path).ok()?;
    let lines = path
        .extension()
        .is_some_and(|extension| extension == "jsonl");
    let first = if lines {
        text.lines().find(|line| !line.trim().is_empty())?
    } else {
        &text
    };
    serde_json::from_str(first).ok()
}
