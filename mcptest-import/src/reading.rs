//! The runs of some records, mapped: the same in both passes.

use std::cell::{LazyCell, RefCell};

use mcptest_trace::record::redact::Redactor;
use serde_json::Value;

use crate::cassette::{self, Imported};
use crate::digest::{self, Digest};
use crate::event::{Event, ForeignRun};
use crate::format::Gathered;
use crate::input::{Input, Record, RecordPlace, Unreadable};
use crate::joining::Joined;
use crate::kind::FormatKind;
use crate::loss::Lost;
use crate::mapping::{Mapping, Subagents};
use crate::shared::SharedRecords;

/// How many characters of a prompt name an agent.
const LABEL: usize = 40;

/// By what runs are told to be of one agent, instead of by what the user says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupBy {
    /// The task that the format names.
    Task,
    /// A field of the record.
    Field(String),
}

impl GroupBy {
    /// The value by which a run is grouped.
    #[must_use]
    pub fn group_value(&self, mapped: &Mapped, records: &[Record<'_>]) -> Option<String> {
        match self {
            Self::Task => mapped.run.task.clone(),
            Self::Field(pointer) => match records.first()?.value.pointer(pointer)? {
                Value::String(text) => Some(text.clone()),
                other => Some(other.to_string()),
            },
        }
    }
}

/// A run, mapped, and what is needed of it beside the recording.
pub struct Mapped {
    /// The recording of it.
    pub imported: Imported,
    /// What its source tells, with the agent's name as the command has it.
    pub(crate) run: ForeignRun,
    /// The source has an identifier of it.
    pub has_id: bool,
    /// It has the score that is asked for.
    pub is_scored: bool,
}

impl Mapped {
    /// The name of its agent: the one that the command gives, else that of the source.
    #[must_use]
    pub fn agent(&self) -> Option<&str> {
        self.run.agent.as_deref()
    }

    /// The number of the trial that it is.
    #[must_use]
    pub fn trial_number(&self) -> Option<i64> {
        self.run.order
    }

    /// When it began, in milliseconds since 1970.
    #[must_use]
    pub fn began_at(&self) -> Option<i64> {
        self.run.times.map(|(first, _)| first)
    }
}

/// What runs of one agent have in common.
#[derive(Debug)]
pub struct AgentProfile {
    /// What tells the agent from others, beside its name, model and system prompt.
    pub key: Vec<String>,
    /// The key as people read it.
    pub label: String,
    /// The runs have the same task, and not the same words of the user.
    pub by_task: bool,
}

/// The runs of some records, each mapped or refused, and the records.
pub type Read<'i> = (Vec<Result<Mapped, Lost>>, Vec<Record<'i>>);

/// What reads and maps runs, in both passes of an import.
pub struct Reading<'r> {
    /// The files.
    pub inputs: &'r [Input],
    /// How a run becomes a recording.
    pub mapping: &'r Mapping,
    /// By what runs are told to be of one agent; by the words of the user if it is empty.
    pub group_by: &'r [GroupBy],
    /// What takes secrets out.
    pub redactor: &'r Redactor,
    shared: RefCell<SharedRecords>,
}

impl<'r> Reading<'r> {
    /// Reads the records of these files.
    #[must_use]
    pub fn new(
        inputs: &'r [Input],
        mapping: &'r Mapping,
        group_by: &'r [GroupBy],
        redactor: &'r Redactor,
    ) -> Self {
        Self {
            inputs,
            mapping,
            group_by,
            redactor,
            shared: RefCell::default(),
        }
    }
}

