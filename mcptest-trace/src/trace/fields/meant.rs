//! Keys that were meant to be a known one.
//!
//! Keys that are not known stay allowed, since later versions and other recorders write their own.
//! A key that is nearly a known one, or the name that another format has for it, is a mistake: it
//! would be ignored in silence, and what it says would count as absent. A key that came to the format later was
//! no key when older files were written: what is nearly one of those is told, and refuses nothing.

use super::{Fields, RUN};
use crate::trace::json::{Json, Object};

impl Fields {
    /// The keys of a map that were meant to be a known one, each with that one and the minor version of the
    /// format that it came with.
    pub(in crate::trace) fn meant<'a>(
        &'static self,
        map: &'a Object<'_>,
    ) -> impl Iterator<Item = (&'a str, &'static str, u64)> {
        let unknown = map.iter().filter(|(key, _)| !self.has(key));
        unknown.filter_map(|(key, value)| {
            let named = |names: &[(&'static str, &'static str)]| {
                let mut pairs = names.iter();
                pairs.find_map(|(name, known)| (*name == key).then_some(*known))
            };
            let absent =
                |known: &&str| !value.is_null() && map.get(known).is_none_or(Json::is_null);
            let meant = named(self.always)
                .or_else(|| named(self.instead).filter(absent))
                .or_else(|| self.nearest(key))?;
            Some((key, meant, self.get(meant).map_or(0, |field| field.since)))
        })
    }

    /// Whether the format has this key.
    fn has(&self, key: &str) -> bool {
        self.get(key).is_some_and(|field| field.is_described)
    }

    /// Whether the format has this key here or further inside.
    fn has_inside(&self, key: &str) -> bool {
        let described = self.all.iter().filter(|field| field.is_described);
        let mut inner = described.filter_map(|field| field.takes.inner());
        self.has(key) || inner.any(|inner| !inner.is_hidden && inner.has_inside(key))
    }

    /// The known key that this one is a slip of.
    fn nearest(&self, key: &str) -> Option<&'static str> {
        // What another kind of object has is a key of its own.
        let elsewhere = RUN.has_inside(key);
        let folded = fold(key);
        self.keys().find(|known| {
            let known = fold(known);
            let slips = if known.chars().count() < 12 { 1 } else { 2 };
            known == folded
                || (!elsewhere
                    && known.chars().count() > 3
                    && strsim::osa_distance(&known, &folded) <= slips)
        })
    }
}

/// Case, `_` and `-` are no differences: `isError` is `is_error`.
fn fold(key: &str) -> String {
    let letters = key.chars().filter(|letter| !matches!(letter, '_' | '-'));
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{
        ATTEMPT, CALL, CONVERSATION, OUTCOME, OWN, PER_TURN, RESULT, SCORE, STEP, SYNTHESIZED,
        TOKENS, TOOL, TRACE, TURN,
    };
    use super::*;
    use serde_json::{Value, json};

    fn meant(keys: &'static Fields, value: &Value) -> Vec<(String, &'static str)> {
        let Json::Object(map) = Json::from_value(value) else {
            panic!("no object");
        };
        keys.meant(&map)
            .map(|(key, known, _)| (key.to_owned(), known))
            .collect()
    }

    #[test]
    fn slips_and_other_names_are_seen() {
        for (keys, key, known) in [
            (&RESULT, "isError", "is_error"),
            (&RESULT, "is_eror", "is_error"),
            (&RESULT, "error", "is_error"),
            (&RESULT, "content", "result"),
            (&TRACE, "final_respons", "final_response"),
            (&TRACE, "toolCalls", "tool_calls"),
            (&CALL, "arguments", "args"),
            (&CALL, "arg", "args"),
            (&CALL, "input", "args"),
            (&TOKENS, "prompt_tokens", "prompt"),
            (&STEP, "output_tokens", "completion"),
            (&CONVERSATION, "stopReason", "stop_reason"),
            (&CONVERSATION, "step", "steps"),
            (&RUN, "agent-name", "agent_name"),
            (&RUN, "recorded_a", "recorded_at"),
            (&OUTCOME, "rewards", "reward"),
            (&TURN, "roles", "role"),
            (&PER_TURN, "respnse", "response"),
        ] {
            assert_eq!(meant(keys, &json!({ key: 1 })), [(key.to_owned(), known)]);
        }
    }

    #[test]
    fn keys_of_their_own_are_left_alone() {
        let own = json!({ "id": 1, "note": 1, "kind_of": 1, "duration_ms": 1, "cost": 1, "cached": 1,
            "started_at": 1, "messages": 1, "type": 1, "provider": 1, "tool_call_id": 1, "score": 1,
            "reason": 1, "seed": 1, "task": 1, "trial": 1, "reasoning": 1, "cached_tokens": 1,
            "version": 1, "_meta": 1, "x-own": 1, "why": 1, "custom": 1, "thinking": 1 });
        // What is nearly a key that came later is told.
        let told = |keys: &Fields| -> Vec<(String, &str)> {
            let (is_trace, is_score) = (keys.has("scores"), keys.has("note"));
            let pair = |key: &str, known| (key.to_owned(), known);
            match (is_trace, is_score) {
                (true, _) => vec![pair("score", "scores")],
                (_, true) => vec![pair("score", "value")],
                _ => Vec::new(),
            }
        };
        for fields in [
            &RUN,
            &TOOL,
            &TRACE,
            &SCORE,
            &CALL,
            &OWN,
            &ATTEMPT,
            &RESULT,
            &SYNTHESIZED,
            &CONVERSATION,
            &TOKENS,
            &TURN,
            &PER_TURN,
            &OUTCOME,
        ] {
            assert_eq!(meant(fields, &own), told(fields));
        }
        // Beside the key that it could have meant, another name says something of its own.
        let beside = json!({ "call_index": 0, "is_error": true, "error": "late", "result": {}, "content": [] });
        assert_eq!(meant(&RESULT, &beside), []);
        assert_eq!(
            meant(&RESULT, &json!({ "is_error": false, "isError": true })).len(),
            1
        );
    }
}
