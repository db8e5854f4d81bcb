//! Results that name their tool and no call.

use serde_json::{Value, json};

use super::strangers::calls;
use super::{Desk, lines};

/// What the calls came to, or how many results belong to no certain call.
fn found(
    ids: [Option<&str>; 2],
    names: [&str; 2],
    results: &[Value],
) -> Result<[String; 2], usize> {
    let call = |index: usize| {
        let mut call =
            json!({ "type": "function", "function": { "name": names[index], "arguments": "{}" } });
        if let Some(id) = ids[index] {
            call["id"] = id.into();
        }
        call
    };
    let mut messages = vec![
        json!({ "role": "user", "content": "go" }),
        json!({ "role": "assistant", "content": null, "tool_calls": [call(0), call(1)] }),
    ];
    messages.extend_from_slice(results);
    messages.push(json!({ "role": "assistant", "content": "Done." }));
    let desk = Desk::new();
    desk.write(
        "a.jsonl",
        lines(&[json!({ "model": "m", "messages": messages })]),
    );
    let said = desk.import(&["a.jsonl"]);
    if said.status == 0 {
        let calls = calls(&desk.recording());
        return Ok([calls[0].2.clone(), calls[1].2.clone()]);
    }
    Err(said
        .err
        .matches("belongs to no certain call")
        .count()
        .max(said.err.matches(" --> ").count()))
}

fn named(key: &str, name: &str, text: &str) -> Value {
    json!({ "role": "tool", key: name, "content": text })
}

#[test]
fn a_result_is_that_of_the_one_call_that_waits_and_has_its_name() {
    let both = |first: &str, second: &str| Ok([first.to_owned(), second.to_owned()]);
    let other = [
        named("name", "when", "noon"),
        named("tool_name", "where", "here"),
    ];
    for ids in [[Some("A"), Some("B")], [None, None], [Some("A"), None]] {
        assert_eq!(
            found(ids, ["where", "when"], &other),
            both("here", "noon"),
            "{ids:?}"
        );
        // One result, and the other call has none.
        assert_eq!(
            found(ids, ["where", "when"], &other[..1]),
            both("none", "noon"),
            "{ids:?}"
        );
    }
    // Two calls have the name; no call has it; the order says nothing against a name.
    let same = [
        named("name", "where", "here"),
        named("name", "where", "there"),
    ];
    assert_eq!(
        found([Some("A"), Some("B")], ["where", "where"], &same),
        Err(2)
    );
    assert_eq!(
        found([None, None], ["where", "where"], &same),
        both("here", "there")
    );
    let none = [named("name", "who", "me"), named("name", "what", "it")];
    assert_eq!(found([None, None], ["where", "when"], &none), Err(2));
}
