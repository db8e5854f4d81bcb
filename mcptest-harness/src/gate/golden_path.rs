//! The `golden_path` gate: did the run waste steps against an ideal sequence of tools?
//!
//! It asks for efficiency alone: a run that did less than the ideal is not wasteful. Pair it with
//! `trajectory` to ask for the calls themselves.

use std::collections::BTreeSet;

use super::key::{Key, Keyed, Role};
use super::table::GateEntry;
use super::{Breach, EachRun, Input, Options, RunScore, Threshold};
use crate::eval::{GoldenPath, GoldenPathReport, score_golden_path};
use crate::render::Evidence;
use crate::trace::Run;
use mcptest_trace::text::{escape_outer_spaces, shorten, truncate_lines};

pub(super) const ENTRY: GateEntry = GateEntry::each_run::<GoldenPath>();

impl Options for GoldenPath {
    const SAYS: &'static str =
        "The run wasted no steps, compared with an ideal path. Default: golden_path.passed >= 1.";

    const EXAMPLE: &'static str = "golden_path: { calls: [search, fetch] }";

    const CALIBRATED_BY: Option<&'static str> = Some("golden_path.penalty");

    const JUDGES_CALLS: bool = true;
}

impl Keyed for GoldenPath {
    const KEYS: &'static [Key<Self>] = &[
        Key::nonempty_texts("calls", "tool names", |golden: &mut Self| &mut golden.calls)
            .says("The tools of the ideal path, in order.")
            .required()
            .with_role(Role::PlannedTools),
        Key::flag("allow_extra_steps", |golden: &mut Self| {
            &mut golden.allow_extra_steps
        })
        .says("`true`: calls beyond the length of the ideal path are no waste."),
        Key::flag("penalize_backtracking", |golden: &mut Self| {
            &mut golden.penalize_backtracking
        })
        .says("Whether a return to an earlier tool is waste."),
        Key::flag("penalize_repeated_tools", |golden: &mut Self| {
            &mut golden.penalize_repeated_tools
        })
        .says("Whether it is waste to call one tool twice in a row."),
    ];

    fn default_options() -> Self {
        Self::new([""; 0])
    }
}

impl EachRun for GoldenPath {
    type Report = GoldenPathReport;

    const DEFAULT: &'static [Threshold] = &[Threshold::at_least(
        "golden_path.passed",
        1.0,
        "the run wasted calls, compared with the golden path",
    )];

    fn score(
        &self,
        _input: &Input<'_>,
        run: &Run,
    ) -> Result<RunScore<GoldenPathReport>, Box<Breach>> {
        Ok(RunScore::new(score_golden_path(&run.trace, self)))
    }

    fn explain(&self, _input: &Input<'_>, run: &Run, report: &GoldenPathReport) -> Vec<Evidence> {
        let path: Vec<_> = self
            .calls
            .iter()
            .map(|name| escape_outer_spaces(name))
            .collect();
        let mut lines = vec![
            format!("golden path: {}", shorten(&path.join(" → "), 200)),
            "recorded:".to_owned(),
        ];
        let marks = [
            (&report.repeats_at, "repeats the call before"),
            (&report.backtracks_at, "goes back to an earlier tool"),
            (&report.off_path, "not on the golden path"),
        ];
        let marks = marks.map(|(places, mark)| (places.iter().collect::<BTreeSet<_>>(), mark));
        for (index, call) in run.trace.tool_calls.iter().enumerate() {
            let marks = marks.iter().filter(|(places, _)| places.contains(&index));
            let marks: Vec<&str> = marks.map(|(_, mark)| *mark).collect();
            let mark = if marks.is_empty() {
                String::new()
            } else {
                format!("   <- {}", marks.join(", "))
            };
            lines.push(format!(
                "{index:>4}  {}{mark}",
                escape_outer_spaces(&call.name)
            ));
        }
        lines.push(format!(
            "extra_steps {}, backtracks {}, repeated_tools {}; penalty {:.2}",
            report.extra_steps, report.backtracks, report.repeated_tools, report.penalty
        ));
        vec![Evidence::Text(truncate_lines(&lines))]
    }
}
