//! Servers that answer with what is no MCP, each told from one that is slow or gone.

#[cfg(unix)]
use std::process::{Command, Stdio};
#[cfg(unix)]
use std::time::Duration;

use serde_json::{Value, json};

use super::desk::script;
use super::recording_crate::{Scene, recording_crate};
use super::servers::{FINDER, PLACE, fails, finder};
use crate::support::snapshot;

pub(super) fn raw(how: &str) -> Scene {
    finder(&format!("{{ command: [ORDER_DESK, --raw, {how}] }}"))
}

fn find() -> Value {
    json!([
        { "calls": [{ "name": "desk__find_order", "args": { "order_id": "A-1001" } }] },
        { "text": "It is Ada's." },
    ])
}

#[test]
fn an_answer_that_is_no_json_is_no_slow_tool() {
    fails("raw-deep", &raw("deep"), 1);
    // What can be read all the same is recorded, as in every session.
    for how in ["nan", "latin", "surrogate"] {
        let scene = raw(how);
        scene.record("missing", &[]).exits(0);
        let result = &scene.run(PLACE)["trace"]["tool_results"][0];
        assert_eq!(result["is_error"], false, "{how}: {result:#}");
    }
}

#[test]
fn an_answer_that_is_no_tool_result_is_shown_with_its_tool() {
    for how in ["empty", "text-content"] {
        fails(&format!("raw-{how}"), &raw(how), 1);
    }
    // A model is told what it is, though nobody here knows it.
    let scene = raw("unknown-type");
    scene.record("missing", &[]).exits(0);
    let told = scene.requests()[1].json()["messages"].to_string();
    assert!(told.contains("hologram"), "{told}");
}

#[test]
fn a_tool_without_a_schema_is_named() {
    fails("raw-no-input-schema", &raw("no-input-schema"), 0);
}

#[test]
fn a_dead_server_is_no_slow_tool_though_a_helper_keeps_its_output_open() {
    fails("raw-dead-with-helper", &raw("dead-with-helper"), 1);
}

/// Runs that each look the order up once, after the servers started anew.
fn with_a_clock(how: &str, word: &str) -> (Scene, crate::support::process::Finished) {
    let server = format!("{{ command: [ORDER_DESK, --raw, {how}] }}");
    let suite = FINDER
        .replace("SERVER", &server)
        .replace("    expect:", "    runs: 4\n    expect:");
    let run = |closing: &str| {
        json!([
            { "calls": [{ "name": "desk__find_order", "args": { "order_id": "A-1001" } }] },
            { "text": closing },
        ])
    };
    let runs: Vec<_> = (1..=20)
        .map(|number| run(&format!("{number}: Ada.")))
        .collect();
    let scene = Scene::new(&suite, &script("Find A-1001.", &runs));
    let ran = scene.record(word, &[]);
    (scene, ran)
}

