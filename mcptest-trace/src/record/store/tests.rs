//! The store, from outside.

mod alone;
mod behaviour;
mod crash;
mod errors;
mod kill_points;
mod layouts;
mod lock;
mod model;
mod render;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{Layout, Lock, Store, StoreError, fnv1a64, write_atomically};

const STEM: &str = "Agent 🚀__model";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Single,
    Folder,
    Lines,
}

const FORMS: [Form; 3] = [Form::Single, Form::Folder, Form::Lines];

fn layout(place: &Path, form: Form) -> Layout {
    match form {
        Form::Single => Layout::Single(place.join(format!("{STEM}.json"))),
        Form::Folder => Layout::Folder(place.join(STEM)),
        Form::Lines => Layout::Lines(place.join(format!("{STEM}.jsonl"))),
    }
}

fn store(place: &Path, form: Form) -> Store {
    Store::new(&layout(place, form)).unwrap()
}

/// A short run.
fn run(id: &str) -> Value {
    run_up_to(id, 300)
}

/// A run of several blocks on disk.
fn long_run(id: &str) -> Value {
    run_up_to(id, 20_000)
}

/// A run that says itself whether it is whole. Its length depends on its name.
fn run_up_to(id: &str, longest: u64) -> Value {
    let length = usize::try_from(fnv1a64(id.as_bytes()) % longest).unwrap();
    let text = format!("{id} ").repeat(length / (id.len() + 1) + 1);
    let sum = format!("{:016x}", fnv1a64(text.as_bytes()));
    json!({
        "schema_version": "v1", "agent_name": id, "model": "model", "user_prompt": "prompt",
        "trace": {"tool_calls": [], "final_response": text, "inputs_digest": sum},
    })
}

fn run_id(run: &Value) -> String {
    let text = run["trace"]["final_response"].as_str().unwrap();
    let sum = format!("{:016x}", fnv1a64(text.as_bytes()));
    assert_eq!(run["trace"]["inputs_digest"], json!(sum));
    run["agent_name"].as_str().unwrap().to_owned()
}

/// The runs that a reader sees, each whole, in at most one layout.
fn visible_runs(place: &Path) -> Vec<String> {
    let mut layouts = Vec::new();
    let parse = |bytes: &[u8]| run_id(&serde_json::from_slice(bytes).unwrap());
    if let Ok(bytes) = fs::read(place.join(format!("{STEM}.json"))) {
        layouts.push(vec![parse(&bytes)]);
    }
    if let Ok(bytes) = fs::read(place.join(format!("{STEM}.jsonl"))) {
        assert!(bytes.is_empty() || bytes.ends_with(b"\n"));
        let lines = bytes.split(|byte| *byte == b'\n');
        layouts.push(lines.filter(|line| !line.is_empty()).map(parse).collect());
    }
    let names = names(&place.join(STEM));
    let mut runs: Vec<_> = names.iter().filter(|name| !name.starts_with('.')).collect();
    runs.sort_by_key(|name| {
        name.trim_matches(|c: char| !c.is_ascii_digit())
            .parse()
            .unwrap_or(0)
    });
    if !runs.is_empty() {
        let read = |name: &&String| parse(&fs::read(place.join(STEM).join(name)).unwrap());
        layouts.push(runs.iter().map(read).collect());
    }
    assert!(layouts.len() < 2, "{layouts:?}");
    layouts.pop().unwrap_or_default()
}

/// The runs in the staging folder, without touching anything. All are whole.
fn staged_names(place: &Path) -> Vec<String> {
    let folder = place.join(format!(".{STEM}.recording"));
    let runs = names(&folder)
        .into_iter()
        .filter(|name| name.starts_with("run-"));
    let read =
        |name: String| serde_json::from_slice(&fs::read(folder.join(name)).unwrap()).unwrap();
    runs.map(|name| run_id(&read(name))).collect()
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

fn set<T: ToString>(names: impl IntoIterator<Item = T>) -> BTreeSet<String> {
    names.into_iter().map(|name| name.to_string()).collect()
}

fn is_temporary(name: &String) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|extension| extension == "tmp")
}
