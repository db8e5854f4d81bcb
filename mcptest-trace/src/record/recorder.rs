//! Writing down what an agent does, as it does it.

mod cassette;

use std::time::{Instant, SystemTime};

use serde_json::{Map, Value, json};

use super::transcript::TranscriptBuilder;
use crate::eval::Decisions;
use crate::trace::{OfferedTool, Score, StepTokens, StopReason, ToolCall};

/// A tool call that was written down; hand it back with the call's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallId(usize);

/// Writes down one run of an agent, as the agent's own loop goes.
///
/// The loop says what happened, in the order it happened: what the user said
/// ([`user`](Self::user)), that the model answered ([`step`](Self::step)), which tools were called
/// with what ([`tool_called`](Self::tool_called)) and what came back
/// ([`tool_returned`](Self::tool_returned), [`tool_failed`](Self::tool_failed)), what the agent
/// said ([`said`](Self::said)). [`cassette`](Self::cassette) is the run as it is recorded;
/// [`write_to`](Self::write_to) and [`add_to`](Self::add_to) put it into a file.
///
/// Nothing here reads the network or needs a runtime, and nothing is written before the end. A
/// loop that is registered with the harness (`Harness::record_with`) is given a recorder, and the
/// harness writes it.
///
/// ```
/// use mcptest_trace::record::Recorder;
/// use serde_json::json;
///
/// let mut run = Recorder::new("Refund agent", "gpt-4.1");
/// run.system_prompt("You work at the refund desk.");
/// run.user("Refund order A-1001, please.");
/// run.step(412, 31);
/// let call = run.tool_called("desk", "refund_order", json!({ "order_id": "A-1001" }));
/// run.tool_returned(call, json!({ "content": [{ "type": "text", "text": "RF-1" }] }));
/// run.step(460, 12);
/// run.said("Refunded: RF-1.");
///
/// let cassette = run.cassette();
/// assert_eq!(cassette["trace"]["final_response"], "Refunded: RF-1.");
/// assert_eq!(cassette["trace"]["conversation"]["tokens"]["total"], 915);
/// assert_eq!(cassette["trace"]["conversation"]["stop_reason"], "completed");
/// ```
#[derive(Clone)]
pub struct Recorder {
    agent: String,
    model: String,
    system_prompt: String,
    recorded_at: SystemTime,
    started: Instant,
    duration_ms: Option<u64>,
    extra: Map<String, Value>,
    calls: Vec<ToolCall>,
    results: Vec<Value>,
    /// Where the result of a call lies in `results`, call by call.
    result_of: Vec<Option<usize>>,
    talk: TranscriptBuilder,
    steps: Vec<StepTokens>,
    messages: usize,
    stop_reason: Option<StopReason>,
    refused: bool,
    outcome: Option<Value>,
    scores: Vec<Score>,
    faults: Option<Decisions>,
    /// Names and values that must not get into a file.
    secrets: Vec<(String, String)>,
    /// The harness writes the run, under the lock that it holds.
    harness_writes: bool,
}

impl std::fmt::Debug for Recorder {
    /// Without the secrets, and without what may hold them.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder")
            .field("agent", &self.agent)
            .field("model", &self.model)
            .field("steps", &self.steps.len())
            .field("tool_calls", &self.calls.len())
            .finish_non_exhaustive()
    }
}

