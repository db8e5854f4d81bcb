//! The lines of a rollout, as what happened.

use std::collections::{HashMap, HashSet};

use mcptest_trace::trace::canonical_json;
use serde_json::{Value, json};

use super::script;
use crate::content::text_of;
use crate::digest::Digest;
use crate::event::{Answer, Call, CallTokens, Event, ForeignRun, Stop};
use crate::formats::openai::{parse_function_call, report_message, tokens};
use crate::json::{
    count, identifier, is_set, list, member, non_null, nonempty_string, nonempty_text, parse_flag,
    role, text, unwrap_json_text, without_members,
};
use crate::loss::LossReason;
use crate::time;

/// How a turn ends that the program could not go on with.
const BROKEN: Stop = Stop::Known("error");

/// A rollout as it is read.
#[derive(Default)]
pub(super) struct Rollout<'v> {
    pub(super) run: ForeignRun,
    stamped: Vec<(i64, Event)>,
    now: i64,
    /// Where the output of the open model call begins.
    open: Option<usize>,
    /// What is better known of calls to MCP servers, by call.
    mcp: HashMap<&'v str, &'v Value>,
    /// Exit codes and successes that stand beside the outputs, by call.
    failures: HashMap<&'v str, bool>,
    /// How long calls took, in milliseconds, by call.
    durations: HashMap<&'v str, u64>,
    user_events: bool,
    /// Scripts whose output is not there yet, each with how often it was called; and what ran while a script did, by its
    /// call.
    scripts: HashMap<&'v str, usize>,
    ran: HashMap<&'v str, Vec<&'v Value>>,
    /// The calls within scripts with several, by the call of the script.
    within: HashMap<String, usize>,
    /// The beginnings of user turns, and the model calls.
    users: Vec<usize>,
    steps: Vec<usize>,
}

