//! Files that may not be read. To root everything is readable, so what root starts here is first
//! bereft of that right, where `setpriv` can do so.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::sample::sample;
use crate::support::clerk::{ONE, SUITE, counted, desk};
use crate::support::folder::Folder;
use crate::support::process::{self, Finished};
use crate::support::snapshot;

/// Runs what follows without root's right to read every file.
const BEREFT: &[&str] = &[
    "setpriv",
    "--inh-caps=-dac_override,-dac_read_search",
    "--bounding-set=-dac_override,-dac_read_search",
];

/// What a command must begin with so that it is refused a file; nothing where all are.
pub(crate) fn launcher() -> Option<&'static [&'static str]> {
    let folder = Folder::new().with_file("refused", "");
    let refused = folder.at("refused");
    refuse(&refused);
    if fs::read(&refused).is_err() {
        return Some(&[]);
    }
    let cat = |file: &Path| {
        let ran = Command::new(BEREFT[0])
            .args(&BEREFT[1..])
            .arg("cat")
            .arg(file)
            .output();
        ran.map(|ran| ran.status.success())
    };
    let readable = Folder::new().with_file("readable", "");
    let works = cat(&readable.at("readable")).unwrap_or(false);
    (works && matches!(cat(&refused), Ok(false))).then_some(BEREFT)
}

/// Takes every right to a file away, where there are such rights.
fn refuse(file: &Path) {
    #[cfg(unix)]
    fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
    #[cfg(not(unix))]
    let _ = file;
}

/// The runner over a folder, as somebody who is refused files.
fn runner(folder: &Path) -> Finished {
    let executable = sample().executable("agents");
    let launcher = launcher().expect("a need of these tests");
    let mut words = launcher.iter().map(Path::new).chain([executable]);
    let mut command = process::command(words.next().unwrap(), folder);
    command.args(words).env("CARGO_MANIFEST_DIR", folder);
    process::run(&mut command)
}

pub(crate) fn a_recording_that_may_not_be_read_says_so() {
    let folder = desk(SUITE).with_run(ONE, &counted(3));
    refuse(&folder.at(ONE));
    let (name, text) = runner(folder.path()).exits(101).only_failure();
    assert_eq!(name, "desk::clerk");
    snapshot::assert("recording-unreadable", &text, folder.path());
}

pub(crate) fn a_suite_that_may_not_be_read_is_a_failure() {
    let folder = desk(SUITE);
    refuse(&folder.at("suites/desk.yml"));
    let ran = runner(folder.path()).exits(101);
    assert_eq!(ran.only_failure().0, "desk::load");
}
