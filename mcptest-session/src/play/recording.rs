//! What a cassette holds for playing, whoever wrote it.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use mcptest_trace::eval::{Divergence, DivergenceKind};
use mcptest_trace::trace::{SCHEMA_VERSION, Trace};
use serde_json::{Map, Value};

use super::kept::{Other, RecordedCall, calls, others, parts, said, shape, tokens};
use super::moves::{self, Shape};
use super::offered::{
    OfferedTool, ToolName, known_tools, offered, server_names, tool_name, tool_names,
};
use super::servers::{self, RecordedServer};
use crate::exchange::{Part, Said};
use crate::json::{list, named, text};
use crate::mcp::is_name_of;

/// The first number of the version of the field `session` that is read here.
const VERSION: &str = "1.";

/// A recorded run, to be played.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    /// The agent's own conversation first.
    pub(super) conversations: Vec<Conversation>,
    /// The calls of the trace.
    pub(super) calls: Vec<RecordedCall>,
    /// Answers to what asks no model, by the digest of the request.
    pub(super) others: HashMap<String, Vec<Other>>,
    /// The answers that have an identifier: their conversation and their place in it.
    pub(super) ids: HashMap<String, (usize, usize)>,
    /// The calls by the identifiers that the client is given.
    pub(super) call_ids: HashMap<String, usize>,
    /// The servers whose tools were offered.
    pub(super) servers: Vec<String>,
    /// The tools of servers that are known, each with its server.
    known: BTreeSet<(String, String)>,
    /// What the model called tools of servers by names that do not say which they are: the server and the tool.
    wire_names: HashMap<String, (String, String)>,
    /// What tools of the agent's own code answered, where its session was told.
    pub(super) own_tools: Vec<Value>,
    /// What the MCP servers answered.
    pub(super) mcp: Vec<RecordedServer>,
    /// When the run was recorded.
    recorded_at: Option<String>,
}

/// A conversation of a recorded run.
#[derive(Debug, Clone, Default)]
pub(super) struct Conversation {
    /// The name of the sub-agent that has it.
    pub(super) name: Option<String>,
    pub(super) role: Role,
    pub(super) opening: Option<String>,
    pub(super) moves: Vec<Answer>,
    /// The tools that were offered, where the recording lists them.
    pub(super) tools: Option<Vec<OfferedTool>>,
    /// How many answers stand in its first request already, which no model gave.
    pub(super) examples: usize,
    /// The request after the last answer came to nothing, for this reason.
    pub(super) failed: Option<String>,
}

impl Conversation {
    /// A difference at an answer.
    pub(super) fn divergence(
        &self,
        answer: usize,
        kind: DivergenceKind,
        path: impl Into<String>,
        message: impl Into<String>,
    ) -> Divergence {
        let place = (answer + 1, self.moves.len());
        Divergence::new(kind, place, path, message).of(self.name.clone())
    }
}

/// What a conversation is in its run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Role {
    #[default]
    Main,
    Agent,
    Side,
}

/// A recorded answer, and what its request said.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    pub(super) said: Said,
    /// The calls of the trace that are of it.
    pub(super) calls: Vec<usize>,
    /// What others than the agent had said since the answer before.
    pub(super) heard: Vec<(String, String)>,
    /// The system prompt of its request, where that is known; that there was none is known too.
    pub(super) system: Option<Option<String>>,
    /// The tools that its request offered, where they are known.
    pub(super) tools: Option<BTreeSet<ToolName>>,
    pub(super) asked_model: Option<String>,
    pub(super) parameters: Option<Map<String, Value>>,
    pub(super) protocol: Option<String>,
    /// The digest of the talk of its request, where the agent had changed the past.
    pub(super) past: Option<String>,
    /// Why the answer is not whole.
    pub(super) broken: Option<String>,
    /// When it was given among all answers of the run.
    pub(super) rank: usize,
}

/// Why a cassette cannot be played.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordingError {
    /// The value is no cassette of a version that is known.
    NoCassette,
    /// The run holds no answer of a model.
    NoAnswer,
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoCassette => "this is no cassette of schema version `v1`",
            Self::NoAnswer => {
                "the recording holds no answer of the model, so there is nothing to play"
            }
        })
    }
}

impl std::error::Error for RecordingError {}

