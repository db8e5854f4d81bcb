//! Results of promptfoo: one prompt, one answer, and what its assertions made of it.
//!
//! Source: `promptfoo@0011eb02:src/types/index.ts` (`EvaluateResult`, `GradingResult`), as `promptfoo eval -o results.json`
//! and `-o results.jsonl` write them.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::event::{CallTokens, Event, ForeignRun, ReportedScore, Stop};
use crate::format::{Format, Gathered, Runs};
use crate::formats::openai::{ChatOptions, read_messages};
use crate::input::Input;
use crate::json::{
    count, identifier, list, non_null, nonempty_string, nonempty_text, text, unwrap_json_text,
};
use crate::loss::Lost;
use crate::mapping::Mapping;
use crate::scores::SourceScore;
use mcptest_trace::trace::canonical_json;

/// The format `promptfoo`.
pub(crate) struct Promptfoo;

/// The judge of a score that no assertion gave.
const JUDGE: &str = "promptfoo";

impl Format for Promptfoo {
    fn signature(&self) -> &'static str {
        "`results.results` of `{prompt, response, gradingResult}`, or lines of these with `promptIdx` and `testIdx`"
    }

    fn recognizes(&self, _: &Input, value: &Value) -> bool {
        results(value).first().is_some_and(is_result)
    }

    fn read(&self, Gathered { records, .. }: &Gathered<'_, '_>, _: &Mapping) -> Runs {
        let results = records.iter().flat_map(|record| results(&record.value));
        results.map(read).collect()
    }
}

/// The results of a file, or of a line.
fn results(value: &Value) -> &[Value] {
    let within = list(&value["results"], "results");
    if within.is_empty() {
        std::slice::from_ref(value)
    } else {
        within
    }
}

fn is_result(value: &Value) -> bool {
    let has = |key| non_null(value, key).is_some();
    has("promptIdx") && has("testIdx") && has("provider")
}

fn read(result: &Value) -> Result<ForeignRun, Lost> {
    let prompt = text(&result["prompt"], "raw");
    let Some(prompt) = prompt.filter(|prompt| !prompt.trim().is_empty()) else {
        return Err(Lost::no_run("a result of it has no prompt"));
    };
    let mut run = ForeignRun {
        id: identifier(result, "id"),
        asked: nonempty_string(&result["provider"], "id"),
        ..ForeignRun::default()
    };
    let response = &result["response"];
    let mut messages = match unwrap_json_text(&Value::from(prompt)) {
        Value::Array(messages) if messages.iter().all(|it| it.get("role").is_some()) => messages,
        _ => vec![json!({ "role": "user", "content": prompt })],
    };
    messages.extend(non_null(response, "output").map(answer_message));
    read_messages(&messages, &mut run, &ChatOptions::default());
    let last = run.events.iter_mut().rev().find_map(|event| match event {
        Event::Step(taken) => Some(taken),
        _ => None,
    });
    if let Some(last) = last {
        *last = call_usage(result);
    }
    let failed = non_null(result, "error").is_some() && count(result, "failureReason") != Some(1);
    if failed {
        run.stop = Some(Stop::Known("error"));
    } else if let Some(passed) = result["success"].as_bool() {
        let passed = ReportedScore::Passed(passed);
        run.scores.push(("success".to_owned(), passed));
    }
    read_assertions(result, &mut run);
    Ok(run)
}

/// What was answered, as a message: text, or calls as `OpenAI` has them.
fn answer_message(output: &Value) -> Value {
    let is_call = |call: &Value| call["function"]["name"].is_string();
    match output {
        Value::Array(calls) if !calls.is_empty() && calls.iter().all(is_call) => {
            json!({ "role": "assistant", "tool_calls": calls })
        }
        Value::String(text) => json!({ "role": "assistant", "content": text }),
        other => json!({ "role": "assistant", "content": canonical_json(other) }),
    }
}

/// What the model call took. An answer out of promptfoo's own cache took nothing, and says nothing of the model.
fn call_usage(result: &Value) -> CallTokens {
    let response = &result["response"];
    let usage = non_null(response, "tokenUsage").or_else(|| non_null(result, "tokenUsage"));
    let is_cached = response["cached"] == true;
    let tokens = usage.filter(|_| !is_cached).and_then(|usage| {
        let mut taken = CallTokens::new(count(usage, "prompt")?, count(usage, "completion")?);
        taken.reasoning = count(&usage["completionDetails"], "reasoning");
        // It fills in zeros for what a provider does not count.
        Some(taken).filter(|taken| taken.total() != Some(0))
    });
    let mut taken = tokens.unwrap_or_default();
    let latency = count(result, "latencyMs").filter(|took| !is_cached && *took > 0);
    taken.duration_ms = latency;
    taken
}

/// What each assertion made of it, then what they came to together.
fn read_assertions(result: &Value, run: &mut ForeignRun) {
    let whole = &result["gradingResult"];
    for part in list(whole, "componentResults") {
        let assertion = &part["assertion"];
        let kind = nonempty_text(assertion, "type").unwrap_or(JUDGE);
        let name = nonempty_text(assertion, "metric").unwrap_or(kind);
        run.push_score(name, parse_grading(part).into_score(name, kind));
    }
    let judged = run.judged.iter().map(|score| score.name.clone());
    let judged: HashSet<String> = judged.collect();
    let own = non_null(result, "namedScores").or_else(|| non_null(whole, "namedScores"));
    for (name, value) in own.and_then(Value::as_object).into_iter().flatten() {
        // That of a single assertion has its reason above.
        if judged.contains(name) {
            continue;
        }
        let named = SourceScore {
            value: Some(value),
            ..SourceScore::default()
        };
        run.push_score(name, named.into_score(name, JUDGE));
    }
    if non_null(whole, "score")
        .or_else(|| non_null(whole, "pass"))
        .is_some()
    {
        run.push_score(OVERALL, parse_grading(whole).into_score(OVERALL, JUDGE));
    }
}

/// The score of all assertions together.
const OVERALL: &str = "overall";

fn parse_grading(grading: &Value) -> SourceScore<'_> {
    SourceScore {
        value: non_null(grading, "score"),
        passed: grading["pass"].as_bool(),
        note: nonempty_string(grading, "reason"),
        ..SourceScore::default()
    }
}
