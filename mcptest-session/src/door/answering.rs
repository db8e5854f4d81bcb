//! What a suite answers in the place of tools, also while a run is recorded.

use mcptest_trace::eval::{Answered, OwnReply};
#[cfg(feature = "record")]
use serde_json::Value;

use super::entry::{By, Ending, OwnCall, Raised};
use super::verdict::Verdict;

/// A fault that strikes a call: what an MCP server would be answered, and its mark.
#[cfg(feature = "record")]
pub(crate) type Strike = (Value, Value);

/// Ends a call that a fault strikes.
#[cfg(feature = "record")]
pub(super) fn struck(call: &mut OwnCall, (result, mark): Strike) -> Verdict {
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    let raised = Raised {
        // Python's own; other languages have no module.
        module: Some("builtins".to_owned()),
        ..Raised::new("TimeoutError", text)
    };
    call.ending = Ending::Error(raised.clone());
    call.by = Some(By::Fault(mark));
    Verdict::Error(raised)
}

/// Ends a call that the suite answers; nothing for one that runs.
pub(super) fn answered(call: &mut OwnCall, answered: Answered) -> Option<Verdict> {
    let reply = match answered {
        Answered::NotNamed | Answered::Reply(OwnReply::Run) => return None,
        Answered::Reply(OwnReply::Result(value)) => Ok(value),
        Answered::Reply(OwnReply::Error {
            kind,
            module,
            text,
            args,
        }) => Err(Raised {
            module,
            args: (!args.is_empty()).then_some(args),
            ..Raised::new(kind, text)
        }),
        Answered::NoEntry { nearest } => {
            let name = &call.name;
            let text = format!(
                "mcptest: `answers:` of the suite has no entry for this call of `{name}`; the nearest entry is {nearest}"
            );
            Err(Raised::new("ToolError", text))
        }
    };
    call.by = Some(By::Suite);
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