impl Recording {
    /// What a cassette holds for playing.
    ///
    /// ```
    /// use mcptest_session::play::Recording;
    /// use serde_json::json;
    ///
    /// let cassette = json!({
    ///     "schema_version": "v1", "model": "gpt-5", "user_prompt": "Refund order 7.",
    ///     "trace": { "tool_calls": [{ "name": "refund", "args": { "order": 7 } }], "final_response": "Done." },
    /// });
    /// assert_eq!(Recording::of(&cassette)?.answers(), 2);
    /// # Ok::<(), mcptest_session::play::RecordingError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The value is no cassette, or its run holds no answer of a model.
    pub fn of(cassette: &Value) -> Result<Self, RecordingError> {
        let version = text(cassette, "schema_version").unwrap_or_default();
        if !version.starts_with(SCHEMA_VERSION) || !cassette["trace"].is_object() {
            return Err(RecordingError::NoCassette);
        }
        let trace = Trace::from_envelope(&cassette["trace"]);
        let field = &cassette["session"];
        let is_known = text(field, "version").is_some_and(|version| version.starts_with(VERSION));
        let field = if is_known { field } else { &Value::Null };
        let tools = cassette.get("tools").filter(|tools| tools.is_array());
        let tools = tools.map(offered);
        let mut recording = Self {
            calls: calls(&trace),
            recorded_at: named(cassette, "recorded_at"),
            servers: server_names(&trace, tools.as_deref()),
            others: others(field),
            own_tools: list(field, "tools").to_vec(),
            mcp: servers::of(field, &trace, tools.as_deref()),
            ..Self::default()
        };
        recording.known = known_tools(&trace, tools.as_deref());
        for server in list(field, "mcp") {
            let name = named(server, "server").unwrap_or_default();
            let names = server["names"].as_object().into_iter().flatten();
            for (wire, tool) in names {
                let tool = tool.as_str().unwrap_or_default().to_owned();
                recording
                    .wire_names
                    .insert(wire.clone(), (name.clone(), tool));
            }
        }
        recording.main(cassette, &trace, field, tools);
        for (number, other) in list(field, "conversations").iter().enumerate() {
            match text(other, "role") {
                Some("agent") => recording.other(other, &trace, Role::Agent, number),
                Some("side") => recording.other(other, &trace, Role::Side, number),
                _ => {}
            }
        }
        if recording.answers() == 0 && recording.conversations[0].failed.is_none() {
            return Err(RecordingError::NoAnswer);
        }
        recording.rank();
        recording.index();
        Ok(recording)
    }

    /// The tool that a client's name for it means.
    pub(super) fn tool_name(&self, wire: &str) -> ToolName {
        if let Some((server, tool)) = self.wire_names.get(wire) {
            return (Some(server.clone()), tool.clone());
        }
        let fits = |(server, tool): &&(String, String)| is_name_of(wire, server, tool);
        let mut meant = self.known.iter().filter(fits);
        match (meant.next(), meant.next()) {
            (Some((server, tool)), None) => (Some(server.clone()), tool.clone()),
            _ => tool_name(wire, &self.servers),
        }
    }

    /// How many answers of a model it holds.
    #[must_use]
    pub fn answers(&self) -> usize {
        self.conversations.iter().map(|it| it.moves.len()).sum()
    }

    /// When the run was recorded, as RFC 3339 has it, where the recording says so.
    #[must_use]
    pub fn recorded_at(&self) -> Option<&str> {
        self.recorded_at.as_deref()
    }

    fn main(
        &mut self,
        cassette: &Value,
        trace: &Trace,
        field: &Value,
        tools: Option<Vec<OfferedTool>>,
    ) {
        let prompt = text(cassette, "user_prompt").unwrap_or_default();
        let own = list(field, "conversations").iter();
        let own = own.clone().find(|it| text(it, "role") == Some("main"));
        let answers = own.map_or(&[][..], |own| list(own, "answers"));
        let shapes: Vec<Shape> = answers.iter().map(shape).collect();
        let own_closing = text(field, "closing") == Some("stdout");
        let of_examples = |key: &str| {
            let count = own.and_then(|own| own["examples"][key].as_u64());
            usize::try_from(count.unwrap_or_default()).unwrap_or_default()
        };
        let beside = (own_closing, of_examples("texts"));
        let moves = moves::of(trace, prompt, beside, &shapes);
        // Answers that do not go together with the trace say nothing of it.
        let fits = moves.len() == answers.len();
        let model = named(cassette, "model");
        let system = cassette.get("system_prompt").and_then(Value::as_str);
        // Only a session knows that there was none, or a recorder that writes it down as empty.
        let mut told = Told {
            system: (own.is_some() || system.is_some())
                .then(|| system.filter(|text| !text.is_empty()).map(str::to_owned)),
            tools: tools.as_deref().map(tool_names),
            parameters: own.map(|_| Map::new()),
            recording: self,
        };
        let steps = &trace.conversation.steps;
        let mut written = Vec::new();
        for (place, one) in moves.into_iter().enumerate() {
            let answer = answers.get(place).filter(|_| fits).unwrap_or(&Value::Null);
            let tokens = steps.get(place).and_then(tokens);
            let mut said = said(answer, one.parts, tokens);
            said.model = said.model.or_else(|| model.clone());
            let mut own = told.answer(answer, said);
            own.calls = one.calls;
            own.heard = one.heard;
            written.push(own);
        }
        let opening = written.first().and_then(|first| {
            let user = first.heard.iter().find(|(role, _)| role == "user");
            user.map(|(_, text)| text.clone())
        });
        self.conversations.push(Conversation {
            name: None,
            role: Role::Main,
            opening: opening.or_else(|| Some(prompt.to_owned())),
            moves: written,
            tools,
            examples: of_examples("answers"),
            failed: own.and_then(|own| named(own, "failed")),
        });
    }

