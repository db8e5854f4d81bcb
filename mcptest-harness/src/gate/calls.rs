//! The `calls` gate: did the run take more than it may?

use mcptest_suite::model::Target;
use mcptest_suite::{Diagnostic, Span, escape_line};

use super::block::Block;
use super::key::{Key, Keyed, Range};
use super::table::GateEntry;
use super::{Breach, EachRun, Input, Options, RunScore, Threshold};
use crate::eval::{CallCounts, CallLimits, Prices, UnknownCost, cost_of_run, count_calls_with};
use crate::render::Evidence;
use crate::trace::Run;
use mcptest_trace::text::shorten;

/// The target that needs prices.
const MONEY: &str = "calls.usd";

pub(super) const ENTRY: GateEntry = GateEntry::each_run::<CallLimits>();

impl Options for CallLimits {
    const SAYS: &'static str = "The run stays within your limits of tool calls, errors, model calls, tokens, time and money. The gate has no default: write a limit, or `expect:`.";

    const EXAMPLE: &'static str = "calls: { max: 8 }";

    // It has no default.
    const CALIBRATED_BY: Option<&'static str> = None;

    const JUDGES_CALLS: bool = true;
}

const MAX_USD: Key<CallLimits> = Key::number("max_usd", Range::Above0, |limits: &mut CallLimits| {
    &mut limits.max_usd
})
.says(
    "The most US dollars that a run may cost. The suite must have `prices` for the models, and the recording must have the tokens of each model call.",
)
.limits_target(MONEY)
.missing_as("no known cost, so nothing was judged");

impl Keyed for CallLimits {
    const KEYS: &'static [Key<Self>] = &[
        Key::count("max", 0, |limits: &mut Self| &mut limits.max)
            .says("The most tool calls of a run.")
            .limits_target("calls.count"),
        Key::count("max_errors", 0, |limits: &mut Self| &mut limits.max_errors)
            .says(
                "The most tool calls of a run that end in an error. The recording must mark errors and must have a result of each call.",
            )
            .limits_target("calls.errors")
            .missing_as("calls whose recording does not say if they ended in an error, so nothing was judged"),
        Key::count("max_steps", 1, |limits: &mut Self| &mut limits.max_steps)
            .says("The most model calls of a run. The recording must have the model calls.")
            .limits_target("calls.steps"),
        Key::count("max_tokens", 1, |limits: &mut Self| &mut limits.max_tokens)
            .says("The most tokens of a run. The recording must have the tokens.")
            .limits_target("calls.tokens"),
        Key::count("max_ms", 1, |limits: &mut Self| &mut limits.max_ms)
            .says("The most milliseconds that a run may take. The recording must have the time of the run.")
            .limits_target("calls.ms"),
        Key::count("max_call_ms", 1, |limits: &mut Self| {
            &mut limits.max_call_ms
        })
        .says("The most milliseconds that one tool call may take. The recording must have the time of each tool call.")
        .limits_target("calls.slowest_ms")
        .missing_as("calls whose time was not recorded, so nothing was judged"),
        MAX_USD,
    ];

    fn default_options() -> Self {
        Self::default()
    }

    fn check(&mut self, block: &mut Block<'_, '_>, whole: bool) -> bool {
        let limits_nothing = block.has_no_key::<Self>();
        if limits_nothing {
            let message = "`calls` limits nothing";
            let help = "add e.g. `max: 8`, `max_errors: 0`, or `expect:` with one of its targets";
            let problem = Diagnostic::at(block.span, message).help(help);
            block.problems.push(problem);
        }
        let money = [
            block.get_key(&MAX_USD).map(|node| node.span),
            block.find_expected_target(MONEY),
        ];
        if let Some(prices) = block.agent.prices {
            self.prices = prices.clone();
            if let Some(span) = money.into_iter().flatten().next() {
                refuse_unpriced(block, prices, span);
            }
        }
        whole && !limits_nothing
    }
}

