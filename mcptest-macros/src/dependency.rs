//! What the crate that the macro is used in calls the harness.
//!
//! A dependency may have another name (`agent-tests = { package = "mcptest-harness", … }`), and a
//! macro is not told it. It stands in the manifest of the crate, or in that of the workspace from
//! which the crate inherits it.

use std::path::Path;

/// The harness's package, and its library's usual name.
const PACKAGE: &str = "mcptest-harness";
const USUAL: &str = "mcptest";

/// The name of the harness in a crate, as code writes it.
pub(crate) fn harness_crate_name(crate_dir: &Path) -> String {
    let read = |folder: &Path| std::fs::read_to_string(folder.join("Cargo.toml")).ok();
    let Some(own) = read(crate_dir) else {
        return USUAL.to_owned();
    };
    if let Some(name) = renamed(&own).into_iter().next() {
        return name;
    }
    let declared: Vec<String> = own.lines().filter_map(key).collect();
    let above = crate_dir.ancestors().skip(1).filter_map(read);
    let inherited = above.flat_map(|manifest| renamed(&manifest));
    let mut inherited = inherited.filter(|name| declared.contains(name));
    inherited.next().unwrap_or_else(|| USUAL.to_owned())
}

/// The names that a manifest gives the harness, other than its own.
fn renamed(manifest: &str) -> Vec<String> {
    let mut table = None;
    let mut found = Vec::new();
    let lines = manifest.lines().map(str::trim);
    for line in lines.filter(|line| !line.starts_with('#')) {
        if let Some(header) = line.strip_prefix('[') {
            let header = header.split(']').next().unwrap_or_default();
            // `[dev-dependencies.agent-tests]`
            table = header.rsplit_once('.').map(|(_, name)| identifier(name));
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        if is_package(key, value) {
            found.extend(table.clone());
        } else if value.split(['{', ',']).any(|part| {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            is_package(key, value)
        }) {
            found.push(identifier(key));
        }
    }
    // What is no name is no dependency's, whatever else stands in the file.
    found.retain(|name| syn::parse_str::<syn::Ident>(name).is_ok());
    found
}

/// Whether a key and its value say that a dependency is the harness.
fn is_package(key: &str, value: &str) -> bool {
    let value = value.split('#').next().unwrap_or_default();
    let value = value.trim_matches(|sign: char| " \t\"'}".contains(sign));
    key.trim() == "package" && value == PACKAGE
}

/// The key of a line, or of the header of a table.
fn key(line: &str) -> Option<String> {
    let line = line.trim();
    let key = match line.strip_prefix('[') {
        Some(header) => header.split(']').next()?.rsplit_once('.')?.1,
        // `agent-tests.workspace = true`
        None => line.split_once('=')?.0.split('.').next()?,
    };
    Some(identifier(key))
}

/// A dependency's name as code writes it.
fn identifier(name: &str) -> String {
    let name = name.trim_matches(|sign: char| " \t\"'".contains(sign));
    name.replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renamed_dependency_is_found_however_it_is_written() {
        for manifest in [
            "[dev-dependencies]\nagent-tests = { path = \"..\", package = \"mcptest-harness\" }\n",
            "[dev-dependencies]\n\"agent-tests\" = {package='mcptest-harness',version = \"1\"} # so\n",
            "[dev-dependencies.agent-tests]\nversion = \"1\"\npackage = \"mcptest-harness\" # so\n",
            "[target.'cfg(unix)'.dev-dependencies.agent-tests]\npackage = \"mcptest-harness\"\n",
        ] {
            assert_eq!(renamed(manifest), ["agent_tests"], "{manifest}");
        }
        for manifest in [
            "[package]\nname = \"mcptest-harness\"\n",
            "[dev-dependencies]\n# old = { package = \"mcptest-harness\" }\nmcptest-harness = \"1\"\n",
            "[dev-dependencies]\n1st = { package = \"mcptest-harness\" }\n",
            "[dev-dependencies]\nmcptest-harness = \"1\"\nother = { package = \"mcptest-suite\" }\n",
        ] {
            assert!(renamed(manifest).is_empty(), "{manifest}");
        }
    }

    #[test]
    fn keys_are_read_in_every_spelling() {
        for line in [
            "agent-tests = { workspace = true }",
            "agent-tests.workspace = true",
            "\"agent-tests\" = \"1\"",
            "[dev-dependencies.agent-tests]",
        ] {
            assert_eq!(key(line).as_deref(), Some("agent_tests"), "{line}");
        }
    }
}
