//! The `trajectory_axes` gate: ordering and data flow between tools, whatever else was called.

use mcptest_suite::model::Segment;
use mcptest_suite::read::read_target;
use mcptest_suite::{Diagnostic, Node, Span};
use serde_json::{Value, json};

use super::block::Block;
use super::form::{CustomForm, ListForm};
use super::key::{Key, Keyed, Role};
use super::table::GateEntry;
use super::{Breach, EachRun, Input, Options, RunScore, Threshold};
use crate::eval::{Axes, AxesReport, Axis, BrokenEdge, Dependency, Order, score_trajectory_axes};
use crate::render::Evidence;
use crate::trace::Run;
use mcptest_trace::text::{escape_outer_spaces, find_lookalike, short_json};

pub(super) const ENTRY: GateEntry = GateEntry::each_run::<Axes>();

const DEPENDENCIES: &str = "trajectory.dependency_satisfaction";
const ORDER: &str = "trajectory.order_satisfaction";

impl Options for Axes {
    const SAYS: &'static str = "Some tools are called before others, and arguments come from earlier results. Default: both targets are 100 percent.";

    const EXAMPLE: &'static str = "trajectory_axes: { order: [{ first: search, second: fetch }] }";

    // Its default is 100 percent, which is what a plan asks.
    const CALIBRATED_BY: Option<&'static str> = None;

    const JUDGES_CALLS: bool = true;

    fn needs_results(&self) -> bool {
        !self.dependencies.is_empty()
    }

    fn constant_targets(&self) -> Vec<(&'static str, &'static str)> {
        let axes = [
            (DEPENDENCIES, "dependencies", self.dependencies.is_empty()),
            (ORDER, "order", self.order.is_empty()),
        ];
        let unasked = axes.into_iter().filter(|(_, _, empty)| *empty);
        unasked.map(|(target, key, _)| (target, key)).collect()
    }
}

impl Keyed for Axes {
    const KEYS: &'static [Key<Self>] = &[DEPENDENCIES_KEY, ORDER_KEY];

    fn default_options() -> Self {
        Self::default()
    }

    fn check(&mut self, block: &mut Block<'_, '_>, whole: bool) -> bool {
        let lists = [block.get_key(&DEPENDENCIES_KEY), block.get_key(&ORDER_KEY)];
        let declares = |node: &Node| node.items().is_none_or(|items| !items.is_empty());
        let declares = lists.into_iter().flatten().any(declares);
        if !declares && !block.misspells(&[DEPENDENCIES_KEY.name, ORDER_KEY.name]) {
            let message = "`trajectory_axes` declares nothing to check";
            block.problems.push(Diagnostic::at(block.span, message).help(
                "add `dependencies: [{ producer: a, consumer: b }]` or `order: [{ first: a, second: b }]`",
            ));
        }
        whole && declares
    }
}

const DEPENDENCIES_KEY: Key<Axes> = Key::form(
    "dependencies",
    &ListForm {
        of: "dependencies",
        one: "a dependency",
        at: |axes: &mut Axes| &mut axes.dependencies,
    },
)
.says("Pairs of tools: the consumer needs a result of the producer, so the producer must be called first.");

const ORDER_KEY: Key<Axes> = Key::form(
    "order",
    &ListForm {
        of: "pairs",
        one: "an ordered pair",
        at: |axes: &mut Axes| &mut axes.order,
    },
)
.says("Pairs of tools: the first call of `first` must come before the first call of `second`.");

const PRODUCER: Key<Dependency> = Key::text("producer", |edge: &mut Dependency| &mut edge.producer)
    .says("The tool whose result the consumer needs.")
    .required()
    .with_role(Role::PlannedTools);

const CONSUMER: Key<Dependency> = Key::text("consumer", |edge: &mut Dependency| &mut edge.consumer)
    .says("The tool that needs a result of the producer.")
    .required()
    .with_role(Role::PlannedTools);

const ARG: Key<Dependency> = Key::form(
    "arg",
    &CustomForm {
        schema: || json!({ "type": ["string", "number"] }),
        read: argument,
    },
)
.says(
    "An argument of the consumer. Its value must come from an earlier result of the producer. `page.cursor` leads into an object. With `arg`, a tool may depend on itself, as in pagination.",
);

impl Keyed for Dependency {
    const KEYS: &'static [Key<Self>] = &[PRODUCER, CONSUMER, ARG];

    fn default_options() -> Self {
        Self::new("", "")
    }

    fn check(&mut self, block: &mut Block<'_, '_>, whole: bool) -> bool {
        if whole && self.producer == self.consumer && !block.has(&ARG) {
            let problem = before_itself(block, &PRODUCER, &CONSUMER);
            block.problems.push(problem.help(
                "name the argument that carries data from call to call, e.g. `arg: cursor`, or two different tools",
            ));
        }
        whole
    }
}

const FIRST: Key<Order> = Key::text("first", |pair: &mut Order| &mut pair.first)
    .says("The tool that must be called earlier.")
    .required()
    .with_role(Role::PlannedTools);

