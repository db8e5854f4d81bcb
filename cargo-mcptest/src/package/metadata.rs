//! What `cargo metadata` says, and what a package says to this command in its manifest.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use cargo_metadata::{Error, Metadata, MetadataCommand};
use serde::Deserialize;

use crate::failure::Failure;

/// Reads the workspace around a manifest, or around the folder that this is called in. Nothing is
/// resolved, so nothing is downloaded and no lock file is written.
pub(super) fn read(manifest: Option<&Path>) -> Result<Metadata, Failure> {
    let mut command = MetadataCommand::new();
    command.no_deps();
    if let Some(manifest) = manifest {
        command.manifest_path(manifest);
    }
    let mut metadata = command.exec().map_err(|error| match error {
        Error::CargoMetadata { stderr } => cargo_failure(&stderr),
        // Who has no crate needs no cargo.
        Error::Io(error) if error.kind() == ErrorKind::NotFound && !in_crate(manifest) => {
            not_found()
        }
        Error::Io(error) => Failure::new(format!("cargo does not start: {error}"))
            .with_help("install the Rust toolchain, or set `CARGO` to the path of cargo"),
        error => Failure::new(format!(
            "the output of `cargo metadata` cannot be read: {error}"
        ))
        .with_help("update cargo and this command"),
    })?;
    metadata
        .packages
        .sort_by(|left, right| left.name.cmp(&right.name));
    Ok(metadata)
}

/// Whether there is a manifest that a command may be about.
fn in_crate(manifest: Option<&Path>) -> bool {
    let has_one = |here: PathBuf| {
        let mut folders = here.ancestors();
        folders.any(|folder| folder.join("Cargo.toml").is_file())
    };
    manifest.is_some() || std::env::current_dir().is_ok_and(has_one)
}

fn not_found() -> Failure {
    Failure::new("there is no package here, nor in any folder above").with_help(
        "run the command in the folder of a crate, or in a folder that has a folder `suites`; or give `--manifest-path <path of a Cargo.toml>` or `--suites <folder>`",
    )
}

fn cargo_failure(stderr: &str) -> Failure {
    if stderr.contains("could not find `Cargo.toml`") {
        return not_found();
    }
    let stderr = stderr.trim();
    let stderr = stderr.strip_prefix("error: ").unwrap_or(stderr);
    Failure::new(format!("cargo cannot read the package: {stderr}"))
}

/// `[package.metadata.mcptest]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PackageMetadata {
    roots: Vec<PathBuf>,
}

/// Where a package says that its suites are; `None` where it does not say.
pub(super) fn declared_roots(
    package: &cargo_metadata::Package,
) -> Result<Option<Vec<PathBuf>>, Failure> {
    let Some(value) = package.metadata.get("mcptest") else {
        return Ok(None);
    };
    let wrong = |what: &str| {
        Failure::new(format!(
            "`[package.metadata.mcptest]` of `{}` cannot be used: {what}",
            package.name
        ))
        .with_help(
            "write the folders that hold suites, e.g. `roots = [\"suites\", \"more/suites\"]`",
        )
    };
    let said: PackageMetadata =
        serde_json::from_value(value.clone()).map_err(|error| wrong(&error.to_string()))?;
    if said.roots.is_empty() {
        return Err(wrong("`roots` names no folder"));
    }
    if let Some(root) = said.roots.iter().find(|root| root.has_root()) {
        return Err(wrong(&format!(
            "`{}` is not relative to the package",
            root.display()
        )));
    }
    Ok(Some(said.roots))
}
