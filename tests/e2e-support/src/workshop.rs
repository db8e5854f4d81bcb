//! Small crates that use the harness by path, built in the target folder of the tests themselves.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::process::{self, Finished};
use super::{downloads, folder};

/// A `Cargo.toml` that uses the harness, with more lines after it.
pub fn manifest(name: &str, more: &str) -> String {
    let harness = harness_path();
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n\
         [dev-dependencies]\nmcptest-harness = {{ path = {harness:?} }}\n\n{more}"
    )
}

/// Where the harness's own crate lies.
pub fn harness_path() -> String {
    let path = workspace().join("mcptest-harness");
    path.to_string_lossy().into_owned()
}

/// The folder of this workspace.
pub fn workspace() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("the workspace's folder")
}

/// Where all children build: the target folder of these tests themselves, so that nothing is built
/// twice.
pub fn target() -> PathBuf {
    let executable = std::env::current_exe().expect("the test's executable");
    let target = target_folder(&executable).expect("cargo's target folder");
    target.to_owned()
}

/// The target folder that a test's executable lies in, `<target>/<profile>/deps/<executable>`. Its place
/// says so, no mark in it: a folder that was there before cargo has none.
pub fn target_folder(executable: &Path) -> Option<&Path> {
    let deps = executable.parent().filter(|deps| deps.ends_with("deps"))?;
    deps.ancestors().nth(2)
}

/// The variables by which whoever runs these tests may have asked for another build.
const PROFILE: [&str; 3] = [
    "CARGO_INCREMENTAL",
    "CARGO_PROFILE_DEV_DEBUG",
    "CARGO_PROFILE_TEST_DEBUG",
];

/// The program of a package of this workspace. One of the package's integration tests is built, for which
/// cargo builds the program too.
pub fn test_program(package: &str, test: &str) -> PathBuf {
    built_here(&["test", "--no-run", "--test", test], package)
}

/// An example of a package of this workspace.
pub fn example_program(name: &str) -> PathBuf {
    built_here(&["build", "--example", name], name)
}

/// An executable of this workspace, by its name; with `--workspace`, so that features are those of
/// `cargo test --workspace` and what it depends on is there.
fn built_here(arguments: &[&str], name: &str) -> PathBuf {
    let more = ["--workspace", "--message-format=json"];
    let mut command = cargo(workspace(), &[arguments, &more].concat());
    for name in PROFILE {
        match std::env::var_os(name) {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let built = process::run(&mut command).exits(0);
    let messages = built
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut programs =
        messages.filter_map(|message| Some(PathBuf::from(message["executable"].as_str()?)));
    let program = programs.find(|path| path.file_stem() == Some(name.as_ref()));
    program.unwrap_or_else(|| panic!("`{name}` is built"))
}

/// Where what is made for these tests is kept from run to run.
pub fn kept_folder() -> PathBuf {
    target().join("e2e")
}

/// Makes a crate at a fixed place, so that a second run need not build it again: these files, no
/// others, and what the workspace shares. Safe against another process that makes the same crate.
pub fn kept_crate(name: &str, files: &[(String, Vec<u8>)]) -> PathBuf {
    let top = kept_folder().join("crates");
    fs::create_dir_all(&top).unwrap();
    let lock = File::create(top.join(format!("{name}.lock"))).unwrap();
    lock.lock().unwrap();
    let folder = top.join(name);
    let shared = ["Cargo.lock", CONFIG].into_iter();
    let wanted = files.iter().map(|(path, _)| path.as_str()).chain(shared);
    let wanted: Vec<PathBuf> = wanted.map(|path| folder.join(path)).collect();
    remove_others(&folder, &wanted);
    for (path, (_, bytes)) in wanted.iter().zip(files) {
        folder::write(path, bytes);
    }
    share_packages(&folder);
    folder
}

fn remove_others(folder: &Path, wanted: &[PathBuf]) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            remove_others(&path, wanted);
        } else if !wanted.contains(&path) {
            fs::remove_file(path).unwrap();
        }
    }
}

/// How this workspace's packages are built, and where it stands in a crate.
const CONFIG: &str = ".cargo/config.toml";

/// Gives a crate the lock file and the config of this workspace: the same versions are built in the same
/// way, so that nothing is resolved or downloaded, and packages that are built serve all.
pub fn share_packages(folder: &Path) {
    let config = fs::read(workspace().join(CONFIG)).unwrap();
    folder::write(&folder.join(CONFIG), &config);
    let lock = folder.join("Cargo.lock");
    let current = fs::read_to_string(workspace().join("Cargo.lock")).unwrap();
    // Cargo takes out what the crate does not use, so the file is only written when a version that
    // the workspace has is not the one in it.
    let packages: Vec<&str> = current.split("\n\n").collect();
    let up_to_date = fs::read_to_string(&lock).is_ok_and(|old| {
        let mut of_registry = old
            .split("\n\n")
            .filter(|package| package.contains("checksum"));
        of_registry.all(|package| packages.contains(&package))
    });
    if !up_to_date {
        fs::write(lock, current).unwrap();
    }
}

/// The cargo that runs these tests.
pub fn program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// `cargo` in a crate's folder, with the target folder of these tests and without the network. What it may
/// need is downloaded before.
pub fn cargo(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = process::command(program(), folder);
    command.args(arguments);
    share_target(&mut command);
    command
}

/// Gives a program that runs cargo by itself the target folder of these tests, and no network.
pub fn share_target(command: &mut Command) {
    downloads::complete();
    command
        .env("CARGO_TARGET_DIR", target())
        .env("CARGO_NET_OFFLINE", "true")
        // Nothing here is debugged or edited, and both cost much of the build's time.
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_INCREMENTAL", "0");
}

/// Runs `cargo` in a crate's folder.
pub fn run_cargo(folder: &Path, arguments: &[&str]) -> Finished {
    process::run(&mut cargo(folder, arguments))
}

/// Builds a crate's tests; the executables by the name of their target.
pub fn build(folder: &Path) -> BTreeMap<String, PathBuf> {
    let arguments = ["test", "--no-run", "--workspace", "--message-format=json"];
    let built = run_cargo(folder, &arguments).exits(0);
    let messages = built
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let executables = messages.filter_map(|message| {
        let executable = message["executable"].as_str()?;
        let target = message["target"]["name"].as_str()?;
        Some((target.to_owned(), PathBuf::from(executable)))
    });
    executables.collect()
}
