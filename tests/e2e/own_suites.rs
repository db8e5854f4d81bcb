//! This repository's own recordings are what recording makes: the server real, the model scripted.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use scripted_provider::{Provider, Script};
use serde_json::Value;

use crate::support::folder::{Folder, collect};
use crate::support::live::desk::order_desk;
use crate::support::live::recording_crate::recording_crate;
use crate::support::process;
use crate::support::workshop::workspace;

/// What starts the server where the repository is at hand.
const FROM_SOURCE: &str = "[cargo, run, --quiet, --package, order-desk]";

/// Every file below a folder of the workspace.
fn files(folder: &str) -> BTreeMap<String, Vec<u8>> {
    let files = collect(&workspace().join(folder)).into_iter();
    let named = files.map(|(path, bytes)| (format!("{folder}/{path}"), bytes));
    named.collect()
}

/// A copy of the suites and the recordings of this repository.
fn copy() -> Folder {
    let folder = Folder::new();
    for (path, bytes) in files("suites").into_iter().chain(files("cassettes")) {
        if Path::new(&path).extension() == Some("yml".as_ref()) {
            let suite = String::from_utf8(bytes).unwrap();
            assert!(suite.contains(FROM_SOURCE), "{path}");
            let built = format!("[{:?}]", order_desk().to_string_lossy());
            folder.write(&path, suite.replace(FROM_SOURCE, &built));
        } else {
            folder.write(&path, bytes);
        }
    }
    folder
}

/// A run without what no two recordings share.
fn timeless(bytes: &[u8]) -> Value {
    let mut run: Value = serde_json::from_slice(bytes).unwrap();
    // Another machine records another digest.
    run.as_object_mut().unwrap().remove("recorded_on");
    for list in ["/trace/tool_results", "/trace/conversation/steps"] {
        for timed in run.pointer_mut(list).unwrap().as_array_mut().unwrap() {
            assert!(timed["duration_ms"].take().is_u64(), "{timed}");
        }
    }
    let stated = [
        run["recorded_at"].take(),
        run["trace"]["conversation"]["duration_ms"].take(),
        // What was asked includes the server's command, and here that is another one.
        run["request_fingerprint"].take(),
    ];
    assert!(
        stated[0].is_string() && stated[1].is_u64() && stated[2].is_string(),
        "{stated:?}"
    );
    run
}

#[test]
fn recording_this_repositorys_suites_again_gives_the_same_runs() {
    let script = workspace().join("tests/scripted-provider/scripts/own_suites.json");
    let script = Script::from_json(&fs::read_to_string(script).unwrap()).unwrap();
    let provider = Provider::start(script).unwrap();
    let url = provider.url();
    let folder = copy();
    let mut command = process::command(recording_crate().executable("agents"), folder.path());
    command
        .env("CARGO_MANIFEST_DIR", folder.path())
        .env("MCPTEST_RECORD", "all")
        .env("ANTHROPIC_BASE_URL", &url)
        .env("OPENAI_BASE_URL", &url)
        .env("ANTHROPIC_API_KEY", "scripted")
        .env("OPENAI_API_KEY", "scripted");
    let ran = process::run(&mut command).exits(0);
    let mut told = ran.stderr.lines();
    let cost = told.next().unwrap_or_default();
    assert!(cost.contains(" (as recorded before)"), "{ran}");
    let recorded = told.filter(|line| line.starts_with("recorded "));
    assert_eq!(recorded.count(), 3, "{ran}");

    let is_run = |path: &PathBuf| path.extension() == Some("json".as_ref());
    let committed = files("suites").into_iter().chain(files("cassettes"));
    let committed = committed.filter(|(path, _)| is_run(&PathBuf::from(path)));
    let mut again = collect(folder.path());
    again.retain(|path, _| is_run(&PathBuf::from(path)));
    let mut compared = 0;
    for (path, before) in committed {
        let after = again.remove(&path).expect(&path);
        assert_ne!(before, after, "{path} was not recorded again");
        assert_eq!(timeless(&before), timeless(&after), "{path}");
        compared += 1;
    }
    assert!(again.is_empty(), "{:?}", again.keys());
    assert_eq!(compared, 9);
}
