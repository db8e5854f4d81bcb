//! Definition: `inspect_ai@499e6152`, `log/_log.py`, `log/_recorders/eval.py`.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value, json};

use super::Desk;
use super::talk::{FormatCapabilities, Talk, assert_kept, talk};

pub(super) fn sample(talk: &Talk) -> Value {
    let mut messages = vec![json!({ "role": "system", "content": talk.system })];
    let mut events = Vec::new();
    for exchange in &talk.exchanges {
        messages.push(json!({ "role": "user", "content": exchange.user }));
        for answer in &exchange.answers {
            let calls: Vec<Value> = answer.calls.iter().map(|call| json!({ "id": call.id, "function": call.name, "arguments": call.args, "type": "function" })).collect();
            let id = format!("m{}", messages.len());
            let message = json!({ "id": id, "role": "assistant", "content": answer.said, "tool_calls": calls });
            let (prompt, completion) = answer.tokens;
            events.push(json!({ "event": "model", "model": "m", "output": { "choices": [{ "message": message }],
                "usage": { "input_tokens": prompt - 1, "input_tokens_cache_read": 1, "output_tokens": completion } } }));
            messages.push(message);
            for call in &answer.calls {
                if let Some(result) = &call.result {
                    let error = call
                        .is_error
                        .then(|| json!({ "type": "unknown", "message": "no" }));
                    messages.push(json!({ "role": "tool", "tool_call_id": call.id, "function": call.name, "content": result, "error": error }));
                }
            }
        }
    }
    json!({ "id": "s", "epoch": 1, "uuid": "u", "input": talk.exchanges[0].user, "messages": messages, "events": events,
        "attachments": {}, "output": { "choices": [{ "stop_reason": "stop" }] }, "scores": {} })
}

fn header() -> Value {
    json!({ "version": 2, "status": "success", "eval": { "task": "orders", "model": "m", "created": "2026-01-01T00:00:00+00:00" } })
}

pub(super) fn log(samples: &[Value]) -> Value {
    let mut log = header();
    log["samples"] = samples.into();
    log
}

/// An archive of entries, each with its method.
fn archive(entries: &[(&str, u16, Vec<u8>)]) -> Vec<u8> {
    let (mut bytes, mut list) = (Vec::new(), Vec::new());
    for (name, method, content) in entries {
        let packed = match method {
            8 => {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            }
            93 => {
                // Several frames in one entry.
                let (one, other) = content.split_at(content.len() / 2);
                let mut packed = compress_to_vec(one, CompressionLevel::Fastest);
                packed.extend(compress_to_vec(other, CompressionLevel::Fastest));
                packed
            }
            _ => content.clone(),
        };
        let start = u32::try_from(bytes.len()).unwrap();
        let sizes = [packed.len(), content.len()].map(|size| u32::try_from(size).unwrap());
        let name_length = u16::try_from(name.len()).unwrap();
        let mut fields = Vec::new();
        fields.extend(
            [20_u16, 0, *method, 0, 0]
                .iter()
                .flat_map(|field| field.to_le_bytes()),
        );
        let mut sum = flate2::Crc::new();
        sum.update(content);
        fields.extend(
            [sum.sum(), sizes[0], sizes[1]]
                .iter()
                .flat_map(|field| field.to_le_bytes()),
        );
        fields.extend(
            [name_length, 0]
                .iter()
                .flat_map(|field| field.to_le_bytes()),
        );
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&fields);
        bytes.extend(name.as_bytes());
        bytes.extend(packed);
        list.extend(b"PK\x01\x02\x14\x00");
        list.extend(&fields);
        list.extend([0_u8; 10]);
        list.extend(start.to_le_bytes());
        list.extend(name.as_bytes());
    }
    let (start, size) = (
        u32::try_from(bytes.len()).unwrap(),
        u32::try_from(list.len()).unwrap(),
    );
    bytes.extend(list);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    let count = u16::try_from(entries.len()).unwrap();
    bytes.extend([count, count].iter().flat_map(|field| field.to_le_bytes()));
    bytes.extend([size, start].iter().flat_map(|field| field.to_le_bytes()));
    bytes.extend([0, 0]);
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn nothing_of_a_sample_is_lost(talk in talk(FormatCapabilities::ALL)) {
        let sample = sample(&talk);
        assert_kept(&talk, FormatCapabilities::ALL, "a.json", format!("{:#}", log(std::slice::from_ref(&sample))).as_bytes(), &[]);
        for method in [0, 8, 93] {
            let entries = [("header.json", 8, header().to_string().into_bytes()), ("samples/s_epoch_1.json", method, sample.to_string().into_bytes())];
            assert_kept(&talk, FormatCapabilities::ALL, "a.eval", &archive(&entries), &[]);
        }
    }
}

