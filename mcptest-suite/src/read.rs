//! Reading parts of a suite: what a [`GateReader`] reads the blocks of gates with.

pub use crate::load::assertion::{gate_list, read_target};
pub use crate::load::demand::check as check_demand;
pub use crate::load::fields::Fields;
pub use crate::load::problems::{Problems, did_you_mean};
pub use crate::load::schema::{asks_only, read as read_schema};
pub use crate::load::snapshots::refuse as refuse_snapshots;
pub use crate::load::vacuous::{always_true, check_needle, check_no_empty_text};
pub use crate::load::values::read as read_value;

use mcptest_trace::eval::Fault;

use crate::gates::GateKind;
use crate::model::{Assertion, Model, OwnAnswer, Prices};
use crate::{Entry, Node, Source, Spanned};

/// Reads a YAML or JSON document that is no suite, with the places of all its values, the limits of suites
/// and the same words for what is wrong. `None` with a problem noted when there is no tree at all.
///
/// ```
/// use mcptest_suite::Source;
/// use mcptest_suite::read::{Problems, document};
///
/// let source = Source::new("tools.yml", "tools.yml", "tools: [{ name: find }]");
/// let mut problems = Problems::default();
/// let tools = document(&source, &mut problems).and_then(|tree| tree.get("tools").cloned());
/// assert_eq!(tools.unwrap().items().unwrap().len(), 1);
/// assert_eq!(problems.into_diagnostics(), []);
/// ```
pub fn document(source: &Source, problems: &mut Problems) -> Option<Node> {
    crate::parse::read(source, &mut problems.0)
}

/// What a gate may need to know of its agent while it is read.
#[derive(Debug)]
#[non_exhaustive]
pub struct DeclaredAgent<'a> {
    /// How many runs there are; `None` when the suite says it wrongly.
    pub runs: Option<&'a Spanned<usize>>,
    /// Whether the agent says that it injects faults.
    pub injects: bool,
    /// The faults that it injects, in order.
    pub faults: Vec<Fault>,
    /// What stands in the place of its own tools, in order.
    pub answers: &'a [Spanned<OwnAnswer>],
    /// What its `expect:` holds.
    pub expects: Expects,
    /// What it asks of every run.
    pub expect: &'a [Assertion],
    /// The gates that it declares.
    pub gates: &'a [GateKind],
    /// Its models; none where the suite says them wrongly.
    pub models: &'a [Spanned<Model>],
    /// What models cost; `None` when the suite says it wrongly.
    pub prices: Option<&'a Prices>,
}

/// What an agent's `expect:` holds.
///
/// A closed set: it holds nothing, something, or nothing that can be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expects {
    /// There is none.
    Nothing,
    /// Assertions that can be judged.
    Something,
    /// Only assertions whose matchers need a model.
    OnlyOfModels,
}

/// Reads the blocks of gates while a suite loads, so that all problems of a file come in one go.
pub trait GateReader {
    /// Reads the gates of an agent, in the order of [`GateKind::ALL`]; called once for each agent,
    /// in the order of the file. What is wrong is noted.
    fn read(
        &mut self,
        agent: &DeclaredAgent<'_>,
        gates: &[(GateKind, &Entry)],
        problems: &mut Problems,
    );
}

/// Reads no gate: it leaves the blocks of gates as they are.
pub(crate) struct SkippingGateReader;

impl GateReader for SkippingGateReader {
    fn read(&mut self, _: &DeclaredAgent<'_>, _: &[(GateKind, &Entry)], _: &mut Problems) {}
}
