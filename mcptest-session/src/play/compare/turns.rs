//! What a request says that the model said before, beside what it said.

use mcptest_trace::eval::{Divergence, DivergenceKind};
use serde_json::Value;

use super::Comparison;
use crate::play::alignment::Pair;
use crate::play::examples;
use crate::play::matching::same;
use crate::play::model_turn::{Change, Spoken};
use crate::play::turns::Known;

const KIND: DivergenceKind = DivergenceKind::AssistantTurns;

impl Comparison<'_> {
    pub(super) fn assistant_turns(&self, found: &mut Vec<Divergence>) {
        for pair in &self.reading.pairs {
            let (item, message, (recorded, played, place)) = match pair {
                Pair::Both(known, old, new) => {
                    let item = item(*known);
                    let Some(change) = self.change(&item, old, new) else {
                        continue;
                    };
                    (item, words(*known, &change), change.values())
                }
                Pair::Missing(known, old) => {
                    let message = format!("{} is missing", name(*known));
                    (item(*known), message, (Some(old.value()), None, None))
                }
                Pair::Made(number, new) => {
                    let message =
                        "the code sends a message of the model that is not in the recording"
                            .to_owned();
                    (
                        format!("+{number}"),
                        message,
                        (None, Some(new.value()), None),
                    )
                }
            };
            if self.covered(KIND, &item) {
                continue;
            }
            let path = format!("assistant_turns[{item}]");
            found.push(
                self.found(KIND, path, message)
                    .with_values(recorded, played)
                    .at(place),
            );
        }
    }

    /// What differs between two turns, without what is ignored.
    fn change<'s>(&self, item: &str, old: &'s Spoken, new: &'s Spoken) -> Option<Change<'s>> {
        let change = old.change(new, &self.options.masks)?;
        if self.options.compared.ignore_paths.is_empty() {
            return Some(change);
        }
        let members =
            |spoken: &Spoken| self.without_ignored(KIND, item, &Value::Object(spoken.members()));
        let is_same = same(&members(old), &members(new), &self.options.masks);
        (!is_same).then_some(change)
    }
}

/// The item of a turn in a path.
fn item(known: Known) -> String {
    match known {
        Known::Example(number) => examples::item(number, None),
        Known::Answer(answer) => answer.to_string(),
    }
}

fn name(known: Known) -> String {
    match known {
        Known::Example(number) => {
            format!("turn {} of the model that the code begins with", number + 1)
        }
        Known::Answer(answer) => format!("turn {} of the model", answer + 1),
    }
}

fn words(known: Known, change: &Change<'_>) -> String {
    let name = name(known);
    match change {
        Change::Text(..) => format!("{name} has another text"),
        Change::Arguments(_, call) => {
            format!("{name} calls `{}` with other arguments", call.tool())
        }
        Change::CallGone(call) => format!("{name} no longer calls `{}`", call.tool()),
        Change::CallNew(call) => format!(
            "{name} calls `{}` now, and did not call this tool in the recording",
            call.tool()
        ),
    }
}