fn short(epoch: u32, score: &Value) -> Value {
    json!({ "id": 7, "epoch": epoch, "uuid": format!("u{epoch}"), "input": "attachment://abc", "messages": [
        { "role": "user", "content": "attachment://abc" }, { "role": "assistant", "content": [{ "type": "reasoning", "reasoning": "hm" }, { "type": "text", "text": "ok" }] }],
        "attachments": { "abc": "What is it?" }, "model_usage": { "m": { "input_tokens": 5, "output_tokens": 2 } },
        "output": { "choices": [{ "stop_reason": "max_tokens" }] }, "scores": { "match": { "value": score } } })
}

#[test]
fn epochs_are_runs_and_grades_are_outcomes() {
    let desk = Desk::new();
    let text = format!(
        "{:#}",
        log(&[
            short(2, &json!("I")),
            short(1, &json!("C")),
            short(3, &json!("P")),
            short(4, &json!("SCORE"))
        ])
    );
    // Python writes what is no number so.
    desk.write("a.json", text.replace("\"SCORE\"", "NaN"));
    let said = desk.import(&["a.json"]);
    assert_eq!(said.status, 0, "{said:?}");
    let runs = desk.recordings();
    let outcomes: Vec<&Value> = runs.iter().map(|(_, run)| &run["outcome"]).collect();
    assert_eq!(
        outcomes,
        [
            &json!({ "passed": true, "reward": 1.0 }),
            &json!({ "passed": false, "reward": 0.0 }),
            &json!({ "reward": 0.5 }),
            &Value::Null
        ]
    );
    let (path, run) = &runs[0];
    assert_eq!(path, "orders__m/run-1.json");
    assert_eq!(run["user_prompt"], "What is it?");
    assert_eq!(run["trace"]["conversation"]["stop_reason"], "token_budget");
    assert_eq!(run["trace"]["conversation"]["tokens"]["total"], 7);
    assert_eq!(run["imported"]["notes"], json!(["reasoning left out"]));
}

