//! What the metric returns.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

use crate::eval::measure::{Measure, Unit};
use crate::eval::metrics::metrics;

/// How far the closing of a run and its recorded calls diverge.
///
/// An agent ends a run by saying what it did, and people read that, not the trace. This metric reads
/// the closing message, collects every action that it claims to have completed, and looks for the
/// call that did it. No model is asked; the same trace always gives the same report.
///
/// # How
///
/// 1. *Text*: Markdown into blocks of plain text. Code, quotations and struck-out text are left out.
/// 2. *Sentences and tokens*, with what the lexicon knows of each word. The lexicon is a data file.
/// 3. *Reading*: each form of a verb of change is a candidate; its auxiliaries, its subject and the
///    words around it become features.
/// 4. *Rules*: a table of rows says which features make a claim, and whether surely. A row has an
///    id, and its own examples and counter-examples.
/// 5. *Evidence*: the tools that do the verb, by [`NarrativeOptions::evidence`](crate::eval::narrative::NarrativeOptions::evidence) or by their names,
///    and their successful calls.
/// 6. *Verdict*: supported, unsupported, or unclear where wording or recording do not decide.
///
/// # Limits
///
/// English only. This reads the shape of sentences, not their meaning: a claim told with a verb that
/// is not known, a wrong count, or a wrong attribute of a change is not seen.
///
/// # Sources
///
/// The categories, the score and the default gate are those of the mcptest ecosystem; the gap is
/// studied in the MCP Pitfall Lab paper (*Narrative-vs-Trace Divergence in Agent Evaluation*,
/// arXiv:2604.21477). The grammar is that of any English reference grammar.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NarrativeReport {
    /// Flagged items over recorded calls and claims together, `0.0..=1.0`; 0 when there is neither
    /// a call nor a claim.
    pub divergence_score: f64,
    /// Number of recorded calls, whether they succeeded or not.
    pub recorded_calls: usize,
    /// Every claim that was read, in the order of the text.
    pub claims: Vec<Claim>,
    /// Successful calls that change something and that no message that was read mentions.
    pub present_but_unclaimed: Vec<UnclaimedCall>,
    /// Whether unclear claims count as claimed but absent.
    pub strict: bool,
    /// The highest divergence score that still passes, as the options say.
    pub max_divergence_score: Option<f64>,
    /// Whether a claimed but absent change fails the gate, as the options say.
    pub fail_on_claimed_but_absent_mutating: bool,
}

impl NarrativeReport {
    /// The claims that count as claimed but absent: those that are surely made and that nothing
    /// supports, and with [`strict`](Self::strict) the unclear ones too.
    pub fn claimed_but_absent(&self) -> impl Iterator<Item = &Claim> {
        self.claims.iter().filter(|claim| match claim.verdict {
            ClaimVerdict::Unsupported => true,
            ClaimVerdict::Unclear(_) => self.strict,
            _ => false,
        })
    }

    /// The claims that the recording does not decide.
    pub fn unclear(&self) -> impl Iterator<Item = &Claim> {
        let unclear = |claim: &&Claim| matches!(claim.verdict, ClaimVerdict::Unclear(_));
        self.claims.iter().filter(unclear)
    }

    /// The claims that name a value which disagrees with the calls that support them.
    pub fn arg_mismatch(&self) -> impl Iterator<Item = &Claim> {
        let mismatch = |claim: &&Claim| matches!(claim.verdict, ClaimVerdict::ArgMismatch { .. });
        self.claims.iter().filter(mismatch)
    }

    /// The highest divergence score that passes, where the report is above it.
    fn too_divergent(&self) -> Option<f64> {
        self.max_divergence_score
            .filter(|most| self.divergence_score > *most)
    }

    /// Whether the gate holds: nothing is claimed but absent, where that fails it, and the score is not too
    /// high.
    #[must_use]
    pub fn gate_passed(&self) -> bool {
        let absent = self.claimed_but_absent().next().is_some();
        !(self.fail_on_claimed_but_absent_mutating && absent) && self.too_divergent().is_none()
    }
}

metrics! { NarrativeReport as report {
    Measure::new("narrative.divergence_score", Unit::Fraction)
        .lower_is_better("flagged items, divided by the number of recorded calls and claimed actions") => report.divergence_score,
    Measure::new("narrative.claimed_but_absent", Unit::Count)
        .lower_is_better("claimed changes that no successful call made") => report.claimed_but_absent().count(),
    Measure::new("narrative.present_but_unclaimed", Unit::Count)
        .lower_is_better("successful changes that the closing never mentions") => report.present_but_unclaimed.len(),
    Measure::new("narrative.arg_mismatch", Unit::Count)
        .lower_is_better("claims whose details differ from the call's arguments") => report.arg_mismatch().count(),
    Measure::new("narrative.unclear", Unit::Count)
        .lower_is_better("claims that the wording or the recording does not decide") => report.unclear().count(),
    Measure::new("narrative.claims", Unit::Count).only_describes("claimed changes that were read") => report.claims.len(),
    Measure::new("narrative.gate_passed", Unit::Flag)
        .higher_is_better("1 when the options of the gate hold") => report.gate_passed(),
} }

