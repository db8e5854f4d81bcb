//! Recording under `cargo nextest`, where every case is a process of its own.

use std::fs;

use serde_json::json;

use crate::support::live::desk::{TWICE, refunds};
use crate::support::live::recording_crate::{Scene, recording_crate};
use crate::support::process;
use crate::support::workshop;

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
    let crate_folder = &recording_crate().folder;
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
        (
            "metadata.json",
            &[
                "metadata",
                "--format-version",
                "1",
                "--filter-platform",
                "host-tuple",
            ],
        ),
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

pub(crate) fn its_processes_record_every_agent_once() {
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
