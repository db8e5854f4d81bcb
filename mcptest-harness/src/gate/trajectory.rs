//! The `trajectory` gate: the right calls, with the right arguments, in the right order.

mod shape;
mod side_by_side;

use std::sync::Arc;

use mcptest_suite::{Diagnostic, Node, Spanned};
use serde_json::Value;

use super::block::Block;
use super::form::{CustomForm, ListForm, WordForm};
use super::key::{Key, Keyed, Role};
use super::table::GateEntry;
use super::{Breach, Cause, EachRun, Input, Options, RunScore, Threshold};

use crate::eval::{
    ArgsShape, ExpectedCall, ExpectedTrace, MatchMode, Over, Schema, ToolPattern, TrajectoryReport,
    validate_trace_with,
};
use crate::render::Evidence;
use crate::trace::{ReadOnlyTools, Run};
use mcptest_trace::text::{difference, truncate_lines};
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

impl Options for Plan {
    const SAYS: &'static str = "The run made the expected tool calls, with the expected arguments, in the expected order. Default: trajectory.passed >= 1.";

    const EXAMPLE: &'static str = "trajectory: { mode: superset, calls: [{ name: search }] }";

    // Its default is a yes or no.
    const CALIBRATED_BY: Option<&'static str> = None;

    const JUDGES_CALLS: bool = true;

    const RESTS_ON_ERRORS: bool = true;
}

const MODE: Key<Plan> = Key::form(
    "mode",
    &WordForm {
        what: "mode",
        choices: &MODES,
        at: |plan: &mut Plan| &mut plan.mode,
    },
)
.says(
    "How the expected calls are compared with the recorded calls. If the gate has `forbid`, you may leave out `mode` together with `calls`.",
)
.required_unless(&FORBID);

const CALLS: Key<Plan> = Key::form(
    "calls",
    &ListForm {
        of: "expected calls",
        one: "an expected call",
        at: |plan: &mut Plan| &mut plan.calls,
    },
)
.says("The expected calls. `calls: []` with `over: writes` and `mode: strict` means: the run may change nothing.")
.required_unless(&FORBID);

const PARALLEL: Key<Plan> = Key::form(
    "parallel",
    &WordForm {
        what: "order",
        choices: &ORDERS,
        at: |plan: &mut Plan| &mut plan.parallel_unordered,
    },
)
.says("`unordered`: calls of one step (made in parallel) may match in any order. This concerns the modes in which the order counts.");

const OVER: Key<Plan> = Key::form(
    "over",
    &WordForm {
        what: "call kind",
        choices: &OVERS,
        at: |plan: &mut Plan| &mut plan.over,
    },
)
.says(
    "Which calls are compared with the plan. `writes`: only calls that change something; the agent may look things up as it likes.",
);

const ALLOW: Key<Plan> = Key::tools("allow", "tool patterns", |plan: &mut Plan| &mut plan.allow)
    .says(
        "The tools that the run may call beside the expected calls, in a mode that lets it make other calls. Without this key: any tool. You may write patterns, as under `forbid`.",
    );

const FORBID: Key<Plan> = Key::tools("forbid", "tool patterns", |plan: &mut Plan| {
    &mut plan.forbid
})
.says(
    "Tools that the run may not call, in any mode and with any `over`. `*` stands for any characters: `delete_*`. \
     A prefix that a client writes before a tool's name does not hide the tool. `{ name: delete_*, server: fs }` \
     means the tools of one server.",
);

impl Keyed for Plan {
    const KEYS: &'static [Key<Self>] = &[MODE, CALLS, PARALLEL, OVER, ALLOW, FORBID];

    fn default_options() -> Self {
        Self::new(MatchMode::Unordered, Vec::new())
    }

    fn check(&mut self, block: &mut Block<'_, '_>, whole: bool) -> bool {
        let alone = block.has(&FORBID) && has_no_plan(block);
        let mode = block.get_key(&MODE).filter(|_| whole).map(|_| self.mode);
        if mode.is_some_and(allows_no_surplus) && block.has(&ALLOW) {
            refuse_allow(self.mode, block);
        }
        let holds = alone || finish_plan(self, block, whole);
        if whole {
            note_contradictions(self, block);
        }
        holds && whole
    }
}

