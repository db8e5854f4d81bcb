//! Sessions of Claude Code, one record a line.
//!
//! The form is not public: code.claude.com/docs/en/sessions gives the place and calls the lines internal.
//! Observed: skillsynchq/txcript@1907ec4c:docs/formats/claude-code.md;
//! `harbor 0.25.0:agents/installed/claude_code.py`. So what is not known is noted and passed over.

mod chain;
mod model_call;
mod printed;

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use self::chain::SessionLine;
use self::model_call::ModelCall;
use crate::blocks;
use crate::content::text_of;
use crate::digest::Digest;
use crate::event::{Event, ForeignRun, Stop};
use crate::format::{Format, Gathered, Joins, Runs, has_block};
use crate::input::{Input, Record, parse};
use crate::joining::Joiner;
use crate::json::{count, is_set, list, nonempty_string, nonempty_text, role, text};
use crate::loss::{LossReason, Lost};
use crate::mapping::Mapping;
use crate::subagent_calls::{Invoked, merge_subagent_calls};
use crate::time;

/// Records that are known to be bookkeeping.
const BOOKKEEPING: [&str; 13] = [
    "agent-name",
    "attachment",
    "custom-title",
    "file-history-snapshot",
    "last-prompt",
    "permission-mode",
    "progress",
    "queue-operation",
    "rate_limit_event",
    "result",
    "stream_event",
    "summary",
    "system",
];

/// The format `claude-code`.
pub(crate) struct ClaudeCode;

impl Format for ClaudeCode {
    fn signature(&self) -> &'static str {
        "lines with `sessionId`, `uuid`, `type` and `message`, or with `session_id` as `claude -p` prints them"
    }

    fn recognizes(&self, _: &Input, value: &Value) -> bool {
        let texts = ["sessionId", "uuid", "type"];
        let is_kept = texts.iter().all(|key| text(value, key).is_some());
        let message = value.get("message");
        is_kept && message.is_some_and(is_of_claude) || printed::recognizes(value)
    }

    fn join(&self, record: &Record<'_>, joiner: &mut Joiner, _: &Mapping) -> Joins {
        if let Some(session) = session_id(&record.value) {
            joiner.add_keyed(record.part, Digest::from_parts(&["session", session]));
        }
        Ok(())
    }

    fn read(&self, run: &Gathered<'_, '_>, _: &Mapping) -> Runs {
        let (main, chains) = chain::read_lines(run.records);
        if main.is_empty() && chains.sidechains.is_empty() {
            // A file of summaries alone.
            return Ok(Vec::new());
        }
        let mut messages = run.records.iter().filter_map(|it| it.value.get("message"));
        if messages.any(|it| !it.is_null() && !is_of_claude(it)) {
            let detail = "its lines look like those of Claude Code, but its messages have another form: another program wrote it; \
                          convert it to lists of messages, or to ATIF";
            return Err(Lost::new(LossReason::NeedsConversion, detail));
        }
        let mut session = AgentSession::default();
        session.read(&main);
        let mut events = session.stamped;
        let mut read = session.run;
        let mut values = run.records.iter().map(|record| &record.value);
        read.agent = Some("claude-code".to_owned());
        read.version = values.clone().find_map(|it| nonempty_string(it, "version"));
        read.id = values.find_map(session_id).map(str::to_owned);
        printed::read(run.records, &mut read);
        read.unknown.insert("system_prompt");
        if chains.rewound {
            read.note("records of rewound or cleared branches left out");
        }
        if chains.copied {
            read.note(
                "several files of one session have the same lines: these lines are read once",
            );
        }
        for kind in unknown_types(run.records) {
            read.note(format!("records of the unknown type `{kind}` left out"));
        }
        let read_session = |(agent, lines): (&String, &Vec<SessionLine<'_>>)| {
            let mut session = AgentSession::default();
            session.read(lines);
            (agent.clone(), session)
        };
        let sessions: Vec<_> = chains.sidechains.iter().map(read_session).collect();
        let of_agents = sessions.iter();
        let of_agents = of_agents.map(|(agent, session)| Invoked {
            id: agent,
            name: agent,
            events: &session.stamped,
        });
        merge_subagent_calls(&mut events, of_agents);
        for (agent, session) in sessions {
            let mut subagent = session.run.with_events(session.stamped);
            let kind = subagent_kind(&agent, run.records, &mut subagent);
            subagent.id = Some(agent);
            subagent.agent = Some(kind.unwrap_or_else(|| "subagent".to_owned()));
            read.subagents.push(subagent);
        }
        Ok(vec![read.with_events(events)])
    }
}

/// Whether a message is in the form of Claude Code: its content is a text or blocks, and holds calls and results.
fn is_of_claude(message: &Value) -> bool {
    let is_other = ["tool_calls", "parts"]
        .iter()
        .any(|key| !list(message, key).is_empty());
    message.is_object() && !is_other && role(message).as_deref() != Some("tool")
}

/// Whether a message is in Gemini's form: programs that come of Gemini CLI keep such messages in lines like these.
pub(crate) fn is_of_gemini(message: &Value) -> bool {
    message.get("content").is_none() && message.get("parts").is_some_and(Value::is_array)
}

/// Whether a file of this name says of which kind a sub-agent is: `agent-<identifier>.meta.json`.
#[must_use]
pub fn is_about_subagent(name: &str) -> bool {
    name.starts_with("agent-") && name.ends_with(".meta.json")
}

