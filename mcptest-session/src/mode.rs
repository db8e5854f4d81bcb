//! What a session does with what its agent asks.

/// What a session does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// The real model is asked, and what it says is written down.
    Record,
    /// A recording answers, and nothing leaves the machine.
    Play,
}

impl Mode {
    /// The word for it, as `MCPTEST_MODE` has it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Play => "play",
        }
    }
}