type Expected = ExpectedCall<Arc<Schema>>;

impl Keyed for Expected {
    const KEYS: &'static [Key<Self>] = &[
        Key::text("name", |call: &mut Self| &mut call.name)
            .says("The tool's name, without a prefix for its server.")
            .required()
            .with_role(Role::PlannedTools),
        Key::text("server", |call: &mut Self| &mut call.server).says(
            "The server that must offer the tool. If the recording does not say a call's server, the call does not fit.",
        ),
        Key::form(
            "args",
            &CustomForm {
                schema: shape::schema,
                read: |block, node, call: &mut Expected| {
                    let shape = shape::read(block, node);
                    let is_read = shape.is_some();
                    call.args = shape.unwrap_or(ArgsShape::Any);
                    is_read
                },
            },
        )
        .says("What the arguments of the call must be."),
        Key::flag("is_error", |call: &mut Self| &mut call.is_error)
            .says("`true`: the result must be an error. `false`: the result must not be an error."),
    ];

    fn default_options() -> Self {
        Self::new("", ArgsShape::Any)
    }
}

/// Whether there is no plan, and nothing that only means something beside one.
fn has_no_plan(block: &mut Block<'_, '_>) -> bool {
    let beside = [&PARALLEL, &OVER, &ALLOW];
    let lonely = beside.into_iter().find(|key| block.has(*key));
    let (there, need) = match (block.has(&MODE), block.has(&CALLS), lonely) {
        (false, false, None) => return true,
        (false, false, Some(lonely)) => (lonely, "mode` and `calls"),
        (false, true, _) => (&CALLS, "mode"),
        (true, false, _) => (&MODE, "calls"),
        (true, true, _) => return false,
    };
    if let Some(node) = block.get_key(there) {
        let there = there.name;
        let message = format!("`{there}` does nothing without `{need}`");
        let problem = Diagnostic::at(node.span, message);
        block.problems.push(problem.help(format!(
            "add `{need}`, or remove `{there}` and keep only `forbid`"
        )));
    }
    false
}

/// Takes a plan without a call for what it means: that no state-changing call may be made. Where every run
/// would hold, it is refused.
fn finish_plan(plan: &mut Plan, block: &mut Block<'_, '_>, whole: bool) -> bool {
    let (mode, calls) = (block.has(&MODE), block.get_key(&CALLS));
    let Some(node) = calls else {
        return false;
    };
    if !plan.calls.is_empty() || node.items().is_none_or(|items| !items.is_empty()) {
        return mode;
    }
    if plan.over == Over::Writes && (!whole || !mode || allows_no_surplus(plan.mode)) {
        plan.mode = MatchMode::ExactUnordered;
        return mode;
    }
    let problem = Diagnostic::at(node.span, "this list of expected calls is empty");
    block.problems.push(problem.help(
        "add a call, or write `{ over: writes, mode: strict, calls: [] }` if the run may change \
         nothing; if the run may make no call at all, use the gate `calls: { max: 0 }`",
    ));
    false
}

