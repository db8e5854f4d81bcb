//! What a suite answers in the place of tools, also while a run is recorded.

use mcptest_trace::eval::{AnswerLookup, OwnReply};
#[cfg(feature = "record")]
use serde_json::Value;

use super::entry::{AnsweredBy, Ending, OwnCall, RaisedError};
use super::verdict::Verdict;

/// A fault that strikes a call: what an MCP server would be answered, and its mark.
#[cfg(feature = "record")]
pub(crate) type Strike = (Value, Value);

/// Ends a call that a fault strikes.
#[cfg(feature = "record")]
pub(super) fn end_by_fault(call: &mut OwnCall, (result, mark): Strike) -> Verdict {
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    let raised = RaisedError {
        // Python's own; other languages have no module.
        module: Some("builtins".to_owned()),
        ..RaisedError::new("TimeoutError", text)
    };
    call.ending = Ending::Error(raised.clone());
    call.by = Some(AnsweredBy::Fault(mark));
    Verdict::Error(raised)
}

/// Ends a call that the suite answers; nothing for one that runs.
pub(super) fn end_by_answer(call: &mut OwnCall, answered: AnswerLookup) -> Option<Verdict> {
    let reply = match answered {
        AnswerLookup::NotNamed | AnswerLookup::Reply(OwnReply::Run) => return None,
        AnswerLookup::Reply(OwnReply::Result(value)) => Ok(value),
        AnswerLookup::Reply(OwnReply::Error {
            kind,
            module,
            text,
            args,
        }) => Err(RaisedError {
            module,
            args: (!args.is_empty()).then_some(args),
            ..RaisedError::new(kind, text)
        }),
        AnswerLookup::NoEntry { nearest } => {
            let name = &call.name;
            let text = format!(
                "mcptest: `answers:` of the suite has no entry for this call of `{name}`; the nearest entry is {nearest}"
            );
            Err(RaisedError::new("ToolError", text))
        }
    };
    call.by = Some(AnsweredBy::Suite);
    Some(match reply {
        Ok(value) => {
            call.ending = Ending::Result(value.clone());
            Verdict::Result {
                value,
                told: false,
                text: None,
                given: None,
            }
        }
        Err(raised) => {
            call.ending = Ending::Error(raised.clone());
            Verdict::Error(raised)
        }
    })
}
