//! What a recording says that no played run can make: how long things took, how the run was judged, which server a
//! tool belongs to. Gates see the same of both runs, as none of it says anything of the agent's code.

use serde_json::Value;

/// Parts of a run that somebody else says of it.
const OF_RUN: [&str; 2] = ["outcome", "signals"];

/// Parts of a trace that somebody else says of it.
const OF_TRACE: [&str; 3] = ["outcome", "signals", "scores"];

/// Parts of the whole conversation, and of a model call, that a recording does not play.
const OF_TIME: [&str; 4] = ["duration_ms", "cached", "reasoning", "signals"];

/// Adds to a played run what only its recording can say. Nothing that the played run says itself is changed.
pub(super) fn add_recorded(played: &mut Value, recorded: &Value) {
    copy_keys(Some(&mut *played), recorded, &OF_RUN);
    let (Some(played), recorded) = (played.get_mut("trace"), &recorded["trace"]) else {
        return;
    };
    copy_keys(Some(&mut *played), recorded, &OF_TRACE);
    add_calls(played, recorded);
    let (Some(played), recorded) = (played.get_mut("conversation"), &recorded["conversation"])
    else {
        return;
    };
    copy_keys(Some(&mut *played), recorded, &OF_TIME);
    copy_keys(played.get_mut("tokens"), &recorded["tokens"], &OF_TIME);
    for list in ["steps", "turns", "per_turn"] {
        for_each_pair(played.get_mut(list), &recorded[list], |played, recorded| {
            copy_keys(Some(played), recorded, &OF_TIME);
        });
    }
}

/// The servers of calls, and how long their results took, as long as the calls are those of the recording.
fn add_calls(played: &mut Value, recorded: &Value) {
    let mut same = 0;
    let mut go_on = true;
    let made = played.get_mut("tool_calls");
    for_each_pair(made, &recorded["tool_calls"], |played, recorded| {
        go_on &= played["name"] == recorded["name"];
        if go_on {
            same += 1;
            copy_keys(Some(played), recorded, &["server"]);
        }
    });
    let results = played.get_mut("tool_results").and_then(Value::as_array_mut);
    let known = recorded["tool_results"].as_array();
    for result in results.into_iter().flatten() {
        let index = result["call_index"].as_u64();
        let is_same = index.is_some_and(|index| index < same);
        let of_call = |one: &&Value| one["call_index"].as_u64() == index;
        let known = known.and_then(|known| known.iter().find(of_call));
        if let Some(known) = known.filter(|_| is_same) {
            copy_keys(Some(result), known, &["duration_ms"]);
        }
    }
}

fn for_each_pair(
    played: Option<&mut Value>,
    recorded: &Value,
    mut each: impl FnMut(&mut Value, &Value),
) {
    let played = played.and_then(Value::as_array_mut).into_iter().flatten();
    for (played, recorded) in played.zip(recorded.as_array().into_iter().flatten()) {
        each(played, recorded);
    }
}

fn copy_keys(played: Option<&mut Value>, recorded: &Value, keys: &[&str]) {
    let played = played.and_then(Value::as_object_mut);
    let (Some(played), Some(recorded)) = (played, recorded.as_object()) else {
        return;
    };
    for key in keys {
        if let (false, Some(value)) = (played.contains_key(*key), recorded.get(*key)) {
            played.insert((*key).to_owned(), value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_only_the_recording_can_say_is_added_and_nothing_else_changed() {
        let recorded = json!({
            "outcome": { "passed": true },
            "trace": {
                "scores": [{ "name": "helpful", "value": 0.9, "by": "Ann" }],
                "tool_calls": [{ "name": "a", "server": "desk", "args": {} }, { "name": "b", "server": "desk", "args": {} }],
                "tool_results": [{ "call_index": 0, "duration_ms": 12.5 }, { "call_index": 1, "duration_ms": 9 }],
                "conversation": { "duration_ms": 900, "tokens": { "total": 10, "cached": 4 }, "steps": [{ "prompt": 9, "duration_ms": 300 }] },
            },
        });
        let mut played = json!({
            "trace": {
                "tool_calls": [{ "name": "a", "args": {} }, { "name": "c", "args": {} }],
                "tool_results": [{ "call_index": 0, "result": "x" }, { "call_index": 1, "result": "y" }],
                "conversation": { "tokens": { "total": 11 }, "steps": [{ "prompt": 10 }, { "prompt": 1 }] },
            },
        });
        add_recorded(&mut played, &recorded);
        let wanted = json!({
            "outcome": { "passed": true },
            "trace": {
                "scores": [{ "name": "helpful", "value": 0.9, "by": "Ann" }],
                // From the first call that is another one on, nothing is known of the calls.
                "tool_calls": [{ "name": "a", "server": "desk", "args": {} }, { "name": "c", "args": {} }],
                "tool_results": [{ "call_index": 0, "result": "x", "duration_ms": 12.5 }, { "call_index": 1, "result": "y" }],
                "conversation": {
                    "duration_ms": 900, "tokens": { "total": 11, "cached": 4 },
                    "steps": [{ "prompt": 10, "duration_ms": 300 }, { "prompt": 1 }],
                },
            },
        });
        assert_eq!(played, wanted);
    }
}
