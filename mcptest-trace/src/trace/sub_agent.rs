//! The calls of one sub-agent alone.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{Conversation, ToolCall, Trace};

impl Trace {
    /// The sub-agents that called tools (`agent_id` of the calls), in the order of their first calls.
    ///
    /// ```
    /// use mcptest_trace::trace::Trace;
    /// use serde_json::json;
    ///
    /// let trace = Trace::from_envelope(&json!({ "tool_calls": [
    ///     { "name": "plan" },
    ///     { "name": "search", "agent_id": "researcher" },
    ///     { "name": "write", "agent_id": "writer" },
    ///     { "name": "read", "agent_id": "researcher" },
    /// ] }));
    /// assert_eq!(trace.sub_agents(), ["researcher", "writer"]);
    /// let own = trace.for_sub_agent("researcher");
    /// assert_eq!(own.tool_calls.iter().map(|call| &*call.name).collect::<Vec<_>>(), ["search", "read"]);
    /// ```
    #[must_use]
    pub fn sub_agents(&self) -> Vec<&str> {
        let mut known = HashSet::new();
        let named = self.tool_calls.iter();
        let agents = named.filter_map(|call| call.agent_id.as_deref());
        agents.filter(|agent| known.insert(*agent)).collect()
    }

    /// The calls of a sub-agent with their results, and nothing else: turns, tokens, times and the closing are
    /// those of the whole run, and are not known of a part of it.
    #[must_use]
    pub fn for_sub_agent(&self, agent_id: &str) -> Self {
        let is_own = |call: &ToolCall| call.agent_id.as_deref() == Some(agent_id);
        let calls = self.tool_calls.iter().enumerate();
        let (places, tool_calls): (Vec<usize>, Vec<ToolCall>) = calls
            .filter(|(_, call)| is_own(call))
            .map(|(place, call)| (place, call.clone()))
            .unzip();
        // Where the run tells errors, a result without a flag is none, as in the whole run.
        let known = self.errors_unknown() == 0;
        let results = self.tool_results.iter().filter_map(|result| {
            let call_index = places.binary_search(&result.call_index).ok()?;
            let mut result = result.clone();
            result.call_index = call_index;
            result.error_known |= known;
            Some(result)
        });
        Self {
            tool_results: results.collect(),
            tool_calls,
            conversation: Conversation::default(),
            flags_are_partial: self.flags_are_partial,
            ..Self::default()
        }
    }
}

/// The sub-agents as targets see them, each with its calls; nothing where there is none.
pub(super) fn targets(trace: &Trace) -> Option<Value> {
    let agents = trace.sub_agents();
    let each = agents.iter().map(|agent| {
        let own = trace.for_sub_agent(agent);
        json!({
            "agent_id": agent,
            "tool_names": tool_names(&own),
            "successful_tool_names": successful_tool_names(&own),
            "tool_calls": own.tool_calls,
        })
    });
    (!agents.is_empty()).then(|| each.collect())
}

/// The names of the calls.
pub(super) fn tool_names(trace: &Trace) -> Value {
    trace
        .tool_calls
        .iter()
        .map(|call| json!(call.name))
        .collect()
}

/// The names of the calls with a result that is no error.
pub(super) fn successful_tool_names(trace: &Trace) -> Value {
    let calls = trace.tool_calls.iter().zip(trace.results_by_call());
    let successful = calls.filter(|(_, result)| result.is_some_and(|it| !it.is_error));
    successful.map(|(call, _)| json!(call.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Origin, Run, parse_run};

    fn run() -> Run {
        let text = json!({
            "schema_version": "v1", "model": "m", "user_prompt": "Do it.",
            "trace": {
                "tool_calls": [
                    { "name": "plan", "step": 0 },
                    { "name": "search", "agent_id": "a", "args": { "q": 1 } },
                    { "name": "write", "agent_id": "b" },
                    { "name": "read", "agent_id": "a" },
                ],
                "tool_results": [
                    { "call_index": 3, "result": "page" },
                    { "call_index": 1, "is_error": true, "result": "no", "duration_ms": 7 },
                    { "call_index": 2, "result": "ok" },
                    { "call_index": 0, "result": "ok" },
                ],
                "final_response": "Done.",
                "scores": [{ "name": "helpful", "value": 1, "by": "ann" }],
                "conversation": { "steps": [{ "prompt": 5, "completion": 5 }], "duration_ms": 90 },
            },
        });
        parse_run(text.to_string().as_bytes(), &Origin::file("run.json")).unwrap()
    }

    #[test]
    fn a_part_of_a_run_has_its_own_calls_and_results_and_nothing_of_the_whole() {
        let own = run().for_sub_agent("a");
        let trace = &own.trace;
        let results = trace.results_by_call();
        let errors: Vec<_> = results.iter().map(|it| it.unwrap().is_error).collect();
        assert_eq!(errors, [true, false]);
        assert_eq!(results[0].unwrap().duration_ms, Some(7));
        assert_eq!(trace.errors_unknown(), 0);
        assert_eq!(
            (trace.closing(), trace.tokens_taken(), trace.model_calls()),
            (None, None, 0)
        );
        assert_eq!(trace.conversation, Conversation::default());
        assert!(trace.scores.is_empty());
        assert_eq!(own.envelope()["tool_names"], json!(["search", "read"]));
        assert!(run().for_sub_agent("c").trace.tool_calls.is_empty());
    }

    #[test]
    fn a_flag_that_nobody_knows_is_not_known_of_a_part_either() {
        let trace = Trace::from_envelope(&json!({
            "tool_calls": [{ "name": "x" }, { "name": "y", "agent_id": "a" }],
            "tool_results": [{ "call_index": 0, "result": "" }, { "call_index": 1, "result": "" }],
        }));
        assert_eq!(trace.for_sub_agent("a").errors_unknown(), 1);
    }

    #[test]
    fn targets_have_each_sub_agent_where_there_is_one() {
        let run = run();
        let agents = &run.envelope()["agents"];
        assert_eq!(agents[0]["agent_id"], "a");
        assert_eq!(agents[0]["tool_names"], json!(["search", "read"]));
        assert_eq!(agents[0]["successful_tool_names"], json!(["read"]));
        assert_eq!(agents[0]["tool_calls"][0]["args"], json!({ "q": 1 }));
        assert_eq!(agents[1]["tool_names"], json!(["write"]));
        let text = br#"{ "schema_version": "v1", "model": "m", "user_prompt": "p", "trace": { "tool_calls": [] } }"#;
        let alone = parse_run(text, &Origin::file("run.json")).unwrap();
        assert_eq!(alone.envelope().get("agents"), None);
    }
}
