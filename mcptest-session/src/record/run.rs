//! Conversations become a run: a cassette of schema version `v1`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use mcptest_trace::text::pluralize;
use mcptest_trace::trace::SCHEMA_VERSION;
use serde_json::{Map, Value, json};

use super::agent_names::AgentNames;
use super::conversation::{Changed, Conversation, ModelCall, ModelCalls};
use super::mcp_calls::McpCalls;
use super::mcp_field;
use super::observed::{Observed, Outcome};
use super::options::{Role, RunOptions, most_tokens};
use super::own_calls::OwnCalls;
use super::own_field;
use super::placing::group_into_conversations;
use super::session_field;
use super::stored_request::StoredRequest;
use super::writing::{MessageResults, RunWriter};
use crate::exchange::{Item, Part, Stop};
use crate::lossless::Change;
use crate::mcp::NameIndex;
use crate::protocol::Provider;

/// A run, and what is said of it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RecordedRun {
    /// The cassette. Secrets are still in it.
    pub cassette: Value,
    /// What whoever records should know.
    pub notes: Vec<String>,
    /// The model that the main conversation asks, where its requests say so.
    pub asked_model: Option<String>,
}

/// Why what went by makes no run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// The agent asked no model; the paths that it asked instead.
    NothingAsked(Vec<String>),
    /// No request got an answer: what was said instead.
    NothingSaid(Vec<String>),
    /// An answer came that cannot be read, so that the run is not known.
    Unreadable(Vec<String>),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingAsked(others) => {
                write!(
                    f,
                    "the agent called no model at the address of the session; let the agent's client take the address from {}, \
                     which the session sets",
                    address_variables()
                )?;
                let Some(first) = others.first() else {
                    return Ok(());
                };
                write!(
                    f,
                    "; it sent {} of unknown kinds, such as `{first}`",
                    pluralize(others.len(), "request")
                )
            }
            Self::NothingSaid(why) => write!(
                f,
                "the agent got no answer of a model: {}",
                why.first()
                    .map_or("the agent did not wait for an answer", String::as_str)
            ),
            Self::Unreadable(why) => write!(
                f,
                "the run cannot be read, because {} of its model calls cannot be read: {}",
                why.len(),
                why.first().map_or("", String::as_str)
            ),
        }
    }
}

impl std::error::Error for RunError {}

