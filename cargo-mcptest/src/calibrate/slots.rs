//! The numbers of a suite that a threshold can take the place of: bounds of `expect:`, options that are
//! limits of a target, and the defaults of gates that say neither.

use mcptest::eval::Better;
use mcptest::suite::gates::GateKind;
use mcptest::suite::model::Suite;
use mcptest::suite::read::{DeclaredAgent, GateReader, Problems};
use mcptest::{GateInfo, Role};
use mcptest_suite::{Entry, Node, NodeValue, Source, Span};
use mcptest_trace::evidence::calibrate::Quantity;

use crate::gates::roles;

/// Where a threshold of a target can be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) target: String,
    pub(super) place: SlotPlace,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SlotPlace {
    /// A number.
    Number(Span),
    /// A block that asks for its default: here goes an `expect:`, after and before these texts.
    Block {
        at: Span,
        before: String,
        after: String,
    },
}

/// The slots of a suite, and which gates each of its agents declares.
pub(super) struct Slots {
    pub(super) own: Vec<Slot>,
    pub(super) declared: Vec<Vec<GateKind>>,
    /// Targets whose number stands elsewhere, by an alias that others share.
    pub(super) shared: Vec<(String, Span)>,
    source: Source,
    targets: Vec<Quantity>,
    gates: Vec<GateInfo>,
}

impl Slots {
    /// Reads the slots of some targets.
    pub(super) fn from_suite(suite: &Suite, targets: Vec<Quantity>) -> Self {
        let mut slots = Self {
            own: Vec::new(),
            declared: Vec::new(),
            shared: Vec::new(),
            source: suite.source.clone(),
            targets,
            gates: mcptest::gates(),
        };
        // The suite was loaded before, so there is nothing wrong with it.
        _ = Suite::parse_with(suite.source.clone(), &mut slots);
        slots
    }

    fn add(&mut self, target: &str, node: &Node) {
        match &node.value {
            NodeValue::Number(..) if node.defined.is_none() => self.own.push(Slot {
                target: target.to_owned(),
                place: SlotPlace::Number(node.span),
            }),
            NodeValue::Number(..) => self.shared.push((target.to_owned(), node.span)),
            _ => {}
        }
    }

    fn read_gate(&mut self, gate: GateKind, entry: &Entry) {
        for (role, node) in roles(&self.gates, gate, &entry.value) {
            if let Role::LimitOf(target) = role {
                self.add(target, node);
            }
        }
        match entry.value.get("expect") {
            Some(expect) => {
                for assertion in expect.items().into_iter().flatten() {
                    let target = assertion.get("target").and_then(Node::text);
                    if let (Some(target), Some(matcher)) = (target, assertion.get("matcher"))
                        && let Some(known) =
                            self.targets.iter().find(|it| it.measure().name == target)
                        && let Some(node) = bound(matcher, known.measure().better)
                    {
                        self.add(target, node);
                    }
                }
            }
            None => self.read_default(gate, entry),
        }
    }

    fn read_default(&mut self, gate: GateKind, entry: &Entry) {
        let info = self.gates.iter().find(|info| info.kind == gate);
        let Some(target) = info.and_then(|info| info.calibrated_by) else {
            return;
        };
        let node = &entry.value;
        if node.defined.is_some() {
            self.shared.push((target.to_owned(), node.span));
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
            target: target.to_owned(),
            place: SlotPlace::Block { at, before, after },
        });
    }
}

impl GateReader for Slots {
    fn read(&mut self, _: &DeclaredAgent<'_>, gates: &[(GateKind, &Entry)], _: &mut Problems) {
        self.declared
            .push(gates.iter().map(|(kind, _)| *kind).collect());
        for (kind, entry) in gates {
            self.read_gate(*kind, entry);
        }
    }
}

/// The number of a matcher that is the limit at the bad end.
fn bound(matcher: &Node, better: Better) -> Option<&Node> {
    let (own, keyword, place) = match better {
        Better::Higher => ("min", "minimum", 0),
        Better::Lower | Better::Neither => ("max", "maximum", 1),
    };
    let between = || matcher.get("between")?.items()?.get(place);
    matcher
        .get(own)
        .or_else(|| matcher.get("schema")?.get(keyword))
        .or_else(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_calibrates_a_default_is_a_target_of_the_gate_with_a_bad_end() {
        for gate in mcptest::gates() {
            let mut targets = gate.targets.iter().filter_map(Quantity::from_measure);
            if let Some(name) = gate.calibrated_by {
                assert!(targets.any(|it| it.measure().name == name), "{name}");
            }
        }
    }

    /// A limit that no run can be held against would never be written.
    #[test]
    fn every_option_that_is_a_limit_is_one_of_a_target() {
        for gate in mcptest::gates() {
            let targets = gate.targets.iter().chain(&mcptest::eval::SUB_SCORE_TARGETS);
            let targets: Vec<Quantity> = targets.filter_map(Quantity::from_measure).collect();
            for option in gate.options {
                if let Role::LimitOf(name) = option.role {
                    assert!(targets.iter().any(|it| it.measure().name == name), "{name}");
                }
            }
        }
    }
}
