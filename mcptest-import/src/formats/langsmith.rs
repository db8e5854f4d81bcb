//! `LangChain` messages, and runs exported from `LangSmith`.
//!
//! Sources: langchain-core 1.8.2 `messages/{base,ai,tool}.py`; langsmith 0.15.0 `schemas.py`;
//! docs.langchain.com/langsmith/run-data-format and /threads;
//! langchain-ai/agentevals@946ad15b:README.md, `python/agentevals/trajectory/utils.py`.

mod known;
mod messages;
mod traces;

use serde_json::Value;

use crate::digest::Digest;
use crate::event::ForeignRun;
use crate::format::{self, Format, Gathered, Joins, Runs};
use crate::input::{Input, Record};
use crate::joining::Joiner;
use crate::json::{identifier, non_null, nonempty_string, text};
use crate::loss::Lost;
use crate::mapping::Mapping;
use crate::verdict;

/// The format `langsmith`.
pub(crate) struct Langsmith;

impl Format for Langsmith {
    fn signature(&self) -> &'static str {
        "objects with `run_type` and `trace_id`, or messages with `type` (`human`, `ai`, `tool`) instead of `role`"
    }

    fn recognizes(&self, _: &Input, value: &Value) -> bool {
        let is_run = text(value, "run_type").is_some() && value.get("trace_id").is_some();
        let messages = format::messages(value).unwrap_or_default();
        is_run
            || messages.iter().any(messages::is_message)
            || value["results"].is_array() && value["steps"].is_array()
    }

    fn join(&self, record: &Record<'_>, joiner: &mut Joiner, mapping: &Mapping) -> Joins {
        let Some(trace) = identifier(&record.value, "trace_id") else {
            joiner.add_single(record.part);
            return Ok(());
        };
        let key = Digest::from_parts(&["trace", &trace]);
        joiner.add_keyed(record.part, key);
        if let (Some(thread), false) = (traces::thread_id(&record.value), mapping.trace_is_run()) {
            joiner.merge_keys(key, Digest::from_parts(&["thread", thread]));
        }
        Ok(())
    }

    fn read(&self, run: &Gathered<'_, '_>, mapping: &Mapping) -> Runs {
        let values: Vec<&Value> = run.records.iter().map(|record| &record.value).collect();
        if values.iter().all(|value| text(value, "run_type").is_some()) {
            return Ok(vec![traces::read(&values, mapping)?]);
        }
        let [record] = values.as_slice() else {
            return Err(Lost::no_run("runs and lists of messages are mixed"));
        };
        if non_null(record, "results").is_some() && non_null(record, "steps").is_some() {
            return Err(Lost::no_run(
                "a trajectory of a graph names nodes and holds no calls",
            ));
        }
        let mut read = ForeignRun {
            id: identifier(record, "id"),
            asked: nonempty_string(record, "model"),
            ..ForeignRun::default()
        };
        let Some(list) = format::full_conversation(record, &mut read) else {
            return Err(Lost::no_run("it has no list of messages"));
        };
        messages::read(&list, &mut read);
        verdict::read(record, mapping, &mut read);
        Ok(vec![read])
    }

    fn has_tasks(&self) -> bool {
        true
    }
}
