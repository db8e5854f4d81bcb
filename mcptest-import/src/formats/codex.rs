//! Rollouts of Codex, a file a run.
//!
//! Sources: `openai/codex:codex-rs/history/src/lib.rs` (`RolloutLine`, `RolloutItem`),
//! `@0136a731:codex-rs/rollout/src/policy.rs`, `codex-rs/protocol`;
//! `harbor 0.25.0:agents/installed/codex.py`; txcript@360ff7a1:docs/formats/codex.md.

mod items;
mod script;

use std::collections::{BTreeMap, HashMap, HashSet};

use mcptest_trace::trace::canonical_json;
use serde_json::Value;

use self::items::Rollout;
use crate::digest::Digest;
use crate::event::ForeignRun;
use crate::format::{Format, Gathered, Joins, Runs};
use crate::input::{Input, Record};
use crate::joining::Joiner;
use crate::json::{non_null, nonempty_text, text};
use crate::loss::{LossReason, Lost};
use crate::mapping::Mapping;
use crate::time;

/// The format `codex`.
pub(crate) struct Codex;

impl Format for Codex {
    fn signature(&self) -> &'static str {
        "lines `{timestamp, type, payload}` with a `session_meta` among them"
    }

    fn recognizes(&self, _: &Input, value: &Value) -> bool {
        non_null(value, "payload").is_some() && text(value, "type") == Some("session_meta")
    }

    fn join(&self, record: &Record<'_>, joiner: &mut Joiner, _: &Mapping) -> Joins {
        if non_null(&record.value, "payload").is_none() {
            return Err(Lost::new(
                LossReason::NoRolloutLine,
                "it has no `payload`; the command does not read files of releases without `payload`",
            ));
        }
        let of_file = file_key(record);
        joiner.add_keyed(record.part, of_file);
        // A sub-agent belongs to the run that called it, and a fork is cut where its parent ends: they
        // are read together.
        if text(&record.value, "type") == Some("session_meta") {
            let meta = &record.value["payload"];
            let own = ["id", "forked_from_id"].map(|key| nonempty_text(meta, key));
            for id in own.into_iter().chain([parent_thread(meta)]).flatten() {
                joiner.merge_keys(of_file, Digest::from_parts(&["rollout", id]));
            }
        }
        Ok(())
    }

    fn read(&self, run: &Gathered<'_, '_>, _: &Mapping) -> Runs {
        let mut files: BTreeMap<u32, Vec<&Value>> = BTreeMap::new();
        for record in run.records {
            let of_file = files.entry(record.part.input).or_default();
            of_file.push(&record.value);
        }
        for own in files.values_mut() {
            if time::are_descending(own.iter().map(|line| nonempty_text(line, "timestamp"))) {
                own.reverse();
            }
        }
        let lines = without_copies(&files);
        let copies = files.len() - lines.len();
        let metas: Vec<Meta<'_>> = lines.iter().map(|lines| Meta::from_lines(lines)).collect();
        let mut runs: Vec<(usize, ForeignRun)> = Vec::new();
        let mut subagents = Vec::new();
        // Of several files of one run the first is meant.
        let places = metas.iter().enumerate().rev();
        let places = places.filter_map(|(index, meta)| Some((meta.id?, index)));
        let places: HashMap<&str, usize> = places.collect();
        let parent = |id: Option<&str>| places.get(id?).copied();
        for (index, meta) in metas.iter().enumerate() {
            let mut own = lines[index].as_slice();
            let mut rollout = Rollout::default();
            if meta.forked_from.is_some() {
                match parent(meta.forked_from) {
                    Some(parent) => own = &own[shared_prefix_len(lines[parent], own)..],
                    None => rollout
                        .run
                        .note("begins with a copy of the run it was forked from"),
                }
            }
            rollout.read(own);
            match parent(meta.parent) {
                Some(parent) => subagents.push((parent, meta, rollout)),
                None => runs.push((index, rollout.into_run(meta.id, meta.version))),
            }
        }
        for (parent, meta, rollout) in subagents {
            let run = runs.binary_search_by_key(&parent, |(index, _)| *index);
            if let Some((_, run)) = run.ok().and_then(|run| runs.get_mut(run)) {
                rollout.merge_into(run, meta.id.unwrap_or("subagent"));
            }
        }
        if let Some((_, run)) = runs.first_mut() {
            let note = "a file that is the beginning of another one is left out";
            run.hints.extend(vec![note.to_owned(); copies]);
        }
        Ok(runs.into_iter().map(|(_, run)| run).collect())
    }
}

/// The lines of files, but for the copies that were made while a run went on: they are the beginning of another file.
fn without_copies<'f, 'v>(files: &'f BTreeMap<u32, Vec<&'v Value>>) -> Vec<&'f Vec<&'v Value>> {
    if files.len() < 2 {
        return files.values().collect();
    }
    let mut beginnings = HashSet::new();
    let mut whole = Vec::new();
    for lines in files.values() {
        let mut state = Digest::from_parts(&["lines"]);
        for line in lines {
            beginnings.insert(state);
            state = state.chain(&canonical_json(line));
        }
        whole.push(state);
    }
    let both = files.values().zip(whole);
    let others = both.filter(|(_, whole)| !beginnings.contains(whole));
    others.map(|(lines, _)| lines).collect()
}

fn file_key(record: &Record<'_>) -> Digest {
    Digest::from_parts(&["file", &record.part.input.to_string()])
}

/// The metadata at the beginning of a file.
#[derive(Default)]
struct Meta<'v> {
    id: Option<&'v str>,
    version: Option<&'v str>,
    forked_from: Option<&'v str>,
    parent: Option<&'v str>,
}

impl<'v> Meta<'v> {
    fn from_lines(lines: &[&'v Value]) -> Self {
        let is_meta = |line: &&&Value| text(line, "type") == Some("session_meta");
        let Some(meta) = lines.iter().find(is_meta).map(|line| &line["payload"]) else {
            return Self::default();
        };
        Self {
            id: nonempty_text(meta, "id"),
            version: nonempty_text(meta, "cli_version"),
            forked_from: nonempty_text(meta, "forked_from_id"),
            parent: parent_thread(meta),
        }
    }
}

/// The thread that called a sub-agent.
fn parent_thread(meta: &Value) -> Option<&str> {
    let spawned = meta.pointer("/source/subagent/thread_spawn");
    let told = spawned.and_then(|spawned| nonempty_text(spawned, "parent_thread_id"));
    told.or_else(|| nonempty_text(meta, "parent_thread_id"))
}

/// How many lines at the beginning of a fork are its parent's, with new times.
fn shared_prefix_len(parent: &[&Value], fork: &[&Value]) -> usize {
    let is_meta = |line: &&Value| text(line, "type") == Some("session_meta");
    let essence = |line: &Value| canonical_json(&line["payload"]);
    let mut of_parent = parent.iter().filter(|line| !is_meta(line));
    let same = fork.iter().position(|line| {
        !is_meta(line)
            && of_parent
                .next()
                .is_none_or(|other| essence(other) != essence(line))
    });
    same.unwrap_or(fork.len())
}
