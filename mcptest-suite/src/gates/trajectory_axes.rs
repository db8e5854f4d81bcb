//! `trajectory_axes:`

use super::target::{Better, GateTarget, percent};
use super::{AgentFacts, Block};
use crate::load::assertion::read_target;
use crate::load::fields::{Fields, Problems};
use crate::model::{Segment, Target};
use crate::{Diagnostic, Node, Span, Spanned};

pub(super) const TARGETS: &[GateTarget] = &[
    percent(
        "trajectory.dependency_satisfaction",
        Better::Higher,
        "dependencies that hold; 100 when none is declared",
    ),
    percent(
        "trajectory.order_satisfaction",
        Better::Higher,
        "pairs in order; 100 when none is declared",
    ),
];

/// Options of the trajectory-axes gate; at least one of the lists has an entry.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrajectoryAxes {
    /// Consumers that need a producer before them.
    pub dependencies: Vec<Dependency>,
    /// Tools that come before others.
    pub order: Vec<Order>,
}

/// A consumer needs a producer before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// The tool whose result is needed.
    pub producer: Spanned<String>,
    /// The tool that needs it.
    pub consumer: Spanned<String>,
    /// The consumer's argument that must come from the producer's result: a path of keys.
    pub arg: Option<Target>,
}

/// One tool comes before another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The earlier tool.
    pub first: Spanned<String>,
    /// The later tool.
    pub second: Spanned<String>,
}

impl Block for TrajectoryAxes {
    fn read(
        fields: &mut Fields<'_>,
        _agent: &AgentFacts<'_>,
        span: Span,
        problems: &mut Problems,
    ) -> Option<Self> {
        let lists = ["dependencies", "order"].map(|key| fields.get(key));
        let declares = |node: &Node| node.items().is_none_or(|items| !items.is_empty());
        if !lists.into_iter().flatten().any(declares) {
            if fields.misspells(&["dependencies", "order"]) {
                return None;
            }
            problems.push(
                Diagnostic::at(span, "`trajectory_axes` declares nothing to check")
                    .help("add `dependencies: [{ producer: a, consumer: b }]` or `order: [{ first: a, second: b }]`"),
            );
            return None;
        }
        let mut axes = Self::default();
        for node in lists[0]
            .map(|node| problems.any_items(node, "dependencies"))
            .unwrap_or_default()
        {
            let Some(mut fields) = Fields::open(node, "a dependency", problems) else {
                continue;
            };
            let mut tool = |key| {
                fields
                    .required(key, problems)
                    .and_then(|node| problems.words(node))
            };
            let (producer, consumer) = (tool("producer"), tool("consumer"));
            let has_arg = fields.has("arg");
            let arg = fields.get("arg").and_then(|node| argument(node, problems));
            fields.finish(problems);
            if let (Some(producer), Some(consumer), false) = (&producer, &consumer, has_arg)
                && producer.value == consumer.value
            {
                problems.push(
                    before_itself(producer, consumer)
                        .help("name the argument that carries data from call to call, e.g. `arg: cursor`, or two different tools"),
                );
            }
            if let (Some(producer), Some(consumer)) = (producer, consumer) {
                axes.dependencies.push(Dependency {
                    producer,
                    consumer,
                    arg,
                });
            }
        }
        for node in lists[1]
            .map(|node| problems.any_items(node, "pairs"))
            .unwrap_or_default()
        {
            let Some(mut fields) = Fields::open(node, "an ordered pair", problems) else {
                continue;
            };
            let mut tool = |key| {
                fields
                    .required(key, problems)
                    .and_then(|node| problems.words(node))
            };
            let (first, second) = (tool("first"), tool("second"));
            fields.finish(problems);
            if let (Some(first), Some(second)) = (&first, &second)
                && first.value == second.value
            {
                problems.push(before_itself(first, second).help("name two different tools"));
            }
            if let (Some(first), Some(second)) = (first, second) {
                axes.order.push(Order { first, second });
            }
        }
        Some(axes)
    }
}

/// One tool is asked to come before the same tool.
fn before_itself(first: &Spanned<String>, second: &Spanned<String>) -> Diagnostic {
    Diagnostic::new(format!("`{}` cannot come before itself", second.value))
        .label(second.span, "the same tool")
        .also(first.span, "first named here")
}

/// The path of an argument: its name, or a way into an object.
fn argument(node: &Node, problems: &mut Problems) -> Option<Target> {
    let path = read_target(node, problems)?;
    let is_key = |segment: &Segment| matches!(segment, Segment::Key(_));
    if !path.segments.iter().all(is_key) {
        let message = format!("`{}` is no argument: only keys lead to one", path.text);
        problems.push(
            Diagnostic::at(node.span, message)
                .help("write e.g. `arg: url`, or `arg: page.cursor` for a key of an object"),
        );
        return None;
    }
    Some(path)
}
