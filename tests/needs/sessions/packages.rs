//! The client libraries, of the versions that `agents/` names: one environment for Python, one folder for
//! JavaScript, installed once and kept from run to run.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::folder::Folder;
use crate::support::workshop::kept_folder;

pub(in super::super) const REQUIREMENTS: &str = include_str!("../agents/requirements.txt");
pub(in super::super) const PACKAGE: &str = include_str!("../agents/package.json");

/// The Python that has the libraries.
pub(super) fn python() -> PathBuf {
    let environment = kept_folder().join("pypi").join("sessions");
    installed_once(&environment, REQUIREMENTS);
    environment.join("bin/python")
}

/// Installs what a list says into an environment of a place.
pub(in super::super) fn installed_once(environment: &Path, list: &str) {
    once(environment, list, |list| {
        run(Command::new("python3")
            .args(["-m", "venv"])
            .arg(environment));
        let install = "-m pip install --quiet --disable-pip-version-check -r";
        run(Command::new(environment.join("bin/python"))
            .args(install.split(' '))
            .arg(list));
    });
}

/// The folder that has the libraries for JavaScript, in `node_modules`.
pub(super) fn javascript() -> PathBuf {
    modules("sessions", PACKAGE)
}

/// The folder that has what a `package.json` names in its `node_modules`. `name` is the folder where it is kept.
pub(in super::super) fn modules(name: &str, package: &str) -> PathBuf {
    let folder = kept_folder().join("npm").join(name);
    once(&folder, package, |_| {
        fs::write(folder.join("package.json"), package).unwrap();
        run(Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--prefix"])
            .arg(&folder));
    });
    folder.canonicalize().unwrap()
}

/// The version of a library that is installed.
#[track_caller]
pub(super) fn version(of_python: bool, library: &str) -> &'static str {
    let version = if of_python {
        let mut lines = REQUIREMENTS
            .lines()
            .filter_map(|line| line.split_once("=="));
        lines.find_map(|(name, version)| {
            (name.split('[').next() == Some(library)).then_some(version)
        })
    } else {
        let begin = format!("\"{library}\": \"");
        let found = PACKAGE.split_once(&begin);
        found.and_then(|(_, rest)| Some(rest.split_once('"')?.0))
    };
    version.unwrap_or_else(|| panic!("`{library}` is installed"))
}

/// Lets the programs in a folder find what is installed in another one.
pub(super) fn link(installed: &Path, folder: &Folder) {
    let (modules, here) = (installed.join("node_modules"), folder.at("node_modules"));
    #[cfg(unix)]
    std::os::unix::fs::symlink(modules, here).unwrap();
    #[cfg(windows)]
    std::os::windows::fs::symlink_dir(modules, here).unwrap();
}

/// Installs what a list says, unless the list that was installed last is this one.
fn once(folder: &Path, list: &str, install: impl FnOnce(&Path)) {
    fs::create_dir_all(folder).unwrap();
    // Two tests, and two processes, may want it at a time.
    let lock = File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    let installed = folder.join("installed");
    if fs::read_to_string(&installed).is_ok_and(|old| old == list) {
        return;
    }
    let wanted = folder.join("wanted");
    fs::write(&wanted, list).unwrap();
    install(&wanted);
    fs::rename(wanted, installed).unwrap();
}

fn run(command: &mut Command) {
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{command:?}: {ran:?}");
}
