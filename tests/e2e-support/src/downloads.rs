//! What the crates of these tests depend on, downloaded before the first of them is built.
//!
//! Cargo downloads lazily, only what the features in hand use, and the children of these tests have
//! no network. So the lock file of the workspace is fetched once in a process: without the network
//! where everything is there, and with it where something is not. This is the only place of these
//! tests that may reach it.

use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::workshop::{program, workspace};

/// Makes sure that all the lock file names for this platform is in `CARGO_HOME`. Two processes may
/// do so at once: cargo itself locks what it downloads to.
///
/// # Panics
///
/// If something is missing and cannot be downloaded.
#[track_caller]
pub(crate) fn complete() {
    static FETCHED: OnceLock<Result<(), String>> = OnceLock::new();
    let fetched = FETCHED.get_or_init(|| fetch(&["--offline"]).or_else(|_| fetch(&[])));
    if let Err(reason) = fetched {
        panic!("{}", fetch_failure(reason));
    }
}

/// In the environment of this process, as the person who runs the tests has set it up.
fn fetch(more: &[&str]) -> Result<(), String> {
    let fetched = Command::new(program())
        .args(["fetch", "--locked", "--target", "host-tuple"])
        .args(more)
        .current_dir(workspace())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    if fetched.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&fetched.stderr).into_owned())
    }
}

fn fetch_failure(reason: &str) -> String {
    format!(
        "not everything that Cargo.lock names is downloaded, and it cannot be downloaded now\n\n{}\n\n\
         help: these tests build small crates without the network; run `cargo fetch --locked` once where there is one",
        reason.trim_end()
    )
}