/// Notes the models of the agent that have no price, where its money is asked for.
fn refuse_unpriced(block: &mut Block<'_, '_>, prices: &Prices, span: Span) {
    for model in block.agent.models {
        let id = &model.value.id;
        if prices.get(id).is_some() {
            continue;
        }
        let message =
            format!("the cost of a run cannot be computed: this suite has no price for `{id}`");
        let problem = Diagnostic::at(span, message).help(add_price(id));
        block.problems.push(problem);
    }
}

/// The line to add for a model's price.
fn add_price(model: &str) -> String {
    format!(
        "add its US dollars per million tokens at the top of the suite, e.g. `prices: {{ {model}: {{ prompt: 1.5, completion: 6 }} }}`"
    )
}

impl EachRun for CallLimits {
    type Report = CallCounts;

    const DEFAULT: &'static [Threshold] = &[];

    fn score(&self, input: &Input<'_>, run: &Run) -> Result<RunScore<CallCounts>, Box<Breach>> {
        let mut counts = count_calls_with(&run.trace, &run.model, &self.prices);
        if input.of_sub_agent {
            // Its calls may tell of model calls, and not of how many were its own.
            counts.steps = None;
        }
        Ok(RunScore::new(counts))
    }

    fn explain(&self, input: &Input<'_>, run: &Run, _counts: &CallCounts) -> Vec<Evidence> {
        let results = run.trace.results_by_call();
        let told = run
            .trace
            .tool_calls
            .iter()
            .zip(results)
            .map(|(call, result)| {
                let is_left = call.own.as_ref().is_some_and(|own| own.left);
                let mark = match result {
                    Some(result) if result.is_error => " (an error)",
                    _ if is_left => " (ended by control flow)",
                    Some(_) => "",
                    None => " (no result)",
                };
                format!("{}{mark}", call.name)
            });
        let told: Vec<String> = told.collect();
        let shown = match told.as_slice() {
            [] => "none".to_owned(),
            told => shorten(&told.join(", "), 400),
        };
        let unknown = unknown_errors(run).map_or_else(String::new, |calls| format!("\n{calls}"));
        let calls = Evidence::Text(format!("calls: {shown}{unknown}"));
        let unpriced = unknown_cost(self, input, run).map(Evidence::Text);
        std::iter::once(calls).chain(unpriced).collect()
    }
}

/// Of which calls the recording does not say if they ended in an error, once for all of them.
fn unknown_errors(run: &Run) -> Option<String> {
    if run.trace.errors_unknown() == 0 {
        return None;
    }
    let calls = run.trace.tool_calls.iter().zip(run.trace.results_by_call());
    let unknown = calls.enumerate().filter_map(|(place, (call, result))| {
        let is_left = call.own.as_ref().is_some_and(|own| own.left);
        let is_unknown = result.is_some_and(|result| !result.is_error && !result.error_known);
        (is_unknown && !is_left).then(|| (place + 1).to_string())
    });
    let unknown: Vec<String> = unknown.collect();
    let which = match unknown.as_slice() {
        [] => return None,
        [_] if run.trace.tool_calls.len() == 1 => "this call".to_owned(),
        all if all.len() == run.trace.tool_calls.len() => "any of these calls".to_owned(),
        [one] => format!("call {one}"),
        several => format!("calls {}", shorten(&several.join(", "), 100)),
    };
    Some(format!(
        "the recording does not say of {which} if it ended in an error"
    ))
}

/// Why nobody knows what a run cost, where that is asked.
fn unknown_cost(limits: &CallLimits, input: &Input<'_>, run: &Run) -> Option<String> {
    let mut expected = input.expect().iter();
    if limits.max_usd.is_none() && !expected.any(|check| is_money(&check.target)) {
        return None;
    }
    let why = cost_of_run(&run.trace, &run.model, &limits.prices).err()?;
    let next = match &why {
        UnknownCost::NoPrice(model) => format!("; {}", add_price(model)),
        _ => String::new(),
    };
    let text = format!("the cost of the run is not known: {why}{next}");
    Some(escape_line(&text).into_owned())
}

fn is_money(target: &Target) -> bool {
    target.prefix(target.segments.len()) == MONEY
}
