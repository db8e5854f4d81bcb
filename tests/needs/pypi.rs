//! Published MCP servers from `PyPI`, and one of our own over a published library.

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::npm::{PLACE, agent, texts};
use crate::support::folder::Folder;
use crate::support::live::desk::script;
use crate::support::live::recording_crate::Scene;
use crate::support::workshop::kept_folder;

/// Installs a package into an environment that is kept from run to run; the folder of its programs.
pub(super) fn installed(package: &str) -> PathBuf {
    // Two tests may want the same one.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let environment = kept_folder().join("pypi").join(package);
    if !environment.join("bin/python").exists() {
        let made = Command::new("python3")
            .args(["-m", "venv"])
            .arg(&environment)
            .output();
        let made = made.unwrap();
        assert!(made.status.success(), "{made:?}");
    }
    let installed = Command::new(environment.join("bin/python"))
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            package,
        ])
        .output()
        .unwrap();
    assert!(installed.status.success(), "{installed:?}");
    environment.join("bin").canonicalize().unwrap()
}

fn recorded(suite: &str, prompt: &str, calls: &Value) -> Vec<String> {
    let run = json!([{ "calls": calls }, { "text": "Done." }]);
    let scene = Scene::new(suite, &script(prompt, &[run])).set("MCPTEST_RECORD_TIMEOUT", "60");
    scene.record("missing", &[]).exits(0);
    scene.judge(&[]).exits(0);
    texts(&scene.run(PLACE))
}

pub(crate) fn the_server_of_the_time() {
    let program = installed("mcp-server-time").join("mcp-server-time");
    let suite = agent(&[&program.to_string_lossy()], ".", "Convert noon.");
    let noon = json!({ "source_timezone": "Europe/Rome", "target_timezone": "Asia/Tokyo", "time": "12:00" });
    let calls = json!([{ "name": "other__convert_time", "args": noon }]);
    let texts = recorded(&suite, "Convert noon.", &calls);
    assert!(texts[0].contains("Asia/Tokyo"), "{texts:?}");
}

pub(crate) fn the_server_of_a_git_repository() {
    let program = installed("mcp-server-git").join("mcp-server-git");
    let folder = Folder::new().with_file("note.txt", "pens: 3\n");
    let made = Command::new("git")
        .args(["init", "--quiet"])
        .current_dir(folder.path())
        .status();
    assert!(made.unwrap().success());
    let path = folder.path().canonicalize().unwrap();
    let path = path.to_string_lossy();
    let suite = agent(&[&program.to_string_lossy()], ".", "What changed?");
    let calls = json!([{ "name": "other__git_status", "args": { "repo_path": path } }]);
    let texts = recorded(&suite, "What changed?", &calls);
    assert!(texts[0].contains("note.txt"), "{texts:?}");
}

/// What a model may give a tool, and what comes of it, as Python writes it.
const SERVER: &str = "\
from fastmcp import FastMCP

server = FastMCP(\"desk\")

@server.tool
def add(left: int, right: int) -> int:
    \"\"\"Adds two numbers.\"\"\"
    return left + right

@server.tool
def refuse() -> str:
    \"\"\"Never works.\"\"\"
    raise ValueError(\"not today\")

server.run(show_banner=False)
";

pub(crate) fn a_server_of_our_own_in_python() {
    let python = installed("fastmcp").join("python");
    let folder = Folder::new().with_file("desk.py", SERVER);
    let script_path = folder.at("desk.py");
    let command = [python.to_string_lossy(), script_path.to_string_lossy()];
    let suite = agent(&command.each_ref().map(|word| &**word), ".", "Add.");
    let run = json!([
        { "calls": [
            { "name": "other__add", "args": { "left": 19, "right": 23 } },
            { "name": "other__refuse", "args": {} },
        ] },
        { "text": "42." },
    ]);
    let scene = Scene::new(&suite, &script("Add.", &[run])).set("MCPTEST_RECORD_TIMEOUT", "60");
    scene.record("missing", &[]).exits(0);
    let results = scene.run(PLACE)["trace"]["tool_results"].clone();
    assert_eq!(
        results[0]["result"]["content"][0]["text"], "42",
        "{results}"
    );
    assert_eq!(results[1]["is_error"], true, "{results}");
    assert!(results[1].to_string().contains("not today"), "{results}");
    scene.judge(&[]).exits(0);
}
