//! The workflows of this repository itself, in a clone of it.

use std::fs;
use std::path::Path;

use e2e_support::folder::Folder;
use e2e_support::git::git;
use serde_json::Value;

use crate::machine::Machine;

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn workflow(name: &str) -> Value {
    let file = workspace().join(".github/workflows").join(name);
    serde_saphyr::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// A pull request that adds a file to the repository as it is committed, with other files that stand in the place of its
/// own.
fn repository(files: &[&str]) -> Machine {
    let mut machine = Machine::new(Folder::new());
    machine.workspace = machine.folder.at("workspace");
    let origin = machine.folder.at("origin");
    let address = format!("file://{}", workspace().canonicalize().unwrap().display());
    git(
        machine.folder.path(),
        &["clone", "-q", "--depth=1", &address, "origin"],
    );
    git(
        &origin,
        &["config", "uploadpack.allowAnySHA1InWant", "true"],
    );
    let base = git(&origin, &["rev-parse", "HEAD"]);
    machine.folder.write("origin/NEWS", "");
    for file in files {
        let bytes = fs::read(workspace().join(file)).unwrap();
        machine.folder.write(&format!("origin/{file}"), bytes);
    }
    git(&origin, &["add", "-A"]);
    git(&origin, &["commit", "-qm", "now"]);
    git(&origin, &["update-ref", "refs/pull/7/merge", "HEAD"]);
    machine.set("github.ref", "refs/pull/7/merge");
    machine.set("github.event.pull_request.base.sha", base);
    machine
}

#[test]
fn its_recordings_are_compared() {
    let machine = repository(&[]);
    let said = machine.job(&workflow("recordings.yml"), "recordings");
    let said = said.unwrap();
    assert_eq!(said.code, Some(0), "{said}");
    let comments = machine.stored("");
    assert_eq!(comments.len(), 2, "{said}");
    for comment in comments.values() {
        assert!(comment.contains("\n**Nothing changed"), "{comment}");
    }
}

/// A `cargo` that does nothing, and leaves what `.ci/run` takes from it.
const CARGO: &str = r#"#!/usr/bin/env bash
set -eu
echo "$*" >> "$GH_STORE/cargo.txt"
case "$*" in *--ignored*) echo "test result: ok. 1 passed; 0 failed" ;; esac
mkdir -p target/debug/examples
for name in recording_loop schemas; do
  printf '#!/bin/sh\n[ -z "$1" ] || cp mcptest-suite/schemas/*.json mcptest-trace/schemas/*.json "$1"\n' > target/debug/examples/$name
  chmod +x target/debug/examples/$name
done
"#;

/// The script that all systems run, as it is here: what it asks of cargo, and that it names what is left out.
#[test]
fn what_must_pass_is_run_on_each_system() {
    let job = workflow("ci.yml");
    let systems = job["jobs"]["run"]["strategy"]["matrix"]["os"].clone();
    assert_eq!(systems.as_array().unwrap().len(), 3, "{systems}");
    let machine = repository(&[".ci/run"]);
    for (system, untried) in [
        ("Linux", &["a small disk: only root may mount one"][..]),
        ("Darwin", &["a small disk: only root may mount one"]),
        (
            "MINGW64_NT-10.0",
            &["npm: these tests", "a folder that may not be written:"],
        ),
    ] {
        _ = fs::remove_dir_all(&machine.workspace);
        _ = fs::remove_file(machine.folder.at("store/cargo.txt"));
        machine.program("cargo", CARGO);
        machine.program("rustup", "#!/bin/sh\necho \"rustup $*\"\n");
        machine.program("uname", &format!("#!/bin/sh\necho {system}\n"));
        // Nobody who may install programs, or mount disks.
        machine.program("id", "#!/bin/sh\necho 1000\n");
        let said = machine.job(&job, "run").unwrap();
        assert_eq!(said.code, Some(0), "{system}: {said}");
        let asked = machine.read_note("cargo.txt");
        for line in [
            "test --locked --workspace --test needs",
            "clippy --locked --workspace",
            "package --locked",
            "doc --locked",
        ] {
            assert!(asked.contains(line), "{system}: {asked}");
        }
        assert_eq!(
            asked.contains("-- --ignored"),
            !system.starts_with("MINGW"),
            "{asked}"
        );
        let (_, end) = said.text.split_once("not tried on this machine:").unwrap();
        for part in untried {
            assert!(end.contains(part), "{system}: {end}");
        }
        assert!(end.contains(" done\n"), "{end}");
    }
}
