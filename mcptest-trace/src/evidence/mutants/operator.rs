//! The ways of breaking a run.

use serde::Serialize;

/// A way of breaking a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Operator {
    /// A call is not made.
    DropCall,
    /// A call that changes something is made twice.
    RepeatWrite,
    /// A call that reads is made twice.
    RepeatRead,
    /// A call and the next one change places.
    SwapCalls,
    /// The first call that changes something comes first of all.
    ActFirst,
    /// Another tool is called.
    ReplaceTool,
    /// A flag of the arguments is negated.
    ChangeFlag,
    /// A number of the arguments is one more.
    ChangeNumber,
    /// An identifier of the arguments is the next one.
    ChangeIdentifier,
    /// A text of the arguments is another one.
    ChangeText,
    /// An argument is left out.
    DropArgument,
    /// An argument is added.
    ExtraArgument,
    /// A call fails.
    FailResult,
    /// A call has no result.
    DropResult,
    /// The closing claims what was not done.
    FalseClaim,
    /// There is no closing.
    DropClosing,
    /// The run ends half way.
    Truncate,
    /// The first read is made three times more.
    AddReads,
    /// The context triples half way.
    GrowTokens,
    /// A cap ends the run.
    StopReason,
}

/// What an operator does to a run.
///
/// A closed set: whoever matches on it need not expect another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The run no longer does what it should.
    Harm,
    /// The run does it at a higher price.
    Waste,
}

impl Operator {
    /// All operators, in the order in which their sites are looked for.
    pub const ALL: &'static [Self] = &[
        Self::DropCall,
        Self::RepeatWrite,
        Self::RepeatRead,
        Self::SwapCalls,
        Self::ActFirst,
        Self::ReplaceTool,
        Self::ChangeFlag,
        Self::ChangeNumber,
        Self::ChangeIdentifier,
        Self::ChangeText,
        Self::DropArgument,
        Self::ExtraArgument,
        Self::FailResult,
        Self::DropResult,
        Self::FalseClaim,
        Self::DropClosing,
        Self::Truncate,
        Self::AddReads,
        Self::GrowTokens,
        Self::StopReason,
    ];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DropCall => "drop_call",
            Self::RepeatWrite => "repeat_write",
            Self::RepeatRead => "repeat_read",
            Self::SwapCalls => "swap_calls",
            Self::ActFirst => "act_first",
            Self::ReplaceTool => "replace_tool",
            Self::ChangeFlag => "change_flag",
            Self::ChangeNumber => "change_number",
            Self::ChangeIdentifier => "change_identifier",
            Self::ChangeText => "change_text",
            Self::DropArgument => "drop_argument",
            Self::ExtraArgument => "extra_argument",
            Self::FailResult => "fail_result",
            Self::DropResult => "drop_result",
            Self::FalseClaim => "false_claim",
            Self::DropClosing => "drop_closing",
            Self::Truncate => "truncate",
            Self::AddReads => "add_reads",
            Self::GrowTokens => "grow_tokens",
            Self::StopReason => "stop_reason",
        }
    }

    /// Whether it does harm or waste.
    #[must_use]
    pub const fn kind(self) -> Kind {
        match self {
            Self::RepeatRead | Self::AddReads | Self::GrowTokens => Kind::Waste,
            _ => Kind::Harm,
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
