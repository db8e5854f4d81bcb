//! What an import did, a row an agent.

use std::io::{self, Write};
use std::rc::Rc;

use mcptest::eval::{Reported, reported};
use mcptest_trace::text::escape_line;
use serde_json::{Value, json};

use super::json::shortened;
use super::starter::Suspect;
use crate::output::passed_of;

/// How much of a name is shown, and of that at its end, which tells the tasks of one prompt apart.
const LONGEST: usize = 60;
const END: usize = 20;

fn name(agent: &str) -> String {
    let more = agent.chars().count().saturating_sub(LONGEST);
    let end: String = agent.chars().skip(LONGEST - END + more).collect();
    match more {
        0 => agent.to_owned(),
        _ => shortened(agent, LONGEST - END) + &end,
    }
}

/// What was imported of an agent with a model.
#[derive(Debug, Clone, Default)]
pub(super) struct SummaryRow {
    agent: Rc<str>,
    model: Rc<str>,
    /// Where its runs lie.
    path: String,
    pub(super) new: usize,
    pub(super) present: usize,
    calls: usize,
    errors: usize,
    fine: usize,
    /// Results that do not say whether they are errors.
    pub(super) unknown: usize,
    /// Results that are no errors by their flag and sound like one.
    doubtful: usize,
    tokens: u64,
    passed: usize,
    judged: usize,
    /// Runs with a reward that does not say whether they passed.
    pub(super) undecided: usize,
}

impl SummaryRow {
    pub(super) fn new(agent: &Rc<str>, model: &Rc<str>, path: String) -> Self {
        Self {
            agent: Rc::clone(agent),
            model: Rc::clone(model),
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
            let index = result["call_index"].as_u64();
            let index = index.and_then(|index| usize::try_from(index).ok());
            let call = &trace["tool_calls"][index.unwrap_or(usize::MAX)];
            let name = call["name"].as_str().unwrap_or_default();
            let says = reported(name, &call["args"], &result["result"]);
            match (result["is_error"].as_bool(), says) {
                (Some(true), _) | (_, Reported::Failed(_)) => self.errors += 1,
                (Some(false), Reported::Nothing) => self.fine += 1,
                (Some(false), Reported::Doubtful(_)) => self.doubtful += 1,
                (None, _) => self.unknown += 1,
            }
        }
        self.tokens += trace["conversation"]["tokens"]["total"]
            .as_u64()
            .unwrap_or_default();
        if let Some(passed) = run["outcome"]["passed"].as_bool() {
            self.judged += 1;
            self.passed += usize::from(passed);
        } else if run["outcome"]["reward"].is_number() {
            self.undecided += 1;
        }
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "agent": &*self.agent, "model": &*self.model, "path": self.path,
            "runs": { "new": self.new, "present": self.present },
            "calls": self.calls,
            "errors": { "yes": self.errors, "no": self.fine, "unknown": self.unknown + self.doubtful },
            "tokens": self.tokens,
            "passed": { "yes": self.passed, "of": self.judged },
        })
    }

    fn cells(&self) -> [String; 8] {
        let unknown = self.new + self.present - self.judged;
        let passed = match self.judged {
            0 => "-".to_owned(),
            judged => passed_of(self.passed, judged - self.passed, unknown),
        };
        [
            name(&self.agent),
            self.model.to_string(),
            self.new.to_string(),
            self.present.to_string(),
            self.calls.to_string(),
            format!(
                "{}/{}/{}",
                self.errors,
                self.fine,
                self.unknown + self.doubtful
            ),
            self.tokens.to_string(),
            passed,
        ]
    }
}

/// How many runs that look bad are shown.
const SHOWN: usize = 20;

/// A run that looks bad, and its agent.
pub(super) type Doubt = (Rc<str>, Suspect);

pub(super) fn doubt((agent, suspect): &Doubt) -> Value {
    json!({
        "agent": **agent, "model": suspect.model, "run": suspect.number, "reasons": suspect.reasons,
        "set_aside": suspect.aside,
    })
}

/// Names the runs that look bad.
pub(super) fn doubts(doubts: &[Doubt], out: &mut dyn Write) -> io::Result<()> {
    for (agent, suspect) in doubts.iter().take(SHOWN) {
        let agent = name(&escape_line(agent));
        let reasons = suspect.reasons.join("; ");
        let aside = if suspect.aside { " (set aside)" } else { "" };
        let number = suspect.number;
        writeln!(
            out,
            "suspect: {agent} run-{number}: {}{aside}",
            escape_line(&reasons)
        )?;
    }
    if let Some(more @ 1..) = doubts.len().checked_sub(SHOWN) {
        writeln!(out, "suspect: {more} more runs")?;
    }
    Ok(())
}

/// The rows under their headings.
pub(super) fn table(rows: &[SummaryRow]) -> String {
    let headings = "agent,model,new,present,calls,errors yes/no/unknown,tokens,passed";
    let headings = headings.split(',').map(str::to_owned).collect();
    let cells = rows.iter().map(|row| row.cells().to_vec());
    let rows: Vec<Vec<String>> = std::iter::once(headings).chain(cells).collect();
    crate::table::table_of(&rows, 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_keeps_its_end() {
        let [one, other] =
            [1, 2].map(|task| name(&format!("{} {task}", "Please refund the order. ".repeat(9))));
        assert!(
            one != other && one.ends_with(" 1") && one.chars().count() == LONGEST + 1,
            "{one}"
        );
        assert_eq!(name(&"é".repeat(LONGEST)), "é".repeat(LONGEST));
    }
}
