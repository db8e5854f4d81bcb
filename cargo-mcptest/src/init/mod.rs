//! `cargo mcptest init`: a crate gets its first agent test, and the next `cargo test` is green.
//!
//! - `plan`: what a crate lacks;
//! - `manifest`: its `Cargo.toml` with what is added, everything else as it was;
//! - `profile`: the optimisation that is proposed.

mod manifest;
mod plan;
mod profile;
#[cfg(test)]
mod tests;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use mcptest::command::call;
use mcptest_suite::shown_path;
use serde::Serialize;
use serde_json::json;

use crate::failure::Failure;
use crate::files;
use crate::output::{Output, OutputFormat};
use crate::package::{FoundPackage, Selection};
use crate::status::ExitStatus;
use manifest::HarnessDependency;
use plan::InitPlan;

/// The format of what is said, as JSON.
const FORMAT: &str = "init/1.0";

/// Adds a first agent test to a crate.
///
/// Example: `cargo mcptest init`
///
/// The command adds the dev-dependency, a test target that runs suites, a suite, and a recording. It overwrites no file.
/// `cargo test` is green afterwards. If cargo cannot find the harness, nothing is changed.
#[derive(Debug, clap::Args)]
pub(crate) struct Init {
    #[command(flatten)]
    selection: Selection,
    /// Use the standard test harness and the attribute `#[mcptest::suite]`, instead of the harness's own runner.
    #[arg(long = "macro")]
    by_macro: bool,
    /// Use the harness in this folder, instead of the published one.
    #[arg(long, value_name = "FOLDER")]
    path: Option<PathBuf>,
    /// The format of the output.
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// What became of something that a first agent test needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct InitStep {
    did: Did,
    /// The file, from the package's folder.
    file: String,
    what: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Did {
    Wrote,
    Added,
    Kept,
}

impl Did {
    const fn word(self) -> &'static str {
        match self {
            Self::Wrote => "wrote",
            Self::Added => "added",
            Self::Kept => "kept",
        }
    }
}

impl InitStep {
    fn new(did: Did, file: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            did,
            file: file.into(),
            what: what.into(),
        }
    }
}

impl Init {
    pub(crate) fn run(&self, output: &mut Output<'_>) -> Result<ExitStatus, Failure> {
        let package = self.selection.any()?;
        let dependency = match &self.path {
            Some(path) => HarnessDependency::Path(harness_from(&package.folder, path)?),
            None => HarnessDependency::Published,
        };
        let plan = InitPlan::of(&package, &dependency, self.by_macro)?;
        write_all(&package, &plan)?;
        let proposed = profile::proposed(&package.workspace)?;
        match self.format {
            OutputFormat::Json => output.json(&json!({
                "format": FORMAT,
                "package": package.name,
                "steps": plan.steps,
                "proposed": proposed.as_ref().map(|proposed| json!({
                    "file": shown_path(&package.workspace.join("Cargo.toml")),
                    "lines": proposed,
                    "why": profile::WHY,
                })),
            }))?,
            OutputFormat::Text => {
                for InitStep { did, file, what } in &plan.steps {
                    writeln!(output.out, "{:<5}  {file}: {what}", did.word())?;
                }
                if let Some(lines) = proposed {
                    let manifest = shown_path(&package.workspace.join("Cargo.toml"));
                    writeln!(
                        output.out,
                        "\nproposed, not written, for {manifest}:\n\n{lines}\n{}",
                        profile::WHY
                    )?;
                }
                writeln!(output.out, "\nnext: cargo test -p {}", package.name)?;
            }
        }
        Ok(ExitStatus::Holds)
    }
}

/// The harness's folder as a manifest names it: from the package's folder if it was given relative to
/// this one.
fn harness_from(package: &Path, given: &Path) -> Result<PathBuf, Failure> {
    let there = given.canonicalize();
    let is_harness = there.as_ref().is_ok_and(|there| {
        let manifest = fs::read_to_string(there.join("Cargo.toml"));
        manifest.is_ok_and(|text| text.contains("name = \"mcptest-harness\""))
    });
    let (Ok(there), true) = (there, is_harness) else {
        return Err(Failure::new(format!(
            "`--path {}` is not the folder of mcptest-harness",
            given.display()
        ))
        .help("name the folder `mcptest-harness` of a clone, the one with its `Cargo.toml`"));
    };
    if given.is_absolute() {
        return Ok(there);
    }
    let package = package.canonicalize()?;
    let shared = there.components().zip(package.components());
    let shared = shared.take_while(|(left, right)| left == right).count();
    let up = package.components().skip(shared).map(|_| Path::new(".."));
    Ok(up
        .map(Path::to_owned)
        .chain(
            there
                .components()
                .skip(shared)
                .map(|part| part.as_os_str().into()),
        )
        .collect())
}

/// Writes the files and then the manifest, and sees that cargo finds what is depended on; all of it or
/// nothing.
fn write_all(package: &FoundPackage, plan: &InitPlan) -> Result<(), Failure> {
    let (folder, manifest) = (&package.folder, package.folder.join("Cargo.toml"));
    let before = fs::read_to_string(&manifest)?;
    let mut written = Vec::new();
    let mut write = || {
        for (path, text) in &plan.files {
            let path = folder.join(path);
            create(&path, text)?;
            written.push(path);
        }
        if let Some(text) = &plan.manifest {
            replace(&manifest, text)?;
        }
        match &plan.published {
            Some(dependency) => found(dependency, package).inspect_err(|_| {
                _ = replace(&manifest, &before);
            }),
            None => Ok(()),
        }
    };
    write().inspect_err(|_| {
        for path in &written {
            _ = fs::remove_file(path);
            // With the folders that were made for it: only what is empty is removed.
            let folders = path.ancestors().skip(1);
            for made in folders.take_while(|made| made != folder) {
                _ = fs::remove_dir(made);
            }
        }
    })
}

/// Sees that cargo finds a version of the harness that the package depends on now.
fn found(dependency: &str, package: &FoundPackage) -> Result<(), Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let resolved = Command::new(cargo)
        .args(["update", "--quiet", "--workspace", "--dry-run"])
        .current_dir(&package.folder)
        .output()?;
    if resolved.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&resolved.stderr);
    let said = said.trim().trim_start_matches("error: ");
    Err(Failure::new(format!(
        "cargo cannot resolve the package with `{dependency}`, so the next `cargo test` would fail; nothing is changed. Cargo says: {said}"
    ))
    .help(format!(
        "if mcptest-harness is not published yet, use a clone: `{}`",
        call("init --path <the folder mcptest-harness of the clone>")
    )))
}

fn create(path: &Path, text: &str) -> Result<(), Failure> {
    let cannot = |error: std::io::Error| {
        Failure::new(match error.kind() {
            ErrorKind::AlreadyExists => format!("`{}` is there already", path.display()),
            _ => format!("`{}` cannot be written: {error}", path.display()),
        })
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(cannot)?;
    }
    files::create(path, text).map_err(cannot)
}

/// Puts a new text in the place of a file, which is never half there.
fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    files::replace(path, text)
        .map_err(|error| Failure::new(format!("`{}` cannot be written: {error}", path.display())))
}
