//! The `golden_path` gate: did the run waste steps against an ideal sequence of tools?
//!
//! It asks for efficiency alone: a run that did less than the ideal is not wasteful. Pair it with
//! `trajectory` to ask for the calls themselves.

use serde_json::Value;

use super::block::Block;
use super::key::{Key, Role};
use super::table::GateEntry;
use super::{Breach, EachRun, Input, Options, RunScore, Threshold};
use crate::eval::{GoldenPath, GoldenPathReport, Measure, score_golden_path, targets};
use crate::render::Evidence;
use crate::text::{truncate, truncate_lines};
use crate::trace::Run;

pub(super) const ENTRY: GateEntry = GateEntry::each_run::<GoldenPath>();

impl Options for GoldenPath {
    const SAYS: &'static str =
        "No wasted steps against an ideal path. Default: golden_path.passed >= 1.";

    const KEYS: &'static [Key] = &[
        Key::texts("calls", "tool names", false)
            .says("The ideal sequence of tools.")
            .required()
            .is(Role::PlannedTools),
        Key::flag("allow_extra_steps", false)
            .says("Whether calls beyond the ideal length cost nothing."),
        Key::flag("penalize_backtracking", true)
            .says("Whether returning to an earlier tool costs."),
        Key::flag("penalize_repeated_tools", true)
            .says("Whether calling one tool twice in a row costs."),
    ];

    const TARGETS: &'static [Measure] = targets::GOLDEN_PATH;

    fn read(block: &mut Block<'_, '_>) -> Option<Self> {
        let calls = block.texts("calls");
        let mut options = Self::new([""; 0]);
        block.flag_into("allow_extra_steps", &mut options.allow_extra_steps);
        block.flag_into("penalize_backtracking", &mut options.penalize_backtracking);
        block.flag_into(
            "penalize_repeated_tools",
            &mut options.penalize_repeated_tools,
        );
        options.calls = calls?.into_iter().map(|call| call.value).collect();
        Some(options)
    }

    fn tools(&self) -> Vec<&str> {
        self.calls.iter().map(String::as_str).collect()
    }
}

impl EachRun for GoldenPath {
    type Report = GoldenPathReport;

    const DEFAULT: &'static [Threshold] = &[Threshold::at_least("golden_path.passed", 1.0)];

    fn score(
        &self,
        _input: &Input<'_>,
        run: &Run,
    ) -> Result<RunScore<GoldenPathReport>, Box<Breach>> {
        Ok(RunScore::of(score_golden_path(&run.trace, self)))
    }

    fn metrics(&self, report: &GoldenPathReport) -> Value {
        report.metrics()
    }

    fn explain(&self, _input: &Input<'_>, run: &Run, report: &GoldenPathReport) -> Vec<Evidence> {
        let mut lines = vec![
            format!("golden path: {}", truncate(&self.calls.join(" → "), 200)),
            "recorded:".to_owned(),
        ];
        for (index, call) in run.trace.tool_calls.iter().enumerate() {
            let marks = [
                (&report.repeats_at, "repeats the call before"),
                (&report.backtracks_at, "goes back to an earlier tool"),
                (&report.off_path, "not on the golden path"),
            ];
            let marks = marks
                .into_iter()
                .filter(|(places, _)| places.contains(&index));
            let marks: Vec<&str> = marks.map(|(_, mark)| mark).collect();
            let mark = if marks.is_empty() {
                String::new()
            } else {
                format!("   <- {}", marks.join(", "))
            };
            lines.push(format!("{index:>4}  {}{mark}", call.name));
        }
        lines.push(format!(
            "extra_steps {}, backtracks {}, repeated_tools {}; penalty {:.2}",
            report.extra_steps, report.backtracks, report.repeated_tools, report.penalty
        ));
        vec![Evidence::Text(truncate_lines(&lines))]
    }
}
