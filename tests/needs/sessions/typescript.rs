//! The library for TypeScript, `typescript/`: its own tests at the real door, and agents over frameworks, recorded and
//! played. What their tools do is seen in a file, a line each time one runs.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File};
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use scripted_provider::{Provider, Script};
use serde_json::{Value, json};

use super::desk::{self, KEY};
use super::packages;
use crate::support::folder::{Folder, collect, write};
use crate::support::process::{self, Finished};
use crate::support::workshop::{example_program, kept_folder, workspace};

const PACKAGE: &str = include_str!("../agents/typescript/package.json");
const AGENTS: [(&str, &str); 4] = [
    (
        "orders.mjs",
        include_str!("../agents/typescript/orders.mjs"),
    ),
    (
        "ai_sdk.mjs",
        include_str!("../agents/typescript/ai_sdk.mjs"),
    ),
    (
        "openai_agents.mjs",
        include_str!("../agents/typescript/openai_agents.mjs"),
    ),
    ("react.mjs", include_str!("../agents/typescript/react.mjs")),
];

/// What is asked of agents over a framework, and of the one that acts in text.
const PROMPT: &str = "Please refund orders 7 and 8.";
const IN_TEXT: &str = "Please refund orders 7 and 8 by hand.";

const RUN: &str = "suites/cassettes/Desk__gpt-5.json";
const EFFECTS: &str = "get_order 7\nget_order 8\nrefund 7\npay 18.00 EUR\n";

/// What of the library is in the repository.
const SOURCES: [&str; 9] = [
    "README.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "tsconfig.esm.json",
    "src",
    "tests",
];

/// A copy of the library in which it is built, and the library packed. Whatever changes in it makes both anew.
fn library() -> (PathBuf, PathBuf) {
    let source = workspace().join("typescript");
    let mut files = Vec::new();
    for name in SOURCES {
        let path = source.join(name);
        if path.is_dir() {
            let inside = collect(&path).into_iter();
            files.extend(inside.map(|(file, bytes)| (format!("{name}/{file}"), bytes)));
        } else {
            files.push((name.to_owned(), fs::read(path).unwrap()));
        }
    }
    let mut digest = DefaultHasher::new();
    files.hash(&mut digest);
    let top = kept_folder().join("npm").join("typescript");
    fs::create_dir_all(&top).unwrap();
    let lock = File::create(top.join("lock")).unwrap();
    lock.lock().unwrap();
    let digest = digest.finish();
    let (copy, packed) = (
        top.join(format!("{digest:x}")),
        top.join(format!("mcptest-harness-{digest:x}.tgz")),
    );
    if !packed.exists() {
        for (path, bytes) in files {
            write(&copy.join(path), &bytes);
        }
        npm(&copy, &["ci", "--no-audit", "--no-fund"]);
        npm(&copy, &["pack"]);
        // The library has the version of the workspace.
        let name = concat!("mcptest-harness-", env!("CARGO_PKG_VERSION"), ".tgz");
        fs::rename(copy.join(name), &packed).unwrap();
    }
    (copy, packed)
}

fn npm(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("npm");
    let ran = command.current_dir(folder).args(arguments);
    let door = example_program("door");
    let ran = ran.env("MCPTEST_DOOR", door).output().unwrap();
    assert!(ran.status.success(), "npm {arguments:?}: {ran:?}");
}

pub(crate) fn the_library_for_typescript_passes_its_tests() {
    npm(&library().0, &["test"]);
}

/// The library, packed.
pub(in super::super) fn library_for_typescript() -> PathBuf {
    library().1
}

/// A folder of a name that has what a `package.json` names, and the library.
pub(super) fn modules(name: &str, package: &str) -> PathBuf {
    let mut package: Value = serde_json::from_str(package).unwrap();
    let (_, packed) = library();
    package["dependencies"]["mcptest-harness"] = format!("file:{}", packed.display()).into();
    packages::modules(name, &format!("{package:#}\n"))
}

/// A folder with the agents, their frameworks and the library.
fn folder(suite: &str) -> Folder {
    let folder = Folder::new();
    packages::link(&modules("typescript-agents", PACKAGE), &folder);
    for (name, text) in AGENTS {
        folder.write(name, text);
    }
    folder.with_file("suites/desk.yml", suite)
}

fn suite(program: &str, prompt: &str) -> String {
    format!(
        "agents:\n  - name: Desk\n    model: gpt-5\n    prompt: {prompt}\n    command: [node, ../{program}]\n    \
         closing: stdout\n    trajectory:\n      mode: strict\n      calls:\n        - {{ name: get_order }}\n        \
         - {{ name: get_order }}\n        \
         - {{ name: refund, args: {{ exact: {{ order: 7, amount: 18.00 EUR }} }} }}\n    playback: {{}}\n"
    )
}

