//! `OpenAI` chat messages and responses, and records that keep a list of such messages.
//!
//! Source: openai-python 3.3.1 (openai/openai-python@e43b4224:src/openai/types/chat, …/responses).

mod chat;
mod log;
mod responses;

use serde_json::Value;

use crate::event::{CallTokens, ForeignRun, Stop};
use crate::format::{self, Format, Gathered, Joins, Runs};
use crate::input::{Input, Record};
use crate::joining::Joiner;
use crate::json::{count, identifier, list, non_null, nonempty_string, text};
use crate::loss::Lost;
use crate::mapping::Mapping;
use crate::verdict;

pub(crate) use chat::{
    ChatOptions, UserToolCalls, error_flag, is_of_user, parse_answer as tool_answer,
    parse_tools as offered_tools, read as read_messages, read_calls as calls_of, report_message,
};
pub(crate) use responses::parse_function_call;

/// The format `openai`.
pub(crate) struct OpenAi;

impl Format for OpenAi {
    fn signature(&self) -> &'static str {
        "messages with `role`, alone or under `messages`, or `{request, response}`"
    }

    fn recognizes(&self, _: &Input, value: &Value) -> bool {
        let is_response = |value: &Value| {
            non_null(value, "choices").is_some()
                || text(value, "object").is_some_and(|it| {
                    it == "response" || it == "chat.completion.chunk" || it == "chat.completion"
                })
        };
        let of_message = |message: &Value| {
            message.get("role").is_some_and(Value::is_string)
                || text(message, "type")
                    .is_some_and(|it| it.ends_with("_call") || it.ends_with("_output"))
        };
        let messages = format::messages(value);
        messages.is_some_and(|messages| messages.iter().any(of_message))
            || is_response(value)
            || log::LoggedCall::from_record(value).is_some()
    }

    fn join(&self, record: &Record<'_>, joiner: &mut Joiner, _: &Mapping) -> Joins {
        if let Some(line) = log::LoggedCall::from_record(&record.value) {
            return line.join(record.part, joiner);
        }
        joiner.add_single(record.part);
        Ok(())
    }

    fn read(&self, gathered: &Gathered<'_, '_>, mapping: &Mapping) -> Runs {
        let values: Vec<&Value> = gathered
            .records
            .iter()
            .map(|record| &record.value)
            .collect();
        let lines: Option<Vec<log::LoggedCall<'_>>> = values
            .iter()
            .map(|value| log::LoggedCall::from_record(value))
            .collect();
        let mut run = match (lines, values.as_slice()) {
            (Some(lines), _) => log::read(&lines)?,
            (None, [record]) => read_conversation(record)?,
            _ => return Err(Lost::no_run("logged calls and lists of messages are mixed")),
        };
        gathered.set_branch_id(&mut run);
        if let Some(last) = values.last() {
            verdict::read(last, mapping, &mut run);
        }
        Ok(vec![run])
    }
}

/// A list of messages, alone or in a record with what its team knows of it.
fn read_conversation(record: &Value) -> Result<ForeignRun, Lost> {
    let mut run = ForeignRun::default();
    let Some(messages) = format::full_conversation(record, &mut run) else {
        let is_answer = non_null(record, "choices").is_some() || text(record, "object").is_some();
        return Err(if is_answer {
            format::missing_request()
        } else {
            Lost::no_run("it has no list of `messages`")
        });
    };
    let holders = ["request", "body", "inputs"];
    let around = || {
        holders
            .iter()
            .find_map(|key| nonempty_string(&record[*key], "model"))
    };
    run.asked = nonempty_string(record, "model").or_else(around);
    run.system_prompt = nonempty_string(record, "system");
    read_record(record, &mut run);
    run.tools = chat::parse_tools(list(record, "tools"));
    let is_item = |message: &Value| message.get("role").is_none();
    if messages.iter().any(is_item) && !messages.iter().any(chat::is_of_chat) {
        responses::read_items(&messages, &mut run);
    } else {
        read_messages(&messages, &mut run, &ChatOptions::default());
    }
    Ok(run)
}

/// What a team keeps beside a list of messages: which run it is, and how it ended.
pub(crate) fn read_record(record: &Value, run: &mut ForeignRun) {
    run.id = identifier(record, "id");
    run.task = identifier(record, "task").or_else(|| identifier(record, "task_id"));
    run.order = non_null(record, "trial").and_then(Value::as_i64);
    run.totals = tokens(record.get("usage"));
    let reasons = ["finish_reason", "stop_reason"];
    let reason = reasons.iter().find_map(|key| nonempty_string(record, key));
    run.stop = reason.map(Stop::Spelt);
}

/// The tokens of a model call. Reasoning tokens are a part of these counts, and so are cached ones, but of
/// those of Anthropic: what was read from and written to the cache is not in its `input_tokens`.
pub(crate) fn tokens(usage: Option<&Value>) -> Option<CallTokens> {
    let usage = usage?;
    let fresh = || {
        let more = ["cache_creation_input_tokens", "cache_read_input_tokens"];
        let more = more.iter().filter_map(|key| count(usage, key));
        Some(more.fold(count(usage, "input_tokens")?, u64::saturating_add))
    };
    let prompt = count(usage, "prompt_tokens").or_else(fresh)?;
    let completion = count(usage, "completion_tokens").or_else(|| count(usage, "output_tokens"))?;
    let mut taken = CallTokens::new(prompt, completion);
    let details = |of: [&str; 2], key: &str| {
        let mut details = of.iter().filter_map(|of| usage.get(of));
        details.find_map(|details| count(details, key))
    };
    let own = |keys: [&str; 2]| keys.iter().find_map(|key| count(usage, key));
    taken.cached = details(
        ["prompt_tokens_details", "input_tokens_details"],
        "cached_tokens",
    )
    .or_else(|| own(["cache_read_input_tokens", "cached_input_tokens"]));
    taken.reasoning = details(
        ["completion_tokens_details", "output_tokens_details"],
        "reasoning_tokens",
    )
    .or_else(|| own(["reasoning_output_tokens", "reasoning_tokens"]));
    Some(taken)
}
