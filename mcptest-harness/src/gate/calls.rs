//! The `calls` gate: did the run take more than it may?

use mcptest_suite::Diagnostic;
use serde_json::Value;

use super::block::Block;
use super::key::{Key, Role};
use super::table::GateEntry;
use super::{Breach, Cause, EachRun, Input, Options, RunScore, Threshold};
use crate::eval::{CallCounts, CallLimits, Measure, count_calls, targets};
use crate::render::Evidence;
use crate::text::{thousands, truncate};
use crate::trace::Run;

pub(super) const ENTRY: GateEntry = GateEntry::each_run::<CallLimits>();

impl Options for CallLimits {
    const SAYS: &'static str = "A run takes no more tool calls, errors, model calls and tokens than it may. It has no default: say a limit, or `expect:`.";

    const KEYS: &'static [Key] = &[
        Key::count("max", 0)
            .says("The most tool calls.")
            .is(Role::LimitOf("calls.count")),
        Key::count("max_errors", 0)
            .says(
                "The most tool calls that end in an error; the recording must tell errors and \
                 have a result of each call.",
            )
            .is(Role::LimitOf("calls.errors")),
        Key::count("max_steps", 1)
            .says("The most model calls; they must be recorded.")
            .is(Role::LimitOf("calls.steps")),
        Key::count("max_tokens", 1)
            .says("The most tokens of the whole run; they must be recorded.")
            .is(Role::LimitOf("calls.tokens")),
    ];

    const TARGETS: &'static [Measure] = targets::CALLS;

    fn read(block: &mut Block<'_, '_>) -> Option<Self> {
        let mut limits = Self::default();
        limits.max = block.count("max");
        limits.max_errors = block.count("max_errors");
        limits.max_steps = block.count("max_steps");
        limits.max_tokens = block.count("max_tokens");
        let names = ["expect", "max", "max_errors", "max_steps", "max_tokens"];
        if !names.iter().any(|name| block.has(name)) && !block.misspells(&names) {
            let message = "`calls` limits nothing";
            let help = "add e.g. `max: 8`, `max_errors: 0`, or `expect:` with one of its targets";
            block
                .problems
                .push(Diagnostic::at(block.span, message).help(help));
            return None;
        }
        Some(limits)
    }
}

impl EachRun for CallLimits {
    type Report = CallCounts;

    const DEFAULT: &'static [Threshold] = &[];

    fn score(&self, _input: &Input<'_>, run: &Run) -> Result<RunScore<CallCounts>, Box<Breach>> {
        let counts = count_calls(&run.trace);
        let broken = self.against(&counts).into_iter();
        let broken = broken.filter(|(_, limit, taken)| taken.is_none_or(|taken| taken > *limit));
        let breaches = broken.map(|(name, limit, taken)| {
            let asks = Cause::Option(format!("`{name}` allows {}", thousands(limit)));
            match taken {
                Some(taken) => Breach::new(asks, &thousands(taken)),
                None if name == "max_errors" => Breach::new(
                    asks,
                    "calls that do not say how they ended, so nothing was judged",
                ),
                None => Breach::new(asks, "none recorded, so nothing was judged"),
            }
        });
        Ok(RunScore {
            breaches: breaches.collect(),
            ..RunScore::of(counts)
        })
    }

    fn metrics(&self, counts: &CallCounts) -> Value {
        counts.metrics()
    }

    fn explain(&self, _input: &Input<'_>, run: &Run, _counts: &CallCounts) -> Vec<Evidence> {
        let results = run.trace.results_by_call();
        let unknown = run.trace.errors_unknown() > 0;
        let calls = run.trace.tool_calls.iter().zip(results);
        let calls = calls.map(|(call, result)| {
            let mark = match result {
                Some(result) if result.is_error => " (an error)",
                Some(_) if unknown => " (an error or not)",
                Some(_) => "",
                None => " (no result)",
            };
            format!("{}{mark}", call.name)
        });
        let calls: Vec<String> = calls.collect();
        let calls = match calls.as_slice() {
            [] => "none".to_owned(),
            calls => truncate(&calls.join(", "), 400),
        };
        vec![Evidence::Text(format!("calls: {calls}"))]
    }
}
