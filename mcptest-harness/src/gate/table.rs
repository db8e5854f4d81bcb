//! The table of gates: which implementation is which kind.

use mcptest_suite::model::GateKind;
use serde_json::{Value, json};

use super::all_runs::AllRunsCriterion;
use super::block::Block;
use super::each_run::EachRunCriterion;
use super::key::{OptionInfo, mapping_schema, options_with_roles};
use super::{AllRuns, Criterion, EachRun, Options};
use crate::eval::{Measure, Metrics};

/// The key that names a sub-agent, in the block of a gate that judges calls and nothing else.
pub(super) const AGENT: &str = "agent";

/// What is known of a gate before any suite is read.
pub(super) struct GateEntry {
    pub(super) says: &'static str,
    pub(super) targets: &'static [Measure],
    pub(super) example: &'static str,
    pub(super) calibrated_by: Option<&'static str>,
    /// The key whose list may stand in the place of the whole block.
    pub(super) list: Option<&'static str>,
    /// Whether it judges one run at a time, so that a run's outcome can be its verdict.
    pub(super) each_run: bool,
    /// Whether its verdict rests on which results are errors.
    pub(super) rests_on_errors: bool,
    /// Whether it judges calls and nothing else.
    pub(super) judges_calls: bool,
    pub(super) read: Read,
    schema: fn() -> Value,
    options: fn(&[&'static str]) -> Vec<OptionInfo>,
}

/// Reads a gate's block.
type Read = fn(&mut Block<'_, '_>) -> Option<Box<dyn Criterion>>;

impl GateEntry {
    pub(super) const fn each_run<G: EachRun>() -> Self {
        Self {
            each_run: true,
            ..Self::new::<G>(<G::Report as Metrics>::TARGETS, |block| {
                let gate = block.read::<G>()?;
                let limits = std::mem::take(&mut block.limits);
                Some(Box::new(EachRunCriterion { gate, limits }))
            })
        }
    }

    pub(super) const fn all_runs<G: AllRuns>() -> Self {
        Self::new::<G>(<G::Report as Metrics>::TARGETS, |block| {
            Some(Box::new(AllRunsCriterion(block.read::<G>()?)))
        })
    }

    /// A gate that judges in a way of its own, and has no targets.
    pub(super) const fn custom<G: Options + Criterion>() -> Self {
        Self::new::<G>(&[], |block| Some(Box::new(block.read::<G>()?)))
    }

    const fn new<G: Options>(targets: &'static [Measure], read: Read) -> Self {
        Self {
            says: G::SAYS,
            targets,
            example: G::EXAMPLE,
            calibrated_by: G::CALIBRATED_BY,
            list: G::LIST,
            each_run: false,
            rests_on_errors: G::RESTS_ON_ERRORS,
            judges_calls: G::JUDGES_CALLS,
            read,
            schema: mapping_schema::<G>,
            options: options_with_roles::<G>,
        }
    }
}

macro_rules! implementations {
    ($($variant:ident, $module:ident;)*) => {
        static TABLE: &[(GateKind, GateEntry)] =
            &[$((GateKind::$variant, super::$module::ENTRY),)*];
    };
}

mcptest_suite::for_each_gate!(implementations);

/// The implementation of a kind; nothing for one of another version of the suite language.
pub(super) fn find_entry(kind: GateKind) -> Option<&'static GateEntry> {
    let found = TABLE.iter().find(|(known, _)| *known == kind);
    found.map(|(_, entry)| entry)
}

/// What a gate's `expect:` can look at.
pub(crate) fn gate_targets(kind: GateKind) -> &'static [Measure] {
    find_entry(kind).map_or(&[], |entry| entry.targets)
}

/// A target of any gate.
pub(crate) fn find_measure(name: &str) -> Option<&'static Measure> {
    let mut all = TABLE.iter().flat_map(|(_, entry)| entry.targets);
    all.find(|measure| measure.name == name)
}

/// The kinds that judge one run at a time.
pub(super) fn judging_each_run() -> impl Iterator<Item = GateKind> + Clone {
    let each = TABLE.iter().filter(|(_, entry)| entry.each_run);
    each.map(|(kind, _)| *kind)
}

/// The kinds that judge calls and nothing else.
pub(super) fn judging_calls() -> impl Iterator<Item = GateKind> + Clone {
    let calls = TABLE.iter().filter(|(_, entry)| entry.judges_calls);
    calls.map(|(kind, _)| *kind)
}

/// What can be known of a gate without a suite: its keys, its targets, what it asks.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GateInfo {
    /// The gate.
    pub kind: GateKind,
    /// What it asks, and its default.
    pub says: &'static str,
    /// What its `expect:` can look at.
    pub targets: &'static [Measure],
    /// Whether it judges one run at a time.
    pub each_run: bool,
    /// The least that an agent says to have the gate, on one line of YAML. With it alone an agent loads, in a
    /// suite with a fault `hung` of the tool `search`.
    pub example: &'static str,
    /// The target that a threshold in the place of its default is of; nothing for a gate whose default is no
    /// threshold that runs could move.
    pub calibrated_by: Option<&'static str>,
    /// The key of its block whose list may stand in the place of the whole block.
    pub list: Option<&'static str>,
    /// Those of its options that are limits of targets, or name tools.
    pub options: Vec<OptionInfo>,
    /// Its block, as a JSON Schema.
    pub schema: Value,
}

/// Every gate, by name.
///
/// ```
/// let gates = mcptest::gates();
/// let stability = gates.iter().find(|gate| gate.kind.name() == "stability").unwrap();
/// assert_eq!(stability.targets[1].name, "stability.weakest_score");
/// assert!(stability.schema["properties"]["floors"].is_object());
/// ```
#[must_use]
pub fn gates() -> Vec<GateInfo> {
    let all = TABLE.iter().map(|(kind, entry)| GateInfo {
        kind: *kind,
        says: entry.says,
        targets: entry.targets,
        each_run: entry.each_run,
        example: entry.example,
        calibrated_by: entry.calibrated_by,
        list: entry.list,
        options: (entry.options)(&[]),
        schema: schema(*kind, entry),
    });
    all.collect()
}

fn schema(kind: GateKind, entry: &GateEntry) -> Value {
    let mut schema = (entry.schema)();
    schema["description"] = entry.says.into();
    if let Some(key) = entry.list {
        let item = format!("#/$defs/{}/properties/{key}/items", kind.name());
        schema["type"] = json!(["object", "array"]);
        schema["items"] = json!({ "$ref": item });
        schema["minItems"] = 1.into();
    }
    if entry.judges_calls {
        schema["properties"][AGENT] = json!({
            "description": "Judge only the calls of this sub-agent. Its name is the `agent_id` of the recorded calls. Without this key, the calls of all agents are judged.",
            "type": ["string", "number"],
        });
    }
    if !entry.targets.is_empty() {
        let lines = entry.targets.iter();
        let lines = lines.map(|target| format!("`{}`: {target}.", target.name));
        let names: Vec<&str> = entry.targets.iter().map(|target| target.name).collect();
        schema["properties"]["expect"] = json!({
            "description": "Assertions over the gate's targets. They replace the gate's default.",
            "type": "array",
            "minItems": 1,
            "items": {
                "allOf": [{ "$ref": "#/$defs/assertion" }],
                "type": "object",
                "properties": { "target": {
                    "description": lines.collect::<Vec<_>>().join("\n"),
                    "examples": names,
                } },
            },
        });
    }
    schema
}
