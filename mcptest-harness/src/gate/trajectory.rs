//! The `trajectory` gate: the right calls, with the right arguments, in the right order.

mod side_by_side;

use std::sync::Arc;

use mcptest_suite::read::{check_needle, did_you_mean, read_schema, read_value};
use mcptest_suite::{Diagnostic, Node, NodeValue, Spanned};
use serde_json::Value;

use super::block::Block;
use super::key::{Key, Role, words};
use super::table::GateEntry;
use super::{Breach, Cause, EachRun, Input, Options, RunScore, Threshold};
use crate::check::difference;
use crate::eval::{
    ArgsShape, ExpectedCall, ExpectedTrace, MatchMode, Measure, Over, Schema, ToolPattern,
    TrajectoryReport, targets, validate_trace_with,
};
use crate::render::Evidence;
use crate::text::truncate_lines;
use crate::trace::{ReadOnlyTools, Run};
use side_by_side::side_by_side;

pub(super) const ENTRY: GateEntry = GateEntry::each_run::<Plan>();

/// The expected calls.
pub(super) type Plan = ExpectedTrace<Arc<Schema>>;

const MODES: [(&str, MatchMode); 8] = [
    ("strict", MatchMode::Strict),
    ("exact-sequence", MatchMode::Strict),
    ("exact_sequence", MatchMode::Strict),
    ("subsequence", MatchMode::Subsequence),
    ("unordered", MatchMode::Unordered),
    ("superset", MatchMode::Superset),
    ("subset", MatchMode::Subset),
    ("exact_unordered", MatchMode::ExactUnordered),
];

/// Whether calls of one step may match in any order.
const ORDERS: [(&str, bool); 2] = [("unordered", true), ("ordered", false)];

/// Which calls the plan is held against.
const OVERS: [(&str, Over); 2] = [("calls", Over::Calls), ("writes", Over::Writes)];

/// What may stand at `args`, for editors.
const ARGS: &str = r#"{
    "default": "any",
    "anyOf": [
        { "enum": ["any", "ignore"] },
        { "type": "object", "additionalProperties": false, "properties": { "any": { "description": "Anything." } } },
        { "type": "object", "additionalProperties": false, "properties": { "ignore": { "description": "Not looked at." } } },
        { "type": "object", "additionalProperties": false, "properties": { "exact": { "description": "Exactly this." } }, "required": ["exact"] },
        { "type": "object", "additionalProperties": false, "properties": { "subset": { "description": "At least this, as the matcher `contains` compares." } }, "required": ["subset"] },
        { "type": "object", "additionalProperties": false, "properties": { "schema": {
            "description": "A JSON Schema that some value breaks. Unknown keywords are refused, a `$ref` may only point inside, and a numeric bound without `type` means a number.",
            "type": "object",
            "minProperties": 1
        } }, "required": ["schema"] }
    ]
}"#;

/// The keys of an expected call.
const CALL: &[Key] = &[
    Key::text("name")
        .says("The tool, without any server prefix.")
        .required()
        .is(Role::PlannedTools),
    Key::other("args", ARGS).says("What the arguments must look like."),
    Key::maybe("is_error").says("Whether the result must be an error, or must not be."),
];

impl Options for Plan {
    const SAYS: &'static str = "The right calls, with the right arguments, in the right order. Default: trajectory.passed >= 1.";

