//! What an import did, a row an agent.

use std::fmt::Write as _;

use mcptest_trace::text::clean_line;
use serde_json::{Value, json};

use super::json::shortened;

/// How much of a name is shown.
const LONGEST: usize = 60;

/// What was imported of an agent with a model.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    agent: String,
    model: String,
    /// Where its runs lie.
    path: String,
    pub(super) new: usize,
    pub(super) present: usize,
    calls: usize,
    errors: usize,
    fine: usize,
    unknown: usize,
    tokens: u64,
    passed: usize,
    judged: usize,
}

impl Row {
    pub(super) fn new(agent: &str, model: &str, path: String) -> Self {
        Self {
            agent: agent.to_owned(),
            model: model.to_owned(),
            path,
            ..Self::default()
        }
    }

    /// Counts a run.
    pub(super) fn count(&mut self, run: &Value) {
        let trace = &run["trace"];
        let length = |key: &str| trace[key].as_array().map_or(0, Vec::len);
        self.calls += length("tool_calls");
        for result in trace["tool_results"].as_array().into_iter().flatten() {
            match result["is_error"].as_bool() {
                Some(true) => self.errors += 1,
                Some(false) => self.fine += 1,
                None => self.unknown += 1,
            }
        }
        self.tokens += trace["conversation"]["tokens"]["total"]
            .as_u64()
            .unwrap_or_default();
        if let Some(passed) = run["outcome"]["passed"].as_bool() {
            self.judged += 1;
            self.passed += usize::from(passed);
        }
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "agent": self.agent, "model": self.model, "path": self.path,
            "runs": { "new": self.new, "present": self.present },
            "calls": self.calls,
            "errors": { "yes": self.errors, "no": self.fine, "unknown": self.unknown },
            "tokens": self.tokens,
            "passed": { "yes": self.passed, "of": self.judged },
        })
    }

    fn cells(&self) -> [String; 8] {
        let passed = match self.judged {
            0 => "-".to_owned(),
            judged => format!("{} of {judged}", self.passed),
        };
        [
            shortened(&clean_line(&self.agent), LONGEST),
            clean_line(&self.model).into_owned(),
            self.new.to_string(),
            self.present.to_string(),
            self.calls.to_string(),
            format!("{}/{}/{}", self.errors, self.fine, self.unknown),
            self.tokens.to_string(),
            passed,
        ]
    }

    /// How many results do not say whether they are errors.
    pub(super) fn unknown_errors(&self) -> usize {
        self.unknown
    }
}

/// The rows under their headings.
pub(super) fn table(rows: &[Row]) -> String {
    let headings = [
        "agent",
        "model",
        "new",
        "present",
        "calls",
        "errors yes/no/unknown",
        "tokens",
        "passed",
    ];
    let headings = headings.map(str::to_owned);
    let lines: Vec<[String; 8]> = std::iter::once(headings)
        .chain(rows.iter().map(Row::cells))
        .collect();
    let width = |column: usize| {
        let widths = lines.iter().map(|line| line[column].chars().count());
        widths.max().unwrap_or_default()
    };
    let widths: [usize; 8] = std::array::from_fn(width);
    let mut out = String::new();
    for line in &lines {
        let mut row = String::new();
        for (column, (cell, width)) in line.iter().zip(widths).enumerate() {
            // Words to the left, numbers to the right. Writing to a string cannot fail.
            _ = match column {
                0 | 1 => write!(row, "{cell:<width$}  "),
                _ => write!(row, "{cell:>width$}  "),
            };
        }
        _ = writeln!(out, "{}", row.trim_end());
    }
    out
}
