//! The second pass: every run is read again, and written.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::error::Error;
use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::rc::Rc;

use mcptest_suite::model::{Agent, Suite};
use mcptest_suite::portable_path;
use mcptest_trace::record::redact::RedactionCounts;
use mcptest_trace::record::store::{RunAppender, Store, StoreError, render_line};
use mcptest_trace::trace::{CassetteError, Origin, Run, parse_run};
use serde_json::{Map, Value};

use super::entries;
use super::names::{Name, by_agent};
use super::neighbours::Neighbours;
use super::plan::{Group, ImportPlan, prompt_digest};
use super::reason::Reason;
use super::report::Reports;
use super::run_cache::RunCache;
use super::starter::{AgentEntry, EntryAction, Starter, is_first_suite};
use super::store::{ExistingRuns, StoreOptions, content_digest, identity, layout, lock};
use super::summary::{Doubt, SummaryRow};
use crate::failure::Failure;
use mcptest_import::Reading;
use mcptest_trace::text::pluralize;

/// What an import has written so far.
#[derive(Default)]
pub(super) struct ImportOutcome {
    pub(super) reports: Reports,
    pub(super) redacted: RedactionCounts,
    pub(super) rows: Vec<SummaryRow>,
    /// Runs that look bad.
    pub(super) doubts: Vec<Doubt>,
    pub(super) starter: Starter,
    /// A first suite was made of it.
    pub(super) proposed: bool,
}

/// The second pass.
pub(super) struct Writing<'w> {
    pub(super) options: StoreOptions,
    pub(super) reading: &'w Reading<'w>,
    pub(super) plan: &'w ImportPlan,
    pub(super) suite: Option<&'w Suite>,
    pub(super) neighbours: &'w Neighbours<'w>,
    pub(super) place: &'w Path,
    pub(super) reread: RunCache,
    pub(super) done: ImportOutcome,
}

impl<'w> Writing<'w> {
    /// Writes the runs of every group.
    pub(super) fn write_all(&mut self, names: &[Name]) -> Result<(), Failure> {
        let (mut doubtful, mut skipped, mut large) = (Vec::new(), Vec::new(), Vec::new());
        let suite = self.suite.map_or("", |suite| suite.source.text());
        let defaults = defaults_text(suite);
        let lines = LazyCell::new(|| suite.lines().collect());
        for groups in by_agent(names) {
            let Some(name) = groups.first().map(|first| &names[*first]) else {
                continue;
            };
            let mut entry = AgentEntry::new(&name.agent);
            // All runs of a task have the prompt of its entry.
            let mut prompt = None;
            // The models of an agent, one after another.
            for index in groups {
                let group = &self.plan.groups[index];
                entry.model(&group.model);
                self.write_group(group, &names[index], &mut entry, &mut prompt)?;
            }
            entry.beside(&defaults);
            let wanted = match self.suite_entry(name) {
                None => EntryAction::Beside,
                Some(agent) if entry.ends_skip_of(agent) || self.is_stale(&entry, &lines) => {
                    EntryAction::InPlace
                }
                Some(_) => EntryAction::Nothing,
            };
            if wanted == EntryAction::Beside && entry.is_skipped() {
                skipped.push(&*name.agent);
            }
            if wanted == EntryAction::Beside && entry.is_too_large() {
                large.push(&*name.agent);
            }
            let runs = entry.kept();
            let suspects = self.done.starter.add(entry, wanted);
            if runs > 0 && suspects.len() == runs {
                doubtful.push(&*name.agent);
            }
            let doubts = suspects.into_iter().map(|it| (Rc::clone(&name.agent), it));
            self.done.doubts.extend(doubts);
        }
        if let Some(who) = first_and_more(&doubtful) {
            self.done.reports.add_note(&format!(
                "every run of {who} looks bad: the first suite may demand bad behaviour"
            ));
        }
        if let Some(who) = first_and_more(&large) {
            let note = format!(
                "too many runs of {who}: the suite asks only for the calls that all of them share; `--group-by` makes \
                 several agents of them"
            );
            self.done.reports.add_note(&note);
        }
        if let Some(who) = first_and_more(&skipped) {
            let note = format!(
                "no run of {who} passed: the suite skips them, and says why; import runs that passed to get a plan"
            );
            self.done.reports.add_note(&note);
        }
        Ok(())
    }

