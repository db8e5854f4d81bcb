//! What a cassette holds for playing, whoever wrote it.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use mcptest_trace::trace::{SCHEMA_VERSION, Trace};
use serde_json::{Map, Value};

use super::cassette_fields::{
    OtherRequest, RecordedCall, left_out, read_calls, read_other_requests, read_parts,
    read_response, read_shape, read_tokens, step_tokens,
};
use super::closing::Closing;
use super::conversation::{Answer, CallPlace, Conversation, Role};
use super::examples::read_examples;
use super::joining;
use super::model_calls::{self, Shape};
use super::offered_tools::{OfferedTool, ToolName, ToolNames, read_tools, tool_names};
use super::open_runs::{OpenRuns, read_open_runs};
use super::openings::Openings;
use super::servers::{self, RecordedServer};
use crate::door::RecordedCalls;
use crate::exchange::{ModelResponse, Part};
use crate::folders::FolderMap;
use crate::json::{list, nonempty_string, text};
use crate::protocol::is_of_bedrock;
use crate::record::{Message, read_told};

/// The first number of the version of the field `session` that is read here.
const VERSION: &str = "1.";

/// The version that says the least.
const FIRST: &str = "1.0";

/// A recorded run, to be played.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    /// The agent's own conversation first.
    pub(super) conversations: Vec<Conversation>,
    /// The conversations by how they begin.
    pub(super) openings: Openings,
    /// How many answers of a model it holds.
    answers: usize,
    /// The calls of the trace.
    pub(super) calls: Vec<RecordedCall>,
    /// Answers to what asks no model, by the digest of the request.
    pub(super) others: HashMap<String, Vec<OtherRequest>>,
    /// The answers that have an identifier: their conversation and their place in it.
    pub(super) ids: HashMap<String, (usize, usize)>,
    /// The answers to each question that was answered several times, in their order.
    pub(super) equal: HashMap<usize, Vec<(usize, usize)>>,
    /// The first answer before which others than the agent had said this.
    pub(super) heard: HashMap<Vec<(String, String)>, (usize, usize)>,
    /// The calls by the identifiers that the client is given, which some servers give again: in their order.
    pub(super) call_ids: HashMap<String, Vec<CallPlace>>,
    /// What clients call the tools.
    pub(super) names: ToolNames,
    /// What tools of the agent's own code answered, where its session was told.
    pub(super) own_tools: RecordedCalls,
    /// What went by while they ran.
    pub(super) during: OpenRuns,
    /// What its program said to the user.
    pub(super) closing: Closing,
    /// The model that it names, where no session wrote it down.
    pub(super) foreign_model: Option<String>,
    /// What the MCP servers answered.
    pub(super) mcp: Vec<RecordedServer>,
    /// The session that wrote it down says which tools are strict, and what others than the agent are told.
    says_more: bool,
    /// When the run was recorded.
    recorded_at: Option<String>,
    /// The conversations whose past the agent had changed.
    pub(super) changed: Vec<usize>,
    /// What the user asked.
    pub(super) prompt: String,
    /// The folders that its texts name.
    pub(super) folders: FolderMap,
    /// The region of AWS that was asked.
    region: Option<String>,
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
    /// assert_eq!(Recording::from_cassette(&cassette)?.answers(), 2);
    /// # Ok::<(), mcptest_session::play::RecordingError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The value is no cassette, or its run holds no answer of a model.
    pub fn from_cassette(cassette: &Value) -> Result<Self, RecordingError> {
        let version = text(cassette, "schema_version").unwrap_or_default();
        if !version.starts_with(SCHEMA_VERSION) || !cassette["trace"].is_object() {
            return Err(RecordingError::NoCassette);
        }
        let trace = Trace::from_envelope(&cassette["trace"]);
        let field = &cassette["session"];
        let is_known = text(field, "version").is_some_and(|version| version.starts_with(VERSION));
        let field = if is_known { field } else { &Value::Null };
        let says_more = text(field, "version").is_some_and(|version| version != FIRST);
        let tools = cassette.get("tools").filter(|tools| tools.is_array());
        let tools = tools.map(read_tools);
        let mut recording = Self {
            says_more,
            calls: read_calls(&trace, field),
            recorded_at: nonempty_string(cassette, "recorded_at"),
            region: nonempty_string(field, "region"),
            prompt: nonempty_string(cassette, "user_prompt").unwrap_or_default(),
            folders: FolderMap::from_cassette(cassette),
            names: ToolNames::new(&trace, tools.as_deref(), field),
            others: read_other_requests(field),
            own_tools: RecordedCalls::from_notes(list(field, "tools"), &trace),
            during: OpenRuns::from_field(field),
            closing: Closing::from_field(field, &trace),
            foreign_model: nonempty_string(cassette, "model").filter(|_| field.is_null()),
            mcp: servers::read_servers(field, &trace, tools.as_deref()),
            ..Self::default()
        };
        recording.add_main(cassette, &trace, field, tools);
        let mut calls: HashMap<Option<&str>, Vec<usize>> = HashMap::new();
        for (index, call) in trace.tool_calls.iter().enumerate() {
            let agent = call.agent_id.as_deref();
            calls.entry(agent).or_default().push(index);
        }
        for (number, other) in list(field, "conversations").iter().enumerate() {
            match text(other, "role") {
                Some("agent") => {
                    let own = calls.get(&text(other, "name")).map(Vec::as_slice);
                    recording.add_conversation(other, own.unwrap_or_default(), Role::Agent, number);
                }
                Some("side") => recording.add_conversation(other, &[], Role::Side, number),
                _ => {}
            }
        }
        joining::join_restarted(&mut recording.conversations, &recording.prompt);
        recording.answers = recording
            .conversations
            .iter()
            .map(|it| it.moves.len())
            .sum();
        if recording.answers == 0 && recording.conversations[0].failed.is_none() {
            return Err(RecordingError::NoAnswer);
        }
        recording.rank_answers();
        recording.index_ids();
        Ok(recording)
    }

    /// The tool that a client's name for it means.
    pub(super) fn tool_name(&self, wire: &str) -> ToolName {
        self.names.resolve(wire)
    }

    /// How many answers of a model it holds.
    #[must_use]
    pub fn answers(&self) -> usize {
        self.answers
    }

    /// When the run was recorded, as RFC 3339 has it, where the recording says so.
    #[must_use]
    pub fn recorded_at(&self) -> Option<&str> {
        self.recorded_at.as_deref()
    }

    /// Whether a model of AWS was asked.
    pub(super) fn asks_aws(&self) -> bool {
        let mut moves = self.conversations.iter().flat_map(|it| &it.moves);
        let is_own = |format: Option<&str>| format.is_some_and(is_of_bedrock);
        self.region.is_some() || moves.any(|one| is_own(one.protocol.as_deref()))
    }

    /// The region of AWS that was asked.
    pub(super) fn region(&self) -> Option<&str> {
        self.region.as_deref()
    }

    fn add_main(
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
        let shapes: Vec<Shape> = answers.iter().map(read_shape).collect();
        let own_closing = text(field, "closing") == Some("stdout");
        let of_examples = |key: &str| {
            let count = own.and_then(|own| own["examples"][key].as_u64());
            usize::try_from(count.unwrap_or_default()).unwrap_or_default()
        };
        let beside = (own_closing, of_examples("texts"));
        let moves = model_calls::from_trace(
            trace,
            prompt,
            beside,
            &shapes,
            &self.own_tools.calls_in_text(),
        );
        // Answers that do not go together with the trace say nothing of it.
        let fits = moves.len() == answers.len();
        let model = nonempty_string(cassette, "model");
        let system = cassette.get("system_prompt").and_then(Value::as_str);
        // Only a session knows that there was none, or a recorder that writes it down as empty.
        let mut beside = RequestState {
            system: (own.is_some() || system.is_some())
                .then(|| system.filter(|text| !text.is_empty()).map(str::to_owned)),
            tools: tools.as_deref().map(tool_names),
            parameters: own.map(|_| Map::new()),
            past: Vec::new(),
            recording: self,
        };
        let steps = &trace.conversation.steps;
        let mut written = Vec::new();
        for (place, one) in moves.into_iter().enumerate() {
            let answer = answers.get(place).filter(|_| fits).unwrap_or(&Value::Null);
            let tokens = steps.get(place).and_then(step_tokens);
            let mut said = read_response(answer, one.parts, tokens);
            said.model = said.model.or_else(|| model.clone());
            let mut own = beside.read_answer(answer, said);
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
            strict: own
                .filter(|_| self.says_more)
                .map(|own| self.names.read_strict(own)),
            began: own.and_then(|own| read_examples(&self.names, own)),
            knows_heard: true,
            failed: own.and_then(|own| nonempty_string(own, "failed")),
        });
    }

    /// A conversation besides the agent's own, with its calls in the trace.
    fn add_conversation(&mut self, other: &Value, calls: &[usize], role: Role, number: usize) {
        let name = nonempty_string(other, "name");
        let mut calls = calls.iter().copied();
        let tools = other.get("tools").filter(|tools| tools.is_array());
        let tools = tools.map(|tools| self.names.resolve_all(read_tools(tools)));
        let mut beside = RequestState {
            system: Some(nonempty_string(other, "system_prompt")),
            tools: match role {
                Role::Side => Some(BTreeSet::new()),
                _ => tools.as_deref().map(tool_names),
            },
            parameters: Some(Map::new()),
            past: Vec::new(),
            recording: self,
        };
        let opening = nonempty_string(other, "opening");
        let mut moves = Vec::new();
        for (place, answer) in list(other, "answers").iter().enumerate() {
            let parts = read_parts(answer).unwrap_or_default();
            let made = parts.iter().filter(|part| matches!(part, Part::Call(_)));
            let mut own = beside.read_answer(
                answer,
                read_response(answer, parts.clone(), read_tokens(answer)),
            );
            own.calls = {
                let made = made.count().saturating_sub(left_out(answer));
                calls.by_ref().take(made).collect()
            };
            let heard = answer.get("heard").cloned();
            let heard = heard.and_then(|heard| serde_json::from_value(heard).ok());
            own.heard = match (heard, &opening) {
                (Some(heard), _) => heard,
                (None, Some(opening)) if place == 0 => vec![("user".to_owned(), opening.clone())],
                (None, _) => Vec::new(),
            };
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
            strict: self.says_more.then(|| self.names.read_strict(other)),
            began: read_examples(&self.names, other),
            knows_heard: self.says_more,
            failed: nonempty_string(other, "failed"),
        });
    }
}