const SECOND: Key<Order> = Key::text("second", |pair: &mut Order| &mut pair.second)
    .says("The tool that must be called later.")
    .required()
    .with_role(Role::PlannedTools);

impl Keyed for Order {
    const KEYS: &'static [Key<Self>] = &[
        FIRST,
        SECOND,
        Key::flag("last", |pair: &mut Self| &mut pair.last).says(
            "`true`: the last call of `first` must also come before the last call of `second`.",
        ),
    ];

    fn default_options() -> Self {
        Self::new("", "")
    }

    fn check(&mut self, block: &mut Block<'_, '_>, whole: bool) -> bool {
        if whole && self.first == self.second {
            let problem = before_itself(block, &FIRST, &SECOND);
            block
                .problems
                .push(problem.help("name two different tools"));
        }
        whole
    }
}

/// The problem that a tool is asked to come before itself.
fn before_itself<O>(block: &mut Block<'_, '_>, first: &Key<O>, second: &Key<O>) -> Diagnostic {
    let [first, second] = [first, second].map(|key| block.get_key(key));
    let name = second.and_then(Node::text).unwrap_or_default();
    let span = |node: Option<&Node>| node.map_or(Span::default(), |node| node.span);
    Diagnostic::new(format!("`{name}` cannot come before itself"))
        .label(span(second), "the same tool")
        .secondary_label(span(first), "first named here")
}

/// The path of an argument: its name, or a way into an object.
fn argument(block: &mut Block<'_, '_>, node: &Node, edge: &mut Dependency) -> bool {
    let Some(path) = read_target(node, block.problems) else {
        return false;
    };
    let is_key = |segment: &Segment| matches!(segment, Segment::Key(_));
    if !path.segments.iter().all(is_key) {
        let message = format!(
            "`{}` is no path to an argument: the path may have only keys",
            path.text
        );
        block.problems.push(
            Diagnostic::at(node.span, message)
                .help("write e.g. `arg: url`, or `arg: page.cursor` for a key of an object"),
        );
        return false;
    }
    edge.arg = Some(path.text);
    true
}

impl EachRun for Axes {
    type Report = AxesReport;

    const DEFAULT: &'static [Threshold] = &[
        Threshold::at_least(
            DEPENDENCIES,
            100.0,
            "a dependency between calls does not hold",
        ),
        Threshold::at_least(ORDER, 100.0, "the calls are not in the expected order"),
    ];

    fn score(&self, _input: &Input<'_>, run: &Run) -> Result<RunScore<AxesReport>, Box<Breach>> {
        Ok(RunScore::new(score_trajectory_axes(&run.trace, self)))
    }

    fn explain(&self, _input: &Input<'_>, run: &Run, report: &AxesReport) -> Vec<Evidence> {
        let mut lines: Vec<String> = report
            .broken
            .iter()
            .flat_map(|edge| {
                let source = look_alike_source(self, run, edge);
                std::iter::once(format!("- {}", edge.reason)).chain(source)
            })
            .collect();
        let calls = run.trace.tool_calls.iter().enumerate();
        let first = calls
            .map(|(index, call)| format!("{index} {}", escape_outer_spaces(&call.name)))
            .collect::<Vec<_>>();
        lines.push(format!(
            "calls: {}",
            mcptest_trace::text::shorten(&first.join(", "), 400)
        ));
        vec![Evidence::Text(lines.join("\n"))]
    }
}

/// The part of an earlier result that looks like an argument without a source, and is not equal to it.
fn look_alike_source(axes: &Axes, run: &Run, edge: &BrokenEdge) -> Option<String> {
    let is_dependency = edge.axis == Axis::Dependencies;
    let wanted = axes
        .dependencies
        .get(edge.index)
        .filter(|_| is_dependency)?;
    let (path, consumer) = (wanted.arg.as_deref()?, edge.second_call?);
    let calls = &run.trace.tool_calls;
    let args = &calls[consumer].args;
    let nested = || {
        path.split('.')
            .try_fold(&**args, |value, key| value.get(key))
    };
    let arguments = texts(args.get(path).or_else(nested)?);
    let by_call = run.trace.results_by_call();
    let earlier = calls[..consumer].iter().zip(by_call).enumerate();
    let earlier = earlier.filter(|(_, (call, _))| call.name == wanted.producer);
    let results = earlier.filter_map(|(at, (_, result))| Some((at, &result?.result)));
    let results: Vec<_> = results
        .flat_map(|(at, result)| texts(result).into_iter().map(move |text| (at, text)))
        .collect();
    let missing = |argument: &&str| !results.iter().any(|(_, text)| text.contains(*argument));
    arguments.into_iter().filter(missing).find_map(|argument| {
        let mut results = results.iter();
        results.find_map(|(at, text)| {
            let part = short_json(&find_lookalike(argument, text)?.into());
            Some(format!(
                "  the result of `tool_calls[{at}]` has {part}, which looks like {}",
                short_json(&argument.into())
            ))
        })
    })
}

/// Every text of a value but its keys.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(map) => map.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}
