//! What is no run, or not whole.

use serde_json::json;

use super::{Desk, lines};

const RUN: &str = r#"{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}"#;

fn import(name: &str, bytes: impl AsRef<[u8]>) -> (Desk, super::ImportOutput) {
    let desk = Desk::new();
    desk.write(name, bytes);
    let said = desk.import(&[name]);
    (desk, said)
}

#[test]
fn another_format_is_said_to_be_none_that_is_known() {
    let (_, said) = import("a.json", r#"{"name":"package","version":"1.0.0"}"#);
    assert_eq!(said.status, 2);
    assert!(
        said.err
            .starts_with("error[import]: has no known format\n --> a.json\n"),
        "{}",
        said.err
    );
    assert!(said.err.contains("--from FORMAT"), "{}", said.err);
    assert!(
        said.err
            .contains("= its first records look like none of these formats:\n      - inspect: "),
        "{}",
        said.err
    );
    let (_, said) = import("a.json", [0x1f, 0x8b, 8, 0]);
    assert!(said.err.contains("this is a gzip file"), "{}", said.err);
}

#[test]
fn of_a_cut_file_of_lines_the_whole_lines_are_kept() {
    let (desk, said) = import("a.jsonl", format!("{RUN}\r\n\r\n{}", &RUN[..40]));
    assert_eq!(said.status, 1);
    assert!(
        said.err
            .starts_with("error[import]: is cut\n --> a.jsonl:3\n"),
        "{}",
        said.err
    );
    assert_eq!(desk.recordings().len(), 1);
}

#[test]
fn of_a_cut_list_the_whole_elements_are_kept() {
    let (desk, said) = import("a.json", format!("[\n{RUN},\n{}", &RUN[..40]));
    assert_eq!(said.status, 1);
    assert!(
        said.err.contains("error[import]: is cut\n --> a.json\n"),
        "{}",
        said.err
    );
    assert_eq!(desk.recordings().len(), 1);
}

#[test]
fn a_broken_line_is_reported_and_the_others_are_imported() {
    let (desk, said) = import(
        "a.jsonl",
        format!("\u{feff}{RUN}\nnot json\n[1]\n{{\"role\":3}}\n"),
    );
    assert_eq!(said.status, 1, "{said:?}");
    assert!(
        said.err.contains("is no JSON\n --> a.jsonl:2\n"),
        "{}",
        said.err
    );
    assert!(said.err.contains(" --> a.jsonl:4\n"), "{}", said.err);
    assert_eq!(desk.recordings().len(), 1);
}

#[test]
fn an_empty_file_holds_nothing() {
    for text in ["", "\n\n", "[]", "[ ]"] {
        let (_, said) = import("a.json", text);
        assert_eq!(said.status, 2, "{text:?}");
        assert!(
            said.err
                .contains("error[import]: holds nothing\n --> a.json\n"),
            "{text:?}: {}",
            said.err
        );
    }
}

#[test]
fn nesting_beyond_the_limit_is_reported() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let text = format!(
        "{RUN}\n{{\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":{deep}}}]}}\n"
    );
    let (desk, said) = import("a.jsonl", text);
    assert_eq!(said.status, 1);
    assert!(
        said.err.contains(" --> a.jsonl:2\n  = recursion limit"),
        "{}",
        said.err
    );
    assert_eq!(desk.recordings().len(), 1);
}

