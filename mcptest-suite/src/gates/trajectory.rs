//! `trajectory:`

use serde::Serialize;
use serde_json::Value;

use super::target::{Better, GateTarget, count, flag};
use super::{AgentFacts, Block};
use crate::load::fields::{Fields, Problems, did_you_mean};
use crate::load::{schema, vacuous, values};
use crate::model::JsonSchema;
use crate::{Diagnostic, Node, NodeValue, Span, Spanned};

pub(super) const TARGETS: &[GateTarget] = &[
    flag(
        "trajectory.passed",
        Better::Higher,
        "1 when the calls fit the plan",
    ),
    count(
        "trajectory.mismatch_count",
        Better::Lower,
        "calls that do not fit under the best alignment",
    ),
];

/// Options of the trajectory gate.
#[derive(Debug, Clone, PartialEq)]
pub struct Trajectory {
    /// How expected and recorded calls line up.
    pub mode: MatchMode,
    /// The expected calls; never empty.
    pub calls: Vec<ExpectedCall>,
    /// Calls of one step may match in any order in the ordered modes.
    pub parallel_unordered: bool,
}

/// How expected and recorded calls line up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchMode {
    /// One for one, in order, nothing more (also `exact-sequence`).
    Strict,
    /// Every expected call in order; other calls may come between.
    Subsequence,
    /// Every expected call on a call of its own, in any order; other calls are fine.
    Unordered,
    /// At least the expected calls, in any order.
    Superset,
    /// At most the expected calls, in any order.
    Subset,
}

impl MatchMode {
    /// The mode as it stands in a suite.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Subsequence => "subsequence",
            Self::Unordered => "unordered",
            Self::Superset => "superset",
            Self::Subset => "subset",
        }
    }
}

/// An expected call.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedCall {
    /// The tool.
    pub name: Spanned<String>,
    /// What its arguments must look like.
    pub args: ArgumentShape,
    /// Whether its result must be an error, or must not be.
    pub is_error: Option<bool>,
}

/// What arguments must look like.
#[derive(Debug, Clone, PartialEq)]
pub enum ArgumentShape {
    /// Anything.
    Any,
    /// Not looked at.
    Ignore,
    /// Exactly this.
    Exact(Value),
    /// At least this, as the `contains` matcher compares.
    Subset(Value),
    /// Valid against this schema.
    Schema(JsonSchema),
}

const MODES: [(&str, MatchMode); 7] = [
    ("strict", MatchMode::Strict),
    ("exact-sequence", MatchMode::Strict),
    ("exact_sequence", MatchMode::Strict),
    ("subsequence", MatchMode::Subsequence),
    ("unordered", MatchMode::Unordered),
    ("superset", MatchMode::Superset),
    ("subset", MatchMode::Subset),
];

impl Block for Trajectory {
    fn read(
        fields: &mut Fields<'_>,
        _agent: &AgentFacts<'_>,
        _span: Span,
        problems: &mut Problems,
    ) -> Option<Self> {
        let mode = fields.required("mode", problems);
        let mode = mode.and_then(|node| problems.choice(node, "mode", &MODES));
        let calls = fields.required("calls", problems).and_then(|node| {
            let items = problems.items(node, "expected calls")?;
            Some(
                items
                    .iter()
                    .filter_map(|item| expected_call(item, problems))
                    .collect(),
            )
        });
        let parallel = fields.get("parallel").and_then(|node| {
            problems.choice(node, "order", &[("unordered", true), ("ordered", false)])
        });
        Some(Self {
            mode: mode?,
            calls: calls?,
            parallel_unordered: parallel.unwrap_or_default(),
        })
    }
}

fn expected_call(node: &Node, problems: &mut Problems) -> Option<ExpectedCall> {
    if let NodeValue::Text(name) = &node.value {
        problems.push(
            Diagnostic::at(
                node.span,
                "expected a mapping for an expected call, found text",
            )
            .help(format!("write `{{ name: {name} }}`")),
        );
        return None;
    }
    let mut fields = Fields::open(node, "an expected call", problems)?;
    let name = fields
        .required("name", problems)
        .and_then(|node| problems.words(node));
    let args = match fields.get("args") {
        Some(node) => argument_shape(node, problems),
        None => Some(ArgumentShape::Any),
    };
    let is_error = fields.get("is_error").and_then(|node| problems.flag(node));
    fields.finish(problems);
    Some(ExpectedCall {
        name: name?,
        args: args?,
        is_error,
    })
}

fn argument_shape(node: &Node, problems: &mut Problems) -> Option<ArgumentShape> {
    const SHAPES: [&str; 5] = ["any", "ignore", "exact", "subset", "schema"];
    if matches!(node.value, NodeValue::Text(_)) {
        let choices = [("any", false), ("ignore", true)];
        let ignore = problems.choice(node, "argument shape", &choices)?;
        return Some(if ignore {
            ArgumentShape::Ignore
        } else {
            ArgumentShape::Any
        });
    }
    let Some(entries) = node.entries() else {
        problems.expected(
            "an argument shape such as `{ subset: { city: Oslo } }`",
            node,
        );
        return None;
    };
    let [entry] = entries else {
        problems.push(
            Diagnostic::at(node.span, "an argument shape has one key")
                .help("write e.g. `args: { exact: { city: Oslo } }`"),
        );
        return None;
    };
    match entry.key.as_str() {
        "any" => Some(ArgumentShape::Any),
        "ignore" => Some(ArgumentShape::Ignore),
        "exact" | "subset" | "schema" if entry.value.is_left_out() => {
            let message = format!("`{}` is left without a value", entry.key);
            let help = format!(
                "write e.g. `{}: {{ city: Oslo }}`, or `args: any`",
                entry.key
            );
            problems.push(Diagnostic::at(entry.key_span, message).help(help));
            None
        }
        "exact" => Some(ArgumentShape::Exact(values::read(&entry.value, problems))),
        "subset" => {
            vacuous::needle("subset", &entry.value, problems);
            Some(ArgumentShape::Subset(values::read(&entry.value, problems)))
        }
        "schema" => schema::read(&entry.value, problems).map(ArgumentShape::Schema),
        other => {
            let problem =
                Diagnostic::at(entry.key_span, format!("unknown argument shape `{other}`"));
            problems.push(
                did_you_mean(problem, other, SHAPES.into_iter(), "shapes")
                    .note("the recorded arguments go below the shape: `args: { exact: { … } }`"),
            );
            None
        }
    }
}
