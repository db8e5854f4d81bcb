//! A foreign run as a recording: the one place where recordings are made.

mod envelope;
mod result;
mod stop;

use mcptest_session::record::pairing::Pairing;
use mcptest_trace::record::TranscriptBuilder;
use mcptest_trace::record::payload::to_mcp_payload;
use mcptest_trace::trace::canonical_json;
use serde_json::{Value, json};

pub(crate) use result::normalize_args as arguments;

use crate::actions;
use crate::blob;
use crate::distinct::Distinct;
use crate::event::{Answer, Call, CallTokens, Event, ForeignRun};
use crate::loss::{LossReason, Lost};
use crate::mapping::Mapping;
use mcptest_trace::text::pluralize;

/// A recording, and what is to be said of it.
#[derive(Debug, Clone)]
pub struct Imported {
    /// The recording; `agent_name`, and `imported`'s `file` and `record`, are filled in by who knows them.
    pub cassette: Value,
    /// What is left out on purpose, or said of the run.
    pub notes: Vec<String>,
    /// What could not be mapped.
    pub lost: Vec<Lost>,
}

/// Makes the recording of a run.
///
/// # Errors
///
/// Why it is no run of which a recording can be made.
pub(crate) fn from_run(run: &ForeignRun, mapping: &Mapping) -> Result<Imported, Lost> {
    let refuse = |reason, detail: &str| Err(Lost::new(reason, detail));
    let asked = run.asked.as_ref().or(run.answered.first());
    let Some(model) = mapping.model.clone().or_else(|| asked.cloned()) else {
        return refuse(LossReason::NoModel, "no record says which model ran");
    };
    let said = run.first_user_text();
    let prompt = run.prompt.as_deref().or(said).or(mapping.prompt.as_deref());
    let Some(prompt) = prompt.map(str::to_owned) else {
        return refuse(
            LossReason::NoPrompt,
            "give the prompt with `--prompt`, if this is a run",
        );
    };
    let is_of_agent =
        |event: &Event| matches!(event, Event::Step(_) | Event::Said(_) | Event::Call(_));
    if run.stop.is_none() && !run.events.iter().any(is_of_agent) {
        return refuse(
            LossReason::NoAnswer,
            "the record has no answer of the agent; export the agent's answers together with the prompts",
        );
    }
    let mut writer = Writer::new(mapping);
    writer.notes = run.notes.clone();
    writer.lost.clone_from(&run.lost);
    if said.is_none() && run.prompt.is_none() {
        // It is what the user said, and what follows answers it.
        writer.write(&[Event::User(prompt.clone())]);
    }
    writer.write(&run.events);
    writer.report_actions(run);
    Ok(writer.finish(run, &model, &prompt))
}

struct Writer<'m> {
    mapping: &'m Mapping,
    calls: Vec<Value>,
    results: Vec<Value>,
    talk: TranscriptBuilder,
    steps: Vec<CallTokens>,
    /// Characters before each model call, and those that it wrote, where tokens are estimated.
    written: Vec<(usize, usize)>,
    characters: usize,
    pairing: Pairing,
    /// Answers without an identifier that wait for their calls.
    waiting: Vec<Answer>,
    /// Whether there may be calls in texts, of which none is read.
    has_actions: bool,
    notes: Distinct,
    lost: Vec<Lost>,
}

impl<'m> Writer<'m> {
    fn new(mapping: &'m Mapping) -> Self {
        Self {
            mapping,
            calls: Vec::new(),
            results: Vec::new(),
            talk: TranscriptBuilder::default(),
            steps: Vec::new(),
            written: Vec::new(),
            characters: 0,
            pairing: Pairing::default(),
            waiting: Vec::new(),
            has_actions: false,
            notes: Distinct::default(),
            lost: Vec::new(),
        }
    }

    /// Reports a run of which no call is read, though the agent's texts hold what looks like actions.
    fn report_actions(&mut self, run: &ForeignRun) {
        let form = Some(run).filter(|_| self.calls.is_empty());
        let Some(form) = form.and_then(actions::find_in_run) else {
            return;
        };
        self.has_actions = true;
        self.notes.add("actions in texts are not read as calls");
        self.lost.push(Lost::new(
            LossReason::NoCall,
            format!(
                "the agent's texts hold what looks like actions ({form}), and the command reads no calls from texts: the recording \
                 has no calls, so gates on calls judge nothing"
            ),
        ));
    }

    fn write(&mut self, events: &[Event]) {
        for event in events {
            if let Event::Answer(answer) = event
                && answer.id.is_none()
            {
                self.waiting.push(answer.clone());
                continue;
            }
            self.match_unnamed_answers();
            match event {
                Event::User(text) => {
                    self.count(text);
                    self.talk.add_user(text, self.calls.len());
                }
                Event::Turn { role, text } => {
                    self.count(text);
                    self.talk.add_turn(role, text);
                }
                Event::Step(tokens) => {
                    self.steps.push(*tokens);
                    self.written.push((self.characters, 0));
                    self.pairing.begin_step();
                }
                Event::Said(text) => self.push_assistant(text),
                Event::Call(call) => self.push_call(call),
                Event::Answer(answer) => self.push_answer(answer),
            }
        }
        self.match_unnamed_answers();
    }

    fn count(&mut self, text: &str) {
        self.characters += text.chars().count();
    }

