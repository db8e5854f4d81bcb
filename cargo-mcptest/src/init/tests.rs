//! What is added to manifests, and what stays.

use std::fs;
use std::path::{Path, PathBuf};

use e2e_support::folder::Folder;

use super::manifest::{CargoManifest, HarnessDependency};
use super::profile;

fn edited(before: &str, workspace: Option<&str>, own_runner: bool) -> (String, String) {
    let folder = Folder::new().with_file("member/Cargo.toml", before);
    if let Some(workspace) = workspace {
        folder.write("Cargo.toml", workspace);
    }
    let member = folder.at("member");
    let root = if workspace.is_some() {
        folder.path()
    } else {
        &member
    };
    let mut manifest = CargoManifest::read(&member, root).unwrap();
    let name = manifest
        .add_dependency(&HarnessDependency::Published)
        .unwrap()
        .name;
    manifest.add_test_target("agents", own_runner).unwrap();
    (name, manifest.changed_text().unwrap())
}

const ADDED: &str = "
[dev-dependencies]
mcptest-harness = \"0.1\"

[[test]]
name = \"agents\"
harness = false
";

#[test]
fn a_manifest_gets_its_lines_at_the_end() {
    let before =
        "[package]\nname = \"a\" # odd   spacing\n\n\n[dependencies]\nserde = {version=\"1\"}\n";
    assert_eq!(edited(before, None, true).1, format!("{before}{ADDED}"));
}

#[test]
fn other_lines_keep_their_bytes() {
    let before = "\u{feff}# top\r\n[package]\r\nname = 'a'\r\n\r\n[dev-dependencies]   # tests\r\ninsta = \"1\"\r\n\r\n\
                  [[test]]\r\nname = \"other\"\r\n\r\n# about features\r\n[features]\r\nx = []\r\n# the end";
    let (_, after) = edited(before, None, true);
    let mut lines = after.split_inclusive('\n');
    for line in before.split_inclusive('\n') {
        assert!(
            lines.any(|other| other == line || other.trim_end() == line),
            "{line:?} of\n{after}"
        );
    }
    assert_eq!(
        after,
        "\u{feff}# top\r\n[package]\r\nname = 'a'\r\n\r\n[dev-dependencies]   # tests\r\ninsta = \"1\"\r\nmcptest-harness = \"0.1\"\r\n\r\n\
         [[test]]\r\nname = \"other\"\r\n\r\n[[test]]\r\nname = \"agents\"\r\nharness = false\r\n\r\n# about features\r\n[features]\r\nx = []\r\n# the end"
    );
}

#[test]
fn a_member_inherits_what_the_workspace_has() {
    let workspace = "[workspace.dependencies]\nagent-tests = { package = \"mcptest-harness\", version = \"0.1\" }\n";
    let (name, after) = edited("[package]\nname = \"a\"\n", Some(workspace), false);
    assert_eq!(name, "agent_tests");
    assert_eq!(
        after,
        "[package]\nname = \"a\"\n\n[dev-dependencies]\nagent-tests = { workspace = true }\n\n[[test]]\nname = \"agents\"\n"
    );
}

#[test]
fn a_profile_is_proposed_once() {
    let folder = Folder::new().with_file("Cargo.toml", "[workspace]\n");
    let lines = profile::propose(folder.path()).unwrap().unwrap();
    assert!(
        lines.starts_with("[profile.dev.package.mcptest-harness]\nopt-level = 2\n"),
        "{lines}"
    );
    for said in [
        lines.as_str(),
        "[profile.dev.package.\"*\"]\nopt-level = 1\n",
    ] {
        folder.write("Cargo.toml", said);
        assert_eq!(profile::propose(folder.path()).unwrap(), None);
    }
}

#[test]
fn a_relative_harness_is_named_from_the_package() {
    let folder = Folder::new().with_file(
        "clone/mcptest-harness/Cargo.toml",
        "name = \"mcptest-harness\"\n",
    );
    fs::create_dir_all(folder.at("shop/tests")).unwrap();
    let harness = folder.at("clone/mcptest-harness");
    let absolute = super::harness_path(&folder.at("shop"), &harness).unwrap();
    assert_eq!(absolute, harness.canonicalize().unwrap());
    let refused = super::harness_path(&folder.at("shop"), Path::new("nowhere")).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "error: `--path nowhere` is not the folder of mcptest-harness\n\n\
         help: name the folder `mcptest-harness` of a clone, the one with its `Cargo.toml`"
    );
    // Relative paths start where the command is called, which is this crate's folder for its tests.
    let here = super::harness_path(
        &std::env::current_dir().unwrap().join("src"),
        Path::new("../mcptest-harness"),
    );
    assert_eq!(here.unwrap(), PathBuf::from("../../mcptest-harness"));
}
