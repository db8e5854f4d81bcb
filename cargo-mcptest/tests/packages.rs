//! The packages that bring the command, and the libraries beside it, have the version of the workspace. Nothing is
//! built here: `tests/needs/installed.rs` installs them.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use toml_edit::DocumentMut;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn at(path: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap().join(path)
}

fn text(path: &str) -> String {
    fs::read_to_string(at(path)).unwrap()
}

fn toml(path: &str) -> DocumentMut {
    text(path).parse().unwrap()
}

fn json(path: &str) -> Value {
    serde_json::from_str(&text(path)).unwrap()
}

#[test]
fn all_packages_have_the_version_of_the_workspace() {
    for path in ["python/pyproject.toml", "packages/pypi-cli/pyproject.toml"] {
        assert_eq!(
            toml(path)["project"]["version"].as_str(),
            Some(VERSION),
            "{path}"
        );
    }
    for path in [
        "packages/npm/cli/package.json",
        "typescript/package.json",
        "typescript/package-lock.json",
    ] {
        assert_eq!(json(path)["version"], VERSION, "{path}");
    }
    let badge = format!("\nVersion {VERSION}");
    assert!(text("README.md").contains(&badge), "{badge}");
    let workspace = toml("Cargo.toml");
    let dependencies = workspace["workspace"]["dependencies"].as_table().unwrap();
    let own = dependencies
        .iter()
        .filter(|(name, _)| name.starts_with("mcptest-"));
    let own: Vec<_> = own.collect();
    assert_eq!(own.len(), 6);
    for (name, dependency) in own {
        assert_eq!(dependency["version"].as_str(), Some(VERSION), "{name}");
    }
}

#[test]
fn the_library_for_python_brings_the_command_of_its_version() {
    let command = toml("packages/pypi-cli/pyproject.toml");
    let name = command["project"]["name"].as_str().unwrap();
    let library = toml("python/pyproject.toml");
    let extra = &library["project"]["optional-dependencies"]["cli"];
    let extra = extra.as_array().unwrap();
    let wanted: Vec<_> = extra.iter().filter_map(|it| it.as_str()).collect();
    assert_eq!(wanted, [format!("{name}=={VERSION}")]);
}

/// A platform that the workflow builds for has a package, and each package is built.
#[test]
fn a_release_builds_the_program_of_each_platform_of_npm() {
    let platforms = json("packages/npm/cli/platforms.json");
    let platforms: BTreeSet<&str> = platforms
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let workflow = text(".github/workflows/release.yml");
    let built = workflow.lines().filter_map(|line| {
        let (_, rest) = line.split_once(" platform: ")?;
        rest.split(',').next()
    });
    let built: Vec<&str> = built.collect();
    assert_eq!(built.len(), 6);
    assert_eq!(built.into_iter().collect::<BTreeSet<_>>(), platforms);
}

#[test]
fn each_package_has_the_licences() {
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        for folder in ["packages/pypi-cli", "packages/npm/cli"] {
            assert_eq!(
                text(&format!("{folder}/{licence}")),
                text(licence),
                "{folder}"
            );
        }
    }
}
