//! Two names or values that differ and look the same are told apart, wherever they stand.

use serde_json::{Value, json};

use super::{calls, failure, judge, judge_runs, shows};

/// What a suite asks of an agent and a trace that does not hold, of two texts.
type Place = (&'static str, fn(&str) -> String, fn(&str) -> Value);

fn called(call: &Value) -> Value {
    json!({ "tool_calls": [call, { "name": "u", "args": { "v": 1 } }] })
}

fn argument(text: &str) -> Value {
    called(&json!({ "name": "t", "args": { "c": text } }))
}

fn tool(text: &str) -> Value {
    called(&json!({ "name": text, "args": {} }))
}

fn assertion(target: &str, matcher: &str) -> String {
    format!("  expect: [{{ target: '{target}', matcher: {matcher} }}]\n")
}

fn of_argument(matcher: &str) -> String {
    assertion("tool_calls[0].args.c", matcher)
}

fn plan(call: &str) -> String {
    format!("  trajectory: {{ mode: strict, calls: [{call}, {{ name: u }}] }}\n")
}

const PLACES: &[Place] = &[
    (
        "an exact argument",
        |it| {
            plan(&format!(
                "{{ name: t, args: {{ exact: {{ c: '{it}' }} }} }}"
            ))
        },
        argument,
    ),
    (
        "an item of a list",
        |it| {
            plan(&format!(
                "{{ name: t, args: {{ exact: {{ c: [x, '{it}'] }} }} }}"
            ))
        },
        |it| called(&json!({ "name": "t", "args": { "c": ["x", it] } })),
    ),
    (
        "a key of arguments",
        |it| {
            plan(&format!(
                "{{ name: t, args: {{ subset: {{ '{it}': 1 }} }} }}"
            ))
        },
        |it| called(&json!({ "name": "t", "args": { it: 1 } })),
    ),
    (
        "a schema of arguments",
        |it| {
            plan(&format!(
                "{{ name: t, args: {{ schema: {{ properties: {{ c: {{ const: '{it}' }} }} }} }} }}"
            ))
        },
        argument,
    ),
    (
        "the name of a tool",
        |it| plan(&format!("{{ name: '{it}' }}")),
        tool,
    ),
    (
        "a server",
        |it| plan(&format!("{{ name: t, server: '{it}' }}")),
        |it| called(&json!({ "name": "t", "server": it, "args": {} })),
    ),
    (
        "an allowed tool",
        |it| {
            format!(
                "  trajectory: {{ mode: subsequence, calls: [{{ name: u }}], allow: ['{it}'] }}\n"
            )
        },
        tool,
    ),
    (
        "an order",
        |it| format!("  trajectory_axes: {{ order: [{{ first: '{it}', second: u }}] }}\n"),
        tool,
    ),
    (
        "a golden path",
        |it| format!("  golden_path: {{ calls: ['{it}', '{it}'] }}\n"),
        |it| calls(&[it, "u", it]),
    ),
    (
        "a sub-agent",
        |it| format!("  trajectory: {{ agent: '{it}', forbid: [x] }}\n"),
        |it| called(&json!({ "name": "t", "args": {}, "agent_id": it })),
    ),
    (
        "exact",
        |it| of_argument(&format!("{{ exact: '{it}' }}")),
        argument,
    ),
    (
        "contains",
        |it| of_argument(&format!("{{ contains: '{it}' }}")),
        |it| argument(&format!("to {it}, now")),
    ),
    (
        "a regex",
        |it| of_argument(&format!("{{ regex: '^{it}$' }}")),
        argument,
    ),
    (
        "const",
        |it| of_argument(&format!("{{ schema: {{ const: '{it}' }} }}")),
        argument,
    ),
    (
        "enum",
        |it| of_argument(&format!("{{ schema: {{ enum: ['{it}'] }} }}")),
        argument,
    ),
    (
        "pattern",
        |it| of_argument(&format!("{{ schema: {{ pattern: '^{it}$' }} }}")),
        argument,
    ),
    (
        "levenshtein",
        |it| of_argument(&format!("{{ levenshtein: {{ value: '{it}', max: 0 }} }}")),
        argument,
    ),
    (
        "anyOf",
        |it| {
            of_argument(&format!(
                "{{ anyOf: [{{ exact: '{it}' }}, {{ exact: x }}] }}"
            ))
        },
        argument,
    ),
    (
        "a path",
        |it| assertion(&format!("tool_calls[0].args[\"{it}\"]"), "{ exact: 1 }"),
        |it| called(&json!({ "name": "t", "args": { it: 1 } })),
    ),
    (
        "names of tools",
        |it| assertion("tool_names", &format!("{{ contains: ['{it}'] }}")),
        tool,
    ),
];

/// The one failure without the lines of the suite, which stand as they are written.
fn failed(place: &str, verdicts: Vec<(String, Option<String>)>) -> String {
    let any = verdicts.iter().any(|(_, text)| text.is_some());
    assert!(any, "{place} holds");
    let failure = failure(verdicts);
    let is_source = |line: &&str| !line.starts_with(|it: char| it.is_ascii_digit());
    let lines = failure.lines().filter(is_source);
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn two_texts_that_look_the_same_are_spelt_in_every_place() {
    for (asked, recorded, spelt, reason) in [
        (
            "Z\u{fc}rich",
            "Zu\u{308}rich",
            [r"Z\u{fc}rich", r"Zu\u{308}rich"],
            "Unicode normalisation",
        ),
        (
            "paypal",
            "p\u{430}ypal",
            ["paypal", r"p\u{430}ypal"],
            "look-alike characters",
        ),
        (
            "A-1",
            "A\u{2011}1",
            ["A-1", r"A\u{2011}1"],
            "look-alike characters",
        ),
        (
            "file",
            "\u{fb01}le",
            ["file", r"\u{fb01}le"],
            "look-alike characters",
        ),
        (
            "ok\u{2764}x",
            "ok\u{2764}\u{fe0f}x",
            ["ok\u{2764}x", "ok\u{2764}\\u{fe0f}x"],
            "invisible characters",
        ),
    ] {
        // Names of servers are compared by their letters and digits.
        let is_word = asked.chars().all(char::is_alphanumeric);
        let places = PLACES.iter();
        for (place, asks, trace) in places.filter(|(place, ..)| is_word || *place != "a server") {
            let text = failed(place, judge(&asks(asked), &[trace(recorded)]));
            assert!(text.contains(reason), "{place}: {text}");
            assert!(!text.contains(recorded), "{place}: {text}");
            for spelt in spelt {
                assert!(text.contains(spelt), "{place}: {spelt}: {text}");
            }
        }
    }
}

#[test]
fn tools_that_only_the_suite_names_are_told() {
    let mut run = tool("p\u{430}ypal");
    run["final_response"] = json!("I paid the bill.");
    run["conversation"] = json!({ "stop_reason": "completed" });
    let narrative = "  narrative: { evidence: { paid: [paypal] } }\n";
    let text = failure(judge(narrative, std::slice::from_ref(&run)));
    let told = r"`narrative` names `paypal`, and the recordings have `p\u{430}ypal`";
    assert!(text.contains(told), "{text}");
    let faults = "faults:\n- { name: f, target: { tool: paypal }, kind: slow, delay_ms: 5000 }\n";
    let asks = "  inject: [f]\n  expect: [{ target: tool_names, matcher: { contains: [u] } }]\n";
    let text = failure(judge_runs(faults, asks, &[json!({ "trace": run })]));
    let told = r"- a fault is for the tool `paypal`, and the run calls `p\u{430}ypal`";
    assert!(text.contains(told), "{text}");
    assert!(text.contains("look-alike characters"), "{text}");
}

#[test]
fn what_a_look_tells_is_shown_as_it_is() {
    for (place, asks, trace) in PLACES {
        let text = failed(place, judge(&asks("Z\u{fc}rich"), &[trace("B\u{e4}le")]));
        assert!(!text.contains("look the same"), "{place}: {text}");
        assert!(!text.contains(r"\u{"), "{place}: {text}");
    }
}

#[test]
fn names_that_look_the_same_are_told_once() {
    let gate = "  trajectory_axes: { order: [{ first: Z\u{fc}rich, second: u }] }\n";
    shows!(
        "look-alike-tools",
        judge(gate, &[calls(&["Zu\u{308}rich", "u"])])
    );
    let path = assertion("tool_calls[0].args.paypal", "{ exact: 1 }");
    let run = called(&json!({ "name": "t", "args": { "p\u{430}ypal": 1 } }));
    shows!("look-alike-path", judge(&path, &[run]));
}

#[test]
fn a_result_that_looks_like_an_argument_is_shown() {
    let gate = "  trajectory_axes: { dependencies: [{ producer: t, consumer: u, arg: c.d }] }\n";
    let run = |argument: &str, result: &str| {
        json!({
            "tool_calls": [{ "name": "t", "args": {} }, { "name": "u", "args": { "c": { "d": argument } } }],
            "tool_results": [{ "call_index": 0, "is_error": false, "result": { "r": [result] } }],
        })
    };
    shows!(
        "look-alike-source",
        judge(gate, &[run("a b", "say a\u{a0}b")])
    );
    for (argument, result, part) in [
        ("Z\u{fc}rich", "Zu\u{308}rich", r#"has "Zu\u{308}rich""#),
        ("abc", "a\u{ad}bc", r#"has "a\u{ad}bc""#),
        ("paypal", "p\u{430}ypal", r#"has "p\u{430}ypal""#),
        ("a b", "a  b", r#"has "a  b""#),
    ] {
        let text = failure(judge(gate, &[run(argument, result)]));
        assert!(text.contains(part), "{text}");
    }
    let other = failure(judge(gate, &[run("Bern", "Basel")]));
    assert!(!other.contains("looks like"), "{other}");
}

#[test]
fn a_part_of_a_long_text_that_looks_like_what_is_asked_is_told() {
    let asks = "  expect: [{ target: final_response, matcher: { contains: order 17 } }]\n";
    let said = |words: &str| {
        let mut run = calls(&["t"]);
        run["final_response"] = json!(format!("{0}{words}{0}", "well, ".repeat(100)));
        [run]
    };
    let why = "the assertion would hold if the recorded text had plain characters";
    let text = failure(judge(asks, &said("\u{43e}rder\u{a0}17 ")));
    assert!(text.contains(why), "{text}");
    let text = failure(judge(asks, &said("order 18 ")));
    assert!(!text.contains(why), "{text}");
}

#[test]
fn spaces_around_a_name_are_shown() {
    let gate = "  trajectory_axes: { order: [{ first: a, second: u }] }\n";
    let text = failure(judge(gate, &[calls(&["a ", "u"])]));
    assert!(text.contains(r"calls: 0 a\u{20}, 1 u"), "{text}");
}
