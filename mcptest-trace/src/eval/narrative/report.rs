//! What the metric returns.

use std::ops::Range;

use serde::Serialize;
use serde::ser::SerializeStruct;

/// How far the closing of a run and its recorded calls diverge.
///
/// Serialized, a report is the object of its counts, the metrics that a gate resolves
/// (`divergence_score`, `claimed_but_absent`, `present_but_unclaimed`, `arg_mismatch`,
/// `gate_passed` as 1 or 0) and `claims`, the number of claimed actions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NarrativeReport {
    /// Flagged items over recorded calls and claimed actions together, `0.0..=1.0`; 0 when there is
    /// neither a call nor a claim.
    pub divergence_score: f64,
    /// Number of recorded calls, whether they succeeded or not.
    pub recorded_calls: usize,
    /// Every completed action that the closing claims, in the order of the text.
    pub claims: Vec<Claim>,
    /// Successful calls that change something and that the closing never mentions.
    pub present_but_unclaimed: Vec<UnclaimedCall>,
}

impl NarrativeReport {
    /// The claims that no successful call supports.
    ///
    /// ```
    /// use mcptest_trace::eval::narrative::{NarrativeOptions, narrative_divergence};
    /// use serde_json::json;
    ///
    /// let trace = json!({ "tool_calls": [], "final_response": "I created the issue." });
    /// let report = narrative_divergence(&trace, &NarrativeOptions::default());
    /// assert_eq!(report.claimed_but_absent().count(), 1);
    /// ```
    pub fn claimed_but_absent(&self) -> impl Iterator<Item = &Claim> {
        self.claims
            .iter()
            .filter(|claim| matches!(claim.verdict, Verdict::Absent))
    }

    /// The claims that name a value which disagrees with the call that supports them.
    pub fn arg_mismatch(&self) -> impl Iterator<Item = &Claim> {
        self.claims
            .iter()
            .filter(|claim| matches!(claim.verdict, Verdict::ArgMismatch { .. }))
    }

    /// Whether the default gate holds: no claimed action is absent. Every verb that is looked for
    /// changes something, so every claimed action is a mutating one.
    #[must_use]
    pub fn gate_passed(&self) -> bool {
        self.claimed_but_absent().next().is_none()
    }
}

impl Serialize for NarrativeReport {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("NarrativeReport", 6)?;
        object.serialize_field("divergence_score", &self.divergence_score)?;
        object.serialize_field("claimed_but_absent", &self.claimed_but_absent().count())?;
        object.serialize_field("present_but_unclaimed", &self.present_but_unclaimed.len())?;
        object.serialize_field("arg_mismatch", &self.arg_mismatch().count())?;
        object.serialize_field("gate_passed", &u8::from(self.gate_passed()))?;
        object.serialize_field("claims", &self.claims.len())?;
        object.end()
    }
}

/// One completed action that the closing claims.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// The verb's base form, e.g. `cancel`.
    pub verb: String,
    /// The noun it was done to, singular, e.g. `reservation`; none when the closing names none.
    pub object: Option<String>,
    /// Identifiers the claim names, as the closing spells them.
    pub identifiers: Vec<String>,
    /// The sentence that makes the claim.
    pub sentence: String,
    /// Bytes of the sentence in the closing.
    pub sentence_span: Range<usize>,
    /// Bytes of the claim in the closing, within the sentence.
    pub span: Range<usize>,
    /// The calls that could have supported the claim and what was found of each, in call order.
    pub considered: Vec<Considered>,
    /// What was decided.
    pub verdict: Verdict,
}

/// A recorded call that was compared with a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Considered {
    /// Index of the call in the trace.
    pub call: usize,
    /// The tool's name.
    pub tool: String,
    /// What was found.
    pub finding: Finding,
}

/// Why a call supports a claim or does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// It succeeded, and its verb, object and identifiers fit.
    Supports,
    /// Its result is an error.
    Failed,
    /// It has no result.
    Unanswered,
    /// It was done to something else than the claim names.
    OtherObject,
    /// Neither its arguments nor its result carry the identifiers that the claim names.
    OtherIdentifier,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Supports => "supports the claim",
            Self::Failed => "failed",
            Self::Unanswered => "has no result",
            Self::OtherObject => "acts on something else",
            Self::OtherIdentifier => "does not carry the identifier the claim names",
        })
    }
}

/// What was decided about a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// A successful call supports it.
    Supported,
    /// The closing repeats a state that a read-only call returned: *the issue is closed*.
    Read,
    /// No successful call supports it.
    Absent,
    /// A successful call supports it, but the closing names a value that the call does not have.
    ArgMismatch {
        /// The value as the closing spells it.
        claimed: String,
        /// Values of that kind which the call has.
        recorded: Vec<String>,
    },
}

/// A successful call that changed something without the closing mentioning it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnclaimedCall {
    /// Index of the call in the trace.
    pub call: usize,
    /// The tool's name.
    pub tool: String,
}
