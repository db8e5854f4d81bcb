//! A demand of a first suite.

use mcptest::trace::Run;

/// Something that must hold of a run.
pub(super) type Holds<'a> = Box<dyn Fn(&Run) -> bool + 'a>;

/// A gate, and whether a run holds it.
pub(super) struct Gate<'a> {
    pub(super) name: &'static str,
    /// Its lines, indented as keys of an agent.
    pub(super) text: String,
    pub(super) holds: Holds<'a>,
}
