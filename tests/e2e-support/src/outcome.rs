//! What became of a case.

/// How a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// `ok`.
    Passed,
    /// `FAILED`.
    Failed,
    /// `ignored`, whatever the reason.
    Ignored,
}

/// Reads a line of a pretty report: `test name ... ok`. A reason follows `ignored` after a comma in
/// the standard harness, in brackets from libtest-mimic.
pub fn parse_line(line: &str) -> Option<(String, Outcome)> {
    let (name, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let outcome = match result.split([',', ' ']).next()? {
        "ok" => Outcome::Passed,
        "FAILED" => Outcome::Failed,
        "ignored" => Outcome::Ignored,
        _ => return None,
    };
    Some((name.trim_end().to_owned(), outcome))
}
