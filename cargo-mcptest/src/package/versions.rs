//! The harness's version in this command and in a package's lock file.

use std::io::ErrorKind;
use std::path::Path;

use cargo_metadata::semver::Version;
use mcptest::command::CommandName;
use mcptest_suite::escape_line;
use serde_json::{Value, json};
use toml_edit::{ArrayOfTables, DocumentMut, Table};

use super::HARNESS;
use crate::failure::Failure;

/// The version of the harness that this command judges with: all crates of a release have the same.
const HERE: &str = env!("CARGO_PKG_VERSION");

/// Which versions of the harness there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Versions {
    /// The one in `Cargo.lock`; `None` before the package was built for the first time.
    locked: Option<Version>,
}

impl Versions {
    /// Those of a folder that has no lock file.
    pub(super) fn without_crate() -> Self {
        Self { locked: None }
    }

    /// Reads the lock file of a package's workspace.
    pub(super) fn read(
        workspace: &Path,
        package: &cargo_metadata::Package,
    ) -> Result<Self, Failure> {
        let path = workspace.join("Cargo.lock");
        let unreadable = |why: &str| {
            Failure::new(format!("`{}` cannot be read: {why}", path.display()))
                .with_help("`cargo generate-lockfile` writes it again")
        };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self { locked: None }),
            Err(error) => return Err(unreadable(&error.to_string())),
        };
        let lock: DocumentMut = text.parse().map_err(|_| unreadable("it is no TOML"))?;
        let package = (package.name.as_str(), package.version.to_string());
        Ok(Self {
            locked: locked_version(&lock, package.0, &package.1),
        })
    }

    /// Refuses to speak for another minor version.
    pub(super) fn check(&self, package: &str, any_version: bool) -> Result<(), Failure> {
        let Some(locked) = self.locked.as_ref().filter(|_| !any_version) else {
            return Ok(());
        };
        let same = Version::parse(HERE)
            .is_ok_and(|here| (here.major, here.minor) == (locked.major, locked.minor));
        if same {
            return Ok(());
        }
        Err(Failure::new(format!(
            "`{}` is locked to {HARNESS} {locked}, and this command judges like {HERE}",
            escape_line(package)
        ))
        .with_help(format!(
            "{}; `--any-version` judges anyway",
            install_command(CommandName::current(), locked)
        )))
    }

    /// Both versions on one line, where they differ.
    pub(crate) fn describe_difference(&self) -> Option<String> {
        let locked = self.locked.as_ref().map(ToString::to_string);
        let locked = locked.filter(|locked| locked != HERE)?;
        Some(format!("{HARNESS} {HERE} here, {locked} in Cargo.lock"))
    }

    /// Both versions, for programs.
    pub(crate) fn json(&self) -> Value {
        json!({ "here": HERE, "locked": self.locked.as_ref().map(ToString::to_string) })
    }
}

/// The version of the harness that a package is locked to.
fn locked_version(lock: &DocumentMut, package: &str, version: &str) -> Option<Version> {
    let packages = lock
        .get("package")
        .and_then(|packages| packages.as_array_of_tables());
    let packages: Vec<&Table> = packages.into_iter().flat_map(ArrayOfTables::iter).collect();
    let text = |table: &Table, key: &str| Some(table.get(key)?.as_str()?.to_owned());
    let own = packages.iter().find(|table| {
        text(table, "name").as_deref() == Some(package)
            && text(table, "version").as_deref() == Some(version)
            && text(table, "source").is_none()
    });
    let dependencies = own.and_then(|own| own.get("dependencies")?.as_array());
    // `name`, and where that alone is not clear `name version` or `name version (source)`.
    let asked = dependencies.into_iter().flatten().find_map(|dependency| {
        let mut words = dependency.as_str()?.split(' ');
        (words.next() == Some(HARNESS)).then(|| words.next().map(ToOwned::to_owned))
    })?;
    let version = match asked {
        Some(version) => version,
        None => packages
            .iter()
            .find(|table| text(table, "name").as_deref() == Some(HARNESS))
            .and_then(|table| text(table, "version"))?,
    };
    Version::parse(&version).ok()
}

/// How the command of a version is installed.
fn install_command(name: CommandName, version: &Version) -> String {
    let wanted = format!("{}.{}", version.major, version.minor);
    match name {
        CommandName::OfCargo => format!(
            "`cargo install cargo-mcptest --version '~{wanted}'` installs the command of that version"
        ),
        CommandName::OfPackages | CommandName::OfNpx => {
            format!("install version {wanted} of the package that brought this command")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = r#"
version = 4

[[package]]
name = "mcptest-harness"
version = "0.1.7"

[[package]]
name = "mcptest-harness"
version = "0.3.0"
source = "registry+https://github.com/rust-lang/crates.io-index"

[[package]]
name = "old"
version = "1.0.0"
dependencies = ["insta", "mcptest-harness 0.1.7"]

[[package]]
name = "new"
version = "1.0.0"
dependencies = ["mcptest-harness 0.3.0 (registry+https://github.com/rust-lang/crates.io-index)"]

[[package]]
name = "none"
version = "1.0.0"
dependencies = ["mcptest-harness-more"]
"#;

    fn read_versions(package: &str) -> Versions {
        let lock = LOCK.parse().unwrap();
        Versions {
            locked: locked_version(&lock, package, "1.0.0"),
        }
    }

    #[test]
    fn each_package_is_locked_to_its_own_version() {
        let line = |package| read_versions(package).describe_difference();
        let differs = |locked| {
            Some(format!(
                "mcptest-harness {HERE} here, {locked} in Cargo.lock"
            ))
        };
        assert_eq!(line("old"), differs("0.1.7"));
        assert_eq!(line("new"), differs("0.3.0"));
        assert_eq!(line("none"), None);
        let same = Versions {
            locked: HERE.parse().ok(),
        };
        assert_eq!(same.describe_difference(), None);
    }

    #[test]
    fn another_minor_version_is_refused_unless_told() {
        assert_eq!(read_versions("old").check("old", false), Ok(()));
        assert_eq!(read_versions("none").check("none", false), Ok(()));
        let refused = read_versions("new").check("new", false).unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!(
                "error: `new` is locked to mcptest-harness 0.3.0, and this command judges like {HERE}\n\n\
                 help: `cargo install cargo-mcptest --version '~0.3'` installs the command of that version; `--any-version` judges anyway"
            )
        );
        assert_eq!(read_versions("new").check("new", true), Ok(()));
    }
}