    const KEYS: &'static [Key] = &[
        Key::word("mode", &words(&MODES))
            .says(
                "How expected and recorded calls line up. May be left out, with `calls`, where \
                 there is `forbid`.",
            )
            .required_unless("forbid"),
        Key::each("calls", ("expected calls", "an expected call"), CALL)
            .says("The expected calls. None, `[]`, with `over: writes` and `mode: strict`: nothing may be changed.")
            .required_unless("forbid"),
        Key::word("parallel", &words(&ORDERS))
            .says("`unordered`: calls of one step may match in any order in the ordered modes.")
            .usually("ordered"),
        Key::word("over", &words(&OVERS))
            .says(
                "`writes`: only the calls that change something are held against the plan; \
                 looking things up is free.",
            )
            .usually("calls"),
        Key::texts("allow", "tool patterns", false)
            .says(
                "Tools that calls beside the plan may be of, in the modes that let them be made; any without it.",
            )
            .is(Role::PlannedTools),
        Key::texts("forbid", "tool patterns", false)
            .says(
                "Tools that may not be called, in any mode and whatever `over` says; `*` stands \
                 for any characters: `delete_*`, and what a client writes before a tool's name hides none.",
            )
            .is(Role::PlannedTools),
    ];

    const TARGETS: &'static [Measure] = targets::TRAJECTORY;

    const RESTS_ON_ERRORS: bool = true;

    fn read(block: &mut Block<'_, '_>) -> Option<Self> {
        let forbid = block.texts("forbid");
        let alone = forbid.is_some() && without_plan(block);
        let mode = block.choice("mode", "mode", &MODES);
        let calls = calls(block);
        let parallel = block.choice("parallel", "order", &ORDERS);
        let over = block.choice("over", "call kind", &OVERS);
        let allow = block.texts("allow");
        if let Some(mode) = mode.filter(|mode| allow.is_some() && allows_no_surplus(*mode)) {
            refuse_allow(mode, block);
        }
        let (mode, calls) = if alone {
            (MatchMode::Unordered, Vec::new())
        } else {
            let calls = calls?;
            (closed(mode, over, &calls, block)?, calls)
        };
        let forbid = forbid.unwrap_or_default();
        contradictions(&calls, allow.as_deref().unwrap_or_default(), &forbid, block);
        let patterns = |texts: Vec<Spanned<String>>| {
            let texts = texts.into_iter().map(|pattern| pattern.value);
            texts.map(ToolPattern::new).collect()
        };
        let mut plan = Self::new(mode, calls)
            .with_parallel_unordered(parallel.unwrap_or_default())
            .with_over(over.unwrap_or_default())
            .with_forbid(patterns(forbid));
        plan.allow = allow.map(patterns);
        Some(plan)
    }

    fn tools(&self) -> Vec<&str> {
        let calls = self.calls.iter().map(|call| call.name.as_str());
        let allowed = self.allow.iter().flatten().map(ToolPattern::as_str);
        calls.chain(allowed).collect()
    }

    fn forbidden(&self) -> &[ToolPattern] {
        &self.forbid
    }
}

/// Whether there is no plan, and nothing that only means something beside one.
fn without_plan(block: &mut Block<'_, '_>) -> bool {
    const BESIDE: [&str; 3] = ["parallel", "over", "allow"];
    let missing = ["mode", "calls"].into_iter().filter(|key| !block.has(key));
    let missing: Vec<&str> = missing.collect();
    let lonely = BESIDE.into_iter().find(|key| block.has(key));
    let (there, need) = match (missing.as_slice(), lonely) {
        (["mode", "calls"], None) => return true,
        (["mode", "calls"], Some(lonely)) => (lonely, "mode` and `calls"),
        (["mode"], _) => ("calls", "mode"),
        (["calls"], _) => ("mode", "calls"),
        _ => return false,
    };
    if let Some(node) = block.node(there) {
        let message = format!("`{there}` does nothing without `{need}`");
        let problem = Diagnostic::at(node.span, message);
        block.problems.push(problem.help(format!(
            "add `{need}`, or leave `{there}` out and let `forbid` stand alone"
        )));
    }
    false
}

