//! Where answers, their items and their calls are in a recording.

use std::collections::HashMap;

use regex::Regex;

use super::conversation::{Answer, CallPlace};
use super::model_turn::ModelTurn;
use super::openings::Openings;
use super::recording::Recording;
use super::turns::turn_prefixes;
use crate::exchange::Part;
use crate::protocol::{parts_of_item, written_item};

impl Recording {
    /// Puts all answers into the order in which they were given, as far as the calls tell it.
    pub(super) fn rank_answers(&mut self) {
        let mut order = Vec::new();
        // When the questions were asked that conversations go on from which were there before.
        let mut asked: HashMap<usize, (usize, usize)> = HashMap::new();
        for (conversation, it) in self.conversations.iter().enumerate() {
            let mut last = 0;
            for (place, answer) in it.moves.iter().enumerate() {
                last = answer.calls.first().copied().unwrap_or(last);
                let (question, number) = answer.equal.unzip();
                if it.examples == 0 || place > 0 {
                    asked.extend(question.map(|question| (question, (last, place))));
                }
                let number = number.unwrap_or_default();
                order.push(((last, place), number, conversation, place));
            }
        }
        for (at, _, conversation, place) in &mut order {
            let own = &self.conversations[*conversation];
            let one = &own.moves[*place];
            if let (true, 0, Some((question, _))) = (one.calls.is_empty(), *place, one.equal)
                && own.examples > 0
            {
                *at = asked.get(&question).copied().unwrap_or(*at);
            }
        }
        order.sort_unstable();
        for (rank, (.., conversation, place)) in order.into_iter().enumerate() {
            self.conversations[conversation].moves[place].rank = rank;
        }
    }

    /// Gives every answer and every call an identifier, and keeps where it is.
    pub(super) fn index_ids(&mut self) {
        for (number, conversation) in self.conversations.iter_mut().enumerate() {
            for (place, answer) in conversation.moves.iter_mut().enumerate() {
                if !answer.heard.is_empty() {
                    let first = self.heard.entry(answer.heard.clone());
                    first.or_insert((number, place));
                }
                let said = &mut answer.said;
                let id = said
                    .id
                    .get_or_insert_with(|| format!("mcptest_{number}_{place}"));
                self.ids.insert(id.clone(), (number, place));
                for item in &said.items {
                    self.ids.insert(item.id.clone(), (number, place));
                }
                let mut calls = answer.calls.iter();
                for part in &mut said.parts {
                    let Part::Call(call) = part else { continue };
                    let Some(index) = calls.next() else { continue };
                    if call.native.is_none() {
                        let id = call
                            .id
                            .get_or_insert_with(|| format!("call_mcptest_{index}"));
                        let places = self.call_ids.entry(id.clone()).or_default();
                        places.push(CallPlace {
                            conversation: number,
                            answer: place,
                            call: *index,
                        });
                    }
                }
            }
        }
        let all = self.conversations.iter().enumerate();
        let changed = all.filter(|(_, own)| own.has_changed());
        self.changed = changed.map(|(number, _)| number).collect();
        let mut equal: Vec<(usize, usize, (usize, usize))> = Vec::new();
        for (number, own) in self.conversations.iter().enumerate() {
            let answers = own.moves.iter().enumerate();
            equal.extend(answers.filter_map(|(place, answer)| {
                let (question, answer) = answer.equal?;
                Some((question, answer, (number, place)))
            }));
        }
        equal.sort_unstable();
        for (question, _, place) in equal {
            self.equal.entry(question).or_default().push(place);
        }
        let mut all = std::mem::take(&mut self.conversations);
        for answer in all.iter_mut().flat_map(|own| &mut own.moves) {
            answer.spoken = self.model_turn(answer);
        }
        self.conversations = all;
        self.group_openings(&[]);
    }

    /// Finds out how conversations begin, with what the masks match blanked.
    pub(super) fn group_openings(&mut self, masks: &[Regex]) {
        let conversations = self.conversations.iter();
        self.openings =
            Openings::from_conversations(conversations.map(|own| (own, turn_prefixes(own))), masks);
    }

    /// The calls of a conversation that were given an identifier, the last one first.
    pub(super) fn calls_with_id<'r>(
        &'r self,
        id: &str,
        conversation: usize,
    ) -> impl Iterator<Item = &'r CallPlace> {
        let places = self.call_ids.get(id).map_or(&[][..], Vec::as_slice);
        // They are in the order of their conversations.
        let own = places.partition_point(|place| place.conversation < conversation);
        let after = places.partition_point(|place| place.conversation <= conversation);
        let own = places[own..after].iter().rev();
        #[cfg(test)]
        let own = own.inspect(|_| super::matching::work::one());
        own
    }

    fn model_turn(&self, answer: &Answer) -> ModelTurn {
        let mut spoken = ModelTurn::from_parts(&self.names, &answer.said.parts);
        spoken.is_broken = answer.broken.is_some();
        if answer.is_bare {
            spoken.text.clear();
        }
        let parts = answer.said.parts.iter();
        let calls = parts.filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        });
        let own = answer.calls.iter().zip(calls);
        let own = own.filter(|(_, call)| call.native.is_none());
        for (call, (index, _)) in spoken.calls.iter_mut().zip(own) {
            call.index = Some(*index);
        }
        spoken
    }

    /// The answer that an identifier is of: its own, or that of an item which a client of Responses was given.
    pub(super) fn find_answer(&self, id: &str) -> Option<(usize, usize)> {
        let known = self.ids.get(id);
        known.or_else(|| self.ids.get(written_item(id)?.0)).copied()
    }

    /// What an item says that a request names by its identifier alone.
    pub(super) fn referenced_parts(&self, id: &str) -> Option<Vec<Part>> {
        let (conversation, answer) = self.find_answer(id)?;
        let said = &self.conversations[conversation].moves[answer].said;
        let mut rest = said.parts.as_slice();
        for item in &said.items {
            let (own, after) = rest.split_at(item.parts.min(rest.len()));
            if item.id == id {
                return Some(own.to_vec());
            }
            rest = after;
        }
        // The answer was made for another format.
        let (_, index) = written_item(id)?;
        parts_of_item(said, index)
    }
}
