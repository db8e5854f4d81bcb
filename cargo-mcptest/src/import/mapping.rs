//! What the command says of how a foreign run becomes a recording.

use regex::Regex;

/// How runs are read and mapped; the same for every format.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mapping {
    /// Instead of the agent's name in the source.
    pub(crate) agent: Option<String>,
    /// Instead of the model in the source.
    pub(crate) model: Option<String>,
    /// Where the source has no prompt.
    pub(crate) prompt: Option<String>,
    pub(crate) no_system_prompt: bool,
    /// Servers whose name may stand before a tool's, joined by `__`; the longest first.
    pub(crate) servers: Vec<String>,
    /// What marks the text of a result as an error.
    pub(crate) error_if: Option<Regex>,
    pub(crate) estimate_tokens: bool,
    pub(crate) subagents: Subagents,
    /// Which of several scores is the outcome.
    pub(crate) score: Option<String>,
    /// From which reward on a run passed.
    pub(crate) pass_at: Option<f64>,
    /// Traces of one conversation are runs of their own.
    pub(crate) trace_is_run: bool,
}

/// What becomes of the calls of sub-agents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Subagents {
    /// They stand among the calls of the main agent.
    #[default]
    Inline,
    /// They are left out.
    Omit,
    /// A sub-agent's calls are a run of its own.
    Separate,
}