    /// A conversation besides the agent's own.
    fn other(&mut self, other: &Value, trace: &Trace, role: Role, number: usize) {
        let name = named(other, "name");
        let of_agent = |call: &usize| {
            let agent = trace.tool_calls[*call].agent_id.as_deref();
            role == Role::Agent && agent == name.as_deref()
        };
        let calls: Vec<usize> = (0..trace.tool_calls.len()).filter(of_agent).collect();
        let mut calls = calls.into_iter();
        let tools = other.get("tools").filter(|tools| tools.is_array());
        let tools = tools.map(offered);
        let mut told = Told {
            system: Some(named(other, "system_prompt")),
            tools: match role {
                Role::Side => Some(BTreeSet::new()),
                _ => tools.as_deref().map(tool_names),
            },
            parameters: Some(Map::new()),
            recording: self,
        };
        let opening = named(other, "opening");
        let mut moves = Vec::new();
        for (place, answer) in list(other, "answers").iter().enumerate() {
            let parts = parts(answer).unwrap_or_default();
            let made = parts.iter().filter(|part| matches!(part, Part::Call(_)));
            let mut own = told.answer(answer, said(answer, parts.clone(), None));
            own.calls = calls.by_ref().take(made.count()).collect();
            if let (0, Some(opening)) = (place, &opening) {
                own.heard.push(("user".to_owned(), opening.clone()));
            }
            moves.push(own);
        }
        self.conversations.push(Conversation {
            name: name.or_else(|| Some(format!("side {number}"))),
            role,
            opening,
            moves,
            tools,
            examples: other["examples"]["answers"]
                .as_u64()
                .and_then(|count| usize::try_from(count).ok())
                .unwrap_or_default(),
            failed: named(other, "failed"),
        });
    }

    /// Puts all answers into the order in which they were given, as far as the calls tell it.
    fn rank(&mut self) {
        let mut order = Vec::new();
        for (conversation, it) in self.conversations.iter().enumerate() {
            let mut last = 0;
            for (place, answer) in it.moves.iter().enumerate() {
                last = answer.calls.first().copied().unwrap_or(last);
                order.push((last, place, conversation));
            }
        }
        order.sort_unstable();
        for (rank, (_, place, conversation)) in order.into_iter().enumerate() {
            self.conversations[conversation].moves[place].rank = rank;
        }
    }

    /// Gives every answer and every call an identifier, and keeps where it is.
    fn index(&mut self) {
        for (number, conversation) in self.conversations.iter_mut().enumerate() {
            for (place, answer) in conversation.moves.iter_mut().enumerate() {
                let said = &mut answer.said;
                let id = said
                    .id
                    .get_or_insert_with(|| format!("mcptest_{number}_{place}"));
                self.ids.insert(id.clone(), (number, place));
                for item in &said.items {
                    self.ids.insert(item.id.clone(), (number, place));
                }
                let mut calls = answer.calls.iter();
                for part in &mut said.parts {
                    let Part::Call(call) = part else { continue };
                    let Some(index) = calls.next() else { continue };
                    if call.native.is_none() {
                        let id = call
                            .id
                            .get_or_insert_with(|| format!("call_mcptest_{index}"));
                        self.call_ids.insert(id.clone(), *index);
                    }
                }
            }
        }
    }
}

/// What requests say besides their talk, from one answer to the next.
struct Told<'r> {
    system: Option<Option<String>>,
    tools: Option<BTreeSet<ToolName>>,
    parameters: Option<Map<String, Value>>,
    recording: &'r Recording,
}

impl Told<'_> {
    fn answer(&mut self, answer: &Value, said: Said) -> Answer {
        if let Some(system) = answer.get("system_prompt") {
            self.system = Some(system.as_str().map(str::to_owned));
        }
        if let Some(Value::Array(tools)) = answer.get("tools") {
            let names = tools.iter().filter_map(Value::as_str);
            self.tools = Some(names.map(|name| self.recording.tool_name(name)).collect());
        }
        if let Some(Value::Object(parameters)) = answer.get("parameters") {
            self.parameters = Some(parameters.clone());
        }
        Answer {
            said,
            system: self.system.clone(),
            tools: self.tools.clone(),
            parameters: self.parameters.clone(),
            asked_model: named(answer, "asked"),
            protocol: named(answer, "protocol"),
            past: named(answer, "past"),
            broken: named(answer, "broken"),
            ..Answer::default()
        }
    }
}
