//! The numbers of a suite that a threshold can take the place of: bounds of `expect:`, options that are
//! limits of a target, and the defaults of gates that say neither.

use mcptest::suite::gates::GateKind;
use mcptest::suite::model::Suite;
use mcptest::suite::read::{DeclaredAgent, GateReader, Problems};
use mcptest_suite::{Entry, Node, NodeValue, Source, Span};
use mcptest_trace::evidence::calibrate::Direction;

/// Where a threshold of a target can be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) target: String,
    pub(super) place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// A number.
    Number(Span),
    /// A block that asks for its default: here goes an `expect:`, after and before these texts.
    Block {
        at: Span,
        before: String,
        after: String,
    },
}

/// Options that are limits of a target.
const OPTIONS: [(&str, &[&str], &str); 9] = [
    ("calls", &["max"], "calls.count"),
    ("calls", &["max_errors"], "calls.errors"),
    ("calls", &["max_steps"], "calls.steps"),
    ("calls", &["max_tokens"], "calls.tokens"),
    (
        "narrative",
        &["max_divergence_score"],
        "narrative.divergence_score",
    ),
    (
        "stability",
        &["floors", "tool_usage_stability"],
        "stability.tool_usage_stability",
    ),
    (
        "stability",
        &["floors", "response_consistency"],
        "stability.response_consistency",
    ),
    (
        "stability",
        &["floors", "redundancy"],
        "stability.redundancy",
    ),
    (
        "stability",
        &["floors", "cost_per_progress"],
        "stability.cost_per_progress",
    ),
];

/// The target that the default of a gate is calibrated by.
const DEFAULTS: [(&str, &str); 3] = [
    ("energy", "energy.peak_ratio"),
    ("golden_path", "golden_path.penalty"),
    ("stability", "stability.weakest_score"),
];

/// The slots of a suite, and which gates each of its agents declares.
pub(super) struct Slots {
    pub(super) own: Vec<Slot>,
    pub(super) declared: Vec<Vec<&'static str>>,
    /// Targets whose number stands elsewhere, by an alias that others share.
    pub(super) shared: Vec<(String, Span)>,
    source: Source,
    directions: Vec<(String, Direction)>,
}

impl Slots {
    /// Reads the slots of targets with these directions.
    pub(super) fn of(suite: &Suite, directions: Vec<(String, Direction)>) -> Self {
        let mut slots = Self {
            own: Vec::new(),
            declared: Vec::new(),
            shared: Vec::new(),
            source: suite.source.clone(),
            directions,
        };
        // The suite was loaded before, so there is nothing wrong with it.
        _ = Suite::parse_with(suite.source.clone(), &mut slots);
        slots
    }

    fn add(&mut self, target: &str, node: &Node) {
        match &node.value {
            NodeValue::Number(..) if node.defined.is_none() => self.own.push(Slot {
                target: target.to_owned(),
                place: Place::Number(node.span),
            }),
            NodeValue::Number(..) => self.shared.push((target.to_owned(), node.span)),
            _ => {}
        }
    }

    fn direction(&self, target: &str) -> Option<Direction> {
        let known = self.directions.iter().find(|(name, _)| name == target);
        known.map(|(_, direction)| *direction)
    }

    fn read_gate(&mut self, gate: &str, entry: &Entry) {
        for (_, path, target) in OPTIONS.iter().filter(|(of, ..)| *of == gate) {
            let node = path
                .iter()
                .try_fold(&entry.value, |node, key| node.get(key));
            if let Some(node) = node {
                self.add(target, node);
            }
        }
        match entry.value.get("expect") {
            Some(expect) => {
                for assertion in expect.items().into_iter().flatten() {
                    let target = assertion.get("target").and_then(Node::text);
                    if let (Some(target), Some(matcher)) = (target, assertion.get("matcher"))
                        && let Some(node) = self
                            .direction(target)
                            .and_then(|direction| bound(matcher, direction))
                    {
                        self.add(target, node);
                    }
                }
            }
            None => self.read_default(gate, entry),
        }
    }

    fn read_default(&mut self, gate: &str, entry: &Entry) {
        let Some((_, target)) = DEFAULTS.iter().find(|(of, _)| *of == gate) else {
            return;
        };
        let node = &entry.value;
        if node.defined.is_some() {
            self.shared.push(((*target).to_owned(), node.span));
            return;
        }
        let written = self.source.slice(node.span);
        let (at, before, after) = if written.starts_with('{') {
            let inside = node.span.start + 1;
            let rest = if node.entries().is_some_and(<[Entry]>::is_empty) {
                " "
            } else {
                ","
            };
            (Span::new(inside, inside), " ".to_owned(), rest.to_owned())
        } else if let Some(first) = node.entries().and_then(<[Entry]>::first) {
            let start = first.key_span.start;
            let (_, column) = self.source.line_column(start);
            (
                Span::new(start, start),
                String::new(),
                format!("\n{}", " ".repeat(column - 1)),
            )
        } else {
            return;
        };
        self.own.push(Slot {
            target: (*target).to_owned(),
            place: Place::Block { at, before, after },
        });
    }
}

impl GateReader for Slots {
    fn read(&mut self, _: &DeclaredAgent<'_>, gates: &[(GateKind, &Entry)], _: &mut Problems) {
        self.declared
            .push(gates.iter().map(|(kind, _)| kind.name()).collect());
        for (kind, entry) in gates {
            self.read_gate(kind.name(), entry);
        }
    }
}

/// The number of a matcher that is the limit at the bad end.
fn bound(matcher: &Node, direction: Direction) -> Option<&Node> {
    let (own, keyword, place) = match direction {
        Direction::LowIsBad => ("min", "minimum", 0),
        Direction::HighIsBad => ("max", "maximum", 1),
    };
    let between = || matcher.get("between")?.items()?.get(place);
    matcher
        .get(own)
        .or_else(|| matcher.get("schema")?.get(keyword))
        .or_else(between)
}
