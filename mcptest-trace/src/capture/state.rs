//! The spans that are open, and the groups that they belong to.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::captured_run::CapturedRun;
use super::files::RunFile;
use super::group::Group;
use super::run::{RunReading, read};
use super::span::{CapturedSpan, role};
use crate::spans::SpanRole;

/// An open span.
#[derive(Debug, Clone)]
struct OpenSpan {
    name: &'static str,
    /// The span that no other is around.
    root: u64,
    /// The group that it is in, and its own place or that of the nearest span around it that has one.
    group: Option<u64>,
    near: Option<usize>,
    /// Whether the place is its own.
    is_kept: bool,
}

/// A group, and the files of its runs.
#[derive(Debug)]
struct RecordedGroup {
    group: Group,
    /// By the keys of the runs.
    files: HashMap<usize, Arc<RunFile>>,
    state: u64,
}

/// The open spans, by their identifiers, and the groups, by those of their root spans.
#[derive(Debug, Default)]
pub(super) struct State {
    open: HashMap<u64, OpenSpan>,
    groups: HashMap<u64, RecordedGroup>,
    said: HashSet<String>,
}

/// What is to be done once the state is free again.
#[derive(Debug, Default)]
pub(super) struct PendingWork {
    pub(super) runs: Vec<(Arc<RunFile>, u64, Box<CapturedRun>)>,
    pub(super) said: Vec<String>,
}

impl State {
    /// A span begins.
    pub(super) fn begin(
        &mut self,
        id: u64,
        parent: Option<u64>,
        (name, target): (&'static str, &'static str),
        attributes: Map<String, Value>,
    ) -> PendingWork {
        let around = parent.and_then(|parent| self.open.get(&parent)).cloned();
        let mut open = OpenSpan {
            name,
            root: around.as_ref().map_or(id, |around| around.root),
            group: around.as_ref().and_then(|around| around.group),
            near: around.as_ref().and_then(|around| around.near),
            is_kept: false,
        };
        let mut work = PendingWork::default();
        if let Some(role) = role(name, target, &attributes) {
            let is_lone = around.is_none() && role != SpanRole::Agent;
            if is_lone {
                if role == SpanRole::ModelCall {
                    self.warn_once(LONE.to_owned(), &mut work);
                }
            } else {
                self.add_span(id, &mut open, role, |group, parent| CapturedSpan {
                    name,
                    target,
                    attributes,
                    parent,
                    began: group.now(),
                    ended: None,
                    panicked: false,
                    exchange: None,
                });
            }
        }
        self.open.insert(id, open);
        work
    }

    /// Puts a span into its group: the one around it, that of the agent that it is, or that of its root span.
    fn add_span(
        &mut self,
        id: u64,
        open: &mut OpenSpan,
        role: SpanRole,
        seen: impl FnOnce(&Group, Option<usize>) -> CapturedSpan,
    ) {
        let of_agent = |group: &u64| self.groups[group].group.root.is_none();
        let is_within = open
            .group
            .filter(|group| role != SpanRole::Agent || of_agent(group));
        let key = is_within.unwrap_or(if role == SpanRole::Agent {
            id
        } else {
            open.root
        });
        let root = self.open.get(&open.root).map(|root| root.name);
        let root = root.filter(|_| role != SpanRole::Agent);
        let recorded = self.groups.entry(key).or_insert_with(|| RecordedGroup {
            group: Group::new(root),
            files: HashMap::new(),
            state: 0,
        });
        let parent = open.near.filter(|_| open.group == Some(key));
        let seen = seen(&recorded.group, parent);
        recorded.group.spans.push(seen);
        open.group = Some(key);
        open.near = Some(recorded.group.spans.len() - 1);
        open.is_kept = true;
    }

    fn open_span(&mut self, id: u64) -> Option<&mut CapturedSpan> {
        let open = self.open.get(&id).filter(|open| open.is_kept)?;
        let recorded = self.groups.get_mut(&open.group?)?;
        recorded.group.spans.get_mut(open.near?)
    }

    /// A span says more of itself.
    pub(super) fn record(&mut self, id: u64, values: &tracing::span::Record<'_>) {
        if let Some(seen) = self.open_span(id) {
            let mut fields = super::fields::Fields(&mut seen.attributes);
            values.record(&mut fields);
        }
    }

    /// A panic leaves a span.
    pub(super) fn panicked(&mut self, id: u64) {
        if let Some(seen) = self.open_span(id) {
            seen.panicked = true;
        }
        if let Some(recorded) = self.groups.get_mut(&id) {
            recorded.group.panicked = true;
        }
    }

    /// A span ends: its run is to be written, as far as it is known.
    pub(super) fn end(&mut self, id: u64) -> PendingWork {
        let mut work = PendingWork::default();
        let role = self.open_span(id).and_then(|seen| seen.role());
        let Some(open) = self.open.get(&id).cloned() else {
            return work;
        };
        if let Some(recorded) = open.group.and_then(|group| self.groups.get_mut(&group)) {
            let now = recorded.group.now();
            if let Some(seen) = open.near.filter(|_| open.is_kept) {
                recorded.group.spans[seen].close(now);
            }
        }
        self.open.remove(&id);
        if let Some(recorded) = self.groups.remove(&id) {
            self.write(recorded, None, &mut work);
        } else if let (Some(SpanRole::ModelCall | SpanRole::Tool), Some(key)) = (role, open.group)
            && let Some(recorded) = self.groups.remove(&key)
        {
            let recorded = self.write(recorded, open.near, &mut work);
            self.groups.insert(key, recorded);
        }
        work
    }

    /// What is to be written: the run in which a span ended, or all runs of a group that ended.
    fn write(
        &mut self,
        mut recorded: RecordedGroup,
        ended: Option<usize>,
        work: &mut PendingWork,
    ) -> RecordedGroup {
        recorded.state += 1;
        for run in recorded.group.runs() {
            if ended.is_some_and(|span| !run.calls.contains(&span) && !run.tools.contains(&span)) {
                continue;
            }
            let file = Arc::clone(recorded.files.entry(run.key).or_default());
            match read(&recorded.group, &run, ended.is_none()) {
                RunReading::Run(run) => work.runs.push((file, recorded.state, run)),
                RunReading::Unwritable(why) if ended.is_none() => self.warn_once(why, work),
                RunReading::Unwritable(_) | RunReading::Nothing => {}
            }
        }
        recorded
    }

    /// Queues a warning, unless it was queued before.
    pub(super) fn warn_once(&mut self, what: String, work: &mut PendingWork) {
        if self.said.insert(what.clone()) {
            work.said.push(what);
        }
    }
}

const LONE: &str = "model calls outside of any span are not written: nothing says which of them are one run; put each run \
                    into a span: `info_span!(\"invoke_agent\", gen_ai.agent.name = \"…\")`";