impl Recorder {
    /// Begins a run of an agent (its name in the suite) with a model (its identifier in the suite).
    #[must_use]
    pub fn new(agent: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            agent: agent.into(),
            model: model.into(),
            system_prompt: String::new(),
            recorded_at: SystemTime::now(),
            started: Instant::now(),
            duration_ms: None,
            extra: Map::new(),
            calls: Vec::new(),
            results: Vec::new(),
            result_of: Vec::new(),
            talk: TranscriptBuilder::default(),
            steps: Vec::new(),
            messages: 0,
            stop_reason: None,
            refused: false,
            outcome: None,
            scores: Vec::new(),
            faults: None,
            secrets: Vec::new(),
            harness_writes: false,
        }
    }

    /// Leaves the writing to whoever made the recorder: [`write_to`](Self::write_to) and
    /// [`add_to`](Self::add_to) refuse from now on.
    pub fn disable_writing(&mut self) -> &mut Self {
        self.harness_writes = true;
        self
    }

    pub(super) fn is_writing_disabled(&self) -> bool {
        self.harness_writes
    }

    /// What the user said first.
    #[must_use]
    pub fn first_turn(&self) -> Option<&str> {
        self.talk.first_user_text()
    }

    /// The system prompt, exactly as the suite has it.
    pub fn system_prompt(&mut self, text: impl Into<String>) -> &mut Self {
        self.system_prompt = text.into();
        self
    }

    /// The largest number of tokens that one model answer may have.
    pub fn max_tokens(&mut self, tokens: u64) -> &mut Self {
        self.set_extra("max_tokens", tokens)
    }

    /// The sampling temperature.
    pub fn temperature(&mut self, temperature: f64) -> &mut Self {
        self.set_extra("temperature", temperature)
    }

    /// What identifies the tools that were offered: 16 hex digits by convention.
    pub fn tools_fingerprint(&mut self, fingerprint: impl Into<String>) -> &mut Self {
        self.set_extra("tools_fingerprint", fingerprint.into())
    }

    /// The tools that were offered: a line each, so that a change of them can be shown, and whether a
    /// tool only reads, where its server says so.
    pub fn tools_offered<T: Into<OfferedTool>>(
        &mut self,
        tools: impl IntoIterator<Item = T>,
    ) -> &mut Self {
        let tools = tools.into_iter().map(|tool| Value::from(tool.into()));
        self.set_extra("tools", tools.collect::<Value>())
    }

    /// Sets an optional field of the recording.
    fn set_extra(&mut self, key: &str, value: impl Into<Value>) -> &mut Self {
        self.extra.insert(key.to_owned(), value.into());
        self
    }

    /// The user said something; the first time it is the prompt.
    pub fn user(&mut self, text: impl Into<String>) -> &mut Self {
        self.talk.add_user(&text.into(), self.calls.len());
        self.messages += 1;
        self
    }

    /// A model call finished: the tokens it was sent and the tokens it wrote. What the model asked
    /// for in this answer (tool calls, text) is written down after it.
    pub fn step(&mut self, prompt_tokens: u64, completion_tokens: u64) -> &mut Self {
        self.step_with(StepTokens::new(prompt_tokens, completion_tokens))
    }

    /// A model call finished. The provider may not have said what it took: `StepTokens::default()` says nothing.
    pub fn step_with(&mut self, tokens: StepTokens) -> &mut Self {
        self.steps.push(tokens);
        self.messages += 1;
        self
    }

    /// A tool is called. Calls after one [`step`](Self::step) were made in parallel.
    pub fn tool_called(&mut self, server: &str, tool: &str, args: Value) -> CallId {
        let named = Some(server).filter(|server| !server.is_empty());
        self.talk.add_call(named, tool, &args);
        self.calls.push(ToolCall {
            name: tool.to_owned(),
            server: server.to_owned(),
            args: args.into(),
            hop_index: Some(self.calls.len() as u64),
            step: (self.steps.len() as u64).checked_sub(1),
            ..ToolCall::default()
        });
        self.result_of.push(None);
        CallId(self.calls.len() - 1)
    }

    /// The call was made by code that the model wrote and a tool ran, not by the model itself.
    pub fn called_by_code(&mut self, call: CallId, tool_id: &str) -> &mut Self {
        if let Some(call) = self.calls.get_mut(call.0) {
            call.caller = Some(json!({ "kind": "code_execution", "tool_id": tool_id }));
        }
        self
    }

    /// If an injected fault strikes this call, its answer: an MCP error result that says the call
    /// timed out. It is written down already; give it to the model, and do not call the tool.
    ///
    /// Ask once for every call, and before calling the tool: faults count the calls they see. No
    /// time passes. Without faults it is always `None`.
    pub fn injected_fault(&mut self, call: CallId) -> Option<Value> {
        let faults = self.faults.as_mut()?;
        let made = self.calls.get(call.0)?;
        let (result, mark) = faults.timed_out(&made.name, &made.server)?;
        self.result(call, true, result.clone(), Some(mark));
        Some(result)
    }

    /// A tool answered. Text becomes an MCP text result; any other value is kept as it is. One that
    /// says `isError: true` itself, MCP's own form, is written down as an error. A second answer to a
    /// call takes the place of the first.
    pub fn tool_returned(&mut self, call: CallId, result: Value) -> &mut Self {
        self.result(call, false, result, None);
        self
    }

    /// A tool answered with an error, or could not be reached. An `isError: false` in the value is set
    /// right.
    pub fn tool_failed(&mut self, call: CallId, result: Value) -> &mut Self {
        self.result(call, true, result, None);
        self
    }

    fn result(&mut self, call: CallId, is_error: bool, result: Value, mark: Option<Value>) {
        let Some(made) = self.calls.get(call.0) else {
            return;
        };
        let mut result = match result {
            Value::String(text) => json!({ "content": [{ "type": "text", "text": text }] }),
            other => other,
        };
        let said = result.get_mut("isError");
        let is_error = is_error || said.as_deref() == Some(&Value::Bool(true));
        // A result that contradicts its own flag could not be read back.
        if let Some(said) = said.filter(|said| said.is_boolean()) {
            *said = is_error.into();
        }
        let mut written = json!({
            "call_index": call.0,
            "server": made.server.clone(),
            "is_error": is_error,
            "result": result,
        });
        if let Some(mark) = mark {
            written["synthesized"] = mark;
        }
        if let Some(earlier) = self.result_of[call.0] {
            self.results[earlier] = written;
            return;
        }
        self.result_of[call.0] = Some(self.results.len());
        self.messages += 1;
        self.results.push(written);
    }

    /// The agent said something to the user. The last thing it says in answer to the last thing the
    /// user said is the final response.
    pub fn said(&mut self, text: impl Into<String>) -> &mut Self {
        self.talk.add_agent(&text.into());
        self
    }

    /// The model refused to answer; what it said instead, if anything, is [`said`](Self::said).
    pub fn refused(&mut self) -> &mut Self {
        self.refused = true;
        self
    }

    /// A cap ended the run. Without this a run counts as completed.
    pub fn stopped(&mut self, reason: StopReason) -> &mut Self {
        self.stop_reason = Some(reason);
        self
    }

    /// Whether the run did what it should, by a measure of your own, and the reward it got.
    pub fn outcome(&mut self, passed: bool, reward: Option<f64>) -> &mut Self {
        let mut outcome = json!({ "passed": passed });
        if let Some(reward) = reward {
            outcome["reward"] = reward.into();
        }
        self.outcome = Some(outcome);
        self
    }

    /// What a judge, a person or a rubric thinks of the run. Another score of this name by the same judge takes the
    /// place of the first; those of several judges are all kept. One without a name or without a finite number is left
    /// out: what asks for it fails, as for a run that nobody scored.
    ///
    /// ```
    /// use mcptest_trace::record::Recorder;
    /// use mcptest_trace::trace::Score;
    ///
    /// let mut run = Recorder::new("Refund agent", "gpt-4.1");
    /// run.score(Score::new("helpful", 0.8, "gpt-5").with_passed(true).with_note("To the point."));
    /// run.score(Score::new("helpful", 4.0, "ann"));
    ///
    /// let scores = &run.cassette()["trace"]["scores"];
    /// assert_eq!(scores[0]["by"], "gpt-5");
    /// assert_eq!(scores[1]["value"], 4.0);
    /// ```
    pub fn score(&mut self, score: Score) -> &mut Self {
        if score.name.trim().is_empty() || !score.value.is_finite() {
            return self;
        }
        let same = |known: &&mut Score| known.name == score.name && known.by == score.by;
        match self.scores.iter_mut().find(same) {
            Some(known) => *known = score,
            None => self.scores.push(score),
        }
        self
    }

    /// A value that must not get into a file: it is replaced by `[redacted NAME]` wherever it stands, also where it is
    /// encoded. The usual keys of model providers need not be named. A value that has fewer than 8 characters, stands in a
    /// key's place (`not-needed`), or is words at the name of a key (`SORT_KEY`, `delivered`) is replaced only where it
    /// stands as a credential: in a header, in a field of a key, or at its name.
    pub fn secret(&mut self, name: &str, value: &str) -> &mut Self {
        self.secrets.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The names and values that must not get into a file.
    #[must_use]
    pub fn secrets(&self) -> &[(String, String)] {
        &self.secrets
    }

    /// How long the run took, in milliseconds, where that is not the time since [`new`](Self::new).
    pub fn duration_ms(&mut self, duration: u64) -> &mut Self {
        self.duration_ms = Some(duration);
        self
    }

    /// Injects faults into the run.
    pub fn inject(&mut self, faults: Decisions) {
        self.faults = Some(faults);
    }

    /// The faults that are injected into the run, as they stand.
    #[doc(hidden)]
    #[must_use]
    pub fn injected(&self) -> Option<&Decisions> {
        self.faults.as_ref()
    }

    /// Tokens so far: sent to the model, and written by it.
    #[must_use]
    pub fn tokens(&self) -> (u64, u64) {
        let add = |(prompt, completion): (u64, u64), step: &StepTokens| {
            (
                prompt.saturating_add(step.prompt.unwrap_or_default()),
                completion.saturating_add(step.completion.unwrap_or_default()),
            )
        };
        self.steps.iter().fold((0, 0), add)
    }

    /// Model calls so far.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Tool calls so far.
    #[must_use]
    pub fn tool_calls(&self) -> usize {
        self.calls.len()
    }
}

#[cfg(test)]
mod tests;
