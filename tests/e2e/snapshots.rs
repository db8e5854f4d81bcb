//! Snapshots through insta's own ways.

use std::fs;

use crate::sample::sample;
use crate::support::clerk::{ONE, SUITE, counted};
use crate::support::folder::Folder;
use crate::support::process::Finished;

const GATE: &str = "desk::clerk::snapshot";
const ACCEPTED: &str = "suites/snapshots/desk-clerk-snapshot.snap";
const PENDING: &str = "suites/snapshots/desk-clerk-snapshot.snap.new";

/// A crate with a snapshot gate.
fn desk() -> Folder {
    Folder::new()
        .with_file("suites/desk.yml", format!("{SUITE}    snapshot: {{}}\n"))
        .with_run(ONE, &counted(3))
}

fn run(folder: &Folder, environment: &[(&str, &str)]) -> Finished {
    sample().run_in(folder.path(), "agents", &[], environment)
}

/// What lies in the snapshots' folder.
fn snapshot_files(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(folder.at("suites/snapshots"))
        .into_iter()
        .flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut paths: Vec<_> = names
        .map(|name| format!("suites/snapshots/{name}"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn a_new_snapshot_is_pending_until_it_is_accepted() {
    let folder = desk();
    let (name, text) = run(&folder, &[]).exits(101).only_failure();
    assert_eq!(name, GATE);
    crate::support::snapshot::assert("snapshot-new", &text, folder.path());
    assert_eq!(snapshot_files(&folder), [PENDING]);

    run(&folder, &[("INSTA_UPDATE", "always")]).exits(0);
    run(&folder, &[]).exits(0);
    assert_eq!(snapshot_files(&folder), [ACCEPTED]);
    run(&folder, &[("CI", "true")]).exits(0);
    assert_eq!(snapshot_files(&folder), [ACCEPTED]);
}

#[test]
fn a_changed_recording_shows_the_difference_and_is_not_accepted_by_itself() {
    let folder = desk();
    run(&folder, &[("INSTA_UPDATE", "always")]).exits(0);
    let accepted = fs::read(folder.at(ACCEPTED)).unwrap();
    let changed = counted(3).to_string().replace("\"count\"", "\"weigh\"");
    folder.write(ONE, changed);
    let (name, text) = run(&folder, &[]).exits(101).only_failure();
    assert_eq!(name, GATE);
    crate::support::snapshot::assert("snapshot-changed", &text, folder.path());
    assert_eq!(fs::read(folder.at(ACCEPTED)).unwrap(), accepted);
    assert_eq!(snapshot_files(&folder), [ACCEPTED, PENDING]);
    // Once it is as accepted again, nothing is pending.
    folder.write(ONE, counted(3).to_string());
    run(&folder, &[]).exits(0);
    assert_eq!(snapshot_files(&folder), [ACCEPTED]);
}

#[test]
fn in_ci_and_when_told_so_nothing_is_written() {
    for variable in [("CI", "true"), ("INSTA_UPDATE", "no")] {
        let folder = desk();
        assert_eq!(run(&folder, &[variable]).exits(101).only_failure().0, GATE);
        assert!(snapshot_files(&folder).is_empty());
    }
    let folder = desk();
    let unknown = run(&folder, &[("INSTA_UPDATE", "perhaps")]).exits(101);
    assert!(unknown.only_failure().1.contains("perhaps"), "{unknown}");
    run(
        &folder,
        &[("INSTA_UPDATE", "no"), ("INSTA_FORCE_PASS", "1")],
    )
    .exits(0);
    assert!(snapshot_files(&folder).is_empty());
}
