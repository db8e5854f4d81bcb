//! Logged calls: a request and its response a record. Requests repeat the talk so far, so that a
//! record continues the one whose request and response its own request begins with.

use mcptest_trace::trace::value_json;
use serde_json::{Value, json};

use super::{chat, responses, tokens};
use crate::comparable::{comparable_args, comparable_calls, comparable_result, comparable_text};
use crate::content::text_of;
use crate::dialect;
use crate::digest::Digest;
use crate::event::{ForeignRun, Stop};
use crate::format;
use crate::input::RecordPlace;
use crate::joining::{ChainLink, Joiner, prefix_digests};
use crate::json::{
    count, identifier, list, member, non_null, nonempty_string, nonempty_text, number, role, text,
};
use crate::loss::{LossReason, Lost};
use crate::time;

/// One logged call.
pub(super) struct LoggedCall<'v> {
    request: &'v Value,
    response: &'v Value,
    items: bool,
}

impl<'v> LoggedCall<'v> {
    /// The call that a record logs: `{request, response}`, or `{body, response.body}`.
    pub(super) fn from_record(record: &'v Value) -> Option<Self> {
        let (request, response) = format::logged_exchange(record)?;
        let items = non_null(request, "input").is_some();
        let is_chat = request.get("messages").is_some_and(Value::is_array);
        (items || is_chat).then_some(Self {
            request,
            response,
            items,
        })
    }

    fn messages(&self) -> &'v [Value] {
        list(self.request, "messages")
    }

    /// What went in, as far as it tells runs apart.
    fn request_keys(&self) -> Vec<String> {
        if !self.items {
            return self.messages().iter().map(message_key).collect();
        }
        match self.request.get("input") {
            Some(Value::Array(items)) => {
                let items = items.iter().filter(|item| responses::is_shared_item(item));
                items.map(message_key).collect()
            }
            other => {
                let user = json!({ "role": "user", "content": other });
                vec![message_key(&user)]
            }
        }
    }

    /// Whether the call failed, so that its client goes on without it.
    fn is_failed(&self) -> bool {
        let says_error = format::is_error_response(self.response);
        if self.items {
            says_error || text(self.response, "status") == Some("failed")
        } else {
            says_error && list(self.response, "choices").is_empty()
        }
    }

    pub(super) fn join(&self, part: RecordPlace, joiner: &mut Joiner) -> Result<(), Lost> {
        let begin = if self.items { "items" } else { "messages" };
        let (mut before, state) = prefix_digests(begin, self.request_keys().into_iter());
        let parent = text(self.request, "previous_response_id");
        let about = ["instructions", "previous_response_id"].map(|key| non_null(self.request, key));
        let asked = state.chain(&value_json(&json!(about)));
        // The longest beginning first.
        before.reverse();
        if let Some(parent) = parent {
            before = vec![Digest::from_parts(&["response", parent])];
        }
        let mut after = Vec::new();
        if self.items {
            let output = list(self.response, "output").iter();
            let output = output.filter(|item| responses::is_shared_item(item));
            after.push(output.fold(state, |state, item| state.chain(&message_key(item))));
            let id = text(self.response, "id");
            after.extend(id.map(|id| Digest::from_parts(&["response", id])));
        } else {
            let choices = list(self.response, "choices").iter();
            let messages = choices.filter_map(|choice| choice.get("message"));
            after.extend(messages.map(|message| state.chain(&message_key(message))));
        }
        let link = ChainLink {
            before,
            after,
            asked,
            is_failed: self.is_failed(),
        };
        match (joiner.add_chained(part, &link), parent) {
            (false, Some(parent)) => Err(Lost::new(
                LossReason::MissingParent,
                format!(
                    "it continues the response `{parent}`, and this response is not in the log before it"
                ),
            )),
            _ => Ok(()),
        }
    }

    /// The choice that the next call continues, else the first.
    fn choice(&self, next: Option<&LoggedCall<'v>>) -> Option<&'v Value> {
        let choices = list(self.response, "choices");
        let continued = next.and_then(|next| {
            let message = message_key(next.messages().get(self.messages().len())?);
            let is_it =
                |choice: &&Value| choice.get("message").map(message_key).as_ref() == Some(&message);
            choices.iter().find(is_it)
        });
        continued.or_else(|| choices.first())
    }
}

/// What makes a message or an item the same: role, text, calls and results, all by value.
fn message_key(message: &Value) -> String {
    let role = role(message);
    // A message may name who speaks, and clients leave that out.
    let named = matches!(role.as_deref(), None | Some("function"));
    let arguments = |call: &Value| non_null(call, "arguments").map(|it| comparable_args(Some(it)));
    let call =
        non_null(message, "function_call").map(|call| json!([call["name"], arguments(call)]));
    let ids = ["call_id", "tool_call_id"].map(|key| non_null(message, key));
    value_json(&json!([
        role,
        comparable_text(message.get("content")),
        comparable_calls(message),
        call,
        named.then(|| non_null(message, "name")),
        ids,
        arguments(message),
        non_null(message, "input"),
        comparable_result(non_null(message, "output")),
    ]))
}

/// The run of some calls, each of which continues the one before.
pub(super) fn read(lines: &[LoggedCall<'_>]) -> Result<ForeignRun, Lost> {
    let mut run = ForeignRun::default();
    let Some(first) = lines.first() else {
        return Err(Lost::no_run("it has no calls"));
    };
    run.id = lines
        .iter()
        .find_map(|line| identifier(line.response, "id"));
    run.asked = lines
        .iter()
        .find_map(|line| nonempty_string(line.request, "model"));
    run.tools = chat::parse_tools(list(first.request, "tools"));
    run.temperature = number(first.request, "temperature");
    let most = ["max_completion_tokens", "max_output_tokens", "max_tokens"];
    run.max_tokens = most.iter().find_map(|key| count(first.request, key));
    let mut seen = 0;
    for (index, line) in lines.iter().enumerate() {
        if let Some(model) = nonempty_text(line.response, "model") {
            run.add_model(model);
        }
        for key in ["created", "created_at"] {
            run.add_time(line.response.get(key).and_then(time::parse_seconds));
        }
        if line.items {
            seen = responses::read_call(line.request, line.response, seen, &mut run);
            continue;
        }
        let messages = line.messages();
        let new = messages.get(seen..).unwrap_or_default();
        chat::read(new, &mut run, &chat::ChatOptions::default());
        let choices = list(line.response, "choices");
        let Some(choice) = line.choice(lines.get(index + 1)) else {
            if format::is_error_response(line.response) {
                run.stop = Some(Stop::Known("error"));
            } else {
                run.stop = None;
                run.report_lost(LossReason::NoAnswer, "the response has no `choices`");
            }
            seen = messages.len();
            continue;
        };
        if choices.len() > 1 {
            run.note(format!("{} other choices left out", choices.len() - 1));
        }
        let mut message = member(choice, "message");
        if let Some(usage) = line.response.get("usage")
            && message.is_object()
        {
            message["usage"] = usage.clone();
        }
        read_answer(&message, &mut run);
        run.stop = nonempty_string(choice, "finish_reason").map(Stop::Spelt);
        seen = messages.len() + 1;
    }
    Ok(run)
}

/// The model's answer, which is a model call also where no user has spoken.
fn read_answer(message: &Value, run: &mut ForeignRun) {
    let message = &*dialect::normalize_keys(message);
    dialect::report_unknown(message, run);
    let said = text_of(message.get("content"));
    if !run.has_user && list(message, "tool_calls").is_empty() {
        run.push_step(tokens(message.get("usage")));
    }
    chat::read_assistant(message, said, run);
}