/// The variables that say where the providers are: of each that has an address of its own, the one that its clients prefer.
fn address_variables() -> String {
    let own = Provider::all().filter(|provider| provider.default.is_some());
    let names = own.filter_map(|provider| provider.variables.first().copied());
    let names: Vec<&str> = names.collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

impl RecordedRun {
    /// Makes a run of what went by.
    ///
    /// # Errors
    ///
    /// No model was asked, none answered, or an answer cannot be read.
    pub(crate) fn from_observed(
        observed: &[Observed],
        options: &RunOptions,
    ) -> Result<Self, RunError> {
        let calls = group_into_conversations(observed, &options.turns);
        if !calls.unreadable.is_empty() {
            return Err(RunError::Unreadable(calls.unreadable));
        }
        let Some(main) = find_main(&calls.conversations, options) else {
            return Err(if calls.failed.is_empty() {
                let others = observed.iter().map(|one| match &one.outcome {
                    Outcome::Refused(why) => format!("{}: {why}", one.path),
                    _ => one.path.clone(),
                });
                RunError::NothingAsked(others.collect())
            } else {
                RunError::NothingSaid(calls.failed)
            });
        };
        Ok(build_run(&calls, main, observed, options))
    }
}

/// The main conversation: that which the user's first words open, else one that holds them, else the first
/// one with tools, else the first.
fn find_main(conversations: &[Conversation], options: &RunOptions) -> Option<usize> {
    let is_answered = |conversation: &Conversation| conversation.answered_calls().next().is_some();
    let prompt = options.turns.first().map(|text| text.trim());
    let prompt = prompt.filter(|text| !text.is_empty());
    let opened = |conversation: &Conversation| {
        let opening = conversation.opening().map(str::trim);
        prompt.is_some() && opening == prompt
    };
    let holds = |conversation: &Conversation| {
        let first = conversation.calls.first();
        let mut items = first.iter().flat_map(|call| call.asked.items.iter());
        prompt.is_some_and(|prompt| {
            items.any(|item| matches!(&**item, Item::User(text) if text.contains(prompt)))
        })
    };
    let best = |fits: &dyn Fn(&Conversation) -> bool| {
        // One with tools is asked before a title that is made of the same words.
        let mut all = conversations.iter();
        let fits = |it: &Conversation| is_answered(it) && fits(it);
        let with_tools = all.position(|it| fits(it) && it.has_tools());
        let longest = || {
            let fitting = conversations.iter().enumerate().filter(|(_, it)| fits(it));
            let longest = fitting.rev().max_by_key(|(_, it)| it.calls.len());
            longest.map(|(index, _)| index)
        };
        with_tools.or_else(longest)
    };
    let main = best(&opened)
        .or_else(|| best(&holds))
        .or_else(|| best(&|_| true))?;
    Some(continued_conversation(conversations, main))
}

/// The conversation that the client went on with, of those that begin with the same question as the main one; else
/// the last of them.
fn continued_conversation(conversations: &[Conversation], main: usize) -> usize {
    let begin = |conversation: &Conversation| {
        let first = conversation.calls.first()?;
        let (question, _) = first.equal?;
        Some((
            question,
            first.asked.model.clone(),
            conversation.has_tools(),
        ))
    };
    let Some(own) = begin(&conversations[main]) else {
        return main;
    };
    let equal = conversations.iter().enumerate();
    let equal = equal.filter(|(_, other)| begin(other).as_ref() == Some(&own));
    let longest = equal.max_by_key(|(_, other)| other.calls.len());
    longest.map_or(main, |(index, _)| index)
}

fn build_run(
    calls: &ModelCalls,
    main: usize,
    observed: &[Observed],
    options: &RunOptions,
) -> RecordedRun {
    let conversations = &calls.conversations;
    let mut names = AgentNames::new(&conversations[main]);
    let role = |(index, conversation): (usize, &Conversation)| {
        if index == main {
            Role::Main
        } else if conversation.has_tools() {
            Role::Agent(names.name(conversation))
        } else {
            Role::Side
        }
    };
    let roles: Vec<Role> = conversations.iter().enumerate().map(role).collect();
    let own = &conversations[main];
    let mcp = McpCalls::pair(conversations, &roles, &options.mcp);
    let known = NameIndex::from_traffic(&options.mcp);
    let found = OwnCalls::pair(conversations, main, &mcp, &options.own_calls);
    let mut writing = RunWriter::new(options, &known, &mcp, &found);
    writing.write(conversations, &roles);
    let told = writing.mcp_calls_in_trace();
    let messages = writing.take_messages();
    let told_otherwise = writing.take_told_differences();
    let mut notes = conversation_notes(own, options, &messages);
    notes.extend(note_alike_conversations(conversations, main, options));
    if let Some(calls) = writing.without_results(own) {
        let calls = pluralize(calls, "call");
        notes.push(format!(
            "no result is recorded for {calls}: the agent tells the model no results that belong to calls, so gates that need \
             results judge on nothing"
        ));
    }
    notes.extend(mcp_field::notes(&options.mcp, &mcp, &told));
    notes.extend(note_changes(observed, &writing.changes()));
    let others = conversations.iter().enumerate();
    let others = others
        .filter(|(place, _)| *place != main)
        .map(|(_, other)| other);
    let mut conversation = writing.conversation_json(own, others, &mut notes);
    write_ending(own, options, &mut conversation, &mut notes);
    if let Some(duration) = options.duration_ms {
        conversation["duration_ms"] = duration.into();
    }
    let unknown = writing.unknown();
    let left_out = writing.take_left_out();
    let tools: Vec<Value> = own
        .tools()
        .iter()
        .map(|tool| writing.tool_json(tool))
        .collect();
    let closing = writing.printed_closing();
    let in_trace = writing.take_own();
    let mut trace = writing.into_trace(&conversation, closing);
    own_field::mark_differences(&mut trace, &in_trace, &options.own_calls);
    notes.extend(own_field::notes(&trace));
    let tools_told = own_field::to_json(&trace, &in_trace, &found, &options.own_calls);
    let first = own.calls.first();
    let asked_model = first.and_then(|call| call.asked.model.clone());
    let prompt = options.turns.first().map(String::as_str);
    let mut cassette = json!({
        "schema_version": SCHEMA_VERSION,
        "agent_name": options.agent,
        "model": options.model.clone().or(asked_model.clone()).unwrap_or_default(),
        "user_prompt": prompt.or(own.opening()).unwrap_or_default(),
        "trace": trace,
    });
    write_request_fields(&mut cassette, first.map(|call| &call.asked), tools, options);
    cassette["session"] = session_field::to_json(
        calls,
        &roles,
        observed,
        &notes,
        &unknown,
        &messages.calls,
        &left_out,
    );
    if !told_otherwise.is_empty() {
        cassette["session"]["told"] = told_otherwise.into();
    }
    closing_field(&mut cassette["session"], closing, options);
    let names = mcp_field::wire_names(conversations, options, &known, &mcp);
    if let Some(mcp) = mcp_field::to_json(&options.mcp, &mcp, &told, &names) {
        cassette["session"]["mcp"] = mcp;
    }
    let session = &mut cassette["session"];
    own_field::mark_open_runs(session, calls, observed, &options.mcp, &options.own_calls);
    if !tools_told.is_empty() {
        session["tools"] = tools_told.into();
    }
    RecordedRun {
        cassette,
        notes,
        asked_model,
    }
}

/// What the first request asks for beside the prompt, and when and where the run was recorded.
fn write_request_fields(
    cassette: &mut Value,
    first: Option<&StoredRequest>,
    tools: Vec<Value>,
    options: &RunOptions,
) {
    if let Some(system) = first.and_then(|asked| asked.system.as_deref()) {
        cassette["system_prompt"] = system.into();
    }
    if let Some(at) = &options.recorded_at {
        cassette["recorded_at"] = at.as_str().into();
    }
    if let Some(machine) = &options.recorded_on {
        cassette["recorded_on"] = machine.as_str().into();
    }
    if !tools.is_empty() {
        cassette["tools"] = tools.into();
    }
    if let Some(first) = first {
        let parameters = Value::Object((*first.parameters).clone());
        for (key, value) in sampling_limits(&parameters) {
            cassette[key] = value;
        }
    }
}

/// What the program said to the user, beside what the model did.
fn closing_field(session: &mut Value, closing: Option<&str>, options: &RunOptions) {
    let printed = options.closing.as_deref().unwrap_or_default();
    if closing.is_some() {
        // No answer of the model says it.
        session["closing"] = "stdout".into();
    } else if !printed.trim().is_empty() {
        session["closing"] = "answer".into();
    }
    if options.said.len() > 1 {
        session["said"] = options.said.clone().into();
    }
}

/// What must be known where several conversations may be the one that the suite began.
fn note_alike_conversations(
    conversations: &[Conversation],
    main: usize,
    options: &RunOptions,
) -> Option<String> {
    let prompt = options.turns.first().map(|text| text.trim());
    let prompt = prompt.filter(|prompt| !prompt.is_empty())?;
    let first = |one: usize| conversations[one].calls.first().map(|call| &call.asked);
    let own = first(main)?;
    let is_alike = |one: &usize| {
        let same = first(*one).is_some_and(|it| it.system == own.system && it.tools == own.tools);
        let one_of_them = &conversations[*one];
        // The same question again is asked anew.
        let is_other = *one == main || one_of_them.opening() != conversations[main].opening();
        same && is_other && opening_holds(one_of_them, prompt)
    };
    let alike: Vec<usize> = (0..conversations.len()).filter(is_alike).collect();
    let place = alike.iter().position(|one| *one == main)? + 1;
    (alike.len() > 1).then(|| {
        format!(
            "{} conversations begin with the suite's prompt, and have the same system prompt and tools: if they are one, the \
             agent tells its past in a form that is not known; the closing message is of conversation {place} of them",
            alike.len()
        )
    })
}

/// What must be known of the main conversation to read its run.
fn conversation_notes(
    own: &Conversation,
    options: &RunOptions,
    messages: &MessageResults,
) -> Vec<String> {
    let mut notes = Vec::new();
    let prompt = options.turns.first().map(|text| text.trim());
    if prompt.is_some_and(|prompt| !prompt.is_empty() && !opening_holds(own, prompt)) {
        notes.push(
            "no conversation begins with the prompt: the first conversation is used".to_owned(),
        );
    }
    let changed: Vec<Changed> = own.calls.iter().filter_map(|call| call.changed).collect();
    if changed.contains(&Changed::Past) {
        notes
            .push("the agent changed earlier messages of its conversation (compaction)".to_owned());
    }
    if changed.contains(&Changed::Anew) {
        notes.push(
            "each request begins anew, and a message of the user tells the past (scratchpad): the requests are one \
             conversation, and its last answer is the closing message; if your user reads another text (a critic has the last \
             word), say `closing: stdout`"
                .to_owned(),
        );
    }
    if messages.results > 0 {
        let results = pluralize(messages.results, "result");
        notes.push(format!("{results} told as messages of the user"));
    }
    let is_retry = |changed: &&Changed| **changed == Changed::LastAnswer;
    if changed.iter().filter(is_retry).count() > messages.requests {
        notes.push(
            "the agent changed its last answer, or left it out and asked once more (retry)"
                .to_owned(),
        );
    }
    let systems: BTreeSet<_> = own.calls.iter().map(|call| &call.asked.system).collect();
    if systems.len() > 1 {
        notes.push(format!(
            "{} system prompts; the first one is kept",
            systems.len()
        ));
    }
    let others: usize = own.calls.iter().map(|call| call.said.others).sum();
    if others > 0 {
        notes.push(format!("{others} other choices left out"));
    }
    notes
}

/// What the run has otherwise than it went by. A client sends the talk before with each request.
fn note_changes(observed: &[Observed], results: &BTreeMap<Change, usize>) -> Vec<String> {
    let mut calls: BTreeMap<Change, usize> = BTreeMap::new();
    for change in observed.iter().flat_map(|one| &one.changes) {
        *calls.entry(*change).or_default() += 1;
    }
    let notes = |counts: &BTreeMap<Change, usize>, what: &str| {
        let each = counts.iter();
        let note = each.map(|(change, count)| {
            format!("{}, in {}", change.describe(), pluralize(*count, what))
        });
        note.collect::<Vec<_>>()
    };
    [notes(&calls, "model call"), notes(results, "tool result")].concat()
}

fn opening_holds(conversation: &Conversation, prompt: &str) -> bool {
    let first = conversation.calls.first();
    let mut items = first.iter().flat_map(|call| call.asked.items.iter());
    items.any(|item| matches!(&**item, Item::User(text) if text.contains(prompt)))
}

/// The sampling temperature and the most tokens, in the spellings of all formats.
fn sampling_limits(parameters: &Value) -> Map<String, Value> {
    let inside = ["generationConfig", "inferenceConfig", "options"];
    let inside = inside.iter().map(|key| parameters[key].get("temperature"));
    let mut limits = Map::new();
    let temperature = std::iter::once(parameters.get("temperature")).chain(inside);
    if let Some(temperature) = temperature.flatten().find(|it| it.is_number()) {
        limits.insert("temperature".to_owned(), temperature.clone());
    }
    if let Some(most) = most_tokens(parameters) {
        limits.insert("max_tokens".to_owned(), most.into());
    }
    limits
}

/// How the run stopped.
fn write_ending(
    own: &Conversation,
    options: &RunOptions,
    conversation: &mut Value,
    notes: &mut Vec<String>,
) {
    let Some(last) = own.calls.last() else {
        return;
    };
    if has_refused(last) {
        conversation["refused"] = true.into();
    }
    let reason = if let Some(stopped) = &options.stopped {
        Some(stopped.as_str())
    } else if let Some(broken) = &last.broken {
        let what = if last.answered {
            "the last answer is incomplete"
        } else {
            "the last request got no answer"
        };
        notes.push(format!("{what}: {broken}"));
        Some("error")
    } else {
        match &last.said.stop {
            Some(Stop::End | Stop::Sequence(_) | Stop::Refused) => Some("completed"),
            Some(Stop::Length) => Some("token_budget"),
            Some(Stop::Failed) => Some("error"),
            Some(Stop::Other(word)) => match word.as_str() {
                "pause_turn" | "compaction" => None,
                "model_context_window_exceeded" => Some("context_window"),
                other => Some(other),
            },
            Some(Stop::Calls) => {
                notes.push("ends in an unanswered call".to_owned());
                None
            }
            None => None,
        }
    };
    if let Some(reason) = reason {
        conversation["stop_reason"] = reason.into();
    }
}

fn has_refused(call: &ModelCall) -> bool {
    let refuses = |part: &Part| matches!(part, Part::Refusal(_));
    call.said.stop == Some(Stop::Refused) || call.said.parts.iter().any(refuses)
}