/// Notes an `allow` where no call is left for it.
fn refuse_allow(mode: MatchMode, block: &mut Block<'_, '_>) {
    if let Some(node) = block.get_key(&ALLOW) {
        let mode = mode.as_str();
        let message = format!(
            "`allow` does nothing with `mode: {mode}`, because this mode allows no other call"
        );
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
fn note_contradictions(plan: &Plan, block: &mut Block<'_, '_>) {
    let calls = &plan.calls;
    let allow = with_spans(
        plan.allow.as_deref().unwrap_or_default(),
        block.get_key(&ALLOW),
    );
    let forbid = with_spans(&plan.forbid, block.get_key(&FORBID));
    let of_server = |pattern: &ToolPattern, server: Option<&str>| {
        let wanted = pattern.server();
        wanted.is_none() || server.is_none() || wanted == server
    };
    for pattern in &forbid {
        let fits = |call: &&Expected| {
            pattern.value.matches(&call.name) && of_server(pattern.value, call.server.as_deref())
        };
        if let Some(call) = calls.iter().find(fits) {
            let message = format!(
                "`{}` forbids the expected call `{}`",
                pattern.value.as_str(),
                call.name
            );
            block.problems.push(
                Diagnostic::at(pattern.span, message)
                    .help("remove the call from `calls`, or the tool from `forbid`"),
            );
        }
    }
    for pattern in &allow {
        let allowed = pattern.value.as_str();
        // One that fits the other as it is written fits all that the other does.
        let covers = |other: &&Spanned<&ToolPattern>| {
            other.value.matches(allowed) && of_server(other.value, pattern.value.server())
        };
        let (message, help) = if pattern.value.matches("") && pattern.value.server().is_none() {
            let message = format!("`{allowed}` allows any tool, as a plan without `allow` does");
            (message, "name tools, or leave `allow` out")
        } else if let Some(other) = forbid.iter().find(covers) {
            let message = format!("`{}` forbids the allowed `{allowed}`", other.value.as_str());
            (message, "remove the tool from `allow` or from `forbid`")
        } else {
            continue;
        };
        let problem = Diagnostic::at(pattern.span, message);
        block.problems.push(problem.help(help));
    }
}

/// Patterns with their places, all of which could be read.
fn with_spans<'p>(
    patterns: &'p [ToolPattern],
    list: Option<&Node>,
) -> Vec<Spanned<&'p ToolPattern>> {
    let items = list.and_then(Node::items).into_iter().flatten();
    let spans = items.map(|item| item.span);
    let patterns = patterns.iter().zip(spans);
    patterns
        .map(|(pattern, span)| Spanned::new(pattern, span))
        .collect()
}

/// The tools that only read, as the recording and the agent's gates say, and the servers of the tools.
fn read_only_tools(input: &Input<'_>, run: &Run) -> ReadOnlyTools {
    let [mutating, readonly] = input.gates.tool_lists();
    let servers = input.agent.servers.iter();
    ReadOnlyTools::new(run.tools.iter().flatten(), mutating, readonly)
        .with_servers(servers.map(|server| server.value.as_str()))
}

impl EachRun for Plan {
    type Report = TrajectoryReport;

    const DEFAULT: &'static [Threshold] = &[Threshold::at_least(
        "trajectory.passed",
        1.0,
        "the calls differ from the plan",
    )];

    fn score(
        &self,
        input: &Input<'_>,
        run: &Run,
    ) -> Result<RunScore<TrajectoryReport>, Box<Breach>> {
        match validate_trace_with(&run.trace, self, &read_only_tools(input, run)) {
            Ok(report) => Ok(RunScore::new(report)),
            // Refused when the suite loaded; never a pass.
            Err(malformed) => {
                let asks = Cause::Gate(malformed.to_string());
                Err(Box::new(Breach::new(asks, "nothing to compare with")))
            }
        }
    }

    fn note(&self, runs: &[Run], _scores: &[Value]) -> Option<String> {
        let mut traces = runs.iter().map(|run| &run.trace);
        let none_told = traces.all(|trace| trace.tool_calls.iter().all(|call| call.step.is_none()));
        let some_could = runs.iter().any(|run| run.trace.tool_calls.len() > 1);
        (self.parallel_unordered && none_told && some_could).then(|| {
            "no recording says which calls were made together (`step` of a call), so `parallel: unordered` changes nothing: the recorded order counts".to_owned()
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
            if let (Some(expected), Some(recorded)) =
                (mismatch.expected_index, mismatch.recorded_index)
            {
                let (shape, call) = (&self.calls[expected].args, &run.trace.tool_calls[recorded]);
                reasons.extend(shape::part_of_a_text(shape, &call.args));
            }
        }
        vec![
            Evidence::Text(diff),
            Evidence::Text(truncate_lines(&reasons)),
        ]
    }
}
