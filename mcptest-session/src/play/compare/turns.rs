//! What a request says that the model said before, beside what it said.

use mcptest_trace::eval::{Divergence, DivergenceKind};
use serde_json::Value;

use super::Comparison;
use crate::play::alignment::TurnPair;
use crate::play::examples;
use crate::play::matching::values_match;
use crate::play::model_turn::{ModelTurn, TurnChange};
use crate::play::turns::KnownTurn;

const KIND: DivergenceKind = DivergenceKind::AssistantTurns;

impl Comparison<'_> {
    pub(super) fn compare_assistant_turns(&self, found: &mut Vec<Divergence>) {
        for pair in &self.reading.pairs {
            let (item, message, (recorded, played, place)) = match pair {
                TurnPair::Both(known, old, new) => {
                    let item = turn_item(*known);
                    let Some(change) = self.change(&item, old, new) else {
                        continue;
                    };
                    (item, change_message(*known, &change), change.values())
                }
                TurnPair::Missing(known, old) => {
                    let message = format!("{} is missing", turn_name(*known));
                    (
                        turn_item(*known),
                        message,
                        (Some(old.to_value()), None, None),
                    )
                }
                TurnPair::Made(number, new) => {
                    let message =
                        "the code sends a message of the model that is not in the recording"
                            .to_owned();
                    (
                        format!("+{number}"),
                        message,
                        (None, Some(new.to_value()), None),
                    )
                }
            };
            if self.is_ignored(KIND, &item) {
                continue;
            }
            let path = format!("assistant_turns[{item}]");
            found.push(
                self.divergence(KIND, path, message)
                    .with_values(recorded, played)
                    .with_place(place),
            );
        }
    }

    /// What differs between two turns, without what is ignored.
    fn change<'s>(
        &self,
        item: &str,
        old: &'s ModelTurn,
        new: &'s ModelTurn,
    ) -> Option<TurnChange<'s>> {
        let change = old.first_change(new, &self.options.masks)?;
        if self.options.compared.ignore_paths.is_empty() {
            return Some(change);
        }
        let members = |spoken: &ModelTurn| {
            self.without_ignored(KIND, item, &Value::Object(spoken.to_members()))
        };
        let is_same = values_match(&members(old), &members(new), &self.options.masks);
        (!is_same).then_some(change)
    }
}

/// The item of a turn in a path.
fn turn_item(known: KnownTurn) -> String {
    match known {
        KnownTurn::Example(number) => examples::example_item(number, None),
        KnownTurn::Answer(answer) => answer.to_string(),
    }
}

fn turn_name(known: KnownTurn) -> String {
    match known {
        KnownTurn::Example(number) => {
            format!("turn {} of the model that the code begins with", number + 1)
        }
        KnownTurn::Answer(answer) => format!("turn {} of the model", answer + 1),
    }
}

fn change_message(known: KnownTurn, change: &TurnChange<'_>) -> String {
    let name = turn_name(known);
    match change {
        TurnChange::Text(..) => format!("{name} has another text"),
        TurnChange::Arguments(_, call) => {
            format!("{name} calls `{}` with other arguments", call.tool())
        }
        TurnChange::CallGone(call) => format!("{name} no longer calls `{}`", call.tool()),
        TurnChange::CallNew(call) => format!(
            "{name} calls `{}` now, and did not call this tool in the recording",
            call.tool()
        ),
    }
}
