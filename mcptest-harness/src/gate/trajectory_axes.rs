//! The `trajectory_axes` gate: ordering and data flow between tools, whatever else was called.

use mcptest_suite::model::Segment;
use mcptest_suite::read::read_target;
use mcptest_suite::{Diagnostic, Node, Spanned};
use serde_json::Value;

use super::block::Block;
use super::key::{Key, Role};
use super::table::GateEntry;
use super::{Breach, EachRun, Input, Options, RunScore, Threshold};
use crate::eval::{Axes, AxesReport, Dependency, Measure, Order, score_trajectory_axes, targets};
use crate::render::Evidence;
use crate::trace::Run;

pub(super) const ENTRY: GateEntry = GateEntry::each_run::<Axes>();

const DEPENDENCIES: &str = "trajectory.dependency_satisfaction";
const ORDER: &str = "trajectory.order_satisfaction";

/// The keys of a dependency.
const DEPENDENCY: &[Key] = &[
    Key::text("producer")
        .says("The tool whose result is needed.")
        .required()
        .is(Role::PlannedTools),
    Key::text("consumer")
        .says("The tool that needs it.")
        .required()
        .is(Role::PlannedTools),
    Key::text("arg").says(
        "The consumer's argument whose value must come from an earlier result of the \
                 producer; `page.cursor` leads into objects. With it, a tool may depend on \
                 itself (pagination).",
    ),
];

/// The keys of an ordered pair.
const PAIR: &[Key] = &[
    Key::text("first")
        .says("The earlier tool.")
        .required()
        .is(Role::PlannedTools),
    Key::text("second")
        .says("The later tool.")
        .required()
        .is(Role::PlannedTools),
    Key::flag("last", false).says(
        "Whether the last call of the earlier tool must come before the last call of the \
                 later one too.",
    ),
];

impl Options for Axes {
    const SAYS: &'static str =
        "Ordering and data flow between tools. Default: both targets 100 percent.";

    const KEYS: &'static [Key] = &[
        Key::each("dependencies", ("dependencies", "a dependency"), DEPENDENCY)
            .says("Consumers that need a producer before them."),
        Key::each("order", ("pairs", "an ordered pair"), PAIR)
            .says("Tools whose first call comes before another's."),
    ];

    const TARGETS: &'static [Measure] = targets::TRAJECTORY_AXES;

    fn read(block: &mut Block<'_, '_>) -> Option<Self> {
        let lists = ["dependencies", "order"].map(|key| block.node(key));
        let declares = |node: &Node| node.items().is_none_or(|items| !items.is_empty());
        if !lists.into_iter().flatten().any(declares) {
            if !block.misspells(&["dependencies", "order"]) {
                let message = "`trajectory_axes` declares nothing to check";
                block.problems.push(Diagnostic::at(block.span, message).help(
                    "add `dependencies: [{ producer: a, consumer: b }]` or `order: [{ first: a, second: b }]`",
                ));
            }
            return None;
        }
        let dependencies = block.each("dependencies", dependency).unwrap_or_default();
        let order = block.each("order", pair).unwrap_or_default();
        Some(
            Self::default()
                .with_dependencies(dependencies)
                .with_order(order),
        )
    }

    fn unasked(&self) -> Vec<(&'static str, &'static str)> {
        let axes = [
            (DEPENDENCIES, "dependencies", self.dependencies.is_empty()),
            (ORDER, "order", self.order.is_empty()),
        ];
        let unasked = axes.into_iter().filter(|(_, _, empty)| *empty);
        unasked.map(|(target, key, _)| (target, key)).collect()
    }
}

fn dependency(block: &mut Block<'_, '_>) -> Option<Dependency> {
    let (producer, consumer) = (block.text("producer"), block.text("consumer"));
    let has_arg = block.has("arg");
    let arg = argument(block);
    let (producer, consumer) = (producer?, consumer?);
    if producer.value == consumer.value && !has_arg {
        block.problems.push(before_itself(&producer, &consumer).help(
            "name the argument that carries data from call to call, e.g. `arg: cursor`, or two different tools",
        ));
    }
    let mut dependency = Dependency::new(producer.value, consumer.value);
    dependency.arg = arg;
    Some(dependency)
}

fn pair(block: &mut Block<'_, '_>) -> Option<Order> {
    let (first, second) = (block.text("first"), block.text("second"));
    let last = block.flag("last").unwrap_or_default();
    let (first, second) = (first?, second?);
    if first.value == second.value {
        let problem = before_itself(&first, &second);
        block
            .problems
            .push(problem.help("name two different tools"));
    }
    Some(Order::new(first.value, second.value).with_last(last))
}

/// One tool is asked to come before the same tool.
fn before_itself(first: &Spanned<String>, second: &Spanned<String>) -> Diagnostic {
    Diagnostic::new(format!("`{}` cannot come before itself", second.value))
        .label(second.span, "the same tool")
        .also(first.span, "first named here")
}

/// The path of an argument: its name, or a way into an object.
fn argument(block: &mut Block<'_, '_>) -> Option<String> {
    let node = block.node("arg")?;
    let path = read_target(node, block.problems)?;
    let is_key = |segment: &Segment| matches!(segment, Segment::Key(_));
    if !path.segments.iter().all(is_key) {
        let message = format!("`{}` is no argument: only keys lead to one", path.text);
        block.problems.push(
            Diagnostic::at(node.span, message)
                .help("write e.g. `arg: url`, or `arg: page.cursor` for a key of an object"),
        );
        return None;
    }
    Some(path.text)
}

impl EachRun for Axes {
    type Report = AxesReport;

    const DEFAULT: &'static [Threshold] = &[
        Threshold::at_least(DEPENDENCIES, 100.0),
        Threshold::at_least(ORDER, 100.0),
    ];

    fn score(&self, _input: &Input<'_>, run: &Run) -> Result<RunScore<AxesReport>, Box<Breach>> {
        Ok(RunScore::of(score_trajectory_axes(&run.trace, self)))
    }

    fn metrics(&self, report: &AxesReport) -> Value {
        report.metrics()
    }

    fn explain(&self, _input: &Input<'_>, run: &Run, report: &AxesReport) -> Vec<Evidence> {
        let mut lines: Vec<String> = report
            .broken
            .iter()
            .map(|edge| format!("- {}", edge.reason))
            .collect();
        let calls = run.trace.tool_calls.iter().enumerate();
        let first = calls
            .map(|(index, call)| format!("{index} {}", call.name))
            .collect::<Vec<_>>();
        lines.push(format!(
            "calls: {}",
            crate::text::truncate(&first.join(", "), 400)
        ));
        vec![Evidence::Text(lines.join("\n"))]
    }
}
