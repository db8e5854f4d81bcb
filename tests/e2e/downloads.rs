//! What these tests themselves need: no network, once everything is downloaded, and no mark in the target
//! folder.

use std::env;
use std::path::Path;

use crate::support::folder::Folder;
use crate::support::process;
use crate::support::workshop::{target, target_folder};

/// A test that builds a crate.
const BUILDS: &str = "compile_errors::the_right_use_beside_them_compiles_without_a_word";

#[test]
fn without_a_network_what_is_downloaded_is_enough_and_what_is_missing_is_said() {
    let folder = Folder::new();
    let run = |home: Option<&str>| {
        let mut command = process::command(env::current_exe().unwrap(), folder.path());
        command
            .args(["--exact", BUILDS])
            .env("CARGO_NET_OFFLINE", "true");
        if let Some(home) = home {
            command.env("CARGO_HOME", folder.at(home));
        }
        process::run(&mut command)
    };
    run(None).exits(0);
    let failed = run(Some("nothing")).exits(101);
    let (name, text) = failed.only_failure();
    assert_eq!(name, BUILDS);
    for said in [
        "not everything that Cargo.lock names is downloaded, and it cannot be downloaded now",
        "--offline",
        "help: these tests build small crates without the network; run `cargo fetch --locked` once",
    ] {
        assert!(text.contains(said), "{said} in\n{text}");
    }
}

/// Cargo marks the target folders that it makes by a file. One that was there before has none.
#[test]
fn the_target_folder_is_known_without_a_mark_in_it() {
    let folder = Folder::new();
    let deps = folder.at("target/debug/deps");
    let found = target_folder(&deps.join("e2e-0123456789abcdef")).map(Path::to_owned);
    assert_eq!(found, Some(folder.at("target")));
    assert_eq!(target_folder(&folder.at("target/debug/e2e")), None);
    assert!(env::current_exe().unwrap().starts_with(target()));
}
