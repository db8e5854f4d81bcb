//! Identifiers that stand for none: some providers give calls none, and results are then told in the order of the calls.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use crate::exchange::{Call, Item, Part, ToolResult};
use crate::json::identifier;

/// What such an identifier begins with.
const BEGIN: &str = "gemini";

/// The identifier that stands for none.
pub(super) fn numbered(name: &str, number: usize) -> String {
    format!("{BEGIN}:{name}:{number}")
}

/// Whether an identifier stands for none.
pub(crate) fn is_numbered(id: &str) -> bool {
    let rest = id
        .strip_prefix(BEGIN)
        .and_then(|rest| rest.strip_prefix(':'));
    rest.is_some_and(|rest| rest.contains(':'))
}

/// The identifier of a call or of a result. Some write the word `null` where they have none.
pub(super) fn call_id(value: &Value, key: &str) -> Option<String> {
    identifier(value, key).filter(|id| id != "null")
}

/// Gives results without an identifier that of their call: of the calls of the answer before that wait, the first one
/// of the result's name. Calls without an identifier are numbered.
pub(super) fn pair(items: &mut [Item]) {
    let mut called: HashMap<String, usize> = HashMap::new();
    // The calls that wait: the identifier of each, and its name.
    let mut waiting: VecDeque<(String, String)> = VecDeque::new();
    let mut goes_on = false;
    for item in items {
        let is_answer = matches!(item, Item::Answer(_));
        match item {
            Item::Answer(parts) => {
                if !goes_on {
                    waiting.clear();
                }
                for part in parts {
                    if let Part::Call(call) = part {
                        waiting.extend(waits(call, &mut called));
                    }
                }
            }
            Item::Result(result) => {
                if let Some(place) = waiting.iter().position(|call| is_of(result, call))
                    && let Some((id, name)) = waiting.remove(place)
                    && result.id.is_none()
                {
                    result.id = Some(id);
                    result.name.get_or_insert(name);
                }
            }
            Item::User(_) | Item::Turn { .. } | Item::Reference(_) => {}
        }
        goes_on = is_answer;
    }
}

fn waits(call: &mut Call, called: &mut HashMap<String, usize>) -> Option<(String, String)> {
    if call.native.is_some() {
        return None;
    }
    let name = call.name.clone();
    let id = call.id.get_or_insert_with(|| {
        let number = called.entry(name.clone()).or_default();
        *number += 1;
        numbered(&name, *number - 1)
    });
    Some((id.clone(), name))
}

/// Whether a result may be of a call.
fn is_of(result: &ToolResult, (id, name): &(String, String)) -> bool {
    match (&result.id, &result.name) {
        (Some(own), _) => own == id,
        (None, Some(own)) => own == name,
        (None, None) => true,
    }
}