#[test]
fn a_chunked_sample_is_put_together() {
    let mut whole = short(1, &json!(true));
    let mut messages = whole["messages"].take();
    let second = messages.as_array_mut().unwrap().split_off(1);
    let first = messages;
    whole.as_object_mut().unwrap().remove("messages");
    whole.as_object_mut().unwrap().remove("attachments");
    let folder = "samples/7_epoch_1";
    let desk = Desk::new();
    desk.write(
        "a.eval",
        archive(&[
            ("_journal/start.json", 0, header().to_string().into_bytes()),
            (
                &format!("{folder}/sample.json"),
                93,
                whole.to_string().into_bytes(),
            ),
            (
                &format!("{folder}/messages/0.json"),
                93,
                first.to_string().into_bytes(),
            ),
            (
                &format!("{folder}/messages/1.json"),
                8,
                json!(second).to_string().into_bytes(),
            ),
            (
                &format!("{folder}/attachments/abc"),
                8,
                b"What is it?".to_vec(),
            ),
        ]),
    );
    let said = desk.import(&["a.eval"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    assert_eq!(run["user_prompt"], "What is it?");
    assert_eq!(run["trace"]["final_response"], "ok");
    assert_eq!(run["outcome"], json!({ "passed": true }));
}

#[test]
fn a_trimmed_history_is_read_from_its_events() {
    let model = |id: &str, content: &str, calls: Value| json!({ "event": "model", "output": { "choices": [{ "message": { "id": id, "role": "assistant", "content": content, "tool_calls": calls } }] } });
    let call = |id: &str| json!([{ "id": id, "function": "bash", "arguments": { "cmd": id } }]);
    let desk = Desk::new();
    let sample = json!({ "id": "x", "epoch": 1, "input": "go", "messages": [
        { "role": "user", "content": "go" }, { "id": "m3", "role": "assistant", "content": "done" }],
        "events": [
            { "event": "span_begin", "id": "sc", "type": "scorers" },
            model("m1", "first", call("c1")),
            { "event": "tool", "id": "c1", "function": "bash", "result": "", "failed": true, "error": { "type": "timeout", "message": "too slow" } },
            model("m3", "done", json!([])),
            { "event": "model", "role": "grader", "output": { "choices": [{ "message": { "content": "grading" } }] } },
            { "event": "tool", "span_id": "sc", "id": "c9", "function": "bash", "result": "x" },
        ], "error": { "message": "boom" } });
    desk.write("a.json", format!("{:#}", log(&[sample])));
    let said = desk.import(&["a.json"]);
    assert_eq!(said.status, 0, "{said:?}");
    let run = desk.recording();
    assert_eq!(run["trace"]["tool_calls"].as_array().unwrap().len(), 1);
    assert_eq!(run["trace"]["tool_results"][0]["is_error"], true);
    assert_eq!(
        run["trace"]["tool_results"][0]["result"]["content"][0]["text"],
        "too slow"
    );
    assert_eq!(run["trace"]["conversation"]["stop_reason"], "error");
    assert!(!run.to_string().contains("grading"));
    assert!(said.out.contains("trimmed its history"), "{said:?}");
}

#[test]
fn a_cut_archive_is_reported() {
    let desk = Desk::new();
    let whole = archive(&[("header.json", 0, header().to_string().into_bytes())]);
    desk.write("a.eval", &whole[..whole.len() - 30]);
    let said = desk.import(&["a.eval"]);
    assert_eq!(said.status, 2);
    assert!(
        said.err
            .contains("is no archive that can be read\n --> a.eval"),
        "{said:?}"
    );
}

/// A score may change by a bit that fell over: what a checksum does not fit is not read.
#[test]
fn a_damaged_archive_is_reported() {
    let sample = |epoch, grade| short(epoch, &json!(grade)).to_string().into_bytes();
    let entries = [
        ("header.json", 0, header().to_string().into_bytes()),
        ("samples/a_epoch_1.json", 0, sample(1, "I")),
        ("samples/a_epoch_2.json", 0, sample(2, "N")),
    ];
    let whole = archive(&entries);
    let at = |part: &[u8]| whole.windows(part.len()).position(|it| it == part).unwrap();
    let mut graded = whole.clone();
    graded[at(b"\"I\"") + 1] = b'C';
    let (mut listed, mut encrypted) = (whole.clone(), whole.clone());
    let last = whole
        .windows(4)
        .rposition(|it| it == b"PK\x01\x02")
        .unwrap();
    listed[last] = b'X';
    encrypted[last + 8] |= 1;
    for (bytes, why, runs) in [
        (
            graded,
            "a.eval:samples/a_epoch_1.json\n  = the entry is damaged",
            1,
        ),
        (
            encrypted,
            "cannot be unpacked\n --> a.eval:samples/a_epoch_2.json\n  = the entry is encrypted\n  = help: write or copy the \
             archive again, whole and without a password\n",
            1,
        ),
        (listed, "a.eval\n  = the list of its entries is damaged", 0),
    ] {
        let desk = Desk::new();
        desk.write("a.eval", bytes);
        let said = desk.import(&["a.eval"]);
        assert!(said.err.contains(why), "{said:?}");
        assert_eq!(
            (said.status, desk.recordings().len()),
            (2 - u8::from(runs > 0), runs)
        );
    }
}

/// The end counts to 65,535, and from 0 on again: what it does not count would be lost.
#[test]
fn an_archive_of_more_entries_than_its_end_counts_is_reported() {
    let sample = |epoch| short(epoch, &json!("C")).to_string().into_bytes();
    let mut bytes = archive(&[
        ("header.json", 0, header().to_string().into_bytes()),
        ("samples/a_epoch_1.json", 0, sample(1)),
        ("samples/a_epoch_2.json", 0, sample(2)),
    ]);
    let end = bytes.len() - 22;
    assert_eq!(bytes[end + 10], 3);
    bytes[end + 10] = 2;
    let desk = Desk::new();
    desk.write("a.eval", bytes);
    let said = desk.import(&["a.eval"]);
    assert_eq!((said.status, desk.recordings().len()), (2, 0));
    assert!(
        said.err.contains(
            "a.eval\n  = the number of its entries is not the number that its end record states"
        ),
        "{said:?}"
    );
}

/// Archives grow: an entry that is written again is the later one.
#[test]
fn of_entries_with_one_name_the_last_counts() {
    let sample = |grade| short(1, &json!(grade)).to_string().into_bytes();
    let desk = Desk::new();
    let entries = [
        ("header.json", 0, header().to_string().into_bytes()),
        ("samples/a_epoch_1.json", 8, sample("C")),
        ("samples/a_epoch_1.json", 8, sample("I")),
    ];
    desk.write("a.eval", archive(&entries));
    let said = desk.import(&["a.eval"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(desk.recording()["outcome"]["passed"], false);
}