fn provider() -> Provider {
    let looks = json!([
        { "name": "get_order", "args": { "order": "7" } },
        { "name": "get_order", "args": { "order": 8 } },
    ]);
    let pays = json!([{ "name": "refund", "args": { "order": 7, "amount": "18.00 EUR" } }]);
    let closing = "Order 7 is refunded. There is no order 8.";
    let looks_in_text =
        "Let me look.\nAction: get_order {\"order\": 7}\nAction: get_order {\"order\": 8}";
    let pays_in_text = "Action: refund {\"order\": 7, \"amount\": \"18.00 EUR\"}";
    let script = json!({ "key": KEY, "models": ["gpt-5"], "conversations": [
        { "user": PROMPT, "model": "gpt-5", "runs": [[{ "calls": looks }, { "calls": pays }, { "text": closing }]] },
        { "user": IN_TEXT, "model": "gpt-5", "runs": [[
            { "text": looks_in_text }, { "text": pays_in_text }, { "text": format!("Answer: {closing}") },
        ]] },
    ] });
    Provider::start(Script::from_json(&script.to_string()).unwrap()).unwrap()
}

/// Runs the command, with a changed agent or with the agent as it is; what its tools do goes into the file `effects`.
fn run(folder: &Folder, provider: Option<&Provider>, change: &str, words: &[&str]) -> Finished {
    let mut command = desk::command(folder, provider, words);
    command.env("EFFECTS", folder.at("effects"));
    process::run(command.env("AGENT_CHANGE", change))
}

fn effects(folder: &Folder) -> String {
    fs::read_to_string(folder.at("effects")).unwrap_or_default()
}

/// Records an agent, plays what is recorded, here and elsewhere, and to changed code.
fn is_shielded(program: &str, prompt: &str) -> Folder {
    let folder = folder(&suite(program, prompt));
    let provider = provider();
    let said = run(&folder, Some(&provider), "", &["record"]).exits(0);
    assert!(said.stdout.contains("3 passed; 0 failed"), "{said}");
    assert_eq!(effects(&folder), EFFECTS);
    drop(provider);
    let recorded: Value = serde_json::from_slice(&fs::read(folder.at(RUN)).unwrap()).unwrap();
    let trace = &recorded["trace"];
    let errors = trace["tool_results"].as_array().unwrap().iter();
    let errors: Vec<&Value> = errors.map(|result| &result["is_error"]).collect();
    assert_eq!(errors, [false, true, false], "{trace:#}");

    // Nothing runs while it is played, here and in another folder.
    let green = run(&folder, None, "", &["test"]).exits(0);
    assert!(green.stdout.contains("3 passed; 0 failed"), "{green}");
    assert_eq!(effects(&folder), EFFECTS);
    let elsewhere = self::folder(&suite(program, prompt));
    elsewhere.write(RUN, fs::read(folder.at(RUN)).unwrap());
    let green = run(&elsewhere, None, "", &["test"]).exits(0);
    assert!(green.stdout.contains("3 passed; 0 failed"), "{green}");
    assert_eq!(effects(&elsewhere), "");

    for (change, told) in [
        (
            "an argument changed",
            "the recording has no call of `refund` with these arguments; the nearest recorded call has \
             {\"amount\":\"18.00 EUR\",\"order\":7}: `order` is 8 and was 7",
        ),
        (
            "a call left out",
            "the code does not make the recorded call of the tool `refund`",
        ),
    ] {
        let red = run(&folder, None, change, &["test", "::playback"]).exits(101);
        let (_, text) = red.only_failure();
        assert!(text.contains(told), "{program}, {change}:\n{red}");
        assert_eq!(effects(&folder), EFFECTS, "{change}");
    }
    folder
}

/// The model's own arguments, and those that the tool was called with.
fn coerced(folder: &Folder) -> [Value; 2] {
    let recorded: Value = serde_json::from_slice(&fs::read(folder.at(RUN)).unwrap()).unwrap();
    let call = &recorded["trace"]["tool_calls"][0];
    [&call["args"]["order"], &call["own"]["args"]["order"]].map(Value::clone)
}

pub(crate) fn own_tools_of_the_ai_sdk() {
    let folder = is_shielded("ai_sdk.mjs", PROMPT);
    assert_eq!(coerced(&folder), [json!("7"), json!(7)]);
}

pub(crate) fn own_tools_of_openai_agents_in_javascript() {
    let folder = is_shielded("openai_agents.mjs", PROMPT);
    assert_eq!(coerced(&folder), [json!("7"), json!(7)]);
}

pub(crate) fn own_tools_of_a_loop_in_text_in_javascript() {
    let folder = is_shielded("react.mjs", IN_TEXT);
    // What the model wrote is text, so the call is the code's.
    assert_eq!(coerced(&folder), [json!(7), Value::Null]);
}
