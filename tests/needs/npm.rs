//! Published MCP servers from the npm registry.

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::support::live::desk::script;
use crate::support::live::recording_crate::Scene;
use crate::support::workshop::kept_folder;

/// Installs a package where it is kept from run to run; the folder of its programs.
pub(super) fn installed(package: &str) -> PathBuf {
    installed_all(&package.replace(['/', '@'], "_"), &[package])
}

/// Installs several packages into the kept folder `name`; the folder of their programs.
pub(super) fn installed_all(name: &str, packages: &[&str]) -> PathBuf {
    // Two tests may want the same one.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let prefix = kept_folder().join("npm").join(name);
    std::fs::create_dir_all(&prefix).unwrap();
    let installed = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--prefix"])
        .arg(&prefix)
        .args(packages)
        .output()
        .unwrap();
    assert!(installed.status.success(), "{installed:?}");
    prefix.canonicalize().unwrap()
}

pub(super) fn agent(command: &[&str], folder: &str, prompt: &str) -> String {
    let command = serde_json::to_string(command).unwrap();
    format!(
        "servers:\n  other: {{ command: {command}, cwd: {folder:?} }}\nagents:\n  - name: Guest\n    model: gpt-5\n    \
         servers: [other]\n    prompt: {prompt}\n    expect:\n      - target: truncated\n        \
         matcher: {{ exact: false }}\n"
    )
}

pub(super) fn texts(run: &Value) -> Vec<String> {
    let results = run["trace"]["tool_results"].as_array().unwrap();
    assert!(
        results.iter().all(|result| result["is_error"] == false),
        "{results:#?}"
    );
    let texts = results.iter().map(|result| {
        result["result"]["content"][0]["text"]
            .as_str()
            .unwrap_or_default()
    });
    texts.map(ToOwned::to_owned).collect()
}

pub(super) const PLACE: &str = "suites/cassettes/Guest__gpt-5.json";

pub(crate) fn the_server_that_has_everything() {
    let package = "@modelcontextprotocol/server-everything";
    let prefix = installed(package);
    let prefix = prefix.to_string_lossy();
    let suite = agent(&["npx", "-y", package], &prefix, "Try everything.");
    let run = json!([
        { "calls": [
            { "name": "other__echo", "args": { "message": "hello over there" } },
            { "name": "other__get-sum", "args": { "a": 19, "b": 23 } },
        ] },
        { "text": "Tried." },
    ]);
    let mut scene =
        Scene::new(&suite, &script("Try everything.", &[run])).set("MCPTEST_RECORD_TIMEOUT", "60");
    scene.record("missing", &[]).exits(0);
    let run = scene.run(PLACE);
    let texts = texts(&run);
    assert!(texts[0].contains("hello over there"), "{texts:?}");
    assert!(texts[1].contains("42"), "{texts:?}");
    assert!(run["tools"].as_array().unwrap().len() > 5);
    scene.stop();
    scene.judge(&[]).exits(0);
}

pub(crate) fn the_server_of_a_file_system() {
    let package = "@modelcontextprotocol/server-filesystem";
    let prefix = installed(package);
    let prefix = prefix.to_string_lossy();
    let shared = crate::support::folder::Folder::new();
    let path = shared.path().canonicalize().unwrap();
    let file = path.join("note.txt");
    let suite = agent(
        &["npx", "-y", package, &path.to_string_lossy()],
        &prefix,
        "Write it down.",
    );
    let run = json!([
        { "calls": [{ "name": "other__write_file", "args": { "path": file, "content": "pens: 3" } }] },
        { "calls": [{ "name": "other__read_text_file", "args": { "path": file } }] },
        { "text": "Written." },
    ]);
    let scene =
        Scene::new(&suite, &script("Write it down.", &[run])).set("MCPTEST_RECORD_TIMEOUT", "60");
    scene.record("missing", &[]).exits(0);
    assert_eq!(texts(&scene.run(PLACE))[1], "pens: 3");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "pens: 3");
    scene.judge(&[]).exits(0);
}

/// The server says its whole environment; what is secret by its name does not get into the file.
pub(crate) fn the_environment_it_tells_is_blanked() {
    let package = "@modelcontextprotocol/server-everything";
    let prefix = installed(package);
    let suite = agent(
        &["npx", "-y", package],
        &prefix.to_string_lossy(),
        "Tell me.",
    );
    let run = json!([
        { "calls": [{ "name": "other__get-env", "args": {} }] },
        { "text": "Told." },
    ]);
    for (inherit, seen) in [("", false), (", inherit_env: all", true)] {
        let suite = suite.replacen(" }\nagents", &format!("{inherit} }}\nagents"), 1);
        let scene = Scene::new(&suite, &script("Tell me.", std::slice::from_ref(&run)))
            .set("MCPTEST_RECORD_TIMEOUT", "60")
            .set("GITHUB_TOKEN", "ghp_planted0000000000000000")
            .set("DATABASE_URL", "postgres://ada:planted1815@db/shop")
            .set("SERVICE_PASSWORD", "planted-horse");
        scene.record("missing", &[]).exits(0);
        let said = &texts(&scene.run(PLACE))[0];
        assert!(!said.contains("planted"), "{said}");
        assert_eq!(said.contains("[redacted GITHUB_TOKEN]"), seen, "{said}");
        assert!(said.contains("PATH"), "{said}");
    }
}

pub(crate) fn the_server_of_a_memory() {
    let package = "@modelcontextprotocol/server-memory";
    let prefix = installed(package);
    let suite = agent(
        &["npx", "-y", package],
        &prefix.to_string_lossy(),
        "Remember Ada.",
    );
    let ada = json!({ "name": "Ada", "entityType": "person", "observations": ["likes pens"] });
    let run = json!([
        { "calls": [{ "name": "other__create_entities", "args": { "entities": [ada] } }] },
        { "calls": [{ "name": "other__search_nodes", "args": { "query": "pens" } }] },
        { "text": "Remembered." },
    ]);
    let folder = crate::support::folder::Folder::new();
    let memory = folder.at("memory.json");
    let suite = suite.replacen(
        " }\nagents",
        &format!(
            ", env: {{ MEMORY_FILE_PATH: '{}' }} }}\nagents",
            memory.display()
        ),
        1,
    );
    let scene =
        Scene::new(&suite, &script("Remember Ada.", &[run])).set("MCPTEST_RECORD_TIMEOUT", "60");
    scene.record("missing", &[]).exits(0);
    let texts = texts(&scene.run(PLACE));
    assert!(texts[1].contains("likes pens"), "{texts:?}");
    scene.judge(&[]).exits(0);
}