/// The mode of a plan. One without a call is that no state-changing call may be made; where every run
/// would hold, it is refused.
fn closed(
    mode: Option<MatchMode>,
    over: Option<Over>,
    calls: &[ExpectedCall<Arc<Schema>>],
    block: &mut Block<'_, '_>,
) -> Option<MatchMode> {
    let node = block.node("calls")?;
    if !calls.is_empty() || node.items().is_none_or(|items| !items.is_empty()) {
        return mode;
    }
    if over == Some(Over::Writes) && mode.is_none_or(allows_no_surplus) {
        return mode.map(|_| MatchMode::ExactUnordered);
    }
    let problem = Diagnostic::at(node.span, "this list of expected calls is empty");
    block.problems.push(problem.help(
        "add a call, or write `{ over: writes, mode: strict, calls: [] }` where nothing may be \
         changed; the gate `calls: { max: 0 }` asks for no call at all",
    ));
    None
}

/// Notes an `allow` where no call is left for it.
fn refuse_allow(mode: MatchMode, block: &mut Block<'_, '_>) {
    if let Some(node) = block.node("allow") {
        let mode = mode.as_str();
        let message =
            format!("`allow` does nothing under `mode: {mode}`, which lets no other call be made");
        let problem = Diagnostic::at(node.span, message);
        let open = "use `subsequence`, `unordered` or `superset`, or leave `allow` out";
        block.problems.push(problem.help(open));
    }
}

/// Whether a run may make the expected calls alone.
fn allows_no_surplus(mode: MatchMode) -> bool {
    use MatchMode::{ExactUnordered, Strict, Subset};
    matches!(mode, Strict | Subset | ExactUnordered)
}

/// Notes expected calls that are forbidden, where no run could hold, allowed tools that are forbidden, and
/// patterns under `allow` that allow any tool.
fn contradictions(
    calls: &[ExpectedCall<Arc<Schema>>],
    allow: &[Spanned<String>],
    forbid: &[Spanned<String>],
    block: &mut Block<'_, '_>,
) {
    for pattern in forbid {
        let matches = ToolPattern::new(pattern.value.as_str());
        if let Some(call) = calls.iter().find(|call| matches.matches(&call.name)) {
            let message = format!(
                "`{}` forbids the expected call `{}`",
                pattern.value, call.name
            );
            block
                .problems
                .push(Diagnostic::at(pattern.span, message).help("expect the call, or forbid it"));
        }
    }
    for pattern in allow {
        let allowed = pattern.value.as_str();
        // One that fits the other as it is written fits all that the other does.
        let covers = |other: &&Spanned<String>| ToolPattern::new(&*other.value).matches(allowed);
        let (message, help) = if ToolPattern::new(allowed).matches("") {
            let message = format!("`{allowed}` allows any tool, as a plan without `allow` does");
            (message, "name tools, or leave `allow` out")
        } else if let Some(other) = forbid.iter().find(covers) {
            let message = format!("`{}` forbids the allowed `{allowed}`", other.value);
            (message, "allow the tool, or forbid it")
        } else {
            continue;
        };
        let problem = Diagnostic::at(pattern.span, message);
        block.problems.push(problem.help(help));
    }
}

fn calls(block: &mut Block<'_, '_>) -> Option<Vec<ExpectedCall<Arc<Schema>>>> {
    block.each("calls", |block| {
        let name = block.text("name");
        let args = match block.node("args") {
            Some(node) => shape(block, node),
            None => Some(ArgsShape::Any),
        };
        let is_error = block.flag("is_error");
        let mut expected = ExpectedCall::new(name?.value, args?);
        expected.is_error = is_error;
        Some(expected)
    })
}