    /// Whether an import wrote the suite of runs that are swapped out, and says of these what is not so of the new
    /// ones.
    fn is_stale<'s>(
        &self,
        entry: &AgentEntry,
        lines: &impl Deref<Target = HashSet<&'s str>>,
    ) -> bool {
        if !self.options.replace || !self.suite.is_some_and(is_first_suite) {
            return false;
        }
        let text = self.done.starter.entry_text(entry);
        let mut comments = text.lines().filter(|line| line.starts_with("    # "));
        entry.kept() > 0 && !comments.all(|line| lines.contains(line))
    }

    /// The entry of the suite that runs belong to.
    fn suite_entry(&self, name: &Name) -> Option<&'w Agent> {
        let (suite, entry) = self.suite.zip(name.entry)?;
        suite.agents.get(entry)
    }

    fn write_group(
        &mut self,
        group: &Group,
        name: &Name,
        entry: &mut AgentEntry,
        prompt: &mut Option<String>,
    ) -> Result<(), Failure> {
        let layout = layout(self.place, &name.stem, self.options.jsonl);
        let mut row = SummaryRow::new(&name.agent, &group.model, portable_path(layout.path()));
        let StoreOptions { replace, check, .. } = self.options;
        let _lock = if check { None } else { Some(lock(&layout)?) };
        let store = Store::new(&layout)?;
        let mut stale = 0;
        let existing = if replace {
            ExistingRuns::default()
        } else {
            ExistingRuns::load(&store, |run| {
                stale += usize::from(prompt_digest(run, self.reading.redactor) != group.asked);
                entry.add(run, check_run(run).ok(), group.by_task);
            })?
        };
        if stale > 0 && !group.by_task {
            self.done.reports.add_note(&format!(
                "`{}` has {} with another prompt, system prompt or model: `--replace` replaces them with these runs",
                name.agent,
                pluralize(stale, "recording")
            ));
        }
        let mut sink = match (check, replace) {
            (true, _) => Sink::Nowhere,
            (false, true) => Sink::replacing(&store)?,
            (false, false) => Sink::Beside(store.appender()?),
        };
        let of_suite = self.suite_entry(name);
        if of_suite.is_some_and(|agent| !entries::has_prompts(agent, group) && !group.by_task) {
            let note = format!(
                "the suite has another prompt for `{}` than these runs: the runs are stale, and their cases fail",
                name.agent
            );
            self.done.reports.add_note(&note);
        }
        if let Some(agent) = of_suite {
            *prompt = Some(agent.prompt.first().value.clone());
        }
        for index in &group.runs {
            let Some((run, place)) = self.prepare_run(*index, group, name, prompt) else {
                continue;
            };
            let id = identity(&run).unwrap_or_default();
            let known = existing.runs.get(&id);
            if known.is_some_and(|known| known.essence == content_digest(&run)) {
                row.present += 1;
                row.count(&run);
                continue;
            }
            if known.is_some() {
                let detail = format!("`{}` has a run with the identifier `{id}`", name.agent);
                self.done.reports.add(Reason::Differs, &place, &detail);
                continue;
            }
            let Some(read) = self.read_back(&run, &place, name) else {
                continue;
            };
            sink.write(&run)?;
            row.new += 1;
            row.count(&run);
            entry.add(&run, Some(read), group.by_task);
        }
        sink.finish()?;
        let is_rewritten = || {
            let agent = self.suite_entry(name);
            agent.is_some_and(|agent| entry.ends_skip_of(agent))
        };
        if let Some(note) = self.count_advice(name, &group.model, existing.count + row.new)
            && row.new + row.present > 0
            && !is_rewritten()
        {
            self.done.reports.add_note(&note);
        }
        if row.new + row.present > 0 {
            self.done.rows.push(row);
        }
        Ok(())
    }

    /// A run as it is read back, if it may be written.
    fn read_back(&mut self, run: &Value, place: &str, name: &Name) -> Option<(Run, usize)> {
        let reports = &mut self.done.reports;
        if let Some(suite) = self.neighbours.suite(&name.stem) {
            let detail = format!(
                "the recordings of `{}` also belong to `{suite}`",
                name.agent
            );
            reports.add(Reason::OtherSuite, place, &detail);
            return None;
        }
        let lose = |error: UnusableRun| {
            reports.add(Reason::NoRecording, place, &error.to_string());
        };
        check_run(run).map_err(lose).ok()
    }

    /// What is to be written where an agent of the suite has another number of recordings than it says.
    pub(super) fn count_advice(&self, name: &Name, model: &str, there: usize) -> Option<String> {
        let (suite, entry) = self.suite.zip(name.entry)?;
        let agent = &suite.agents[entry];
        let said = agent.runs.value;
        // The number may be that of `defaults:`, which others share.
        let place = agent.name.span.start.max(agent.runs.span.start);
        let (line, _) = suite.source.line_column(place);
        let file = suite.source.display_path();
        let who = match agent.models.len() {
            1 => format!("`{}`", name.agent),
            _ => format!("`{}` with `{model}`", name.agent),
        };
        match there {
            0 => Some(format!(
                "{who} has no recordings any more: remove its entry at {file}:{line}"
            )),
            _ if there == said => None,
            _ => Some(format!(
                "{who} has {} now: change `runs: {said}` to `runs: {there}` at {file}:{line}",
                pluralize(there, "recording")
            )),
        }
    }

    /// A run as it is written, and where it comes from.
    pub(super) fn prepare_run(
        &mut self,
        index: u32,
        group: &Group,
        name: &Name,
        prompt: &mut Option<String>,
    ) -> Option<(Value, String)> {
        let reports = &mut self.done.reports;
        let (mut run, place) = self.reread.run(index, self.plan, self.reading, reports)?;
        self.apply_agent(&mut run, group, name, prompt);
        self.reading
            .redactor
            .redact_run_counted(&mut run, &mut self.done.redacted);
        Some((run, place))
    }

    /// Gives a run the name of its agent, and the prompt that all runs of its task have.
    fn apply_agent(
        &mut self,
        run: &mut Value,
        group: &Group,
        name: &Name,
        prompt: &mut Option<String>,
    ) {
        run["agent_name"] = (*name.agent).into();
        if !group.by_task {
            return;
        }
        let own = run["user_prompt"].as_str().unwrap_or_default().to_owned();
        let of_task = prompt.get_or_insert_with(|| own.clone());
        if *of_task != own {
            run["user_prompt"] = of_task.as_str().into();
            if !run["imported"].is_object() {
                run["imported"] = Value::Object(Map::new());
            }
            run["imported"]["user_prompt"] = own.into();
            self.done
                .reports
                .add_note("runs of a task with another prompt than its first run: their recordings have the prompt of the first run, and keep their own prompt under `imported`");
        }
    }
}

