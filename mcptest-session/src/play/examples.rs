//! Turns of the model that a program begins with, such as examples: they belong to its code.

use serde_json::Value;

use super::model_turn::ModelTurn;
use super::offered_tools::ToolNames;
use crate::exchange::{Part, ToolResult};

/// A turn that no model took.
#[derive(Debug, Clone, Default)]
pub(super) struct Example {
    pub(super) spoken: ModelTurn,
    /// The result of each of its calls.
    pub(super) results: Vec<Option<Value>>,
}

/// What the first request of a conversation holds already, where the recording says it.
pub(super) fn read_examples(names: &ToolNames, conversation: &Value) -> Option<Vec<Example>> {
    let Some(examples) = conversation.get("examples") else {
        return Some(Vec::new());
    };
    let mut began: Vec<Example> = Vec::new();
    for one in examples.get("talk")?.as_array()? {
        if let Some(parts) = one.get("answer") {
            let parts: Vec<Part> = serde_json::from_value(parts.clone()).ok()?;
            let spoken = ModelTurn::from_parts(names, parts);
            let results = vec![None; spoken.calls.len()];
            began.push(Example { spoken, results });
        } else {
            let result: ToolResult = serde_json::from_value(one["result"].clone()).ok()?;
            add_result(&mut began, result);
        }
    }
    Some(began)
}

/// Puts a result to its call: the last one before it that has its identifier and waits.
fn add_result(began: &mut [Example], result: ToolResult) {
    for example in began.iter_mut().rev() {
        let calls = example.spoken.calls.iter().zip(&mut example.results);
        for (call, known) in calls {
            if known.is_none() && call.id == result.id {
                *known = Some(result.value);
                return;
            }
        }
    }
}

/// The item of a path that a part of an example has.
pub(super) fn example_item(number: usize, call: Option<usize>) -> String {
    match call {
        Some(call) => format!("example_{number}_{call}"),
        None => format!("example_{number}"),
    }
}
