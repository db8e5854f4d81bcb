//! The keys of a recorded run, and those that were meant to be one of them.
//!
//! Keys that are not known stay allowed, since later versions and other recorders write their own.
//! A key that is nearly a known one, or the name that another format has for it, is a mistake: it
//! would be ignored in silence, and what it says would count as absent. A key that came to the format later was
//! no key when older files were written: what is nearly one of those is told, and refuses nothing.

use super::json::{Json, Object};

/// The keys of one kind of object.
pub(crate) struct Keys {
    /// In the order in which they are written down.
    pub(crate) known: &'static [&'static str],
    /// Those that came with a later minor version of the format, each with that.
    newer: &'static [(&'static str, u64)],
    /// Names that mean a known key wherever they stand.
    always: &'static [(&'static str, &'static str)],
    /// Names that mean a known key where that is absent.
    instead: &'static [(&'static str, &'static str)],
}

/// A table of kinds: the keys of each, and the names that mean one of them.
macro_rules! keys {
    ($($kind:ident {
        $($known:ident)+;
        $(since $minor:literal $($newer:ident)+;)?
        $(always $($slip:ident => $meant:ident),+;)?
        $(instead $($other:ident => $key:ident),+;)?
    })+) => {
        $(pub(crate) static $kind: Keys = Keys {
            known: &[$(stringify!($known),)+ $($(stringify!($newer)),+)?],
            newer: &[$($((stringify!($newer), $minor)),+)?],
            always: &[$($((stringify!($slip), stringify!($meant))),+)?],
            instead: &[$($((stringify!($other), stringify!($key))),+)?],
        };)+

        static ALL: &[&Keys] = &[$(&$kind),+];
    };
}

keys! {
    RUN {
        schema_version agent_name model recorded_at tools_fingerprint temperature max_tokens system_prompt
        user_prompt trace signals outcome request_fingerprint tools;
        since 1 session captured recorded_on chosen;
        instead prompt => user_prompt, system => system_prompt;
    }
    TOOL {
        name server line read_only;
        since 1 description input_schema annotations;
        instead tool => name, tool_name => name, server_name => server, readOnlyHint => read_only;
    }
    TRACE {
        tool_calls tool_results final_response conversation;
        since 1 scores;
        instead calls => tool_calls, results => tool_results, response => final_response,
            final_answer => final_response, final_message => final_response;
    }
    SCORE {
        name value passed by note;
        instead score => value, judge => by, evaluator => by, source => by, comment => note, reason => note,
            explanation => note, success => passed, pass => passed;
    }
    CALL {
        name server args step hop_index caller agent_id inputs_digest;
        since 1 own;
        always arguments => args, parameters => args, steps => step;
        instead params => args, input => args, inputs => args, tool => name, tool_name => name,
            server_name => server;
    }
    OWN {
        args result attempts by left;
    }
    ATTEMPT {
        args result error synthesized;
    }
    RESULT {
        call_index server is_error synthesized result;
        since 1 duration_ms;
        instead error => is_error, failed => is_error, content => result, output => result,
            structuredContent => result, server_name => server;
    }
    SYNTHESIZED {
        fault kind;
        instead name => fault;
    }
    CONVERSATION {
        stop_reason tokens duration_ms message_count turns per_turn steps refused;
        always step => steps, turn => turns;
        instead usage => tokens, finish_reason => stop_reason;
    }
    TOKENS {
        prompt completion total;
        since 1 cached reasoning;
        instead prompt_tokens => prompt, input_tokens => prompt, input => prompt,
            completion_tokens => completion, output_tokens => completion, output => completion,
            total_tokens => total;
    }
    TURN {
        role content;
        instead text => content;
    }
    PER_TURN {
        calls response signals;
        instead final_response => response, tool_calls => calls;
    }
    OUTCOME {
        passed reward;
        instead success => passed, pass => passed;
    }
}

/// The tokens of one model call.
pub(super) static STEP: Keys = Keys {
    known: &[
        "prompt",
        "completion",
        "total",
        "cached",
        "reasoning",
        "duration_ms",
        "model",
    ],
    newer: &[
        ("total", 1),
        ("cached", 1),
        ("reasoning", 1),
        ("duration_ms", 1),
        ("model", 1),
    ],
    ..TOKENS
};

impl Keys {
    /// The keys of a map that were meant to be a known one, each with that one and the minor version of the
    /// format that it came with.
    pub(super) fn meant<'a>(
        &'static self,
        map: &'a Object<'_>,
    ) -> impl Iterator<Item = (&'a str, &'static str, u64)> {
        let unknown = map.iter();
        let unknown = unknown.filter(|(key, _)| !self.known.contains(key));
        unknown.filter_map(|(key, value)| {
            let named = |names: &[(&'static str, &'static str)]| {
                let mut pairs = names.iter();
                pairs.find_map(|(name, known)| (*name == key).then_some(*known))
            };
            let absent =
                |known: &&str| !value.is_null() && map.get(known).is_none_or(Json::is_null);
            let meant = named(self.always)
                .or_else(|| named(self.instead).filter(absent))
                .or_else(|| self.near(key))?;
            let newer = self.newer.iter().find(|(newer, _)| *newer == meant);
            Some((key, meant, newer.map_or(0, |(_, since)| *since)))
        })
    }

    /// The known key that this one is a slip of.
    fn near(&self, key: &str) -> Option<&'static str> {
        // What another kind of object has is a key of its own.
        let elsewhere = ALL.iter().any(|keys| keys.known.contains(&key));
        let folded = fold(key);
        let mut near = self.known.iter().copied().filter(|known| {
            let known = fold(known);
            let slips = if known.chars().count() < 12 { 1 } else { 2 };
            known == folded
                || (!elsewhere
                    && known.chars().count() > 3
                    && strsim::osa_distance(&known, &folded) <= slips)
        });
        near.next()
    }
}

/// Case, `_` and `-` are no differences: `isError` is `is_error`.
fn fold(key: &str) -> String {
    let letters = key.chars().filter(|letter| !matches!(letter, '_' | '-'));
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn meant(keys: &'static Keys, value: &Value) -> Vec<(String, &'static str)> {
        let Json::Object(map) = Json::of(value) else {
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
        let told = |keys: &Keys| -> Vec<(String, &str)> {
            let is_trace = keys.known.contains(&"scores");
            let is_score = keys.known.contains(&"note");
            let pair = |key: &str, known| (key.to_owned(), known);
            match (is_trace, is_score) {
                (true, _) => vec![pair("score", "scores")],
                (_, true) => vec![pair("score", "value")],
                _ => Vec::new(),
            }
        };
        for keys in ALL {
            assert_eq!(meant(keys, &own), told(keys));
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