impl<'v> Rollout<'v> {
    pub(super) fn read(&mut self, lines: &[&'v Value]) {
        for line in lines {
            self.look_ahead(&line["payload"]);
        }
        let mut seen = HashSet::new();
        for line in lines {
            let at = nonempty_text(line, "timestamp").and_then(time::parse_rfc3339);
            // Nothing is written twice in one millisecond, to the letter.
            if at.is_some() && !seen.insert(Digest::from_parts(&[&canonical_json(line)])) {
                self.run.note("lines that are there twice are read once");
                continue;
            }
            self.run.add_time(at);
            self.now = at.unwrap_or(self.now).max(self.now);
            let payload = &line["payload"];
            match text(line, "type").unwrap_or_default() {
                "session_meta" | "compacted" => {}
                "turn_context" => {
                    let asked = self.run.asked.take();
                    self.run.asked = asked.or_else(|| nonempty_string(payload, "model"));
                }
                "response_item" => self.read_item(payload),
                "event_msg" => self.read_event(payload),
                other => self
                    .run
                    .note(format!("records of the unknown type `{other}` left out")),
            }
        }
    }

    /// What stands after the items that it is about.
    fn look_ahead(&mut self, payload: &'v Value) {
        let call = nonempty_text(payload, "call_id");
        let ended = text(payload, "type").is_some_and(|kind| kind.ends_with("_end"));
        if let (Some(call), true, Some(took)) = (call, ended, duration_ms(&payload["duration"])) {
            self.durations.insert(call, took);
        }
        match (text(payload, "type").unwrap_or_default(), call) {
            ("custom_tool_call", Some(call)) if text(payload, "name") == Some(script::EXEC) => {
                *self.scripts.entry(call).or_default() += 1;
            }
            ("custom_tool_call_output", Some(call)) => {
                self.scripts.remove(call);
            }
            ("item_completed", _) => {
                let item = &payload["item"];
                let mut scripts = self.scripts.iter();
                match (scripts.next(), scripts.next(), script::completed_call(item)) {
                    // Of several scripts that run it is not known whose it is.
                    (Some((script, 1)), None, Some(_)) => {
                        self.ran.entry(*script).or_default().push(item);
                    }
                    (None, _, Some((_, Some(failed)))) => {
                        let call = nonempty_text(item, "id").map(|call| (call, failed));
                        self.failures.extend(call);
                    }
                    _ => {}
                }
            }
            ("user_message", _) => self.user_events = true,
            ("mcp_tool_call_end", Some(call)) => _ = self.mcp.insert(call, payload),
            ("exec_command_end", Some(call)) => {
                if let Some(code) = non_null(payload, "exit_code").and_then(Value::as_i64) {
                    self.failures.insert(call, code != 0);
                }
            }
            ("patch_apply_end", Some(call)) => {
                if let Some(success) = payload.get("success").and_then(parse_flag) {
                    self.failures.insert(call, !success);
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, event: Event) {
        if matches!(event, Event::Step(_)) {
            self.steps.push(self.stamped.len());
        }
        self.stamped.push((self.now, event));
    }

    /// Something that the model wrote.
    fn push_model_event(&mut self, event: Event) {
        if self.open.is_none() {
            self.open = Some(self.stamped.len());
            self.push(Event::Step(CallTokens::default()));
        }
        self.push(event);
    }

    fn push_user(&mut self, said: String) {
        self.open = None;
        if !said.is_empty() {
            self.users.push(self.stamped.len());
            self.push(Event::User(said));
            self.run.stop = None;
        }
    }

    fn read_item(&mut self, item: &'v Value) {
        let kind = text(item, "type").unwrap_or("message");
        match kind {
            "message" => {
                let said = text_of(item.get("content"));
                match role(item).unwrap_or_default().as_str() {
                    "assistant" if said.is_empty() => {}
                    "assistant" => self.push_model_event(Event::Said(said)),
                    "user" if self.user_events => {}
                    "user" if !said.trim_start().starts_with('<') => self.push_user(said),
                    "user" | "developer" | "system" => {
                        self.run.note("notes of the program to the model left out");
                    }
                    _ => report_message(item, &mut self.run),
                }
            }
            "reasoning" => self.run.note("reasoning left out"),
            "compaction" | "ghost_snapshot" => {}
            other if other.ends_with("_output") => self.read_output(item),
            other => match other.strip_suffix("_call") {
                Some(tool) => self.read_call(tool, item),
                None => self
                    .run
                    .report_lost(LossReason::UnknownItem, canonical_json(item)),
            },
        }
    }

    fn read_call(&mut self, tool: &str, item: &'v Value) {
        let own = identifier(item, "call_id").or_else(|| identifier(item, "id"));
        let script = text(item, "input").filter(|_| text(item, "name") == Some(script::EXEC));
        let mut within = script.map(script::parse_calls).unwrap_or_default();
        if let [_] = within.as_slice() {
            // The script is the call.
            let (name, args) = within.remove(0);
            self.push_model_event(Event::Call(Call::new(own, Some(&name), args)));
            return;
        }
        let mcp = nonempty_text(item, "call_id").and_then(|call| self.mcp.get(call));
        let invocation = mcp.map(|end| &end["invocation"]);
        let of_mcp = |key: &str| nonempty_string(invocation?, key);
        let made = parse_function_call(item, text(item, "type").unwrap_or_default());
        let args = match tool {
            "function" | "custom_tool" => made.args,
            _ => non_null(item, "action")
                .cloned()
                .unwrap_or_else(|| without_members(item, &["call_id", "id", "status", "type"])),
        };
        let name = of_mcp("tool").or_else(|| nonempty_string(item, "name"));
        self.push_model_event(Event::Call(Call {
            server: of_mcp("server").or(made.server),
            ..Call::new(own.clone(), Some(name.as_deref().unwrap_or(tool)), args)
        }));
        let own = own.unwrap_or_default();
        self.within.insert(own.clone(), within.len());
        for (index, (name, args)) in within.into_iter().enumerate() {
            self.push_model_event(Event::Call(Call {
                caller: Some(json!({ "kind": "code_execution", "tool_id": own })),
                ..Call::new(Some(format!("{own}/{index}")), Some(&name), args)
            }));
        }
    }

    /// What is known of the calls within a script: whether the script failed, or the only call that it is; of
    /// several calls, the result of each, where as many ran.
    fn script_ended(&mut self, call: &str, output: &Value) -> Option<bool> {
        let failed = script::has_failed(output);
        let ran = self.ran.get(call).map_or(&[][..], Vec::as_slice);
        let ran: Vec<(Value, Option<bool>)> = ran
            .iter()
            .filter_map(|item| script::completed_call(item))
            .collect();
        match self.within.get(call) {
            None => {
                let flags = ran.into_iter().filter_map(|(_, failed)| failed);
                let flags = flags.chain(script::only_call_failed(output));
                failed.or(flags.reduce(|one, other| one || other))
            }
            Some(calls) => {
                if *calls == ran.len() {
                    for (index, (value, is_error)) in ran.into_iter().enumerate() {
                        self.push(Event::Answer(Answer {
                            id: Some(format!("{call}/{index}")),
                            value,
                            is_error,
                            ..Answer::default()
                        }));
                    }
                } else if !ran.is_empty() {
                    self.run
                        .note("the results of several calls in one script are not separated");
                }
                failed
            }
        }
    }

    fn read_output(&mut self, item: &Value) {
        let call = nonempty_text(item, "call_id").unwrap_or_default();
        let output = member(item, "output");
        let (value, is_error) = if let Some(end) = self.mcp.get(call) {
            mcp_result(end, output)
        } else {
            let own = exit_code(&output).map(|code| code != 0);
            let own = own.or_else(|| Some(!parse_flag(output.get("success")?)?));
            let own = own.or_else(|| self.failures.get(call).copied());
            let of_script = self.script_ended(call, &output);
            let flags = [own, of_script].into_iter().flatten();
            (output, flags.reduce(|one, other| one || other))
        };
        self.open = None;
        self.push(Event::Answer(Answer {
            id: identifier(item, "call_id"),
            value,
            is_error,
            duration_ms: self.durations.get(call).copied(),
            ..Answer::default()
        }));
    }

    fn read_event(&mut self, event: &Value) {
        match text(event, "type").unwrap_or_default() {
            "user_message" => {
                let mut said = text(event, "message").unwrap_or_default().to_owned();
                for image in list(event, "images") {
                    let image = json!({ "type": "image_url", "image_url": image });
                    said.push_str(&text_of(Some(&image)));
                }
                self.push_user(said);
            }
            "token_count" => {
                let usage =
                    non_null(event, "info").and_then(|info| non_null(info, "last_token_usage"));
                if let Some(step) = self.last_uncounted_call() {
                    self.stamped[step].1 = Event::Step(tokens(usage).unwrap_or_default());
                    self.open = None;
                }
            }
            // A turn that broke off is over as well.
            "task_complete" | "turn_complete"
                if self.run.stop != Some(BROKEN)
                    || nonempty_text(event, "last_agent_message").is_some() =>
            {
                self.run.stop = Some(Stop::Known("completed"));
            }
            "turn_aborted" => self.run.stop = Some(Stop::Known("interrupted")),
            "thread_rolled_back" => self.roll_back(count(event, "num_turns").unwrap_or(1)),
            "error" => self.run.stop = Some(BROKEN),
            "stream_error" => self
                .run
                .note("errors that the program recovered from left out"),
            _ => {}
        }
    }

    /// The last model call, if its tokens are not known.
    fn last_uncounted_call(&self) -> Option<usize> {
        let last = *self.steps.last()?;
        matches!(self.stamped[last].1, Event::Step(taken) if taken.total().is_none())
            .then_some(last)
    }

    /// The user took back some turns.
    fn roll_back(&mut self, turns: u64) {
        let turns = usize::try_from(turns).unwrap_or(usize::MAX);
        let kept = self.users.len().saturating_sub(turns);
        if let Some(begin) = self.users.get(kept) {
            self.stamped.truncate(*begin);
        }
        self.users.truncate(kept);
        while self
            .steps
            .pop_if(|step| *step >= self.stamped.len())
            .is_some()
        {}
        self.open = None;
        self.run.note("turns that were taken back left out");
    }

    pub(super) fn into_run(self, id: Option<&str>, version: Option<&str>) -> ForeignRun {
        let mut run = self.run.with_events(self.stamped);
        run.id = id.map(str::to_owned);
        run.agent = Some("codex".to_owned());
        run.version = version.map(str::to_owned);
        run.unknown.insert("system_prompt");
        run
    }

    /// Gives the calls of a sub-agent to the run that called it.
    pub(super) fn merge_into(self, run: &mut ForeignRun, agent: &str) {
        let events = self.stamped.iter().map(|(_, event)| event);
        run.events
            .extend(events.filter_map(|event| event.as_subagent_event(agent)));
        let mut subagent = self.into_run(Some(agent), None);
        subagent.agent = Some("subagent".to_owned());
        run.subagents.push(subagent);
    }
}

/// The whole result of an MCP call, and whether it is an error.
fn mcp_result(end: &Value, output: Value) -> (Value, Option<bool>) {
    let result = &end["result"];
    if let Some(error) = non_null(result, "Err") {
        return (error.clone(), Some(true));
    }
    let Some(ok) = non_null(result, "Ok") else {
        return (output, None);
    };
    let failed = is_set(ok, "isError") || is_set(ok, "is_error");
    (ok.clone(), Some(failed))
}

/// The exit code in an output that is JSON with metadata.
fn exit_code(output: &Value) -> Option<i64> {
    unwrap_json_text(output)["metadata"]["exit_code"].as_i64()
}

/// How long a call took, in milliseconds: `{"secs": 1, "nanos": 250000000}`.
fn duration_ms(value: &Value) -> Option<u64> {
    let seconds = count(value, "secs")?.checked_mul(1000)?;
    seconds.checked_add(count(value, "nanos")? / 1_000_000)
}
