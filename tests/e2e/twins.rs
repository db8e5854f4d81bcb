//! The example suites hold; a broken twin of each fails as the guide shows.

use std::path::Path;

use crate::guide::{block, blocks};
use crate::sample::runner;
use crate::support::folder::Folder;
use crate::support::workshop::workspace;

/// A crate whose suites are one example suite, with one change, and all recordings of the examples.
fn twin(suite: &str, good: &str, broken: &str) -> Folder {
    let examples = workspace().join("examples");
    let text = std::fs::read_to_string(examples.join(suite)).unwrap();
    assert_eq!(text.matches(good).count(), 1, "{good} in {suite}");
    let folder = Folder::new();
    copy(&examples.join("cassettes"), &folder, "suites/cassettes");
    folder.write(&format!("suites/{suite}"), text.replace(good, broken));
    folder
}

fn copy(from: &Path, folder: &Folder, to: &str) {
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = format!("{to}/{}", path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            copy(&path, folder, &to);
        } else {
            folder.write(&to, std::fs::read(path).unwrap());
        }
    }
}

/// The failure of the one case that fails, headed as it is printed.
fn failure(folder: &Folder) -> String {
    let ran = runner(folder.path(), &[]).exits(101);
    let (name, text) = ran.only_failure();
    // The package is the sample's here and the reader's in the guide.
    let (start, rerun) = text.trim_end().rsplit_once("cargo test -p ").unwrap();
    let (_, rest) = rerun.split_once(' ').unwrap();
    format!("---- {name} ----\n{start}cargo test -p demo {rest}\n")
}

#[test]
fn each_example_holds_and_its_broken_twin_fails_as_the_guide_shows() {
    let blocks = blocks();
    for (suite, good, broken) in [
        (
            "offline-trace-validation.yml",
            "city: Sacramento }",
            "city: Davis }",
        ),
        (
            "fault-injection-recovery.yml",
            "max_recovery_ms: 5000",
            "max_recovery_ms: 2000",
        ),
    ] {
        runner(twin(suite, good, good).path(), &[]).exits(0);
        let shown = block(&blocks, "twin", suite);
        assert_eq!(failure(&twin(suite, good, broken)), shown, "{suite}");
    }
}

#[test]
fn the_stability_example_has_a_twin_as_well() {
    let suite = "agent-stability.yml";
    runner(twin(suite, "minimum: 0.7", "minimum: 0.7").path(), &[]).exits(0);
    let text = failure(&twin(suite, "minimum: 0.7", "minimum: 0.999"));
    assert!(
        text.contains("`stability.score`") && text.contains("less than the minimum of 0.999"),
        "{text}"
    );
}
