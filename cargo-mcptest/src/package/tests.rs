//! Packages are found as cargo finds them, and what is wrong is said.

use std::path::PathBuf;

use e2e_support::folder::Folder;

use super::{FoundPackage, Selection};
use crate::failure::Failure;

const LIB: &str = "";

fn package(name: &str, more: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{more}")
}

/// A dependency that is never fetched.
const TESTED: &str = "[dev-dependencies]\nmcptest-harness = \"0.1\"\n";

fn workspace() -> Folder {
    Folder::new()
        .with_file("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"shop\", \"desk\", \"plain\"]\n")
        .with_file("shop/Cargo.toml", package("shop", TESTED))
        .with_file("shop/src/lib.rs", LIB)
        .with_file(
            "desk/Cargo.toml",
            package("desk", "[dev-dependencies]\nagent-tests = { package = \"mcptest-harness\", version = \"0.1\" }\n"),
        )
        .with_file("desk/src/lib.rs", LIB)
        .with_file("plain/Cargo.toml", package("plain", ""))
        .with_file("plain/src/lib.rs", LIB)
}

fn select(folder: &Folder, manifest: &str, package: Option<&str>) -> Result<FoundPackage, Failure> {
    let selection = Selection {
        package: package.map(ToOwned::to_owned),
        manifest_path: Some(folder.at(manifest)),
        suites: None,
    };
    selection.find_tested()
}

fn refused(found: Result<FoundPackage, Failure>) -> String {
    found.unwrap_err().to_string()
}

#[test]
fn a_package_is_the_one_of_its_folder_or_the_one_that_is_named() {
    let folder = workspace();
    let shop = select(&folder, "shop/Cargo.toml", None).unwrap();
    assert_eq!(
        (shop.name.as_str(), shop.harness.as_deref()),
        ("shop", Some("mcptest"))
    );
    assert_eq!(shop.roots, [PathBuf::from("suites")]);
    let desk = select(&folder, "Cargo.toml", Some("desk")).unwrap();
    assert_eq!(
        (desk.name.as_str(), desk.harness.as_deref()),
        ("desk", Some("agent_tests"))
    );
    assert!(desk.folder.ends_with("desk"));
}

#[test]
fn several_packages_are_listed() {
    let folder = workspace();
    assert_eq!(
        refused(select(&folder, "Cargo.toml", None)),
        "error: there are several packages here: `desk`, `shop`\n\nhelp: choose one with `-p`"
    );
}

#[test]
fn the_only_package_with_agent_tests_needs_no_name() {
    let folder = workspace();
    folder.write("desk/Cargo.toml", package("desk", ""));
    assert_eq!(select(&folder, "Cargo.toml", None).unwrap().name, "shop");
}

#[test]
fn a_package_without_agent_tests_is_told_what_to_do() {
    let folder = workspace();
    assert_eq!(
        refused(select(&folder, "plain/Cargo.toml", None)),
        "error: the package `plain` has no folder `suites`, and does not depend on `mcptest-harness`\n\n\
         help: of this workspace `desk`, `shop` do; choose one with `-p`"
    );
    for member in ["desk", "shop"] {
        folder.write(&format!("{member}/Cargo.toml"), package(member, ""));
    }
    assert_eq!(
        refused(select(&folder, "Cargo.toml", Some("plain"))),
        "error: the package `plain` has no folder `suites`, and does not depend on `mcptest-harness`\n\n\
         help: `cargo mcptest init -p plain` gives it its first agent test"
    );
    assert_eq!(
        refused(select(&folder, "Cargo.toml", None)),
        "error: no package of this workspace has a folder `suites` or depends on `mcptest-harness`\n\n\
         help: `cargo mcptest init -p <package>` gives a package its first agent test"
    );
}

#[test]
fn a_folder_of_suites_is_enough_in_a_package_that_does_not_depend_on_the_harness() {
    let folder = workspace();
    folder.write("plain/suites/a.yml", "agents: []\n");
    let plain = select(&folder, "plain/Cargo.toml", None).unwrap();
    // It stands for a folder: no command of cargo is about it.
    assert_eq!(plain.name, "");
    assert!(plain.folder.ends_with("plain"));
    assert_eq!(plain.roots, [PathBuf::from("suites")]);
    // From the top of the workspace those are meant that run their suites.
    assert!(refused(select(&folder, "Cargo.toml", None)).contains("`desk`, `shop`"));
    for member in ["desk", "shop"] {
        folder.write(&format!("{member}/Cargo.toml"), package(member, ""));
    }
    let only = select(&folder, "Cargo.toml", None).unwrap();
    assert!(only.folder.ends_with("plain"));
    folder.write("shop/suites/a.yml", "agents: []\n");
    let told = refused(select(&folder, "Cargo.toml", None));
    assert!(
        told.contains("several packages here: `plain`, `shop`"),
        "{told}"
    );
}

#[test]
fn a_misspelt_package_is_guessed() {
    let folder = workspace();
    assert_eq!(
        refused(select(&folder, "Cargo.toml", Some("shpo"))),
        "error: the workspace has no package `shpo`\n\nhelp: did you mean `shop`?"
    );
    assert_eq!(
        refused(select(&folder, "Cargo.toml", Some("warehouse"))),
        "error: the workspace has no package `warehouse`\n\nhelp: it has `desk`, `plain`, `shop`"
    );
}

#[test]
fn a_package_says_where_its_suites_are() {
    let folder = workspace();
    let roots = "[package.metadata.mcptest]\nroots = [\"agents\", \"more/agents\"]\n";
    folder.write("plain/Cargo.toml", package("plain", roots));
    let plain = select(&folder, "plain/Cargo.toml", None).unwrap();
    assert_eq!(
        plain.roots,
        [PathBuf::from("agents"), PathBuf::from("more/agents")]
    );
    assert_eq!(plain.harness, None);
    let help = "\n\nhelp: write the folders that hold suites, e.g. `roots = [\"suites\", \"more/suites\"]`";
    for (wrong, what) in [
        (
            "root = [\"agents\"]",
            "unknown field `root`, expected `roots`",
        ),
        (
            "roots = \"agents\"",
            "invalid type: string \"agents\", expected a sequence",
        ),
        ("roots = []", "`roots` names no folder"),
        (
            "roots = [\"/agents\"]",
            "`/agents` is not relative to the package",
        ),
    ] {
        let manifest = package("plain", &format!("[package.metadata.mcptest]\n{wrong}\n"));
        folder.write("plain/Cargo.toml", manifest);
        assert_eq!(
            refused(select(&folder, "plain/Cargo.toml", None)),
            format!("error: `[package.metadata.mcptest]` of `plain` cannot be used: {what}{help}")
        );
    }
}

#[test]
fn a_folder_without_a_package_and_a_broken_manifest_are_told() {
    let folder = Folder::new().with_file("Cargo.toml", "[package]\nname = 3\n");
    let broken = refused(select(&folder, "Cargo.toml", None));
    assert!(
        broken.starts_with("error: cargo cannot read the package: "),
        "{broken}"
    );
    assert!(broken.contains("invalid type: integer `3`"), "{broken}");
    let absent = refused(select(&folder, "nowhere/Cargo.toml", None));
    assert!(
        absent.starts_with("error: cargo cannot read the package: "),
        "{absent}"
    );
}
