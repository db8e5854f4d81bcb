//! A demand of a first suite.

use mcptest::trace::Run;

/// Something that must hold of a run.
pub(super) type Demand<'a> = Box<dyn Fn(&Run) -> bool + 'a>;

/// A gate, and whether a run holds it.
pub(super) struct ProposedGate<'a> {
    pub(super) name: &'static str,
    /// Its lines, indented as keys of an agent.
    pub(super) text: String,
    pub(super) holds: Demand<'a>,
}
