//! Why a run ended, in the words of recordings.

/// How a run ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunEnd {
    /// The reason; none where the word is one of a model call, which says nothing of the run.
    pub reason: Option<String>,
    /// Whether the model refused to answer.
    pub refused: bool,
}

impl RunEnd {
    /// The end of a run for a reason.
    #[must_use]
    pub fn with_reason(reason: &str) -> Self {
        Self {
            reason: Some(reason.to_owned()),
            refused: false,
        }
    }
}

/// Reads how a run ended from the word that its last model call ended with.
#[must_use]
pub fn parse_end(word: &str) -> RunEnd {
    let known = match word.to_ascii_lowercase().as_str() {
        // A model call ended, not a run.
        "" | "tool_calls" | "tool-calls" | "tool_use" | "function_call" | "tool_call"
        | "pause_turn" | "compaction" => return RunEnd::default(),
        "stop" | "end_turn" | "stop_sequence" | "completed" | "end" => "completed",
        "length" | "max_tokens" | "max_output_tokens" | "token" | "token_limit" => "token_budget",
        "turn" | "message" | "max_steps" | "max_turns" | "max_iterations" => "turn_budget",
        "time" | "working" | "timeout" | "time_limit" => "time_budget",
        "refusal" | "content_filter" | "content-filter" | "safety" => {
            return RunEnd {
                refused: true,
                ..RunEnd::with_reason("completed")
            };
        }
        "model_context_window_exceeded" | "model_length" | "context" => "context_window",
        "cost" => "cost_budget",
        "aborted" | "interrupted" => "interrupted",
        "error" | "failed" => "error",
        _ => word,
    };
    RunEnd::with_reason(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_the_table_is_known_and_others_stay() {
        for (text, expected) in [
            ("stop", Some("completed")),
            ("max_output_tokens", Some("token_budget")),
            ("message", Some("turn_budget")),
            ("working", Some("time_budget")),
            ("content_filter", Some("completed")),
            ("model_length", Some("context_window")),
            ("tool_use", None),
            ("too_many_errors", Some("too_many_errors")),
        ] {
            assert_eq!(parse_end(text).reason.as_deref(), expected, "{text}");
        }
        assert!(parse_end("refusal").refused);
    }
}