fn shape(block: &mut Block<'_, '_>, node: &Node) -> Option<ArgsShape<Arc<Schema>>> {
    const SHAPES: [&str; 5] = ["any", "ignore", "exact", "subset", "schema"];
    if matches!(node.value, NodeValue::Text(_)) {
        let choices = [("any", false), ("ignore", true)];
        let ignore = block.problems.choice(node, "argument shape", &choices)?;
        return Some(if ignore {
            ArgsShape::Ignore
        } else {
            ArgsShape::Any
        });
    }
    let Some(entries) = node.entries() else {
        block.problems.expected(
            "an argument shape such as `{ subset: { city: Oslo } }`",
            node,
        );
        return None;
    };
    let [entry] = entries else {
        block.problems.push(
            Diagnostic::at(node.span, "an argument shape has one key")
                .help("write e.g. `args: { exact: { city: Oslo } }`"),
        );
        return None;
    };
    match entry.key.as_str() {
        "any" => Some(ArgsShape::Any),
        "ignore" => Some(ArgsShape::Ignore),
        "exact" | "subset" | "schema" if entry.value.is_left_out() => {
            let message = format!("`{}` is left without a value", entry.key);
            let help = format!(
                "write e.g. `{}: {{ city: Oslo }}`, or `args: any`",
                entry.key
            );
            block
                .problems
                .push(Diagnostic::at(entry.key_span, message).help(help));
            None
        }
        "exact" => Some(ArgsShape::Exact(read_value(&entry.value, block.problems))),
        "subset" => {
            check_needle("subset", &entry.value, block.problems);
            Some(ArgsShape::Subset(read_value(&entry.value, block.problems)))
        }
        "schema" => {
            let schema = read_schema(&entry.value, block.problems)?;
            block.compiler.schema(&schema).map(ArgsShape::Schema)
        }
        other => {
            let problem =
                Diagnostic::at(entry.key_span, format!("unknown argument shape `{other}`"));
            block.problems.push(
                did_you_mean(problem, other, SHAPES.into_iter(), "shapes")
                    .note("the recorded arguments go below the shape: `args: { exact: { … } }`"),
            );
            None
        }
    }
}

/// The tools that only read, as the recording and the agent's gates say; asked of a plan of writes alone.
fn read_only_tools(plan: &Plan, input: &Input<'_>, run: &Run) -> ReadOnlyTools {
    if plan.over != Over::Writes {
        return ReadOnlyTools::default();
    }
    let [mutating, readonly] = input.gates.tool_lists();
    ReadOnlyTools::new(run.tools.iter().flatten(), mutating, readonly)
}

impl EachRun for Plan {
    type Report = TrajectoryReport;

    const DEFAULT: &'static [Threshold] = &[Threshold::at_least("trajectory.passed", 1.0)];

    fn score(
        &self,
        input: &Input<'_>,
        run: &Run,
    ) -> Result<RunScore<TrajectoryReport>, Box<Breach>> {
        match validate_trace_with(&run.trace, self, &read_only_tools(self, input, run)) {
            Ok(report) => Ok(RunScore::of(report)),
            // Refused when the suite loaded; never a pass.
            Err(malformed) => {
                let asks = Cause::Option(malformed.to_string());
                Err(Box::new(Breach::new(asks, "nothing to compare with")))
            }
        }
    }

    fn metrics(&self, report: &TrajectoryReport) -> Value {
        report.metrics()
    }

    fn note(&self, runs: &[Run], _scores: &[Value]) -> Option<String> {
        let mut traces = runs.iter().map(|run| &run.trace);
        let none_told = traces.all(|trace| trace.tool_calls.iter().all(|call| call.step.is_none()));
        let some_could = runs.iter().any(|run| run.trace.tool_calls.len() > 1);
        (self.parallel_unordered && none_told && some_could).then(|| {
            "no run says which of its calls were made together (`step` of a call), so `parallel: unordered` changes nothing: their recorded order counts".to_owned()
        })
    }

    fn explain(&self, _input: &Input<'_>, run: &Run, report: &TrajectoryReport) -> Vec<Evidence> {
        let diff = side_by_side(self, run, report);
        let mut reasons = Vec::new();
        for mismatch in &report.mismatches {
            reasons.push(format!("- {}", mismatch.reason));
            for diff in &mismatch.arg_diffs {
                let line = match diff.expected.as_ref().and_then(|value| value.get("schema")) {
                    Some(Value::String(violation)) => violation.clone(),
                    _ => difference(diff),
                };
                reasons.push(format!("    {line}"));
            }
        }
        vec![
            Evidence::Text(diff),
            Evidence::Text(truncate_lines(&reasons)),
        ]
    }
}
