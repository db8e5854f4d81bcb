//! The ways of breaking a run.

use serde::Serialize;

use crate::words::words;

words! {
    all
    /// A way of breaking a run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum Operator {
        /// A call is not made.
        DropCall = "drop_call",
        /// A call that changes something is made twice.
        RepeatWrite = "repeat_write",
        /// A call that reads is made twice.
        RepeatRead = "repeat_read",
        /// A call and the next one change places.
        SwapCalls = "swap_calls",
        /// The first call that changes something comes first of all.
        ActFirst = "act_first",
        /// Another tool is called.
        ReplaceTool = "replace_tool",
        /// A flag of the arguments is negated.
        ChangeFlag = "change_flag",
        /// A number of the arguments is one more.
        ChangeNumber = "change_number",
        /// An identifier of the arguments is the next one.
        ChangeIdentifier = "change_identifier",
        /// A text of the arguments is another one.
        ChangeText = "change_text",
        /// An argument is left out.
        DropArgument = "drop_argument",
        /// An argument is added.
        ExtraArgument = "extra_argument",
        /// A call fails.
        FailResult = "fail_result",
        /// A call has no result.
        DropResult = "drop_result",
        /// The closing claims what was not done.
        FalseClaim = "false_claim",
        /// There is no closing.
        DropClosing = "drop_closing",
        /// The run ends half way.
        Truncate = "truncate",
        /// The first read is made three times more.
        AddReads = "add_reads",
        /// The context triples half way.
        GrowTokens = "grow_tokens",
        /// A cap ends the run.
        StopReason = "stop_reason",
    }
}

/// What an operator does to a run.
///
/// A closed set: whoever matches on it need not expect another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OperatorKind {
    /// The run no longer does what it should.
    Harm,
    /// The run does it at a higher price.
    Waste,
}

impl Operator {
    /// Whether it does harm or waste.
    #[must_use]
    pub const fn kind(self) -> OperatorKind {
        match self {
            Self::RepeatRead | Self::AddReads | Self::GrowTokens => OperatorKind::Waste,
            _ => OperatorKind::Harm,
        }
    }

    /// What would kill its survivors.
    #[must_use]
    pub const fn suggestion(self) -> &'static str {
        match self {
            Self::DropCall | Self::ReplaceTool | Self::Truncate => {
                "`trajectory` with the state-changing calls"
            }
            Self::RepeatWrite
            | Self::ChangeFlag
            | Self::ChangeNumber
            | Self::ChangeIdentifier
            | Self::ChangeText
            | Self::DropArgument
            | Self::ExtraArgument => "`trajectory` with `args: { exact: … }` and `over: writes`",
            Self::SwapCalls | Self::ActFirst => {
                "`trajectory_axes.order`, or `dependencies` with `arg:`"
            }
            Self::FailResult | Self::DropResult => {
                "`is_error: false` on the call, or `expect:` on `tool_results[*].is_error`"
            }
            Self::FalseClaim => "`narrative: {}`",
            Self::DropClosing => "`expect:` on `final_response`",
            Self::StopReason => "`expect:` on `conversation.stop_reason`",
            Self::RepeatRead | Self::AddReads => "`golden_path` with a calibrated `penalty`",
            Self::GrowTokens => "`energy`, calibrated",
        }
    }
}

impl std::fmt::Display for Operator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
