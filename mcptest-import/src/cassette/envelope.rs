//! What was written down of a run, as a recording.

use std::collections::BTreeSet;

use mcptest_trace::trace::{OfferedTool, SCHEMA_VERSION};
use serde_json::{Value, json};

use super::{Imported, Writer, stop};
use crate::event::{CallTokens, ForeignRun, ReportedScore, sum_steps};
use crate::json::truthy;
use crate::time::format_rfc3339;

/// Characters that make a token, where tokens are estimated.
const CHARACTERS_A_TOKEN: usize = 4;

impl Writer<'_> {
    pub(super) fn finish(mut self, run: &ForeignRun, model: &str, prompt: &str) -> Imported {
        let mut unknown: BTreeSet<&str> = run.unknown.clone();
        if self.results.iter().any(|it| it.get("is_error").is_none()) {
            unknown.insert("is_error");
        }
        if self.has_actions {
            unknown.insert("tool_calls");
        }
        let (conversation, estimated) = self.build_conversation(run, &mut unknown);
        let mut trace = json!({
            "tool_calls": self.calls,
            "tool_results": self.results,
            "conversation": conversation,
        });
        if !run.judged.is_empty() {
            trace["scores"] = json!(run.judged);
        }
        self.talk.write_to(&mut trace);
        let mut cassette = json!({
            "schema_version": SCHEMA_VERSION,
            "model": model,
            "user_prompt": prompt,
            "trace": trace,
        });
        let system = run.system_prompt.as_deref();
        let system = system.filter(|it| !it.is_empty() && !self.mapping.no_system_prompt);
        let began = run.times.and_then(|(first, _)| format_rfc3339(first));
        let tools = (!run.tools.is_empty()).then(|| self.build_tools(&run.tools));
        let optional = [
            ("recorded_at", began.map(Value::from)),
            ("system_prompt", system.map(Value::from)),
            ("temperature", run.temperature.clone().map(Value::from)),
            ("max_tokens", run.max_tokens.map(Value::from)),
            ("tools", tools.map(Value::from)),
            ("outcome", self.build_outcome(run)),
        ];
        for (key, value) in optional {
            if let Some(value) = value {
                cassette[key] = value;
            }
        }
        cassette["imported"] = self.build_imported(run, model, &unknown, estimated);
        Imported {
            cassette,
            notes: self.notes.into(),
            lost: self.lost,
        }
    }

    /// The conversation, and whether its tokens are estimated.
    fn build_conversation(
        &mut self,
        run: &ForeignRun,
        unknown: &mut BTreeSet<&str>,
    ) -> (Value, bool) {
        let mut conversation = json!({
            "message_count": self.talk.user_turns() + self.steps.len() + self.results.len(),
        });
        let count = |steps: &[CallTokens], says: fn(&CallTokens) -> bool| {
            steps.iter().filter(|step| says(step)).count()
        };
        let of = self.steps.len();
        let known = count(&self.steps, |step| step.total().is_some());
        let timed = count(&self.steps, |step| step.duration_ms.is_some());
        let estimated = (known < of || of == 0) && self.mapping.estimate_tokens;
        let steps = if estimated {
            let system = run.system_prompt.as_deref().unwrap_or_default();
            self.estimate_tokens(system.chars().count())
        } else if of > 0 && known == of {
            self.steps.clone()
        } else if of > 0 && timed == of {
            // Tokens are told of all model calls, or of none.
            self.steps.iter().map(without_tokens).collect()
        } else {
            Vec::new()
        };
        if !steps.is_empty() || estimated {
            conversation["steps"] = steps.iter().copied().map(step_entry).collect();
        }
        if !estimated && known > 0 && known < of {
            self.notes
                .add(format!("tokens for {known} of {of} model calls"));
        }
        let none = (estimated && steps.is_empty()).then(|| CallTokens::new(0, 0));
        if let Some(taken) = sum_steps(&steps).or(none).or(run.totals)
            && let Some(total) = taken.total()
        {
            let mut tokens = step_entry(taken);
            tokens["total"] = total.into();
            conversation["tokens"] = tokens;
        } else {
            unknown.insert("tokens");
        }
        let ended = stop::reason(run.stop.as_ref());
        if let Some(reason) = ended.reason {
            conversation["stop_reason"] = reason.into();
        } else {
            unknown.insert("stop_reason");
            let unanswered = self.talk.user_turns() > 0 && self.talk.last_answer().is_none();
            if unanswered && self.pairing.last_is_open() {
                self.notes.add("ends in an unanswered call");
            }
        }
        if ended.refused || run.refused {
            conversation["refused"] = true.into();
        }
        if let Some((first, last)) = run.times {
            conversation["duration_ms"] = last.saturating_sub(first).into();
        } else {
            unknown.insert("recorded_at");
        }
        (conversation, estimated)
    }

    /// The tools that were offered, those of known servers under their servers.
    fn build_tools(&self, tools: &[OfferedTool]) -> Vec<Value> {
        let under_server = |tool: &OfferedTool| {
            let line = tool.line.as_deref().unwrap_or(&tool.name);
            let (head, rest) = line.split_at(line.find('(').unwrap_or(line.len()));
            let line = match self.split_name(head) {
                (Some(server), name) => format!("{server}::{name}{rest}"),
                (None, _) => line.to_owned(),
            };
            OfferedTool::from_line(&line).with_read_only(tool.read_only)
        };
        let mut tools: Vec<OfferedTool> = tools.iter().map(under_server).collect();
        tools.sort_by(|one, other| one.line.cmp(&other.line));
        tools.into_iter().map(Value::from).collect()
    }

    fn build_imported(
        &self,
        run: &ForeignRun,
        model: &str,
        unknown: &BTreeSet<&str>,
        estimated: bool,
    ) -> Value {
        // The dated name of the model that was asked for is no other model.
        let others = run.answered.iter().filter(|it| !it.starts_with(model));
        let mut imported = json!({
            "id": run.id,
            "version": run.version,
            "unknown": unknown,
            "notes": *self.notes,
            "models": others.collect::<Vec<_>>(),
            "estimated": if estimated { vec!["tokens"] } else { Vec::new() },
        });
        if let Some(imported) = imported.as_object_mut() {
            imported.retain(|_, value| truthy(value));
        }
        imported
    }

    /// Tokens by length, each model call reading everything before it.
    fn estimate_tokens(&self, system: usize) -> Vec<CallTokens> {
        let tokens = |characters: usize| characters.div_ceil(CHARACTERS_A_TOKEN) as u64;
        let estimated = self.written.iter().zip(&self.steps);
        estimated
            .map(|((before, written), step)| {
                let mut taken = CallTokens::new(tokens(system + before), tokens(*written));
                taken.duration_ms = step.duration_ms;
                taken
            })
            .collect()
    }

    /// The verdict: the only score, or the one that is asked for.
    fn build_outcome(&mut self, run: &ForeignRun) -> Option<Value> {
        let named = self.mapping.score.as_ref();
        let asked = run.scores.iter();
        let asked = asked.filter(|(name, _)| named.is_none_or(|asked| asked == name));
        let asked: Vec<_> = asked.collect();
        match asked.as_slice() {
            [] => {
                let known: Vec<&str> = run.scores.iter().map(|(name, _)| name.as_str()).collect();
                if let (Some(named), false) = (named, known.is_empty()) {
                    let known = known.join(", ");
                    self.notes
                        .add(format!("no score `{named}`; there are: {known}"));
                }
                None
            }
            // A reward and the verdict on it, or the only one.
            [(_, first), rest @ ..] if rest.iter().all(|(_, it)| first.is_same_verdict(it)) => {
                let mut outcome = json!({});
                for (_, score) in &asked {
                    score.write(&mut outcome, self.mapping.pass_at);
                }
                Some(outcome)
            }
            several => {
                let shown: Vec<&str> = several.iter().map(|(name, _)| name.as_str()).collect();
                let shown = shown.join(", ");
                self.notes.add(format!(
                    "several scores, none chosen with `--score`: {shown}"
                ));
                None
            }
        }
    }
}