/// The failure, without what the fingerprints are, which is chance.
fn the_change(ran: &crate::support::process::Finished) -> String {
    let (_, text) = ran.only_failure();
    let lines = text.lines().map(|line| match line.split_once(" #") {
        Some((before, _)) => format!("{before} #N"),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn tools_that_change_at_every_start_do_not_cost_for_ever() {
    // What a server says of a tool besides does not hide the change.
    let (_, ran) = with_a_clock("read-only-clock", "all");
    snapshot::assert(
        "tools-change",
        &the_change(&ran.exits(101)),
        "/nowhere".as_ref(),
    );
    let (scene, ran) = with_a_clock("clock", "all");
    let ran = ran.exits(101);
    snapshot::assert("tools-change", &the_change(&ran), "/nowhere".as_ref());
    assert_eq!(scene.conversations(), 2, "{ran}");
    // A second try goes on from what is there, and starts over once.
    scene.record("all", &[]).exits(101);
    assert_eq!(scene.conversations(), 4);
}

#[test]
fn what_a_server_says_of_a_tool_is_recorded_and_makes_no_other_tool_of_it() {
    let (said, plain) = (raw("read-only"), raw("environment"));
    for scene in [&said, &plain] {
        scene.record("missing", &[]).exits(0);
    }
    let (said, plain) = (said.run(PLACE), plain.run(PLACE));
    assert_eq!(plain["tools"][0]["read_only"], json!(null));
    assert_eq!(said["tools"][0]["read_only"], true);
    assert_eq!(
        said["tools"][0]["annotations"],
        json!({ "readOnlyHint": true })
    );
    assert_eq!(said["tools_fingerprint"], plain["tools_fingerprint"]);
}

/// What the server said of its environment.
fn environment(scene: &Scene) -> String {
    let run = scene.run(PLACE);
    let text = &run["trace"]["tool_results"][0]["result"]["content"][0]["text"];
    text.as_str().unwrap().to_owned()
}

#[test]
fn a_server_gets_what_it_needs_of_the_environment_and_no_more() {
    let scene = raw("environment")
        .set("GITHUB_TOKEN", "ghp_a1b2c3d4e5f6")
        .set("PLAIN", "plain-value");
    scene.record("missing", &[]).exits(0);
    let said = environment(&scene);
    assert!(said.contains("PATH="), "{said}");
    for name in ["GITHUB_TOKEN", "PLAIN", "ANTHROPIC_API_KEY"] {
        assert!(!said.contains(name), "{name} in {said}");
    }
}

#[test]
fn what_is_secret_by_its_name_is_blanked_though_the_server_says_it() {
    let server = "{ command: [ORDER_DESK, --raw, environment], inherit_env: all, \
                  env: { DESK_PASSWORD: correct-horse } }";
    let suite = format!("redact_env: [PLAIN]\n{}", FINDER.replace("SERVER", server));
    let scene = Scene::new(&suite, &script("Find A-1001.", &[find()]))
        .set("GITHUB_TOKEN", "ghp_a1b2c3d4e5f6")
        .set("DATABASE_URL", "postgres://ada:lovelace1815@db/shop")
        .set("PLAIN", "plain-value");
    let ran = scene.record("missing", &[]).exits(0);
    let said = environment(&scene);
    for secret in [
        "ghp_a1b2c3d4e5f6",
        "lovelace1815",
        "plain-value",
        "correct-horse",
    ] {
        assert!(!said.contains(secret), "{secret} in {said}");
        assert!(!ran.stderr.contains(secret), "{ran}");
    }
    assert!(
        said.contains("GITHUB_TOKEN=[redacted GITHUB_TOKEN]"),
        "{said}"
    );
    assert!(
        said.contains("DATABASE_URL=postgres://[redacted DATABASE_URL]@db/shop"),
        "{said}"
    );
}

#[test]
fn what_looks_like_a_key_is_blanked_and_told() {
    let server = "{ command: [ORDER_DESK, --raw, environment], inherit_env: [HARMLESS] }";
    let scene = finder(server).set("HARMLESS", "ghp_0123456789abcdefABCDEF0123456789");
    let ran = scene.record("missing", &[]).exits(0);
    let told = "taken out of the runs of `Finder`: 1 place because of `github token`";
    assert!(ran.stderr.contains(told), "{ran}");
    assert!(!environment(&scene).contains("ghp_"), "{ran}");
    assert!(!ran.stderr.contains("ghp_"), "{ran}");
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_servers_with_the_recording() {
    use std::os::unix::process::ExitStatusExt as _;

    for (signal, number) in e2e_support::process::signals() {
        let scene = finder("{ command: [ORDER_DESK, --misbehave, hang-on-call] }");
        let scene = scene.set("MCPTEST_RECORD_TIMEOUT", "60");
        let mut command = scene.command(recording_crate().executable("agents"), &[]);
        let mut recording = command
            .env("MCPTEST_RECORD", "missing")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // The model was asked, so the server runs.
        let servers = || processes_of(recording.id());
        let running = wait_for(|| {
            Some(servers()).filter(|servers| !servers.is_empty() && !scene.requests().is_empty())
        });
        let kill = Command::new("kill")
            .args([format!("-{signal}"), recording.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        let ended = recording.wait().unwrap();
        assert_eq!(ended.signal(), Some(number), "{signal}");
        wait_for(|| running.iter().all(|id| !is_alive(*id)).then_some(()));
        assert!(scene.places().is_empty(), "{:?}", scene.places());
    }
}

/// The processes that a process started.
#[cfg(unix)]
fn processes_of(parent: u32) -> Vec<u32> {
    let listed = Command::new("ps")
        .args(["-o", "pid=,ppid="])
        .arg("-e")
        .output()
        .unwrap();
    let lines = String::from_utf8(listed.stdout).unwrap();
    let pairs = lines.lines().filter_map(|line| {
        let mut numbers = line
            .split_whitespace()
            .map(|number| number.parse::<u32>().ok());
        Some((numbers.next()??, numbers.next()??))
    });
    pairs
        .filter(|(_, of)| *of == parent)
        .map(|(id, _)| id)
        .collect()
}

/// Whether a process runs; one that ended and was not waited for does not.
#[cfg(unix)]
fn is_alive(id: u32) -> bool {
    let state = Command::new("ps")
        .args(["-o", "stat=", "-p", &id.to_string()])
        .output()
        .unwrap();
    let state = String::from_utf8_lossy(&state.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

/// What comes about within half a minute.
#[cfg(unix)]
#[track_caller]
fn wait_for<T>(what: impl Fn() -> Option<T>) -> T {
    for _ in 0..600 {
        if let Some(found) = what() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("waited in vain");
}