#[test]
fn a_folder_of_mixed_files_is_read_file_by_file() {
    let desk = Desk::new();
    desk.write("runs/B.JSONL", format!("{RUN}\n"));
    desk.write("runs/more.log", format!("{RUN}\n"));
    desk.write("runs/.hidden", "nothing");
    desk.write("runs/deep/log", "nothing");
    desk.write("runs/deep/more.log", "nothing");
    desk.write("runs/deep/a.json", r#"[{"task_id":1,"trial":0,"reward":1.0,"info":{},"traj":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}]"#);
    desk.write("runs/notes.txt", "nothing");
    desk.write("runs/package.json", "{}");
    let said = desk.import(&["runs", "--model", "m"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(
        said.err
            .contains("has no known format\n --> runs/package.json\n  = no record in it looks like a run of a known format\n"),
        "{said:?}"
    );
    assert_eq!(desk.recordings().len(), 2);
    let left_out = "note: 4 files of the folder not read, because only names that end in .eval, .json, .jsonl, .ndjson are: \
                    .log (2 files), .txt, no ending; to import such a file, name it itself\n";
    assert!(said.out.contains(left_out), "{said:?}");
}

#[test]
fn a_pattern_names_files_in_byte_order_and_one_that_matches_nothing_is_reported() {
    let desk = Desk::new();
    desk.write("b.jsonl", format!("{RUN}\n"));
    let said = desk.import(&["*.jsonl", "missing.json"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(
        said.err
            .contains("cannot be read\n --> missing.json\n  = no such file or folder"),
        "{said:?}"
    );
    assert_eq!(desk.recordings().len(), 1);
    assert_eq!(desk.import(&["*.ndjson"]).status, 2);
}

#[test]
fn names_that_collide_as_files_are_numbered() {
    let desk = Desk::new();
    let record = |prompt: &str| json!({ "model": "m", "messages": [{ "role": "user", "content": prompt }, { "role": "assistant", "content": "ok" }] });
    desk.write(
        "a.jsonl",
        lines(&[record("Where?"), record("Where!"), record("where ")]),
    );
    let said = desk.import(&["a.jsonl", "--agent", "x"]);
    assert_eq!(said.status, 0, "{said:?}");
    let names = desk.recorded();
    assert_eq!(
        names,
        [
            "x__Where__2__m/run-1.json",
            "x__Where___m/run-1.json",
            "x__where_3__m/run-1.json"
        ]
    );
}

#[test]
fn a_run_without_model_or_prompt_is_reported_with_what_to_do() {
    let desk = Desk::new();
    desk.write(
        "a.jsonl",
        lines(&[
            json!({ "messages": [{ "role": "user", "content": "a" }, { "role": "assistant", "content": "b" }] }),
            json!({ "model": "m", "messages": [{ "role": "assistant", "content": "a" }] }),
        ]),
    );
    let said = desk.import(&["a.jsonl"]);
    assert_eq!(said.status, 2);
    assert!(
        said.err.contains("no model is named\n --> a.jsonl:1\n")
            && said.err.contains("--model NAME"),
        "{}",
        said.err
    );
    assert!(
        said.err.contains("the user says nothing\n --> a.jsonl:2\n")
            && said.err.contains("--prompt TEXT"),
        "{}",
        said.err
    );
    assert_eq!(
        desk.import(&["a.jsonl", "--model", "m", "--prompt", "p"])
            .status,
        0
    );
}

#[test]
fn many_places_of_one_problem_are_counted() {
    let desk = Desk::new();
    desk.write("a.jsonl", format!("{RUN}\n{}", "nothing\n".repeat(30)));
    let said = desk.import(&["a.jsonl"]);
    assert_eq!(
        said.err,
        "error[import]: is no JSON (30 times)\n --> a.jsonl:2\n --> a.jsonl:3\n --> a.jsonl:4\n --> and 27 more places\n  \
         = expected ident at line 1 column 2\n  = help: correct it, unpack it, or export it again, as JSON in UTF-8\n30 problems; the rest \
         is imported\n"
    );
    let said = desk.import(&["a.jsonl", "--format", "json"]);
    let told: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(told["reports"][0]["count"], 30);
    assert_eq!(told["reports"][0]["shown"].as_array().unwrap().len(), 20);
}

/// Details that differ are shown, so far as a person reads them.
#[test]
fn many_details_of_one_reason_are_counted() {
    let desk = Desk::new();
    let records: Vec<String> = (0..8).map(|n| format!("{}x", "[".repeat(n + 1))).collect();
    desk.write("a.jsonl", format!("{RUN}\n{}\n", records.join("\n")));
    let said = desk.import(&["a.jsonl"]);
    assert_eq!(
        said.err
            .matches("  = expected value at line 1 column ")
            .count(),
        5
    );
    assert!(
        said.err
            .ends_with("error[import]: is no JSON: 3 more\n8 problems; the rest is imported\n"),
        "{}",
        said.err
    );
}

/// Notes that differ in names alone are shown, so far as a person reads them.
#[test]
fn many_notes_of_one_kind_are_counted() {
    let desk = Desk::new();
    let run = |agent: usize, text: &str| {
        json!({ "id": format!("{agent}{text}"), "model": "m", "messages": [
            { "role": "user", "content": format!("p{agent}") }, { "role": "assistant", "content": text },
        ] })
    };
    let all = |text: &str| lines(&(0..8).map(|agent| run(agent, text)).collect::<Vec<_>>());
    desk.write("a.jsonl", all("one"));
    desk.import(&["a.jsonl"]);
    desk.write("a.jsonl", all("two"));
    let said = desk.import(&["a.jsonl", "--check"]);
    assert_eq!(
        said.out.matches(" has 2 recordings now: change ").count(),
        5
    );
    assert!(
        said.out
            .contains("note: 3 more notes like these: `--format json` lists all\n"),
        "{said:?}"
    );
}

#[test]
fn a_summary_as_json_holds_rows_notes_and_reports() {
    let desk = Desk::new();
    desk.write("a.jsonl", format!("{RUN}\nnothing\n"));
    let said = desk.import(&["a.jsonl", "--format", "json"]);
    let told: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(told["rows"][0]["runs"], json!({ "new": 1, "present": 0 }));
    assert_eq!(told["reports"][0]["reason"], "is no JSON");
    assert_eq!(
        told["reports"][0]["shown"][0]["place"]
            .as_str()
            .unwrap()
            .rsplit('/')
            .next(),
        Some("a.jsonl:2")
    );
}

/// What is the same of several records is said once, with all their places.
#[test]
fn what_many_records_lack_is_said_once() {
    let desk = Desk::new();
    let record = json!({ "messages": [
        { "role": "user", "content": "p" }, { "role": "assistant", "content": "a" },
    ] });
    desk.write("log.jsonl", lines(&[record.clone(), record]));
    let said = desk.import(&["log.jsonl"]);
    assert_eq!(said.status, 2);
    assert_eq!(
        said.err,
        "error[import]: no model is named (2 times)\n --> log.jsonl:1\n --> log.jsonl:2\n  = no record says which model ran\n  \
         = help: name the model that ran with `--model NAME`\n2 problems; nothing is imported\n"
    );
}

#[test]
fn a_list_in_an_object_is_named_with_the_way_out() {
    let desk = Desk::new();
    let run = json!({ "model": "m", "messages": [
        { "role": "user", "content": "p" }, { "role": "assistant", "content": "x" },
    ] });
    desk.write("all.json", json!({ "count": 1, "runs": [run] }).to_string());
    let said = desk.import(&["all.json"]);
    assert_eq!(said.status, 2, "{said:?}");
    assert_eq!(
        said.err,
        "error[import]: is not read as it is\n --> all.json\n  = the command looks for records in a list or on lines; this is an \
         object with the list `runs`. Give the elements of the list: `jq -c '.runs[]' all.json > runs.jsonl`\n  = help: convert the \
         file as the message says, and import the new file\n1 problem; nothing is imported\n"
    );
}

#[test]
fn messages_under_another_name_are_told_with_the_way_out() {
    let desk = Desk::new();
    let messages =
        json!([{ "role": "user", "content": "p" }, { "role": "assistant", "content": "x" }]);
    let run = json!({ "task": "t", "turns": [{ "round": 0 }], "history": messages });
    desk.write("run.json", run.to_string());
    let said = desk.import(&["run.json"]);
    assert_eq!(said.status, 2, "{said:?}");
    let told = "the command looks for messages under `messages`; here they are under `history`. Rename the key: `jq -c '.messages = \
                .history' run.json > runs.jsonl`";
    assert!(said.err.contains(told), "{said:?}");
}

#[test]
fn an_agent_by_another_role_is_the_agent() {
    for role in ["agent", "ai", "model"] {
        let desk = Desk::new();
        let run = json!({ "model": "m", "messages": [
            { "role": "user", "content": "p" }, { "role": role, "content": "x" },
        ] });
        desk.write("run.jsonl", lines(&[run]));
        let said = desk.import(&["run.jsonl"]);
        assert_eq!(said.status, 0, "{said:?}");
        assert_eq!(desk.recording()["trace"]["final_response"], "x");
    }
}

#[test]
fn a_call_without_a_name_is_reported() {
    let desk = Desk::new();
    let call = json!({ "id": "a", "args": { "order": 7 } });
    let messages = json!([{ "role": "user", "content": "Cancel 7." }, { "role": "assistant", "content": null, "tool_calls": [call] },
        { "role": "tool", "tool_call_id": "a", "content": "ok" }, { "role": "assistant", "content": "Done." }]);
    desk.write(
        "a.json",
        json!({ "model": "m", "messages": messages }).to_string(),
    );
    let said = desk.import(&["a.json", "--from", "openai"]);
    assert_eq!((said.status, desk.recordings().len()), (2, 0), "{said:?}");
    assert!(said.err.contains("its call 1 has no name"), "{said:?}");
}

/// Some name the function alone, and give the call's identifier to the result.
#[test]
fn a_call_is_read_in_the_words_of_those_who_keep_it() {
    let desk = Desk::new();
    let call = json!({ "id": "a", "function": "cancel_order", "args": { "order": 7 } });
    let messages = json!([{ "role": "user", "content": "Cancel 7." }, { "role": "assistant", "content": null, "tool_calls": [call] },
        { "role": "tool", "id": "a", "content": "boom", "error": true, "requestor": "assistant" },
        { "role": "tool", "id": "b", "content": "on", "error": false, "requestor": "user" }, { "role": "assistant", "content": "Done." }]);
    desk.write(
        "a.json",
        json!({ "model": "m", "messages": messages }).to_string(),
    );
    let said = desk.import(&["a.json"]);
    assert_eq!(said.status, 0, "{said:?}");
    let trace = &desk.recording()["trace"];
    assert_eq!(trace["tool_calls"][0]["name"], "cancel_order");
    assert_eq!(trace["tool_calls"][0]["args"], json!({ "order": 7 }));
    assert_eq!(trace["tool_results"].as_array().map(Vec::len), Some(1));
    assert_eq!(trace["tool_results"][0]["is_error"], true);
}

#[test]
fn an_agent_with_too_many_runs_for_gates_says_so() {
    let desk = Desk::new();
    let run = |id: usize| {
        let messages = json!([{ "role": "user", "content": "Cancel 7." }, { "role": "assistant", "content": "Done." }]);
        json!({ "id": format!("r{id}"), "model": "m", "messages": messages }).to_string()
    };
    let runs: Vec<String> = (0..201).map(run).collect();
    desk.write("a.jsonl", runs.join("\n"));
    let said = desk.import(&["a.jsonl", "--agent", "x"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.out.contains("note: too many runs of `x`"), "{said:?}");
    assert!(desk.suite().contains("# too many runs to derive gates"));
}