/// The kind of a sub-agent, from the file beside the file of its lines.
fn subagent_kind(agent: &str, records: &[Record<'_>], run: &mut ForeignRun) -> Option<String> {
    let own = format!("agent-{agent}.jsonl");
    let of_agent = records.iter().find(|record| record.input.name() == own)?;
    let about = of_agent.input.path.with_extension("meta.json");
    let bytes = std::fs::read(about).ok()?;
    let about = parse(&bytes).map(|about| about.value);
    let kind = about
        .ok()
        .and_then(|about| nonempty_string(&about, "agentType"));
    if kind.is_none() {
        run.note(format!(
            "`agent-{agent}.meta.json` does not say the kind of the sub-agent"
        ));
    }
    kind
}

/// The session that a line is of.
fn session_id(line: &Value) -> Option<&str> {
    nonempty_text(line, "sessionId").or_else(|| nonempty_text(line, "session_id"))
}

fn unknown_types(records: &[Record<'_>]) -> BTreeSet<String> {
    let types = records.iter().filter_map(|it| text(&it.value, "type"));
    let known = |kind: &&str| BOOKKEEPING.contains(kind) || matches!(*kind, "user" | "assistant");
    let unknown = types.filter(|kind| !known(kind));
    unknown.map(str::to_owned).collect()
}

/// Lines of one agent, as what happened, each with its time.
#[derive(Default)]
struct AgentSession {
    run: ForeignRun,
    stamped: Vec<(i64, Event)>,
}

impl AgentSession {
    fn read(&mut self, lines: &[SessionLine<'_>]) {
        // The blocks of a model call are gathered where its first line stands.
        let mut calls: HashMap<&str, ModelCall<'_>> = HashMap::new();
        for line in lines {
            if let Some(id) = line.model_call_id() {
                calls.entry(id).or_default().add(line);
            }
        }
        let mut now = i64::MIN;
        for line in lines {
            self.run.add_time(line.timestamp());
            now = line.sort_key().unwrap_or(now).max(now);
            let before = self.run.events.len();
            match line.kind {
                "user" => self.push_user(line),
                "assistant" => {
                    if let Some(id) = line.model_call_id() {
                        if let Some(call) = calls.remove(id) {
                            self.push_model_call(line, &call);
                        }
                        self.push_stop(line);
                    } else {
                        self.run
                            .push_assistant(text_of(line.value["message"].get("content")));
                        self.run.stop = Some(Stop::Known("error"));
                    }
                }
                _ => {}
            }
            let new = self.run.events.split_off(before);
            self.stamped
                .extend(new.into_iter().map(|event| (now, event)));
        }
    }

    fn push_model_call(&mut self, line: &SessionLine<'_>, call: &ModelCall<'_>) {
        if let Some(model) = nonempty_text(&line.value["message"], "model") {
            self.run.add_model(model);
        }
        self.run.push_step(call.tokens);
        for block in &call.blocks {
            blocks::read_block(block, &mut self.run);
        }
        self.run.add_time(call.at);
    }

    fn push_stop(&mut self, line: &SessionLine<'_>) {
        let reason = nonempty_string(&line.value["message"], "stop_reason");
        self.run.stop = reason.map(Stop::Spelt).or(self.run.stop.take());
    }

    fn push_user(&mut self, line: &SessionLine<'_>) {
        let content = line.value["message"].get("content");
        let said = text_of(content);
        let is_result = has_block(&line.value["message"], &["tool_result"]);
        if said.starts_with("[Request interrupted by user") {
            self.run.stop = Some(Stop::Known("interrupted"));
            if !is_result {
                self.run.push_turn("user", said);
                return;
            }
        }
        if is_result {
            let mut results = list(&line.value["message"], "content").iter();
            let is_cut =
                |block: &Value| text_of(block.get("content")).contains("<persisted-output>");
            if results.any(is_cut) {
                self.run.note("results of which only a preview was kept");
            }
            let before = self.run.events.len();
            blocks::read_user(content, &mut self.run);
            let answers = self.run.events[before..].iter_mut();
            let mut answers = answers.filter_map(|event| match event {
                Event::Answer(answer) => Some(answer),
                _ => None,
            });
            // What the program knows of the call stands beside the message, which holds one result then.
            if let (Some(answer), None) = (answers.next(), answers.next()) {
                answer.duration_ms = duration_ms(&line.value["toolUseResult"]);
            }
            return;
        }
        if let Some(command) = command_prompt(&said) {
            self.run.stop = None;
            self.run.push_user(command);
            return;
        }
        let notes = ["isMeta", "isCompactSummary", "isSynthetic"];
        if notes.iter().any(|key| is_set(line.value, key)) || is_markup(&said) {
            self.run.note("notes of the program to the model left out");
            return;
        }
        self.run.stop = None;
        blocks::read_user(content, &mut self.run);
    }
}

/// How long a tool took, in milliseconds, where the program says it.
fn duration_ms(result: &Value) -> Option<u64> {
    let keys = ["durationMs", "totalDurationMs"];
    let known = keys.iter().find_map(|key| count(result, key));
    known.or_else(|| time::parse_duration(result.get("durationSeconds")?))
}

/// What a user asks for by a command that has a prompt of its own: `/review order 7`. What is noted of the
/// program's own commands begins with their names.
fn command_prompt(text: &str) -> Option<String> {
    let within = |tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        Some(rest.split_once(&format!("</{tag}>"))?.0.trim())
    };
    text.trim_start()
        .strip_prefix("<command-message>")
        .and_then(|_| within("command-name"))
        .map(|name| format!("{name} {}", within("command-args").unwrap_or_default()))
        .map(|command| command.trim_end().to_owned())
}

/// What the program writes of its own commands.
fn is_markup(text: &str) -> bool {
    let text = text.trim();
    let begins = ["<command-", "<local-command-"];
    begins.iter().any(|tag| text.starts_with(tag)) && text.ends_with('>')
}
