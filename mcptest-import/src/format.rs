//! What a format is, and what several of them share.

use std::borrow::Cow;
use std::collections::HashMap;

use mcptest_trace::trace::canonical_json;
use serde_json::Value;

use crate::digest::{self, Digest};
use crate::event::ForeignRun;
use crate::input::{Input, Record, RecordPlace};
use crate::joining::Joiner;
use crate::json::{identifier, list, non_null, text, truthy};
use crate::loss::{LossReason, Lost};
use crate::mapping::Mapping;

/// A way in which runs are kept.
pub(crate) trait Format {
    /// What a file of this format looks like, in words.
    fn signature(&self) -> &'static str;

    /// Whether a record looks like one of this format. Of an archive there is none, only its entries.
    fn recognizes(&self, input: &Input, value: &Value) -> bool;

    /// Whether a run may have several records, or a record none.
    fn joins_records(&self) -> bool {
        true
    }

    /// Says of which run a record is a part. Without more, every record is a run.
    fn join(&self, record: &Record<'_>, joiner: &mut Joiner, _: &Mapping) -> Joins {
        joiner.add_single(record.part);
        Ok(())
    }

    /// Takes a record that is of several runs apart.
    ///
    /// # Errors
    ///
    /// The record as it is, if it is of one run.
    fn split_by_run(&self, value: Value) -> Result<Parts, Value> {
        Err(value)
    }

    /// What happened in a run, from its records.
    fn read(&self, run: &Gathered<'_, '_>, mapping: &Mapping) -> Runs;

    /// Whether its runs are trials of tasks.
    fn has_tasks(&self) -> bool {
        false
    }
}

/// What a record has of each run, by the keys by which records are joined: parts of it with their places in it.
pub(crate) type Parts = HashMap<Digest, Vec<(usize, Value)>>;

/// Nothing, where a record is of a run.
pub(crate) type Joins = Result<(), Lost>;

/// The runs that some records hold.
pub(crate) type Runs = Result<Vec<ForeignRun>, Lost>;

/// The records of a run, and the keys by which they were joined, in order.
pub(crate) struct Gathered<'r, 'i> {
    pub(crate) records: &'r [Record<'i>],
    pub(crate) keys: &'r [Digest],
    /// The record with which the run leaves another run that begins with the same records.
    pub(crate) branch: Option<RecordPlace>,
}

impl Gathered<'_, '_> {
    /// Gives a run that begins with the records of another run an identifier of its own.
    pub(crate) fn set_branch_id(&self, run: &mut ForeignRun) {
        let is_branch = |record: &&Record<'_>| Some(record.part) == self.branch;
        let (Some(first), Some(own)) = (self.records.first(), self.records.iter().find(is_branch))
        else {
            return;
        };
        let response =
            logged_exchange(&own.value).and_then(|(_, response)| identifier(response, "id"));
        let own = response.unwrap_or_else(|| digest::content_id(&own.value));
        let shared = run.id.take();
        let shared = shared.unwrap_or_else(|| digest::content_id(&first.value));
        run.id = Some(format!("{shared}/{own}"));
    }
}

/// The messages of a record, wherever it keeps them.
pub(crate) fn messages(value: &Value) -> Option<&[Value]> {
    if let Value::Array(items) = value {
        return Some(items);
    }
    for holder in ["request", "body", "values", "inputs"] {
        if let Some(Value::Array(items)) = non_null(value, holder).and_then(|it| it.get("messages"))
        {
            return Some(items);
        }
    }
    value.get("messages")?.as_array().map(Vec::as_slice)
}

/// The request and the response that a record logs: `{request, response}`, or `{body, response.body}`. Of a call that
/// got no response, the record itself says the `error`.
#[must_use]
pub fn logged_exchange(record: &Value) -> Option<(&Value, &Value)> {
    let inner = |holder| non_null(holder, "body").unwrap_or(holder);
    let request = non_null(record, "request").or_else(|| non_null(record, "body"))?;
    let response = non_null(record, "response").map(inner);
    Some((
        inner(request),
        response.or_else(|| is_error_response(record).then_some(record))?,
    ))
}

/// Whether a response says that the call failed.
pub(crate) fn is_error_response(response: &Value) -> bool {
    non_null(response, "error").is_some_and(truthy) || text(response, "type") == Some("error")
}

/// The loss of a record without a request: nothing in it says what was asked.
pub(crate) fn missing_request() -> Lost {
    Lost::new(
        LossReason::NoRequest,
        "a response alone does not have the prompt; export the request together with it, as `{\"request\": …, \"response\": …}`",
    )
}

/// The messages of a record with those that answer them: data sets keep what was asked under `inputs` and
/// what came of it under `outputs`. What is no message there is lost.
pub(crate) fn full_conversation<'v>(
    record: &'v Value,
    run: &mut ForeignRun,
) -> Option<Cow<'v, [Value]>> {
    let sent = messages(record)?;
    let kept = non_null(record, "inputs").and(non_null(record, "outputs"));
    let Some(outputs) = kept else {
        return Some(Cow::Borrowed(sent));
    };
    let answers = match (outputs.get("messages"), non_null(outputs, "message")) {
        (Some(Value::Array(all)), _) => all.as_slice(),
        (_, Some(one)) => std::slice::from_ref(one),
        _ if outputs.get("role").is_some() => std::slice::from_ref(outputs),
        _ => {
            run.report_lost(LossReason::UnknownOutputs, canonical_json(outputs));
            &[]
        }
    };
    // A state has all of the talk, not what is new of it.
    let new = answers.strip_prefix(sent).unwrap_or(answers);
    Some([sent, new].concat().into())
}

/// Whether one of the blocks of a message has one of these types.
pub(crate) fn has_block(message: &Value, types: &[&str]) -> bool {
    let blocks = list(message, "content").iter();
    blocks
        .filter_map(|block| text(block, "type"))
        .any(|kind| types.contains(&kind))
}
