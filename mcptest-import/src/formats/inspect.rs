//! Logs of Inspect, as JSON or as `.eval` archives.
//!
//! Source: `UKGovernmentBEIS/inspect_ai@499e6152:src/inspect_ai/log/_log.py`,
//! `log/_recorders/{eval.py,chunked/format.py}`, `log/_condense.py`, `model/`, `tool/`, `scorer/_metric.py`.

mod events;
mod sample;

use serde_json::Value;

use crate::format::{Format, Gathered, Runs};
use crate::input::{Form, Input};
use crate::json::non_null;
use crate::loss::Lost;
use crate::mapping::Mapping;

/// The format `inspect`.
pub(crate) struct Inspect;

impl Format for Inspect {
    fn signature(&self) -> &'static str {
        "an `.eval` archive, or an object with `status`, `eval.task` and `eval.model`"
    }

    fn recognizes(&self, input: &Input, value: &Value) -> bool {
        let is_log = |value: &Value| {
            let eval = &value["eval"];
            eval.get("task").is_some() && eval.get("model").is_some()
        };
        match (&input.form, &input.header) {
            (Form::Zip(archive), header) => {
                header.as_ref().is_some_and(is_log)
                    || archive
                        .names()
                        .any(|name| name == "header.json" || name == "_journal/start.json")
            }
            (
                Form::Document {
                    under: Some("samples"),
                },
                Some(header),
            ) => is_log(header),
            _ => is_log(value) && value.get("status").is_some(),
        }
    }

    fn joins_records(&self) -> bool {
        false
    }

    fn read(&self, run: &Gathered<'_, '_>, _: &Mapping) -> Runs {
        let [record] = run.records else {
            return Err(Lost::no_run("a run is one sample"));
        };
        // A log on one line holds its samples itself.
        if let Some(Value::Array(samples)) = non_null(&record.value, "samples") {
            let runs = samples
                .iter()
                .map(|sample| sample::read(sample.clone(), Some(&record.value), None));
            return Ok(runs.collect());
        }
        if record.value.get("epoch").is_none() && record.value.get("messages").is_none() {
            return Err(Lost::no_run("it is no sample"));
        }
        let archive = match &record.input.form {
            Form::Zip(archive) => Some((archive, archive.name(record.part.number()))),
            _ => None,
        };
        let header = record.input.header.as_ref();
        Ok(vec![sample::read(record.value.clone(), header, archive)])
    }

    fn has_tasks(&self) -> bool {
        true
    }
}