    fn push_assistant(&mut self, text: &str) {
        self.count_written(text);
        self.talk.add_agent(text);
    }

    fn count_written(&mut self, text: &str) {
        self.count(text);
        if let Some((_, written)) = self.written.last_mut() {
            *written += text.chars().count();
        }
    }

    fn push_call(&mut self, call: &Call) {
        let (server, name) = self.server_and_name(call);
        let mut changes = Vec::new();
        let mut args = result::normalize_args(call.args.clone(), &mut changes);
        if !args.is_object() {
            self.notes
                .add("arguments that are no JSON object stay as they are");
        }
        for change in changes {
            self.notes.add(change.describe());
        }
        blob::condense(&mut args);
        let is_own = call.agent_id.is_none();
        let said = is_own.then(|| self.talk.add_call(server, name, &args));
        let mut written = json!({ "name": name, "args": args, "hop_index": self.calls.len() });
        if let Some(server) = server {
            written["server"] = server.into();
        }
        if let Some(agent) = &call.agent_id {
            written["agent_id"] = agent.as_str().into();
        }
        if let Some(said) = said {
            self.count_written(&said);
            if let Some(step) = self.steps.len().checked_sub(1) {
                written["step"] = step.into();
            }
        }
        if let Some(caller) = &call.caller {
            written["caller"] = caller.clone();
        }
        self.pairing.add_call(call.id.as_deref(), &call.name);
        self.calls.push(written);
    }

    /// The server of a call, and the tool.
    fn server_and_name<'c>(&self, call: &'c Call) -> (Option<&'c str>, &'c str) {
        match call.server.as_deref().filter(|server| !server.is_empty()) {
            Some(server) => (Some(server), &call.name),
            None => self.split_name(&call.name),
        }
    }

    /// The server that a tool's name tells, and the tool.
    fn split_name<'c>(&self, name: &'c str) -> (Option<&'c str>, &'c str) {
        let both = |(server, tool): &(&str, &str)| !server.is_empty() && !tool.is_empty();
        let mcp = name
            .strip_prefix("mcp__")
            .and_then(|rest| rest.split_once("__"));
        if let Some((server, tool)) = mcp.filter(both) {
            return (Some(server), tool);
        }
        let known = self.mapping.servers.iter().find_map(|server| {
            let tool = name.strip_prefix(server.as_str())?.strip_prefix("__")?;
            Some((name.get(..server.len())?, tool)).filter(both)
        });
        match known {
            Some((server, tool)) => (Some(server), tool),
            None => (None, name),
        }
    }

    fn push_answer(&mut self, answer: &Answer) {
        let id = answer.id.as_deref().unwrap_or_default();
        if let Some(call) = self.pairing.by_id(id) {
            self.set_result(call, answer);
        } else {
            let detail = format!("no call before it has the identifier `{id}`");
            self.report_lost(LossReason::OrphanResult, &detail, answer);
        }
    }

    /// Gives the answers without an identifier to the calls of the last message: those with a name to the
    /// only call that waits and has it, others in their order, where there are as many.
    fn match_unnamed_answers(&mut self) {
        let mut waiting = Vec::new();
        for answer in std::mem::take(&mut self.waiting) {
            let named = answer.name.as_deref();
            match named.and_then(|name| self.pairing.by_name(name)) {
                Some(call) => self.set_result(call, &answer),
                None => waiting.push(answer),
            }
        }
        if waiting.is_empty() {
            return;
        }
        let open = self.pairing.take_without_id();
        let may_be = |(call, answer): (&usize, &Answer)| {
            let name = answer.name.as_deref();
            name.is_none_or(|name| self.pairing.is_named(*call, name))
        };
        if open.len() == waiting.len() && open.iter().zip(&waiting).all(may_be) {
            for (call, answer) in open.into_iter().zip(&waiting) {
                self.set_result(call, answer);
            }
            return;
        }
        for answer in &waiting {
            let detail = format!(
                "{} without identifiers for {} without identifiers",
                pluralize(waiting.len(), "result"),
                pluralize(open.len(), "call")
            );
            self.report_lost(LossReason::AmbiguousResult, &detail, answer);
        }
    }

    fn report_lost(&mut self, reason: LossReason, detail: &str, answer: &Answer) {
        let shown = canonical_json(&answer.value);
        self.lost
            .push(Lost::new(reason, format!("{detail}: {shown}")));
    }

    fn set_result(&mut self, call: usize, answer: &Answer) {
        let (mut value, is_mcp) = to_mcp_payload(answer.value.clone());
        blob::condense(&mut value);
        let is_error = result::is_error(answer, &mut value, is_mcp, self.mapping);
        let mut written = json!({ "call_index": call, "result": value });
        if let Some(server) = self.calls[call].get("server") {
            written["server"] = server.clone();
        }
        if let Some(is_error) = is_error {
            written["is_error"] = is_error.into();
        }
        if let Some(duration) = answer.duration_ms {
            written["duration_ms"] = duration.into();
        }
        match self.pairing.result_of(call) {
            Some(earlier) if self.results[earlier] == written => {}
            Some(_) => {
                let detail = format!("call {call} has another result already");
                self.report_lost(LossReason::SecondResult, &detail, answer);
            }
            None => {
                self.characters += canonical_json(&written["result"]).chars().count();
                self.pairing.set_result(call, self.results.len());
                self.results.push(written);
            }
        }
    }
}
