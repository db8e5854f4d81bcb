//! What the user says in a request, beside what the user said.

use mcptest_trace::eval::{Divergence, DivergenceKind};

use super::Comparison;
use crate::exchange::ModelRequest;
use crate::play::matching::texts_match;

impl Comparison<'_> {
    pub(super) fn compare_user_turns(&self, found: &mut Vec<Divergence>) {
        let own = self.own();
        // What is said to a sub-agent after its task is not known of every recording.
        if !own.knows_heard && self.answer > 0 {
            return;
        }
        let first = self.reading.heard_after.map_or(0, |after| after + 1);
        let (earlier, moves) = own.moves[..=self.answer].split_at(first);
        let before: usize = earlier.iter().map(|one| one.heard.len()).sum();
        let recorded: Vec<&(String, String)> = moves.iter().flat_map(|one| &one.heard).collect();
        let played = ModelRequest::other_messages_in(&self.asked.items[self.reading.heard_from..]);
        for index in 0..recorded.len().max(played.len()) {
            let item = (before + index).to_string();
            let (old, new) = (recorded.get(index), played.get(index));
            let is_same = match (old, new) {
                (Some((role, old)), Some((speaker, new))) => {
                    role == speaker && texts_match(old, new, &self.options.masks)
                }
                _ => false,
            };
            if is_same || self.is_ignored(DivergenceKind::UserTurns, &item) {
                continue;
            }
            let number = before + index + 1;
            let message = match (old, new) {
                (None, _) => format!("turn {number} of the user was not recorded"),
                (_, None) => format!("turn {number} of the user is missing"),
                _ => format!("turn {number} of the user differs"),
            };
            found.push(
                self.divergence(
                    DivergenceKind::UserTurns,
                    format!("user_turns[{item}]"),
                    message,
                )
                .with_values(
                    old.map(|(_, text)| text.as_str().into()),
                    new.map(|(_, text)| (*text).into()),
                )
                .with_place((self.is_main() && number == 1).then(|| "user_prompt".to_owned())),
            );
        }
    }
}
