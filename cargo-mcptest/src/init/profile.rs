//! The optimisation of the harness that a workspace is proposed.

use std::path::Path;

use toml_edit::Item;

use super::manifest;
use crate::failure::Failure;

/// The packages that compute.
const PACKAGES: [&str; 3] = ["mcptest-harness", "mcptest-suite", "mcptest-trace"];

/// What the proposal buys.
pub(super) const WHY: &str = "It optimises the harness in the tests' build, so many runs are judged faster; your \
own code is built as before.";

/// The lines that a workspace's manifest lacks; `None` where it says something of the harness already.
pub(super) fn propose(workspace: &Path) -> Result<Option<String>, Failure> {
    let (_, document) = manifest::read(&workspace.join("Cargo.toml"))?;
    let dev = document
        .get("profile")
        .and_then(|profile| profile.get("dev"));
    let packages = dev.and_then(|dev| dev.get("package"));
    let said = |name: &str| packages.is_some_and(|packages: &Item| packages.get(name).is_some());
    if said("*") || PACKAGES.iter().any(|package| said(package)) {
        return Ok(None);
    }
    let lines = PACKAGES.map(|package| format!("[profile.dev.package.{package}]\nopt-level = 2\n"));
    Ok(Some(lines.join("\n")))
}
