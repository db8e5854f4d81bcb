//! Snapshots and `cargo insta`.

use crate::sample::sample;
use crate::support::clerk::{ONE, SUITE, counted};
use crate::support::folder::Folder;
use crate::support::process::Finished;
use crate::support::workshop::run_cargo;

const ACCEPTED: &str = "suites/snapshots/desk-clerk-snapshot.snap";
const PENDING: &str = "suites/snapshots/desk-clerk-snapshot.snap.new";

fn run(folder: &Folder) -> Finished {
    sample().run_in(folder.path(), "agents", &[], &[])
}

pub(crate) fn it_lists_and_accepts_what_is_pending() {
    // As far as `cargo insta` looks at a crate; dependencies it would ask for on every platform.
    let manifest = "[package]\nname = \"snapshots\"\nedition = \"2024\"\n";
    let folder = Folder::new()
        .with_file("Cargo.toml", manifest)
        .with_file("src/lib.rs", "//! A library.\n")
        .with_file("suites/desk.yml", format!("{SUITE}    snapshot: {{}}\n"))
        .with_run(ONE, &counted(3));
    run(&folder).exits(101);
    let pending = run_cargo(folder.path(), &["insta", "pending-snapshots"]).exits(0);
    assert!(
        pending.stdout.contains("desk-clerk-snapshot.snap"),
        "{pending}"
    );
    assert!(folder.at(PENDING).is_file() && !folder.at(ACCEPTED).exists());
    run_cargo(folder.path(), &["insta", "accept"]).exits(0);
    assert!(folder.at(ACCEPTED).is_file() && !folder.at(PENDING).exists());
    run(&folder).exits(0);
}
