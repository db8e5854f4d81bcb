//! What of the input an import loses, and why.

use std::error::Error;
use std::fmt;

/// Why something of the input is not imported. Reports are counted by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LossReason {
    /// A file, a folder or a record cannot be read.
    Unreadable,
    /// An entry of an archive cannot be unpacked.
    NotUnpacked,
    /// An archive cannot be read.
    UnreadableArchive,
    /// A file or a record has no end.
    Cut,
    /// A record is larger than those that are read.
    TooLarge,
    /// A record is no JSON.
    NotJson,
    /// A response is a stream of events that hold no answer.
    StreamWithoutAnswer,
    /// A file has none of the known formats.
    UnknownFormat,
    /// A file would be read in another form.
    NeedsConversion,
    /// A record is no run.
    NoRun,
    /// A recording cannot be read.
    UnreadableRecording,
    /// A line of a rollout has no payload.
    NoRolloutLine,
    /// A response is there without its request.
    NoRequest,
    /// Spans do not hold what was said.
    ContentNotCaptured,
    /// The record is missing of which another one is a part.
    MissingParent,
    /// A part of an export is missing.
    IncompleteExport,
    /// No record says which model ran.
    NoModel,
    /// The user says nothing.
    NoPrompt,
    /// There is no answer of the agent.
    NoAnswer,
    /// No call is read, though the texts hold what looks like actions.
    NoCall,
    /// The result of no call.
    OrphanResult,
    /// A result that may be that of several calls.
    AmbiguousResult,
    /// A call has a result already.
    SecondResult,
    /// A text stands among results.
    TextAmongResults,
    /// A call has a form that is not known.
    UnknownCall,
    /// Outputs are no messages.
    UnknownOutputs,
    /// A step comes from a source that is not known.
    UnknownStepSource,
    /// The outcome of a run cannot be read.
    UnreadableOutcome,
    /// An item has a type that is not known.
    UnknownItem,
    /// An item is referred to that is not in the log.
    ItemElsewhere,
    /// An entry of a transcript cannot be read.
    UnreadableEntry,
    /// A message has a type that is not known.
    UnknownMessage,
    /// A message has a role that is not known.
    UnknownRole,
    /// A message has no role.
    NoRole,
}

impl LossReason {
    /// The reason in words: its key in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unreadable => "cannot be read",
            Self::NotUnpacked => "cannot be unpacked",
            Self::UnreadableArchive => "is no archive that can be read",
            Self::Cut => "is cut",
            Self::TooLarge => "is too large",
            Self::NotJson => "is no JSON",
            Self::StreamWithoutAnswer => "is a stream without an answer",
            Self::UnknownFormat => "has no known format",
            Self::NeedsConversion => "is not read as it is",
            Self::NoRun => "is no run",
            Self::UnreadableRecording => "is no recording that can be read",
            Self::NoRolloutLine => "is no line of a rollout",
            Self::NoRequest => "lacks its request",
            Self::ContentNotCaptured => "content was not captured",
            Self::MissingParent => "missing parent",
            Self::IncompleteExport => "incomplete export",
            Self::NoModel => "no model is named",
            Self::NoPrompt => "the user says nothing",
            Self::NoAnswer => "no answer",
            Self::NoCall => "no call is read",
            Self::OrphanResult => "orphan result",
            Self::AmbiguousResult => "result that belongs to no certain call",
            Self::SecondResult => "second result of a call",
            Self::TextAmongResults => "text among results",
            Self::UnknownCall => "call in an unknown form",
            Self::UnknownOutputs => "outputs that are no messages",
            Self::UnknownStepSource => "step of an unknown source",
            Self::UnreadableOutcome => "outcome that cannot be read",
            Self::UnknownItem => "item of an unknown type",
            Self::ItemElsewhere => "item that is elsewhere",
            Self::UnreadableEntry => "entry that cannot be read",
            Self::UnknownMessage => "message of an unknown type",
            Self::UnknownRole => "message of an unknown role",
            Self::NoRole => "message without a role",
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn help(self) -> &'static str {
        match self {
            Self::Unreadable => "check the path, and that you may read the file",
            Self::NotUnpacked | Self::UnreadableArchive => {
                "write or copy the archive again, whole and without a password"
            }
            Self::Cut => "export it again; only the part before the cut was imported",
            Self::TooLarge => {
                "shorten what the record holds besides the run, or leave the record out"
            }
            Self::NotJson => "correct it, unpack it, or export it again, as JSON in UTF-8",
            Self::StreamWithoutAnswer => {
                "export the answers whole, or import the log of another client"
            }
            Self::UnknownFormat => {
                "if the file holds runs, give their format with `--from FORMAT`; else leave the file out"
            }
            Self::NeedsConversion => {
                "convert the file as the message says, and import the new file"
            }
            Self::NoRequest => "import the log of requests and responses instead",
            Self::ContentNotCaptured => "switch this on where the agent runs, and record new runs",
            Self::MissingParent | Self::IncompleteExport => {
                "export it again, with the missing part"
            }
            Self::NoModel => "name the model that ran with `--model NAME`",
            Self::NoPrompt => "give the prompt with `--prompt TEXT`",
            Self::NoAnswer => "leave it out, or export it with what the agent answered",
            Self::NoCall => {
                "the run is imported with its texts; to judge its calls, export them as `tool_calls` of the agent's messages"
            }
            Self::OrphanResult | Self::AmbiguousResult | Self::SecondResult => {
                "the run is imported without this result; to keep the result, add the identifier of its call"
            }
            Self::NoRun
            | Self::UnreadableRecording
            | Self::NoRolloutLine
            | Self::TextAmongResults
            | Self::UnknownCall
            | Self::UnknownOutputs
            | Self::UnknownStepSource
            | Self::UnreadableOutcome
            | Self::UnknownItem
            | Self::ItemElsewhere
            | Self::UnreadableEntry
            | Self::UnknownMessage
            | Self::UnknownRole
            | Self::NoRole => {
                "everything else is imported; if this part matters to your tests, correct the record and import it again"
            }
        }
    }
}

impl fmt::Display for LossReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Evidence that could not be mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// The kind, by which reports are counted.
    pub reason: LossReason,
    /// The evidence that was lost, in words.
    pub detail: String,
}

impl Lost {
    /// Something is lost: `reason` is the kind, `detail` says what.
    pub fn new(reason: LossReason, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self { reason, detail }
    }

    /// A record that is no run.
    pub(crate) fn no_run(detail: &str) -> Self {
        Self::new(LossReason::NoRun, detail)
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason, self.detail)
    }
}

impl Error for Lost {}
