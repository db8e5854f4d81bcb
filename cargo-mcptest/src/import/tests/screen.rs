//! What a person reads on the screen, to the letter.

use serde_json::{Value, json};

use super::{Desk, lines};

fn run(id: &str, prompt: &str, tool: &str, closing: &str) -> Value {
    let call =
        json!({ "id": "c1", "type": "function", "function": { "name": tool, "arguments": "{}" } });
    let mut messages = vec![
        json!({ "role": "user", "content": prompt }),
        json!({ "role": "assistant", "content": null, "tool_calls": [call] }),
        json!({ "role": "tool", "tool_call_id": "c1", "content": "shipped" }),
    ];
    if !closing.is_empty() {
        messages.push(json!({ "role": "assistant", "content": closing }));
    }
    json!({ "id": id, "model": "gpt-5", "messages": messages, "usage": { "prompt_tokens": 12_000, "completion_tokens": 345 } })
}

#[test]
fn a_summary_says_once_what_all_agents_share() {
    let desk = Desk::new();
    let runs = [
        run("a", "Where is order 7?", "get_order", "Shipped."),
        run("b", "Where is order 7?", "get_order", ""),
        run("c", "Where is order 7?", "get_order", "It is on its way."),
        run("d", "Cancel order 7.", "cancel_order", "Done."),
        run("e", "Cancel order 7.", "cancel_order", "Cancelled."),
        json!({ "model": "gpt-5", "id": "f" }),
    ];
    desk.write("log.jsonl", lines(&runs));
    let said = desk.import(&["log.jsonl"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert_eq!(
        said.out,
        "5 new runs of 2 agents\n\
         agent              new  calls  unknown\n\
         Where is order 7?    3      3        3\n\
         Cancel order 7.      2      2        2\n\
         all 2                5      5        5\n\
         the same in all rows: agent begins with `log: `, model gpt-5, present 0, failed 0, tokens/run 12.3k,\n  \
         passed not recorded\n\
         recordings: suites/cassettes\n\
         first suite: suites/x.yml\n\
         note: 5 results do not say whether their call failed, and gates count such a call as a success (a limit on errors fails): `--error-if REGEX` \
         finds failed calls by the text of the result\n\
         tools that only read, by their names: get_order\n\
         tools that change something, by their names: cancel_order\n  \
         if a name misleads, correct it in the suite: `narrative: { readonly_tools: [NAME], mutating_tools: [NAME] }`\n\
         suspect: log: Where is order 7? run-2: it says nothing at its end (set aside)\n  \
         a run that is set aside is recorded, but the first suite is made only from the other runs\n  \
         no record says which of these runs passed: read the runs, or write `passed` into their records, or name the field \
         that says it with `--score NAME`\n"
    );
    assert_eq!(
        said.err,
        "error[import]: is no run\n --> log.jsonl:6\n  = it has no list of `messages`\n  = help: everything else is imported; \
         if this part matters to your tests, correct the record and import it again\n1 problem; the rest is imported\n"
    );
}

/// A note says what it means where the words that recordings keep do not.
#[test]
fn a_note_of_a_recording_is_explained() {
    let desk = Desk::new();
    let mut record = run("a", "p", "get_order", "Shipped.");
    record["messages"][3]["reasoning_content"] = "I think.".into();
    desk.write("log.jsonl", lines(&[record]));
    let said = desk.import(&["log.jsonl"]);
    assert!(
        said.out.contains(
            "\nnote: reasoning left out: recordings do not hold what a model thinks; no gate judges it\n"
        ),
        "{said:?}"
    );
    assert_eq!(
        desk.recording()["imported"]["notes"],
        json!(["reasoning left out"])
    );
}
