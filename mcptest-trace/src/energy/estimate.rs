//! Tokens and responses of each model call of a recorded run; estimated where they were not
//! recorded.

use serde::Serialize;
use serde_json::Value;

use super::status::Step;
use crate::trace::responses::exchanges;
use crate::trace::{StepTokens, Trace};

/// Characters a token takes, as a rule of thumb.
const CHARACTERS_PER_TOKEN: u64 = 4;

/// Tokens of each model call of a run, and whether they were recorded.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunSteps {
    /// One entry a model call.
    pub tokens: Vec<StepTokens>,
    /// Whether the counts are an estimate; reports say so.
    pub estimated: bool,
}

impl RunSteps {
    /// Counts of the caller's own, one entry a model call.
    #[must_use]
    pub fn new(tokens: Vec<StepTokens>) -> Self {
        Self {
            tokens,
            estimated: false,
        }
    }

    /// The recorded `conversation.steps`; `None` when there are none, or one does not say what it took.
    #[must_use]
    pub fn recorded(trace: &Trace) -> Option<Self> {
        let tokens = &trace.conversation.steps;
        let told = tokens.iter().all(|step| step.total().is_some());
        (told && !tokens.is_empty()).then(|| Self::new(tokens.clone()))
    }

    /// Estimates the steps from the contents of the turns: 4 characters a token, rounded up, each
    /// call sent everything that was said before it.
    ///
    /// An assistant turn is a model call, together with the `tool_use` turns right after it: one
    /// response can hold text and several tool calls. Where the calls carry `step`, `tool_use` turns
    /// of different steps are calls of their own. Where the results of tools are no turns, as our own recorder
    /// writes runs, each result counts behind its call. The system prompt is not part of the turns, so it is not
    /// counted.
    ///
    /// ```
    /// use mcptest_trace::energy::RunSteps;
    /// use mcptest_trace::trace::{StepTokens, Trace};
    /// use serde_json::json;
    ///
    /// let trace = Trace::from_envelope(&json!({ "conversation": { "turns": [
    ///     { "role": "user", "content": "Cancel it." },                // 10 characters
    ///     { "role": "assistant", "content": "Which booking?" },       // 14
    ///     { "role": "user", "content": "ABC" },                       // 3
    ///     { "role": "assistant", "content": "Done." },                // 5
    /// ] } }));
    /// let steps = RunSteps::estimated(&trace);
    /// assert!(steps.estimated);
    /// assert_eq!(steps.tokens, [StepTokens::new(3, 4), StepTokens::new(7, 2)]);
    /// ```
    #[must_use]
    pub fn estimated(trace: &Trace) -> Self {
        let mut tokens = Vec::new();
        let mut context = 0_u64;
        let results = trace.results_by_call();
        let mut turns = trace.conversation.turns.iter();
        let no_results = !turns.any(|turn| turn.role == "tool");
        for exchange in exchanges(trace) {
            let turns = exchange.turns.iter();
            let said = turns.map(|turn| turn.content.chars().count() as u64);
            let characters = said.fold(0, u64::saturating_add);
            // What was called without a turn that says so.
            let written = exchange
                .turns
                .iter()
                .filter(|turn| turn.is_tool_use())
                .count();
            let calls = exchange.calls.iter().skip(written);
            let calls = calls.map(|call| &trace.tool_calls[*call]);
            let called = calls.map(|call| count_characters(&call.args) + call.name.len() as u64);
            let characters = called.fold(characters, u64::saturating_add);
            if exchange.is_model_call() {
                tokens.push(StepTokens::new(
                    context.div_ceil(CHARACTERS_PER_TOKEN),
                    characters.div_ceil(CHARACTERS_PER_TOKEN),
                ));
            }
            let returned = exchange.calls.iter().filter_map(|call| results[*call]);
            let returned = returned.map(|result| count_characters(&result.result));
            let returned = returned.filter(|_| no_results).fold(0, u64::saturating_add);
            context = context.saturating_add(characters).saturating_add(returned);
        }
        Self {
            tokens,
            estimated: true,
        }
    }

