//! What a run cost, of its recorded tokens and the prices of its models.

use std::collections::BTreeMap;
use std::fmt;

use super::prices::{ModelPrice, Prices};
use crate::number::{to_f64, to_u64};
use crate::trace::{AsTrace, StepTokens, Tokens, Trace};

/// Why nobody knows what a run cost.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownCost {
    /// There is no price of a model that answered.
    NoPrice(String),
    /// No tokens of the run are recorded, or only some of them.
    NoTokens,
    /// The recording says that nothing was written, and the run called a tool or answered.
    NothingWritten,
    /// The tokens of a model call, by its place, are not recorded.
    OfStep(usize),
    /// The recorded model calls are not all: so many tokens or calls are beside them.
    NotAllSteps,
}

impl fmt::Display for UnknownCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPrice(model) => write!(f, "the suite has no price for `{model}`, the model that answered"),
            Self::NoTokens => {
                f.write_str("the tokens sent and the tokens written are not recorded")
            }
            Self::NothingWritten => f.write_str(
                "the recorded `completion` tokens are 0, but the run has tool calls or a final response, so they were not \
                 counted",
            ),
            Self::OfStep(step) => write!(
                f,
                "the tokens of model call {} are not all recorded",
                step.saturating_add(1)
            ),
            Self::NotAllSteps => {
                f.write_str("`conversation.steps` are not all model calls of the run")
            }
        }
    }
}

/// What a run cost in US dollars: the sum over its model calls of what was sent, what of that was in the cache, and
/// what was written. `model` is the run's; a model call that names another is priced as that one. Where no model
/// calls are recorded, the tokens of the whole run are priced.
///
/// Reasoning is a part of what was written, and is not counted again. Tokens in the cache cost the full price where
/// no price of them is stated. The sum is rounded to a millionth of a millionth of a dollar.
///
/// ```
/// use mcptest_trace::eval::{ModelPrice, Prices, cost_of_run};
/// use serde_json::json;
///
/// let price = ModelPrice::new(1.25, 10.0).with_cached(0.125);
/// let prices: Prices = [("gpt-5", price)].into_iter().collect();
/// let run = json!({ "conversation": { "steps": [
///     { "prompt": 1000, "completion": 100 },
///     { "prompt": 1200, "cached": 1000, "completion": 50 },
/// ] } });
/// // (1000 + 200) · 1.25 + 1000 · 0.125 + 150 · 10 = 3125 millionths
/// assert_eq!(cost_of_run(&run, "gpt-5", &prices), Ok(0.003125));
/// ```
///
/// # Errors
///
/// A model has no price, or not all tokens are recorded: a sum that leaves some out would be too low.
pub fn cost_of_run(
    run: &(impl AsTrace + ?Sized),
    model: &str,
    prices: &Prices,
) -> Result<f64, UnknownCost> {
    let trace = run.as_trace();
    let conversation = &trace.conversation;
    let steps = &conversation.steps;
    let price = |model: &str| {
        let price = prices.get(model).copied();
        price.ok_or_else(|| UnknownCost::NoPrice(model.to_owned()))
    };
    if trace.tokens_taken() == Some(0) && steps.is_empty() {
        return Ok(0.0);
    }
    if steps.is_empty() {
        let tokens = conversation.tokens;
        let mut all = StepTokens::default();
        (all.prompt, all.completion, all.cached) =
            (tokens.prompt, tokens.completion, tokens.cached);
        let price = price(model)?;
        let whole = all.total() == tokens.total;
        let micro = micro_usd(all, price).filter(|_| whole);
        let micro = micro.ok_or(UnknownCost::NoTokens)?;
        return check_completion_tokens(&trace, tokens.completion).map(|()| usd(micro));
    }
    let mut micro = 0.0;
    for (place, step) in steps.iter().enumerate() {
        let answered = conversation.step_models.get(place);
        let answered = answered.and_then(Option::as_deref).unwrap_or(model);
        micro += micro_usd(*step, price(answered)?).ok_or(UnknownCost::OfStep(place))?;
    }
    let of_steps = Tokens::from_steps(steps);
    check_completion_tokens(&trace, of_steps.completion)?;
    if has_more_than(&trace, &of_steps) {
        return Err(UnknownCost::NotAllSteps);
    }
    Ok(usd(micro))
}