impl Reading<'_> {
    /// Reads the records of a run and maps the runs that they hold.
    pub fn map(&self, kind: FormatKind, joined: &Joined) -> Result<Read<'_>, Unreadable> {
        let mut records = Vec::with_capacity(joined.parts.len());
        for part in &joined.parts {
            records.extend(self.read_records(kind, *part, &joined.keys)?);
        }
        let gathered = Gathered {
            records: &records,
            keys: &joined.keys,
            branch: joined.branch,
        };
        let mapped = match kind.format().read(&gathered, self.mapping) {
            Ok(runs) => self.map_runs(runs, &records),
            Err(lost) => vec![Err(lost)],
        };
        Ok((mapped, records))
    }

    /// A record, or what it has of the run with some keys.
    fn read_records(
        &self,
        kind: FormatKind,
        part: RecordPlace,
        keys: &[Digest],
    ) -> Result<Vec<Record<'_>>, Unreadable> {
        let input = &self.inputs[part.input as usize];
        // A field is looked for in the record as it is.
        let is_field = |by: &GroupBy| matches!(by, GroupBy::Field(_));
        if keys.is_empty() || self.group_by.iter().any(is_field) {
            return Ok(vec![input.read(part)?]);
        }
        let mut shared = self.shared.borrow_mut();
        if !shared.has(part) {
            shared.make_room(part);
            let record = input.read(part)?;
            match kind.format().split_by_run(record.value) {
                Ok(parts) => shared.keep(part, parts, record.changes),
                Err(value) => return Ok(vec![Record { value, ..record }]),
            }
        }
        let (values, changes) = shared.get(part, keys);
        let records = values.into_iter().map(|value| Record {
            value,
            changes: changes.to_vec(),
            input,
            part,
        });
        Ok(records.collect())
    }

    fn map_runs(&self, runs: Vec<ForeignRun>, records: &[Record<'_>]) -> Vec<Result<Mapped, Lost>> {
        // The records of many runs may be one document.
        let digest = LazyCell::new(|| {
            let first = records.first();
            first.map(|record| digest::content_id(&record.value))
        });
        let id = || (*digest).clone();
        let mut mapped = Vec::new();
        for mut run in runs {
            let subagents = std::mem::take(&mut run.subagents);
            if self.mapping.subagents != Subagents::Inline {
                run.remove_subagents();
            }
            let parent = run.agent.clone();
            mapped.push(self.map_run(run, &id));
            if self.mapping.subagents == Subagents::Separate {
                for mut run in subagents {
                    let kind = run.agent.take().unwrap_or_else(|| "agent".to_owned());
                    let parent = self.mapping.agent.as_ref().or(parent.as_ref());
                    let parent = parent.cloned().unwrap_or_else(|| stem(records));
                    run.agent = Some(format!("{parent}/{kind}"));
                    let mut one = self.map_run(run.clone(), &id);
                    if let Ok(one) = &mut one {
                        // Its own name stands, whatever the main agent is called.
                        one.run.agent = run.agent;
                    }
                    mapped.push(one);
                }
            }
        }
        mapped
    }

    /// `id`: the identifier of a run that has none of its own.
    fn map_run(
        &self,
        mut run: ForeignRun,
        id: &dyn Fn() -> Option<String>,
    ) -> Result<Mapped, Lost> {
        let has_id = run.id.is_some() || run.ready.is_some();
        if !has_id {
            run.id = id();
        }
        run.agent = self.mapping.agent.clone().or(run.agent);
        let is_asked = |name: &String| Some(name) == self.mapping.score.as_ref();
        let is_scored = run.scores.iter().any(|(name, _)| is_asked(name));
        let mut imported = match run.ready.take() {
            Some(cassette) => Imported {
                cassette,
                notes: std::mem::take(&mut run.notes).into(),
                lost: std::mem::take(&mut run.lost),
            },
            None => cassette::from_run(&run, self.mapping)?,
        };
        imported.notes.append(&mut run.hints);
        // The recording has the rest.
        run.events.retain(|event| matches!(event, Event::User(_)));
        Ok(Mapped {
            imported,
            run,
            has_id,
            is_scored,
        })
    }

    /// What groups a run by, besides agent, model and system prompt, and how it is called.
    pub fn profile(
        &self,
        kind: FormatKind,
        mapped: &Mapped,
        records: &[Record<'_>],
    ) -> AgentProfile {
        let by = self.group_by.iter();
        let mut key: Vec<String> = by
            .filter_map(|by| by.group_value(mapped, records))
            .collect();
        if self.group_by.is_empty() && kind.format().has_tasks() {
            key.extend(mapped.run.task.clone());
        }
        if key.is_empty() {
            let prompt = mapped.imported.cassette["user_prompt"].as_str();
            let label: String = prompt.unwrap_or_default().chars().take(LABEL).collect();
            let by_task = mapped.run.prompt.is_some();
            let users = mapped.run.events.iter().filter_map(|event| match event {
                Event::User(text) if !by_task => Some(text.clone()),
                _ => None,
            });
            let mut key: Vec<String> = users.collect();
            if key.is_empty() {
                key.extend([prompt.unwrap_or_default().to_owned()]);
            }
            return AgentProfile {
                key,
                label,
                by_task,
            };
        }
        AgentProfile {
            label: key.join(" "),
            key,
            by_task: true,
        }
    }
}

/// The name of a run that has none.
pub fn stem(records: &[Record<'_>]) -> String {
    let first = records.first();
    first.map_or_else(String::new, |record| record.input.stem())
}