    /// The recorded steps, or else the estimated ones.
    #[must_use]
    pub fn recorded_or_estimated(trace: &Trace) -> Self {
        Self::recorded(trace).unwrap_or_else(|| Self::estimated(trace))
    }

    /// What a monitor is told of each step, without errors and drift.
    #[must_use]
    pub fn steps(&self) -> Vec<Step> {
        let totals = self.tokens.iter();
        let totals = totals.map(|tokens| tokens.total().unwrap_or_default());
        totals.map(Step::new).collect()
    }
}

/// Characters of what a call was told or returned, as a model reads it.
fn count_characters(value: &Value) -> u64 {
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    text.chars().count() as u64
}

/// What the model said in each of its calls, in order; `None` for a call that only used tools.
/// Calls are told apart as in [`RunSteps::estimated`], and by the number of `steps`. Where `steps`
/// are recorded and tool calls name theirs, what was said stands at its own step.
#[must_use]
pub fn responses(trace: &Trace) -> Vec<Option<&str>> {
    let steps = trace.conversation.steps.len();
    let mut said = Vec::new();
    for exchange in exchanges(trace) {
        if !exchange.is_model_call() {
            continue;
        }
        let step = exchange
            .step
            .filter(|step| (said.len()..steps).contains(step));
        if let Some(step) = step {
            said.resize(step, None);
        }
        let first = exchange.turns.first().filter(|turn| !turn.is_tool_use());
        said.push(first.map(|turn| turn.content.as_str()));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn trace(turns: &[(&str, &str)]) -> Trace {
        let turns: Vec<_> = turns
            .iter()
            .map(|(role, content)| json!({ "role": role, "content": content }))
            .collect();
        Trace::from_envelope(&json!({ "conversation": { "turns": turns } }))
    }

    #[test]
    fn parallel_tool_use_is_one_call_with_the_text_before_it() {
        let trace = trace(&[
            ("user", "12345678"),
            ("assistant", "tool_use a::b with {}"),
            ("assistant", "tool_use a::c with {}"),
            ("tool", "1234"),
            ("tool", "1234"),
            ("assistant", "wait"),
            ("assistant", "tool_use a::d with {}"),
            ("assistant", "done"),
        ]);
        let steps = RunSteps::estimated(&trace);
        let pairs: Vec<_> = steps
            .tokens
            .iter()
            .map(|step| (step.prompt.unwrap(), step.completion.unwrap()))
            .collect();
        // 42 characters of tool use; 8 + 42 + 8 before the second call, 25 more before the third.
        assert_eq!(pairs, [(2, 11), (15, 7), (21, 1)]);
        assert_eq!(responses(&trace), [None, Some("wait"), Some("done")]);
    }

    #[test]
    fn a_run_without_turns_has_no_steps() {
        let trace = trace(&[]);
        assert_eq!(RunSteps::recorded(&trace), None);
        assert_eq!(RunSteps::recorded_or_estimated(&trace).tokens, []);
        assert!(responses(&trace).is_empty());
    }

    #[test]
    fn characters_are_counted_and_not_bytes() {
        let steps = RunSteps::estimated(&trace(&[("user", "東京東京"), ("assistant", "äöüß")]));
        assert_eq!(steps.steps(), [Step::new(2)]);
    }

    #[test]
    fn recorded_steps_are_used_as_they_are() {
        let envelope = json!({ "conversation": { "steps": [{ "prompt": u64::MAX, "completion": 2 }, { "prompt": 0, "completion": 0 }] } });
        let steps = RunSteps::recorded_or_estimated(&Trace::from_envelope(&envelope));
        assert!(!steps.estimated);
        assert_eq!(steps.steps(), [Step::new(u64::MAX), Step::new(0)]);
        let untold = json!({ "conversation": { "steps": [{ "prompt": 7 }, {}] } });
        assert_eq!(RunSteps::recorded(&Trace::from_envelope(&untold)), None);
    }

    /// Three calls one after the other, without a turn for their results.
    fn spiral(step: impl Fn(u64) -> serde_json::Value, steps: usize) -> Trace {
        let turn = |content: &str| json!({ "role": "assistant", "content": content });
        Trace::from_envelope(&json!({
            "tool_calls": [
                { "name": "b", "step": step(0) },
                { "name": "b", "step": step(1) },
                { "name": "b", "step": step(2) },
            ],
            "conversation": {
                "turns": [
                    turn("tool_use a::b with {}"),
                    turn("tool_use a::b with {}"),
                    turn("tool_use a::b with {}"),
                    turn("done"),
                ],
                "steps": vec![json!({ "prompt": 9 }); steps],
            },
        }))
    }

    #[test]
    fn a_spiral_of_tool_calls_is_as_many_steps_as_the_calls_say() {
        let run = spiral(serde_json::Value::from, 0);
        assert_eq!(RunSteps::estimated(&run).tokens.len(), 4);
        assert_eq!(
            RunSteps::estimated(&spiral(|_| json!(null), 0))
                .tokens
                .len(),
            2
        );
    }

    /// Seven searches, one after the other, each of which returns much; as our own recorder writes them, or with fewer
    /// turns.
    fn searches(turns: usize) -> Trace {
        let turn = |content: String| json!({ "role": "assistant", "content": content });
        let called = |at: usize| turn(format!("tool_use web::search with {{\"page\":{at}}}"));
        let calls =
            (0..7).map(|at| json!({ "name": "search", "args": { "page": at }, "step": at }));
        let results = (0..7).map(|at| json!({ "call_index": at, "result": "x".repeat(8_000) }));
        let turns = (0..turns).map(called).chain([turn("done".to_owned())]);
        Trace::from_envelope(&json!({
            "tool_calls": calls.collect::<Vec<_>>(),
            "tool_results": results.collect::<Vec<_>>(),
            "conversation": { "turns": turns.collect::<Vec<_>>() },
        }))
    }

    #[test]
    fn a_spiral_whose_results_are_no_turns_trips() {
        use crate::energy::{GuardOptions, analyse};
        for turns in [7, 3, 0] {
            let steps = RunSteps::estimated(&searches(turns));
            assert_eq!(steps.tokens.len(), 8, "{turns}");
            let grown = steps.tokens.windows(2).take(7);
            let mut grown = grown.map(|pair| pair[1].prompt.unwrap() - pair[0].prompt.unwrap());
            assert!(
                grown.all(|more| (2_000..2_020).contains(&more)),
                "{steps:?}"
            );
            let analysis = analyse(&steps, GuardOptions::default(), None).unwrap();
            assert!(analysis.tripped, "{turns}: {analysis:?}");
        }
    }

    #[test]
    fn a_result_that_is_a_turn_counts_once() {
        let turns = json!([
            { "role": "assistant", "content": "tool_use a" }, { "role": "tool", "content": "12345678" },
            { "role": "assistant", "content": "done" },
        ]);
        let run = json!({
            "tool_calls": [{ "name": "a", "step": 0 }],
            "tool_results": [{ "call_index": 0, "result": "12345678" }],
            "conversation": { "turns": turns },
        });
        let steps = RunSteps::estimated(&Trace::from_envelope(&run)).tokens;
        assert_eq!(steps[1].prompt, Some(5));
    }

    #[test]
    fn what_was_said_stands_at_its_own_step() {
        let last = |run: &Trace| responses(run).iter().position(Option::is_some);
        assert_eq!(last(&spiral(serde_json::Value::from, 4)), Some(3));
        assert_eq!(last(&spiral(|_| json!(null), 4)), Some(3));
        assert_eq!(last(&spiral(|_| json!(null), 2)), Some(1));
        // Steps that left no turn.
        assert_eq!(last(&spiral(|step| (2 * step).into(), 6)), Some(5));
    }

    proptest! {
        #[test]
        fn prompts_never_shrink_and_calls_match_responses(
            turns in prop::collection::vec(
                (prop::sample::select(vec!["user", "assistant", "tool", ""]), "(tool_use )?.{0,20}"),
                0..20,
            ),
        ) {
            let turns: Vec<_> = turns.iter().map(|(role, content)| (*role, content.as_str())).collect();
            let trace = trace(&turns);
            let steps = RunSteps::estimated(&trace).tokens;
            prop_assert_eq!(steps.len(), responses(&trace).len());
            prop_assert!(steps.is_sorted_by_key(|step| step.prompt));
        }
    }
}
