//! `cargo mcptest record`: agents run live inside the command.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use e2e_support::live::desk::{FIRST, SECOND, TWICE, refunds};
use e2e_support::live::recording_crate::Scene;
use e2e_support::process::{Finished, run};
use serde_json::Value;

/// A crate of which no test is built, a real MCP server, and a model that plays a script.
fn scene() -> Scene {
    let scene = Scene::new(TWICE, &refunds());
    scene.folder.write(
        "Cargo.toml",
        "[package]\nname = \"desk\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [package.metadata.mcptest]\nroots = [\"suites\"]\n\n[workspace]\n",
    );
    scene.folder.write("src/lib.rs", "");
    scene
}

fn record(scene: &Scene, arguments: &[&str]) -> Finished {
    let executable = env!("CARGO_BIN_EXE_cargo-mcptest").as_ref();
    run(&mut scene.command(executable, &[&["record"], arguments].concat()))
}

#[test]
fn missing_runs_are_recorded_and_judged() {
    let scene = scene();
    let said = record(&scene, &[]).exits(0);
    assert!(
        said.stderr.contains("recorded 2 runs of `Refunds` ("),
        "{said}"
    );
    assert!(said.stdout.contains("test desk::refunds ... ok"), "{said}");
    let places = scene.places();
    let recorded: Vec<&str> = places
        .iter()
        .map(String::as_str)
        .filter(|place| place.starts_with("suites/cassettes/"))
        .collect();
    assert_eq!(recorded, [FIRST, SECOND]);
    let asked = scene.requests().len();
    let first = scene.text(FIRST);
    record(&scene, &[]).exits(0);
    assert_eq!(scene.requests().len(), asked, "nothing is missing");
    let json = record(&scene, &["--all", "--format", "json"]).exits(0);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["format"], "record/1.0");
    assert_eq!(json["cases"][0]["status"], "passed");
    assert_ne!(scene.text(FIRST), first);
}

#[test]
fn an_agent_that_does_not_do_it_is_a_finding() {
    let scene = scene();
    scene.suite(&TWICE.replace("contains: RF-1", "contains: RF-9"));
    record(&scene, &["refunds"]).exits(1);
    let nothing = record(&scene, &["no_such"]).exits(3);
    assert!(
        nothing
            .stderr
            .contains("error: no case has this name: no_such\n"),
        "{nothing}"
    );
}
