//! The options that say how a foreign run becomes a recording.

use std::error::Error;
use std::fmt;

use regex::Regex;

/// How runs are read and mapped; the same for every format.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Mapping {
    /// The name of the agent. It replaces the name in the source.
    #[arg(long)]
    pub agent: Option<String>,
    /// The model. It replaces the model in the source.
    #[arg(long)]
    pub model: Option<String>,
    /// The prompt, if the source has none.
    #[arg(long)]
    pub prompt: Option<String>,
    /// Leave system prompts out. A system prompt with a date in it would make every run another agent.
    #[arg(long)]
    pub no_system_prompt: bool,
    /// An MCP server whose name stands before the names of its tools, as in `NAME__tool`. May be repeated.
    #[arg(long = "server", value_name = "NAME")]
    pub servers: Vec<String>,
    /// A regular expression. A result whose text matches is an error.
    #[arg(long, value_name = "REGEX", value_parser = parse_pattern)]
    pub error_if: Option<Regex>,
    /// Estimate tokens by the length of the texts, if the source has no token counts.
    #[arg(long)]
    pub estimate_tokens: bool,
    /// What to do with the calls of sub-agents.
    #[arg(long, value_enum, default_value_t)]
    pub subagents: Subagents,
    /// The field of the records, or the score, that says whether a run passed.
    #[arg(long, value_name = "NAME")]
    pub score: Option<String>,
    /// The least reward of a run that passed.
    #[arg(long, value_name = "REWARD", value_parser = parse_finite, allow_negative_numbers = true)]
    pub pass_at: Option<f64>,
    /// What counts as one run, if the traces belong to conversations.
    #[arg(long, value_enum, default_value_t)]
    pub run: RunUnit,
}

/// Why an option cannot be read.
#[derive(Debug)]
enum MappingError {
    Pattern(regex::Error),
    MatchesEverything,
    NotFinite,
}

impl fmt::Display for MappingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pattern(error) => write!(f, "{error}"),
            Self::MatchesEverything => f.write_str(
                "it matches the empty text, so every result would be an error: write a narrower expression",
            ),
            Self::NotFinite => f.write_str("write a number"),
        }
    }
}

impl Error for MappingError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Pattern(error) => Some(error),
            Self::MatchesEverything | Self::NotFinite => None,
        }
    }
}

/// A pattern that not every text matches.
fn parse_pattern(text: &str) -> Result<Regex, MappingError> {
    let pattern = Regex::new(text).map_err(MappingError::Pattern)?;
    if pattern.is_match("") {
        return Err(MappingError::MatchesEverything);
    }
    Ok(pattern)
}

fn parse_finite(text: &str) -> Result<f64, MappingError> {
    let number: Option<f64> = text.parse().ok();
    let finite = number.filter(|number| number.is_finite());
    finite.ok_or(MappingError::NotFinite)
}

impl Mapping {
    /// Knows more servers; of several that fit, the longest is the one.
    pub fn add_servers<'s>(&mut self, servers: impl Iterator<Item = &'s str>) {
        self.servers.extend(servers.map(str::to_owned));
        let names = &mut self.servers;
        names.sort_by(|left, right| right.len().cmp(&left.len()).then(left.cmp(right)));
        names.dedup();
    }

    /// Traces of one conversation are runs of their own.
    #[must_use]
    pub fn trace_is_run(&self) -> bool {
        self.run == RunUnit::Trace
    }
}

/// What a run is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum RunUnit {
    /// All traces of a conversation together.
    #[default]
    Conversation,
    /// Each trace.
    Trace,
}

/// What becomes of the calls of sub-agents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Subagents {
    /// The calls stand among the calls of the main agent.
    #[default]
    Inline,
    /// The calls are left out.
    Omit,
    /// The calls of a sub-agent become a run of its own.
    Separate,
}
