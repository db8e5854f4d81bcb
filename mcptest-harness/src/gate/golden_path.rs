//! The `golden_path` gate: did the run waste steps against an ideal sequence of tools?
//!
//! It asks for efficiency alone: a run that did less than the ideal is not wasteful. Pair it with
//! `trajectory` to ask for the calls themselves.

use mcptest_suite::gates::GoldenPath;

use super::{Input, PerRun, Scored, Threshold};
use crate::eval::score_golden_path;
use crate::render::{Evidence, cut, shorten};
use crate::trace::Run;

impl PerRun for GoldenPath {
    fn defaults(&self) -> &'static [Threshold] {
        const DEFAULT: [Threshold; 1] = [Threshold::at_least("golden_path.passed", 1.0)];
        &DEFAULT
    }

    fn score(&self, _input: &Input<'_>, run: &Run) -> Scored {
        Scored::of(score_golden_path(&run.trace, self).metrics())
    }

    fn explain(&self, _input: &Input<'_>, run: &Run) -> Vec<Evidence> {
        let report = score_golden_path(&run.trace, self);
        let mut lines = vec![
            format!("golden path: {}", cut(&self.calls.join(" → "), 200)),
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
        vec![Evidence::Text(shorten(&lines))]
    }
}
