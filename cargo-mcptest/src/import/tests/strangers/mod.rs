//! Files as the tools of others write them, from the definitions that are named in each.

mod chats;
mod frameworks;
mod items;
mod sessions;
pub(super) mod spans;
mod spelt;
mod trees;

use serde_json::Value;

/// The calls of a recording: name, arguments, the text of the result, and whether it is an error.
pub(super) fn calls(run: &Value) -> Vec<(String, String, String, Option<bool>)> {
    let results = run["trace"]["tool_results"].as_array().unwrap();
    let calls = run["trace"]["tool_calls"].as_array().unwrap();
    let calls = calls.iter().enumerate().map(|(index, call)| {
        let result = results.iter().find(|it| it["call_index"] == index);
        let text = result.map_or("none".to_owned(), |it| {
            let blocks = it["result"]["content"].as_array();
            let texts = blocks.map(|blocks| {
                let texts = blocks.iter().filter_map(|block| block["text"].as_str());
                texts.collect::<Vec<_>>().join("|")
            });
            texts.unwrap_or_else(|| it["result"].to_string())
        });
        let flag = result.and_then(|it| it.get("is_error")?.as_bool());
        (
            call["name"].as_str().unwrap().to_owned(),
            call["args"].to_string(),
            text,
            flag,
        )
    });
    calls.collect()
}

/// An expected call, as tests write it: name, arguments, text of the result, whether it is an error.
pub(super) fn call(
    name: &str,
    args: &str,
    result: &str,
    flag: Option<bool>,
) -> (String, String, String, Option<bool>) {
    (name.to_owned(), args.to_owned(), result.to_owned(), flag)
}

pub(super) fn closing(run: &Value) -> &str {
    run["trace"]["final_response"].as_str().unwrap_or_default()
}

pub(super) fn stop(run: &Value) -> &str {
    run["trace"]["conversation"]["stop_reason"]
        .as_str()
        .unwrap_or_default()
}

pub(super) fn tokens(run: &Value) -> (u64, u64) {
    let tokens = &run["trace"]["conversation"]["tokens"];
    let of = |key: &str| tokens[key].as_u64().unwrap_or_default();
    (of("prompt"), of("completion"))
}