/// What a model call took, as recordings have it. A part that is more than the whole is none.
fn step_entry(taken: CallTokens) -> Value {
    let within = |part: Option<u64>, whole: Option<u64>| part.filter(|part| Some(*part) <= whole);
    let counts = [
        ("prompt", taken.prompt),
        ("cached", within(taken.cached, taken.prompt)),
        ("completion", taken.completion),
        ("reasoning", within(taken.reasoning, taken.completion)),
        ("duration_ms", taken.duration_ms),
    ];
    let known = counts.into_iter();
    let known = known.filter_map(|(key, count)| Some((key.to_owned(), count?.into())));
    Value::Object(known.collect())
}

/// A model call without its tokens: only its duration is left.
fn without_tokens(taken: &CallTokens) -> CallTokens {
    let mut time = CallTokens::default();
    time.duration_ms = taken.duration_ms;
    time
}

impl ReportedScore {
    /// Whether two scores are one verdict: one the reward, the other whether it passed.
    fn is_same_verdict(&self, other: &Self) -> bool {
        matches!(self, Self::Passed(_)) != matches!(other, Self::Passed(_))
    }

    fn write(&self, outcome: &mut Value, pass_at: Option<f64>) {
        let (reward, strict) = match self {
            Self::Passed(passed) => {
                outcome["passed"] = (*passed).into();
                return;
            }
            Self::Reward(reward) => (reward, false),
            Self::OneOrNothing(reward) => (reward, true),
        };
        outcome["reward"] = reward.clone().into();
        let value = reward.as_f64().unwrap_or_default();
        let is = |wanted: f64| (value - wanted).abs() <= 1e-6;
        let passed = match pass_at {
            Some(least) => Some(value >= least),
            None if is(1.0) => Some(true),
            None if strict || is(0.0) => Some(false),
            None => None,
        };
        if let (Some(passed), true) = (passed, outcome.get("passed").is_none()) {
            outcome["passed"] = passed.into();
        }
    }
}
