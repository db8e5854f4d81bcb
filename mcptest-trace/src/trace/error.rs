//! What is wrong with a recording, where, and what to do next.

use std::fmt;

use crate::text::escape_line;

use super::location::Location;
use super::origin::Origin;

/// The most characters of a problem that are shown.
const LONGEST: usize = 400;

/// A run that cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CassetteError {
    /// The file and line.
    pub origin: Origin,
    /// What is wrong.
    pub problems: Vec<Flaw>,
    /// What to do next.
    pub help: String,
}

/// One thing that is wrong with a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Flaw {
    /// What is wrong, on one line; text of the recording in it is cleaned and cut.
    pub message: String,
    /// Where it stands in the file, where it stands at one place.
    pub place: Option<Location>,
}

impl Flaw {
    pub(super) fn new(message: &str, place: Option<Location>) -> Self {
        let message = escape_line(message);
        let length = message.chars().count();
        let message = if length > LONGEST {
            let head: String = message.chars().take(LONGEST / 2).collect();
            let tail: String = message.chars().skip(length - LONGEST / 2).collect();
            format!("{head}…{tail}")
        } else {
            message.into_owned()
        };
        Self { message, place }
    }
}

impl From<String> for Flaw {
    fn from(message: String) -> Self {
        Self::new(&message, None)
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let place = self.place.as_ref();
        place.map_or(Ok(()), |place| write!(f, " ({place})"))
    }
}

impl CassetteError {
    pub(super) fn new(origin: &Origin, problems: Vec<Flaw>, help: &str) -> Self {
        Self {
            origin: origin.clone(),
            problems,
            help: help.to_owned(),
        }
    }

    /// The problems as a list, each with its place and the text of the file around it.
    ///
    /// ```
    /// use mcptest_trace::trace::{Origin, parse_run};
    ///
    /// let origin = Origin::file("runs/a.json");
    /// let error = parse_run(b"{\n  \"model\": \"m\",,\n}", &origin).unwrap_err();
    /// assert_eq!(
    ///     error.render(),
    ///     "- is not JSON: key must be a string
    ///   at runs/a.json:2:16
    ///   | \"model\": \"m\",,
    ///   |              ^"
    /// );
    /// ```
    #[must_use]
    pub fn render(&self) -> String {
        let drawn = self.problems.iter().map(|flaw| {
            let Some(place) = &flaw.place else {
                return format!("- {}", flaw.message);
            };
            let Location {
                line,
                column,
                excerpt,
                mark,
            } = place;
            let shown = escape_line(&self.origin.shown);
            format!(
                "- {}\n  at {shown}:{line}:{column}\n  | {excerpt}\n  | {:mark$}^",
                flaw.message, ""
            )
        });
        drawn.collect::<Vec<_>>().join("\n")
    }
}

impl fmt::Display for CassetteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problems: Vec<_> = self.problems.iter().map(ToString::to_string).collect();
        write!(f, "{}: {}", self.origin, problems.join("; "))
    }
}

impl std::error::Error for CassetteError {}