/// What some tokens cost in millionths of a dollar; nothing where they are not known. A model is always sent
/// something, so 0 is what a recorder writes that does not know, and no more can be cached than was sent.
fn micro_usd(tokens: StepTokens, price: ModelPrice) -> Option<f64> {
    let prompt = tokens.prompt.filter(|prompt| *prompt > 0)?;
    let cached = tokens.cached.unwrap_or_default();
    let fresh = prompt.checked_sub(cached)?;
    let written = tokens.completion?;
    if tokens.total() > prompt.checked_add(written) {
        return None;
    }
    if tokens
        .reasoning
        .is_some_and(|reasoning| reasoning > written)
    {
        return None;
    }
    let of_cached = price.cached.unwrap_or(price.prompt);
    let completion = to_f64(written) * price.completion;
    Some(to_f64(fresh) * price.prompt + to_f64(cached) * of_cached + completion)
}

/// Dollars of millionths of a dollar, without the noise of the sum.
fn usd(micro: f64) -> f64 {
    (micro * 1e6).round() / 1e12
}

/// Refuses a count of written tokens that cannot be the run's: a model that called a tool or answered wrote some.
fn check_completion_tokens(trace: &Trace, completion: Option<u64>) -> Result<(), UnknownCost> {
    let said = !trace.tool_calls.is_empty() || trace.final_response.is_some();
    match completion {
        None => Err(UnknownCost::NoTokens),
        Some(0) if said => Err(UnknownCost::NothingWritten),
        Some(_) => Ok(()),
    }
}

/// Whether the run has model calls, or tokens, beside its recorded steps.
fn has_more_than(trace: &Trace, of_steps: &Tokens) -> bool {
    let told = trace.tool_calls.iter().filter_map(|call| call.step).max();
    let more_calls = told.is_some_and(|step| step >= to_u64(trace.conversation.steps.len()));
    more_calls
        || trace.conversation.tokens.total > of_steps.total
        || has_unrecorded_sub_agent(trace)
}

