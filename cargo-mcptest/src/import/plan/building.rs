//! The plan as it grows: runs into groups, told apart by their identifiers.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::Value;

use super::{FoundRun, Group, ImportPlan, prompt_digest, twin_id};
use crate::import::forks::Forks;
use crate::import::reason::Reason;
use crate::import::report::Reports;
use crate::import::store;
use mcptest_import::Digest;
use mcptest_import::FormatKind;
use mcptest_import::Imported;
use mcptest_import::{AgentProfile, Mapped, Reading, stem};
use mcptest_import::{Joined, Joiner};
use mcptest_import::{Record, RecordPlace};
use mcptest_session::json::{identifier, list, text};

impl ImportPlan {
    /// Finds the runs of files whose formats are known.
    pub(in crate::import) fn new(
        reading: &Reading<'_>,
        files: Vec<(FormatKind, Vec<RecordPlace>)>,
        reports: &mut Reports,
    ) -> Self {
        let mut by_kind: Vec<(FormatKind, Vec<RecordPlace>)> = Vec::new();
        for (kind, parts) in files {
            match by_kind.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, known)) => known.extend(parts),
                None => by_kind.push((kind, parts)),
            }
        }
        let mut candidates: Vec<(FormatKind, Joined)> = Vec::new();
        for (kind, parts) in by_kind {
            let mut joiner = Joiner::default();
            for part in parts {
                join(reading, kind, part, &mut joiner, reports);
            }
            if let retried @ 1.. = joiner.retried_calls() {
                reports.add_note(&format!(
                    "failed model calls left out, because the same was asked again: {retried}"
                ));
            }
            let runs = joiner.finish().into_iter();
            candidates.extend(runs.map(|run| (kind, run)));
        }
        // In the order of the input, whatever the formats.
        candidates.sort_by(|left, right| left.1.cmp(&right.1));
        let mut building = PlanBuilder::default();
        for (kind, run) in candidates {
            building.add(reading, kind, run, reports);
        }
        building.finish(reports)
    }
}

fn join(
    reading: &Reading<'_>,
    kind: FormatKind,
    part: RecordPlace,
    joiner: &mut Joiner,
    reports: &mut Reports,
) {
    let input = &reading.inputs[part.input as usize];
    if !kind.joins_records() {
        joiner.add_single(part);
        return;
    }
    match input.read(part) {
        Ok(record) => {
            let logged = mcptest_import::logged_exchange(&record.value)
                .and_then(|(_, response)| identifier(response, "id"));
            if logged.is_some_and(|id| joiner.is_logged_twice(&record, &id)) {
                reports.add_note("logged calls that are there twice are read once");
                return;
            }
            if let Err(lost) = kind.join(&record, joiner, reading.mapping) {
                reports.add_lost(&record.location(), &lost);
            }
        }
        Err(error) => reports.add_unreadable(&error),
    }
}

#[derive(Default)]
struct PlanBuilder {
    plan: ImportPlan,
    groups: HashMap<Digest, u32>,
    /// The identifiers that were seen, the runs that had them, and where these begin.
    ids: HashMap<Digest, (Digest, RecordPlace)>,
    /// How many runs a file has of an identifier that is made of their records.
    twins: HashMap<(u32, Digest), u32>,
    /// Names that many groups or runs have.
    words: HashSet<Rc<str>>,
    forks: Forks,
    /// Records that were read otherwise than they are written.
    changed: HashSet<RecordPlace>,
}

impl PlanBuilder {
    fn add(
        &mut self,
        reading: &Reading<'_>,
        kind: FormatKind,
        joined: Joined,
        reports: &mut Reports,
    ) {
        let read = reading.map(kind, &joined);
        let Ok((mapped, records)) = read.map_err(|error| reports.add_unreadable(&error)) else {
            return;
        };
        for record in &records {
            // A record may be of several runs.
            if !record.changes.is_empty() && self.changed.insert(record.part) {
                for change in &record.changes {
                    reports.add_change(&record.location(), *change);
                }
            }
        }
        let place = records.first().map_or_else(String::new, Record::location);
        let candidate = u32::try_from(self.plan.candidates.len()).unwrap_or(u32::MAX);
        let mut any = false;
        for (ordinal, mapped) in mapped.into_iter().enumerate() {
            match mapped {
                Ok(mapped) => {
                    let place = (candidate, ordinal);
                    any |= self.add_found(reading, kind, &mapped, &records, place, reports);
                }
                Err(lost) => reports.add_lost(&place, &lost),
            }
        }
        if any {
            self.plan.candidates.push(joined);
        }
    }

    /// Takes the tools of a run up.
    fn add_tools(&mut self, cassette: &Value) {
        for call in list(&cassette["trace"], "tool_calls") {
            if let Some(name) = text(call, "name") {
                let name = self.intern(name);
                self.plan.tools.insert(name);
            }
        }
        for tool in list(cassette, "tools") {
            if let (Some(name), Some(reads)) = (text(tool, "name"), tool["read_only"].as_bool()) {
                // Of two that disagree, the one that writes counts.
                let name = self.intern(name);
                *self.plan.hints.entry(name).or_insert(true) &= reads;
            }
        }
    }

