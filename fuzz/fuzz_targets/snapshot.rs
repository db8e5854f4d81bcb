//! Any bytes as the snapshot that was accepted: only the outline of the run passes, and nothing is written.
#![no_main]

use std::fs;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use mcptest::judge::Package;
use tempfile::TempDir;

const SUITE: &str =
    "agents:\n- { name: a, model: m, prompt: x, snapshot: { final_response: true } }\n";

const RUN: &str = r#"{ "schema_version": "v1", "model": "m", "user_prompt": "x", "trace": {
    "tool_calls": [{ "name": "refund", "args": { "order": 7 } }],
    "tool_results": [{ "call_index": 0, "is_error": false, "result": "done" }],
    "final_response": "Order 7 is refunded." } }"#;

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [("suites/s.yml", SUITE), ("suites/cassettes/a__m.json", RUN)] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::create_dir(folder.path().join("suites/snapshots")).unwrap();
    folder
});

fuzz_target!(|bytes: &[u8]| {
    let snapshots = FOLDER.path().join("suites/snapshots");
    fs::write(snapshots.join("s-a-snapshot.snap"), bytes).unwrap();
    let package = Package::open(FOLDER.path(), "p", &["suites".into()]);
    let cases = package.cases();
    let case = cases.iter().find(|case| case.name().ends_with("snapshot"));
    let result = case.expect("the gate is a case").judge();
    if result.status.as_str() == "passed" {
        let text = String::from_utf8_lossy(bytes);
        for part in ["refund", "order", "7", "Order 7 is refunded."] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    assert_eq!(fs::read_dir(snapshots).unwrap().count(), 1);
});
