//! How a recording is played.

use mcptest_trace::eval::PlaybackOptions;
use regex::Regex;

/// How a recording is played.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PlayOptions {
    /// What is compared.
    pub compared: PlaybackOptions,
    /// The masks of it, compiled.
    pub masks: Vec<Regex>,
    /// The servers whose tools are offered as `<server>__<tool>`, besides those of the recording.
    pub servers: Vec<String>,
}

impl PlayOptions {
    /// Options of a suite.
    ///
    /// # Errors
    ///
    /// A mask is no regular expression: what is wrong with it.
    pub fn new(compared: PlaybackOptions) -> Result<Self, String> {
        let masks = compared.mask.iter().map(|mask| Regex::new(mask));
        let masks: Result<Vec<Regex>, _> = masks.collect();
        Ok(Self {
            masks: masks.map_err(|error| error.to_string())?,
            compared,
            servers: Vec::new(),
        })
    }
}
