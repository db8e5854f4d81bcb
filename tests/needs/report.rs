//! The HTML report in a real browser.

mod first_sight;

pub(super) use first_sight::{
    each_fact_is_seen_at_both_widths_in_both_schemes, the_picture_of_the_readme,
};

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::need::browser;
use crate::support::folder::{Folder, collect};
use crate::support::process;
use crate::support::workshop;

/// Looks at a page with what is installed from the npm registry.
const LOOK: &str = include_str!("report/look.mjs");

/// What must not become a part of the page.
const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(2)><i>\u{202e}";

fn package() -> Folder {
    let run = |agent: &str, closing: &str, tokens: u64| {
        json!({
            "schema_version": "v1", "agent_name": agent, "model": "m", "user_prompt": format!("p {HOSTILE}"),
            "trace": {
                "tool_calls": [
                    { "name": "get_order", "server": "shop", "args": { "note": HOSTILE } },
                    { "name": "get_order", "server": "shop", "args": { "note": HOSTILE } },
                ],
                "tool_results": [
                    { "call_index": 0, "is_error": false, "result": { "content": [{ "type": "text", "text": HOSTILE.repeat(60) }] } },
                    { "call_index": 1, "is_error": true, "result": "gone" },
                ],
                "final_response": closing,
                "conversation": {
                    "tokens": { "total": tokens + 365 }, "stop_reason": "completed",
                    "steps": [{ "prompt": 100, "completion": 5 }, { "prompt": 120, "completion": 5 }, { "prompt": 130, "completion": 5 }, { "prompt": tokens, "completion": 0 }],
                },
            },
        })
    };
    let prompt = serde_json::to_string(&format!("p {HOSTILE}")).unwrap();
    let agent = |name: &str, more: &str| {
        format!(
            "  - name: {name}\n    model: m\n    prompt: {prompt}\n    runs: 2\n    narrative: {{}}\n    golden_path: {{ calls: [get_order, refund] }}\n    stability: {{}}\n{more}"
        )
    };
    let suite = format!(
        "agents:\n{}{}",
        agent("Refunds", ""),
        agent("Fine", "    calls: { max: 9 }\n")
    );
    let mut folder = Folder::new()
        .with_file(
            "Cargo.toml",
            workshop::manifest("shop", "[lib]\npath = \"lib.rs\"\n"),
        )
        .with_file("lib.rs", "")
        .with_file("suites/broken.yml", "agents: [{ nam: x }]\n")
        .with_file("suites/shop.yml", suite);
    for (agent, place) in [("Refunds", 1), ("Fine", 2)] {
        for number in 1..=2 {
            let closing = match place {
                1 => format!("I have refunded the order. {HOSTILE}"),
                _ => format!("Nothing was done, {number}."),
            };
            let path = format!("suites/cassettes/{agent}__m/run-{number}.json");
            folder = folder.with_run(&path, &run(agent, &closing, 400 * number));
        }
    }
    workshop::share_packages(folder.path());
    folder
}

/// The command that writes a report.
fn report(folder: &Folder) -> Command {
    let command = workshop::test_program("cargo-mcptest", "command");
    let mut report = process::command(command, folder.path());
    report.args(["mcptest", "report"]);
    report
}

/// The page of a package.
fn page(folder: &Folder) -> PathBuf {
    let page = folder.at("report.html");
    let mut report = report(folder);
    report.args(["--format", "html", "-o"]);
    // A suite does not load, and the page shows it beside the others.
    process::run(report.arg(&page)).exits(2);
    page
}

/// The page of the package without the suite that does not load, with what its runs are evidence of.
fn page_of_evidence(folder: &Folder) -> PathBuf {
    std::fs::remove_file(folder.at("suites/broken.yml")).unwrap();
    let below = folder.at("suites/cassettes");
    for (path, bytes) in collect(&below) {
        let mut run: Value = serde_json::from_slice(&bytes).unwrap();
        run["trace"]["tool_calls"][0]["name"] = format!("find {HOSTILE}").into();
        run["trace"]["tool_calls"][1]["args"]["note"] = format!("before {HOSTILE}").into();
        folder.write(&format!("before/cassettes/{path}"), run.to_string());
    }
    commits(folder);
    let page = folder.at("evidence.html");
    let mut report = report(folder);
    report.args([
        "--calibrate",
        "--mutants",
        "--history",
        "--baseline",
        "before",
        "-o",
    ]);
    process::run(report.arg(&page)).exits(1);
    page
}

