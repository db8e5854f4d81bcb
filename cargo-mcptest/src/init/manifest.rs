//! A `Cargo.toml` with what is added to it, everything else as it was.

use std::path::{Path, PathBuf};

use mcptest_suite::portable_path;
use toml_edit::{
    Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value, value,
};

use crate::failure::Failure;
use crate::package::HARNESS;

/// Where the harness comes from.
#[derive(Debug)]
pub(super) enum HarnessDependency {
    Published,
    Path(PathBuf),
}

/// A dependency that was added.
#[derive(Debug)]
pub(super) struct Added {
    /// What code calls the harness then.
    pub(super) name: String,
    /// The line, e.g. `mcptest-harness = "0.1"`.
    pub(super) line: String,
    /// The table that it is in.
    pub(super) section: &'static str,
    /// Whether a registry is to have it.
    pub(super) published: bool,
}

/// The manifest of a package.
#[derive(Debug)]
pub(super) struct CargoManifest {
    before: String,
    document: DocumentMut,
    /// What the workspace calls the harness, where it has it for all its packages.
    inherited: Option<String>,
}

impl CargoManifest {
    pub(super) fn read(package: &Path, workspace: &Path) -> Result<Self, Failure> {
        let (before, document) = read(&package.join("Cargo.toml"))?;
        let inherited = if workspace == package {
            inherited_name(&document)
        } else {
            inherited_name(&read(&workspace.join("Cargo.toml"))?.1)
        };
        Ok(Self {
            before,
            document,
            inherited,
        })
    }

    /// Adds the dev-dependency.
    pub(super) fn add_dependency(
        &mut self,
        dependency: &HarnessDependency,
    ) -> Result<Added, Failure> {
        let mut table = InlineTable::new();
        let (key, item) = match (&self.inherited, dependency) {
            (Some(key), HarnessDependency::Published) => {
                table.insert("workspace", true.into());
                (key.clone(), value(table))
            }
            (_, HarnessDependency::Published) => (HARNESS.to_owned(), value(minor_version())),
            (_, HarnessDependency::Path(path)) => {
                table.insert("path", portable_path(path).into());
                (HARNESS.to_owned(), value(table))
            }
        };
        let section = ["dev-dependencies", "dev_dependencies"]
            .into_iter()
            .find(|section| self.document.contains_key(section))
            .unwrap_or("dev-dependencies");
        let line = format!("{key} = {}", item.to_string().trim());
        let dependencies = self
            .document
            .entry(section)
            .or_insert_with(|| Item::Table(Table::new()));
        let dependencies = dependencies
            .as_table_like_mut()
            .ok_or_else(|| unexpected_key(section))?;
        dependencies.insert(&key, item);
        let name = if key == HARNESS {
            "mcptest".to_owned()
        } else {
            key.replace('-', "_")
        };
        let published =
            self.inherited.is_none() && matches!(dependency, HarnessDependency::Published);
        Ok(Added {
            name,
            line,
            section,
            published,
        })
    }

    /// Declares a test target.
    pub(super) fn add_test_target(&mut self, name: &str, own_runner: bool) -> Result<(), Failure> {
        let fill = |table: &mut dyn TableLike| {
            table.insert("name", value(name));
            if own_runner {
                table.insert("harness", value(false));
            }
        };
        let tests = self
            .document
            .entry("test")
            .or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
        if let Some(tests) = tests.as_array_of_tables_mut() {
            let mut table = Table::new();
            fill(&mut table);
            tests.push(table);
        } else if let Some(tests) = tests.as_array_mut() {
            let mut table = InlineTable::new();
            fill(&mut table);
            Array::push(tests, Value::InlineTable(table));
        } else {
            return Err(unexpected_key("test"));
        }
        Ok(())
    }

    /// Whether cargo finds test targets by their place.
    pub(super) fn finds_tests(&self) -> bool {
        let package = self.document.get("package");
        package.and_then(|package| package.get("autotests")?.as_bool()) != Some(false)
    }

    /// The new text, if anything was added.
    pub(super) fn changed_text(&self) -> Option<String> {
        let text = self.document.to_string();
        if text == DocumentMut::to_string(&self.before.parse().ok()?) {
            return None;
        }
        let text = if self.before.contains("\r\n") {
            text.replace("\r\n", "\n").replace('\n', "\r\n")
        } else {
            text
        };
        let mark = if self.before.starts_with('\u{feff}') {
            "\u{feff}"
        } else {
            ""
        };
        Some(format!("{mark}{}", text.trim_start_matches('\u{feff}')))
    }
}

pub(super) fn read(path: &Path) -> Result<(String, DocumentMut), Failure> {
    let unreadable =
        |why: String| Failure::new(format!("`{}` cannot be read: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    let document = text
        .parse()
        .map_err(|error: toml_edit::TomlError| unreadable(error.to_string()))?;
    Ok((text, document))
}

/// What `[workspace.dependencies]` calls the harness.
fn inherited_name(document: &DocumentMut) -> Option<String> {
    let dependencies = document
        .get("workspace")?
        .get("dependencies")?
        .as_table_like()?;
    let harness = dependencies.iter().find(|(key, item)| {
        let package = item.get("package").and_then(Item::as_str);
        package.unwrap_or(key) == HARNESS
    });
    harness.map(|(key, _)| key.to_owned())
}

/// The version of this release that a manifest asks for.
fn minor_version() -> String {
    concat!(
        env!("CARGO_PKG_VERSION_MAJOR"),
        ".",
        env!("CARGO_PKG_VERSION_MINOR")
    )
    .to_owned()
}

fn unexpected_key(key: &str) -> Failure {
    Failure::new(format!(
        "`{key}` in `Cargo.toml` is no table, so nothing can be added to it"
    ))
}