/// What a suite says for all its agents: the lines that begin or end with the key, each with the next one.
fn defaults_text(suite: &str) -> String {
    let mut is_next = false;
    let lines = suite.split_inclusive('\n').filter(|line| {
        let was_next = is_next;
        is_next = line.starts_with("defaults:") || line.ends_with("defaults:\n");
        was_next || is_next
    });
    lines.collect()
}

/// The first of some agents, and how many others there are.
fn first_and_more(agents: &[&str]) -> Option<String> {
    let (first, more) = agents.split_first()?;
    Some(match more.len() {
        0 => format!("`{first}`"),
        more => format!("`{first}` and of {}", pluralize(more, "other agent")),
    })
}

/// Where the runs of an agent go.
pub(super) enum Sink<'s> {
    Nowhere,
    /// Beside those that it has.
    Beside(RunAppender<'s>),
    /// In the place of those that it has, once all are there.
    InPlace {
        store: &'s Store,
        staged: usize,
    },
}

impl<'s> Sink<'s> {
    pub(super) fn replacing(store: &'s Store) -> Result<Self, StoreError> {
        store.discard_staged()?;
        Ok(Self::InPlace { store, staged: 0 })
    }

    fn write(&mut self, run: &Value) -> Result<(), StoreError> {
        match self {
            Self::Nowhere => Ok(()),
            Self::Beside(adding) => adding.add(run),
            Self::InPlace { store, staged } => {
                *staged += 1;
                store.stage(*staged, run)
            }
        }
    }

    /// Without new runs the old ones stay.
    pub(super) fn finish(self) -> Result<(), StoreError> {
        match self {
            Self::Nowhere => Ok(()),
            Self::Beside(adding) => adding.finish(),
            Self::InPlace { store, staged } => store.publish(staged),
        }
    }
}

/// Why a run makes no recording.
#[derive(Debug)]
enum UnusableRun {
    /// A call has no name; its number, from 1.
    NamelessCall { call: usize },
    /// It cannot be read back.
    Cassette(CassetteError),
}

impl fmt::Display for UnusableRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NamelessCall { call } => write!(f, "its call {call} has no name"),
            Self::Cassette(error) => {
                let problems = error.problems.iter().map(|it| it.message.as_str());
                f.write_str(&problems.collect::<Vec<_>>().join("; "))
            }
        }
    }
}

impl Error for UnusableRun {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NamelessCall { .. } => None,
            Self::Cassette(error) => Some(error),
        }
    }
}

/// A recording as it is read back, and its bytes.
///
/// # Errors
///
/// Why it cannot be.
fn check_run(run: &Value) -> Result<(Run, usize), UnusableRun> {
    let calls = run["trace"]["tool_calls"].as_array().into_iter().flatten();
    let mut names = calls.map(|call| call["name"].as_str());
    if let Some(call) = names.position(|name| name.is_none_or(str::is_empty)) {
        return Err(UnusableRun::NamelessCall { call: call + 1 });
    }
    let origin = Origin::file("recording");
    let text = render_line(run);
    match parse_run(text.as_bytes(), &origin) {
        Ok(run) => Ok((run, text.len())),
        Err(error) => Err(UnusableRun::Cassette(error)),
    }
}
