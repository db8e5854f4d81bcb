//! A past that the agent wrote itself, beside the one that it had written when the run was recorded.

use mcptest_trace::eval::{Divergence, DivergenceKind};
use serde_json::{Value, json};

use super::Comparison;
use crate::play::matching::{blank_masked, texts_match, values_match};
use crate::record::{Message, digest_by_value, inserted_text, read_messages, without_label};

impl Comparison<'_> {
    /// What the past says otherwise.
    pub(super) fn compare_past(&self, found: &mut Vec<Divergence>) {
        if !self.reading.is_past {
            return;
        }
        let played = read_messages(&self.asked.items);
        let Some(recorded) = &self.recorded().told else {
            self.compare_digest(&played, found);
            return;
        };
        let differs = |old: Option<&Message>, new: Option<&Message>, place: usize| match (old, new)
        {
            (Some(old), Some(new)) => self.differs(old, new, place),
            _ => true,
        };
        let (old, new) = (recorded.len(), played.len());
        let both = old.min(new);
        let begin =
            (0..both).take_while(|at| !differs(Some(&recorded[*at]), Some(&played[*at]), *at));
        let begin = begin.count();
        // Where there are more messages or fewer, those after them are the same.
        let end = (1..=both - begin).take_while(|back| {
            old != new
                && !differs(
                    Some(&recorded[old - back]),
                    Some(&played[new - back]),
                    old - back,
                )
        });
        let end = end.count();
        // Results of the last answer are compared as all results are.
        let is_of_model = |one: &Message| one.role == "assistant" || one.role == "call";
        let last = played.iter().rposition(is_of_model);
        for at in begin..old.max(new) - end {
            let one = recorded[..old - end].get(at).map(|one| &**one);
            let other = played[..new - end].get(at);
            let is_last =
                other.is_some_and(|it| it.role == "result") && last.is_none_or(|last| at > last);
            if differs(one, other, at) && !(is_last && one.is_some()) {
                self.note_message(one, other, at, found);
            }
        }
    }

    /// What kind of difference another message is, and its item in a path.
    fn kind(&self, told: &Message, place: usize) -> (DivergenceKind, String) {
        let kind = match (told.role.as_str(), told.of) {
            (_, Some(call)) => return (DivergenceKind::ToolResults, call.to_string()),
            ("assistant" | "call", _) => DivergenceKind::AssistantTurns,
            ("result", _) => DivergenceKind::ToolResults,
            // What the user says is ignored, and the past in the same text tells results.
            _ if self.scratchpad(told).is_some() => DivergenceKind::ToolResults,
            _ => DivergenceKind::UserTurns,
        };
        (kind, format!("past_{place}"))
    }

    /// The past that a message of the user tells after what the conversation began with, and what stands after it; where the
    /// user's own words are ignored.
    fn scratchpad<'t>(&self, told: &'t Message) -> Option<(&'t str, &'t str)> {
        let is_ignored = self
            .options
            .compared
            .ignore
            .contains(&DivergenceKind::UserTurns);
        let text = told
            .value
            .as_str()
            .filter(|_| is_ignored && told.role == "user")?;
        let pad = inserted_text(self.own().opening.as_deref()?, text)?;
        (told.of.is_none() && !pad.0.trim().is_empty()).then_some(pad)
    }

    /// Whether a text tells the same past after words of the user.
    fn has_scratchpad(&self, (pad, rest): (&str, &str), text: &str) -> bool {
        let text = text.strip_suffix(rest).unwrap_or(text).trim_end();
        let pad = pad.trim();
        let lines = text.match_indices('\n').map(|(end, _)| end + 1);
        let begin = pad.lines().next().unwrap_or_default();
        let begins = text.match_indices(begin).map(|(at, _)| at);
        let mut all = std::iter::once(0).chain(lines).chain(begins);
        all.any(|at| texts_match(pad, text[at..].trim_start(), &self.options.masks))
    }

    /// The call whose result a message tells that the recording has once, and the code sends again.
    fn find_sent_again(&self, new: &Message) -> Option<usize> {
        let mut recorded = self.recorded().told.iter().flatten();
        let text = new.value.as_str()?;
        recorded.find_map(|old| {
            let value = old.value.as_str().filter(|_| old.role == new.role)?;
            old.of
                .filter(|_| texts_match(value, text, &self.options.masks))
        })
    }

    fn differs(&self, old: &Message, new: &Message, place: usize) -> bool {
        let (kind, item) = self.kind(old, place);
        let masks = &self.options.masks;
        if self.is_ignored(kind, &item) {
            return false;
        }
        if old.role != new.role {
            return true;
        }
        if let (Some(pad), Some(text)) = (self.scratchpad(old), new.value.as_str()) {
            return !self.has_scratchpad(pad, text);
        }
        match (old.value.as_str(), new.value.as_str()) {
            (Some(one), Some(other)) if texts_match(one, other, masks) => false,
            (Some(one), Some(other)) if old.of.is_some() => {
                let [one, other] = [one, other].map(|text| Value::from(without_label(text)));
                !self.compare_forms(&item, &one, &other).2
            }
            (Some(one), Some(other)) => {
                let [one, other] = [one, other]
                    .map(|text| self.without_ignored(kind, &item, &json!({ "text": text })));
                !values_match(&one, &other, masks)
            }
            _ if kind == DivergenceKind::ToolResults => {
                !self.compare_forms(&item, &old.value, &new.value).2
            }
            _ => {
                let [one, other] = [old, new].map(|told| {
                    self.without_ignored(kind, &item, &json!({ "calls": [told.value] }))
                });
                !values_match(&one, &other, masks)
            }
        }
    }

    fn note_message(
        &self,
        old: Option<&Message>,
        new: Option<&Message>,
        place: usize,
        found: &mut Vec<Divergence>,
    ) {
        let Some(known) = old.or(new) else { return };
        if let Some(call) = new
            .filter(|_| old.is_none())
            .and_then(|new| self.find_sent_again(new))
        {
            self.note_sent_again(call, known, found);
            return;
        }
        let (kind, item) = self.kind(known, place);
        let tool = known.of.and_then(|call| self.recording.calls.get(call));
        let who = match (tool, kind) {
            (Some(call), _) => format!("the result of `{}`", call.name),
            (None, DivergenceKind::AssistantTurns) => "an earlier message of the model".to_owned(),
            (None, DivergenceKind::ToolResults) => "an earlier result".to_owned(),
            (None, _) => "an earlier message of the user".to_owned(),
        };
        let message = match (old, new) {
            (Some(_), Some(_)) => format!("{who} differs"),
            (Some(_), None) => format!("{who} is missing"),
            _ => format!("{who} was not recorded"),
        };
        let value = |told: Option<&Message>| told.map(|told| told.value.clone());
        found.push(
            self.divergence(kind, format!("{}[{item}]", kind.as_str()), message)
                .with_values(value(old), value(new))
                .with_place(
                    tool.and(known.of)
                        .map(|call| format!("trace.tool_calls[{call}]")),
                ),
        );
    }

    fn note_sent_again(&self, call: usize, told: &Message, found: &mut Vec<Divergence>) {
        let item = call.to_string();
        if self.is_ignored(DivergenceKind::ToolResults, &item) {
            return;
        }
        let tool = self.recording.calls.get(call).map(|call| &call.name);
        let message = format!(
            "the result of `{}` is sent to the model twice",
            tool.map_or("", String::as_str)
        );
        let path = format!("tool_results[{item}].again");
        found.push(
            self.divergence(DivergenceKind::ToolResults, path, message)
                .with_values(None, Some(told.value.clone()))
                .with_place(Some(format!("trace.tool_calls[{call}]"))),
        );
    }

    /// An older recording has only a digest of such a past. It says nothing where something is left out of the comparison, or
    /// where another format names things otherwise.
    fn compare_digest(&self, played: &[Message], found: &mut Vec<Divergence>) {
        let Some(digest) = &self.recorded().talk else {
            return;
        };
        let compared = &self.options.compared;
        let is_of_talk = |kind: &DivergenceKind| {
            use DivergenceKind::{AssistantTurns, ToolResults, UserTurns};
            [AssistantTurns, ToolResults, UserTurns].contains(kind)
        };
        // A text without anything to blank is the recorded one only to the letter.
        let is_blanked = played.iter().any(|told| {
            let text = told.value.to_string();
            blank_masked(&text, &self.options.masks) != text
        });
        let is_whole = !is_blanked
            && compared.ignore_paths.is_empty()
            && !compared.ignore.iter().any(is_of_talk)
            && self.same_format();
        if is_whole && found.is_empty() && *digest != digest_by_value(&self.asked.items) {
            let message = "the earlier messages differ from the recorded ones; the recorded agent had changed its own \
                           history, and this recording has no text of it, so the exact difference is not known: record again to \
                           see it"
                .to_owned();
            let path = format!("assistant_turns[past_{}]", self.answer);
            found.push(self.divergence(DivergenceKind::AssistantTurns, path, message));
        }
    }
}
