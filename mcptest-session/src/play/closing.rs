//! What the program says to the user, beside what it said, where that is what it prints.

use mcptest_trace::eval::{Divergence, DivergenceKind};
use mcptest_trace::trace::Trace;
use regex::Regex;
use serde_json::Value;

use super::matching::texts_match;
use crate::json::{list, text};
use crate::record::RunOptions;

const KIND: DivergenceKind = DivergenceKind::FinalResponse;

/// What the program of a recording said, where that was what it printed.
#[derive(Debug, Clone, Default)]
pub(super) struct Closing {
    /// The last thing.
    last: Option<String>,
    /// To each turn of the user, where it was asked in JSON lines.
    said: Vec<String>,
}

impl Closing {
    /// What a session wrote down.
    pub(super) fn from_field(field: &Value, trace: &Trace) -> Self {
        // What another source calls the closing is what the user read.
        let is_printed =
            field.is_null() || matches!(text(field, "closing"), Some("stdout" | "answer"));
        let said = list(field, "said").iter().filter_map(Value::as_str);
        Self {
            last: trace.final_response.clone().filter(|_| is_printed),
            said: said.map(str::to_owned).collect(),
        }
    }

    /// What is said otherwise now. Where the closing is the model's own, nothing is compared.
    pub(super) fn differences(
        &self,
        run: &RunOptions,
        masks: &[Regex],
        calls: usize,
    ) -> Vec<Divergence> {
        let (Some(last), Some(printed)) = (&self.last, &run.closing) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let mut compare = |path: String, message: String, old: &str, new: &str| {
            let (old, new) = (old.trim(), new.trim());
            if !texts_match(old, new, masks) {
                let one = Divergence::new(KIND, (calls, calls), path, message);
                found.push(one.with_values(Some(old.into()), Some(new.into())));
            }
        };
        // The last turn is the closing.
        let earlier = self
            .said
            .split_last()
            .map_or(&[][..], |(_, earlier)| earlier);
        for (turn, (old, new)) in earlier.iter().zip(&run.said).enumerate() {
            let message = format!(
                "the answer of the program to turn {} of the user differs",
                turn + 1
            );
            compare(format!("said[{turn}]"), message, old, new);
        }
        let message = match printed.trim() {
            "" => "the program prints nothing",
            _ => "the output of the program differs",
        };
        compare(
            "final_response".to_owned(),
            message.to_owned(),
            last,
            printed,
        );
        for one in &mut found {
            one.place = (one.path == "final_response").then(|| "trace.final_response".to_owned());
        }
        found
    }
}