/// Which question that was answered several times an answer is of, and which of its answers it is.
fn read_repeat(answer: &Value) -> Option<(usize, usize)> {
    serde_json::from_value(answer.get("equal")?.clone()).ok()
}

/// What requests say besides their talk, from one answer to the next.
struct RequestState<'r> {
    system: Option<Option<String>>,
    tools: Option<BTreeSet<ToolName>>,
    parameters: Option<Map<String, Value>>,
    /// What the last request said whose past the agent had changed.
    past: Vec<Arc<Message>>,
    recording: &'r Recording,
}

impl RequestState<'_> {
    /// What a request said whose past the agent had changed.
    fn read_past(&mut self, answer: &Value) -> Option<Vec<Arc<Message>>> {
        let told = read_told(&self.past, answer.get("told")?)?;
        self.past.clone_from(&told);
        Some(told)
    }

    fn read_answer(&mut self, answer: &Value, said: ModelResponse) -> Answer {
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
            asked_model: nonempty_string(answer, "asked"),
            protocol: nonempty_string(answer, "protocol"),
            past: nonempty_string(answer, "past"),
            talk: nonempty_string(answer, "talk"),
            told: self.read_past(answer),
            is_bare: answer["bare"] == true,
            broken: nonempty_string(answer, "broken"),
            during: read_open_runs(answer),
            equal: read_repeat(answer),
            ..Answer::default()
        }
    }
}