    fn add_found(
        &mut self,
        reading: &Reading<'_>,
        kind: FormatKind,
        mapped: &Mapped,
        records: &[Record<'_>],
        (candidate, ordinal): (u32, usize),
        reports: &mut Reports,
    ) -> bool {
        let place = records.first().map_or_else(String::new, Record::location);
        let Imported {
            cassette,
            notes,
            lost,
        } = &mapped.imported;
        let id = store::identity(cassette).unwrap_or_default();
        let agent = mapped.agent().map(str::to_owned);
        let agent = agent.or_else(|| cassette["agent_name"].as_str().map(str::to_owned));
        let of_file = agent.is_none();
        let agent = agent.unwrap_or_else(|| stem(records));
        let content = store::content_digest(cassette);
        let twin = if mapped.has_id {
            1
        } else {
            // The same once more in a file is another run; in another file it is the same run.
            let file = records.first().map_or(0, |record| record.part.input);
            let key = Digest::from_parts(&[&agent, &id]);
            let twins = self.twins.entry((file, key)).or_default();
            *twins += 1;
            *twins
        };
        let id = twin_id(&id, twin);
        let key = Digest::from_parts(&[&agent, &id]);
        if let Some((known, first)) = self.ids.get(&key) {
            if *known == content {
                reports.add_note("the same run twice in the input");
            } else {
                let detail = duplicate_id_message(reading, *first, records, &id);
                reports.add(Reason::SameIdentifier, &place, &detail);
            }
            return false;
        }
        let part = records.first().map(|record| record.part);
        self.ids.extend(part.map(|part| (key, (content, part))));
        if twin > 1 {
            reports.add_note(
                "equal records without an identifier in one file: each record is a run, but equal runs prove no more than one run",
            );
        }
        for note in notes {
            reports.add_note(note);
        }
        for lost in lost {
            reports.add_lost(&place, lost);
        }
        self.plan.is_scored |= mapped.is_scored;
        for by in reading.group_by {
            if by.group_value(mapped, records).is_some() && !self.plan.grouped_by.contains(by) {
                self.plan.grouped_by.push(by.clone());
            }
        }
        self.add_tools(cassette);
        let text = |key: &str| cassette[key].as_str().unwrap_or_default();
        let AgentProfile {
            key,
            label,
            by_task,
        } = reading.profile(kind, mapped, records);
        let mut subject = vec![agent.as_str(), text("system_prompt")];
        subject.extend(key.iter().map(String::as_str));
        let subject = Digest::from_parts(&subject);
        let model = text("model");
        let next = u32::try_from(self.plan.groups.len()).unwrap_or(u32::MAX);
        let group = *self.groups.entry(subject.chain(model)).or_insert(next);
        if group == next {
            let group = Group {
                agent: self.intern(&agent),
                model: self.intern(model),
                label,
                subject,
                asked: prompt_digest(cassette, reading.redactor),
                by_task,
                of_file,
                any_failed: false,
                runs: Vec::new(),
            };
            self.plan.groups.push(group);
        }
        let run = u32::try_from(self.plan.found.len()).unwrap_or(u32::MAX);
        // What is printed of a run begins anew; files of sessions may be copied.
        let is_kept = |record: &Record<'_>| record.value.get("sessionId").is_some();
        if kind == FormatKind::ClaudeCode && records.iter().any(is_kept) {
            let values = records.iter().map(|record| &record.value);
            self.forks.add(run, &id, cassette, values);
        }
        let group = &mut self.plan.groups[group as usize];
        group.any_failed |=
            cassette["outcome"].is_object() && cassette["outcome"]["passed"] != true;
        group.runs.push(run);
        self.plan.found.push(FoundRun {
            id: Digest::from_parts(&[&id]),
            candidate,
            ordinal: u32::try_from(ordinal).unwrap_or(u32::MAX),
            twin,
            kind,
            order: mapped.trial_number(),
            time: mapped.began_at(),
        });
        true
    }

    /// A name, kept once.
    fn intern(&mut self, text: &str) -> Rc<str> {
        if let Some(known) = self.words.get(text) {
            return Rc::clone(known);
        }
        let new: Rc<str> = text.into();
        self.words.insert(Rc::clone(&new));
        new
    }

    /// Leaves forks out, and puts the runs of each group in order: of trials, else of time, else of the
    /// input.
    fn finish(self, reports: &mut Reports) -> ImportPlan {
        let mut plan = self.plan;
        let left_out = self.forks.left_out(reports);
        for group in &mut plan.groups {
            group.runs.retain(|run| !left_out.contains(run));
        }
        plan.groups.retain(|group| !group.runs.is_empty());
        let found = &plan.found;
        for group in &mut plan.groups {
            let all = |has: fn(&FoundRun) -> bool| {
                group.runs.iter().all(|run| has(&found[*run as usize]))
            };
            if all(|run| run.order.is_some()) {
                group.runs.sort_by_key(|run| found[*run as usize].order);
            } else if all(|run| run.time.is_some()) {
                group.runs.sort_by_key(|run| found[*run as usize].time);
            }
        }
        plan
    }
}

/// Where another run lies that has the identifier of one, and its first record.
fn duplicate_id_message(
    reading: &Reading<'_>,
    first: RecordPlace,
    records: &[Record<'_>],
    id: &str,
) -> String {
    if records.first().is_some_and(|record| record.part == first) {
        let files = records.iter().map(|record| record.input.shown.as_str());
        let mut files: Vec<&str> = files.collect();
        files.dedup();
        let files = files.join(", ");
        return format!("two runs in {files} have the same identifier `{id}`");
    }
    let first = reading.inputs[first.input as usize].location(first);
    format!("the run at {first} has the same identifier `{id}`, but different content")
}
