//! How a recording is played.

use std::error::Error;
use std::fmt;

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
    pub fn new(compared: PlaybackOptions) -> Result<Self, MaskError> {
        let masks = compared.mask.iter().map(|mask| {
            Regex::new(mask).map_err(|source| MaskError {
                mask: mask.clone(),
                source,
            })
        });
        let masks: Result<Vec<Regex>, _> = masks.collect();
        Ok(Self {
            masks: masks?,
            compared,
            servers: Vec::new(),
        })
    }
}

/// A mask that is no regular expression.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MaskError {
    /// The mask.
    pub mask: String,
    source: regex::Error,
}

impl fmt::Display for MaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.source)
    }
}

impl Error for MaskError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}
