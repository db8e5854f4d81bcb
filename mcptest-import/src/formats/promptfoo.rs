//! Results of promptfoo: one prompt, one answer, and what its assertions made of it.
//!
//! Source: `promptfoo@0011eb02:src/types/index.ts` (`EvaluateResult`, `GradingResult`), as `promptfoo eval -o results.json`
//! and `-o results.jsonl` write them.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::event::{CallTokens, Event, ForeignRun, Lost, ReportedScore, Stop};
use crate::format::{Format, Gathered, Runs};
use crate::formats::openai::{ChatOptions, read_messages};
use crate::input::Input;
use crate::json::{count, given, identifier, list, named, text, unfolded, word};
use crate::mapping::Mapping;
use crate::scores::Told;
use mcptest_trace::trace::canonical_json;

/// The format `promptfoo`.
pub(crate) struct Promptfoo;

/// The judge of a score that no assertion gave.
const JUDGE: &str = "promptfoo";

impl Format for Promptfoo {
    fn signature(&self) -> &'static str {
        "`results.results` of `{prompt, response, gradingResult}`, or lines of these with `promptIdx` and `testIdx`"
    }

    fn fits(&self, _: &Input, value: &Value) -> bool {
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
    let has = |key| given(value, key).is_some();
    has("promptIdx") && has("testIdx") && has("provider")
}

fn read(result: &Value) -> Result<ForeignRun, Lost> {
    let prompt = text(&result["prompt"], "raw");
    let Some(prompt) = prompt.filter(|prompt| !prompt.trim().is_empty()) else {
        return Err(Lost::no_run("a result of it has no prompt"));
    };
    let mut run = ForeignRun {
        id: identifier(result, "id"),
        asked: named(&result["provider"], "id"),
        ..ForeignRun::default()
    };
    let response = &result["response"];
    let mut messages = match unfolded(&Value::from(prompt)) {
        Value::Array(messages) if messages.iter().all(|it| it.get("role").is_some()) => messages,
        _ => vec![json!({ "role": "user", "content": prompt })],
    };
    messages.extend(given(response, "output").map(answer));
    read_messages(&messages, &mut run, &ChatOptions::default());
    let last = run.events.iter_mut().rev().find_map(|event| match event {
        Event::Step(taken) => Some(taken),
        _ => None,
    });
    if let Some(last) = last {
        *last = taken(result);
    }
    let failed = given(result, "error").is_some() && count(result, "failureReason") != Some(1);
    if failed {
        run.stop = Some(Stop::Known("error"));
    } else if let Some(passed) = result["success"].as_bool() {
        let passed = ReportedScore::Passed(passed);
        run.scores.push(("success".to_owned(), passed));
    }
    judged(result, &mut run);
    Ok(run)
}

/// What was answered, as a message: text, or calls as `OpenAI` has them.
fn answer(output: &Value) -> Value {
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
fn taken(result: &Value) -> CallTokens {
    let response = &result["response"];
    let usage = given(response, "tokenUsage").or_else(|| given(result, "tokenUsage"));
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
fn judged(result: &Value, run: &mut ForeignRun) {
    let whole = &result["gradingResult"];
    for part in list(whole, "componentResults") {
        let assertion = &part["assertion"];
        let kind = word(assertion, "type").unwrap_or(JUDGE);
        let name = word(assertion, "metric").unwrap_or(kind);
        run.judge(name, parse_grading(part).score(name, kind));
    }
    let judged = run.judged.iter().map(|score| score.name.clone());
    let judged: HashSet<String> = judged.collect();
    let own = given(result, "namedScores").or_else(|| given(whole, "namedScores"));
    for (name, value) in own.and_then(Value::as_object).into_iter().flatten() {
        // That of a single assertion has its reason above.
        if judged.contains(name) {
            continue;
        }
        let named = Told {
            value: Some(value),
            ..Told::default()
        };
        run.judge(name, named.score(name, JUDGE));
    }
    if given(whole, "score")
        .or_else(|| given(whole, "pass"))
        .is_some()
    {
        run.judge(OVERALL, parse_grading(whole).score(OVERALL, JUDGE));
    }
}

/// The score of all assertions together.
const OVERALL: &str = "overall";

fn parse_grading(grading: &Value) -> Told<'_> {
    Told {
        value: given(grading, "score"),
        passed: grading["pass"].as_bool(),
        note: named(grading, "reason"),
        ..Told::default()
    }
}