/// Whether a sub-agent called a tool in no model call of its own: then its model calls are not among the recorded ones.
fn has_unrecorded_sub_agent(trace: &Trace) -> bool {
    let mut agents: BTreeMap<u64, Option<&str>> = BTreeMap::new();
    trace.tool_calls.iter().any(|call| {
        let agent = call.agent_id.as_deref();
        match call.step {
            None => agent.is_some(),
            Some(step) => *agents.entry(step).or_insert(agent) != agent,
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn prices() -> Prices {
        let dear = ModelPrice::new(10.0, 40.0).with_cached(1.0);
        let all = [
            ("m", ModelPrice::new(2.0, 8.0)),
            ("dear", dear),
            ("free", ModelPrice::new(0.0, 0.0)),
        ];
        all.into_iter().collect()
    }

    fn cost(conversation: &Value) -> Result<f64, UnknownCost> {
        let run = json!({
            "tool_calls": [{ "name": "a", "step": 0 }], "final_response": "Done.", "conversation": conversation,
        });
        cost_of_run(&run, "m", &prices())
    }

    #[test]
    fn a_sub_agent_without_a_model_call_of_its_own_makes_the_cost_unknown() {
        let with = |sub: Value| {
            let run = json!({
                "tool_calls": [{ "name": "task", "step": 0 }, sub], "final_response": "Done.",
                "conversation": { "steps": [{ "prompt": 100, "completion": 10 }, { "prompt": 100, "completion": 10 }] },
            });
            cost_of_run(&run, "m", &prices())
        };
        let call = |step: Value| json!({ "name": "search", "agent_id": "sub", "step": step });
        for untold in [Value::Null, 0.into()] {
            assert_eq!(with(call(untold)), Err(UnknownCost::NotAllSteps));
        }
        assert!(with(call(1.into())).is_ok());
        assert!(with(json!({ "name": "search", "step": 0 })).is_ok());
    }

    #[test]
    fn more_reasoning_than_was_written_is_no_count() {
        let steps = json!({ "steps": [{ "prompt": 100, "completion": 10, "reasoning": 1000 }] });
        assert_eq!(cost(&steps), Err(UnknownCost::OfStep(0)));
    }

    #[test]
    fn each_model_call_costs_what_its_model_costs() {
        let steps = json!({ "steps": [
            { "prompt": 100, "completion": 10 },
            { "prompt": 100, "completion": 10, "model": "dear-2026-03-01" },
            { "prompt": 100, "completion": 10, "model": "other/free" },
        ] });
        assert_eq!(cost(&steps), Ok(0.000_28 + 0.001_4));
        let unpriced = json!({ "steps": [{ "prompt": 100, "completion": 10, "model": "m-mini" }] });
        assert_eq!(
            cost(&unpriced),
            Err(UnknownCost::NoPrice("m-mini".to_owned()))
        );
    }

    #[test]
    fn cached_tokens_cost_their_own_price_or_the_full_one() {
        let step = |model: &str| json!({ "steps": [{ "prompt": 100, "cached": 60, "completion": 1, "model": model }] });
        assert_eq!(cost(&step("dear")), Ok(0.000_5));
        assert_eq!(cost(&step("m")), Ok(0.000_208));
    }

    #[test]
    fn reasoning_is_not_counted_twice() {
        let steps = json!({ "steps": [{ "prompt": 100, "completion": 10, "reasoning": 9 }] });
        assert_eq!(cost(&steps), Ok(0.000_28));
    }

    #[test]
    fn without_steps_the_tokens_of_the_run_are_priced() {
        let whole = json!({ "tokens": { "prompt": 100, "completion": 10, "cached": 20 } });
        assert_eq!(cost(&whole), Ok(0.000_28));
        // What is in the total alone has no price.
        let more = json!({ "tokens": { "prompt": 100, "total": 500 } });
        assert_eq!(cost(&more), Err(UnknownCost::NoTokens));
        assert_eq!(cost(&json!({})), Err(UnknownCost::NoTokens));
        assert_eq!(
            cost_of_run(&json!({}), "x", &prices()),
            Err(UnknownCost::NoPrice("x".to_owned()))
        );
    }

    #[test]
    fn what_is_not_all_recorded_is_not_known() {
        let known = json!({ "prompt": 100, "completion": 10 });
        let of = |steps: Value| cost(&json!({ "steps": steps }));
        for step in [
            json!({}),
            json!({ "prompt": 100 }),
            json!({ "completion": 10 }),
            json!({ "prompt": 0, "completion": 10 }),
            json!({ "prompt": 0, "completion": 0 }),
            json!({ "prompt": 100, "completion": 10, "cached": 101 }),
        ] {
            assert_eq!(
                of(json!([known, step])),
                Err(UnknownCost::OfStep(1)),
                "{step}"
            );
        }
        // Zeros that are written for what nobody knows.
        assert_eq!(
            of(json!([{ "prompt": 100, "completion": 0 }])),
            Err(UnknownCost::NothingWritten)
        );
        let zeros = json!({ "tokens": { "prompt": 100, "completion": 0 } });
        assert_eq!(cost(&zeros), Err(UnknownCost::NothingWritten));
        // A total that is more than its parts has tokens of which nobody knows the kind.
        let more = json!([{ "prompt": 100, "completion": 10, "total": 200 }]);
        assert_eq!(of(more), Err(UnknownCost::OfStep(0)));
        // Sub-agents, whose tokens are in the total alone.
        let beside = json!({ "steps": [known], "tokens": { "total": 500 } });
        assert_eq!(cost(&beside), Err(UnknownCost::NotAllSteps));
        // A call that names a later step than there is.
        let run = json!({
            "tool_calls": [{ "name": "a", "step": 1 }],
            "conversation": { "steps": [known], "tokens": { "total": 110 } },
        });
        assert_eq!(
            cost_of_run(&run, "m", &prices()),
            Err(UnknownCost::NotAllSteps)
        );
    }

    #[test]
    fn a_run_that_called_no_model_cost_nothing() {
        let run = json!({ "conversation": { "tokens": { "prompt": 0, "completion": 0 } } });
        assert_eq!(cost_of_run(&run, "m", &prices()), Ok(0.0));
        assert_eq!(cost_of_run(&run, "unpriced", &prices()), Ok(0.0));
    }

    #[test]
    fn sums_have_no_noise() {
        let tenth: Prices = [("m", ModelPrice::new(0.1, 0.1))].into_iter().collect();
        let run = json!({ "conversation": { "steps": [
            { "prompt": 1, "completion": 1 }, { "prompt": 1, "completion": 0 },
        ] } });
        assert_eq!(cost_of_run(&run, "m", &tenth), Ok(0.000_000_3));
    }

    proptest! {
        #[test]
        fn more_costs_more(steps in prop::collection::vec((1_u64..100_000, 0_u64..50_000, 0_u64..1_000), 1..8)) {
            let run = |steps: &[(u64, u64, u64)]| {
                let steps = steps.iter().map(|(prompt, completion, cached)| json!({
                    "prompt": prompt, "completion": completion, "cached": cached.min(prompt), "model": "dear",
                }));
                json!({ "conversation": { "steps": steps.collect::<Vec<_>>() } })
            };
            let before = cost_of_run(&run(&steps), "m", &prices()).unwrap();
            let all: u64 = steps.iter().map(|(prompt, completion, _)| prompt * 10 + completion * 40).sum();
            prop_assert!(before > 0.0 && before <= to_f64(all) / 1e6 + 1e-12);
            let more: Vec<_> = steps.iter().copied().chain([(1, 0, 0)]).collect();
            let after = cost_of_run(&run(&more), "m", &prices()).unwrap();
            prop_assert!((after - before - 0.000_01).abs() < 1e-11);
        }
    }
}
