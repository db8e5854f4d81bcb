//! The `calls` gate: did the run take more than it may?

use mcptest_suite::Diagnostic;

use super::block::Block;
use super::key::{Key, Keyed};
use super::table::GateEntry;
use super::{Breach, EachRun, Input, Options, RunScore, Threshold};
use crate::eval::{CallCounts, CallLimits, count_calls};
use crate::render::Evidence;
use crate::text::truncate;
use crate::trace::Run;

pub(super) const ENTRY: GateEntry = GateEntry::each_run::<CallLimits>();

impl Options for CallLimits {
    const SAYS: &'static str = "A run takes no more tool calls, errors, model calls, tokens and time than it may. It has no default: say a limit, or `expect:`.";

    const EXAMPLE: &'static str = "calls: { max: 8 }";

    // It has no default.
    const CALIBRATED_BY: Option<&'static str> = None;
}

impl Keyed for CallLimits {
    const KEYS: &'static [Key<Self>] = &[
        Key::count("max", 0, |limits: &mut Self| &mut limits.max)
            .says("The most tool calls.")
            .limits("calls.count"),
        Key::count("max_errors", 0, |limits: &mut Self| &mut limits.max_errors)
            .says(
                "The most tool calls that end in an error; the recording must tell errors and \
                 have a result of each call.",
            )
            .limits("calls.errors")
            .without("calls that do not say how they ended, so nothing was judged"),
        Key::count("max_steps", 1, |limits: &mut Self| &mut limits.max_steps)
            .says("The most model calls; they must be recorded.")
            .limits("calls.steps"),
        Key::count("max_tokens", 1, |limits: &mut Self| &mut limits.max_tokens)
            .says("The most tokens of the whole run; they must be recorded.")
            .limits("calls.tokens"),
        Key::count("max_ms", 1, |limits: &mut Self| &mut limits.max_ms)
            .says("The most milliseconds of the whole run; they must be recorded.")
            .limits("calls.ms"),
        Key::count("max_call_ms", 1, |limits: &mut Self| {
            &mut limits.max_call_ms
        })
        .says("The most milliseconds of any one tool call; those of each must be recorded.")
        .limits("calls.slowest_ms")
        .without("calls whose time was not recorded, so nothing was judged"),
    ];

    fn usual() -> Self {
        Self::default()
    }

    fn check(&mut self, block: &mut Block<'_, '_>, whole: bool) -> bool {
        let limits_nothing = block.says_nothing::<Self>();
        if limits_nothing {
            let message = "`calls` limits nothing";
            let help = "add e.g. `max: 8`, `max_errors: 0`, or `expect:` with one of its targets";
            let problem = Diagnostic::at(block.span, message).help(help);
            block.problems.push(problem);
        }
        whole && !limits_nothing
    }
}

impl EachRun for CallLimits {
    type Report = CallCounts;

    const DEFAULT: &'static [Threshold] = &[];

    fn score(&self, _input: &Input<'_>, run: &Run) -> Result<RunScore<CallCounts>, Box<Breach>> {
        Ok(RunScore::of(count_calls(&run.trace)))
    }

    fn explain(&self, _input: &Input<'_>, run: &Run, _counts: &CallCounts) -> Vec<Evidence> {
        let results = run.trace.results_by_call();
        let unknown = run.trace.errors_unknown() > 0;
        let told = run
            .trace
            .tool_calls
            .iter()
            .zip(results)
            .map(|(call, result)| {
                let mark = match result {
                    Some(result) if result.is_error => " (an error)",
                    Some(_) if unknown => " (an error or not)",
                    Some(_) => "",
                    None => " (no result)",
                };
                format!("{}{mark}", call.name)
            });
        let told: Vec<String> = told.collect();
        let shown = match told.as_slice() {
            [] => "none".to_owned(),
            told => truncate(&told.join(", "), 400),
        };
        vec![Evidence::Text(format!("calls: {shown}"))]
    }
}
