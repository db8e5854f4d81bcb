//! Recordings as they are: of this harness, or of the tool whose form they have.
//!
//! Source: the published cassette schema "v1".

use mcptest_trace::trace::{Origin, SCHEMA_VERSION, parse_run};
use serde_json::Value;

use crate::event::ForeignRun;
use crate::format::{Format, Gathered, Runs};
use crate::input::Input;
use crate::json::text;
use crate::loss::{LossReason, Lost};
use crate::mapping::Mapping;

/// The format `mcptest`.
pub(crate) struct Mcptest;

impl Format for Mcptest {
    fn signature(&self) -> &'static str {
        "recordings, with `schema_version: v1` and `trace.tool_calls`"
    }

    fn recognizes(&self, _: &Input, value: &Value) -> bool {
        text(value, "schema_version") == Some(SCHEMA_VERSION)
            && value
                .get("trace")
                .is_some_and(|trace| trace.get("tool_calls").is_some())
    }

    fn joins_records(&self) -> bool {
        false
    }

    fn read(&self, run: &Gathered<'_, '_>, _: &Mapping) -> Runs {
        let refuse = |detail: String| Lost::new(LossReason::UnreadableRecording, detail);
        let [record] = run.records else {
            return Err(refuse("a run is one record".to_owned()));
        };
        let origin = Origin::file(record.input.shown.as_str());
        // The reader sees what is not lost in a value: keys that stand twice, numbers beyond 64 bits.
        let bytes = record.input.read_bytes(record.part);
        let bytes = bytes.map_err(|error| refuse(error.to_string()))?;
        parse_run(&bytes, &origin).map_err(|error| {
            let problems: Vec<String> = error.problems.iter().map(ToString::to_string).collect();
            refuse(problems.join("; "))
        })?;
        Ok(vec![ForeignRun {
            ready: Some(record.value.clone()),
            ..ForeignRun::default()
        }])
    }
}