/// Commits with the recordings, the last of which has other ones.
fn commits(folder: &Folder) {
    let git = |arguments: &[&str]| {
        let mut git = process::command("git", folder.path());
        git.args(["-c", "user.name=a", "-c", "user.email=a@b"]);
        process::run(git.args(arguments)).exits(0);
    };
    git(&["init", "-q"]);
    git(&["add", "suites"]);
    git(&["commit", "-qm", HOSTILE]);
    for (path, bytes) in collect(&folder.at("suites/cassettes")) {
        let mut run: Value = serde_json::from_slice(&bytes).unwrap();
        run["user_prompt"] = "another".into();
        folder.write(&format!("suites/cassettes/{path}"), run.to_string());
    }
    git(&["commit", "-qam", "Another prompt"]);
    git(&["revert", "--no-edit", "HEAD"]);
}

/// What drives the browser.
fn browser_modules() -> PathBuf {
    crate::npm::installed_all("report", &["puppeteer-core@24", "axe-core@4"])
}

/// What a browser sees of a page, or of those of its addresses that are named.
fn look(page: &Path, only: &[&str]) -> Value {
    let modules = browser_modules();
    let script = modules.join("look.mjs");
    std::fs::write(&script, LOOK).unwrap();
    let pictures = workshop::kept_folder()
        .join("report")
        .join(page.file_stem().unwrap());
    std::fs::create_dir_all(&pictures).unwrap();
    let seen = Command::new("node")
        .arg(&script)
        .arg(&modules)
        .arg(browser().unwrap())
        .arg(page)
        .arg(&pictures)
        .args(only)
        .output()
        .unwrap();
    assert!(seen.status.success(), "{seen:?}");
    serde_json::from_slice(&seen.stdout).unwrap()
}

/// So many looks, and nothing foreign, inaccessible or overflowing in any.
fn sound_looks(seen: &Value, count: usize) -> &[Value] {
    assert_eq!(seen["errors"], json!([]));
    assert_eq!(seen["requests"], json!([]));
    assert_eq!(seen["dialogs"], 0);
    let looks = seen["looks"].as_array().unwrap();
    assert_eq!(looks.len(), count);
    for look in looks {
        let found = look["axe"].as_array().unwrap();
        let bad = |one: &&Value| matches!(one[0].as_str(), Some("serious" | "critical"));
        let serious: Vec<&Value> = found.iter().filter(bad).collect();
        assert!(serious.is_empty(), "{}: {serious:#?}", look["name"]);
        assert_eq!(look["foreign"], 0, "{}", look["name"]);
        assert!(look["overflow"].as_i64().unwrap() <= 0, "{}", look["name"]);
        assert_eq!(look["silent"], json!([]), "{}", look["name"]);
    }
    looks
}

pub(super) fn the_pages_of_evidence_work_in_a_browser() {
    let folder = package();
    let seen = look(&page_of_evidence(&folder), &[]);
    let looks = sound_looks(&seen, 29);
    let text = |name: &str| {
        let name = format!("{name}-1400-light");
        let look = looks.iter().find(|look| look["name"] == name).unwrap();
        look["text"].as_str().unwrap()
    };
    for (name, parts) in [
        (
            "overview",
            &["What changed since before", "The whole comparison"][..],
        ),
        (
            "compare",
            &[
                "before → the working tree",
                "lost find </script>",
                "Exit status",
            ],
        ),
        (
            "calibrate",
            &[
                "stability.redundancy",
                "What each limit costs",
                "passed runs stopped, in percent",
            ],
        ),
        (
            "history",
            &[
                "3 commits that touched recordings",
                "recorded with another model or prompt",
                "<script>alert(1)</script>",
                "tokens of a run",
            ],
        ),
        (
            "mutants",
            &[
                "Harm that is noticed",
                "would be killed by",
                "+++ mutant",
                "<script>alert(1)</script>",
            ],
        ),
    ] {
        for part in parts {
            assert!(text(name).contains(part), "{name}: {part}: {}", text(name));
        }
    }
}

pub(super) fn the_page_works_in_a_browser() {
    let folder = package();
    let seen = look(&page(&folder), &[]);
    let looks = sound_looks(&seen, 13);
    let text = |at: usize| looks[at]["text"].as_str().unwrap();
    assert!(text(0).contains("broken::load"), "{}", text(0));
    let agents = looks
        .iter()
        .filter(|look| look["title"] == "Refunds · agent tests");
    let shown: Vec<&str> = agents.map(|look| look["text"].as_str().unwrap()).collect();
    assert_eq!(shown.len(), 4);
    for part in [
        "<script>alert(1)</script>",
        "\\u{202e}",
        "unsupported",
        "repeats call 1",
        "expected and never called: refund",
    ] {
        assert!(shown[0].contains(part), "{part}: {}", shown[0]);
    }
    assert!(text(12).contains("There is no case there::is_none in this report."));
    assert_eq!(seen["found"], json!(["Fine"]));
    assert_eq!(seen["opened"], "Fine · agent tests");
}
