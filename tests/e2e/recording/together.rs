//! Several processes that record at once, and nextest, where every case is one.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::desk::{TWICE, declaring, place, refunds, refunds_that_differ};
use super::studio::{Scene, studio};
use super::troupe::{Stage, counting};
use crate::support::process::{self, Finished};
use crate::support::workshop;

#[test]
fn two_processes_record_no_run_twice() {
    let scene = Scene::new(&declaring(3), &refunds_that_differ(3));
    let both: Vec<Finished> = thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| scene.record("missing", &[])))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    for ran in both {
        ran.exits(0);
    }
    assert_eq!(scene.conversations(), 3);
    assert_eq!(scene.requests().len(), 9);
    assert_eq!(scene.places(), [place(1), place(2), place(3)]);
}

#[test]
fn the_second_process_waits_says_so_and_finds_everything_recorded() {
    let stage = Stage::new(&counting(3));
    let go = stage.folder.at("go");
    let waits = [("LOOP_WAITS_FOR", go.to_str().unwrap())];
    let mut first = stage
        .command(Some("missing"), &waits)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while stage.begun().is_empty() {
        thread::sleep(Duration::from_millis(1));
    }
    let mut second = stage
        .command(Some("missing"), &waits)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(second.stderr.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "waiting: another process records `Clerk`\n");
    assert_eq!(stage.begun(), [1]);
    fs::write(go, "").unwrap();
    assert!(first.wait().unwrap().success() && second.wait().unwrap().success());
    assert_eq!(stage.begun(), [1, 2, 3]);
    assert_eq!(stage.runs().len(), 3);
}

/// Two agents, with five cases together.
fn two_agents() -> String {
    let second = "  - name: Cancels
    model: gpt-5
    servers: [desk]
    prompt: Cancel A-1001.
    expect:
      - target: tool_calls.length
        matcher: { exact: 1 }
    trajectory: { mode: strict, calls: [{ name: cancel_order }] }
";
    let more = "    narrative: {}\n    trajectory: { mode: strict, calls: [{ name: find_order }, { name: refund_order }] }\n";
    format!("{TWICE}{more}{second}")
}

/// What nextest must know to run the built tests in the scene's folder.
fn describe_to_nextest(scene: &Scene) {
    let crate_folder = &studio().folder;
    for (path, arguments) in [
        (
            "binaries.json",
            &[
                "nextest",
                "list",
                "--test",
                "agents",
                "--list-type",
                "binaries-only",
                "--message-format",
                "json",
            ][..],
        ),
        ("metadata.json", &["metadata", "--format-version", "1"]),
    ] {
        let listed = workshop::run_cargo(crate_folder, arguments).exits(0);
        scene.folder.write(&format!("tmp/{path}"), listed.stdout);
    }
    fs::copy(
        crate_folder.join("Cargo.toml"),
        scene.folder.at("Cargo.toml"),
    )
    .unwrap();
}

/// Runs the cases under nextest, every one in a process of its own.
fn nextest(scene: &Scene, word: Option<&str>) -> process::Finished {
    let [binaries, metadata] =
        ["tmp/binaries.json", "tmp/metadata.json"].map(|path| scene.folder.at(path));
    let mut command = workshop::cargo(
        scene.folder.path(),
        &[
            "nextest",
            "run",
            "--no-fail-fast",
            "--test-threads=8",
            "--status-level=pass",
        ],
    );
    command
        .arg("--binaries-metadata")
        .arg(binaries)
        .arg("--cargo-metadata")
        .arg(metadata);
    command.arg("--workspace-remap").arg(scene.folder.path());
    scene.equip(&mut command);
    command.env_remove("CARGO_MANIFEST_DIR");
    if let Some(word) = word {
        command.env("MCPTEST_RECORD", word);
    }
    process::run(&mut command)
}

#[test]
fn the_processes_of_nextest_record_every_agent_once() {
    let version = process::run(&mut workshop::cargo(
        workshop::workspace(),
        &["nextest", "--version"],
    ));
    if version.code != Some(0) {
        eprintln!("skipped: cargo-nextest is not installed");
        return;
    }
    let mut script = refunds();
    let cancel = json!([
        { "calls": [{ "name": "desk__cancel_order", "args": { "order_id": "A-1001" } }] },
        { "text": "Cancelled." },
    ]);
    script["conversations"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "user": "Cancel A-1001.", "runs": [cancel] }));
    let scene = Scene::new(&two_agents(), &script);
    describe_to_nextest(&scene);
    let nextest = |word: Option<&str>| nextest(&scene, word);

    let ran = nextest(None);
    assert_eq!((ran.code, scene.requests().len()), (Some(100), 0), "{ran}");
    let ran = nextest(Some("missing")).exits(0);
    assert!(ran.stderr.contains("5 tests run: 5 passed"), "{ran}");
    // Three steps in each of two runs, and two in the other agent's only one.
    assert_eq!(
        (scene.conversations(), scene.requests().len()),
        (3, 8),
        "{ran}"
    );
    nextest(Some("missing")).exits(0);
    assert_eq!(scene.conversations(), 3);

    // Anew, in one go and then in another.
    for conversations in [6, 9] {
        let before = scene.recorded();
        let ran = nextest(Some("all")).exits(0);
        assert_eq!(scene.conversations(), conversations, "{ran}");
        let after = scene.recorded();
        assert_eq!(before.len(), after.len());
        let kept: Vec<_> = before
            .iter()
            .filter(|(path, bytes)| path.contains("cassettes") && after[*path] == **bytes)
            .collect();
        assert!(kept.is_empty(), "{kept:?}");
    }
    nextest(None).exits(0);
    assert_eq!(scene.conversations(), 9);

    // What fails is not paid for again by every case of the agent.
    fs::remove_dir_all(scene.folder.at("suites/cassettes")).unwrap();
    scene.suite(&two_agents().replace("Pay order A-1003 back.", "Nobody answers this."));
    let before = scene.requests().len();
    let ran = nextest(Some("missing"));
    assert_eq!(ran.code, Some(100), "{ran}");
    let requests = scene.requests();
    let refused = requests[before..]
        .iter()
        .filter(|request| request.body.contains("Nobody answers this."));
    assert_eq!(refused.count(), 1, "{ran}");
}
