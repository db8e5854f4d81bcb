//! Disks that are full or may not be written.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::live::function_crate::{RecordingFolder, counting};
use crate::support::snapshot;

/// A small disk in memory on the folder of the recordings, until it is dropped.
pub(crate) struct SmallDisk(PathBuf);

impl SmallDisk {
    /// None where this user may not mount anything.
    pub(crate) fn on(folder: &Path) -> Option<Self> {
        if !cfg!(target_os = "linux") {
            return None;
        }
        std::fs::create_dir_all(folder).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=64k", "mcptest-e2e"])
            .arg(folder)
            .output();
        mounted
            .ok()?
            .status
            .success()
            .then(|| Self(folder.to_owned()))
    }

    #[track_caller]
    fn change(&self, options: &str) {
        let changed = Command::new("mount")
            .args(["-o", &format!("remount,{options}")])
            .arg(&self.0)
            .output()
            .unwrap();
        assert!(changed.status.success(), "{changed:?}");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // It goes with this machine at the latest.
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

fn stage(runs: usize) -> (RecordingFolder, SmallDisk) {
    let stage = RecordingFolder::new(&counting(runs));
    let disk = SmallDisk::on(&stage.folder.at("suites/cassettes"));
    (stage, disk.expect("a need of these tests"))
}

pub(crate) fn a_full_disk_is_said_and_loses_nothing() {
    let (stage, disk) = stage(60);
    let (_, text) = stage.record("missing", &[]).exits(101).only_failure();
    assert!(text.contains("the disk is full"), "{text}");
    let kept = stage.runs();
    assert!(!kept.is_empty() && kept.len() < 60, "{}", kept.len());
    let number = format!("run-{}.json", kept.len() + 1);
    snapshot::assert(
        "disk-full",
        &text.replace(&number, "run-N.json"),
        stage.folder.path(),
    );
    // Before anything more is spent on it.
    let begun = stage.begun_runs().len();
    stage.record("missing", &[]).exits(101);
    assert!(
        stage.begun_runs().len() <= begun + 1,
        "{:?}",
        stage.begun_runs()
    );

    disk.change("size=8m");
    stage.record("missing", &[]).exits(0);
    let all = stage.runs();
    assert_eq!(all.len(), 60);
    assert!(kept.iter().all(|(path, run)| all[path] == *run));

    // Anew, with room for some of the new ones beside the old ones.
    disk.change("size=320k");
    let text = stage
        .record("all", &[("GENERATION", "new")])
        .exits(101)
        .only_failure()
        .1;
    assert!(text.contains("the disk is full"), "{text}");
    assert!(stage.runs() == all, "the old runs are changed");
    stage.judge().exits(0);
    disk.change("size=8m");
    stage.record("all", &[("GENERATION", "new")]).exits(0);
    assert_eq!(stage.runs().len(), 60);
    stage.judge().exits(0);
}

pub(crate) fn a_folder_that_may_not_be_written_is_said_before_anything_is_spent() {
    let (stage, disk) = stage(3);
    disk.change("ro");
    for word in ["missing", "all"] {
        let (_, text) = stage.record(word, &[]).exits(101).only_failure();
        // How to record again says the word that was asked for.
        let text = text.replace(
            &format!("MCPTEST_RECORD={word} "),
            "MCPTEST_RECORD=missing ",
        );
        snapshot::assert("disk-read-only", &text, stage.folder.path());
        assert!(stage.begun_runs().is_empty());
    }
    disk.change("rw");
    stage.record("missing", &[]).exits(0);
    // What is there is judged, also from a disk that may only be read.
    disk.change("ro");
    stage.judge().exits(0);
    stage.record("missing", &[]).exits(0);
}