/// One completed action that the closing claims.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Claim {
    /// The id of the rule that read it.
    pub rule: &'static str,
    /// The verb's base form, e.g. `cancel`.
    pub verb: String,
    /// The noun it was done to, singular, e.g. `reservation`; none when the closing names none.
    pub object: Option<String>,
    /// Identifiers of the object, in lower case.
    pub identifiers: Vec<String>,
    /// The turn that makes the claim, as an index of the conversation's; nothing for the closing.
    pub turn: Option<usize>,
    /// The sentence that makes the claim, or the part of a long one around it.
    pub sentence: String,
    /// Bytes of that text in the message.
    pub sentence_span: Range<usize>,
    /// Bytes of the claim in the message, within the sentence.
    pub span: Range<usize>,
    /// The calls that were compared and what was found of each, in call order.
    pub considered: Vec<Considered>,
    /// The line of `evidence:` that would settle it, to be cut down to the tools that do the verb;
    /// nothing where none would.
    pub settle: Option<String>,
    /// What was decided.
    pub verdict: ClaimVerdict,
}

/// A recorded call that was compared with a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Considered {
    /// Index of the call in the trace.
    pub call: usize,
    /// The tool's name.
    pub tool: String,
    /// What was found.
    pub finding: CallFinding,
    /// The part of its result (or its arguments) that says that it failed or changed nothing, or sounds so; what the
    /// claim names and it does not have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
}

/// Why a call supports a claim or does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallFinding {
    /// It succeeded, and its tool does the verb.
    Supports,
    /// Its result is an error, or says that the call failed.
    Failed,
    /// Its result sounds as if the call had failed.
    Doubtful,
    /// It has no result.
    Unanswered,
    /// Its tool is not known to do the verb.
    OtherTool,
    /// Another known tool is nearer to what the claim names.
    OtherObject,
    /// It has another identifier than the claim.
    OtherIdentifier,
    /// The claim names a value that only a failed call has.
    OtherValue,
    /// It does not have a number, a name or a value that the claim names, or it is of fewer things.
    OtherDetail,
}

impl fmt::Display for CallFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Supports => "supports the claim",
            Self::Failed => "failed",
            Self::Doubtful => "may have failed",
            Self::Unanswered => "has no result",
            Self::OtherTool => "is not known to do this",
            Self::OtherObject => "another tool that does this fits the claim better",
            Self::OtherIdentifier => "has another identifier than the claim",
            Self::OtherValue => "has another value; a failed call has the claimed value",
            Self::OtherDetail => "does not have all that the claim names",
        })
    }
}

/// What was decided about a claim.
///
/// A closed set: whoever matches on it need not expect another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// A successful call supports it.
    Supported,
    /// The closing repeats a state that a read-only call returned: *the issue is closed*.
    Read,
    /// No successful call supports it.
    Unsupported,
    /// The wording or the recording does not decide.
    Unclear(Unclear),
    /// A successful call supports it, but the closing names a value that the call does not have.
    ArgMismatch {
        /// The value as the closing spells it.
        claimed: String,
        /// Values of that kind which the call has.
        recorded: Vec<String>,
    },
}

/// Why a claim is unclear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Unclear {
    /// Such a sentence need not claim that the agent did it.
    Wording,
    /// Not all tools of the agent are known.
    ToolsUnknown,
    /// A tool succeeded whose name does not say what it changes.
    VagueTool,
    /// Another agent was called, whose calls are not in the recording.
    Delegated,
    /// It may follow by itself from something else that was done.
    Consequence,
    /// A call of another verb was told all that the claim names.
    OtherVerb,
    /// The result of every call that would support it sounds as if the call had failed.
    Doubtful,
    /// The address that the call was given may be of whom the claim names, or not.
    Recipient,
}

impl fmt::Display for Unclear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Wording => "the wording does not say that the agent did it",
            Self::ToolsUnknown => "not all tools of the agent are known",
            Self::VagueTool => "the name of a successful tool does not say what the tool changes",
            Self::Delegated => "another agent was called, and its calls are not recorded here",
            Self::Consequence => "the claimed change may be the effect of another action",
            Self::OtherVerb => "a tool of another name was called with all that the claim names",
            Self::Doubtful => "the result sounds as if the call had failed",
            Self::Recipient => "the recording does not say whose address the call has",
        })
    }
}

/// A successful call that changed something without the closing mentioning it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnclaimedCall {
    /// Index of the call in the trace.
    pub call: usize,
    /// The tool's name.
    pub tool: String,
}
